"""How do several suppliers of one passage compare, and on which tier of the reference does a fragment stand?

Both are shown with the fragment and decide nothing: suppliers that reach equally far stay a set, whatever their weights
(a wrong tenant is worse than a miss), and no machine confirms. Tier 1 is what a person's acceptance would make of it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

PLACED = 3.0  # how much likelier a text on the same worker is to have been carried than one elsewhere
HALF_LAG_US = 3_600_000_000  # lag at which a text is half as likely a carrier as at once
EDIT = 0.5  # log-likelihood that each raw sign unlike the recipient's costs
NOBODY = 0.05  # weight of "none of the logged sources": public, or outside the log
SHOWN = 0.05  # smallest weight that is shown
STRONG_Q, STRONG_BOUND = 0.01, 0.05
WEAK_Q = 0.05
LONG_UNITS, MANY_BITS = 100, 150.0


def tie_weights(appearances: Sequence[Mapping[str, Any]], code_points: int) -> dict[str, float]:
    """Share of each named tenant, and of `none of the logged`, over the appearances of one fragment."""
    best: dict[str, float] = {}
    for row in appearances:
        if row["named"] and row["source_tenant_id"] is not None:
            lag = max(0, row["lag_us"] or 0)
            weight = (PLACED if row["same_worker"] else 1.0) / (1 + lag / HALF_LAG_US)
            weight *= math.exp(-EDIT * (1 - row["raw_identity"]) * code_points)
            best[row["source_tenant_id"]] = max(best.get(row["source_tenant_id"], 0.0), weight)
    if not best:
        return {}
    total = sum(best.values()) + NOBODY
    shares = {**{name: weight / total for name, weight in sorted(best.items())}, "none of the logged": NOBODY / total}
    return {name: round(share, 3) for name, share in shares.items() if share >= SHOWN}


def tier(verdict: str, q_value: float | None, bound: float | None, sources: int, units: int, bits: float) -> int:
    """1 strong enough to be confirmed by a person, 2 probable, 3 possible or too many sources, 4 undetermined."""
    if verdict not in ("probable", "possible"):
        return 4
    if verdict == "possible" or sources > 2 or sources == 0:
        return 3
    sure = q_value is not None and q_value <= STRONG_Q and bound is not None and bound <= STRONG_BOUND
    if sure and sources == 1 and (units >= LONG_UNITS or bits >= MANY_BITS):
        return 1
    return 2 if q_value is None or q_value <= WEAK_Q else 3
