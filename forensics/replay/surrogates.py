"""Texts that take the place of customers' texts in a replay: same shape, nothing of what they say. Sends nothing.

What stays: chat marks, line breaks, white space, punctuation, and words of instruction, but never eight words in a
row. What goes: every other word, number and sign (`stand_ins`). The same piece always becomes the same piece, so that
prompts which begin alike begin alike afterwards and part where they parted. Each text of one tenant that is its own
gets canary identifiers in place of something as long, one of them inside the passage that leaked, where there is one.
Deterministic: texts, owners and seed decide.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise, product
from pathlib import Path
from typing import TYPE_CHECKING

from forensics.case.errors import MissingInput, UsageError
from forensics.replay.segments import GRAM, Segment, segments, word_grams
from forensics.replay.stand_ins import StandIns, Tokens, is_kept, shared_length

if TYPE_CHECKING:
    from tokenizers import Tokenizer

LIMIT = 0.01  # of the token length that a surrogate may be off
_KEPT_IN_A_ROW = GRAM - 2  # and what an apostrophe joins to the last of them
_REPLACED = ("word", "sign", "number")
_SEEDS = 5
_SHORT_FORMS = frozenset("s t m d re ve ll".split())
_CANARY_TOKENS, _CANARY_CHARACTERS = range(9, 19), range(9, 29)
_IN_IDENTIFIER = frozenset("-_./#")
_MENDS = 3


class TokenizerFile:
    """Counts tokens with a `tokenizer.json`. Raises UsageError where the library is absent or the file is none."""

    def __init__(self, path: Path) -> None:
        if not path.is_file():
            raise MissingInput(f"--tokenizer {path} is not there; give the model's tokenizer.json")
        try:
            from tokenizers import Tokenizer
        except ImportError:
            raise UsageError("--tokenizer needs the library: pip install 'leak-forensics[replay]'") from None
        try:
            self._tokenizer: Tokenizer = Tokenizer.from_file(str(path))
        except Exception:  # the library raises nothing narrower
            raise UsageError(f"{path.name} is no tokenizer.json of the tokenizers library") from None

    def ids(self, text: str) -> list[int]:
        """The tokens of a text, without any that a model puts around it."""
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def count(self, text: str) -> int:
        """How many they are."""
        return len(self.ids(text))

    def signs(self) -> list[str]:
        """Single characters beyond ASCII that are one token each."""
        found = {self._tokenizer.decode([number]) for number in self._tokenizer.get_vocab().values()}
        return sorted(one for one in found if len(one) == 1 and not one.isascii() and one != "\ufffd")

    def words(self) -> list[str]:
        """Lower-case words of the vocabulary, each one token after a space."""
        marks = ("\u0120", "\u2581")  # what stands for a space: byte-level and sentencepiece
        found = (name[1:] for name in self._tokenizer.get_vocab() if name.startswith(marks))
        return sorted(name for name in found if len(name) > 2 and name.isascii() and name.isalpha() and name.islower())


@dataclass(frozen=True)
class Original:
    """A text to replace. `owners`: tenants that used it; `leaked`: `[start, end)` of passages that others received."""

    text_id: str
    text: str
    owners: frozenset[str]
    leaked: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Surrogates:
    """`texts` and `canaries` by text id; `lengths`: tokens before and after, by text id, empty without a tokenizer."""

    texts: dict[str, str]
    canaries: dict[str, tuple[str, ...]]
    lengths: dict[str, tuple[int, int]]
    prefixes_off: int  # pairs of neighbouring texts that share fewer or more first tokens than before

    @property
    def worst(self) -> float:
        """The greatest share of a text's tokens by which its surrogate is longer or shorter."""
        return max((abs(after - before) / before for before, after in self.lengths.values() if before), default=0.0)


def surrogates(originals: Sequence[Original], seed: int, tokens: Tokens | None = None) -> Surrogates:
    """Surrogates of all texts of a plan at once, since what they share must stay shared."""
    forbidden = {gram for one in originals for gram in word_grams(one.text)}
    for attempt in range(_SEEDS):
        made = _made(originals, f"{seed}|{attempt}", tokens)
        if not any(gram in forbidden for text in made.texts.values() for gram in word_grams(text)):
            return made
    raise UsageError(f"no surrogates without {GRAM} words in a row of an original were found; try another --seed")


def _made(originals: Sequence[Original], seed: str, tokens: Tokens | None) -> Surrogates:
    pieces = {one.text_id: segments(one.text) for one in originals}
    stand_ins = StandIns(_words(pieces.values()), seed, tokens)
    places = _Places(originals, pieces, seed, tokens)

    def written() -> dict[str, str]:
        return {key: _written(found, stand_ins, places) for key, found in sorted(pieces.items())}

    texts = written()
    off = 0
    if tokens is not None:
        for _ in range(_MENDS):
            off = _mend(originals, pieces, texts, stand_ins, tokens)
            texts = written()
        off = len(_strays(originals, texts, tokens))
    lengths = (
        {one.text_id: (tokens.count(one.text), tokens.count(texts[one.text_id])) for one in originals} if tokens else {}
    )
    canaries = {key: tuple(mark for mark in places.canaries if mark in text) for key, text in texts.items()}
    return Surrogates(texts, canaries, lengths, off)


