"""Whatever the bytes are: no exception, no hang, and every byte counted once. Samples of all formats, mutated.

`FORENSICS_FUZZ=100000 pytest tests/ingest/test_fuzz.py` (or `make fuzz`) makes that many mutations per family, in slices
with a seed of their own, so that several processes can share them (`-n`) and one can be run again (`-k wrappers-7-`). Each
mutation writes a file and opens it a few times: with `--basetemp` in memory it does not wait for a disk.
"""

from __future__ import annotations

import os
import random
from collections import defaultdict
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from forensics.ingest import wrappers
from forensics.ingest.blocks import Oversized
from forensics.ingest.files import EvidenceFile
from forensics.ingest.reader import Reading, open_file
from forensics.ingest.record import FileContext
from forensics.ingest.registry import registry
from forensics.ingest.worker import forget, read_block

FORMATS = Path(__file__).parent / "formats"
MUTATIONS = int(os.environ.get("FORENSICS_FUZZ", "2000"))
SLICE = 10_000
# Read by a process of their own, which takes a third of a second to start: tests of the readers themselves mutate more.
PROCESSES = ("parquet_rows", "sglang_dump")
MOST_BYTES = 6000  # of a sample, so that a mutation costs about a millisecond
BITS = [
    b"\n",
    b"\r\n",
    b"\0",
    b"\xff",
    b"\xc3",
    b"\\ud800",
    b"NaN",
    b"{",
    b"}",
    b"[",
    b"]",
    b'"',
    b"'",
    b",",
    b":",
    b"1e999",
    b"null",
    b"-1",
    b"\x1b[31m",
    b"data: ",
    b"data: [DONE]\n\n",
    b" P ",
    b" F ",
    b"\\",
    b"[" * 3000,
    b'{"a":' * 1200,
]


def family_of(name: str) -> str:
    if name in PROCESSES:
        return "processes"
    if name in wrappers.NAMES:
        return "wrappers"
    parser = registry().load(name)
    if parser.KIND != "object":
        return parser.KIND
    return "profile" if type(parser).__name__ == "Profile" else "object"


def samples() -> dict[str, list[tuple[str, bytes]]]:
    found: dict[str, list[tuple[str, bytes]]] = defaultdict(list)
    for folder in sorted(FORMATS.iterdir()):
        for path in sorted(folder.iterdir()):
            if path.name != "expected.json":
                data = path.read_bytes()[: MOST_BYTES if folder.name not in PROCESSES else None]
                found[family_of(folder.name)].append((path.name, data))
    return found


SAMPLES = samples()


def mutated(data: bytes, chance: random.Random) -> bytes:
    new = bytearray(data)
    for _ in range(chance.randint(1, 5)):
        at = chance.randrange(len(new) + 1)
        match chance.randrange(7):
            case 0:
                del new[at : at + chance.randint(1, 40)]
            case 1:
                new[at:at] = bytes(chance.randrange(256) for _ in range(chance.randint(1, 6)))
            case 2:
                new[at:at] = chance.choice(BITS)
            case 3:
                start = chance.randrange(len(new) + 1)
                new[at:at] = new[start : start + chance.randint(1, 300)]
            case 4:
                del new[at:]
            case 5 if at < len(new):
                new[at] ^= 1 << chance.randrange(8)
            case _:
                lines = bytes(new).split(b"\n")
                chance.shuffle(lines)
                new = bytearray(b"\n".join(lines))
    return bytes(new)


def check(path: Path, name: str) -> None:
    file = EvidenceFile(path, name, path.stat().st_size, 1_790_000_000 * 10**9)
    reading = Reading(None, "UTC", 1 << 20, 1000, 1 << 30, 1000, 4, allow_pickle=True)
    forget()
    account, blocks = open_file(file, "0" * 64, reading)
    for block in blocks:
        if isinstance(block, Oversized):
            account.pass_over(block)
            continue
        result = read_block(block)
        account.add(result)
        assert result.tables["rejects"].num_rows == result.rejected
        assert "parser_error" not in result.reasons
        assert "parser_error_at_end" not in result.notices
        for text in result.tables["texts"]["text"].to_pylist():
            text.encode()
    account.check()


def slices() -> list[tuple[str, int, int]]:
    """(family, number of the slice, mutations in it)."""
    found = []
    for family in sorted(SAMPLES):
        total = MUTATIONS if family != "processes" else min(MUTATIONS // 100, 200)
        found += [(family, start // SLICE, min(SLICE, total - start)) for start in range(0, total, SLICE)]
    return found


@pytest.mark.parametrize(("family", "part", "mutations"), slices())
def test_mutated_samples_are_read_or_counted(family, part, mutations, tmp_path):
    chance = random.Random(f"fuzz {family} {part}" if part else f"fuzz {family}")
    path = tmp_path / "mutated"
    for number in range(mutations):
        name, data = SAMPLES[family][number % len(SAMPLES[family])]
        path.write_bytes(mutated(data, chance))
        check(path, name)


def test_detection_of_random_bytes_names_no_wrapper():
    chance = random.Random("noise")
    for _ in range(200):
        lines = [chance.randbytes(chance.randint(1, 80)).replace(b"\n", b" ") for _ in range(20)]
        chain, left, _ = wrappers.chain_of(lines, FileContext("noise", ZoneInfo("UTC")))
        assert chain == ()
        assert left == lines
