"""What the reading amounts to, in figures and sentences. Holds no log text."""

from __future__ import annotations

from typing import Any

from forensics.case.store import Case
from forensics.ingest.divergence import ALARMING
from forensics.ingest.reader import LIMIT_REASONS

_BREAKS = {"damaged_stream", *LIMIT_REASONS}
# An archive may hold thousands of files of no known format: so many are said one by one.
_SAID_EACH = 20
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
                "container_sha256": row[15],
            }
        )
    figures: dict[str, Any] = {"files": files}
    for name in _SUMS:
        figures[name] = sum(file[name] for file in files)
    # A member's bytes are the archive's already.
    figures["bytes"] = sum(file["bytes"] for file in files if file["container_sha256"] is None)
    figures["content_bytes"] = sum(file["content_bytes"] for file in files)
    figures["incomplete"] = sum(not file["complete"] for file in files)
    names = ("requests", "joined", "examinable", "without_tenant", "tenants", "tenant_conflicts", "contents")
    figures.update(zip(names, case.rows("ingest/case_figures")[0], strict=True))
    figures["joins"] = [
        dict(zip(("vantage", "other_vantage", "outcome", "requests"), row, strict=True))
        for row in case.rows("ingest/join_figures")
    ]
    figures["joined_unchecked"] = case.rows("ingest/unchecked_joins")[0][0]
    figures["divergences"] = [
        dict(zip(("side", "vantage_a", "vantage_b", "kind", "requests", "texts"), row, strict=True))
        for row in case.rows("ingest/divergence_figures")
    ]
    return figures, _warnings(figures)


def _warnings(figures: dict[str, Any]) -> list[str]:
    said: dict[str, list[str]] = {}
    for file in figures["files"]:
        label = f"file {file['evidence']} (sha256 {file['sha256'][:12]})"
        if file["complete"] and not file["content_bytes"] and not file["rejected"]:
            said.setdefault("empty", []).append(f"{label} is empty")
        elif file["complete"] and file["format"] == "unknown":
            said.setdefault("in no known format, and count as rejected", []).append(
                f"{label} is in no known format; all of it counts as rejected"
            )
        elif file["rejected"] > file["records"] + file["structure"]:
            total = file["records"] + file["rejected"] + file["blank"] + file["structure"]
            reasons = sorted(file["reasons"].items(), key=lambda item: (-item[1], item[0]))
            why = ", ".join(f"{reason} {count}" for reason, count in reasons[:3])
            said.setdefault("mostly rejected", []).append(
                f"{label}: {file['rejected']} of {total} lines were rejected ({why})"
            )
        if not file["complete"]:
            why = ", ".join(sorted(set(file["reasons"]) & _BREAKS))
            said.setdefault("not read to their end", []).append(
                f"{label} was not read to its end ({why}); what came before is in the case"
            )
    warnings = [text for texts in said.values() for text in texts[:_SAID_EACH]]
    warnings += [
        f"{len(texts) - _SAID_EACH} further files are {what}; `forensics ask CASE evidence` lists all"
        for what, texts in said.items()
        if len(texts) > _SAID_EACH
    ]
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
    return warnings + _join_warnings(figures)


def _join_warnings(figures: dict[str, Any]) -> list[str]:
    warnings = []
    for found in figures["divergences"]:
        if found["kind"] not in ALARMING:
            continue
        side, near, far = found["side"], found["vantage_a"], found["vantage_b"]
        first, then = (near, far) if side == "response" else (far, near)
        counts = f"{found['requests']} requests have a {side} at the {then} that"
        if found["kind"] == "added":
            what = f"holds all that the {first} logged, and more"
        else:
            what = f"is not what the {first} logged"
        warnings.append(f"{counts} {what}: it changed after the {first}; `forensics ask CASE divergences`")
    if figures["joined_unchecked"]:
        warnings.append(
            f"{figures['joined_unchecked']} calls are joined by the id of the answer alone, where no prompts could be "
            "compared: an answer that went to the wrong call would look the same (basis `..._no_prompt`)"
        )
    unsure = sum(
        found["requests"]
        for found in figures["joins"]
        if found["outcome"] not in ("joined", "unmatched", "one_to_many", "many_to_one", "custom_id_not_sure")
    )
    items = sum(found["requests"] for found in figures["joins"] if found["outcome"] == "custom_id_not_sure")
    if items:
        warnings.append(
            f"{items} items of batches have lines of input and of output that stay apart: their custom_id may be one "
            "of another batch; give the input, output and error file of each batch in a case of its own"
        )
    if unsure:
        warnings.append(
            f"{unsure} calls of one vantage could be calls of another, but several fit or something speaks against "
            "it; they stay apart. `forensics ask CASE join-outcomes`"
        )
    return warnings
