"""Pickles, as SGLang's request and crash dumps are: the calls in them as JSON. Only where the user allows it.

A pickle is a program. This one is not run: a process of its own, which can open nothing, reads what it says of its
data. `isolated.pickles` holds how.
"""

from __future__ import annotations

import io
import pickletools
import re
from collections.abc import Iterator
from pathlib import Path

from forensics.ingest import child
from forensics.ingest.blocks import Oversized
from forensics.ingest.record import FileContext
from forensics.ingest.streams import Limits
from forensics.ingest.units import Unit

NAME = "sglang_dump"
TITLE = "SGLang request dumps and crash dumps (pickle); read with `--allow-pickle` only, and never run"
VERSIONS = "SGLang 0.4.4 to 0.5.23; pickle protocols 0 to 5"
SOURCE = "public copies of the engine's source; no dump of a running engine was read"
PERMISSION = "pickle_not_allowed"
REFUSED = "a pickle (SGLang's dumps are ones); to have its data read, without running it, give --allow-pickle"

_PROTOCOL = re.compile(rb"\x80[\x02-\x05]")
# Protocols 0 and 1 have no mark: what their pickles of dictionaries, lists, objects and calls begin with.
_UNMARKED = re.compile(
    rb"(?:\([dlt]p\d{1,9}\n|[\]}](?:q.|r....)|\(?c[\w.]{1,200}\n[\w.]{1,200}\n(?:\(|p\d{1,9}\n|q.)"
    rb"|\(i[\w.]{1,200}\n[\w.]{1,200}\n)",
    re.S,
)
_FEWEST = 4  # opcodes that must follow each other, for so short a mark


def accepts(head: bytes) -> bool:
    """Whether a file begins with opcodes of a pickle."""
    if _PROTOCOL.match(head) is None and _UNMARKED.match(head) is None:
        return False
    count = 0
    try:
        for opcode, _, _ in pickletools.genops(io.BytesIO(head)):
            count += 1
            if opcode.name == "STOP" or count >= 1000:
                return True
    except Exception:
        # The head may end inside an opcode; before that, they must have been some.
        return count >= _FEWEST
    return count >= _FEWEST


def missing() -> str | None:
    """What it needs here."""
    return child.missing()


def units(path: Path, size: int, limits: Limits, context: FileContext) -> Iterator[Unit | Oversized]:
    """One unit per request of the dump."""
    yield from child.units("dump_rows", path, size, limits, context, libraries=False)
