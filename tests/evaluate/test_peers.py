"""The bench of peers: are passim's rows read right, is what is missing named, and do our parts find what the whole does?"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import peer_ours
import peer_passim
import peers
from peer_tools import Document, Missing, joined

from forensics.evaluate.records import read_truth

BENCH = Path(peers.__file__).parent
PASSAGE = (
    "Der alte Leuchtturm \U0001f5fc von Öderup wird im März neu gestrichen, die Treppe bleibt so lange für Besucher "
    "gesperrt und der Wärter wohnt bei seiner Schwester im Dorf."
)
DOCUMENTS = [
    Document("r1", "t1", f"Bitte kürze das: \U0001f600\U0001f600 {PASSAGE} Danke!", "Gern, das ist kürzer."),
    Document(
        "r2",
        "t2",
        "What is a good soup for a cold evening?",
        f"\U0001f372 Try lentils with lemon. {PASSAGE} Serve it with bread.",
    ),
    Document("r3", "t1", "Noch einmal?", PASSAGE),  # of the source's own tenant
    Document("r4", "t3", "And a dessert?", "Baked apples with nuts, and a little cream."),
]
# What passim 2.0.1 wrote for these documents: as it comes, and with `--gap 20 --pcopy 0.95`.
AS_IT_COMES = {"number": 0, "number2": 3, "begin2": 26, "end2": 193}
CLOSE = {"number": 0, "number2": 3, "begin2": 26, "end2": 187}


def test_rows_of_passim_are_findings_in_code_points():
    (found,) = peer_passim.findings([CLOSE], DOCUMENTS)
    assert DOCUMENTS[1].answer[found.start : found.end] == PASSAGE
    assert (found.request_id, found.recipient_tenant, found.sources) == ("r2", "t2", {"t1"})


def test_a_passage_from_two_tenants_is_one_finding():
    rows = [AS_IT_COMES, CLOSE, {**CLOSE, "number": 6}]
    (found,) = peer_passim.findings(rows, DOCUMENTS)
    assert (found.start, found.end, found.sources) == (26, 193, {"t1"})


def test_documents_of_passim():
    rows = list(peer_passim.rows_for(DOCUMENTS))
    assert [row["number"] for row in rows] == list(range(8)) and len({row["id"] for row in rows}) == 8
    assert [row["series"] for row in rows] == ["t1", "t1", "t2", "t2", "t1", "t1", "t3", "t3"]
    assert (rows[0]["text"], rows[3]["text"]) == (DOCUMENTS[0].prompt, DOCUMENTS[1].answer)


def test_what_passim_lacks_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    asked = argparse.Namespace(passim=None)
    with pytest.raises(Missing, match="passim or seriatim"):
        peer_passim.command(asked)
    put(tmp_path / "passim")  # of another package with this name
    with pytest.raises(Missing, match="spark-submit"):
        peer_passim.command(asked)
    put(tmp_path / "spark-submit")
    with pytest.raises(Missing, match="java"):
        peer_passim.command(asked)
    put(tmp_path / "java")
    assert peer_passim.command(asked)[0] == str(tmp_path / "passim")


def put(path: Path) -> None:
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)


def test_slices_of_one_copy_are_joined():
    assert joined([[30.0, 40.0], [0.0, 10.0], [12.0, 20.0]], 2) == [(0, 20), (30, 40)]
    assert joined([], 2) == []


@pytest.mark.slow
def test_parts_of_ours_find_what_the_whole_finds(tmp_path: Path):
    made = tmp_path / "made"
    options = ["--requests=300", "--turns=1", "--tenants=20", "--prompt=1000", "--leaks=6"]
    subprocess.run([sys.executable, str(BENCH / "traffic.py"), str(made), *options], check=True)
    documents, truth = peers.read(made / "logs"), read_truth(made / "truth.jsonl")
    load = peers.Load("all", made / "logs", documents, truth)
    rows = peers.ours(tmp_path / "case", load)
    assert [row["peer"] for row in rows] == list(peer_ours.STRETCHES)
    assert [(row["found"], row["right_tenant"], row["wrong_tenant"]) for row in rows] == [(6, 6, 0)] * 3
    assert all(row["plagdet"] > 0.9 for row in rows)


def test_a_few_requests_hold_leaks_with_their_sources():
    documents = [Document(f"r{n}", f"t{n}", f"prompt {n}", "answer") for n in range(20)]
    documents[7] = documents[7]._replace(answer="xx prompt 3")
    documents[9] = documents[9]._replace(answer="xx prompt 5")
    truth = [peers.Leak(f"r{n}", "f", 3, 11, None, frozenset(), "verbatim", None) for n in (7, 9)]
    few, leaks = peers.some(documents, truth, 3)
    assert [document.request for document in few] == ["r0", "r3", "r7"] and leaks == truth[:1]


def test_ratios_are_those_of_the_same_texts():
    def row(peer: str, load: str, rate: float) -> dict[str, object]:
        return {"peer": peer, "load": load, "plagdet": 1.0, "mb_per_cpu_second": rate,
                "mb_per_cpu_second_with_start": rate / 2}  # fmt: skip

    rows = [row(name, load, 8.0 if load == "all" else 2.0) for load in ("all", "few") for name in peer_ours.STRETCHES]
    rows += [row("slow", "few", 0.5), {"peer": "gone", "load": "all", "missing": "no module"}]
    (found,) = peers.ratios(rows)
    assert found["peer"] == "slow" and {found[name]["ratio"] for name in peer_ours.STRETCHES} == {4.0}
