"""Which kinds of leak there are beside the plain copy, how many of each an incident holds, and in which languages.

A class is written `family/variant` and stands in the truth as it is. It plants nothing: see `planting.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

from forensics.simulate.dice import Dice

ALTERATIONS = (
    "case_space", "detokenised", "markdown", "escapes", "table", "points_removed", "full_width", "cut_word", "noise5",
    "dropped10", "replaced10", "paraphrased_edges",
)  # fmt: skip
IDENTIFIERS = ("account", "name", "email", "key", "url", "code_name", "invented", "phone", "case", "group")
# Class -> how often, relative to the others. The sum is of no importance.
WEIGHTS: dict[str, int] = {
    "verbatim": 110,
    **{f"altered/{name}": 15 for name in ALTERATIONS},
    "interleaved/own": 30,
    "interleaved/two": 30,
    "interleaved/three": 20,
    "multi_source/two": 20,
    "multi_source/three": 15,
    **{f"identifier/{name}": 10 for name in IDENTIFIERS},
    "canary/verbatim": 9,
    "canary/cut": 8,
    "canary/recased": 8,
    "whole_response/original": 25,
    "whole_response/no_original": 15,
    "whole_response/swapped": 20,
    "whole_response/shifted": 30,
    "whole_response/semantic_cache": 25,
    "structure/json_keys": 15,
    "structure/tool_name": 12,
    "structure/headings": 15,
    "undetermined/passage": 20,
    "undetermined/script": 15,
    "undetermined/whole": 10,
}
FAMILIES = tuple(dict.fromkeys(name.partition("/")[0] for name in WEIGHTS))
# The six kinds of the truth, by family.
KIND_OF = {
    "verbatim": "verbatim",
    "altered": "altered",
    "interleaved": "altered",
    "multi_source": "verbatim",
    "identifier": "identifier",
    "canary": "identifier",
    "whole_response": "whole_response",
    "structure": "structure",
    "undetermined": "undetermined",
}
# Languages of copies. English stands for the yardstick; the others are compared with it.
LANGUAGES = {"en": 30, "de": 8, "pl": 8, "zh": 8, "ja": 8, "ko": 8, "he": 8, "ar": 8, "code": 8, "json": 8}
_ONLY = {
    "points_removed": {"he": 1, "ar": 1},
    "full_width": {"en": 4, "de": 1, "pl": 1, "code": 2, "json": 2},
}
# Shortest and longest, in Latin characters; scripts that say more with one character get about half.
_LENGTHS = {"short": (40, 79), "medium": (80, 199), "long": (200, 599), "very_long": (600, 1999)}
_VERBATIM = {"short": 22, "medium": 34, "long": 30, "very_long": 14}
_ALTERED = {"short": 6, "medium": 34, "long": 44, "very_long": 16}
_DENSE = ("zh", "ja", "ko")
LANGUAGE_WEIGHTS = {
    "en": 40, "de": 8, "pl": 9, "zh": 9, "ja": 9, "ko": 9, "he": 9, "ar": 9, "fr": 2, "es": 2, "ru": 2,
}  # fmt: skip


@dataclass(slots=True, eq=False)
class Wish:
    """One response that is to be affected. `[shortest, longest]` are characters of the source text."""

    due: float
    label: str
    language: str
    shortest: int
    longest: int
    tries: int = 0

    @property
    def family(self) -> str:
        """What stands before the slash."""
        return self.label.partition("/")[0]

    @property
    def variant(self) -> str:
        """What stands behind the slash."""
        return self.label.partition("/")[2]


def chosen(names: tuple[str, ...]) -> dict[str, int]:
    """Classes and weights of the given families or classes; `all` for every one. Raises ValueError for other names."""
    if "all" in names:
        return dict(WEIGHTS)
    unknown = [name for name in names if name not in WEIGHTS and name not in FAMILIES]
    if unknown:
        raise ValueError(f"unknown kinds: {', '.join(unknown)}; known are all, {', '.join((*FAMILIES, *WEIGHTS))}")
    return {label: weight for label, weight in WEIGHTS.items() if label in names or label.partition("/")[0] in names}


def wishes(count: int, weights: dict[str, int], start: float, end: float, dice: Dice) -> list[Wish]:
    """`count` wishes between two times, by time. Each class gets its share to within one, so that none is missing."""
    total = sum(weights.values())
    made: list[Wish] = []
    carried = dice.random()
    for label, weight in weights.items():
        carried += count * weight / total
        while carried >= 1 and len(made) < count:
            carried -= 1
            made.append(_wish(label, dice.uniform(start, start + 0.9 * (end - start)), dice))
    while len(made) < count:
        label = dice.choices(list(weights), list(weights.values()))[0]
        made.append(_wish(label, dice.uniform(start, start + 0.9 * (end - start)), dice))
    return sorted(made, key=lambda wish: wish.due)


def _wish(label: str, due: float, dice: Dice) -> Wish:
    family, _, variant = label.partition("/")
    languages = _ONLY.get(variant, LANGUAGES)
    language = dice.choices(list(languages), list(languages.values()))[0]
    lengths = _VERBATIM if family == "verbatim" else _ALTERED
    name = dice.choices(list(lengths), list(lengths.values()))[0]
    low, high = _LENGTHS[name]
    if family == "interleaved":
        low, high = dice.pick(((150, 299), (300, 599), (300, 599), (600, 1200)))
    elif family == "multi_source":
        low, high = dice.pick(((80, 199), (200, 400)))
    if language in _DENSE and dice.chance(0.7):
        low, high = max(20, low // 2), high // 2
    return Wish(due, label, language, low, high)
