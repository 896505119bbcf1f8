"""Does another tenant have a passage only because this very answer was delivered to it?

A stream that leaks while it is still being written can reach a victim that is done first, and that sends what it was
given back, as the history of its next request, before the answer itself is finished. By the clock the victim supplied
the text. That it did not shows in another finding: the one that names this answer as the source of the victim's.
Two such findings accuse each other, and only the order of delivery and sending settles which is right. Where the victim
sent the passage first, or was given it by nobody that is named, nothing is said here.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace

from forensics.attribution.candidates import Excluded
from forensics.attribution.findings import Judged
from forensics.attribution.holdings import World
from forensics.attribution.sources import Source, leading
from forensics.attribution.texts import Texts

COVERED = 0.5  # share of a passage that was delivered to the other tenant


@dataclass(frozen=True)
class _Delivery:
    """A part (units) of an answer that another finding saw in a response to `unit`, finished at `since` (us)."""

    unit: int
    since: int
    start: int
    end: int
    sure: bool


def without_returned(world: World, texts: Texts, judged: list[Judged]) -> tuple[list[Judged], list[Excluded]]:
    """The findings without those that name a tenant to which the passage had gone from here, and what these were.

    Where the other finding is only `possible`, nobody is named instead.
    """
    deliveries: dict[tuple[int, int], list[_Delivery]] = defaultdict(list)
    for item in judged:
        for source in item.ranked[:1] if item.units else ():
            if source.holder.side == 1:
                request = item.candidate.request
                deliveries[source.request, source.holder.content].append(
                    _Delivery(
                        int(world.requests.unit[request]), int(world.requests.finished[request]),
                        source.holder.other_start, source.holder.other_end, item.verdict == "probable",
                    )
                )  # fmt: skip
    kept: list[Judged] = []
    returned: list[Judged] = []
    for item in judged:
        known = deliveries.get((item.candidate.request, item.candidate.content), [])
        settled = [_delivered(world, item, source, known) for source in leading(item.ranked)] if item.units else []
        if not settled or None in settled:
            kept.append(item)
        elif all(one is not None and one.sure for one in settled):
            returned.append(item)
        else:
            reason = f"{item.reason}; another finding says that it went there from this answer: nobody is named"
            kept.append(replace(item, units=[], kind="undetermined", verdict="undetermined", reason=reason))
    return kept, _excluded(texts, returned)


def _delivered(world: World, item: Judged, source: Source, known: list[_Delivery]) -> _Delivery | None:
    """The delivery that explains why the source's prompt holds the passage; the surest."""
    start, end = item.candidate.start, item.candidate.end
    explained = [
        one
        for one in known
        if source.holder.side == 0
        and one.unit == source.holder.unit
        and one.since <= world.requests.received[source.request]
        and min(one.end, end) - max(one.start, start) >= COVERED * (end - start)
    ]
    return max(explained, key=lambda one: one.sure, default=None)


def _excluded(texts: Texts, returned: list[Judged]) -> list[Excluded]:
    found = []
    for batch in texts.batches([{item.candidate.content} for item in returned]):
        for item in returned[batch.start : batch.stop]:
            candidate = item.candidate
            low, high = texts.folded(candidate.content).span(candidate.start, candidate.end)
            detail = "this answer was delivered to the other tenant, which sent it back in a later request"
            found.append(Excluded(candidate.use, low, high, "own_material", detail, len(candidate.carriers)))
    return found
