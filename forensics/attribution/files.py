"""Files that a run writes for itself: what does not fit into memory. They have no name, so that nothing stays."""

from __future__ import annotations

import os
import tempfile
from io import FileIO
from pathlib import Path


def nameless(folder: Path) -> FileIO:
    """A file that is gone when it is closed, or when the process ends in whatever way; readable by nobody else."""
    file, name = tempfile.mkstemp(dir=folder, prefix="run-")
    Path(name).unlink()
    return FileIO(file, "r+")


def write_all(file: FileIO, data: memoryview, at: int) -> None:
    """Write all of `data` at byte `at`."""
    while data.nbytes:
        done = os.pwrite(file.fileno(), data, at)
        data, at = data[done:], at + done


def read_all(file: FileIO, data: memoryview, at: int) -> None:
    """Fill `data` from byte `at` on."""
    while data.nbytes:
        done = os.preadv(file.fileno(), [data], at)
        if done <= 0:
            raise OSError("a file of the run ended early")
        data, at = data[done:], at + done
