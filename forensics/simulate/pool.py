"""A pool of text that different tenants draw from at about the same time: the news of the hour.

It makes contents serially correlated across tenants, as shared feeds do, and so spoils every method that takes
"the other tenant had it shortly before" for evidence.
"""

from __future__ import annotations

from collections import deque

from forensics.simulate.dice import Dice
from forensics.simulate.prose import Prose


class Pool:
    """The paragraphs in circulation; a new one comes in, and the oldest goes, every `lifetime` draws."""

    def __init__(self, prose: Prose, dice: Dice, size: int = 6, lifetime: int = 12) -> None:
        self._prose = prose
        self._texts: deque[str] = deque(maxlen=size)
        self._lifetime = lifetime
        self._draws = 0
        for _ in range(size):
            self._texts.append(self._new(dice))

    def current(self, dice: Dice) -> str:
        """A paragraph that is in circulation now."""
        self._draws += 1
        if self._draws % self._lifetime == 0:
            self._texts.append(self._new(dice))
        return dice.pick(list(self._texts))

    def _new(self, dice: Dice) -> str:
        return self._prose.passage("en", self._prose.topic("en", dice, 12), dice.between(4, 9), dice)
