"""Do an engine's own counts of running requests agree with stays that were derived? Changes nothing.

A count's stamp may be cut to its second, and a request is admitted a while before it counts as running: a count agrees
where the number of stays reached it at some moment around its stamp.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

_BEFORE_US = 2_000_000
_AFTER_US = 1_100_000


def agreement(
    admitted: np.ndarray[Any, Any],
    done: np.ndarray[Any, Any],
    moments: np.ndarray[Any, Any],
    running: np.ndarray[Any, Any],
) -> np.ndarray[Any, Any]:
    """Whether each count `running` at `moments` lies between the least and the most stays held around that time.

    All times are UTC microseconds. One less than the least agrees too: a call that prefills holds its row already.
    """
    import numpy as np

    if not len(moments):
        return np.zeros(0, dtype=bool)
    changes = np.concatenate((admitted, done))
    steps = np.concatenate((np.ones(len(admitted), dtype=np.int64), -np.ones(len(done), dtype=np.int64)))
    order = np.lexsort((steps, changes))
    changes = changes[order]
    held = np.concatenate(([0], np.cumsum(steps[order]), [0]))
    low = np.searchsorted(changes, moments - _BEFORE_US, side="left")
    high = np.searchsorted(changes, moments + _AFTER_US, side="right")
    # held[low] stands before the window, held[low + 1 .. high] within it.
    edges = np.column_stack((low, high + 1)).ravel()
    least = np.minimum.reduceat(held, edges)[::2]
    most = np.maximum.reduceat(held, edges)[::2]
    return np.asarray((running >= least - 1) & (running <= most))
