"""Records out of a reader that runs in a process of its own, so that no file can harm, fill or end this one.

The process gets the file as its standard input, an empty environment and limits; it answers with lines. Whatever it
does, the bytes of the file are dealt out once among its records.
"""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from forensics.ingest.blocks import Oversized
from forensics.ingest.files import stretch_digest
from forensics.ingest.isolated.bounds import OUT_OF_MEMORY
from forensics.ingest.record import FileContext
from forensics.ingest.streams import Limits, StreamEnd
from forensics.ingest.units import Unit

_ROOT = str(Path(__file__).resolve().parents[2])
_START = (
    "import sys, json; sys.path += [path for path in json.loads(sys.argv.pop(1)) if path not in sys.path]; "
    "from forensics.ingest.isolated.{} import main; main(sys.argv[1:])"
)
# What a reader may say of a record or a file; anything else counts as damage.
REASONS = (
    "bad_container",
    "encrypted_container",
    "memory",
    "oversized_line",
    "repeated_column",
    "too_deep",
    "unreadable_entry",
)
LIMITS = ("ratio", "size", "memory")
NOTICES = ("bad_bytes", "no_json_form")


def missing() -> str | None:
    """A sentence where processes cannot be bounded here."""
    if importlib.util.find_spec("resource") is None:
        return "a file that is read in a bounded process only, and this system has no such bounds"
    return None


def units(
    module: str, path: Path, size: int, limits: Limits, context: FileContext, *, libraries: bool
) -> Iterator[Unit | Oversized]:
    """The records that `isolated.<module>` finds in a file. With `libraries` it may import what is installed."""
    dealt = _Dealt(size)
    reason: str | None = None
    try:
        for line in _lines(module, path, size, limits, context.max_line_bytes, libraries=libraries):
            if line[:1] == b"{":
                yield dealt.unit(line)
                continue
            name, *values = line.decode("ascii", "replace").removeprefix("!").split(" ")
            if name == "refused":
                yield dealt.unit(b"", _known(values))
            elif name == "lost":
                start, length = dealt.rest()
                yield Oversized(start, length, _known(values), stretch_digest(path, start, length), 1)
            elif name == "groups":
                dealt.groups = _number(values)
            elif name == "rows":
                dealt.begin(_number(values))
            elif name == "notice" and values[:1] and values[0] in NOTICES:
                context.notice(values[0], min(_number(values[1:]), 1_000_000))
            elif name == "end":
                reason = _known(values)
                break
    except StreamEnd as end:
        reason = end.reason
    left = size - dealt.position
    if reason is not None and (left or reason in LIMITS):
        # A limit makes the run partial, and the stretch counts no line then.
        lines = 0 if reason in LIMITS else 1
        yield Oversized(dealt.position, left, reason, stretch_digest(path, dealt.position, left), lines)
    elif left:
        yield Unit(b"", dealt.position, left, dealt.row, 0, structure=True)


class _Dealt:
    """The bytes of a file, dealt out evenly: among its groups, and within each among its rows."""

    def __init__(self, size: int) -> None:
        self._size = size
        self.groups = 1
        self.position = 0
        self.row = 0
        self._group = -1
        self._rows = self._within = 0

    def begin(self, rows: int) -> None:
        """The next group, of `rows` rows."""
        self._group += 1
        self._rows, self._within = rows, 0

    def unit(self, data: bytes, reason: str | None = None) -> Unit:
        """The next row."""
        self._within = min(self._within + 1, max(self._rows, 1))
        parts = max(self.groups, 1) * max(self._rows, 1)
        end = min(self._size, self._size * (max(self._group, 0) * max(self._rows, 1) + self._within) // parts)
        end = max(end, self.position)
        made = Unit(data, self.position, end - self.position, self.row, 1, reason=reason)
        self.position = end
        self.row += 1
        return made

    def rest(self) -> tuple[int, int]:
        """Where what is left of the group begins, and its bytes."""
        start = self.position
        self.position = max(start, min(self._size, self._size * (self._group + 1) // max(self.groups, 1)))
        return start, self.position - start


def _known(values: list[str]) -> str:
    return values[0] if values and values[0] in REASONS else "bad_container"


def _number(values: list[str]) -> int:
    return int(values[0]) if values and values[0].isdecimal() and len(values[0]) < 20 else 0


def _lines(module: str, path: Path, size: int, limits: Limits, longest: int, *, libraries: bool) -> Iterator[bytes]:
    """The reader's lines. Raises StreamEnd where it ends otherwise than well, or says too much."""
    # Started apart from everything, it knows the standard library alone, and that comes first.
    paths = [_ROOT, *sys.path] if libraries else [_ROOT]
    command = [sys.executable, "-I", "-S", "-c", _START.format(module), json.dumps(paths), str(size), str(longest)]
    with path.open("rb") as file:
        process = subprocess.Popen(  # noqa: S603
            command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env={"LC_ALL": "C.UTF-8"}, cwd="/"
        )
    assert process.stdout is not None
    try:
        yield from _bounded(process.stdout, size, limits, longest)
        code = process.wait()
        if code:
            raise StreamEnd("memory" if code == OUT_OF_MEMORY else "bad_container")
    finally:
        process.kill()
        process.stdout.close()
        process.wait()


def _bounded(source: IO[bytes], size: int, limits: Limits, longest: int) -> Iterator[bytes]:
    out = 0
    while line := source.readline(longest + 100):
        if not line.endswith(b"\n"):
            raise StreamEnd("bad_container")
        out += len(line)
        limits.take(len(line), out, size)
        yield line[:-1]
