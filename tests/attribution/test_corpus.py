"""Texts kept in memory and texts read anew in every pass give the same findings."""

from __future__ import annotations

import json
from pathlib import Path

from forensics.attribution import run as attribution
from forensics.case.store import Case, Resources
from forensics.ingest import run as ingest

SECRET = "the deed of Quarrington mill lies in box 4471-9982-113 behind the third shelf of the Tromsoe archive"


def _record(number: int, tenant: str, prompt: str, answer: str) -> dict[str, object]:
    return {
        "request_id": f"r-{number}",
        "tenant_id": tenant,
        "timestamp": f"2026-05-11T06:00:{number:02d}Z",
        "finished_at": f"2026-05-11T06:00:{number:02d}.5Z",
        "worker": "w0",
        "request": {"messages": [{"role": "user", "content": prompt}]},
        "response": {"choices": [{"message": {"role": "assistant", "content": answer}}]},
    }


def _findings(root: Path, log: Path, memory: int) -> tuple[object, ...]:
    with Case.create(root, Resources(memory_bytes=memory)) as case:
        ingest.run(case, ingest.Parameters(evidence=(log,)))
        attribution.run(case, attribution.Parameters())
        tables = ("fragments", "appearances", "exclusions", "decoy_strata")
        return tuple(sorted(map(repr, case.table(name).to_pylist())) for name in tables)


def test_memory_does_not_change_the_findings(tmp_path: Path) -> None:
    records = [_record(0, "alpha", f"Please note: {SECRET}.", "Noted.")]
    records += [_record(n, f"t{n}", f"Question {n} about gardens?", f"Water it {n} times.") for n in range(1, 9)]
    records.append(_record(9, "beta", "What is the weather?", f"Mild. Also, {SECRET}. Bye."))
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(record) + "\n" for record in records))
    kept = _findings(tmp_path / "kept", log, 2 << 30)
    streamed = _findings(tmp_path / "streamed", log, 1 << 10)  # no text fits into a quarter of this
    assert len(kept[0]) == 1  # type: ignore[arg-type]
    assert kept == streamed
