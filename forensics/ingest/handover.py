"""Texts from a reading process to the writing one, through a file that is mapped instead of a pipe that copies.

The texts of evidence are most of what a block gives. The file lies in the private folder of the case, readable by its
owner only, and has no name any more once it is opened. Does not know what a text means.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from forensics.ingest.worker import Block, BlockResult, read_block

if TYPE_CHECKING:
    import pyarrow as pa

# Below this, a file costs more than the pipe.
_LEAST_BYTES = 256 << 10
_STEP = 256 << 10
_TABLE = "texts"
_folder: Path | None = None
_made = 0


@dataclass(frozen=True)
class Handed:
    """The result of a block, and the file that its texts are in, where they are not in the result."""

    result: BlockResult
    texts: Path | None = None


def use_folder(folder: Path) -> None:
    """Where this process, which reads blocks for another, may put texts."""
    global _folder
    _folder = folder


def read_and_hand(block: Block) -> Handed:
    """Read a block in a process of its own; `received` gives the result in the other one."""
    written: list[Path] = []

    def aside(texts: list[bytes]) -> bool:
        if _folder is None or sum(map(len, texts)) < _LEAST_BYTES:
            return False
        written.append(_written(texts, _folder))
        return True

    result = read_block(block, aside)
    return Handed(result, written[0] if written else None)


def _written(texts: list[bytes], folder: Path) -> Path:
    """A new file with nothing but the texts, one after the other."""
    global _made
    path = folder / f"texts-{os.getpid()}-{_made}"
    _made += 1
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb", buffering=_STEP) as file:
        file.writelines(texts)
    return path


def received(handed: Handed) -> BlockResult:
    """The whole result; its file is forgotten."""
    if handed.texts is not None:
        texts = handed.result.tables[_TABLE]
        handed.result.tables[_TABLE] = texts.append_column("text", _mapped(handed.texts, texts["bytes"]))
    return handed.result


def _mapped(path: Path, sizes: pa.ChunkedArray) -> pa.Array:
    """The texts in a file, by their sizes in bytes; they came from an encoder and are not checked again."""
    import numpy as np
    import pyarrow as pa

    ends = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes.to_numpy(), out=ends[1:])
    with pa.memory_map(str(path)) as source:
        data = source.read_buffer()
    if data.size != ends[-1]:
        raise AssertionError("a file of texts is not as long as the texts are")
    # The mapping stays as long as the table does. Where a file in use keeps its name, the folder goes later.
    with suppress(OSError):
        path.unlink()
    return pa.Array.from_buffers(pa.large_string(), len(sizes), [None, pa.py_buffer(ends), data])
