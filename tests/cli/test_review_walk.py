"""`forensics review` as a person uses it: keys in, decisions and their consequences out, no text unless asked for."""

from __future__ import annotations

import csv
import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from forensics.case import custody
from forensics.case.ask import ask
from forensics.case.store import Case
from forensics.cli.main import app
from forensics.cli.passages import NARROWEST
from forensics.report import run as report
from forensics.scope import run as scope
from forensics.timeline import run as timeline
from tests.support.case_builder import OTHER_SECRET, SECRET, CaseBuilder, small_case

ESCAPES = "\x1b[2J\x1b]0;owned\x07 \u202egnp\u200b [red]markup[/] ⟦mark⟧ "


def _case() -> CaseBuilder:
    """small_case with ids long enough for the command line, and a leak that tries to act on the terminal."""
    b = small_case()
    for rows in (b.fragments, b.appearances):
        for row in rows:
            row["fragment_id"] = f"F-000{row['fragment_id']}"
    source = b.request("req-e1", "alpha", 1, 2, prompt=ESCAPES + OTHER_SECRET)
    recipient = b.request("req-e2", "beta", 500, 510, response=ESCAPES + OTHER_SECRET.replace("Friday", "Sunday"))
    b.fragment("F-000e1", recipient, 0, len(ESCAPES + OTHER_SECRET), ["alpha"], [(source, "prompt")])
    return b


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("walk") / "case"
    with _case().write(root) as case:
        timeline.run(case, timeline.Parameters())
        scope.run(case, scope.Parameters())
        report.run(case, report.Parameters())
    return root


@pytest.fixture
def root(finished: Path, tmp_path: Path) -> Path:
    shutil.copytree(finished, tmp_path / "case")
    return tmp_path / "case"


def _walk(root: Path, keys: str, *options: str, columns: int = 120) -> Result:
    return CliRunner(env={"COLUMNS": str(columns), "NO_COLOR": "1"}).invoke(
        app, ["review", str(root), "--walk", *options], input=keys
    )


def _decisions(root: Path) -> list[tuple[str, str, str, str]]:
    with Case.open(root, read_only=True) as case:
        records = ask(case, "reviews").records()
    return [(row["fragment_id"], row["decision"], row["reason"], row["name"]) for row in records]


def _verdicts(root: Path) -> dict[str, str]:
    with Case.open(root, read_only=True) as case:
        return {row["fragment_id"]: row["verdict"] for row in case.table("verdicts").to_pylist()}


def test_keys_become_decisions_and_everything_follows(root: Path) -> None:
    done = _walk(root, "a\nboth read\nR. Iqbal\nr\nit is their own\nu\n=\ns\nq\n")
    assert done.exit_code == 0, done.output
    assert _decisions(root) == [
        ("F-000e1", "accept", "both read", "R. Iqbal"),
        ("F-000f1", "reject", "it is their own", "R. Iqbal"),
        ("F-000f2", "unsure", "it is their own", "R. Iqbal"),
    ]
    assert "3 decisions recorded; 2 fragments wait" in done.output
    verdicts = _verdicts(root)
    assert (verdicts["F-000e1"], verdicts["F-000f1"], verdicts["F-000f2"]) == ("confirmed", "excluded", "probable")
    rows = {row["request_id"]: row for row in csv.DictReader((root / "out/affected_requests.csv").open())}
    assert rows["req-e2"]["verdict"] == "confirmed"
    assert "req-b1" not in rows
    with Case.open(root, read_only=True) as case:
        stages = [entry.object for entry in custody.read(case.custody_path) if entry.action == "stage"]
    assert stages[-3:] == ["timeline", "scope", "report"]
    reviews = [e for e in custody.read(root / "custody.jsonl") if e.action == "review"]
    assert [e.object for e in reviews] == ["fragment F-000e1", "fragment F-000f1", "fragment F-000f2"]
    assert reviews[0].reason == "accept by R. Iqbal: both read"


def test_nothing_is_shown_and_nothing_logged_without_reveal(root: Path) -> None:
    done = _walk(root, "s\n" * 9)
    assert done.exit_code == 0
    assert "F-000f4" in done.output and "that was the last one" in done.output
    assert SECRET[:20] not in done.output and "merger" not in done.output
    assert [e.action for e in custody.read(root / "custody.jsonl")].count("reveal") == 0
    assert _decisions(root) == []


