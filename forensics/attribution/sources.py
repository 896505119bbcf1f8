"""Which request does a holder's text stand for, and which holders are the source?

A text can stand in many requests (conversation history). The one named is the likeliest carrier: in flight at the same
time on the same worker first, then on the same worker, then the latest before the recipient finished. This ranks
requests of one tenant only; it never chooses between tenants.
"""

from __future__ import annotations

from dataclasses import dataclass

from forensics.attribution.candidates import Candidate, Holder
from forensics.attribution.holdings import EARLY, World

GIVEN_SHARE = 0.8  # share of a prompt's run that an earlier response to the same tenant must hold to explain it
TIE_UNITS = 8  # a holder that reaches this much less far than the best is not a source


@dataclass(frozen=True)
class Source:
    """A holder with the request and field it stands in."""

    holder: Holder
    request: int
    request_id: str
    field: str
    lag_us: int | None
    same_worker: bool | None
    overlapped: bool | None


def locate(world: World, candidate: Candidate, holder: Holder) -> Source | None:
    """The use of the holder's text that is the likeliest carrier; None where only impossible ones exist."""
    requests, uses = world.requests, world.uses
    stop = int(requests.finished[candidate.request])
    began = int(requests.received[candidate.request])
    worker = requests.worker[candidate.request]
    best: tuple[tuple[bool, bool, int, int], int] | None = None
    for row in range(int(uses.of_content[holder.content]), int(uses.of_content[holder.content + 1])):
        request = int(uses.request[row])
        if int(uses.side[row]) != holder.side or int(requests.unit[request]) != holder.unit:
            continue
        received = int(requests.received[request])
        if received >= stop or request == candidate.request:
            continue
        same = worker is not None and requests.worker[request] == worker
        overlap = int(requests.finished[request]) > began
        # A prompt text: the likeliest carrier. A generated text: where it was generated first.
        key = (same and overlap, same, received, -row) if holder.side == 0 else (False, False, -received, -row)
        if best is None or key > best[0]:
            best = (key, row)
    if best is None:
        return None
    row = best[1]
    request = int(uses.request[row])
    received = int(requests.received[request])
    known = received > EARLY
    other_worker = requests.worker[request]
    return Source(
        holder,
        request,
        requests.request_id[request],
        uses.field[row],
        stop - received if known else None,
        None if worker is None or other_worker is None else worker == other_worker,
        int(requests.finished[request]) > began if known else None,
    )


def settle_roles(world: World, sources: list[Source]) -> list[Source]:
    """Drop the prompts of tenants that had been given the text before they sent it: victims who quote it.

    Seeds near the ends of a copied run may be selected in one copy and not in another, so that a victim's complaint can
    look like a first supply there; the longest run of each text settles it.
    """
    given: dict[int, list[tuple[int, int]]] = {}
    for source in sources:
        if source.holder.side == 1:
            reach = source.holder.end - source.holder.start
            given.setdefault(source.holder.unit, []).append((reach, _since(world, source.holder)))
    kept = []
    for source in sources:
        reach = source.holder.end - source.holder.start
        since = _since(world, source.holder)
        earlier = any(r >= GIVEN_SHARE * reach and at < since for r, at in given.get(source.holder.unit, []))
        if source.holder.side == 1 or not earlier:
            kept.append(source)
    return kept


def _since(world: World, holder: Holder) -> int:
    """When the unit first supplied the holder's text, or first had it in a finished response (us)."""
    holdings = world.holdings
    times = holdings.supplied if holder.side == 0 else holdings.finished
    low, high = int(holdings.of_content[holder.content]), int(holdings.of_content[holder.content + 1])
    return min(int(times[row]) for row in range(low, high) if int(holdings.unit[row]) == holder.unit)


def rank(sources: list[Source]) -> list[Source]:
    """Best first: reach, agreement, prompt before response, likelier carrier; ties by request id."""
    return sorted(
        sources,
        key=lambda s: (
            s.holder.start - s.holder.end,
            -s.holder.matched,
            s.holder.side,
            not s.same_worker,
            not s.overlapped,
            s.lag_us if s.lag_us is not None else 1 << 62,
            s.request_id,
            s.field,
            s.holder.other_start,
        ),
    )


def first_generations(world: World, sources: list[Source]) -> list[Source]:
    """For each unit, the source in which it was first given the text: the request whose question it may answer."""
    first: dict[int, Source] = {}
    for source in sources:
        if source.holder.side == 1:
            known = first.get(source.holder.unit)
            if known is None or _since(world, source.holder) < _since(world, known.holder):
                first[source.holder.unit] = source
    return [first[unit] for unit in sorted(first)]


def not_before(world: World, candidate: Candidate, generations: list[Source]) -> frozenset[int]:
    """Units whose response was finished no earlier than the recipient's: which came first cannot be told by time."""
    stop = int(world.requests.finished[candidate.request])
    return frozenset(s.holder.unit for s in generations if _since(world, s.holder) >= stop)


def first_unit(world: World, generations: list[Source]) -> int:
    """The unit that was given the text first (by the end of the response); -1 where there is none, or no one first."""
    if not generations:
        return -1
    times = sorted((_since(world, source.holder), source.holder.unit) for source in generations)
    return times[0][1] if len(times) == 1 or times[0][0] < times[1][0] else -1


def leading(sources: list[Source]) -> list[Source]:
    """The sources whose text reaches as far as the best one's: the source, or the set that cannot be told apart."""
    most = max((source.holder.end - source.holder.start for source in sources), default=0)
    return [source for source in sources if source.holder.end - source.holder.start > most - TIE_UNITS]


def leading_units(sources: list[Source]) -> list[int]:
    """Units of the leading sources, sorted."""
    return sorted({source.holder.unit for source in leading(sources)})
