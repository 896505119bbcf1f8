"""What the reading amounts to, in figures and sentences. Holds no log text."""

from __future__ import annotations

from typing import Any

from forensics.case.store import Case

_SUMS = ("records", "repeated", "rejected", "blank", "structure")


def figures_of(case: Case) -> tuple[dict[str, Any], list[str]]:
    """The stage's figures over all evidence of the case, and warnings. Needs the scratch tables of the join."""
    reasons: dict[int, dict[str, int]] = {}
    for evidence, reason, rejected in case.rows("ingest/file_reasons"):
        reasons.setdefault(evidence, {})[reason] = rejected
    files = []
    for row in case.rows("ingest/file_figures"):
        files.append(
            {
                "evidence": row[0],
                "name": row[1],
                "sha256": row[2],
                "format": row[3],
                "format_reason": row[4],
                "records": row[5],
                "requests": row[6],
                "repeated": row[7],
                "rejected": row[8],
                "blank": row[9],
                "structure": row[10],
                "reasons": reasons.get(row[0], {}),
                "bytes": row[11],
                "content_bytes": row[12],
                "complete": row[13],
                "compression": row[14],
            }
        )
    figures: dict[str, Any] = {"files": files}
    for name in _SUMS:
        figures[name] = sum(file[name] for file in files)
    figures["bytes"] = sum(file["bytes"] for file in files)
    figures["content_bytes"] = sum(file["content_bytes"] for file in files)
    figures["incomplete"] = sum(not file["complete"] for file in files)
    names = ("requests", "joined", "examinable", "without_tenant", "tenants", "tenant_conflicts", "contents")
    figures.update(zip(names, case.rows("ingest/case_figures")[0], strict=True))
    return figures, _warnings(figures)


def _warnings(figures: dict[str, Any]) -> list[str]:
    warnings = []
    for file in figures["files"]:
        label = f"file {file['evidence']} (sha256 {file['sha256'][:12]})"
        if not file["content_bytes"] and file["complete"]:
            warnings.append(f"{label} is empty")
        elif file["format"] == "unknown":
            warnings.append(f"{label} is in no known format; all of it counts as rejected")
        elif file["rejected"] > file["records"] + file["structure"]:
            total = file["records"] + file["rejected"] + file["blank"] + file["structure"]
            reasons = sorted(file["reasons"].items(), key=lambda item: (-item[1], item[0]))
            why = ", ".join(f"{reason} {count}" for reason, count in reasons[:3])
            warnings.append(f"{label}: {file['rejected']} of {total} lines were rejected ({why})")
        if not file["complete"]:
            why = ", ".join(sorted(set(file["reasons"]) & {"damaged_stream", "ratio", "size"}))
            warnings.append(f"{label} was not read to its end ({why}); what came before is in the case")
    if figures["repeated"]:
        warnings.append(f"{figures['repeated']} records repeat earlier ones and add nothing")
    if figures["rejected"]:
        warnings.append(f"{figures['rejected']} lines were rejected; `forensics ask CASE rejects` shows why")
    if figures["without_tenant"]:
        warnings.append(
            f"{figures['without_tenant']} of {figures['requests']} requests have no tenant; "
            "--tenants FILE.csv can supply it"
        )
    if figures["tenant_conflicts"]:
        warnings.append(
            f"{figures['tenant_conflicts']} requests have vantages that name different tenants; the gateway's was taken"
        )
    return warnings
