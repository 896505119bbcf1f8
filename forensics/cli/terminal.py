"""How does a verb's result reach the user? One place that prints, and one that turns errors into exit codes.

stdout carries the result, stderr progress and log. With `--json` stdout is one object
`{schema, case, ok, data, warnings}`. Verbs build a `Result` and print nothing themselves.
"""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from forensics.case.errors import ForensicsError, LimitHit, UsageError
from forensics.cli.interruption import interruptible
from forensics.text.safe_text import safe_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

SCHEMA_VERSION = "1.0"
INTERRUPTED = 130
INTERNAL = 1
OTHER_SCHEMA = ("CatalogException", "BinderException")  # a table or a column that is not there
PIPE_WIDTH = 100  # columns where stdout is no terminal and COLUMNS is not set
BYTES_LABELS = ("ingest", "attribution: attribute")  # steps whose progress is counted in bytes
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Result:
    """What a verb leaves: `data` for `--json`, `human` for people, an exit code where it is not 0.

    `human` is called only when people read, and yields Rich renderables (imported there, not here). `notes` are those
    of the `warnings` that call for nothing: people read them before the result, as notes.
    """

    data: Any
    human: Callable[[], Iterable[RenderableType]]
    warnings: tuple[str, ...] = ()
    exit_code: int = 0
    ok: bool = True
    notes: tuple[str, ...] = ()


@dataclass
class Terminal:
    """The two streams and how much to say on them."""

    json: bool = False
    quiet: bool = False
    verbose: int = 0

    def log(self, line: str) -> None:
        """One line on stderr, unless `--quiet`."""
        if not self.quiet:
            print(safe_text(line), file=sys.stderr, flush=True)

    @contextmanager
    def progress(self) -> Iterator[Progress]:
        """A progress callback: a bar with amount, rate and ETA on a terminal, one line per step elsewhere."""
        if self.quiet:
            yield _silent
        elif sys.stderr.isatty():
            with _bars() as show:
                yield show
        else:
            yield _Lines(self).show


def perform(
    verb: str,
    case: Path | str | None,
    work: Callable[[Terminal], Result],
    *,
    json_output: bool,
    quiet: bool = False,
    verbose: int = 0,
) -> None:
    """Run a verb's `work`, print its result and leave with its exit code. Never returns on failure."""
    terminal = Terminal(json_output, quiet, verbose)
    name = None if case is None else str(case)
    try:
        with interruptible():
            result = work(terminal)
        _print_result(terminal, verb, name, result)
        code = result.exit_code
    except typer.Exit:
        raise
    except BrokenPipeError:
        sys.stderr.close()  # the reader went away; nothing is left to say
        code = INTERNAL
    except (Exception, KeyboardInterrupt) as error:
        if is_interruption(error):
            text = "interrupted; finished stages are kept, the same command resumes: it goes on from there"
            code = _fail(terminal, verb, name, "Interrupted", text, INTERRUPTED)
        elif isinstance(error, ForensicsError):
            code = _fail(terminal, verb, name, type(error).__name__, str(error), error.exit_code)
        else:
            code = _unexpected(terminal, verb, name, error)
    raise typer.Exit(code)


def is_interruption(error: BaseException) -> bool:
    """Whether an exception is Ctrl-C, or a library's wrapping of it.

    Libraries that run compiled code (DuckDB, numba) swallow KeyboardInterrupt and raise something of their own.
    """
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        link = waiting.pop()
        if link is None or id(link) in seen:
            continue
        seen.add(id(link))
        if isinstance(link, KeyboardInterrupt) or type(link).__name__ == "InterruptException":
            return True
        # DuckDB's own exception where it notices the signal between two tasks: a plain RuntimeError with no cause.
        if type(link) is RuntimeError and str(link) == "Query interrupted":
            return True
        waiting += [link.__cause__, link.__context__]
    return False


def console(*, stderr: bool = False) -> Console:
    """A Rich console that treats text as text: no markup, no emoji codes, no highlighting."""
    from rich.console import Console

    stream = sys.stderr if stderr else sys.stdout
    # Rich itself reads COLUMNS; what it takes for a pipe without it (80) is narrower than need be.
    width = None if stream.isatty() or os.environ.get("COLUMNS", "").isdigit() else PIPE_WIDTH
    return Console(stderr=stderr, markup=False, emoji=False, highlight=False, width=width)


