"""JSON lines of one process: `probe-{host}-{pid}-{number}.jsonl`, rotated by size. Knows nothing of engines.

A thread of its own encodes and writes, so that a slow disk never holds an engine up. What it cannot take is dropped
and counted, what fails is counted, and both counts stand in the file (`probe_stat`). Never raises into the caller.
"""

from __future__ import annotations

import atexit
import json
import os
import socket
import threading
import time
from collections.abc import Callable
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

SCHEMA = 1
WAITING = 100_000  # events; what comes on top is dropped
_DRAIN = 2_000
_STAT_SECONDS = 60.0
Event = dict[str, Any]


def _encoder() -> Callable[[Event], bytes]:
    try:
        import orjson
    except ImportError:
        return lambda event: json.dumps(event, separators=(",", ":")).encode()
    return lambda event: bytes(orjson.dumps(event))


class Writer:
    """Takes events from any thread of this process.

    folder: made if absent, mode 0700. max_bytes: size at which a new file is begun. keep: files of this process that
    stay, the oldest go. head: what every file tells first, beside its number.
    """

    def __init__(self, folder: Path, head: Event, max_bytes: int = 256_000_000, keep: int = 16) -> None:
        self.host, self.pid = socket.gethostname(), os.getpid()
        self.ranks: Event = {"tp": 0, "dp": 0, "pp": 0}
        self.head = head
        self.written = self.dropped = self.failed = 0
        self.errors: dict[str, int] = {}
        self.cost_ns = 0
        self._folder, self._max_bytes, self._keep = folder, max(max_bytes, 4096), max(keep, 1)
        self._encode = _encoder()
        self._queue: SimpleQueue[Event | threading.Event] = SimpleQueue()
        self._number, self._size, self._file = 0, 0, -1
        self._stat_at = time.monotonic() + _STAT_SECONDS
        self._thread = threading.Thread(target=self._work, name="slot-probe", daemon=True)
        self._thread.start()
        atexit.register(self.flush)

    def put(self, name: str, facts: Event) -> None:
        """Write the event `name`. Facts must be plain JSON values that nobody changes afterwards."""
        if os.getpid() != self.pid:
            return  # a forked child has no thread
        if self._queue.qsize() >= WAITING:
            self.dropped += 1
            return
        self._queue.put({**self._stamp(), "ev": name, **facts})

    def begin(self) -> None:
        """Begin the first file at once, so that it is seen that the probe runs."""
        self._queue.put(threading.Event())

    def count_error(self, site: str, error: BaseException) -> int:
        """Count a failure of the probe itself; how many there were at this site. Only the kind of error is kept."""
        key = f"{site}: {type(error).__name__}"
        self.errors[key] = self.errors.get(key, 0) + 1
        return self.errors[key]

    def flush(self, seconds: float = 2.0) -> None:
        """Wait until everything put so far is in the file, at most `seconds`."""
        if os.getpid() != self.pid or not self._thread.is_alive():
            return
        done = threading.Event()
        self._queue.put(done)
        done.wait(seconds)

    def _stamp(self) -> Event:
        return {
            "v": SCHEMA, "ts": round(time.time(), 6), "mono": round(time.monotonic(), 6),
            "host": self.host, "pid": self.pid, **self.ranks,
        }  # fmt: skip

    def _work(self) -> None:
        while True:
            items = [self._take(_STAT_SECONDS)]
            while len(items) < _DRAIN and not self._queue.empty():
                items.append(self._take(0))
            events = [item for item in items if isinstance(item, dict)]
            stops = [item for item in items if isinstance(item, threading.Event)]
            if stops or time.monotonic() >= self._stat_at:
                self._stat_at = time.monotonic() + _STAT_SECONDS
                events.append({**self._stamp(), "ev": "probe_stat", **self._counts()})
            self._write(events)
            for stop in stops:
                stop.set()

    def _take(self, seconds: float) -> Event | threading.Event | None:
        try:
            return self._queue.get(timeout=seconds) if seconds else self._queue.get_nowait()
        except Empty:
            return None

    def _counts(self) -> Event:
        return {
            "events": self.written, "dropped": self.dropped, "failed": self.failed, "errors": dict(self.errors),
            "cost_us": self.cost_ns // 1000,
        }  # fmt: skip

    def _write(self, events: list[Event]) -> None:
        lines: list[bytes] = []
        for event in events:
            try:
                lines.append(self._encode(event) + b"\n")
            except Exception as error:
                self.count_error("encode", error)
        waiting: list[bytes] = []
        size = 0
        for line in lines:
            if waiting and self._size + size + len(line) > self._max_bytes:
                self._append(waiting)
                waiting, size = [], 0
            waiting.append(line)
            size += len(line)
        if waiting:
            self._append(waiting)

    def _append(self, lines: list[bytes]) -> None:
        try:
            size = sum(map(len, lines))
            if self._file < 0 or self._size + size > self._max_bytes:
                self._next_file()
            self._size += os.write(self._file, b"".join(lines))
            self.written += len(lines)
        except OSError as error:
            self.failed += len(lines)
            self.count_error("write", error)

    def _next_file(self) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        path = self._path(self._number)
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        first = self._encode({**self._stamp(), "ev": "probe_start", **self.head, "file": self._number}) + b"\n"
        self._size = os.write(self._file, first)
        old = self._path(self._number - self._keep)
        self._number += 1
        old.unlink(missing_ok=True)

    def _path(self, number: int) -> Path:
        return self._folder / f"probe-{self.host}-{self.pid}-{number:04d}.jsonl"
