"""Sets of keys as ascending arrays: make one, ask one. Faster than the general forms, which hash or sort both sides."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

Key = TypeVar("Key", bound=np.generic)


def distinct(keys: npt.NDArray[Key]) -> npt.NDArray[Key]:
    """The keys, each once, ascending."""
    ordered = np.sort(keys)
    new = np.ones(ordered.size, dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    return ordered[new]


def among(keys: npt.NDArray[Any], held: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """For each key: is it in `held` (ascending, of the same type)?"""
    if held.size == 0:
        return np.zeros(keys.size, dtype=np.bool_)
    return np.asarray(held[np.minimum(np.searchsorted(held, keys), held.size - 1)] == keys)
