"""The fault plugin's own account of what it did and of every forward pass: the truth that findings are held against.

`FAULT_LOG`: a file of JSON lines, written by all processes of the engine, a whole line at a time. `FAULT_SWITCH`: a
file that names the fault that may happen now; absent or empty, none may.
"""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

_LOG = os.environ.get("FAULT_LOG", "faults.jsonl")
_SWITCH = os.environ.get("FAULT_SWITCH", "")


def note(fact: str, **facts: Any) -> None:
    """One line: what happened, and when (Unix seconds)."""
    line = json.dumps({"fact": fact, "at": round(time.time(), 6), **facts}, separators=(",", ":")) + "\n"
    file = os.open(_LOG, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)


def switched_on(fault: str) -> bool:
    """Whether this fault may happen now."""
    try:
        return bool(_SWITCH) and Path(_SWITCH).read_text(encoding="utf-8") == fault
    except OSError:
        return False


def tenant(rid: str) -> str:
    """The tenant in an id such as `norvik-0012`."""
    return rid.rsplit("-", 1)[0]


class Forwards:
    """Who was in which row in every forward pass, seen where attention reads the rows.

    A pass that repeats the one before, one token on, is counted in `times` of the line that comes after the last.
    """

    def __init__(self) -> None:
        self.number = 0
        self._last: dict[str, Any] | None = None

    def see(self, mode: str, batch: Any) -> None:
        """A pass begins; `batch` is the engine's ForwardBatch."""
        self.number += 1
        rows = [[rid, int(slot)] for rid, slot in zip(batch.rids, batch.req_pool_indices.tolist(), strict=True)]
        lengths = batch.seq_lens.tolist()
        last = self._last
        if last is not None and mode == "decode" and last["mode"] == mode and last["rows"] == rows:
            last["last"] = self.number
            return
        self.end()
        self._last = {"first": self.number, "last": self.number, "mode": mode, "rows": rows, "lengths": lengths}

    def end(self) -> None:
        """Write the last pass down, or the last run of equal passes."""
        if self._last is not None:
            note("forward", **self._last)
            self._last = None
