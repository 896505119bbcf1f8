"""What does the report of the whole case show? Rows by pseudonym, ready to print; judges and counts nothing itself."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from forensics.case.pseudonyms import Pseudonyms
from forensics.case.store import Case
from forensics.report import pictures
from forensics.report.causes import Causes, load_causes
from forensics.report.figures import Numbers
from forensics.report.render import minute_down

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


def load_view(case: Case, pseudonyms: Pseudonyms, most_rows: int, leak_pictures: int = 12) -> ReportView:
    """What the report prints of the tables of the case: at most `most_rows` requests, `leak_pictures` drawn leaks."""
    width = case.rows("report/bucket_seconds")[0][0] * 1_000_000
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
        buckets=tuple(
            pictures.Bucket(label, responses, affected, possible)
            for _, label, responses, affected, possible in case.rows("report/affected_over_time", {"width_us": width})
        ),
        lengths=_lengths(case),
        kinds=tuple(case.rows("report/by_kind")),
        exclusions=tuple(case.rows("report/excluded_runs")),
        decoys=tuple(case.rows("report/decoys")),
        evidence=tuple(case.rows("report/evidence")),
        stages=tuple(case.rows("report/stages")),
        timeline_notes=tuple(row[0] for row in case.rows("report/timeline_notes")),
        replays=tuple(sorted(_replays(case, pseudonyms), key=lambda row: (row.request_ref, row.plan, row.because))),
        causes=load_causes(case, pseudonyms, leak_pictures),
    )


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


def share_table(numbers: Numbers) -> list[tuple[str, tuple[str, ...]]]:
    """The scope table: what was counted, at which level of certainty."""
    levels = ("confirmed", "probable_or_better", "possible_or_better", "undetermined")
    rows = (
        ("responses with foreign text", "responses"),
        ("customers that received it", "recipient_tenants"),
        ("customers whose text it is, sets included", "source_tenants"),
        ("of these named alone at least once", "source_tenants_named_alone"),
        ("source requests", "source_requests"),
        ("fragments", "fragments"),
        ("foreign characters", "foreign_characters"),
    )
    return [(label, tuple(numbers.of(f"{name}.{level}") for level in levels)) for label, name in rows]


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
