"""What is kept of trials: whole lines, texts by their digest, nothing taken for what it is not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from forensics.case.errors import HashMismatch
from forensics.replay.records import SCHEMA, Book, Trial, check_whole, digest, read_responses, read_trials


def trial(number: int, text: str = "") -> Trial:
    return Trial(SCHEMA, "f1", "alone", number, 1, {"digest": "d"}, (), (), digest(text), True, 5)


def test_trials_and_texts_come_back_and_each_text_is_kept_once(tmp_path: Path) -> None:
    trials, responses = tmp_path / "a" / "trials.jsonl", tmp_path / "b" / "responses.jsonl"
    strange = "\ud800 \u2028 \x00 text"
    with Book.open(trials, responses) as book:
        book.add(trial(0, strange), [strange, "same"])
        book.add(trial(1, "same"), ["same"])
    assert read_trials(trials) == [trial(0, strange), trial(1, "same")]
    assert responses.read_bytes().count(b"\n") == 2
    check_whole(read_trials(trials), read_responses(responses))
    with Book.open(trials, responses) as book:
        assert set(book.done) == {("f1", "alone", 0), ("f1", "alone", 1)}


def test_a_text_that_is_missing_or_changed_is_noticed(tmp_path: Path) -> None:
    trials, responses = tmp_path / "trials.jsonl", tmp_path / "responses.jsonl"
    with Book.open(trials, responses) as book:
        book.add(trial(0, "what came back"), ["what came back"])
    responses.write_bytes(responses.read_bytes().replace(b"what came", b"what went"))
    with pytest.raises(HashMismatch, match=r"line 1 was changed"):
        read_responses(responses)
    with pytest.raises(HashMismatch, match="lacks"):
        check_whole([trial(0, "what came back")], {})


@pytest.mark.parametrize("line", ["[]", "{}", "nonsense", '{"requests": [{"key": 1}]}'])
def test_a_line_that_is_no_trial(tmp_path: Path, line: str) -> None:
    path = tmp_path / "trials.jsonl"
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(HashMismatch, match=r"trials.jsonl line 1"):
        read_trials(path)


def test_trials_of_another_version_are_refused(tmp_path: Path) -> None:
    trials, responses = tmp_path / "trials.jsonl", tmp_path / "responses.jsonl"
    with Book.open(trials, responses) as book:
        book.add(replace(trial(0), schema="forensics/replay-trial/9"), [])
    with pytest.raises(HashMismatch, match="another version"):
        read_trials(trials)


def test_earlier_files_are_put_aside_and_never_overwritten(tmp_path: Path) -> None:
    paths = [tmp_path / "trials.jsonl", tmp_path / "responses.jsonl"]
    for number in (1, 2):
        for path in paths:
            path.write_text(str(number), encoding="utf-8")
        with Book.open(*paths, fresh=paths):
            pass
    assert sorted(path.name for path in tmp_path.glob("*.jsonl")) == [
        "responses.1.jsonl", "responses.2.jsonl", "trials.1.jsonl", "trials.2.jsonl",
    ]  # fmt: skip
    assert (tmp_path / "trials.1.jsonl").read_text() == "1"
