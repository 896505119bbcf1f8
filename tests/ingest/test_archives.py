"""Archives: every member comes back byte for byte, whatever is cut, damaged or a trap is said, and nothing leaves the case."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import shutil
import struct
import tarfile
import zipfile
from pathlib import Path

import pytest
import zstandard
from hypothesis import example, given, settings
from hypothesis import strategies as st

from forensics.case.errors import LimitHit
from forensics.ingest import archives
from forensics.ingest.archives import ArchiveAccount, Unfolder
from forensics.ingest.entries import Gap
from forensics.ingest.files import EvidenceFile
from forensics.ingest.reader import Reading
from forensics.ingest.streams import PieceReader
from forensics.ingest.tar_members import tar_entries
from forensics.ingest.worker import Block, read_block

READING = Reading(None, "UTC", 256 << 20, 1000, 1 << 40, 100_000, 4)
PACK = {
    "none": lambda data: data,
    "gzip": lambda data: gzip.compress(data, mtime=0),
    "zstd": lambda data: zstandard.ZstdCompressor(write_checksum=True).compress(data),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}


def lines(prefix: str, count: int) -> bytes:
    return b"".join(b'{"request_id":"%s-%d","tenant_id":"t"}\n' % (prefix.encode(), i) for i in range(count))


def tar_of(members, form=tarfile.PAX_FORMAT, end=True) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=form) as archive:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                archive.addfile(member)
                continue
            name, data = member
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        size = archive.offset
    return out.getvalue() if end else out.getvalue()[:size]


def zip_of(members, method=zipfile.ZIP_DEFLATED, stream=False) -> bytes:
    out = io.BytesIO()
    target = Pipe(out) if stream else out
    with zipfile.ZipFile(target, "w", method) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return out.getvalue()


class Pipe:
    """What cannot be wound back: sizes then follow the data."""

    def __init__(self, out):
        self.write, self.flush = out.write, out.flush


def entry(name: str, kind: bytes, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


class Unfolded:
    """What an Unfolder made of one file: members read, as the stage reads them, and accounts that reconcile."""

    def __init__(self, root: Path, data: bytes, reading: Reading = READING, known=()) -> None:
        shutil.rmtree(root / "members", ignore_errors=True)
        (root / "members").mkdir()
        path = root / "evidence"
        path.write_bytes(data)
        facts = path.stat()
        self.sha256 = hashlib.sha256(data).hexdigest()
        self.unfolder = Unfolder(root / "members", reading, known, {self.sha256})
        self.accounts = []
        self.members = []
        self.reasons = []
        file = EvidenceFile(path, "outer", facts.st_size, facts.st_mtime_ns)
        for account, blocks in self.unfolder.open(file, self.sha256):
            if account.file.path.parent == root / "members" and not isinstance(account, ArchiveAccount):
                assert account.file.path.stat().st_mode & 0o777 == 0o600
                self.members.append((account.file.name, account.file.path.read_bytes()))
            for block in blocks:
                if isinstance(block, Block):
                    account.add(read_block(block))
                else:
                    account.pass_over(block)
                    self.reasons.append((account.file.name, block.reason))
            account.check()
            self.unfolder.done(account.file)
            self.accounts.append(account)
        assert list((root / "members").iterdir()) == []

    @property
    def complete(self) -> bool:
        return all(account.complete for account in self.accounts)

    @property
    def records(self) -> int:
        return sum(account.records for account in self.accounts)


NAMES = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\\", exclude_categories=("Cs",)), min_size=1, max_size=30
)
CONTENTS = st.lists(st.integers(0, 9999).map(lambda i: b'{"request_id":"%d"}\n' % i), min_size=1, max_size=40)
MEMBERS = st.lists(
    st.tuples(
        (NAMES | st.sampled_from(["../../x", "/etc/passwd", "a/" * 60 + "b", "./x"])).filter(
            lambda name: not name.endswith("/") and name.strip("./ ")
        ),
        CONTENTS.map(b"".join),
    ),
    max_size=6,
    unique_by=(lambda member: member[0], lambda member: member[1]),
)


@pytest.mark.parametrize("compression", PACK)
@pytest.mark.parametrize(
    "form", ["tar-pax", "tar-gnu", "zip-stored", "zip-deflate", "zip-bzip2", "zip-lzma", "zip-pipe"]
)
@given(members=MEMBERS)
@settings(max_examples=8, deadline=None)
def test_members_come_back_byte_for_byte(tmp_path_factory, form, compression, members):
    kind, _, how = form.partition("-")
    if kind == "tar":
        data = tar_of(members, tarfile.PAX_FORMAT if how == "pax" else tarfile.GNU_FORMAT)
        if not members:
            return  # nothing but zeros: no mark of a tar
    else:
        methods = {"stored": 0, "bzip2": zipfile.ZIP_BZIP2, "lzma": zipfile.ZIP_LZMA}
        data = zip_of(members, methods.get(how, zipfile.ZIP_DEFLATED), how == "pipe")
    found = Unfolded(tmp_path_factory.mktemp("u"), PACK[compression](data))
    assert found.members == [("outer/" + name.removeprefix("./"), content) for name, content in members]
    assert found.complete and found.reasons == []
    outer = found.accounts[-1]
    assert (outer.format, outer.compression) == (kind, compression)
    assert outer.total == len(data)
    for (_, content), account in zip(members, found.accounts, strict=False):
        assert account.sha256 == hashlib.sha256(content).hexdigest()
        assert account.file.container_sha256 == found.sha256
        assert account.records == content.count(b"\n")


TWO = [("a.jsonl", lines("a", 40)), ("b.jsonl", lines("b", 40))]


@pytest.mark.parametrize("form", ["tar", "tar.gzip", "tar.zstd", "tar.bzip2", "tar.xz", "zip", "zip-pipe", "zip.gzip"])
def test_a_cut_archive_is_always_said_and_read_up_to_the_cut(tmp_path, form):
    kind, _, compression = form.partition(".")
    plain = tar_of(TWO) if kind == "tar" else zip_of(TWO, stream=kind == "zip-pipe")
    if kind == "tar":
        plain = plain[: len(tar_of(TWO, end=False)) + 1024]
    data = PACK[compression or "none"](plain)
    least = 0
    for cut in range(len(data) // 6, len(data), max(1, len(data) // 60)):
        found = Unfolded(tmp_path, data[:cut])
        if form == "tar" and cut >= len(data) - 512:
            assert found.complete and found.records == 80  # cut in the end mark itself: all is there
            continue
        assert not found.complete, cut
        assert {reason for _, reason in found.reasons} <= {"damaged_stream", "cut_last_line"}, cut
        for name, content in found.members:
            assert dict(TWO)[name.removeprefix("outer/")].startswith(content)
        # A line whose last byte but the end of line is there can be read.
        ends = [line.endswith(b"}") for _, content in found.members for line in content.split(b"\n")]
        assert found.records == sum(ends)
        if not compression:
            assert found.records >= least
            least = found.records
    # The first of the two is whole long before the end.
    assert compression in ("xz", "bzip2", "zstd") or found.records >= 40


@pytest.mark.parametrize("compression", PACK)
def test_archives_one_after_the_other_are_read_on(tmp_path, compression):
    pack = PACK[compression]
    second = [("c.jsonl", lines("c", 3))]
    found = Unfolded(tmp_path, pack(tar_of(TWO)) + pack(tar_of(second)))
    assert [content for _, content in found.members] == [content for _, content in TWO + second]
    assert found.complete
    if compression == "none":
        found = Unfolded(tmp_path, zip_of(TWO) + zip_of(second))
        assert [content for _, content in found.members] == [content for _, content in TWO + second]
        assert found.accounts[-1].notices == {"archive_unlisted": 2}
        assert found.complete


def test_nested_archives_and_compressions(tmp_path):
    inner = zip_of([("d.zst", PACK["zstd"](PACK["gzip"](lines("d", 7))))])
    data = PACK["gzip"](PACK["xz"](tar_of([("in.tar.bz2", PACK["bzip2"](tar_of([("z.zip", inner)])))])))
    found = Unfolded(tmp_path, data)
    assert [(account.file.name, account.format, account.compression) for account in found.accounts] == [
        ("outer/in.tar.bz2/z.zip/d.zst", "house", "zstd+gzip"),
        ("outer/in.tar.bz2/z.zip", "zip", "none"),
        ("outer/in.tar.bz2", "tar", "bzip2"),
        ("outer", "tar", "gzip+xz"),
    ]
    assert found.records == 7 and found.complete
    chain = [account.file.container_sha256 for account in found.accounts]
    assert chain == [*(account.sha256 for account in found.accounts[1:]), None]


def test_depth_is_limited_and_said(tmp_path):
    data = lines("x", 3)
    for level in range(6):
        data = tar_of([(f"{level}.tar", data), (f"{level}.jsonl", lines(str(level), 2))])
    found = Unfolded(tmp_path, data)
    assert found.reasons == [("outer/5.tar/4.tar/3.tar/2.tar", "depth")]
    assert found.records == 8
    packed = lines("y", 3)
    for _ in range(5):
        packed = gzip.compress(packed)
    assert Unfolded(tmp_path, packed).reasons == [("outer", "depth")]
    assert Unfolded(tmp_path, gzip.decompress(packed)).records == 3


def test_links_devices_and_other_peoples_paths(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    members = [
        entry("link", tarfile.SYMTYPE, str(outside)),
        ("link/planted", lines("a", 1)),
        entry("hard", tarfile.LNKTYPE, "../../../etc/passwd"),
        entry("device", tarfile.CHRTYPE),
        entry("pipe", tarfile.FIFOTYPE),
        entry("folder", tarfile.DIRTYPE),
        ("../../up", lines("b", 2)),
        (str(outside / "absolute"), lines("c", 3)),
        ("same", lines("d", 4)),
        ("same", lines("e", 5)),
    ]
    found = Unfolded(tmp_path, tar_of(members))
    assert [name for name, _ in found.members] == [
        "outer/link/planted",
        "outer/../../up",
        f"outer/{outside}/absolute",
        "outer/same",
        "outer/same",
    ]
    assert found.records == 15 and found.complete
    outer = found.accounts[-1]
    assert outer.notices == {"archive_link": 2, "archive_special": 2}
    assert outer.structure == 5
    assert list(outside.iterdir()) == []


def test_a_damaged_header_is_passed_over(tmp_path):
    data = bytearray(tar_of([*TWO, ("c.jsonl", lines("c", 3))]))
    second = data.index(b"b.jsonl")
    data[second] ^= 1
    found = Unfolded(tmp_path, bytes(data))
    assert [name for name, _ in found.members] == ["outer/a.jsonl", "outer/c.jsonl"]
    assert found.reasons == [("outer", "damaged_stream")]
    assert found.accounts[-1].rejected_bytes == 512 + -(-len(TWO[1][1]) // 512) * 512
    assert not found.complete


def test_what_follows_the_end_is_said(tmp_path):
    for data in (tar_of(TWO) + b"x" * 700, zip_of(TWO) + b"x" * 700):
        found = Unfolded(tmp_path, data)
        assert (found.records, found.complete) == (80, False)
        assert found.reasons == [("outer", "damaged_stream")]
        assert found.accounts[-1].rejected_bytes == 700


def test_a_tar_without_its_end_mark_is_said(tmp_path):
    found = Unfolded(tmp_path, tar_of(TWO, end=False))
    assert (found.records, found.complete) == (80, False)


def sparse_members() -> dict[str, bytes]:
    """Members with holes, written by hand after the manual of GNU tar."""
    head, tail = lines("s", 4), lines("t", 3)
    size, at = 3_000_000, 2_000_000
    whole = head + bytes(at - len(head)) + tail + bytes(size - at - len(tail))
    stored = head + tail

    def pax(records: dict[str, str], data: bytes) -> bytes:
        info = tarfile.TarInfo("GNUSparseFile.0/s.jsonl")
        info.size = len(data)
        info.pax_headers = records
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=tarfile.PAX_FORMAT) as archive:
            archive.addfile(info, io.BytesIO(data))
        return out.getvalue()

    numbers = [0, len(head), at, len(tail)]
    table = b"".join(b"%d\n" % number for number in [2, *numbers])
    first = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "s.jsonl"}
    block = bytearray(tarfile.TarInfo("s.jsonl").tobuf(tarfile.GNU_FORMAT))
    block[124:136] = b"%011o\0" % len(stored)
    block[156:157] = b"S"
    for index, number in enumerate(numbers):
        block[386 + 12 * index : 398 + 12 * index] = b"%011o\0" % number
    block[483:495] = b"%011o\0" % size
    block[148:156] = b" " * 8
    block[148:156] = b"%06o\0 " % sum(block)
    old = bytes(block) + stored + bytes(-len(stored) % 512) + bytes(1024)
    return {
        "old": old,
        "0.1": pax(
            {"GNU.sparse.map": ",".join(map(str, numbers)), "GNU.sparse.size": str(size), "GNU.sparse.name": "s.jsonl"},
            stored,
        ),
        "1.0": pax({**first, "GNU.sparse.realsize": str(size)}, table + bytes(-len(table) % 512) + stored),
        "whole": whole,
    }


@pytest.mark.parametrize("form", ["old", "0.1", "1.0"])
def test_sparse_members_are_filled(tmp_path, form):
    made = sparse_members()
    with tarfile.open(fileobj=io.BytesIO(made[form])) as archive:
        assert archive.extractfile(archive.getmembers()[0]).read() == made["whole"]  # the samples are sound
    found = Unfolded(tmp_path, made[form])
    assert found.members == [("outer/s.jsonl", made["whole"])]
    assert found.complete


def test_a_sparse_bomb_is_stopped(tmp_path):
    data = bytearray(sparse_members()["old"])
    data[483:495] = b"7" * 11 + b"\0"  # 8 GiB of a few bytes
    data[148:156] = b" " * 8
    data[148:156] = b"%06o\0 " % sum(data[:512])
    found = Unfolded(tmp_path, bytes(data))
    assert ("outer/s.jsonl", "ratio") in found.reasons and ("outer", "ratio") in found.reasons
    assert len(found.members[0][1]) <= 64 << 20


@pytest.mark.parametrize("form", ["old", "1.0"])
def test_a_map_of_holes_that_is_longer_than_its_member_ends(tmp_path, form):
    """Such a map reaches into what follows; the rest of the member then has fewer bytes than none."""
    data = bytearray(sparse_members()[form])
    if form == "old":
        data[124:136] = b"%011o\0" % 0  # a member of no bytes, whose map goes on in blocks that are none
        data[482] = 1
        data[148:156] = b" " * 8
        data[148:156] = b"%06o\0 " % sum(data[:512])
        data[512:512] = b"z" * 504 + bytes(8)
    else:
        at = data.index(b"2\n0\n")
        data[at : at + 1024] = b"900\n" + b"1\n" * 510
    found = Unfolded(tmp_path, bytes(data) + tar_of(TWO))
    assert ("outer/s.jsonl", "unsupported_member") in found.reasons
    assert found.records == 80


def test_a_name_without_end_is_not_held(tmp_path):
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 3 << 20
    long = info.tobuf(tarfile.GNU_FORMAT) + b"n" * (3 << 20)
    found = Unfolded(tmp_path, long + tar_of(TWO))
    assert found.records == 80
    assert found.reasons == [("outer", "damaged_stream")]
    first = next(tar_entries(PieceReader(iter([long + tar_of(TWO)]))))
    assert first == Gap(0, len(long), hashlib.sha256(long).hexdigest())


def test_members_are_limited_and_said(tmp_path):
    reading = Reading(None, "UTC", 256 << 20, 1000, 1 << 40, 10, 4)
    many = [(f"{i}.jsonl", lines(str(i), 1)) for i in range(30)]
    for data in (tar_of(many), zip_of(many), tar_of([("in.zip", zip_of(many))])):
        found = Unfolded(tmp_path, data, reading)
        assert found.records in (9, 10)
        assert "members" in {reason for _, reason in found.reasons}
        assert not found.complete


def test_the_size_of_all_members_is_limited(tmp_path):
    reading = Reading(None, "UTC", 256 << 20, 1000, 2_000, 100_000, 4)
    for data in (tar_of(TWO * 3), zip_of(TWO)):
        found = Unfolded(tmp_path, data, reading)
        assert ("outer", "size") in found.reasons
        assert sum(len(content) for _, content in found.members) <= 2_000


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_bomb_in_a_zip_is_stopped(tmp_path, method):
    data = zip_of([("log.jsonl", lines("a", 3) + bytes(70 << 20)), ("b.jsonl", lines("b", 2))], method)
    found = Unfolded(tmp_path, data)
    assert {"outer", "outer/log.jsonl"} <= {name for name, reason in found.reasons if reason == "ratio"}
    assert len(found.members[0][1]) <= max(64 << 20, 1000 * len(data))
    assert found.records == 3


def test_a_zip_in_a_zip_in_a_zip_shares_one_budget(tmp_path):
    """Each layer is within the ratio, all of them together are not."""
    inner = zip_of([(f"{i}", lines(str(i), 1) + bytes(18 << 20)) for i in range(4)])
    found = Unfolded(tmp_path, zip_of([("a.zip", inner)]))
    assert "ratio" in {reason for _, reason in found.reasons}
    assert sum(len(content) for _, content in found.members) <= 64 << 20


def test_members_that_share_bytes_are_read_once(tmp_path):
    data = zip_of([("a.jsonl", lines("a", 5))], zipfile.ZIP_STORED)
    at = data.index(b"PK\x01\x02")
    end = data.index(b"PK\x05\x06")
    directory = data[at:end]
    many = 200
    tail = bytearray(data[end:])
    struct.pack_into("<2H2I", tail, 8, many, many, len(directory) * many, at)
    found = Unfolded(tmp_path, data[:at] + directory * many + bytes(tail))
    assert [reason for _, reason in found.reasons] == ["overlapping_member"] * (many - 1)
    assert found.records == 5
    # One whose data run into the directory.
    wide = bytearray(data)
    struct.pack_into("<2I", wide, at + 20, end, end)
    assert Unfolded(tmp_path, bytes(wide)).reasons == [("outer/a.jsonl", "overlapping_member")]


def test_encrypted_and_unknown_members_are_refused_by_name(tmp_path):
    data = bytearray(zip_of([("a.jsonl", lines("a", 5)), ("secret.jsonl", lines("b", 5)), ("odd", lines("c", 5))], 0))
    for name, offset, value in ((b"secret", 6, 1), (b"odd", 8, 9)):
        first, second = data.index(name), data.rindex(name)
        data[first - 30 + offset] = value
        data[second - 46 + offset + 2] = value
    found = Unfolded(tmp_path, bytes(data))
    assert found.reasons == [("outer/secret.jsonl", "encrypted_member"), ("outer/odd", "unsupported_member")]
    assert found.records == 5
    refused = found.accounts[1]
    assert refused.rejected_bytes == refused.content_bytes == len(lines("b", 5))
    assert refused.sha256 == hashlib.sha256(lines("b", 5)).hexdigest()
    assert "method 9" in found.accounts[2].detected.reason


def test_a_wrong_checksum_in_a_zip_is_said(tmp_path):
    data = bytearray(zip_of(TWO, zipfile.ZIP_STORED))
    data[data.index(b"a-7")] ^= 2
    found = Unfolded(tmp_path, bytes(data))
    assert found.reasons == [("outer/a.jsonl", "damaged_stream")]
    assert found.records == 80


@pytest.mark.parametrize("form", ["tar", "zip", "zip-pipe", "tar-sparse", "tar-sparse-old"])
@given(edits=st.lists(st.tuples(st.floats(0, 0.999), st.integers(0, 255)), min_size=1, max_size=6))
# The directory's own offset, and a member's offset beyond the file.
@example(edits=[(0.98828125, 0)])
@example(edits=[(0.678622895697396, 165), (0.8638369747478675, 25), (0.9908710233288782, 0)])
@settings(max_examples=60, deadline=None)
def test_changed_bytes_never_raise(tmp_path_factory, form, edits):
    data = {
        "tar": lambda: tar_of(TWO),
        "zip": lambda: zip_of(TWO),
        "zip-pipe": lambda: zip_of(TWO, stream=True),
        "tar-sparse": lambda: sparse_members()["1.0"],
        "tar-sparse-old": lambda: sparse_members()["old"],
    }[form]()
    raw = bytearray(data)
    for at, value in edits:
        raw[int(at * len(raw))] = value
    reading = Reading(None, "UTC", 256 << 20, 1000, 1 << 24, 1000, 4)
    Unfolded(tmp_path_factory.mktemp("f"), bytes(raw), reading)


def test_the_same_bytes_are_read_once(bench):
    log = lines("a", 3)
    bench.put("1.jsonl", log)
    bench.put("2.tar.gz", gzip.compress(tar_of([("x", log), ("y", lines("b", 2)), ("z", lines("b", 2))]), mtime=0))
    first = bench.run()
    assert first.figures["records"] == 5
    assert [file["name"] for file in first.figures["files"]] == [
        "evidence/1.jsonl",
        "evidence/2.tar.gz/y",
        "evidence/2.tar.gz",
    ]
    assert any(warning.startswith("2 member(s) of archives hold the same bytes") for warning in first.warnings)
    assert bench.run().skipped
    # A member given as a file of its own is known, and so is one in another archive.
    bench.put("3.jsonl", lines("b", 2))
    bench.put("4.zip", zip_of([("x", log), ("new", lines("c", 1))]))
    second = bench.run()
    assert second.figures["records"] == 6
    assert any(warning.startswith("1 member(s) of archives were read before") for warning in second.warnings)
    assert bench.run().skipped
    # Another way of reading needs what was given, not its members one by one.
    assert bench.run(max_depth=3).figures["records"] == 6
    assert list((bench.case.root / "restricted").glob("members")) == []


def test_archives_in_the_tables_and_in_two_processes(make_bench, monkeypatch):
    monkeypatch.setattr("forensics.ingest.run._PARALLEL_BYTES", 0)
    rows = []
    members = [(f"{i}.jsonl", lines(f"m{i}", 50)) for i in range(20)]
    data = PACK["zstd"](tar_of([*members, ("in.zip", zip_of(TWO))]))
    for workers in (1, 2):
        bench = make_bench(f"w{workers}")
        bench.put("a.tar.zst", data)
        summary = bench.run(workers=workers)
        assert summary.figures["records"] == 1080
        assert summary.figures["bytes"] == (bench.folder / "a.tar.zst").stat().st_size
        rows.append([str(sorted(row.items())) for row in bench.rows("evidence", "evidence")])
        assert not any(bench.case.rows(f"audits/{name}") for name in ("bytes_accounted", "rejects_counted"))
    assert rows[0] == rows[1]


def test_copies_of_members_that_no_process_reads_do_not_pile_up(bench, monkeypatch):
    monkeypatch.setattr("forensics.ingest.run._PARALLEL_BYTES", 0)
    most = 0
    done = Unfolder.done

    def counted(self, file):
        nonlocal most
        most = max(most, len(list((bench.case.root / "restricted" / "members").iterdir())))
        done(self, file)

    monkeypatch.setattr(Unfolder, "done", counted)
    bench.put("a.tar", tar_of([("log", lines("a", 1)), *[(f"{i}.bin", b"\0%d" % i) for i in range(400)]]))
    assert bench.run(workers=2).figures["rejected"] == 400
    assert 0 < most < 120


def test_a_full_disk_is_a_clear_error_and_leaves_the_case_as_it_was(bench, monkeypatch):
    bench.put("a.tar", tar_of(TWO))
    real = archives.os.fdopen

    class Full(io.RawIOBase):
        def writable(self):
            return True

        def write(self, data):
            raise OSError(28, "No space left on device")

    def fdopen(descriptor, *rest):
        real(descriptor, *rest).close()
        return Full()

    monkeypatch.setattr(archives.os, "fdopen", fdopen)
    with pytest.raises(LimitHit, match="disk of the case is full"):
        bench.run()
    assert bench.rows("evidence", "evidence") == []
    assert list((bench.case.root / "restricted").glob("members")) == []


def test_many_empty_and_odd_members_make_few_sentences(bench):
    bench.put("a.tar", tar_of([*[(f"{i}.bin", b"\0%d" % i) for i in range(50)], ("log", lines("a", 1))]))
    summary = bench.run()
    assert summary.figures["rejected"] == 50
    assert sum("known format" in warning for warning in summary.warnings) == 21
