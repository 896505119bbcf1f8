"""The command line's contract: streams, JSON, exit codes, and a help that answers at once."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from forensics import __version__
from forensics.case.errors import MissingInput
from forensics.cli.reference import commands

HEAVY = ("duckdb", "polars", "numba", "pyarrow", "datasketch", "scipy", "matplotlib", "numpy", "jinja2", "rapidfuzz")
VERBS = [name.removeprefix("forensics ") for name, _ in commands()]


def forensics(*arguments: object, text: str | None = None, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "forensics", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        input=text,
        check=False,
        cwd=cwd,
    )


def test_the_verbs_of_the_contract_are_there() -> None:
    assert set(VERBS) == {
        *"run demo ingest attribute timeline scope report controls trace explain ask review evaluate simulate".split(),
        *("notify draft", "notify check", "notify release", "case verify", "case export", "case seal", "case destroy"),
        *("replay plan", "replay run", "replay score", "profile test", "profile list"),
        *("reference add", "reference list", "reference remove"),
    }


def test_help_loads_no_engine() -> None:
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "forensics", "--help"], capture_output=True, text=True, check=True
    )
    loaded = {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in done.stderr.split("\n") if "|" in line}
    assert "typer" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_help_answers_in_half_a_second() -> None:
    times = []
    for _ in range(5):
        started = time.process_time_ns()
        before = os.times()
        forensics("--help")
        after = os.times()
        times.append(after.children_user + after.children_system - before.children_user - before.children_system)
        assert time.process_time_ns() >= started
    assert min(times) < 0.5  # processor seconds: a busy machine does not fail it


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(verb: str) -> None:
    done = forensics(*verb.split(), "--help")
    assert done.returncode == 0
    assert "Usage" in done.stdout


def test_version() -> None:
    assert forensics("--version").stdout == f"forensics {__version__}\n"


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("run",), 2),
        (("ask", "CASE", "--format", "xml"), 2),
        (("nonsense",), 2),
        (("run", "x", "--case", "y", "--memory", "much"), 2),
        (("run", "x", "--case", "y", "--memory", "1M"), 2),
        (("review", "none", "F-0001", "--reason", "r", "--name", "n"), 2),
        (("run", "none.jsonl", "--case", "new"), 10),
        (("ask", "none", "affected-requests"), 10),
        (("case", "verify", "none"), 10),
        (("explain", "none", "F-0001"), 10),
        (("trace", "none", "--text", "none.txt"), 10),
        (("attribute", "none"), 10),
        (("report", "none"), 10),
        (("evaluate", "none", "truth.jsonl"), 10),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, tuple) else str(value),
)
def test_exit_codes_of_wrong_calls(arguments: tuple[str, ...], code: int, tmp_path: Path) -> None:
    done = forensics(*arguments, cwd=tmp_path)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr


def test_an_open_case_is_refused(tmp_path: Path) -> None:
    from forensics.case.store import Case

    with Case.create(tmp_path / "case"):
        pass
    (tmp_path / "case").chmod(0o755)
    done = forensics("ask", tmp_path / "case", "evidence")
    assert done.returncode == 13
    assert "chmod 700" in done.stderr


def _envelope(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    envelope = json.loads(done.stdout)
    assert list(envelope) == ["schema", "case", "ok", "data", "warnings"]
    assert re.fullmatch(r"forensics\.[a-z.]+/1\.\d+", envelope["schema"])
    assert isinstance(envelope["warnings"], list)
    return envelope


def _record(number: int, tenant: str, prompt: str, answer: str) -> dict[str, Any]:
    return {
        "request_id": f"req-{number}",
        "tenant_id": tenant,
        "timestamp": f"2026-05-11T06:{number:02d}:00Z",
        "finished_at": f"2026-05-11T06:{number:02d}:30Z",
        "worker": "w0",
        "model": "glm-5.3",
        "request": {"messages": [{"role": "user", "content": prompt}]},
        "response": {"choices": [{"index": 0, "message": {"role": "assistant", "content": answer}}]},
    }


SECRET = "transfer 8812-5540-7731 for Wilhelmina Szczepanska was moved on the ninth to the Reykjavik harbour office, box 41177"


@pytest.fixture(scope="module")
def incident(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Logs of four calls, one of which leaks, and the case that `run` made of them."""
    folder = tmp_path_factory.mktemp("incident")
    records = [
        _record(1, "acme", f"Please check: {SECRET}.", "Checked; the transfer is complete."),
        _record(2, "globex", "What will the weather be?", f"Mild and dry. {SECRET}. Enjoy the day."),
        _record(3, "initech", "Write a haiku about rain.", "Rain taps on the roof, a quiet clerk counting hours."),
        _record(4, "globex", "Thanks!", "You are welcome."),
    ]
    (folder / "log.jsonl").write_text("".join(json.dumps(item) + "\n" for item in records))
    done = forensics("run", folder / "log.jsonl", "--case", folder / "case", "--json")
    assert done.returncode == 0, done.stderr
    (folder / "run.json").write_text(done.stdout)
    return folder


