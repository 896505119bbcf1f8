"""What does the report show of the cause? Rows ready to print, and the slots around single leaks; it judges nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forensics.case.lanes import lanes
from forensics.case.pseudonyms import Pseudonyms
from forensics.case.store import Case
from forensics.case.words import ratio
from forensics.report.pictures import Bar, Lanes
from forensics.report.render import minute_down, minute_up

_ALPHA = 0.01
_STAYS = 120
_LANES = 24


@dataclass(frozen=True)
class MechanismRow:
    """One hypothesis. `class_`: those that the evidence cannot tell from it, itself included."""

    id: str
    title: str
    status: str
    rank: int | None
    class_: str
    finding: str
    condition: str
    missing: str
    seen_in: str


@dataclass(frozen=True)
class FactRow:
    """One tested fact. Ratios and p-values are words."""

    level: str
    fact: str
    status: str
    leaks: str
    controls: str
    odds: str
    p: str


@dataclass(frozen=True)
class EndRow:
    """One end of the fault, all together or on one worker. Times to the minute, or where they lie outside."""

    worker: str
    bound: str
    at: str
    interval: str
    affected: int
    responses: int
    event: str
    finding: str


@dataclass(frozen=True)
class FactorRow:
    """One property that affected and unaffected responses have differently."""

    factor: str
    value: str
    affected: str
    unaffected: str
    odds: str
    p: str
    finding: str


@dataclass(frozen=True)
class LeakPicture:
    """One leak to draw, by pseudonym."""

    fragment_id: str
    worker_refs: str
    lanes: Lanes


@dataclass(frozen=True)
class Causes:
    """Everything of the cause that the templates may print."""

    mechanisms: tuple[MechanismRow, ...]
    facts: tuple[FactRow, ...]
    ends: tuple[EndRow, ...]
    factors: tuple[FactorRow, ...]
    leaks: tuple[LeakPicture, ...]


def load_causes(case: Case, pseudonyms: Pseudonyms, leaks: int) -> Causes:
    """The tables of the timeline as rows, and at most `leaks` pictures, clearest first."""
    return Causes(
        tuple(MechanismRow(*row) for row in case.rows("report/mechanisms")),
        tuple(_fact(row) for row in case.rows("report/mechanism_facts")),
        tuple(_end(row, pseudonyms) for row in case.rows("report/fault_window")),
        tuple(_factor(row, pseudonyms) for row in case.rows("report/leak_factors", {"alpha": _ALPHA})),
        tuple(_picture(case, pseudonyms, row) for row in case.rows("report/clear_leaks", {"leaks": leaks})),
    )


def _fact(row: tuple[Any, ...]) -> FactRow:
    level, fact, status, leaks_with, leaks, controls_with, controls, odds, low, high, p, p_holm = row
    return FactRow(
        level,
        fact.replace("_", " "),
        status.replace("_", " "),
        f"{leaks_with} of {leaks}",
        f"{controls_with} of {controls}",
        _odds(odds, low, high),
        "" if p is None else f"{p:.2g}; {p_holm:.2g}",
    )


def _end(row: tuple[Any, ...], pseudonyms: Pseudonyms) -> EndRow:
    worker, bound, at, low, high, affected, responses, event_kind, event_at, finding = row
    dated = at is not None or low is not None or high is not None
    interval = ""
    if dated:
        first = "before these logs" if low is None else minute_down(low)
        interval = f"{first} to {'after these logs' if high is None else minute_up(high)}"
    outside = "outside these logs" if dated else "not dated"
    return EndRow(
        "all" if worker is None else pseudonyms.worker(worker),
        bound,
        outside if at is None else minute_down(at),
        interval,
        affected,
        responses,
        f"{event_kind.replace('_', ' ')}, {minute_down(event_at)}" if event_kind else "",
        finding,
    )


def _factor(row: tuple[Any, ...], pseudonyms: Pseudonyms) -> FactorRow:
    factor, value, affected, affected_of, unaffected, unaffected_of, odds, low, high, p_holm, finding = row
    # What comes from a log may be a name: workers have pseudonyms, other values are shown only where they are ours.
    shown = value if factor in _OURS else "a value in the case"
    if factor == "worker":
        shown = pseudonyms.worker(None if value == "unknown" else value)
    return FactorRow(
        factor.replace("_", " "),
        shown,
        f"{affected} of {affected_of}",
        f"{unaffected} of {unaffected_of}",
        _odds(odds, low, high),
        f"{p_holm:.2g}",
        finding,
    )


_OURS = frozenset(("stream", "aborted", "retracted", "retried", "cache_hit", "long_prompt", "many_prompt_tokens"))


def _picture(case: Case, pseudonyms: Pseudonyms, row: Sequence[Any]) -> LeakPicture:
    fragment_id, source, recipient = row
    stays = case.rows("report/leak_stays", {"source": source, "recipient": recipient, "stays": _STAYS})
    low = min((stay[4] for stay in stays), default=0)
    labels: list[str] = []
    bars: list[Bar] = []
    keys = sorted({(stay[0], stay[1]) for stay in stays}, key=lambda key: _order(key, stays))[:_LANES]
    keys.sort(key=lambda key: (pseudonyms.worker(key[0]), key[1] is None, len(key[1] or ""), key[1] or ""))
    workers = sorted({pseudonyms.worker(worker) for worker, _ in keys})
    for worker, slot in keys:
        own = [stay for stay in stays if (stay[0], stay[1]) == (worker, slot)]
        found = lanes([(stay[2], stay[3]) for stay in own])
        where = f"{pseudonyms.worker(worker)} " if len(workers) > 1 else ""
        number = slot if slot is not None and slot.isascii() and slot.isdigit() else ""
        first = len(labels)
        labels += [f"{where}slot {number}".strip() if slot is not None else f"{where}in flight"] * (max(found) + 1)
        bars += [
            Bar(first + lane, (stay[2] - low) / 1e6, (stay[3] - low) / 1e6, stay[6])
            for stay, lane in zip(own, found, strict=True)
        ]
    return LeakPicture(fragment_id, ", ".join(workers), Lanes(tuple(labels), tuple(bars)))


def _order(key: tuple[str, str | None], stays: Sequence[tuple[Any, ...]]) -> tuple[bool, str, str]:
    """Slots of source and recipient first, where not all can be drawn."""
    involved = any((stay[0], stay[1]) == key and stay[6] in ("source", "recipient") for stay in stays)
    return (not involved, key[0], key[1] or "")


def _odds(odds: float | None, low: float | None, high: float | None) -> str:
    if odds is None or low is None or high is None:
        return ""
    return f"{ratio(odds)} ({ratio(low)} to {ratio(high)})"