@pytest.mark.parametrize("columns", [NARROWEST - 8, 120])
def test_passages_are_shown_safely_and_each_look_is_logged(root: Path, columns: int) -> None:
    done = _walk(root, "s\nb\nq\n", "--reveal", columns=columns)
    assert done.exit_code == 0
    assert "\\x1b[2J" in done.output and "\\u202egnp\\u200b" in done.output and "[red]markup[/]" in done.output
    assert "\\u27e6mark\\u27e7" in done.output, "a mark of the text itself is no mark"
    assert not any(ord(c) < 32 and c != "\n" for c in done.output) and "\u202e" not in done.output
    flat = done.output.replace(" ", "").replace("│", "").replace("\n", "")
    assert "⟦Sun⟧day" in flat or "⟦Sunday⟧" in flat or "⟦Su⟧" in flat
    looks = [e for e in custody.read(root / "custody.jsonl") if e.action == "reveal"]
    assert [e.object for e in looks] == ["fragment F-000e1", "fragment F-000f1", "fragment F-000e1"]
    assert {e.reason for e in looks} == {"review --reveal"}


def test_two_passages_stand_side_by_side_where_there_is_room(root: Path) -> None:
    wide = _walk(root, "q\n", "--reveal").output
    assert any("recipient: req-e2" in line and "source: req-e1" in line for line in wide.split("\n"))
    narrow = _walk(root, "q\n", "--reveal", columns=60).output
    assert not any("recipient: req-e2" in line and "source: req-e1" in line for line in narrow.split("\n"))


def test_a_decision_without_reason_or_name_is_not_recorded(root: Path) -> None:
    done = _walk(root, "a\n\na\nwhy\n\na\nwhy\nR. Iqbal\nq\n", "--no-update")
    assert done.output.count("not recorded") == 2
    assert _decisions(root) == [("F-000e1", "accept", "why", "R. Iqbal")]
    assert "next: forensics scope" in done.output


def test_back_decides_again(root: Path) -> None:
    done = _walk(root, "b\na\nyes\nb\nr\nno\nq\n", "--name", "T. Weiss")
    assert "this is the first one" in done.output
    assert "recorded in this sitting: accept: yes" in done.output
    assert [row[1] for row in _decisions(root)] == ["accept", "reject"]
    assert _verdicts(root)["F-000e1"] == "excluded"


def test_wrong_keys_and_help(root: Path) -> None:
    done = _walk(root, "x\n\n?\nacc\nreason\nq\n", "--name", "T. Weiss", "--no-update")
    assert done.output.count("one of the letters") == 2
    assert "The last decision" in done.output or "the last decision counts" in done.output
    assert [row[1] for row in _decisions(root)] == ["accept"]


def test_the_end_of_input_keeps_what_was_decided(root: Path) -> None:
    done = _walk(root, "a\nwhy\n", "--name", "T. Weiss", "--no-update")
    assert done.exit_code == 0 and "end of input" in done.output
    assert len(_decisions(root)) == 1


def test_one_fragment_alone(root: Path) -> None:
    done = _walk(root, "a\nwhy\n", "F-000f3", "--name", "T. Weiss", "--no-update")
    assert done.exit_code == 0 and "1 of 1" in done.output
    assert _decisions(root)[0][0] == "F-000f3"


def test_elsewhere_it_lists_and_records_as_before(root: Path) -> None:
    runner = CliRunner()
    listed = runner.invoke(app, ["review", str(root)], input="a\n")
    assert listed.exit_code == 0 and "5 fragments wait" in listed.output
    assert runner.invoke(app, ["review", str(root), "F-000f1"]).exit_code == 2
    options = ["--decision", "accept", "--reason", "seen", "--name", "T. Weiss"]
    assert runner.invoke(app, ["review", str(root), *options]).exit_code == 2
    assert "next: forensics scope" in runner.invoke(app, ["review", str(root), "F-000f1", *options]).output
    assert _verdicts(root)["F-000f1"] == "probable"
    followed = runner.invoke(app, ["review", str(root), "F-000f1", *options, "--update"])
    assert followed.exit_code == 0 and _verdicts(root)["F-000f1"] == "confirmed"


def test_on_a_terminal_it_walks(root: Path) -> None:
    """A real terminal: the walk starts by itself, takes keys, and Ctrl-D ends it."""
    master, slave = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "forensics", "review", str(root), "--name", "T. Weiss", "--no-update"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        env={**os.environ, "NO_COLOR": "1", "TERM": "dumb"},
    )
    os.close(slave)
    screen = b""
    answers = [b"u\n", b"cannot tell\n", b"\x04"]
    prompts = [b"help > ", b"reason: ", b"help > "]
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if answers and screen.count(prompts[0]):
            screen = b""
            os.write(master, answers.pop(0))
            prompts.pop(0)
            continue
        if not select.select([master], [], [], 0.2)[0]:
            if process.poll() is not None:
                break
            continue
        try:
            screen += os.read(master, 65536)
        except OSError:  # the other side closed the terminal
            break
    assert process.wait(timeout=30) == 0
    os.close(master)
    assert answers == []
    assert _decisions(root) == [("F-000e1", "unsure", "cannot tell", "T. Weiss")]
