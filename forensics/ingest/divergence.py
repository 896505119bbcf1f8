"""Where two vantages log another text for the same call, and of what sort the difference is. Keeps places, never text.

A change between the engine's log and the gateway's happened after the engine; the sort tells what logging itself
explains (a cut, a stripped token, parsed-out reasoning) from what it does not (`different`, `added`).
"""

from __future__ import annotations

import re

from forensics.case.store import Case
from forensics.ingest.openai import is_cut

ALARMING = ("added", "different")
_PAGE = 256
_HALF = 1024  # code points that SGLang's level 2 keeps at each end
_CUTS = re.compile(r"\.\.\. \(litellm_truncated skipped \d+ chars\.[^)]*\) ?\.\.\.")
_TOKENS = re.compile(r"<\|[^<>|]{1,40}\|>|</?s>|\[/?gMASK\]|<sop>|<(?:bos|eos|pad)>|</?think>|<(?:start|end)_of_turn>")


def list_divergences(case: Case) -> None:
    """Fill the table `divergences`. Needs the scratch tables of the join."""
    case.run("ingest/divergent_places")
    case.run("ingest/compared_texts")
    pairs = int(case.rows("ingest/divergent_pairs")[0][0])
    for first in range(0, pairs, _PAGE):
        page = {"first": first, "last": first + _PAGE - 1}
        numbers, kinds, firsts = [], [], []
        for pair, side, text_a, text_b in case.rows("ingest/divergent_texts", dict(page)):
            # A prompt goes to the engine, a response comes from it: which of the two vantages got it from the other.
            sent, received = (text_b, text_a) if side == "prompt" else (text_a, text_b)
            kind, at = compare(sent, received)
            numbers.append(pair)
            kinds.append(kind)
            firsts.append(at)
        case.run("ingest/compared_text", {"pairs": numbers, "kinds": kinds, "firsts": firsts})
    case.run("ingest/divergences")


def compare(sent: str | None, received: str | None) -> tuple[str, int]:
    """The sort of difference between two unequal texts, and the first code point where they differ.

    `whitespace` and `special_tokens`: equal but for those. `truncated`: a log's own cut; what it kept is equal.
    `prefix`, `suffix`, `contained`: the receiver logs less, from that place of the text. `added`: it logs all of the
    text, be that nothing, and more. `empty`: it logs no text. `different`: none of these.
    """
    if sent is None or received is None:
        return ("added" if sent is None else "empty"), 0
    at = common_prefix(sent, received)
    if _cut(sent, received) or _cut(received, sent):
        return "truncated", at
    if "".join(sent.split()) == "".join(received.split()):
        return "whitespace", at
    bare_sent, bare_received = _bare(sent), _bare(received)
    if "".join(bare_sent.split()) == "".join(bare_received.split()):
        return "special_tokens", at
    if not bare_received:
        return "empty", at
    if bare_sent.startswith(bare_received):
        return "prefix", at
    if bare_sent.endswith(bare_received):
        return "suffix", at
    if bare_received in bare_sent:
        return "contained", at
    if bare_sent in bare_received:
        return "added", at
    return "different", at


def common_prefix(one: str, other: str) -> int:
    """How many code points two texts have in common from their start."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _bare(text: str) -> str:
    return _TOKENS.sub("", text).strip()


def _cut(cut: str, other: str) -> bool:
    """Whether `cut` is `other` with its middle left out by a log; `other` may be cut as well."""
    if is_cut(cut):
        head, tail = cut[:_HALF], cut[-_HALF:]
    else:
        pieces = _CUTS.split(cut)
        if len(pieces) != 2:
            return False
        head, tail = pieces
    if len(other) <= len(head) + len(tail):
        return False
    return other.startswith(head) and other.rstrip().endswith(tail.rstrip())
