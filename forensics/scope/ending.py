"""Which event fixes each end of the window, and has it stopped? A silence is bounded, never taken for an end."""

from __future__ import annotations

from collections.abc import Iterator

from forensics.case.intervals import exact_interval
from forensics.case.store import Case
from forensics.scope.number import Number

SOUGHT = "start, flush or change of configuration"


def from_window(case: Case, confidence: float) -> Iterator[Number]:
    """The outer ends of the window, the rate after the event that closes it, and the chance of the silence."""
    rates = {name: (hits, total) for name, hits, total in case.rows("scope/rates")}
    opens_at, opens_kind, closes_at, closes_kind, hits, total = case.rows("scope/window_events")[0]
    affected = "rate.whole" not in rates
    nothing = "no response is affected, so there is no window"
    none = f"no {SOUGHT} of an engine stands {{}} in these logs: this end is open"
    yield Number(
        "window.opens_at",
        opens_at,
        _fixed(opens_kind, f"last {SOUGHT} before the first affected response was received")
        if opens_at
        else none.format("before the first affected response")
        if affected
        else nothing,
    )
    yield Number(
        "window.closes_at",
        closes_at,
        _fixed(closes_kind, f"first {SOUGHT} after the last affected response was finished; not known to be the fix")
        if closes_at
        else none.format("after the last affected response")
        if affected
        else nothing,
    )
    if closes_at:
        interval = exact_interval(hits, total, confidence)
        method = f"affected among examined responses received after the event that closes the window; {interval.method}"
        yield Number("rate.after_closing", interval.rate, method, hits, total, interval.low, interval.high)
    if affected:
        yield _silence(*rates["rate.in_window"], rates["rate.after_window"][1], confidence)


def _fixed(kind: str, words: str) -> str:
    return f"{kind.replace('_', ' ')}: {words}"


def _silence(hits: int, total: int, after: int, confidence: float) -> Number:
    """How likely `after` responses without a leak would be at the rate of the window: (1 - rate) ** after.

    `high` takes the lower limit of that rate. Responses are taken to be alike and independent.
    """
    name = "stopped.chance"
    inside = exact_interval(hits, total, confidence)
    if not after or inside.rate is None or inside.low is None:
        return Number(name, None, "not known: nothing that came after the last affected response could be examined")
    method = (
        f"chance that {after} examined responses after the last affected one are all free of leaks if the rate of the "
        "window went on; responses taken as alike and independent; high: at the lower limit of that rate"
    )
    low = (1 - (inside.high or 1.0)) ** after
    return Number(name, (1 - inside.rate) ** after, method, None, None, low, (1 - inside.low) ** after)