def _print_result(terminal: Terminal, verb: str, case: str | None, result: Result) -> None:
    if terminal.json:
        _print_json(verb, case, result.ok, result.data, result.warnings)
        return
    if result.notes and not terminal.quiet:
        from forensics.cli.render import text

        err = console(stderr=True)
        for note in result.notes:
            err.print(text(f"note: {note}"))
    out = console()
    for renderable in result.human():
        out.print(renderable, crop=False)  # an id that is wider than the window is wrapped by it, not cut
    for warning in result.warnings:
        if warning not in result.notes:
            terminal.log(f"warning: {warning}")


def _print_json(verb: str, case: str | None, ok: bool, data: Any, warnings: Iterable[str]) -> None:
    envelope = {
        "schema": f"forensics.{verb.replace(' ', '.')}/{SCHEMA_VERSION}",
        "case": case,
        "ok": ok,
        "data": data,
        "warnings": list(warnings),
    }
    # ASCII escapes keep every control and direction character of a log out of the terminal, losslessly.
    print(json.dumps(envelope, ensure_ascii=True, indent=2, default=_json_value), flush=True)


def _json_value(value: object) -> str:
    """What JSON has no form for: times (in a case always UTC) as ISO 8601 with Z, paths as text."""
    return value.isoformat(timespec="microseconds") + "Z" if isinstance(value, datetime) else str(value)


def _fail(terminal: Terminal, verb: str, case: str | None, kind: str, message: str, code: int) -> int:
    if terminal.json:
        _print_json(verb, case, False, {"error": {"kind": kind, "message": message, "exit_code": code}}, ())
    print(f"forensics: {safe_text(message)}", file=sys.stderr, flush=True)
    return code


def _unexpected(terminal: Terminal, verb: str, case: str | None, error: BaseException) -> int:
    """Class and place only: the message of an unknown exception may quote a log."""
    if type(error).__name__ == "OutOfMemoryException" or isinstance(error, MemoryError):
        text = "the memory limit was hit; raise --memory. Finished stages are kept"
        return _fail(terminal, verb, case, "LimitHit", text, LimitHit.exit_code)
    if type(error).__name__ in OTHER_SCHEMA and case is not None:
        text = (
            "the case lacks a table or a column that this version of forensics reads: another version made it. Make a "
            "new case of the same evidence with `forensics run`, or read this one with the version in its manifest.json"
        )
        return _fail(terminal, verb, case, "UsageError", text, UsageError.exit_code)
    if isinstance(error, OSError) and error.strerror:
        text = f"the system refused a file operation: {error.strerror}"
        return _fail(terminal, verb, case, type(error).__name__, text, INTERNAL)
    frames = traceback.extract_tb(error.__traceback__)
    places = [f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}" for frame in frames]
    text = f"internal error: {type(error).__name__} at {places[-1] if places else 'an unknown place'}"
    if terminal.verbose:
        text += "\n" + "\n".join(f"  {place}" for place in places)
    else:
        text += " (-v shows the way there)"
    for line in text.split("\n")[1:]:
        terminal.log(line)
    return _fail(terminal, verb, case, type(error).__name__, text.split("\n", maxsplit=1)[0], INTERNAL)


def _silent(label: str, done: int, total: int) -> None:
    """Progress that nobody sees."""


class _Lines:
    """Progress where there is no terminal: the name of each step once, with its seconds."""

    def __init__(self, terminal: Terminal) -> None:
        self.terminal = terminal
        self.label = ""
        self.since = time.monotonic()

    def show(self, label: str, done: int, total: int) -> None:
        if label != self.label:
            self.terminal.log(f"[{time.monotonic() - self.since:7.1f} s] {label}")
            self.label = label


@contextmanager
def _bars() -> Iterator[Progress]:
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        MofNCompleteColumn,
        ProgressColumn,
        TaskID,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.progress import Progress as Bars
    from rich.text import Text

    class Amount(ProgressColumn):
        """Bytes with their rate for steps that read files, counts for the others."""

        in_bytes = DownloadColumn()
        rate = TransferSpeedColumn()
        counts = MofNCompleteColumn()

        def render(self, task: Any) -> Text:
            if not task.fields["bytes"]:
                return self.counts.render(task)
            return Text.assemble(self.in_bytes.render(task), "  ", self.rate.render(task))

    tasks: dict[str, TaskID] = {}
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), Amount(), TimeRemainingColumn())
    with Bars(*columns, console=console(stderr=True)) as bars:

        def show(label: str, done: int, total: int) -> None:
            if label not in tasks:
                in_bytes = label.lower().startswith(BYTES_LABELS)
                tasks[label] = bars.add_task(safe_text(label), total=total or None, bytes=in_bytes)
            bars.update(tasks[label], completed=done, total=total or None)

        yield show
