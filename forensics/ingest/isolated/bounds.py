"""The far side of `ingest.child`: gives up what a reader does not need, and speaks to the process that started it.

A line that begins with `{` is a record as JSON; one that begins with `!` says something of the file:
`!groups N`, `!rows N` (of the next group), `!refused REASON` (one record), `!lost REASON` (what is
left of the group), `!notice NAME COUNT`, `!end REASON`.
"""

from __future__ import annotations

import contextlib
import os
import sys

OUT_OF_MEMORY = 4
_PIECE = 1 << 20


def give_up(memory: int, seconds: int, *, alone: bool) -> None:
    """Bound memory (bytes) and CPU time; no file is written from here on.

    `alone`: nothing is opened either, no file and no socket, and no process or thread is started. Else one file at a
    time may be opened: the data of a time zone.
    """
    import resource

    limits = [
        (resource.RLIMIT_AS, memory),
        (resource.RLIMIT_CPU, seconds),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 3 if alone else 4),
    ]
    if alone:
        limits.append((resource.RLIMIT_NPROC, 0))
    for name, most in limits:
        hard = resource.getrlimit(name)[1]
        wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
        # Some systems know no bound of the address space; the readers' own bounds hold there.
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(name, (wanted, wanted))


class Speaker:
    """Lines to the process that started this one."""

    def __init__(self) -> None:
        self._held: list[bytes] = []
        self._size = 0

    def say(self, line: bytes) -> None:
        """One line."""
        self._held.append(line)
        self._size += len(line)
        if self._size >= _PIECE:
            self.flush()

    def tell(self, name: str, *values: int | str) -> None:
        """One message."""
        self.say(" ".join((f"!{name}", *map(str, values))).encode())

    def flush(self) -> None:
        """Send what is held."""
        if self._held:
            sys.stdout.buffer.write(b"\n".join(self._held) + b"\n")
            sys.stdout.buffer.flush()
        self._held, self._size = [], 0


def leave(code: int) -> None:
    """End at once, without taking anything apart."""
    os._exit(code)
