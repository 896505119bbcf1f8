"""What do the walkers of archives hand on? One entry after the other. Opens nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

NAME_MOST = 1024


@dataclass(frozen=True)
class Entry:
    """One entry of an archive, in the order of its bytes.

    `kind` is file, folder, link or special (device, pipe, label). `stored` are the bytes of the archive that hold its
    content, from `offset` on. `reason`, where set, says why the content cannot be read; `form` names the form then.
    `chunks` yields the content once, before the next entry is asked for; it raises StreamEnd where it breaks off.
    `listed` is false for what the archive's own directory does not name.
    """

    name: str
    kind: str
    offset: int
    stored: int
    chunks: Iterator[bytes]
    reason: str | None = None
    form: str = ""
    listed: bool = True


@dataclass(frozen=True)
class Gap:
    """A stretch of the archive that is neither an entry nor what belongs between entries."""

    offset: int
    length: int
    sha256: str


def shown(name: bytes | str) -> str:
    """A name from an archive for display: never a path, no NUL, not without end."""
    text = name.decode("utf-8", "replace") if isinstance(name, bytes) else name
    text = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")
    return text if len(text) <= NAME_MOST else text[:NAME_MOST] + "\u2026"
