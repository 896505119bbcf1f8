"""Do the measures give what one computes by hand?"""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from forensics.case.errors import MissingInput, UsageError
from forensics.evaluate.measures import cell, characters, covered
from forensics.evaluate.records import Finding, Leak, band, read_column
from forensics.evaluate.run import evaluate
from forensics.evaluate.show import as_json, as_text

FIELD = "choices[0].content"


def leak(start: int, end: int, request: str = "r1", source: str | None = "a", also: tuple[str, ...] = (), **more: str):
    allowed = frozenset([source, *also]) if source else frozenset()
    return Leak(request, more.get("field", FIELD), start, end, source, allowed, more.get("kind", "verbatim"), "victim")


def finding(start: int, end: int, request: str = "r1", sources: tuple[str, ...] = ("a",), **more: str):
    return Finding(
        request, more.get("field", FIELD), start, end, frozenset(sources), more.get("kind", "verbatim"),
        more.get("verdict", "probable"), "victim",
    )  # fmt: skip


def test_bands_meet_at_their_borders():
    assert [band(n) for n in (1, 39, 40, 79, 80, 199, 200, 5000)] == [
        "<40", "<40", "40-79", "40-79", "80-199", "80-199", "200+", "200+",
    ]  # fmt: skip


def test_covered_counts_overlapping_spans_once():
    assert covered(10, 30, [(0, 15), (12, 20), (28, 50)]) == 12
    assert covered(10, 30, []) == 0


def test_perfect_findings_score_one():
    scores = characters([leak(0, 100)], [finding(0, 100)])
    assert (scores.recall, scores.precision, scores.f1, scores.granularity, scores.plagdet) == (1, 1, 1, 1, 1)


def test_plagdet_by_hand():
    # Two leaks of 100. The first is found in two pieces of 40, the second not. One more finding of 50 is false.
    # Recall: (0.8 + 0) / 2 = 0.4. Precision: (1 + 1 + 0) / 3 = 2/3. F1 = 2 * 0.4 * 2/3 / (0.4 + 2/3) = 0.5.
    # Granularity: two detections of the one detected leak = 2. Plagdet = 0.5 / log2(3) = 0.31546.
    leaks = [leak(0, 100), leak(0, 100, request="r2")]
    found = [finding(0, 40), finding(50, 90), finding(0, 50, request="r3")]
    scores = characters(leaks, found)
    assert scores.recall == pytest.approx(0.4)
    assert scores.precision == pytest.approx(2 / 3)
    assert scores.f1 == pytest.approx(0.5)
    assert scores.granularity == 2
    assert scores.plagdet == pytest.approx(0.5 / math.log2(3))
    assert scores.plagdet == pytest.approx(0.31546, abs=1e-5)
    assert scores.strict_recall == pytest.approx(80 / 200)


def test_nothing_found_and_nothing_there():
    empty = characters([], [])
    assert empty.recall is None and empty.plagdet is None
    missed = characters([leak(0, 10)], [finding(0, 5, request="other")])
    assert (missed.recall, missed.f1, missed.plagdet, missed.granularity) == (0, 0, 0, None)


def test_half_of_a_leak_is_enough_and_less_is_not():
    assert cell("all", "all", [leak(0, 100)], [finding(50, 200)]).found == 1
    assert cell("all", "all", [leak(0, 100)], [finding(51, 200)]).found == 0


def test_two_pieces_of_a_third_do_not_make_a_find():
    assert cell("all", "all", [leak(0, 90)], [finding(0, 30), finding(40, 70)]).found == 0


def test_another_field_or_request_is_no_find():
    assert cell("all", "all", [leak(0, 100)], [finding(0, 100, field="choices[0].reasoning")]).found == 0
    assert cell("all", "all", [leak(0, 100)], [finding(0, 100, request="r9")]).found == 0


