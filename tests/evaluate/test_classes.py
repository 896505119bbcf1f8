"""Are leaks with foreign parts, chains and classes counted as one counts them by hand?"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from forensics.evaluate.classes import bits_band, by_class, innocent
from forensics.evaluate.measures import cell, characters, match
from forensics.evaluate.records import Finding, Leak, Lookalike, read_lookalikes, read_truth
from forensics.evaluate.run import evaluate
from forensics.evaluate.show import as_json, as_text

FIELD = "choices[0].content"


def leak(start: int, end: int, source: str | None = "a", request: str = "r1", **more) -> Leak:
    allowed = frozenset([source]) if source else frozenset()
    return Leak(request, FIELD, start, end, source, allowed, more.pop("kind", "altered"), "victim", **more)


def finding(start: int, end: int, sources: tuple[str, ...] = ("a",), request: str = "r1", verdict: str = "probable"):
    return Finding(request, FIELD, start, end, frozenset(sources), "altered", verdict, "victim")


PIECES = ((0, 10), (20, 30), (40, 50), (60, 70))


def test_pieces_may_be_found_one_by_one():
    mixed = leak(0, 70, pieces=PIECES)
    # Two of four pieces are half of the foreign characters, though each finding covers a seventh of the span.
    assert match([mixed], [finding(0, 10), finding(40, 50)])[0].found
    assert not match([mixed], [finding(0, 10), finding(40, 49)])[0].found
    # Without pieces the same findings find nothing.
    assert not match([leak(0, 70)], [finding(0, 10), finding(40, 50)])[0].found


def test_reached_is_less_than_found():
    found = match([leak(0, 100)], [finding(90, 120)])[0]
    assert found.reached and not found.found
    assert not match([leak(0, 100)], [finding(100, 120)])[0].reached


def test_two_crossed_streams_may_both_be_named():
    leaks = [leak(0, 70, "a", pieces=PIECES), leak(10, 60, "b", pieces=((10, 20), (30, 40), (50, 60)))]
    both = [finding(0, 70, ("a", "b"))]
    assert [(m.found, m.right_tenant, m.wrong_tenant, m.right_set) for m in match(leaks, both)] == [
        (True, True, False, True)
    ] * 2
    third = match(leaks, [finding(0, 70, ("a", "b", "c"))])
    assert all(m.wrong_tenant and not m.right_set for m in third)
    half = match(leaks, [finding(0, 70, ("a",))])
    assert [(m.right_tenant, m.wrong_tenant, m.right_set) for m in half] == [(True, False, True), (False, False, False)]


def test_a_finding_over_a_neighbour_names_nobody_wrongly():
    leaks = [leak(0, 100, "a"), leak(101, 200, "b")]
    one = match(leaks, [finding(0, 110, ("a",))])
    assert [m.wrong_tenant for m in one] == [False, False]
    assert [m.found for m in one] == [True, False]
    assert match(leaks, [finding(0, 95, ("b",))])[0].wrong_tenant


def test_nobody_may_be_named_for_a_sourceless_leak():
    found = match([leak(0, 50, None, pieces=((0, 50),))], [finding(0, 50, ("a",))])[0]
    assert found.found and found.wrong_tenant and not found.right_set


def test_characters_of_pieces_are_those_that_count():
    scores = characters([leak(0, 70, pieces=PIECES)], [finding(0, 10), finding(20, 30)])
    assert scores.recall == pytest.approx(0.5)
    assert scores.strict_recall == pytest.approx(20 / 40)
    assert scores.granularity == 2


def test_cells_by_class_language_and_bits():
    leaks = [
        leak(0, 100, label="altered/table", language="en", size=80, bits=160.0),
        leak(200, 300, label="altered/table", language="zh", size=20, bits=150.0),
        leak(400, 900, label="interleaved/two", language="en", size=310, bits=900.0, pieces=((400, 555), (600, 755))),
        leak(0, 15, request="r2", label="identifier/key", language="en", size=15, bits=40.0),
    ]
    report = by_class(leaks, [finding(0, 100), finding(400, 760)])
    assert report is not None
    classes = {(c.kind, c.band): (c.leaks, c.found) for c in report.classes}
    assert classes == {
        ("altered/table", "all"): (2, 1),
        ("interleaved/two", "all"): (1, 1),
        ("identifier/key", "all"): (1, 0),
    }
    assert {(c.kind, c.band): c.found for c in report.copies} == {
        ("en", "all"): 1, ("en", "100-199"): 1, ("zh", "all"): 0, ("zh", "100-199"): 0,
    }  # fmt: skip
    assert {(c.kind, c.band) for c in report.lengths} >= {("altered/table", "80-199"), ("altered/table", "<40")}
    groups = {(c.kind, c.band): (c.leaks, c.found) for c in report.groups}
    assert groups[("interleaved, two streams", "300+")] == (1, 1)
    assert groups[("identifier, one holder", "12+")] == (1, 0)


def test_a_chain_is_whole_when_every_link_is_found_with_its_tenant():
    chain = [leak(0, 100, request=f"r{n}", label="whole_response/shifted", chain=1) for n in range(3)]
    other = [leak(0, 100, request=f"s{n}", label="whole_response/shifted", chain=2) for n in range(2)]
    findings = [finding(0, 100, request=f"r{n}") for n in range(3)] + [finding(0, 100, request="s0")]
    report = by_class(chain + other, findings)
    assert report is not None and (report.chains, report.chains_whole) == (2, 1)
    wrong = [*findings[:2], finding(0, 100, ("x",), request="r2")]
    report = by_class(chain, wrong)
    assert report is not None and report.chains_whole == 0


def test_sourceless_leaks_with_a_name_are_counted():
    leaks = [leak(0, 50, None, label="undetermined/passage"), leak(0, 50, None, "r2", label="undetermined/whole")]
    report = by_class(leaks, [finding(0, 50, ()), finding(0, 50, ("a",), "r2")])
    assert report is not None and (report.sourceless, report.sourceless_named) == (2, 1)


def test_a_truth_without_classes_has_no_class_report():
    assert by_class([leak(0, 100)], [finding(0, 100)]) is None


def test_bits_bands_meet_at_their_borders():
    assert [bits_band(b) for b in (0, 99.9, 100, 399.9, 400, 5000)] == [
        "<100", "<100", "100-199", "200-399", "400-799", "800+",
    ]  # fmt: skip


def test_sure_findings_in_lookalikes_are_counted_by_class():
    places = [Lookalike("r1", FIELD, 0, 100, "template"), Lookalike("r1", FIELD, 200, 300, "same_question")]
    strong = [finding(50, 90), finding(180, 230), finding(150, 205), finding(500, 600), finding(0, 60, request="r9")]
    # 50-90 lies in the template; 180-230 by three fifths in the answer; 150-205 by a tenth; the rest in nothing.
    assert innocent([], strong, places) == {"same_question": 1, "template": 1}
    assert innocent([leak(0, 100)], strong, places) == {"same_question": 1}


def test_files_are_read_with_classes_and_lookalikes(tmp_path: Path):
    truth = {
        "response_request_id": "r1", "field": FIELD, "char_start": 0, "char_end": 100, "source_request_id": "s",
        "source_tenant_id": "a", "source_field": "prompt", "kind": "altered", "altered": True, "ambiguous_with": [],
        "equivalent_sources": [], "response_tenant_id": "victim", "class": "altered/table", "language": "ko",
        "source_chars": 60, "bits": 300.0, "pieces": [], "chain": [4, 2],
    }  # fmt: skip
    (tmp_path / "truth.jsonl").write_text(json.dumps(truth) + "\n")
    row = {"class": "licence", "request_ids": ["r2"], "field": FIELD, "char_start": 0, "char_end": 80, "tenant_id": "t"}
    (tmp_path / "lookalikes.jsonl").write_text(json.dumps(row) + "\n")
    fragments = [
        {"recipient_request_id": name, "recipient_tenant_id": "victim", "field": FIELD, "start": 0, "end": 80,
         "kind": "verbatim", "verdict": "probable", "sources": ["a"]}
        for name in ("r1", "r2")
    ]  # fmt: skip
    (tmp_path / "fragments.jsonl").write_text("".join(json.dumps(row) + "\n" for row in fragments))
    found = read_truth(tmp_path / "truth.jsonl")[0]
    assert (found.label, found.language, found.characters, found.bits, found.chain) == (
        "altered/table", "ko", 60, 300.0, 4,
    )  # fmt: skip
    assert read_lookalikes(tmp_path / "none.jsonl") == []
    report = evaluate(tmp_path / "fragments.jsonl", tmp_path / "truth.jsonl")
    assert report.lookalikes == {"licence": 1} and report.shared_share == 0.5
    assert report.classes is not None and report.classes.classes[0].found == 1
    text = as_text(report)
    assert "altered/table" in text and "chains of shifted answers found whole: 1 of 1" in text
    assert "licence 1" in text and "0.5000" in text
    assert json.loads(json.dumps(as_json(report)))["classes"]["copies"][0]["kind"] == "ko"


def test_a_plain_cell_says_who_was_reached():
    made = cell("all", "all", [leak(0, 100), leak(0, 100, request="r2")], [finding(0, 20)])
    assert (made.reached, made.found) == (1, 0)


@pytest.mark.parametrize(
    ("named", "wrong"), [(("a", "b"), False), (("a",), False), ((), False), (("b",), True), (("a", "c"), True)]
)
def test_a_set_may_hold_who_supplied_a_quoted_passage_beside_the_source_but_not_alone(named, wrong):
    whole = leak(0, 100, kind="whole_response", beside=frozenset({"b"}))
    assert match([whole], [finding(10, 40, named)])[0].wrong_tenant == wrong
