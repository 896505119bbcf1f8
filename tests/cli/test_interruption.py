"""Ctrl-C while the database works ends the verb at once, whichever thread has the work."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from forensics.case.store import Case, Resources, interrupt_queries
from forensics.cli.terminal import perform

ENDLESS = "SELECT sum(a.range * b.range) FROM range(1000000) a, range(1000000) b"


@pytest.fixture(autouse=True)
def _handler() -> Iterator[None]:
    # A shell starts what runs in its background with this signal ignored, and Python leaves that as it is.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_signal_stops_a_query(threads: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # Without the watcher, one in eight goes on for ever with two threads.
    for number in range(1 if threads == 1 else 12):

        def work(_: object, number: int = number) -> Any:
            with Case.create(tmp_path / str(number), Resources(threads=threads)) as case:
                threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
                case._connection.execute(ENDLESS).fetchall()

        with pytest.raises(typer.Exit) as left:
            perform("run", "case", work, json_output=False)
        assert left.value.exit_code == 130
        assert "the same command resumes" in capsys.readouterr().err


def test_a_query_can_be_stopped_from_another_thread_and_the_case_goes_on(tmp_path: Path) -> None:
    with Case.create(tmp_path / "case") as case:
        timer = threading.Timer(0.1, interrupt_queries)
        timer.start()
        with pytest.raises(Exception, match=r"(?i)interrupt"):
            case._connection.execute(ENDLESS).fetchall()
        timer.join()
        assert case.count("evidence") == 0


def test_a_verb_in_another_thread_is_left_alone(capsys: pytest.CaptureFixture[str]) -> None:
    codes: list[int] = []

    def run() -> None:
        try:
            perform("run", None, lambda _: (_ for _ in ()).throw(KeyboardInterrupt), json_output=False)
        except typer.Exit as left:
            codes.append(left.exit_code)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert codes == [130]
