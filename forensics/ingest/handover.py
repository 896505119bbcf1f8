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
    global _made
    result = read_block(block)
    texts = result.tables[_TABLE]
    if _folder is None or texts.nbytes < _LEAST_BYTES:
        return Handed(result)
    import pyarrow as pa

    path = _folder / f"texts-{os.getpid()}-{_made}"
    _made += 1
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file, pa.ipc.new_file(file, texts.schema) as out:
        out.write_table(texts)
    del result.tables[_TABLE]
    return Handed(result, path)


def received(handed: Handed) -> BlockResult:
    """The whole result; its file is forgotten."""
    if handed.texts is not None:
        handed.result.tables[_TABLE] = _mapped(handed.texts)
    return handed.result


def _mapped(path: Path) -> pa.Table:
    import pyarrow as pa

    with pa.memory_map(str(path)) as source:
        table = pa.ipc.open_file(source).read_all()
    # The mapping stays as long as the table does. Where a file in use keeps its name, the folder goes later.
    with suppress(OSError):
        path.unlink()
    return table