def _words(texts: Iterable[Sequence[Segment]]) -> dict[str, frozenset[str]]:
    """All that is replaced, with the characters that come before it."""
    found: dict[str, set[str]] = {}
    for pieces in texts:
        before = ""
        for piece in pieces:
            if piece.kind in _REPLACED:
                found.setdefault(piece.text, set()).add(before)
            before = piece.text[-1] if piece.kind in ("space", "other") and piece.text[-1] != "\n" else ""
    return {word: frozenset(before) for word, before in found.items()}


def _written(pieces: Sequence[Segment], stand_ins: StandIns, places: _Places) -> str:
    made: list[str] = []
    kept = 0  # words in a row that stayed
    skip = 0
    for place, (piece, beginning) in enumerate(zip(pieces, _beginnings(pieces), strict=True)):
        canary = places.at(beginning, pieces, place) if skip == 0 else None
        if canary is not None:
            made.append(canary[0])
            skip, kept = canary[1], 0
        if skip:
            skip -= 1
            continue
        if piece.kind not in _REPLACED:
            made.append(piece.text)
        elif _joined(pieces, place) or (piece.kind == "word" and is_kept(piece.text) and kept < _KEPT_IN_A_ROW):
            made.append(piece.text)
            kept += 1
        else:
            made.append(stand_ins.of(piece.text))
            kept = 0
    return "".join(made)


def _joined(pieces: Sequence[Segment], place: int) -> bool:
    """Whether this is the `s`, `t`, `re` of a short form such as `it's`."""
    return place > 1 and pieces[place].text in _SHORT_FORMS and pieces[place - 1].text in ("'", "\u2019")


def _encoded(text: str) -> bytes:
    data = text.encode("utf-8", "surrogatepass")
    return len(data).to_bytes(4, "big") + data


# -- canaries ---------------------------------------------------------------------------------------------------------


class _Places:
    """Where a canary stands: known by all that comes before it, so that texts which begin alike carry the same one."""

    def __init__(
        self, originals: Sequence[Original], pieces: Mapping[str, list[Segment]], seed: str, tokens: Tokens | None
    ) -> None:
        self.canaries: list[str] = []
        self._seed, self._tokens = seed, tokens
        self._at: dict[bytes, tuple[str, tuple[str, ...]]] = {}
        self._everything = "\0".join(one.text for one in originals)
        own = _own_starts(originals, pieces)
        for one in sorted(originals, key=lambda one: one.text_id):
            if len(one.owners) <= 1:
                self._place(one, pieces[one.text_id], own[one.text_id])

    def at(self, beginning: bytes, pieces: Sequence[Segment], place: int) -> tuple[str, int] | None:
        """The canary that stands at this place, and how many segments it takes."""
        found = self._at.get(beginning)
        if found is None or tuple(piece.text for piece in pieces[place : place + len(found[1])]) != found[1]:
            return None
        return found[0], len(found[1])

    def _place(self, one: Original, pieces: Sequence[Segment], own: int) -> None:
        taken: list[tuple[int, int]] = []
        keys = _beginnings(pieces)
        inside = [_range(pieces, low, high) for low, high in one.leaked]
        for stretch in (*inside[:1], (0, len(pieces))):
            low, high = max(stretch[0], own), stretch[1]
            for start, stop in chain(_identifiers(pieces, low, high), _stretches(pieces, low, high, self._fits)):
                apart = all(stop <= other[0] or start >= other[1] for other in taken)
                if apart and self._put(pieces, keys[start], start, stop):
                    taken.append((start, stop))
                    break

    def _put(self, pieces: Sequence[Segment], key: bytes, start: int, stop: int) -> bool:
        window = tuple(piece.text for piece in pieces[start:stop])
        if key in self._at:
            return self._at[key][1] == window  # the same place of the same tenant's other text
        before = " " if start and pieces[start - 1].kind == "space" else ""
        canary = self._canary("".join(window), before)
        if canary is None:
            return False
        self._at[key] = (canary, window)
        self.canaries.append(canary)
        return True

    def _fits(self, text: str) -> int:
        """Whether something of this length can be a canary: below 0 too short, above 0 too long."""
        size = len(text) if self._tokens is None else self._tokens.count(" " + text)
        bounds = _CANARY_CHARACTERS if self._tokens is None else _CANARY_TOKENS
        return 0 if size in bounds else -1 if size < bounds.start else 1

    def _canary(self, window: str, before: str) -> str | None:
        """An identifier that is as long as `window`, and stands nowhere else; None: there is none."""
        if self._fits(window) != 0:
            return None
        count: Callable[[str], int] = len if self._tokens is None else self._tokens.count
        wanted = count(before + window)
        for number, (letters, first, second) in enumerate(product((2, 3, 4), range(3, 12), range(2, 12))):
            if self._tokens is None and letters + first + second + 2 != len(window):
                continue
            digest = hashlib.blake2b(f"{self._seed}|{len(self.canaries)}|{number}".encode(), digest_size=32).digest()
            name = "".join("BCDFGHJKLMNPQRSTVWXZ"[byte % 20] for byte in digest[:letters])
            digits = str(int.from_bytes(digest[4:], "big"))
            canary = f"{name}-{digits[:first]}-{digits[first : first + second]}"
            if count(before + canary) == wanted and canary not in self._everything:
                return canary
        return None


