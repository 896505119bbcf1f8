"""Seeded chance for the simulator: one place where random numbers come from. Knows nothing of logs."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Dice(random.Random):
    """A seeded generator. The same seed and name give the same throws on every machine and in every process."""

    def __init__(self, seed: int, name: str = "") -> None:
        super().__init__(f"{seed}/{name}")

    def chance(self, probability: float) -> bool:
        """True with `probability`."""
        return self.random() < probability

    def pick(self, items: Sequence[T]) -> T:
        """One item, all equally likely."""
        return items[int(self.random() * len(items))]

    def between(self, low: int, high: int) -> int:
        """A whole number in [low, high]."""
        return low + int(self.random() * (high - low + 1))

    def log_between(self, low: float, high: float) -> float:
        """A number in [low, high) whose logarithm is evenly spread: many small, few large."""
        return math.exp(self.uniform(math.log(low), math.log(high)))

    def hex(self, digits: int) -> str:
        """Random hexadecimal digits."""
        return f"{self.getrandbits(digits * 4):0{digits}x}"
