"""What does the report of the whole case show? Rows by pseudonym, ready to print; judges and counts nothing itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson

from forensics.case.intervals import exact_limits
from forensics.case.pseudonyms import Pseudonyms
from forensics.case.store import Case
from forensics.report import pictures
from forensics.report.causes import Causes, load_causes
from forensics.report.figures import Numbers
from forensics.report.notices import facts_set
from forensics.report.render import minute_down, thousands
from forensics.report.steps import IncidentStep, incident_steps

if TYPE_CHECKING:
    from markupsafe import Markup


@dataclass(frozen=True)
class RequestRow:
    """One affected request."""

    request_ref: str
    tenant_ref: str
    received: str
    worker_ref: str
    verdict: str
    fragments: int
    characters: int
    source_refs: tuple[str, ...]


@dataclass(frozen=True)
class TenantRow:
    """One affected customer."""

    tenant_ref: str
    role: str
    notify: str
    verdict: str
    requests_as_recipient: int
    requests_as_source: int
    fragments: int
    characters: int


@dataclass(frozen=True)
class PairRow:
    """One source customer and one recipient customer."""

    source_ref: str
    recipient_ref: str
    fragments: int
    responses: int
    characters: int
    one_of_several: int
    confirmed: int


@dataclass(frozen=True)
class WorkerRow:
    """One worker."""

    worker_ref: str
    responses: int
    affected: int
    possible: int


@dataclass(frozen=True)
class HourRow:
    """One hour of receipt, and what of it could not be examined."""

    hour: str
    requests: int
    not_examinable: int
    tenants: int


@dataclass(frozen=True)
class UnreadRow:
    """One customer of whom something could not be examined."""

    tenant_ref: str
    requests: int
    not_examinable: int


@dataclass(frozen=True)
class RecordRow:
    """What kind of content leaked; counts are words where they are not known."""

    category: str
    status: str
    records: str
    checked: str
    responses: int
    method: str


@dataclass(frozen=True)
class DetectionRow:
    """One way to notice a leak, and what it would have caught; counts are words where they are not known."""

    way: str
    needs: str
    caught: str
    fires_first: str
    false_alarms: str
    why: str


@dataclass(frozen=True)
class ReplayRow:
    """One leak of a replay. `arms`: name, hits, trials, and the exact interval as words."""

    request_ref: str
    plan: str
    verdict: str
    because: str
    arms: tuple[tuple[str, int, int, str], ...]


@dataclass(frozen=True)
class ReportView:
    """Everything that the templates of the report may print."""

    case_ref: str
    as_of: str
    requests: tuple[RequestRow, ...]
    requests_left_out: int
    tenants: tuple[TenantRow, ...]
    pairs: tuple[PairRow, ...]
    workers: tuple[WorkerRow, ...]
    buckets: tuple[pictures.Bucket, ...]
    lengths: tuple[pictures.Step, ...]
    kinds: tuple[tuple[Any, ...], ...]
    exclusions: tuple[tuple[Any, ...], ...]
    decoys: tuple[tuple[Any, ...], ...]
    evidence: tuple[tuple[Any, ...], ...]
    stages: tuple[tuple[Any, ...], ...]
    timeline_notes: tuple[str, ...]
    replays: tuple[ReplayRow, ...]
    causes: Causes
    steps: tuple[IncidentStep, ...]
    hours: tuple[HourRow, ...]
    unread: tuple[UnreadRow, ...]
    unread_left_out: int
    detection: tuple[DetectionRow, ...]
    records: tuple[RecordRow, ...]


_BUCKETS = 48  # at most so many in the picture, so that each holds enough responses for an interval
_UNREAD = 20  # customers with unread requests that are listed


def load_view(case: Case, pseudonyms: Pseudonyms, most_rows: int, leak_pictures: int = 12) -> ReportView:
    """What the report prints of the tables of the case: at most `most_rows` requests, `leak_pictures` drawn leaks."""
    unread = case.rows("report/not_examinable_tenants")
    requests = case.rows("report/requests", {"rows": most_rows})
    return ReportView(
        case_ref=pseudonyms.case_ref,
        as_of=case.rows("report/as_of")[0][0] or "unknown",
        requests=tuple(
            RequestRow(
                pseudonyms.request(request_id),
                pseudonyms.tenant(tenant_id),
                minute_down(received),
                pseudonyms.worker(worker),
                verdict,
                fragments,
                characters,
                tuple(sorted(pseudonyms.tenant(source) for source in sources)),
            )
            for request_id, tenant_id, received, worker, verdict, fragments, characters, sources in requests
        ),
        requests_left_out=case.count("affected_requests") - len(requests),
        # By pseudonym, never by id: the order of the ids would tell names apart.
        tenants=tuple(
            sorted(
                (TenantRow(pseudonyms.tenant(tenant_id), *rest) for tenant_id, *rest in case.rows("report/tenants")),
                key=lambda row: (("yes", "review", "no").index(row.notify), row.tenant_ref),
            )
        ),
        pairs=tuple(
            sorted(
                (
                    PairRow(
                        "no source in the logs" if source is None else pseudonyms.tenant(source),
                        pseudonyms.tenant(recipient),
                        *rest,
                    )
                    for source, recipient, *rest in case.rows("report/who_to_whom")
                ),
                key=lambda row: (-row.fragments, row.source_ref, row.recipient_ref),
            )
        ),
        workers=tuple(
            sorted(
                (WorkerRow(pseudonyms.worker(worker), *rest) for worker, *rest in case.rows("report/by_worker")),
                key=lambda row: row.worker_ref,
            )
        ),
        buckets=_buckets(case),
        lengths=_lengths(case),
        kinds=tuple(case.rows("report/by_kind")),
        exclusions=tuple(case.rows("report/excluded_runs")),
        decoys=tuple(case.rows("report/decoys")),
        evidence=tuple(case.rows("report/evidence")),
        stages=tuple(case.rows("report/stages")),
        timeline_notes=tuple(row[0] for row in case.rows("report/timeline_notes")),
        replays=tuple(sorted(_replays(case, pseudonyms), key=lambda row: (row.request_ref, row.plan, row.because))),
        causes=load_causes(case, pseudonyms, leak_pictures),
        steps=incident_steps(Numbers.load(case), facts_set(case).get("", {})),
        hours=tuple(HourRow(minute_down(hour), *rest) for hour, *rest in case.rows("report/not_examinable_hours")),
        unread=tuple(
            sorted(
                (UnreadRow(pseudonyms.tenant(tenant_id), *rest) for tenant_id, *rest in unread[:_UNREAD]),
                key=lambda row: (-row.not_examinable, row.tenant_ref),
            )
        ),
        unread_left_out=max(0, len(unread) - _UNREAD),
        detection=tuple(_detection(row) for row in case.rows("ask/earlier_detection")),
        records=tuple(_record(row) for row in case.rows("ask/records")),
    )


def _buckets(case: Case) -> tuple[pictures.Bucket, ...]:
    """Responses over time in the buckets of the timeline, several together where there are many of them."""
    width = case.rows("report/bucket_seconds")[0][0] * 1_000_000
    rows = case.rows("report/affected_over_time", {"width_us": width})
    if len(rows) > _BUCKETS:
        width *= -(-len(rows) // _BUCKETS)
        rows = case.rows("report/affected_over_time", {"width_us": width})
    limits = exact_limits([(affected, examined) for _, _, _, examined, affected, _ in rows])
    return tuple(
        pictures.Bucket(label, responses, affected, possible, examined, *(limit or (None, None)))
        for (_, label, responses, examined, affected, possible), limit in zip(rows, limits, strict=True)
    )


def _record(row: tuple[Any, ...]) -> RecordRow:
    category, status, records, checked, responses, method = row
    counts = ("not known" if records is None else thousands(records), "" if checked is None else thousands(checked))
    return RecordRow(category.replace("_", " "), status.replace("_", " "), *counts, responses, method)


def _detection(row: tuple[Any, ...]) -> DetectionRow:
    way, needs, caught, affected, first, alarms, unaffected, why = row
    return DetectionRow(
        way,
        needs,
        "not known" if caught is None else f"{thousands(caught)} of {thousands(affected)}",
        "" if first is None else minute_down(_utc_microseconds(first)),
        "not known" if alarms is None else f"{thousands(alarms)} of {thousands(unaffected)}",
        why,
    )


def _utc_microseconds(moment: datetime) -> int:
    return (moment - datetime(1970, 1, 1)) // timedelta(microseconds=1)


def _replays(case: Case, pseudonyms: Pseudonyms) -> Iterable[ReplayRow]:
    for request_id, _, plan, verdict, because, figures in case.rows("report/replays"):
        arms = tuple(
            (arm["name"].replace("_", " "), arm["hits"], arm["trials"], f"{arm['low']:.0%} to {arm['high']:.0%}")
            for arm in orjson.loads(figures).get("arms", ())
            if arm["trials"]
        )
        yield ReplayRow(pseudonyms.request(request_id), plan, verdict.replace("_", " "), because, arms)


def draw(view: ReportView) -> dict[str, Markup | None]:
    """The pictures of the view; None where there is nothing to draw."""
    pairs = [pictures.Pair(row.source_ref, row.recipient_ref, row.fragments) for row in view.pairs]
    return {
        "steps": pictures.incident(view.steps),
        "time": pictures.affected_over_time(view.buckets) if view.buckets else None,
        "matrix": pictures.who_to_whom(pairs) if pairs else None,
        "lengths": pictures.fragment_lengths(view.lengths) if view.lengths else None,
    }


def draw_leaks(view: ReportView) -> list[tuple[str, str, Markup]]:
    """Fragment, workers and picture of each leak that is drawn, clearest first."""
    return [
        (leak.fragment_id, leak.worker_refs, pictures.slot_lanes(leak.lanes, f"leak{number}"))
        for number, leak in enumerate(view.causes.leaks, start=1)
    ]


def _lengths(case: Case) -> tuple[pictures.Step, ...]:
    labels: dict[int, str] = {}
    counts: defaultdict[int, dict[str, int]] = defaultdict(dict)
    for step, low, high, level, fragments in case.rows("report/lengths"):
        labels[step] = f"{low:,}-{high:,}"
        counts[step][level] = fragments
    return tuple(
        pictures.Step(labels[step], counts[step].get("probable or better", 0), counts[step].get("weaker", 0))
        for step in sorted(labels)
    )
