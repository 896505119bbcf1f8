"""An evaluation as text or JSON. Prints nothing itself; ids only, no log text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from forensics.evaluate.measures import Cell
from forensics.evaluate.run import EvaluationReport, ListCheck

_HEADS = (
    "kind", "length", "leaks", "reached", "found", "recall", "findings", "true", "precision", "right", "wrong",
    "right set", "strict", "char F1", "gran.", "plagdet",
)  # fmt: skip


def as_json(report: EvaluationReport) -> dict[str, Any]:
    """The report as JSON values."""
    body = asdict(report)
    for name in ("affected_requests", "affected_tenants", "source_tenants"):
        body[name]["exact"] = getattr(report, name).exact
    return body


def as_text(report: EvaluationReport) -> str:
    """The report as plain text, tables first."""
    per = "not known" if report.false_per_10000 is None else f"{report.false_per_10000:.2f}"
    lines = [
        "Findings of any verdict",
        *_table(report.cells),
        "",
        "Findings probable or better",
        *_table(report.strong_cells),
        "",
        *_classes(report),
        f"leaks in the truth: {report.leaks}",
        f"false findings probable or better: {report.false_strong} (per 10,000 responses: {per}, "
        f"responses: {'not known' if report.responses is None else report.responses})",
        f"findings that name a wrong tenant: {report.wrong_tenants}, probable or better: {report.wrong_tenants_strong}",
        *_innocent(report),
        _list("affected requests", report.affected_requests),
        _list("recipient tenants", report.affected_tenants),
        _list("source tenants", report.source_tenants),
    ]
    return "\n".join(lines) + "\n"


def _table(cells: Sequence[Cell]) -> list[str]:
    rows = [_HEADS, *(_row(cell) for cell in cells)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    return [
        "  ".join(
            value.ljust(width) if column < 2 else value.rjust(width)
            for column, (value, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _classes(report: EvaluationReport) -> list[str]:
    if report.classes is None or report.strong_classes is None:
        return []
    found = report.classes
    return [
        "By class, findings of any verdict",
        *_table((*found.classes, *found.groups)),
        "",
        "By class, findings probable or better",
        *_table((*report.strong_classes.classes, *report.strong_classes.groups)),
        "",
        "Copies by language and bits, findings of any verdict",
        *_table(found.copies),
        "",
        f"chains of shifted answers found whole: {found.chains_whole} of {found.chains}",
        f"leaks without a source in the logs: {found.sourceless}, a tenant is named for {found.sourceless_named}",
    ]


def _innocent(report: EvaluationReport) -> list[str]:
    if report.shared_share is None:
        return []
    counts = ", ".join(f"{name} {count}" for name, count in report.lookalikes.items()) or "none"
    return [
        f"findings probable or better that are lookalikes: {counts}; boilerplate, templates and same-question answers: "
        f"{report.shared_share:.4f} of all"
    ]


def _row(cell: Cell) -> tuple[str, ...]:
    return (
        cell.kind, cell.band, str(cell.leaks), str(cell.reached), str(cell.found), _share(cell.recall),
        str(cell.findings), str(cell.true_findings), _share(cell.precision), str(cell.right_tenant),
        str(cell.wrong_tenant), str(cell.right_set), _share(cell.char_recall_strict), _share(cell.char_f1),
        _share(cell.granularity), _share(cell.plagdet),
    )  # fmt: skip


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _list(name: str, check: ListCheck) -> str:
    verdict = "exactly right" if check.exact else f"missing {len(check.missing)}, extra {len(check.extra)}"
    return f"{name}: {check.listed} listed, {check.expected} true: {verdict}"
