"""Planted leaks: into a copy only, of known classes, counted by what is finally reported; samples, limits, entrapment."""

from __future__ import annotations

import csv
import json
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from forensics.attribution.alterations import FORMS, alter
from forensics.attribution.control_figures import (
    Found,
    elusion_figures,
    entrapment_figures,
    match,
    period_figures,
    recall_figures,
    recapture_figure,
)
from forensics.attribution.controls import Parameters, run
from forensics.attribution.elusion import record_readings
from forensics.attribution.parameters import Parameters as Attribution
from forensics.attribution.run import run as attribute
from forensics.attribution.spikes import Spike, SpikeClass, classes
from forensics.case.errors import MissingInput, UsageError
from forensics.case.store import Case, Resources
from forensics.ingest.run import Parameters as IngestParameters
from forensics.ingest.run import run as ingest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from quoted import write_log

EVIDENCE = ("contents", "request_contents", "joined_requests", "requests", "fragments", "exclusions", "appearances")


def spike(start: int = 10, end: int = 110, script: str = "latin", **kind: object) -> Spike:
    described = {"kind": "copy", "length": 100, "form": "verbatim", "side": "prompt", "near": True, **kind}
    return Spike(
        SpikeClass(**described), script, 0, 7, "choices[0].content", 3, 2, 1, start, end, "", True  # type: ignore[arg-type]
    )  # fmt: skip


def found(start: int, end: int, verdict: str = "probable", sources: tuple[str, ...] = ("a",), **more: str) -> Found:
    return Found(more.get("field", "choices[0].content"), start, end, "verbatim", verdict, sources)


@pytest.mark.parametrize(
    ("fragments", "expected"),  # reported, probable, right tenant, wrong tenant
    [
        ([], (False, False, False, False)),
        ([found(10, 110)], (True, True, True, False)),
        ([found(10, 60)], (True, True, True, False)),  # half of it
        ([found(10, 59)], (False, False, True, False)),
        ([found(10, 40), found(30, 60)], (True, True, True, False)),  # overlaps count once: 50
        ([found(10, 40), found(10, 40)], (False, False, True, False)),
        ([found(10, 110, "possible")], (True, False, True, False)),
        ([found(0, 200, sources=("b",))], (True, True, False, True)),
        ([found(0, 200, sources=("a", "b"))], (True, True, False, True)),
        ([found(0, 200, "undetermined", ())], (True, False, False, False)),
        ([found(110, 200), found(0, 10)], (False, False, False, False)),  # beside it
        ([found(10, 110, field="choices[1].content")], (False, False, False, False)),
    ],
)
def test_what_counts_as_found(fragments: list[Found], expected: tuple[bool, ...]) -> None:
    made = match(0, spike(), fragments, frozenset({"a"}))
    assert (made.reported, made.probable, made.right_tenant, made.wrong_tenant) == expected


def test_sister_accounts_of_the_source_are_not_wrong() -> None:
    made = match(0, spike(), [found(10, 110, sources=("a2",))], frozenset({"a", "a2"}))
    assert (made.right_tenant, made.wrong_tenant) == (True, False)


def test_recall_by_class() -> None:
    outcomes = [match(0, spike(), [found(10, 110)], frozenset({"a"})) for _ in range(3)]
    outcomes += [match(0, spike(form="noise", script="han"), [], frozenset({"a"})) for _ in range(7)]
    figures = {(f.measure, f.part): f for f in recall_figures(outcomes, 0.95)}
    whole = figures["recall.reported", "all"]
    assert (whole.n, whole.total, round(whole.low or 0, 4), round(whole.high or 0, 4)) == (3, 10, 0.0667, 0.6525)
    assert (figures["recall.reported", "form=verbatim"].n, figures["recall.reported", "form=noise"].n) == (3, 0)
    assert figures["recall.probable", "script=han"].high == pytest.approx(1 - 0.05 ** (1 / 7))
    assert all("paraphrase and translation are not measured" in f.method for f in figures.values())


