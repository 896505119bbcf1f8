"""Which files does an archive hold? Each member becomes an evidence file of its own; the archive stands after them.

A member is copied into the case's own folder, where nobody else can read it, under a number; its name in the archive is
for display only and never becomes a path. Links are not followed, devices not made. All members of one given file share
one budget of bytes, so that archives inside archives do not multiply the limits.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from forensics.case.errors import LimitHit
from forensics.ingest.blocks import Oversized
from forensics.ingest.detect import Detected
from forensics.ingest.entries import Entry, Gap
from forensics.ingest.files import EvidenceFile
from forensics.ingest.reader import Account, Reading, open_file, refuse
from forensics.ingest.streams import ARCHIVES, Budget, Limits, Peeled, PieceReader, StreamEnd, peel, pieces
from forensics.ingest.tar_members import tar_entries
from forensics.ingest.worker import Block
from forensics.ingest.zip_members import zip_entries

_STEP = 1 << 20
_NOTHING = hashlib.sha256(b"").hexdigest()
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
Opened = tuple[Account, Iterator[Block | Oversized]]


@dataclass
class ArchiveAccount(Account):
    """What became of an archive itself: its syntax is structure, its members have accounts of their own.

    `total` are its bytes, decompressed; `handed` those that are members.
    """

    handed: int = 0
    total: int = 0

    def pass_over(self, stretch: Oversized) -> None:
        """Count a stretch that is no entry, or the place where the reading ended."""
        super().pass_over(stretch)
        self.complete = False
        self.broken = stretch.reason

    @property
    def format(self) -> str:
        """`tar` or `zip`."""
        return self.detected.format

    def check(self) -> None:
        """Every byte is syntax, rejected or a member's; an error here is a fault of the program."""
        if self.structure_bytes + self.rejected_bytes != self.content_bytes:
            raise AssertionError("the bytes of an archive do not add up")
        if self.content_bytes + self.handed != self.total or self.structure_bytes < 0:
            raise AssertionError("the members of an archive do not add up")
        if self.compression == "none" and self.complete and self.total != self.file.size:
            raise AssertionError("an archive was not read to its end")


