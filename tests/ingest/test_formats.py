"""Every format's sample, read by the public function, gives what its `expected.json` says; written by hand, not by the code.

A folder `tests/ingest/formats/NAME/` holds the samples of the parser, profile or wrapper NAME and one `expected.json`:

    {"needs":    ["module"],                                          optional: skipped where it is not installed
     "parameters": {"time_zone": "UTC", ...},                         optional, of ingest's Parameters
     "modified": 1790000000,                                          optional, the files' time, epoch seconds
     "files":    {"sample.log": {"format", "records", "rejected", "blank", "structure", "reasons": {}, ...}},
     "requests": [{"request_id", ...}],                               the columns that are given are compared
     "texts":    [{"request_id", "side", "field", "text"}],           all texts of these requests, no more and no fewer
     "chunks":   [{"request_id", "choice", "seq", "at", "start", "end"}],
     "events":   [{"kind", ...}]}                                     the columns that are given are compared
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from forensics.case.store import Case
from forensics.ingest import transcoders, wrappers
from forensics.ingest.registry import registry
from forensics.ingest.run import Parameters, run

FORMATS = Path(__file__).parent / "formats"
FOLDERS = sorted(folder for folder in FORMATS.iterdir() if folder.is_dir())


def rows(case: Case, table: str) -> list[dict[str, Any]]:
    found = case.table(table).to_pylist()
    return [
        {key: value.isoformat() if hasattr(value, "isoformat") else value for key, value in row.items()}
        for row in found
    ]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_sample_of_each_format_is_read_as_expected(folder, tmp_path):
    expected = json.loads((folder / "expected.json").read_text())
    for module in expected.get("needs", ()):
        pytest.importorskip(module)
    samples = sorted(path for path in folder.iterdir() if path.name != "expected.json")
    assert samples
    if "modified" in expected:
        samples = [Path(shutil.copy(path, tmp_path)) for path in samples]
        for path in samples:
            os.utime(path, (expected["modified"], expected["modified"]))
    with Case.create(tmp_path / "case") as case:
        run(case, Parameters(tuple(samples), **expected.get("parameters", {})))
        files = {row["name"]: row for row in rows(case, "evidence")}
        for row in files.values():
            parts = ("record_bytes", "rejected_bytes", "blank_bytes", "structure_bytes")
            assert sum(row[part] for part in parts) == row["content_bytes"]
        assert set(files) == set(expected["files"])
        for name, facts in expected["files"].items():
            facts = dict(facts)
            reasons = facts.pop("reasons", None)
            assert {key: files[name][key] for key in facts} == facts, name
            if reasons is not None:
                rejects = [r["reason"] for r in rows(case, "rejects") if r["evidence"] == files[name]["evidence"]]
                assert {reason: rejects.count(reason) for reason in rejects} == reasons
        requests = sorted(rows(case, "requests"), key=lambda row: (row["request_id"], row["vantage"], row["key"]))
        by_key = {row["key"]: row["request_id"] for row in requests}
        for row in requests:
            row["ids"] = json.loads(row["ids"])
        wanted = sorted(expected.get("requests", []), key=lambda row: (row["request_id"], row.get("vantage", "")))
        assert [row["request_id"] for row in requests] == [row["request_id"] for row in wanted]
        for got, want in zip(requests, wanted, strict=True):
            assert {key: got[key] for key in want} == want
        contents = {row["content"]: row["text"] for row in rows(case, "contents")}
        texts = [
            (by_key[use["key"]], use["side"], use["field"], contents[use["content"]])
            for use in rows(case, "request_contents")
        ]
        assert sorted(texts) == sorted(
            (t["request_id"], t["side"], t["field"], t["text"]) for t in expected.get("texts", [])
        )
        chunks = [
            {"request_id": by_key[c["key"]], **{k: c[k] for k in ("choice", "seq", "at", "start", "end")}}
            for c in rows(case, "chunks")
        ]
        if "chunks" in expected or chunks:
            assert chunks == expected.get("chunks", [])
        events = sorted(rows(case, "engine_events"), key=lambda row: (row["evidence"], row["byte_offset"]))
        for row in events:
            for name in ("counts", "attributes"):
                row[name] = json.loads(row[name]) if row[name] else {}
        assert [row["kind"] for row in events] == [row["kind"] for row in expected.get("events", [])]
        for got, want in zip(events, expected.get("events", []), strict=True):
            assert {key: got[key] for key in want} == want


def test_every_parser_profile_wrapper_and_transcoder_has_a_sample():
    names = {*registry().names, *wrappers.NAMES, *transcoders.NAMES}
    assert names <= {folder.name for folder in FOLDERS}


def test_every_parser_profile_wrapper_and_transcoder_says_what_it_reads_and_how_that_is_known():
    known = registry()
    others = [*map(wrappers.load, wrappers.NAMES), *map(transcoders.load, transcoders.NAMES)]
    for parser in [*known.objects, *known.texts, *others]:
        for constant in ("TITLE", "VERSIONS", "SOURCE"):
            value = getattr(parser, constant)
            assert isinstance(value, str), (parser.NAME, constant)
            assert value.strip(), (parser.NAME, constant)