def test_elusion_by_hand() -> None:
    """Two strata at 95 % together: each at 97.5 %. 1 - 0.025^(1/50) of 1000 and the limit of 1 in 20 of 400."""
    rows = elusion_figures([("likely", 1000, 50, 0), ("other", 400, 20, 1)], 0.95)
    by_part = {f.part: f for f in rows if f.measure == "elusion.rate"}
    assert by_part["likely"].high == pytest.approx(1 - 0.025 ** (1 / 50))
    total = rows[-1]
    assert total.value == pytest.approx(400 / 20)
    assert total.high == pytest.approx(1000 * (1 - 0.025 ** (1 / 50)) + 400 * (by_part["other"].high or 0))
    (single, alone) = elusion_figures([("other", 3000, 300, 0)], 0.95)
    assert single.high == pytest.approx(3 / 300, rel=0.01)  # the rule of three
    assert alone.high == pytest.approx(30, rel=0.01)


def test_an_unread_sample_bounds_nothing() -> None:
    rows = elusion_figures([("likely", 1000, 0, 0)], 0.95)
    assert [(f.value, f.high) for f in rows] == [(None, None)] * 2
    assert "not known until" in rows[-1].method


def test_recapture_says_what_it_is() -> None:
    made = recapture_figure(17, 12, 5, 0.95)
    assert (made.value, made.n, made.total) == (38, 5, 24)
    assert "lower bound" in made.method
    assert recapture_figure(17, 0, 0, 0.95).value is None


def test_periods_have_exact_limits() -> None:
    made = period_figures([("after it was fixed", 300, 0, 0), ("before the fault began", 200, 2, 0)], 0.95)
    by_name = {(f.measure, f.part): f for f in made}
    assert by_name["rate.after_fix", "probable"].high == pytest.approx(0.00994, abs=1e-5)
    assert (by_name["false_positives.before", "any verdict"].n, by_name["false_positives.before", "probable"].n) == (
        2,
        0,
    )


def test_entrapment_by_hand() -> None:
    made = entrapment_figures({"probable": (90, 10)}, 0.5, 12)[0]
    assert (made.low, made.value) == (0.1, pytest.approx(0.3))
    assert entrapment_figures({"probable": (0, 0)}, 0.5, 12)[0].value is None


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox jumps over the lazy dog again",
        "敏捷的棕色狐狸跳过了懒惰的狗又一次",
        "كان يا ما كان في قديم الزمان",
    ],
)
def test_forms_alter_as_they_say(form: str, text: str) -> None:
    one, two = (alter(text, form, np.random.default_rng(3)) for _ in range(2))
    assert one == two
    letters = Counter(sign.casefold() for sign in text if sign.isalnum())
    kept = Counter(sign.casefold() for sign in one if sign.isalnum())
    if form == "words_dropped":
        assert kept != letters
        assert sum((letters & kept).values()) >= 0.6 * sum(letters.values())
    elif form == "noise":
        assert sum((letters & kept).values()) >= 0.7 * sum(letters.values())
    else:
        assert kept == letters
    assert (one == text) == (form == "verbatim" or (form in ("case_and_space", "noise") and one == text))


def test_every_class_is_there() -> None:
    known = {(c.kind, c.length, c.form, c.side, c.near) for c in classes()}
    assert len([c for c in known if c[0] == "copy"]) == 6 * 5 * 2 * 2
    assert ("identifier", 0, "verbatim", "prompt", True) in known
    assert ("whole_response", 0, "verbatim", "response", False) in known


# -- on a case ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def case_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("controls")
    write_log(root / "logs", 31, requests=620, shared=12, leaks=6)
    with Case.create(root / "case", Resources(threads=1)) as case:
        ingest(case, IngestParameters((root / "logs",), workers=1))
        attribute(case, Attribution(possible_bits=23.0))
    return root / "case"


