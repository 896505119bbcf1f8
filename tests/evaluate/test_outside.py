"""Do the logs from outside hold what their truth says? The three builders in `bench/` and what they wrote."""

from __future__ import annotations

import json
import random
import sys
import unicodedata
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))

import by_hand
import planted_corpus
from by_hand_texts import INCIDENTS

ENGINE = Path(__file__).resolve().parents[2] / "sample_logs" / "sglang-cpu"


def rows(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def bare(text: str) -> str:
    return "".join(c.casefold() for c in text if c.isalnum() and unicodedata.category(c) != "Mn")


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hand")
    by_hand.main(folder)
    return folder


@pytest.mark.parametrize("number", range(1, len(INCIDENTS) + 1))
def test_incidents_by_hand_are_what_they_say(written: Path, number: int):
    folder = written / f"{number:02d}"
    records = {row["request_id"]: row for row in rows(folder / "logs" / "requests.jsonl")}
    assert 5 <= len(records) <= 30
    answer = {rid: row["response"]["choices"][0]["message"]["content"] for rid, row in records.items()}
    prompt = {rid: row["request"]["messages"][-1]["content"] for rid, row in records.items()}
    assert not any("[[" in text or "]]" in text for text in answer.values())
    for row in rows(folder / "truth.jsonl"):
        victim = row["response_request_id"]
        text = answer[victim][row["char_start"] : row["char_end"]]
        assert text and text == text.strip()
        if row["source_request_id"] is None:
            assert row["kind"] == "undetermined" and not any(text in other for other in prompt.values())
            continue
        source = row["source_request_id"]
        assert records[source]["tenant_id"] == row["source_tenant_id"] != records[victim]["tenant_id"]
        assert records[source]["timestamp"] < records[victim]["finished_at"]
        if row["source_field"] is None:
            assert text == answer[victim] and text not in prompt[source] and text != answer[source]
            continue
        held = prompt[source] if row["source_field"] == "prompt" else answer[source]
        pieces = row["pieces"] or [[row["char_start"], row["char_end"]]]
        assert all(bare(answer[victim][low:high]) in bare(held) for low, high in pieces)
        mine = [rid for rid in records if records[rid]["tenant_id"] == records[victim]["tenant_id"]]
        before = [rid for rid in mine if records[rid]["timestamp"] <= records[victim]["timestamp"]]
        assert not any(bare(text) in bare(prompt[rid]) for rid in before)
    leaks = {(row["response_request_id"], row["char_start"]) for row in rows(folder / "truth.jsonl")}
    for row in rows(folder / "lookalikes.jsonl"):
        assert (row["request_ids"][0], row["char_start"]) not in leaks
        assert 0 <= row["char_start"] < row["char_end"] <= len(answer[row["request_ids"][0]])


def test_incidents_by_hand_cover_kinds_languages_and_lookalikes(written: Path):
    truth = [row for path in sorted(written.glob("*/truth.jsonl")) for row in rows(path)]
    assert {row["kind"] for row in truth} == {
        "verbatim", "altered", "identifier", "whole_response", "structure", "undetermined",
    }  # fmt: skip
    assert {row["language"] for row in truth} >= {"en", "de", "zh", "he", "pl", "ko", "ja", "ar", "code", "json"}
    classes = Counter(row["class"] for path in written.glob("*/lookalikes.jsonl") for row in rows(path))
    assert set(classes) >= {
        "licence", "same_question", "sister_account", "own_quotation", "public_quote", "complaint", "template",
    }  # fmt: skip
    assert sum((path.stat().st_size == 0) for path in written.glob("*/truth.jsonl")) == 1


def small_corpus(path: Path) -> None:
    dice = random.Random(5)
    words = ["".join(dice.choice("abdefgiklmnorstuv") for _ in range(dice.randint(3, 9))) for _ in range(900)]

    def prose(count: int) -> str:
        return ". ".join(" ".join(dice.choice(words) for _ in range(9)).capitalize() for _ in range(count)) + "."

    records = [
        {"id": f"r{n}", "source": f"s{n % 3}", "licence": "none", "lang": "en", "kind": "chat",
         "prompt": "What is it?" if n % 10 == 0 else prose(12), "response": prose(8)}
        for n in range(260)
    ]  # fmt: skip
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")


def test_real_texts_carry_the_planted_leaks(tmp_path: Path):
    small_corpus(tmp_path / "corpus.jsonl")
    planted = planted_corpus.build(tmp_path / "corpus.jsonl", tmp_path / "out", 3, 240, 12, 40)
    records = {row["request_id"]: row for row in rows(tmp_path / "out" / "logs" / "requests.jsonl")}
    truth = rows(tmp_path / "out" / "truth.jsonl")
    assert len(records) == 240 and len(truth) == planted == 40
    for row in truth:
        victim, source = records[row["response_request_id"]], records[row["source_request_id"]]
        text = victim["response"]["choices"][0]["message"]["content"][row["char_start"] : row["char_end"]]
        side = row["source_field"] == "prompt"
        held = (
            source["request"]["messages"][0]["content"]
            if side
            else source["response"]["choices"][0]["message"]["content"]
        )
        assert source["tenant_id"] == row["source_tenant_id"] != victim["tenant_id"]
        assert source["timestamp"] < victim["finished_at"]
        assert (text in held) is (not row["altered"])
        if row["class"] in ("real/case", "real/rewrapped", "real/bullets", "real/cut", "real/verbatim"):
            assert bare(text) in bare(held)
    assert {row["kind"] for row in truth} == {"verbatim", "altered"}
    assert not any(row["class"] == "real/near_duplicate" for row in truth)  # made of random sentences
    assert all(row["class"] == "same_question" for row in rows(tmp_path / "out" / "lookalikes.jsonl"))
    again = tmp_path / "again"
    planted_corpus.build(tmp_path / "corpus.jsonl", again, 3, 240, 12, 40)
    assert (again / "truth.jsonl").read_bytes() == (tmp_path / "out" / "truth.jsonl").read_bytes()


@pytest.mark.skipif(not ENGINE.is_dir(), reason="the recorded run is not there")
def test_the_recorded_engine_run_holds_what_its_truth_says():
    answer, prompt = {}, {}
    for line in (ENGINE / "logs" / "engine.log").read_text(encoding="utf-8").split("\n"):
        if '"event": "request.finished"' in line:
            record = json.loads(line[line.index("{") :])
            answer[record["rid"]], prompt[record["rid"]] = record["out"]["text"], record["obj"]["text"]
    tenant = {row["request_id"]: row["tenant_id"] for row in rows(ENGINE / "logs" / "gateway.jsonl")}
    truth = rows(ENGINE / "truth.jsonl")
    assert len(truth) >= 8 and set(tenant) == set(answer)
    assert sum(path.stat().st_size for path in ENGINE.rglob("*") if path.is_file()) < 300_000
    for row in truth:
        victim, source = row["response_request_id"], row["source_request_id"]
        assert tenant[source] == row["source_tenant_id"] != tenant[victim] == row["response_tenant_id"]
        text = answer[victim][row["char_start"] : row["char_end"]]
        assert text == text.strip() and text
        if row["source_field"] == "prompt":
            assert text in prompt[source] and text not in prompt[victim]
        elif row["source_field"] == "response":
            pieces = row["pieces"] or [[row["char_start"], row["char_end"]]]
            assert "".join(answer[victim][low:high] for low, high in pieces).strip() in answer[source]
