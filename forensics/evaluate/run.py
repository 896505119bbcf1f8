"""How good are a case's findings? Reads `out/` and a ground truth, returns measures. Changes nothing in the case."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from forensics.case.errors import MissingInput
from forensics.case.store import Case
from forensics.evaluate.classes import SHARED, ClassReport, by_class, innocent
from forensics.evaluate.measures import Cell, Matching, pairs
from forensics.evaluate.records import (
    BANDS,
    Finding,
    Leak,
    read_column,
    read_findings,
    read_lookalikes,
    read_truth,
    wrongly_named,
)

STRONG = ("probable", "confirmed")


@dataclass(frozen=True)
class ListCheck:
    """A list against the truth. Ids only; `missing` are not listed though true, `extra` listed though not."""

    expected: int
    listed: int
    missing: tuple[str, ...]
    extra: tuple[str, ...]

    @property
    def exact(self) -> bool:
        """Whether the list is right to the last entry."""
        return not self.missing and not self.extra


@dataclass(frozen=True)
class EvaluationReport:
    """All measures. `cells` count every finding that is not excluded, `strong_cells` those probable or better.

    The first cell is kind all, band all. `false_strong` are findings probable or better that touch no leak;
    `false_per_10000` relates them to `responses` (None where that is not known). `wrong_tenants` counts findings of
    any verdict, true or false, that name a tenant who may not be named there. `classes` and `strong_classes` are None
    where the truth names no classes. `lookalikes` counts sure findings that are innocent shared text, by its class;
    `shared_share` is the share of boilerplate, templates and same-question answers among all sure findings.
    """

    leaks: int
    responses: int | None
    cells: tuple[Cell, ...]
    strong_cells: tuple[Cell, ...]
    false_strong: int
    false_per_10000: float | None
    wrong_tenants: int
    wrong_tenants_strong: int
    affected_requests: ListCheck
    affected_tenants: ListCheck
    source_tenants: ListCheck
    classes: ClassReport | None
    strong_classes: ClassReport | None
    lookalikes: dict[str, int]
    shared_share: float | None


def evaluate(
    fragments: Path,
    truth: Path,
    affected: Path | None = None,
    possible: Path | None = None,
    tenants: Path | None = None,
    responses: int | None = None,
    lookalikes: Path | None = None,
) -> EvaluationReport:
    """Measures of `fragments` (out/fragments.jsonl) against `truth` (truth.jsonl).

    `affected`, `possible` and `tenants` are the CSV lists of the case; without them the lists are taken from the
    fragments. `responses` is the number of responses examined. `lookalikes` (lookalikes.jsonl) is looked for beside the
    truth if not given. Raises MissingInput for an absent file.
    """
    for path in (fragments, truth):
        if not path.is_file():
            raise MissingInput(f"{path} is not there")
    leaks, findings = read_truth(truth), read_findings(fragments)
    strong = [finding for finding in findings if finding.verdict in STRONG]
    touched = {number for _, number, _ in pairs(leaks, strong)}
    false_strong = len(strong) - len(touched)
    beside = lookalikes if lookalikes is not None else truth.with_name("lookalikes.jsonl")
    mistaken = innocent(leaks, strong, read_lookalikes(beside))
    return EvaluationReport(
        leaks=len(leaks),
        responses=responses,
        cells=_cells(leaks, findings),
        strong_cells=_cells(leaks, strong),
        false_strong=false_strong,
        false_per_10000=false_strong * 10_000 / responses if responses else None,
        wrong_tenants=_wrong(leaks, findings),
        wrong_tenants_strong=_wrong(leaks, strong),
        affected_requests=_check_requests(leaks, findings, affected, possible),
        affected_tenants=_check_recipients(leaks, findings, tenants),
        source_tenants=_check_sources(leaks, strong, tenants),
        classes=by_class(leaks, findings),
        strong_classes=by_class(leaks, strong),
        lookalikes=mistaken,
        shared_share=sum(mistaken.get(name, 0) for name in SHARED) / len(strong) if strong else None,
    )


def evaluate_case(case_root: Path, truth: Path) -> EvaluationReport:
    """Measures of the case in `case_root`, whose `out/` must have been written."""
    with Case.open(case_root, read_only=True) as case:
        responses = int(case.rows("evaluate/responses")[0][0])
    out = case_root / "out"
    return evaluate(
        out / "fragments.jsonl",
        truth,
        out / "affected_requests.csv",
        out / "affected_possible.csv",
        out / "affected_tenants.csv",
        responses,
    )


def _cells(leaks: list[Leak], findings: list[Finding]) -> tuple[Cell, ...]:
    kinds = sorted({leak.kind for leak in leaks} | {finding.kind for finding in findings})
    wanted = [("all", "all"), *(("all", name) for _, _, name in BANDS)]
    wanted += [(kind, name) for kind in kinds for name in ("all", *(entry[2] for entry in BANDS))]
    matching = Matching(leaks, findings)
    made = [matching.by_kind(kind, name) for kind, name in wanted]
    return tuple(entry for entry in made if entry.leaks or entry.findings or entry.kind == entry.band == "all")


def _wrong(leaks: list[Leak], findings: list[Finding]) -> int:
    touched: dict[int, list[Leak]] = {}
    for place, number, _ in pairs(leaks, findings):
        touched.setdefault(number, []).append(leaks[place])
    return sum(bool(wrongly_named(finding, touched.get(number, ()))) for number, finding in enumerate(findings))


def _check_requests(
    leaks: list[Leak], findings: list[Finding], affected: Path | None, possible: Path | None
) -> ListCheck:
    """Leaks with a source belong in the affected list; those without may stand in the possible one."""
    sourced = {leak.request_id for leak in leaks if leak.tenants}
    true = {leak.request_id for leak in leaks}
    if affected is not None:
        sure = set(read_column(affected, "request_id"))
        maybe = set(read_column(possible, "request_id")) if possible is not None else set()
    else:
        sure = {finding.request_id for finding in findings if finding.verdict in STRONG}
        maybe = {finding.request_id for finding in findings} - sure
    listed = sure | maybe
    missing = (sourced - sure) | (true - listed)
    return ListCheck(len(true), len(listed), tuple(sorted(missing)), tuple(sorted(listed - true)))


def _check_recipients(leaks: list[Leak], findings: list[Finding], tenants: Path | None) -> ListCheck:
    known = {finding.request_id: finding.recipient_tenant for finding in findings}
    expected = {leak.recipient_tenant or known.get(leak.request_id) for leak in leaks} - {None}
    if tenants is not None:
        roles = zip(read_column(tenants, "tenant_id"), read_column(tenants, "role"), strict=True)
        listed = {name for name, role in roles if role in ("recipient", "both")}
    else:
        listed = {finding.recipient_tenant for finding in findings if finding.recipient_tenant}
    return _compare({name for name in expected if name}, listed)


def _check_sources(leaks: list[Leak], strong: list[Finding], tenants: Path | None) -> ListCheck:
    """Sure sources must be listed; tenants that only may be named are right either way."""
    sure = {leak.source_tenant for leak in leaks if leak.source_tenant and len(leak.tenants) == 1}
    allowed = {name for leak in leaks for name in leak.tenants | leak.beside}
    if tenants is not None:
        roles = zip(read_column(tenants, "tenant_id"), read_column(tenants, "role"), strict=True)
        listed = {name for name, role in roles if role in ("source", "both")}
    else:
        listed = {name for finding in strong for name in finding.sources}
    missing = {name for name in sure if name} - listed
    return ListCheck(len(sure), len(listed), tuple(sorted(missing)), tuple(sorted(listed - allowed)))


def _compare(expected: set[str], listed: set[str]) -> ListCheck:
    return ListCheck(len(expected), len(listed), tuple(sorted(expected - listed)), tuple(sorted(listed - expected)))