def test_planting_leaves_the_evidence_alone(case_root: Path) -> None:
    public = case_root.parent / "public.jsonl"
    public.write_text(json.dumps({"text": "Some public words that nobody here ever wrote. " * 8}) + "\n", "utf-8")
    with Case.open(case_root, Resources(threads=1)) as case:
        before = {name: case.table(name).to_pylist() for name in EVIDENCE}
        summary = run(case, Parameters(rounds=2, elusion=5, entrapment=public, fault_fixed="2026-03-04T10:20:00Z"))
        assert {name: case.table(name).to_pylist() for name in EVIDENCE} == before
        assert not (case_root / "restricted" / "controls-copy").exists()
        spikes = case.table("control_spikes").to_pylist()
        rows = {(r["measure"], r["class"]): r for r in case.table("controls").to_pylist()}
        affected = {row[0] for row in case.rows("attribution/affected")}
        again = run(case, Parameters(rounds=2, elusion=5, entrapment=public, fault_fixed="2026-03-04T10:20:00Z"))
        assert again.skipped
    assert summary.figures["spikes"] == len(spikes) > 0
    by_round = Counter(s["round"] for s in spikes)
    assert max(by_round.values()) < 0.01 * 620
    assert not affected & {s["request"] for s in spikes}
    tenants = {row["request_id"]: row["tenant_id"] for row in before["joined_requests"]}
    assert all(tenants[s["request_id"]] != s["source_tenant_id"] for s in spikes)
    received = {row["request_id"]: row["received_at"] for row in before["joined_requests"]}
    finished = {row["request_id"]: row["finished_at"] for row in before["joined_requests"]}
    assert all(received[s["source_request_id"]] < finished[s["request_id"]] for s in spikes)
    assert rows["recall.reported", "all"]["total"] == len(spikes)
    assert rows["recall.reported", "all"]["n"] == sum(s["reported"] for s in spikes) > 0
    assert rows["wrong_tenant", "all"]["n"] == 0
    assert rows["entrapment.false_share", "probable"]["n"] == 0
    assert rows["rate.after_fix", "probable"]["total"] < 620
    text = "\n".join(p.read_text("utf-8", "replace") for p in (case_root / "out").glob("elusion*"))
    assert "nobody here ever wrote" not in text


def test_readings_come_back(case_root: Path, tmp_path: Path) -> None:
    sample = case_root / "out" / "elusion_sample.csv"
    rows = list(csv.DictReader(sample.open(encoding="utf-8", newline="")))
    assert {row["stratum"] for row in rows} == {"likely", "other"}
    for row in rows:
        row["decision"], row["name"] = "clean", "R. Reader"
    filled = tmp_path / "filled.csv"
    with filled.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    with Case.open(case_root, Resources(threads=1)) as case:
        assert record_readings(case, filled) == len(rows)
        run(case, Parameters(rounds=1, elusion=5))
        figures = {(r["measure"], r["class"]): r for r in case.table("controls").to_pylist()}
    assert figures["elusion.rate", "other"]["high"] == pytest.approx(1 - 0.025 ** (1 / 5))
    assert figures["elusion.responses", "all"]["high"] is not None


@pytest.mark.parametrize(
    ("content", "error"),
    [("a,b\n1,2\n", "columns"), ("request_id,decision,name\nr1,maybe,X\n", "row 2"), ("request_id,decision,name\nr1,leak,X\n", "row 2")],
)  # fmt: skip
def test_bad_readings_are_refused(case_root: Path, tmp_path: Path, content: str, error: str) -> None:
    (tmp_path / "bad.csv").write_text(content, "utf-8")
    with Case.open(case_root, Resources(threads=1)) as case, pytest.raises(UsageError, match=error):
        record_readings(case, tmp_path / "bad.csv")


@pytest.mark.long
def test_the_estimate_agrees_with_leaks_that_somebody_else_planted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Short copies from prompts on the same worker: planted by the generator (truth), and by the controls (estimate)."""
    made = write_log(tmp_path / "logs", 33, requests=1100, shared=0, leaks=60, leak_lengths=(44, 60))
    one = [SpikeClass("copy", 52, "verbatim", "prompt", True)]
    monkeypatch.setattr("forensics.attribution.spikes.classes", lambda: one)
    with Case.create(tmp_path / "case", Resources(threads=1)) as case:
        ingest(case, IngestParameters((tmp_path / "logs",), workers=1))
        attribute(case, Attribution())
        reported = {row["recipient_request_id"] for row in case.table("fragments").to_pylist()}
        run(case, Parameters(rounds=4, elusion=0))
        (estimate,) = [
            r for r in case.table("controls").to_pylist() if (r["measure"], r["class"]) == ("recall.reported", "all")
        ]
    truth = sum(request in reported for request in made.planted) / len(made.planted)
    assert estimate["total"] >= 36
    assert estimate["low"] <= truth <= estimate["high"], (estimate["low"], truth, estimate["high"])


def test_controls_need_an_attribution(tmp_path: Path) -> None:
    with Case.create(tmp_path / "case") as case, pytest.raises(MissingInput, match="attribute"):
        run(case, Parameters())