def test_run_reports_what_it_examined_and_found(incident: Path) -> None:
    envelope = json.loads((incident / "run.json").read_text())
    seen = envelope["data"]["overview"]
    assert (seen["requests"], seen["tenants"], seen["rejected"]) == (4, 3, 0)
    assert [stage["stage"] for stage in envelope["data"]["stages"]] == [
        "ingest", "attribution", "timeline", "scope", "report",
    ]  # fmt: skip


def test_run_again_skips_everything_and_changes_no_byte(incident: Path) -> None:
    files = [path for folder in ("out", "report", "notify") for path in (incident / "case" / folder).rglob("*")]
    before = {path: path.read_bytes() for path in files if path.is_file()}
    done = forensics("run", incident / "log.jsonl", "--case", incident / "case", "--json")
    assert done.returncode == 0
    assert all(stage["skipped"] for stage in json.loads(done.stdout)["data"]["stages"])
    assert {path: path.read_bytes() for path in before} == before


def test_run_elsewhere_gives_the_same_lists(incident: Path, tmp_path: Path) -> None:
    forensics("run", incident / "log.jsonl", "--case", tmp_path / "case", "--quiet")
    for name in (
        "fragments.jsonl",
        "affected_requests.csv",
        "affected_possible.csv",
        "affected_tenants.csv",
        "numbers.json",
    ):
        assert (tmp_path / "case/out" / name).read_bytes() == (incident / "case/out" / name).read_bytes()


def test_run_ends_with_the_box(incident: Path) -> None:
    done = forensics("run", incident / "log.jsonl", "--case", incident / "case", "--quiet")
    for heading in ("examined", "could not be examined", "found", "what this does not prove", "files", "next"):
        assert heading in done.stdout
    assert done.stderr == ""


def test_one_of_a_thing_is_singular(incident: Path) -> None:
    done = forensics("run", incident / "log.jsonl", "--case", incident / "case", "--quiet")
    assert "from 1 file with" in done.stdout
    assert not re.search(r"\b1 (files|requests|tenants|affected requests|records)\b", done.stdout)
    assert "1 evidence file," in forensics("case", "verify", incident / "case").stdout


