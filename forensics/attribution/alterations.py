"""How is a passage altered before it is planted? The forms in which copies turn up. Pure functions on text."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

DROPPED = 0.10  # share of words (of characters where words are not spaced) that are left out
NOISE = 0.05  # share of characters that are replaced
SPACED = 0.06  # share of blanks from which on a text counts as one with spaced words


def _verbatim(text: str, dice: np.random.Generator) -> str:
    return text


def _case_and_space(text: str, dice: np.random.Generator) -> str:
    """All capitals (small letters where it has none), blanks doubled or turned into line breaks."""
    other = text.upper() if text != text.upper() else text.lower()
    return "".join(("\n" if dice.random() < 0.2 else "  ") if sign == " " else sign for sign in other)


def _markdown(text: str, dice: np.random.Generator) -> str:
    """Words in bold, lines that become items of a list."""
    words = text.split(" ")
    marked = [f"**{word}**" if word and dice.random() < 0.2 else word for word in words]
    return "- " + "".join(
        word + ("\n- " if dice.random() < 0.08 else " ") if i + 1 < len(marked) else word
        for i, word in enumerate(marked)
    )


def _dropped(text: str, dice: np.random.Generator) -> str:
    """A tenth of the words left out; a tenth of the characters where words are not spaced."""
    spaced = text.count(" ") >= SPACED * len(text)
    parts = text.split(" ") if spaced else list(text)
    kept = [part for part in parts if dice.random() >= DROPPED]
    if len(kept) == len(parts) and len(parts) > 2:
        del kept[int(dice.integers(1, len(kept) - 1))]
    return (" " if spaced else "").join(kept)


def _noise(text: str, dice: np.random.Generator) -> str:
    """One character in twenty replaced by another of the passage."""
    signs = list(text)
    for place in range(len(signs)):
        if signs[place].isalnum() and dice.random() < NOISE:
            signs[place] = text[int(dice.integers(0, len(text)))]
    return "".join(signs)


FORMS: dict[str, Callable[[str, np.random.Generator], str]] = {
    "verbatim": _verbatim,
    "case_and_space": _case_and_space,
    "markdown": _markdown,
    "words_dropped": _dropped,
    "noise": _noise,
}


def alter(text: str, form: str, dice: np.random.Generator) -> str:
    """`text` in one of FORMS, without blanks at its ends."""
    return FORMS[form](text, dice).strip()
