"""Memory that a process and its children hold together while they run.

Not by `getrusage`: what it says of a child begins at the peak of the process that started it, and is the largest of
all children so far, so that a test would measure its neighbours.
"""

from __future__ import annotations

import subprocess
import threading

import psutil

INTERVAL = 0.02  # seconds; a peak between two looks is missed


class Watched:
    """Looks at a running process and its descendants; `peak` is the largest sum of resident bytes seen."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.peak = 0
        self._process = psutil.Process(process.pid)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Watched:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._over.wait(INTERVAL):
            try:
                tree = [self._process, *self._process.children(recursive=True)]
                self.peak = max(self.peak, sum(one.memory_info().rss for one in tree))
            except psutil.NoSuchProcess:
                continue
