"""How many responses are affected at least? What people confirmed, else the probable ones less those that may be false.

How many may be false comes from q-values that decoys support, else from findings before the fault began, which are
all false. Where neither was measured, no lower bound is made up.
"""

from __future__ import annotations

import math

from forensics.case.store import Case
from forensics.scope.number import Number

NAME = "lower_bound.responses"
_FALSE = ("false_positives.before", "probable")


def lower_bound(case: Case) -> Number:
    """The figure, with how it came about; null where it is not assessable."""
    confirmed, responses, with_q, worst_q = case.rows("scope/lower_bound")[0]
    if confirmed:
        return Number(NAME, confirmed, "confirmed responses", n=confirmed, total=responses)
    if not responses:
        return Number(NAME, 0, "no response is probable or better", n=0, total=0)
    if with_q:
        return _by_decoys(responses, with_q, worst_q)
    by_period = _by_period(case, responses)
    if by_period is not None:
        return by_period
    method = (
        "not assessable: nothing is confirmed, and without q-values or a time before the fault (`forensics controls "
        "--fault-began`) the expected number of false ones is unknown"
    )
    return Number(NAME, None, method, n=0, total=responses)


def _by_decoys(responses: int, with_q: int, worst_q: float) -> Number:
    # The worst q bounds the share of false ones in the whole set; rounding keeps the bound on the safe side.
    bound = math.floor(with_q * (1 - min(1.0, worst_q)) + 1e-9)
    method = "nothing is confirmed yet: probable responses with a q-value, less the false ones expected at the worst q"
    if with_q < responses:
        method += "; probable responses without a q-value are left out, as their expected false ones are not assessable"
    return Number(NAME, bound, method, n=with_q, total=responses)


def _by_period(case: Case, responses: int) -> Number | None:
    """Less the false ones that the upper limit of the rate before the fault makes of all examined responses."""
    rows = [row for row in case.rows("scope/controls") if row[:2] == _FALSE and row[-1] and row[6] is not None]
    if not rows:
        return None
    _, _, _, hits, total, _, high, _, _ = rows[0]
    examined = case.rows("scope/examined")[0][1]
    false = math.ceil(high * examined - 1e-9)
    method = (
        f"nothing is confirmed yet: probable responses ({responses}), less the false ones ({false}) that a rate of "
        f"{100 * high:.3g} % among {examined} examined responses would make: the upper limit of {hits} of {total} "
        "probable findings before the fault began, as declared"
    )
    return Number(NAME, max(0, responses - false), method, n=responses, total=responses)
