"""Does Ctrl-C stop a verb at once? While the database works, Python may not run: a query is stopped from beside it.

DuckDB looks for signals only between the tasks that the calling thread does itself. Where another thread has the only
task, the caller waits for it and a signal goes unheard until the query ends (about one time in eight with two
threads). So the signal's number is written to a socket, and a thread that reads it interrupts the cases' queries.
"""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread, current_thread, main_thread

_END = b"\0"


@contextmanager
def interruptible() -> Iterator[None]:
    """Ctrl-C stops queries of open cases as well as Python. Does nothing outside the main thread."""
    if current_thread() is not main_thread():
        yield
        return
    reader, writer = socket.socketpair()
    writer.setblocking(False)
    before = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    watcher = Thread(target=_watch, args=(reader,), name="interruption", daemon=True)
    watcher.start()
    try:
        yield
    finally:
        signal.set_wakeup_fd(before)
        writer.send(_END)
        watcher.join()
        writer.close()
        reader.close()


def _watch(reader: socket.socket) -> None:
    while (number := reader.recv(1)) not in (_END, b""):
        if number[0] == signal.SIGINT:
            from forensics.case.store import interrupt_queries

            interrupt_queries()
