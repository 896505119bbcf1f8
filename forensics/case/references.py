"""Which public texts does the case know? Licences, templates, corpora that an analyst gives; fingerprints, not texts.

A reference is fingerprinted once. Attribution then treats its texts as if a tenant called `public` held them: what
stands in them is no leak, and is kept as an exclusion `public_text` that names the reference. Which references a case
has is part of attribution's inputs: adding or removing one makes it run again. Decides nothing about a match.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from forensics.case.errors import NothingReadable, UsageError
from forensics.case.manifest import sha256_of
from forensics.case.reference_files import Account, texts_of
from forensics.case.store import Case
from forensics.text.fingerprint import Hashes, fingerprint
from forensics.text.identifiers import identifiers
from forensics.text.match import every_gram, pack
from forensics.text.safe_text import safe_text

BATCH_BYTES = 8 << 20
# A text this short has so few fingerprints that they depend on what stands around it: all of its grams are kept.
SHORT_BYTES = 400
LONGEST_NAME = 80
DEFAULT_FIELD = "text"

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Reference:
    """A set of public texts. `sha256` of the file, or over the files of a folder; sizes in bytes and code points;
    `grams` and `tokens`: fingerprints and identifiers kept; `rejected`: lines and files that held no text."""

    name: str
    sha256: str
    bytes: int
    texts: int
    code_points: int
    rejected: int
    grams: int
    tokens: int


def references(case: Case) -> list[Reference]:
    """The references of the case, by name."""
    return [Reference(*row) for row in case.rows("case/references")]


def digest(case: Case) -> str:
    """One digest over all references; empty where there is none."""
    known = [f"{reference.name}\0{reference.sha256}\0{reference.grams}" for reference in references(case)]
    return hashlib.sha256("\n".join(known).encode()).hexdigest() if known else ""


def add(
    case: Case, path: Path, name: str | None = None, field: str = DEFAULT_FIELD, progress: Progress | None = None
) -> Reference:
    """Fingerprint the texts of `path` into the case, under `name` (none: the file's). All or nothing.

    Memory: a few pieces of text, whatever the size of the file. Raises UsageError where the name or the content is
    known already, NothingReadable where no text was found.
    """
    called = safe_text(name if name is not None else path.name).strip()
    if not called or len(called) > LONGEST_NAME:
        raise UsageError(f"a reference needs a name of 1 to {LONGEST_NAME} characters; give one with --name")
    account = Account()
    texts = texts_of(path, field, account)  # a generator: nothing is read yet
    known = references(case)
    if any(reference.name == called for reference in known):
        raise UsageError("the case has a reference of that name; remove it first, or give another with --name")
    sha256, size = _digest(path)
    same = next((reference.name for reference in known if reference.sha256 == sha256), None)
    if same is not None:
        raise UsageError(f"the case has the same content already, as {same}")
    with case.transaction():
        grams = tokens = done = 0
        for batch in _batches(texts):
            done += sum(len(text) for text in batch)
            found = _fingerprints(batch)
            for kind, hashes in zip(("gram", "token"), found, strict=True):
                case.append(
                    "reference_fingerprints",
                    pa.table(
                        {"name": pa.repeat(called, hashes.size), "kind": pa.repeat(kind, hashes.size), "hash": hashes}
                    ),
                )
            grams += found[0].size
            tokens += found[1].size
            if progress:
                progress("reference", min(done, size), size)
        if not grams:
            raise NothingReadable(
                f"no text was found ({account.rejected} lines or files hold none); "
                "NDJSON lines need a text field, named with --field"
            )
        made = Reference(called, sha256, size, account.texts, account.code_points, account.rejected, grams, tokens)
        case.append("reference_sets", pa.Table.from_pylist([vars(made)]))
    case.record("reference add", called, sha256)
    return made


def remove(case: Case, name: str) -> Reference:
    """Forget a reference. Raises UsageError where there is none of that name."""
    found = next((reference for reference in references(case) if reference.name == name), None)
    if found is None:
        raise UsageError("the case has no reference of that name; `forensics reference list CASE` shows them")
    with case.transaction():
        case.run("case/reference_remove", {"name": name})
        case.run("case/reference_fingerprints_remove", {"name": name})
    case.record("reference remove", name, found.sha256)
    return found


def _digest(path: Path) -> tuple[str, int]:
    """SHA-256 and size of a file; of a folder, over the names and digests of its files."""
    if not path.is_dir():
        return (sha256_of(path), path.stat().st_size) if path.is_file() else ("", 0)
    whole = hashlib.sha256()
    size = 0
    for file in sorted(path.rglob("*")):
        if file.is_file() and not file.is_symlink():
            whole.update(f"{file.relative_to(path).as_posix()}\0{sha256_of(file)}\n".encode("utf-8", "surrogateescape"))
            size += file.stat().st_size
    return whole.hexdigest(), size


def _batches(texts: Iterator[str]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size >= BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _fingerprints(texts: list[str]) -> tuple[Hashes, Hashes]:
    buffer, offsets = pack(texts)
    selected = fingerprint(buffer, offsets).hashes
    short = pack([text for text in texts if len(text) <= SHORT_BYTES])
    grams = np.unique(np.concatenate([selected, every_gram(*short).hashes]))
    return grams, np.unique(identifiers(buffer, offsets).hashes)