@pytest.mark.parametrize(
    ("truth", "named", "right", "wrong", "right_set"),
    [
        (("a", ()), ("a",), 1, 0, 1),
        (("a", ()), ("b",), 0, 1, 0),
        (("a", ()), ("a", "b"), 1, 1, 0),
        (("a", ("b",)), ("a", "b"), 1, 0, 1),
        (("a", ("b",)), ("b",), 0, 0, 0),
        (("a", ()), (), 0, 0, 0),
        ((None, ()), (), 0, 0, 1),
        ((None, ()), ("a",), 0, 1, 0),
    ],
)
def test_tenants(truth, named, right, wrong, right_set):
    made = cell("all", "all", [leak(0, 50, source=truth[0], also=truth[1])], [finding(0, 50, sources=named)])
    assert (made.right_tenant, made.wrong_tenant, made.right_set) == (right, wrong, right_set)


def test_cells_split_by_kind_and_length():
    leaks = [leak(0, 30, kind="identifier"), leak(100, 400)]
    found = [finding(0, 30, kind="verbatim"), finding(500, 520, kind="identifier")]
    identifier = cell("identifier", "all", leaks, found)
    # The leak was reported under another kind; the false finding is of this kind.
    assert (identifier.leaks, identifier.found, identifier.findings, identifier.true_findings) == (1, 1, 2, 1)
    assert cell("verbatim", "200+", leaks, found).found == 0
    assert cell("all", "<40", leaks, found).precision == 0.5


