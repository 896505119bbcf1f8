"""Who was there when a leak happened, in which order, and who can stand in for them in a control? Reads case tables.

The company of a leak: requests in flight on its worker near the recipient or the source, those first that the timeline
ties to one of the two (slot, aborts before the leak, a shared beginning, forward passes), up to a limit. The company of
its control: as many ordinary requests of other tenants, from another time, that ended by themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from forensics.case.errors import UsageError
from forensics.case.explain import find_fragment
from forensics.case.store import Case
from forensics.replay.calls import Call, read_calls

IDLE_MS = 2000  # of a stretch in which nothing is in flight, so much is kept


@dataclass(frozen=True)
class Chosen:
    """A fragment that is to be reproduced. `spans`: where it stands in its sources: (request, field, start, end)."""

    fragment_id: str
    kind: str
    recipient: int
    sources: tuple[int, ...]
    spans: tuple[tuple[int, str, int, int], ...]


@dataclass(frozen=True)
class Placed:
    """A call in a scene: `at_ms` from the start, `after`: requests that had ended before it came."""

    call: Call
    at_ms: int
    after: tuple[int, ...]


@dataclass(frozen=True)
class Scene:
    """A leak and its company, by time. `unrelated` stand where `company` and sources stood. `notes`: sentences."""

    chosen: Chosen
    calls: tuple[Placed, ...]  # sources, company and recipient
    unrelated: tuple[Placed, ...]
    sources: tuple[int, ...]  # those that can be sent
    window_ms: int
    notes: tuple[str, ...]


def choose(case: Case, named: Sequence[str], most: int) -> tuple[list[Chosen], list[str]]:
    """The fragments to plan for, and a sentence for each that cannot be planned.

    `named`: fragment ids or their unique beginnings, none for the clearest `most` that are probable or better and have
    a named source. Raises UsageError for a name of no fragment, or of several.
    """
    wanted = [str(find_fragment(case, one)["fragment_id"]) for one in named]
    chosen: list[Chosen] = []
    left_out: list[str] = []
    for fragment, request, kind, verdict, state in case.rows("replay/fragments"):
        if fragment not in wanted if wanted else verdict not in ("confirmed", "probable"):
            continue
        if not wanted and len(chosen) >= most:
            break
        spans = tuple(case.rows("replay/sources", {"fragment": fragment}))
        sources = tuple(dict.fromkeys(span[0] for span in spans))
        if state != "full":
            left_out.append(f"{fragment}: the recipient's prompt is not whole in the logs ({state})")
        elif not sources:
            left_out.append(f"{fragment}: no source is named, so that nothing could be recognised in a trial")
        else:
            chosen.append(Chosen(fragment, kind, request, sources, spans))
    for fragment in sorted(set(wanted) - {one.fragment_id for one in chosen}):
        if not any(line.startswith(f"{fragment}:") for line in left_out):
            left_out.append(f"{fragment}: a person rejected it")
    return chosen, left_out


def none_left(what: str, left_out: Sequence[str]) -> UsageError:
    """The error where no fragment is left to be `what`."""
    why = f": {left_out[0]}" if left_out else "; `forensics ask CASE review-queue` lists what was found"
    return UsageError(f"no fragment can be {what}{why}")


def scene_of(case: Case, chosen: Chosen, company: int, window_ms: int) -> Scene | str:
    """The scene of a leak; or, where it cannot be set, why not."""
    asked = {"recipient": chosen.recipient, "sources": list(chosen.sources), "window_us": window_ms * 1000}
    near = case.rows("replay/neighbours", asked)
    calls = read_calls(case, [chosen.recipient, *chosen.sources, *(row[0] for row in near)])
    recipient = calls.get(chosen.recipient)
    if recipient is None:
        return "the recipient's prompt is not in the case"
    sources = tuple(source for source in chosen.sources if source in calls and calls[source].whole)
    if not sources:
        return "no source's prompt is whole in the logs"
    notes: list[str] = []
    if len(sources) < len(chosen.sources):
        notes.append(f"{len(chosen.sources) - len(sources)} possible sources are left out: their prompts are not whole")
    ranked = sorted(
        (row for row in near if row[0] in calls),
        key=lambda row: (-_weight(row, recipient, calls[row[0]]), row[2] or 0, row[0]),
    )
    if len(ranked) > company:
        notes.append(f"{len(ranked) - company} of {len(ranked)} neighbours are left out (--company {company})")
    kept = [calls[row[0]] for row in ranked[:company]]
    placed, timed = _placed([*(calls[source] for source in sources), *kept, recipient])
    if not timed:
        notes.append("arrival times are not in the logs: the source is sent first, the recipient last")
    return Scene(
        chosen=chosen,
        calls=placed,
        unrelated=_unrelated(case, placed, recipient, [calls[source] for source in sources]),
        sources=sources,
        window_ms=window_ms,
        notes=tuple(notes),
    )


def _weight(row: Sequence[object], recipient: Call, call: Call) -> int:
    """How much ties a neighbour to the leak."""
    _, beside, _, same_slot, with_recipient, with_source, interrupted = row
    before = (
        call.finished_us is not None
        and recipient.received_us is not None
        and call.finished_us <= (recipient.finished_us or recipient.received_us)
    )
    one, other = call.beginning, recipient.beginning
    half = min(len(one), len(other)) // 2
    alike = one[:half] == other[:half]
    return (
        8 * bool(same_slot)
        + 4 * bool(interrupted and before)
        + 4 * alike
        + 2 * bool(with_recipient)
        + bool(with_source)
        + bool(beside)
    )


def _placed(calls: Sequence[Call]) -> tuple[tuple[Placed, ...], bool]:
    """Calls in order of arrival, stretches of idleness shortened; whether the order is that of the logs."""
    if any(call.received_us is None for call in calls):
        # In the order given: sources, company, recipient.
        return tuple(Placed(call, place * 50, ()) for place, call in enumerate(calls)), False
    ordered = sorted(calls, key=lambda call: (call.received_us or 0, call.request))
    placed: list[Placed] = []
    start, busy, cut = ordered[0].received_us or 0, ordered[0].received_us or 0, 0
    for call in ordered:
        received = call.received_us or 0
        cut += max(received - busy - IDLE_MS * 1000, 0)
        busy = max(busy, received, call.finished_us or 0)
        placed.append(Placed(call, (received - start - cut) // 1000, _after(call, ordered)))
    return tuple(placed), True


def _after(call: Call, calls: Sequence[Call]) -> tuple[int, ...]:
    """Calls that had ended when `call` came, without those that had ended before another of them came."""
    received = call.received_us or 0
    ended = [one for one in calls if one.finished_us is not None and one.finished_us <= received and one is not call]
    latest = max((one.received_us or 0 for one in ended), default=0)
    return tuple(sorted(one.request for one in ended if (one.finished_us or 0) > latest))


def _unrelated(case: Case, placed: Sequence[Placed], recipient: Call, sources: Sequence[Call]) -> tuple[Placed, ...]:
    """Ordinary calls in the places of the company, each as like in length to the one it stands for as there is."""
    starts = [one.call.received_us for one in placed if one.call.received_us is not None]
    ends = [one.call.finished_us or one.call.received_us or 0 for one in placed]
    rows = case.rows(
        "replay/unrelated",
        {
            "units": sorted({call.unit for call in (recipient, *sources) if call.unit is not None}),
            "excluded": [one.call.request for one in placed],
            "start_us": min(starts, default=0),
            "end_us": max(ends, default=0),
        },
    )
    free = {row[0]: row[1] or 0 for row in rows}
    taken: list[tuple[Placed, int]] = []
    for one in placed:
        if one.call is recipient or not free:
            continue
        wanted = one.call.prompt_tokens or 0
        best = min(free, key=lambda request: (abs(free[request] - wanted), request))
        del free[best]
        taken.append((one, best))
    calls = read_calls(case, [request for _, request in taken])
    return tuple(Placed(calls[request], one.at_ms, ()) for one, request in taken if request in calls)