def test_fail_on(incident: Path) -> None:
    evidence = ("run", incident / "log.jsonl", "--case", incident / "case", "--json", "--fail-on")
    assert forensics(*evidence, "possible").returncode == 3
    assert forensics(*evidence, "confirmed").returncode == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("ask", "CASE", "affected-requests"),
        ("ask", "CASE", "--list"),
        ("review", "CASE"),
        ("case", "verify", "CASE"),
        ("attribute", "CASE"),
        ("timeline", "CASE"),
        ("scope", "CASE"),
        ("report", "CASE"),
        ("notify", "draft", "CASE"),
        ("notify", "check", "CASE"),
        ("trace", "CASE", "--text", "PASSAGE"),
    ],
    ids=lambda value: "-".join(value),
)
def test_json_is_one_object_and_nothing_else(incident: Path, arguments: tuple[str, ...]) -> None:
    (incident / "passage.txt").write_text(SECRET)
    paths = {"CASE": incident / "case", "PASSAGE": incident / "passage.txt"}
    done = forensics(*(paths.get(part, part) for part in arguments), "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    envelope = _envelope(done)
    assert envelope["ok"] is True
    assert envelope["case"] == str(incident / "case")
    assert done.stderr == ""


def test_trace_reads_stdin_and_prints_no_text(incident: Path) -> None:
    done = forensics("trace", incident / "case", text=SECRET.upper())
    assert "req-1" in done.stdout and "req-2" in done.stdout and "req-3" not in done.stdout
    assert "szczepanska" not in done.stdout.lower()


def _copied(incident: Path, folder: Path) -> Path:
    """The case of the incident, to be changed."""
    shutil.copytree(incident / "case", folder / "case")
    return folder / "case"


def test_review_then_scope_confirms(incident: Path, tmp_path: Path) -> None:
    case = _copied(incident, tmp_path)
    strong = [
        f
        for f in json.loads(forensics("review", case, "--json").stdout)["data"]["waiting"]
        if f["verdict"] == "probable"
    ]
    if not strong:
        pytest.skip("no probable fragment in so small a case")
    decision = ("--decision", "accept", "--reason", "compared both", "--name", "R. Iqbal")
    assert forensics("review", case, strong[0]["fragment_id"], *decision).returncode == 0
    assert forensics("scope", case).returncode == 0
    assert forensics("report", case).returncode == 0
    rows = json.loads(forensics("ask", case, "affected-requests", "--format", "json").stdout)["data"]["rows"]
    assert "confirmed" in {row["verdict"] for row in rows}
    assert forensics("case", "verify", case).returncode == 0


def test_verify_fails_on_a_changed_output(incident: Path, tmp_path: Path) -> None:
    case = _copied(incident, tmp_path)
    with (case / "out/affected_requests.csv").open("a") as file:
        file.write("req-9\n")
    done = forensics("case", "verify", case, "--json")
    assert done.returncode == 12
    assert _envelope(done)["ok"] is False
    assert [p["subject"] for p in json.loads(done.stdout)["data"]["problems"]] == ["out/affected_requests.csv"]


def test_an_unknown_error_shows_its_class_and_place_only(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    import typer

    from forensics.cli.terminal import perform

    def work(_: object) -> Any:
        raise ValueError("the text of a log")

    for options in ({}, {"verbose": 2}, {"quiet": True}):
        with pytest.raises(typer.Exit) as left:
            perform("demo", None, work, json_output=True, **options)
        shown = capsys.readouterr()
        assert left.value.exit_code == 1
        assert "ValueError" in shown.err and "the text of a log" not in shown.err + shown.out


def test_an_interruption_says_how_to_go_on(capsys: Any) -> None:
    import typer

    from forensics.cli.terminal import perform

    def work(_: object) -> Any:
        raise KeyboardInterrupt

    with pytest.raises(typer.Exit) as left:
        perform("run", "case", work, json_output=False)
    assert left.value.exit_code == 130
    assert "goes on" in capsys.readouterr().err


def _interrupted(work: Callable[[Any], Any], capsys: Any) -> tuple[int, str]:
    import typer

    from forensics.cli.terminal import perform

    with pytest.raises(typer.Exit) as left:
        perform("run", "case", work, json_output=False)
    return left.value.exit_code, capsys.readouterr().err


def _wrapped_as_cause(_: object) -> Any:
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt as error:
        raise SystemError("a kernel") from error


def _wrapped_as_context(_: object) -> Any:
    try:
        raise KeyboardInterrupt
    except KeyboardInterrupt:
        try:
            raise ValueError("on the way out")
        except ValueError:
            raise MissingInput("what a stage made of it") from None


def _database(_: object) -> Any:
    import duckdb

    raise duckdb.InterruptException("INTERRUPT Error: Interrupted!")


@pytest.mark.parametrize("work", [_wrapped_as_cause, _wrapped_as_context, _database])
def test_an_interruption_that_a_library_wrapped_is_one(work: Callable[[Any], Any], capsys: Any) -> None:
    code, shown = _interrupted(work, capsys)
    assert code == 130
    assert "the same command resumes" in shown and "internal error" not in shown


def test_an_error_without_an_interruption_is_none(capsys: Any) -> None:
    def work(_: object) -> Any:
        raise RuntimeError("another")

    assert _interrupted(work, capsys)[0] == 1


def test_times_in_json_are_marked_as_utc(incident: Path) -> None:
    done = forensics("trace", incident / "case", "--json", text=SECRET)
    times = {item["received_at"] for item in json.loads(done.stdout)["data"]["holders"]}
    assert times == {"2026-05-11T06:01:00.000000Z"}


def test_an_unknown_request_is_named_as_such(incident: Path) -> None:
    for question in ("request", "fragments-of-request"):
        done = forensics("ask", incident / "case", question, "-p", "request=unknown")
        assert done.returncode == 0
        assert "no request with that id in this case" in done.stderr
    assert (
        "no request with"
        not in forensics("ask", incident / "case", "exclusions-of-request", "-p", "request=req-3").stderr
    )


def test_a_long_answer_is_cut_as_a_table_only(tmp_path: Path) -> None:
    good = json.dumps(_record(1, "acme", "What is the time?", "Noon."))
    (tmp_path / "log.jsonl").write_text(good + "\n" + "".join(f"broken {n}\n" for n in range(230)))
    assert forensics("ingest", tmp_path / "log.jsonl", "--case", tmp_path / "case").returncode == 0
    question = ("ask", tmp_path / "case", "rejects")
    shown = forensics(*question).stdout
    assert shown.rstrip().split("\n")[-1] == "30 more; use --format csv or json"
    assert shown.count("bad_json") == 200
    assert forensics(*question, "--format", "csv").stdout.count("bad_json") == 230
    assert len(json.loads(forensics(*question, "--format", "json").stdout)["data"]["rows"]) == 230


def test_notes_come_before_the_result_and_warnings_after(capsys: Any) -> None:
    import typer

    from forensics.cli.render import text
    from forensics.cli.terminal import Result, perform

    seen: list[str] = []

    def human() -> Any:
        seen.append(capsys.readouterr().err)
        yield text("the result")

    result = Result({}, human, ("it matters", "only so you know"), notes=("only so you know",))
    with pytest.raises(typer.Exit):
        perform("run", None, lambda _: result, json_output=False)
    assert seen == ["note: only so you know\n"]
    assert capsys.readouterr().err == "warning: it matters\n"


def test_a_poor_terminal_and_an_odd_file_name_do_no_harm(incident: Path, tmp_path: Path) -> None:
    odd = tmp_path / os.fsdecode(b"log-\xff-\x1b[31m.jsonl")
    odd.write_bytes((incident / "log.jsonl").read_bytes())
    command = [sys.executable, "-m", "forensics", "ingest", str(odd), "--case", str(tmp_path / "case")]
    poor = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, env=poor, check=False)
    assert done.returncode == 0, done.stderr
    assert b"\x1b" not in done.stdout + done.stderr


def test_memory_sizes() -> None:
    from forensics.case.errors import UsageError
    from forensics.cli.options import memory_bytes

    assert [memory_bytes(size) for size in ("2G", "512M", "1.5GiB", "300000000", "1gb")] == [
        2 << 30, 512 << 20, 3 << 29, 300_000_000, 1 << 30,
    ]  # fmt: skip
    for wrong in ("", "G", "2X", "-1G", "nan", "1e999G", "100M"):
        with pytest.raises(UsageError):
            memory_bytes(wrong)


def test_progress_is_a_bar_on_a_terminal_and_lines_elsewhere(incident: Path, tmp_path: Path) -> None:
    import pty

    leader, follower = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "forensics",
        "ingest",
        str(incident / "log.jsonl"),
        "--case",
        str(tmp_path / "case"),
    ]
    with subprocess.Popen(command, stderr=follower, stdout=subprocess.PIPE) as process:
        os.close(follower)
        shown = b""
        try:
            while piece := os.read(leader, 4096):
                shown += piece
        except OSError:
            pass  # the other end is closed
        out = process.stdout.read() if process.stdout else b""
    os.close(leader)
    assert process.returncode == 0
    assert b"\x1b[" in shown and b"ingest" in shown and b" kB" in shown
    assert b"\x1b[" not in out and b"log.jsonl" in out
    elsewhere = forensics("ingest", incident / "log.jsonl", "--case", tmp_path / "other")
    assert "\x1b[" not in elsewhere.stderr and "ingest" in elsewhere.stderr


@pytest.mark.parametrize(("value", "code"), [("0.5.18", 10), ("0.5.10.post1", 10), ("newest", 2), ("0.5; drop", 2)])
def test_the_release_of_the_engine_is_checked(tmp_path: Path, value: str, code: int) -> None:
    """A right one goes on to the case, which is not there."""
    assert forensics("timeline", tmp_path / "none", "--engine-version", value).returncode == code
