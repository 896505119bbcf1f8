"""How was an answer sampled, and which tokens were it and its prompt? Picks them out of bodies. Judges nothing.

A replay needs the parameters of sampling and the ids of the tokens that an engine gave, since text that is tokenised
again may fall into other tokens; the timeline compares prompts by them.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import Any

import orjson

# The name of a parameter in an OpenAI body -> its name in SGLang's sampling parameters.
_RENAMED = {
    "max_tokens": "max_new_tokens",
    "max_completion_tokens": "max_new_tokens",
    "max_output_tokens": "max_new_tokens",
    "min_tokens": "min_new_tokens",
    "seed": "sampling_seed",
}
_KNOWN = (
    "max_new_tokens min_new_tokens temperature top_p top_k min_p stop stop_token_ids ignore_eos n repetition_penalty "
    "frequency_penalty presence_penalty skip_special_tokens no_stop_trim sampling_seed"
).split()
# That an answer was held to a grammar is kept as a flag; the grammar is not.
_GRAMMARS = ("json_schema", "regex", "ebnf", "structural_tag", "response_format", "guided_json", "guided_regex")
_MOST_BYTES = 4096
_MOST_TOKENS = 4_000_000
_NAMES = frozenset((*_KNOWN, *_RENAMED, *_GRAMMARS))
# Where a body gives a parameter under several names, the first of these counts.
_OURS = {**{name: name for name in _KNOWN}, **_RENAMED}
_PLAIN = (int, float, str)  # asked for every parameter of every record, where a union of types takes thrice the time
_MOST_KINDS = 1000


def sampling_of(parameters: object) -> str | None:
    """The parameters of sampling in a body, or in `sampling_params`, as JSON with sorted keys; None: it names none.

    The names are SGLang's, whichever API they are of. Values that are no number, text, flag or list of such are left
    out, and so is everything where it would be longer than 4096 bytes.
    """
    if not isinstance(parameters, dict) or not (given := _NAMES.intersection(parameters)):
        return None
    names, grammars = _in_order(given)
    found: dict[str, Any] = {}
    for name, ours in names:
        if _is_plain(parameters[name]):
            found.setdefault(ours, parameters[name])
    for name in grammars:
        if _constrains(parameters[name]):
            found["constrained"] = True
    try:
        text = orjson.dumps(found, option=orjson.OPT_SORT_KEYS)
    except orjson.JSONEncodeError:  # a number beyond 64 bits, half a surrogate pair
        return None
    return text.decode() if found and len(text) <= _MOST_BYTES else None


@lru_cache(_MOST_KINDS)
def _in_order(given: frozenset[str]) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Of these names the parameters, each with SGLang's name for it, and the grammars. A log has few such sets."""
    names = tuple((name, ours) for name, ours in _OURS.items() if name in given)
    return names, tuple(name for name in _GRAMMARS if name in given)


def token_ids(value: object) -> array[int] | None:
    """The token ids of a prompt or an answer; None where `value` is no list of them."""
    if not isinstance(value, list) or not value or len(value) > _MOST_TOKENS:
        return None
    try:
        return array("i", value)
    except (TypeError, OverflowError):
        return None


def _is_plain(value: object) -> bool:
    if isinstance(value, list):
        return bool(value) and all(isinstance(item, _PLAIN) for item in value)
    return isinstance(value, _PLAIN)


def _constrains(value: object) -> bool:
    return bool(value) and not (isinstance(value, dict) and value.get("type") == "text")
