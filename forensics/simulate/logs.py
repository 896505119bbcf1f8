"""Writes the logs while the simulation runs, one line at a time, plain or compressed. Decides no content."""

from __future__ import annotations

import gzip
import io
import json
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, cast

from forensics.simulate import render
from forensics.simulate.parameters import Parameters
from forensics.simulate.requests import Request

SUFFIXES = {"none": "", "gz": ".gz", "zst": ".zst"}


class Logs:
    """The log files of one simulation; a context manager. `raw_bytes` counts what was written, uncompressed."""

    def __init__(self, out: Path, parameters: Parameters) -> None:
        self._folder = out / "logs"
        self._form = parameters.form
        self._compress = parameters.compress
        self._model = parameters.model
        self._start = datetime.fromisoformat(parameters.start)
        self._files: dict[str, BinaryIO] = {}
        self._below: list[BinaryIO] = []
        self.raw_bytes = 0

    def __enter__(self) -> Logs:
        self._folder.mkdir()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in (*self._files.values(), *self._below):
            file.close()

    def names(self) -> list[str]:
        """Names of the files written so far, relative to the folder of the simulation, sorted."""
        return sorted(f"{self._folder.name}/{name}" for name in self._files)

    def received(self, request: Request) -> None:
        """A request has arrived."""
        if self._form == "sglang":
            body = {"rid": request.rid, "obj": render.engine_object(request)}
            line = render.engine_line("request.received", self._start, request.received, body)
            self._write(worker_name(request.worker) + ".log", line)

    def done(self, request: Request) -> None:
        """A request has finished, or its client is gone: the engine then logs nothing."""
        if self._form == "house":
            record = render.house_record(request, self._start, self._model, worker_name(request.worker))
            self._write("requests.jsonl", _line(record))
            return
        if not request.aborted:
            body = {"rid": request.rid, "obj": render.engine_object(request), "out": render.engine_output(request)}
            line = render.engine_line("request.finished", self._start, request.finished, body)
            self._write(worker_name(request.worker) + ".log", line)
        self._write("gateway.jsonl", _line(render.gateway_record(request, self._start, self._model)))

    def _write(self, name: str, line: bytes) -> None:
        name += SUFFIXES[self._compress]
        if name not in self._files:
            self._files[name] = self._open(self._folder / name)
        self._files[name].write(line)
        self.raw_bytes += len(line)

    def _open(self, path: Path) -> BinaryIO:
        file = path.open("wb")
        if self._compress == "none":
            return cast(BinaryIO, io.BufferedWriter(cast(io.RawIOBase, file), 1 << 20))
        self._below.append(file)
        if self._compress == "gz":
            # No name and no time in the header, so that the same seed gives the same bytes.
            return cast(BinaryIO, gzip.GzipFile(filename="", mode="wb", fileobj=file, compresslevel=6, mtime=0))
        import zstandard

        return cast(BinaryIO, zstandard.ZstdCompressor(level=19).stream_writer(file))


def worker_name(worker: int) -> str:
    """Host and rank of a worker, as the engine names its log file."""
    return f"glm-serve-{worker + 1:02d}_0"


def _line(record: dict[str, object]) -> bytes:
    return json.dumps(record, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n"