def write(folder: Path, truth: list[dict], findings: list[dict]) -> tuple[Path, Path]:
    for name, rows in (("truth.jsonl", truth), ("fragments.jsonl", findings)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return folder / "fragments.jsonl", folder / "truth.jsonl"


def truth_row(request: str, source: str | None, start: int = 0, end: int = 100) -> dict:
    return {
        "response_request_id": request, "field": FIELD, "char_start": start, "char_end": end,
        "source_request_id": "s" if source else None, "source_tenant_id": source,
        "source_field": "prompt" if source else None, "kind": "verbatim" if source else "undetermined",
        "altered": False, "ambiguous_with": [], "equivalent_sources": [], "response_tenant_id": "victim",
    }  # fmt: skip


def fragment_row(request: str, sources: list[str], verdict: str = "probable", start: int = 0, end: int = 100) -> dict:
    return {
        "fragment_id": request, "recipient_request_id": request, "recipient_tenant_id": "victim", "field": FIELD,
        "start": start, "end": end, "kind": "verbatim", "verdict": verdict, "bits": 99.0, "q_value": None,
        "sources": sources, "appearances": [], "exclusions": [],
    }  # fmt: skip


def test_report_of_a_small_case(tmp_path: Path):
    truth = [truth_row("r1", "a"), truth_row("r2", None)]
    found = [
        fragment_row("r1", ["a"]),
        fragment_row("r2", [], "undetermined"),
        fragment_row("r3", ["c"]),
        fragment_row("r4", ["d"], "possible"),
        fragment_row("r5", ["e"], "excluded"),
    ]
    fragments, truth_path = write(tmp_path, truth, found)
    (tmp_path / "affected.csv").write_text("request_id,tenant_id\nr1,victim\nr3,victim\n")
    (tmp_path / "possible.csv").write_text("request_id,tenant_id\nr2,victim\nr4,victim\n")
    (tmp_path / "tenants.csv").write_text("tenant_id,role\nvictim,recipient\na,source\nc,source\n")
    report = evaluate(
        fragments, truth_path, tmp_path / "affected.csv", tmp_path / "possible.csv", tmp_path / "tenants.csv", 20_000
    )
    assert report.cells[0].found == 2 and report.strong_cells[0].found == 1
    assert report.false_strong == 1 and report.false_per_10000 == pytest.approx(0.5)
    assert (report.wrong_tenants, report.wrong_tenants_strong) == (2, 1)
    assert report.affected_requests.missing == () and report.affected_requests.extra == ("r3", "r4")
    assert report.affected_tenants.exact
    assert not report.source_tenants.exact and report.source_tenants.extra == ("c",)
    text = as_text(report)
    assert "per 10,000 responses: 0.50" in text and "missing 0, extra 2" in text
    assert json.loads(json.dumps(as_json(report)))["affected_requests"]["exact"] is False


def test_a_leak_with_a_source_must_stand_in_the_affected_list(tmp_path: Path):
    fragments, truth = write(tmp_path, [truth_row("r1", "a")], [fragment_row("r1", ["a"], "possible")])
    (tmp_path / "affected.csv").write_text("request_id\n")
    (tmp_path / "possible.csv").write_text("request_id\nr1\n")
    report = evaluate(fragments, truth, tmp_path / "affected.csv", tmp_path / "possible.csv")
    assert report.affected_requests.missing == ("r1",)


def test_formula_quotes_are_taken_off_ids(tmp_path: Path):
    (tmp_path / "list.csv").write_text("request_id\n\"'=cmd()\"\n'tis\n")
    assert read_column(tmp_path / "list.csv", "request_id") == ["=cmd()", "'tis"]


def test_absent_files_and_broken_lines_are_named(tmp_path: Path):
    fragments, truth = write(tmp_path, [], [])
    with pytest.raises(MissingInput):
        evaluate(fragments, tmp_path / "nowhere.jsonl")
    truth.write_text('{"a": 1}\n{broken\n')
    with pytest.raises(UsageError, match="line 2"):
        evaluate(fragments, truth)


# The cases and values that the scorer of the PAN competitions tests itself with (Potthast et al. 2010), here as far as
# they concern the side of the suspicious text: (cases, detections), recall, precision, granularity.
ONE, BOTH, NEXT = (0, 100, "t1"), (0, 200, "t1"), (100, 200, "t1")
OTHER, LATER, INNER = (0, 100, "t2"), (50, 150, "t2"), (25, 100, "t2")


@pytest.mark.parametrize(
    ("cases", "detections", "recall", "precision", "granularity"),
    [
        ([ONE], [ONE], 1, 1, 1),
        ([ONE, OTHER], [ONE], 0.5, 1, 1),
        ([ONE], [OTHER], 0, 0, None),
        ([ONE], [NEXT], 0, 0, None),
        ([ONE], [BOTH], 1, 0.5, 1),
        ([ONE], [BOTH, OTHER], 1, 0.25, 1),
        ([ONE], [OTHER, LATER], 0, 0, None),
        ([OTHER], [LATER], 0.5, 0.5, 1),
        ([OTHER], [INNER], 0.75, 1, 1),
        ([OTHER], [LATER, INNER], 0.75, 0.75, 2),
        ([ONE], [NEXT, BOTH], 1, 0.25, 1),
        ([ONE], [ONE, NEXT, BOTH], 1, 0.5, 2),
        ([ONE, NEXT], [ONE, BOTH], 1, 1, 1.5),
    ],
)
def test_the_published_cases(cases, detections, recall, precision, granularity):
    scores = characters(
        [leak(low, high, request) for low, high, request in cases],
        [finding(low, high, request) for low, high, request in detections],
    )
    assert (scores.recall, scores.granularity) == (pytest.approx(recall), granularity)
    assert scores.precision == pytest.approx(precision)


def test_the_published_plagdet():
    # (recall 1, precision 1, granularity 2) and (0.25, 0.75, 2) in the scorer's own test.
    whole = characters([leak(0, 100)], [finding(0, 60), finding(60, 100)])
    assert whole.plagdet == pytest.approx(0.63092975)
    # One leak of four, found whole by one detection and half by another, half of which lies outside.
    half_off = characters(
        [leak(0, 100), *(leak(0, 100, f"x{n}") for n in range(3))], [finding(0, 100), finding(50, 150)]
    )
    assert (half_off.recall, half_off.precision, half_off.granularity) == (0.25, 0.75, 2)
    assert half_off.plagdet == pytest.approx(0.23659865)