def _beginnings(pieces: Sequence[Segment]) -> list[bytes]:
    """Per segment, a digest of all before it."""
    beginning = hashlib.blake2b(digest_size=12)
    keys: list[bytes] = []
    for piece in pieces:
        keys.append(beginning.digest())
        beginning.update(_encoded(piece.text))
    return keys


def _own_starts(originals: Sequence[Original], pieces: Mapping[str, list[Segment]]) -> dict[str, int]:
    """How many first segments each text shares with a text of another tenant, at the most."""
    keys = [one.text_id for one in originals]
    words = {key: [piece.text for piece in pieces[key]] for key in keys}
    owners = {one.text_id: one.owners for one in originals}
    order = sorted(keys, key=lambda key: (words[key], key))
    shared = dict.fromkeys(keys, 0)
    # Among texts in order, what one shares with a far one is the least that neighbours between share.
    for direction in (order, order[::-1]):
        for place, key in enumerate(direction):
            common = 1 << 60
            for former, later in pairwise(direction[place::-1]):
                common = min(common, shared_length(words[former], words[later]))
                if common <= shared[key]:
                    break
                if owners[later] != owners[key]:
                    shared[key] = common
                    break
    return shared


def _range(pieces: Sequence[Segment], low: int, high: int) -> tuple[int, int]:
    """The segments that lie wholly in `[low, high)` code points."""
    start = bisect_left(pieces, low, key=lambda piece: piece.start)
    stop = bisect_right(pieces, high, key=lambda piece: piece.start + len(piece.text))
    return start, max(start, stop)


def _identifiers(pieces: Sequence[Segment], low: int, high: int) -> Iterable[tuple[int, int]]:
    """Runs without a space that hold a number: what looks like an identifier already."""
    start = low
    while start < high:
        stop = start
        while stop < high and (pieces[stop].kind in ("word", "number") or pieces[stop].text in _IN_IDENTIFIER):
            stop += 1
        end = stop
        while end > start and pieces[end - 1].kind == "other":
            end -= 1
        whole = start == 0 or pieces[start - 1].kind not in ("word", "number")
        if whole and end - start > 1 and any(piece.kind == "number" for piece in pieces[start:end]):
            yield start, end
        start = max(stop, start) + 1


def _stretches(pieces: Sequence[Segment], low: int, high: int, fits: Callable[[str], int]) -> Iterable[tuple[int, int]]:
    """Runs of words with single spaces between them that are as long as a canary."""
    for start in range(low, high):
        if pieces[start].kind != "word" or (start and pieces[start - 1].kind not in ("space", "mark")):
            continue
        text = ""
        for stop in range(start, high):
            piece = pieces[stop]
            if piece.kind not in ("word", "number") and piece.text != " ":
                break
            text += piece.text
            if piece.text == " ":
                continue
            verdict = fits(text)
            if verdict == 0:
                yield start, stop + 1
            if verdict > 0:
                break


# -- shared beginnings, token by token --------------------------------------------------------------------------------


def _strays(originals: Sequence[Original], texts: Mapping[str, str], tokens: Tokens) -> list[tuple[str, str, int]]:
    """Neighbouring texts, in the order of their tokens, that share another number of first tokens than before."""
    ids = {one.text_id: list(tokens.ids(one.text)) for one in originals}
    order = sorted(ids, key=lambda key: (ids[key], key))
    made = {key: list(tokens.ids(texts[key])) for key in order}
    found: list[tuple[str, str, int]] = []
    for one, other in pairwise(order):
        before = shared_length(ids[one], ids[other])
        if before != shared_length(made[one], made[other]):
            found.append((one, other, before))
    return found


def _mend(
    originals: Sequence[Original],
    pieces: Mapping[str, list[Segment]],
    texts: Mapping[str, str],
    stand_ins: StandIns,
    tokens: Tokens,
) -> int:
    """Give words where texts part other stand-ins, that part after as many tokens as the words do; how many."""
    redrawn = 0
    for one, other, _ in _strays(originals, texts, tokens):
        first, second = pieces[one], pieces[other]
        place = next(
            (at for at, pair in enumerate(zip(first, second, strict=False)) if pair[0].text != pair[1].text), None
        )
        if place is None or first[place].kind not in _REPLACED or second[place].kind not in _REPLACED:
            continue
        word, beside = second[place].text, first[place].text
        wanted = shared_length(tokens.ids(" " + word), tokens.ids(" " + beside))
        redrawn += stand_ins.redraw(word, [(beside, wanted)])
    return redrawn
