"""How many bits is a name worth: by characters alone, and with the case's own counts?

As any passage (`strength`), but no more than its script can be said to hold. Does not say what the search costs.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from forensics.attribution.candidate import Candidate
from forensics.attribution.strength import Counts, Strength, bits_by_characters, measure
from forensics.attribution.texts import Texts
from forensics.text.scripts import NAMES, scripts

# Bits that a unit of these scripts can count at most: the shipped model has read little of them, and finds all odd.
_MOST = dict.fromkeys(NAMES, 3.3) | {"digit": 3.4, "latin": 5.2, "kana": 4.5, "hangul": 6.5, "han": 8.0}
MOST_BITS = np.array([_MOST[name] for name in NAMES])


def name_strength(texts: Texts, candidate: Candidate, counts: Counts, recipient: int) -> Strength:
    """The strength of a name that the unit `recipient` received."""
    found = measure(candidate, texts, counts, recipient)
    return replace(found, bits=min(found.bits, _room(texts, candidate)))


def most_bits(texts: Texts, candidate: Candidate) -> float:
    """The bits of `name_strength` before the case's own counts take from them."""
    return min(bits_by_characters(candidate, texts), _room(texts, candidate))


def _room(texts: Texts, candidate: Candidate) -> float:
    return float(MOST_BITS[scripts(texts.units(candidate.content)[candidate.start : candidate.end])].sum())
