"""What is written where: Timesketch by its rules, a bag that another program accepts, the same bytes twice, no leak."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import bagit
import pytest
from case_builder import HOSTILE_TENANTS, OTHER_SECRET, SECRET, small_case
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519

from forensics.case import custody
from forensics.case.errors import EgressBlocked, UsageError
from forensics.case.seal import seal
from forensics.case.store import Case
from forensics.report.exports.run import Exported, export


def _export(root: Path, *formats: str, **options: Any) -> list[Exported]:
    with Case.open(root, read_only=True) as case:
        return export(case, formats, **options)[0]


def _files(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def _events(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


# Timesketch's import rules: https://timesketch.org/guides/user/import-from-json-csv/ (mandatory fields, ISO 8601 with
# offset, `timestamp` in microseconds, suffix .jsonl, one object a line); a keyword field of its index holds 32,766 bytes.
def _timesketch_faults(path: Path) -> list[str]:
    found = [] if path.suffix == ".jsonl" else ["the suffix is not .jsonl"]
    for number, line in enumerate(path.read_bytes().split(b"\n")[:-1]):
        event = json.loads(line)
        for name in ("message", "datetime", "timestamp_desc"):
            if not isinstance(event.get(name), str) or not event[name]:
                found.append(f"{number}: {name}")
        moment = datetime.fromisoformat(event["datetime"])
        if moment.tzinfo is None:
            found.append(f"{number}: no offset")
        elif event["timestamp"] != int(moment.timestamp()) * 1_000_000 + moment.microsecond:
            found.append(f"{number}: timestamp differs from datetime")
        if isinstance(event.get("tag", []), str):
            found.append(f"{number}: tag is no list")
        found += [f"{number}: {key} too long" for key, value in event.items() if len(str(value).encode()) > 32_766]
    return found


@pytest.mark.parametrize("which", ["small", "hostile"])
def test_the_timeline_is_as_timesketch_wants_it(which: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    root = request.getfixturevalue(which)
    [written] = _export(root, "timesketch", folder=tmp_path)
    assert _timesketch_faults(Path(written.path)) == []
    assert _timesketch_faults(root / "out" / "timeline.jsonl") == []
    events = _events(Path(written.path))
    assert [e["timestamp"] for e in events] == sorted(e["timestamp"] for e in events)
    assert len(events) == len(_events(root / "out" / "timeline.jsonl")) > 0


def test_the_check_of_timelines_would_see_a_fault(tmp_path: Path) -> None:
    good = {
        "message": "m",
        "datetime": "2026-03-04T10:00:00.5+00:00",
        "timestamp": 1772618400500000,
        "timestamp_desc": "d",
    }
    bad = [
        {**good, "message": ""},
        {**good, "datetime": "2026-03-04T10:00:00.5"},
        {**good, "timestamp": 1772618400500},
        {**good, "timestamp_desc": None},
        {**good, "server": "x" * 32_767},
    ]
    path = tmp_path / "t.jsonl"
    path.write_text("".join(json.dumps(event) + "\n" for event in [good, *bad]))
    assert sorted({int(fault.split(":")[0]) for fault in _timesketch_faults(path)}) == [1, 2, 3, 4, 5]


def test_the_outward_timeline_has_pseudonyms(small: Path, tmp_path: Path) -> None:
    [written] = _export(small, "timesketch", folder=tmp_path)
    inside, outside = _events(small / "out" / "timeline.jsonl"), _events(Path(written.path))
    assert {event["rid"] for event in inside if "rid" in event} >= {"req-a1", "req-b1"}
    assert all(event["rid"].startswith("R-") and event["server"].startswith("W-") for event in outside)
    # One code per id, and nothing else changed.
    assert len({event["rid"] for event in inside}) == len({event["rid"] for event in outside})
    changed = ("rid", "server")
    assert [{k: v for k, v in event.items() if k not in changed} for event in inside] == [
        {k: v for k, v in event.items() if k not in changed} for event in outside
    ]


def test_named_slots_stay_inside(reported: Callable[..., Path], tmp_path: Path) -> None:
    root = reported(small_case(), tmp_path / "c")
    path = root / "out" / "timeline.jsonl"
    events = _events(path)
    for event, slot in zip(events, ["7", "maria's slot", "²"], strict=False):
        event["slot"] = slot
    path.write_bytes(b"".join(json.dumps(event).encode() + b"\n" for event in events))
    [written] = _export(root, "timesketch", folder=tmp_path / "out")
    assert [event["slot"] for event in _events(Path(written.path))][:3] == ["7", "named", "named"]


def test_nothing_that_leaves_names_anybody(hostile: Path, tmp_path: Path) -> None:
    _export(hostile, "ocsf", "veris", "timesketch", "perfetto", "bagit", folder=tmp_path)
    files = _files(tmp_path)
    assert {"ocsf.json", "veris.json", "timeline.jsonl", "trace.json", "bag/data/report/report.html"} <= files.keys()
    for path, data in files.items():
        text = data.decode("utf-8")
        loaded = json.dumps(json.loads(text), ensure_ascii=False) if path.endswith(".json") else text
        for name in HOSTILE_TENANTS:
            assert name not in text and name not in loaded, path
        assert SECRET not in text and OTHER_SECRET not in text, path


def test_a_bag_is_accepted_by_another_program(small: Path, tmp_path: Path) -> None:
    [written] = _export(small, "bagit", folder=tmp_path)
    bag = bagit.Bag(written.path)
    assert bag.is_valid()
    assert bag.algorithms == ["sha256"]
    reports = {f"data/report/{name}" for name in _files(small / "report")}
    singles = {f"data/{name}" for name in ("ocsf.json", "timeline.jsonl", "trace.json", "veris.json")}
    assert set(bag.payload_files()) == reports | singles and len(reports) >= 3
    size = sum((Path(written.path) / name).stat().st_size for name in bag.payload_files())
    assert bag.info["Payload-Oxum"] == f"{size}.{len(reports | singles)}" and written.bytes == size
    (Path(written.path) / "data" / "veris.json").write_text("{}")
    assert not bagit.Bag(written.path).is_valid()


def test_sha256sum_reads_the_manifest(small: Path, tmp_path: Path) -> None:
    [written] = _export(small, "bagit", folder=tmp_path)
    for manifest in ("manifest-sha256.txt", "tagmanifest-sha256.txt"):
        for line in (Path(written.path) / manifest).read_text().split("\n")[:-1]:
            digest, name = line.split("  ")
            assert hashlib.sha256((Path(written.path) / name).read_bytes()).hexdigest() == digest


def test_a_signed_bag(small: Path, tmp_path: Path) -> None:
    key = ed25519.Ed25519PrivateKey.generate()
    path = tmp_path / "key.pem"
    encoding, private = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    path.write_bytes(key.private_bytes(encoding, private, serialization.NoEncryption()))
    [written] = _export(small, "bagit", folder=tmp_path / "out", key=path)
    bag = Path(written.path)
    assert bagit.Bag(str(bag)).is_valid()
    manifest, signature = (bag / "manifest-sha256.txt").read_bytes(), (bag / "manifest-sha256.txt.sig").read_bytes()
    key.public_key().verify(signature, manifest)
    first = _files(bag)
    _export(small, "bagit", folder=tmp_path / "again", key=path)
    assert _files(tmp_path / "again" / "bag") == first


def test_two_runs_give_the_same_bytes(small: Path, reported: Callable[..., Path], tmp_path: Path) -> None:
    formats = ("ocsf", "veris", "timesketch", "perfetto", "bagit")
    _export(small, *formats, folder=tmp_path / "one")
    _export(reported(small_case(), tmp_path / "other" / "c"), *formats, folder=tmp_path / "two")
    assert _files(tmp_path / "one") == _files(tmp_path / "two")


def test_the_whole_case_goes_only_into_a_bag_that_says_so(reported: Callable[..., Path], tmp_path: Path) -> None:
    root = reported(small_case(), tmp_path / "c")
    seal(root, "R. Iqbal", "hand-over", with_problems=True)  # the hand-made case is not consistent in all its tables
    [written] = _export(root, "bagit", folder=tmp_path / "out", whole=True)
    bag = bagit.Bag(written.path)
    assert bag.is_valid()
    assert "confidential" in bag.info["External-Description"]
    expected = {name for name in _files(root) if not name.startswith(("export/", "restricted/spill/"))}
    assert {name.removeprefix("data/") for name in bag.payload_files()} == expected
    assert {"case.duckdb", "seal.json", "restricted/pseudonyms.csv"} <= expected
    last = list(custody.read(root / "custody.jsonl"))[-1]
    assert (last.action, last.sha256) == ("export", written.sha256) and "whole case" in last.reason
    with pytest.raises(UsageError):
        _export(root, "ocsf", folder=tmp_path / "out", whole=True)


def test_a_leak_is_held_back(reported: Callable[..., Path], tmp_path: Path) -> None:
    """A report that somebody edited, and a trace: nothing at all is written."""
    root = reported(small_case(), tmp_path / "c")
    page = root / "report" / "report.html"
    page.write_bytes(page.read_bytes().replace(b"</body>", SECRET.encode() + b"</body>"))
    with pytest.raises(EgressBlocked, match=r"report\.html") as blocked:
        _export(root, "bagit", folder=tmp_path / "out")
    assert SECRET not in str(blocked.value)
    trace = root / "out" / "trace.json"
    body = json.loads(trace.read_bytes())
    body["traceEvents"][0]["args"] = {"note": OTHER_SECRET}
    trace.write_text(json.dumps(body))
    with pytest.raises(EgressBlocked, match=r"trace\.json"):
        _export(root, "perfetto", folder=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_foreign_files_are_not_replaced(small: Path, tmp_path: Path) -> None:
    (tmp_path / "veris.json").write_text("mine")
    with pytest.raises(UsageError, match="--force"):
        _export(small, "veris", folder=tmp_path)
    assert (tmp_path / "veris.json").read_text() == "mine"
    _export(small, "veris", folder=tmp_path, force=True)
    _export(small, "veris", folder=tmp_path)  # the same bytes are in nobody's way
    _export(small, "bagit", folder=tmp_path)
    with pytest.raises(UsageError, match="empty"):
        _export(small, "bagit", folder=tmp_path)
    (tmp_path / "not-a-bag" / "bag").mkdir(parents=True)
    (tmp_path / "not-a-bag" / "bag" / "thesis.txt").write_text("years")
    with pytest.raises(UsageError, match="empty"):
        _export(small, "bagit", folder=tmp_path / "not-a-bag", force=True)
    assert (tmp_path / "not-a-bag" / "bag" / "thesis.txt").exists()


def test_exports_are_logged_and_private(reported: Callable[..., Path], tmp_path: Path) -> None:
    root = reported(small_case(), tmp_path / "c")
    written = _export(root)
    assert [item.format for item in written] == ["ocsf", "veris", "timesketch", "perfetto"]
    assert all(Path(item.path).parent == root / "export" for item in written)
    logged = [(e.object, e.sha256) for e in custody.read(root / "custody.jsonl") if e.action == "export"]
    assert logged == [(Path(item.path).name, item.sha256) for item in written]
    assert all(Path(item.path).stat().st_mode & 0o777 == 0o600 for item in written)
    with pytest.raises(UsageError, match="no such format"):
        _export(root, "stix")
