"""Lists and figures of hand-made cases, read back from out/ with the standard parsers."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from case_builder import HOSTILE_TENANTS, OTHER_SECRET, SECRET, CaseBuilder, hostile_case, small_case

from forensics.case.csv_file import csv_cell, csv_value
from forensics.scope.numbers import exact_interval
from forensics.scope.run import Parameters, run
from forensics.text.safe_text import safe_text
from forensics.timeline import run as timeline


def scoped(builder: CaseBuilder, root: Path) -> Path:
    with builder.write(root) as case:
        timeline.run(case, timeline.Parameters())
        run(case, Parameters())
    return root / "out"


def table(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def numbers(out: Path) -> dict[str, dict[str, Any]]:
    document = json.loads((out / "numbers.json").read_text())
    assert document["schema"] == "numbers/1.0"
    return {number["name"]: number for number in document["numbers"]}


def test_requests_stand_in_the_list_of_their_best_fragment(tmp_path: Path) -> None:
    out = scoped(small_case(), tmp_path / "c")
    affected = table(out / "affected_requests.csv")
    assert list(affected[0]) == (
        "request_id tenant_id received_at worker verdict fragments foreign_chars source_tenants".split()
    )
    assert [(row["request_id"], row["fragments"], row["foreign_chars"]) for row in affected] == [
        ("req-b1", "1", str(len(SECRET))),
        ("req-c1", "2", str(len(SECRET) + len(OTHER_SECRET))),
    ]
    assert affected[0]["received_at"] == "2026-03-04T10:01:00.000000Z"
    assert affected[1]["source_tenants"] == "alpha;delta"
    possible = table(out / "affected_possible.csv")
    assert [(row["request_id"], row["verdict"]) for row in possible] == [("req-d2", "undetermined")]


def test_weaker_fragments_do_not_count_beside_stronger_ones_and_overlaps_count_once(tmp_path: Path) -> None:
    b = CaseBuilder()
    s = b.request("s", "alpha", 0, 10)
    w = b.request("w", "omega", 0, 10)
    r = b.request("r", "beta", 5, 15)
    b.fragment("f1", r, 0, 50, ["alpha"], [(s, "prompt")])
    b.fragment("f2", r, 20, 60, ["alpha"], [(s, "prompt")])
    b.fragment("f3", r, 30, 40, ["alpha"], [(s, "prompt")])
    b.fragment("f4", r, 100, 900, ["omega"], [(w, "prompt")], machine_verdict="possible")
    b.fragment("f5", r, 1000, 1500, ["alpha"], [(s, "prompt")])
    b.review("f5", "reject")
    out = scoped(b, tmp_path / "c")
    (row,) = table(out / "affected_requests.csv")
    assert (row["fragments"], row["foreign_chars"], row["source_tenants"]) == ("3", "60", "alpha")
    tenants = {row["tenant_id"]: row for row in table(out / "affected_tenants.csv")}
    assert (tenants["omega"]["verdict"], tenants["omega"]["notify"]) == ("possible", "no")
    assert tenants["alpha"]["foreign_chars"] == "60"
    assert tenants["alpha"]["requests_as_source"] == "1"
    fragments = [json.loads(line) for line in (out / "fragments.jsonl").read_text().split("\n") if line]
    assert {f["fragment_id"]: f["verdict"] for f in fragments}["f5"] == "excluded"
    found = numbers(out)
    assert found["foreign_characters.possible_or_better"]["value"] == 860
    assert found["foreign_characters.probable_or_better"]["value"] == 60


def test_roles_and_notification(tmp_path: Path) -> None:
    b = small_case()
    # beta is also a source, of text that reached delta.
    delta = b.request("req-d3", "delta", 500, 510)
    b.fragment("f5", delta, 0, 9, ["beta"], [(2, "prompt")])
    b.review("f1", "accept")
    b.review("f2", "accept")
    out = scoped(b, tmp_path / "c")
    tenants = {row["tenant_id"]: row for row in table(out / "affected_tenants.csv")}
    assert {name: (row["role"], row["notify"], row["verdict"]) for name, row in tenants.items()} == {
        "alpha": ("source", "yes", "confirmed"),  # alone in f1
        "beta": ("both", "yes", "confirmed"),
        "gamma": ("recipient", "yes", "confirmed"),
        # A member of a set is a source to be reviewed even when the fragment itself is confirmed.
        "delta": ("both", "review", "probable"),
    }
    assert tenants["alpha"]["first_at"] == "2026-03-04T10:01:00.000000Z"
    assert tenants["alpha"]["last_at"] == "2026-03-04T10:02:00.000000Z"


def test_a_runner_up_is_never_a_source(tmp_path: Path) -> None:
    b = CaseBuilder()
    s = b.request("s", "alpha", 0, 10)
    u = b.request("u", "bystander", 0, 10)
    r = b.request("r", "beta", 5, 15)
    b.fragment("f", r, 0, 50, ["alpha"], [(s, "prompt"), (u, "prompt")])
    out = scoped(b, tmp_path / "c")
    assert {row["tenant_id"] for row in table(out / "affected_tenants.csv")} == {"alpha", "beta"}


def test_fragments_have_the_fields_of_the_contract(tmp_path: Path) -> None:
    out = scoped(small_case(), tmp_path / "c")
    lines = [json.loads(line) for line in (out / "fragments.jsonl").read_text().split("\n") if line]
    assert [list(line) for line in lines] == [
        (
            "fragment_id recipient_request_id recipient_tenant_id field start end kind verdict bits q_value "
            "sources appearances exclusions"
        ).split()
    ] * 4
    assert list(lines[1]["appearances"][0]) == (
        "source_request_id source_tenant_id side field start end similarity rank".split()
    )
    assert [a["rank"] for a in lines[1]["appearances"]] == [1, 2]
    assert [(e["rule"], e["outcome"]) for e in lines[0]["exclusions"]] == [
        ("own_material", "tried"),
        ("shared", "tried"),
        ("shared", "dropped"),
    ]


def test_no_leaked_text_in_out(tmp_path: Path) -> None:
    out = scoped(small_case(), tmp_path / "c")
    assert not (out / "contents.parquet").exists()
    for path in out.iterdir():
        data = path.read_bytes()
        assert SECRET.encode() not in data and OTHER_SECRET.encode() not in data, path.name
    for path in out.glob("*.parquet"):
        cells = repr(pq.read_table(path).to_pylist())
        assert SECRET not in cells and OTHER_SECRET not in cells, path.name


def test_two_runs_give_the_same_bytes(tmp_path: Path) -> None:
    first = scoped(hostile_case(), tmp_path / "one")
    second = scoped(hostile_case(), tmp_path / "two")
    names = sorted(path.name for path in first.iterdir())
    assert names == sorted(path.name for path in second.iterdir())
    assert "requests.parquet" in names and "trace.json" in names
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


def test_missing_files_are_written_again(tmp_path: Path) -> None:
    with small_case().write(tmp_path / "c") as case:
        run(case, Parameters())
        before = (case.out / "numbers.json").read_bytes()
        (case.out / "numbers.json").unlink()
        assert run(case, Parameters()).skipped
        assert (case.out / "numbers.json").read_bytes() == before


def test_hostile_names_survive_and_do_nothing(tmp_path: Path) -> None:
    out = scoped(hostile_case(), tmp_path / "c")
    raw = (out / "affected_tenants.csv").read_text(encoding="utf-8")
    assert "\x1b" not in raw and "\u202e" not in raw and "\r" not in raw
    rows = table(out / "affected_tenants.csv")
    assert all(
        not row["tenant_id"].lstrip(" \"'").startswith(("=", "+", "-", "@")) or row["tenant_id"][0] == "'"
        for row in rows
    )
    assert {csv_value(row["tenant_id"]) for row in rows} == {safe_text(name) for name in HOSTILE_TENANTS}
    exact = pq.read_table(out / "affected_tenants.parquet").column("tenant_id").to_pylist()
    assert set(exact) == set(HOSTILE_TENANTS)
    jsonl = [json.loads(line) for line in (out / "fragments.jsonl").read_bytes().split(b"\n") if line]
    assert {line["recipient_tenant_id"] for line in jsonl} == set(HOSTILE_TENANTS)
    assert pq.read_schema(out / "affected_tenants.parquet").metadata[b"schema"] == b"affected_tenants/1.0"


@pytest.mark.parametrize("text", ["=1+1", " =1", "'=1", '"@x', "\uff1dcmd", "+a", "-a", "@a", "''=x"])
def test_formulas_are_inert_and_can_be_undone(text: str) -> None:
    cell = csv_cell(text)
    assert cell == "'" + text
    assert csv_value(cell) == text


@pytest.mark.parametrize("text", ["plain", "a=b", "'quoted'", "", "1-2", "\u05e9\u05dc\u05d5\u05dd"])
def test_other_cells_are_left_alone(text: str) -> None:
    assert csv_cell(text) == text == csv_value(csv_cell(text))


def test_numbers_of_the_small_case(tmp_path: Path) -> None:
    found = numbers(scoped(small_case(), tmp_path / "c"))
    assert found["responses.probable_or_better"]["n"] == 2
    assert found["responses.probable_or_better"]["total"] == 8
    assert found["responses.undetermined"]["value"] == 1
    assert found["examined"]["n"] == 7
    assert found["not_examinable.response_truncated"]["n"] == 1
    assert found["window.first_at"]["value"] == "2026-03-04T10:01:00.000000Z"
    assert found["window.first_request"]["value"] == "req-b1"
    # Examined: req-a1, a2, d1 came before; b1, c1 inside; d2, b2 after (c2 cannot be examined).
    assert [
        (found[f"rate.{p}_window"]["n"], found[f"rate.{p}_window"]["total"]) for p in ("before", "in", "after")
    ] == [
        (0, 3),
        (2, 2),
        (0, 2),
    ]
    # Two probable responses, worst best-q 0.01: 2 * 0.99 rounds down to 1.
    assert found["lower_bound.responses"]["value"] == 1
    assert found["upper_bound.responses"]["value"] is None
    assert "not measured" in found["upper_bound.responses"]["method"]
    assert all(number["method"] for number in found.values())


def test_lower_bound_without_q_is_not_invented(tmp_path: Path) -> None:
    b = CaseBuilder()
    s = b.request("s", "alpha", 0, 10)
    r = b.request("r", "beta", 5, 15)
    b.fragment("f", r, 0, 50, ["alpha"], [(s, "prompt")], q_value=None)
    bound = numbers(scoped(b, tmp_path / "c"))["lower_bound.responses"]
    assert bound["value"] is None and "not assessable" in bound["method"]


def test_intervals_are_the_textbook_ones() -> None:
    # Clopper-Pearson for 5 of 10 and the one-sided limit 1 - 0.05 ** (1 / 100), as printed in tables.
    half = exact_interval(5, 10, 0.95)
    assert (round(half.low or 0, 4), round(half.high or 0, 4)) == (0.1871, 0.8129)
    none = exact_interval(0, 100, 0.95)
    assert (none.low, round(none.high or 0, 4)) == (0.0, 0.0295)
    assert exact_interval(0, 0, 0.95).high is None


def test_nothing_affected_is_said_without_a_window(tmp_path: Path) -> None:
    b = CaseBuilder()
    b.request("a", "alpha", 0, 10)
    out = scoped(b, tmp_path / "c")
    found = numbers(out)
    assert found["window.first_at"]["value"] is None
    assert found["rate.whole"]["total"] == 1
    assert (out / "affected_requests.csv").read_text() == (
        "request_id,tenant_id,received_at,worker,verdict,fragments,foreign_chars,source_tenants\n"
    )


def test_a_recipient_without_tenant_is_counted_not_lost(tmp_path: Path) -> None:
    b = CaseBuilder()
    s = b.request("s", "alpha", 0, 10)
    r = b.request("r", None, None, None)
    b.fragment("f", r, 0, 50, ["alpha"], [(s, "prompt")])
    with b.write(tmp_path / "c") as case:
        summary = run(case, Parameters())
    assert any("no evidence names their tenant" in warning for warning in summary.warnings)
    (row,) = table(tmp_path / "c/out/affected_requests.csv")
    assert (row["request_id"], row["tenant_id"], row["received_at"]) == ("r", "", "")


def test_timesketch_lines(tmp_path: Path) -> None:
    out = scoped(small_case(), tmp_path / "c")
    lines = [json.loads(line) for line in (out / "timeline.jsonl").read_text().split("\n") if line]
    keys = [(line["timestamp"], line["request_uid"], line["timestamp_desc"]) for line in lines]
    assert keys == sorted(keys) and len(lines) == 14
    for line in lines:
        assert line["message"] and line["datetime"].endswith("+00:00")
        assert line["timestamp_desc"] in {"Request Received", "Response Finished", "Fragment Returned"}
    first = lines[0]
    assert (first["datetime"], first["timestamp"]) == ("2026-03-04T10:00:00.000000+00:00", 1772618400000000)
