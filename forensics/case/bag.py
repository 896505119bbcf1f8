"""How are files handed over so that the other side can check them? A BagIt bag (RFC 8493). Chooses no file.

Bags hold no date of bagging and no size in words, so that the same payload gives the same bytes.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from forensics import __version__
from forensics.case.errors import UsageError
from forensics.case.manifest import sha256_of

DECLARATION = b"BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n"
Content = bytes | Path


@dataclass(frozen=True)
class Bag:
    """A written bag: files and bytes of its payload, and the digest of `tagmanifest-sha256.txt`, which fixes all."""

    files: int
    bytes: int
    sha256: str


def write_bag(
    folder: Path,
    payload: Mapping[str, Content],
    info: Iterable[tuple[str, str]],
    sign: Callable[[bytes], Mapping[str, bytes]] | None = None,
) -> Bag:
    """Write `payload` (path inside the bag's `data/` -> bytes, or a file to copy) as a bag at `folder`.

    `info` are lines of `bag-info.txt`; `sign` makes further tag files from the bytes of the payload manifest. Raises
    UsageError where `folder` exists and is no empty folder.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists and is not an empty folder; give another one")
    for path in payload:
        _check_path(path)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    digests: dict[str, str] = {}
    octets = 0
    for path in sorted(payload, key=str.encode):
        target = folder / "data" / path
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        content = payload[path]
        if isinstance(content, bytes):
            target.write_bytes(content)
        else:
            shutil.copyfile(content, target, follow_symlinks=False)
        target.chmod(0o600)
        digests[f"data/{path}"] = sha256_of(target)
        octets += target.stat().st_size
    lines = [
        *info,
        ("Bag-Software-Agent", f"leak-forensics {__version__}"),
        ("Payload-Oxum", f"{octets}.{len(digests)}"),
    ]
    manifest = _manifest(digests)
    tags = {
        "bag-info.txt": "".join(f"{label}: {_one_line(value)}\n" for label, value in sorted(lines)).encode(),
        "bagit.txt": DECLARATION,
        "manifest-sha256.txt": manifest,
        **(sign(manifest) if sign is not None else {}),
    }
    last = _manifest({name: hashlib.sha256(data).hexdigest() for name, data in tags.items()})
    for name, data in {**tags, "tagmanifest-sha256.txt": last}.items():
        (folder / name).write_bytes(data)
        (folder / name).chmod(0o600)
    return Bag(len(digests), octets, hashlib.sha256(last).hexdigest())


def _manifest(digests: Mapping[str, str]) -> bytes:
    """Lines of `sha256sum`, sorted by path; a per cent sign of a path is written as %25 (RFC 8493)."""
    return "".join(
        f"{digest}  {path.replace('%', '%25')}\n"
        for path, digest in sorted(digests.items(), key=lambda i: i[0].encode())
    ).encode()


def _check_path(path: str) -> None:
    """A path stays inside the bag and needs no escape: what we write is named by code, never by data."""
    parts = path.split("/")
    if path.startswith("/") or any(part in ("", ".", "..") for part in parts) or quote(path, safe="/%") != path:
        raise UsageError("a path of the bag holds a sign that is not allowed in one")


def _one_line(value: str) -> str:
    return " ".join(value.split())