class Unfolder:
    """Given files as evidence files: each itself, or what it holds. Knows which bytes the case has already.

    `before` and `twice` collect the digests of members that were left out because of that.
    """

    def __init__(self, folder: Path, reading: Reading, known: Collection[str], given: Collection[str]) -> None:
        self._folder = folder
        self._reading = reading
        self._known = frozenset(known)
        self._seen = set(given)
        self._number = 0
        self._entries = 0
        self.before: list[str] = []
        self.twice: list[str] = []

    def open(self, file: EvidenceFile, sha256: str) -> Iterator[Opened]:
        """Accounts and blocks of one given file. All blocks of one are taken before the next is asked for."""
        self._entries = 0
        budget = Budget(file.size, self._reading.max_ratio, self._reading.max_bytes)
        yield from self._open(file, sha256, 1, budget)

    def done(self, file: EvidenceFile) -> None:
        """Remove the copy of a member that has been read."""
        if file.path.parent == self._folder:
            file.path.unlink(missing_ok=True)

    def _open(self, file: EvidenceFile, sha256: str, level: int, budget: Budget) -> Iterator[Opened]:
        peeled = peel(file.path, self._reading.max_depth)
        if peeled.inner not in ARCHIVES:
            account, blocks = open_file(file, sha256, self._reading)
            yield account, blocks if file.broken is None else _cut(blocks, file.size, file.broken)
        elif level > self._reading.max_depth:
            yield refuse(file, sha256, "depth")
        else:
            yield from self._archive(file, sha256, peeled, level, budget)

    def _archive(self, file: EvidenceFile, sha256: str, peeled: Peeled, level: int, budget: Budget) -> Iterator[Opened]:
        account = ArchiveAccount(file, sha256, peeled.compression, Detected(peeled.inner, f"a {peeled.inner} archive"))
        said: list[Oversized] = []
        # Of an archive in an archive both its own bytes and its members' count: nothing then unfolds for free.
        limits = Limits(self._reading.max_ratio, self._reading.max_bytes, budget if level > 1 else None)
        if peeled.inner == "tar":
            reader = PieceReader(_pieces(file, peeled.compression, limits, budget if level == 1 else None))
            yield from self._members(account, tar_entries(reader), reader, said, level, budget)
            account.total = reader.position
        else:
            unpacked = file
            if peeled.layers:
                unpacked = self._copy(
                    (piece for piece, _ in pieces(file.path, peeled.compression, limits)),
                    file,
                    file.name,
                    sha256,
                    budget,
                )[0]
            entries = zip_entries(unpacked.path, self._reading.max_members)
            yield from self._members(account, entries, None, said, level, budget)
            account.total = unpacked.size
            if unpacked.broken is not None:
                said.append(Oversized(unpacked.size, 0, unpacked.broken, _NOTHING, 0))
            if unpacked is not file:
                self.done(unpacked)
        if file.broken is not None:
            said.append(Oversized(account.total, 0, file.broken, _NOTHING, 0))
        account.structure_bytes = account.total - account.handed - sum(stretch.length for stretch in said)
        account.content_bytes = account.structure_bytes
        yield account, iter(said)

    def _members(
        self,
        account: ArchiveAccount,
        entries: Iterator[Entry | Gap],
        reader: PieceReader | None,
        said: list[Oversized],
        level: int,
        budget: Budget,
    ) -> Iterator[Opened]:
        """The members as evidence files. What ends the walk early is put to `said`."""
        try:
            for item in entries:
                if isinstance(item, Gap):
                    said.append(
                        Oversized(item.offset, item.length, "damaged_stream", item.sha256, 1 if item.length else 0)
                    )
                    continue
                self._entries += 1
                if self._entries > self._reading.max_members:
                    raise StreamEnd("members")
                if item.kind != "file":
                    account.structure += 1
                    account.lines += 1
                    if item.kind != "folder":
                        name = f"archive_{item.kind}"
                        account.notices[name] = account.notices.get(name, 0) + 1
                    continue
                if not item.listed:
                    account.notices["archive_unlisted"] = account.notices.get("archive_unlisted", 0) + 1
                yield from self._member(account, item, reader, level, budget)
        except StreamEnd as end:
            position = reader.position if reader else account.file.size
            # A stretch that could not be read and reaches to the end has said so already.
            if not said or said[-1].reason != end.reason or said[-1].offset + said[-1].length < position:
                said.append(Oversized(position, 0, end.reason, _NOTHING, 0))

    def _member(
        self, account: ArchiveAccount, entry: Entry, reader: PieceReader | None, level: int, budget: Budget
    ) -> Iterator[Opened]:
        outer = account.file
        name = f"{outer.name}/{entry.name.removeprefix('./')}"
        if entry.reason is not None:
            digest = hashlib.sha256()
            ended: StreamEnd | None = None
            try:
                for chunk in entry.chunks:
                    digest.update(chunk)
            except StreamEnd as end:
                ended = end
            stored = _taken(entry, reader)
            account.handed += stored
            refused = EvidenceFile(Path(os.devnull), name, stored, outer.modified_ns, account.sha256, budget)
            yield refuse(refused, digest.hexdigest(), entry.reason, entry.form)
            if ended is not None:
                raise ended
            return
        member, sha256 = self._copy(entry.chunks, outer, name, account.sha256, budget)
        account.handed += _taken(entry, reader)
        if level == 1 and reader is None:
            budget.read = entry.offset + entry.stored
        if member.broken is None and (sha256 in self._known or sha256 in self._seen):
            (self.before if sha256 in self._known else self.twice).append(sha256[:12])
            self.done(member)
        else:
            self._seen.add(sha256)
            yield from self._open(member, sha256, level + 1, budget)
        if member.broken in ("ratio", "size"):
            raise StreamEnd(member.broken)

    def _copy(
        self, chunks: Iterable[bytes], outer: EvidenceFile, name: str, container: str, budget: Budget
    ) -> tuple[EvidenceFile, str]:
        """The bytes in a file of the case's own folder, and their SHA-256. Raises LimitHit where the disk is full."""
        self._number += 1
        path = self._folder / str(self._number)
        digest = hashlib.sha256()
        size = 0
        broken: str | None = None
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "wb") as copy:
                try:
                    for chunk in chunks:
                        budget.take(len(chunk))
                        copy.write(chunk)
                        digest.update(chunk)
                        size += len(chunk)
                except StreamEnd as end:
                    broken = end.reason
        except OSError as error:
            if error.errno not in _FULL:
                raise
            raise LimitHit(
                "the disk of the case is full: members of archives are copied there to be read. Free some space, put "
                "the case on another disk, or unpack the archive and give its files; the case is as it was before"
            ) from None
        return EvidenceFile(path, name, size, outer.modified_ns, container, budget, broken), digest.hexdigest()


def _taken(entry: Entry, reader: PieceReader | None) -> int:
    """Bytes of the archive that were this member's: fewer than announced where the archive is cut."""
    return entry.stored if reader is None else min(entry.stored, reader.position - entry.offset)


def _pieces(file: EvidenceFile, compression: str, limits: Limits, progress: Budget | None) -> Iterator[bytes]:
    if compression == "none":
        left = file.size
        with file.path.open("rb") as source:
            while left and (piece := source.read(min(_STEP, left))):
                left -= len(piece)
                if progress is not None:
                    progress.read = file.size - left
                yield piece
        return
    for piece, read in pieces(file.path, compression, limits):
        if progress is not None:
            progress.read = read
        yield piece


def _cut(blocks: Iterator[Block | Oversized], size: int, reason: str) -> Iterator[Block | Oversized]:
    """The blocks of a member that ends early, and the place where it does, unless its own stream says so."""
    said = False
    for block in blocks:
        said = said or (isinstance(block, Oversized) and not block.lines)
        yield block
    if not said:
        yield Oversized(size, 0, reason, _NOTHING, 0)
