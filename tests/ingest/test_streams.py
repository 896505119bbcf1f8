"""Compressed evidence: several members, cut streams, bombs. A stream that ends early never reads short in silence."""

from __future__ import annotations

import bz2
import gzip
import lzma

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.ingest.streams import Budget, Limits, StreamEnd, peel, pieces, sniff

LINES = [b'{"request_id":"r%d","tenant_id":"t","x":"%s"}\n' % (i, str(i * 7919).encode() * 20) for i in range(3000)]
DATA = b"".join(LINES)
FREE = Limits(10**9, 1 << 40)


def zstd_frames(data: bytes, size: int) -> bytes:
    """One frame, a flush after every `size` bytes: blocks end where the tests want to cut."""
    frame = zstandard.ZstdCompressor(write_checksum=True).compressobj()
    out = b""
    for at in range(0, len(data), size):
        out += frame.compress(data[at : at + size]) + frame.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)
    return out + frame.flush()


FORMS = {
    "gzip": gzip.compress(DATA),
    "gzip-members": b"".join(gzip.compress(DATA[i : i + 50_000]) for i in range(0, len(DATA), 50_000)),
    "gzip-padded": gzip.compress(DATA) + b"\0" * 1000,
    "zstd": zstandard.ZstdCompressor().compress(DATA),
    "zstd-blocks": zstd_frames(DATA, 5_000),
    "zstd-frames": b"".join(
        zstandard.ZstdCompressor().compress(DATA[i : i + 50_000]) for i in range(0, len(DATA), 50_000)
    ),
    "zstd-skippable": (0x184D2A53).to_bytes(4, "little")
    + (9).to_bytes(4, "little")
    + b"any bytes"
    + zstandard.ZstdCompressor(write_content_size=False).compress(DATA),
    "bzip2": bz2.compress(DATA),
    "bzip2-streams": b"".join(bz2.compress(DATA[i : i + 50_000]) for i in range(0, len(DATA), 50_000)),
    "xz": lzma.compress(DATA),
    "xz-streams": b"".join(lzma.compress(DATA[i : i + 50_000]) + bytes(8) for i in range(0, len(DATA), 50_000)),
    "zstd-zeros": zstandard.ZstdCompressor(level=19).compress(b'{"request_id":"0"}\n' + b"0" * 3_000_000),
}


def read(path, compression, limits=FREE):
    out, reason = [], None
    try:
        for piece, _ in pieces(path, compression, limits):
            out.append(piece)
    except StreamEnd as end:
        reason = end.reason
    return b"".join(out), reason


@pytest.mark.parametrize("form", [form for form in FORMS if form != "zstd-zeros"])
def test_every_member_is_read(tmp_path, form):
    path = tmp_path / "wrong-name.txt"
    path.write_bytes(FORMS[form])
    assert sniff(FORMS[form][:512]) == form.split("-")[0]
    assert read(path, form.split("-")[0]) == (DATA, None)


def test_a_block_of_one_repeated_byte(tmp_path):
    path = tmp_path / "f"
    path.write_bytes(FORMS["zstd-zeros"])
    assert read(path, "zstd") == (b'{"request_id":"0"}\n' + b"0" * 3_000_000, None)


@pytest.mark.parametrize("form", [form for form in FORMS if form not in ("zstd-zeros", "gzip-padded")])
@given(share=st.floats(0.01, 0.999))
@settings(max_examples=15, deadline=None)
def test_a_cut_stream_is_a_prefix_and_says_so(tmp_path_factory, form, share):
    compression = form.split("-")[0]
    path = tmp_path_factory.mktemp("cut") / "f"
    raw = FORMS[form][: int(len(FORMS[form]) * share)]
    path.write_bytes(raw)
    data, reason = read(path, compression)
    assert DATA.startswith(data)
    if reason is None:
        # Only where the cut falls between two members is there nothing to see.
        assert form in ("gzip-members", "zstd-frames", "bzip2-streams", "xz-streams")
        assert len(data) % 50_000 == 0 or data == DATA
    else:
        assert reason == "damaged_stream"


def test_every_block_edge_of_a_zstd_file(tmp_path):
    """The library takes a file cut at a block's edge for a whole one; here it must not."""
    path = tmp_path / "f"
    raw = FORMS["zstd-blocks"]
    for cut in range(len(raw) - 400, len(raw)):
        path.write_bytes(raw[:cut])
        assert read(path, "zstd")[1] == "damaged_stream"


@pytest.mark.parametrize("form", ["gzip", "zstd-blocks", "bzip2", "xz"])
@given(at=st.floats(0.0, 1.0), value=st.integers(0, 255))
@settings(max_examples=30, deadline=None)
def test_a_changed_byte_never_raises_anything_else(tmp_path_factory, form, at, value):
    raw = bytearray(FORMS[form])
    raw[min(int(at * len(raw)), len(raw) - 1)] = value
    path = tmp_path_factory.mktemp("flip") / "f"
    path.write_bytes(raw)
    read(path, form.split("-")[0], Limits(10**9, 1 << 24))


@pytest.mark.parametrize("form", ["gzip", "zstd-blocks", "bzip2-streams", "xz"])
def test_truncated_evidence_is_counted_and_said(bench, form):
    raw = FORMS[form]
    bench.put("log", raw[: len(raw) * 3 // 4])
    summary = bench.run()
    file = summary.figures["files"][0]
    assert not file["complete"]
    assert file["reasons"]["damaged_stream"] == 1
    assert 0 < file["records"] < 3000
    assert any("not read to its end" in warning for warning in summary.warnings)
    assert summary.figures["partial"] is False
    row = bench.rows("evidence", "evidence")[0]
    assert (
        row["record_bytes"] + row["rejected_bytes"] + row["blank_bytes"] + row["structure_bytes"]
        == row["content_bytes"]
    )


SMALL = b"".join(LINES[:12])
PACKED = {
    "gzip": gzip.compress(SMALL, mtime=0),
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress(SMALL),
    "bzip2": bz2.compress(SMALL),
    "xz": lzma.compress(SMALL),
}
PACKED |= {f"{outer}+{inner}": PACKED[inner] for inner in list(PACKED) for outer in ("gzip", "xz")}
for _name in [name for name in PACKED if "+" in name]:
    PACKED[_name] = (gzip.compress if _name.startswith("gzip") else lzma.compress)(PACKED[_name])


@pytest.mark.parametrize("form", PACKED)
def test_every_cut_of_a_small_stream_is_said(tmp_path, form):
    """At every byte, whatever the layers: never a whole file that is shorter."""
    path = tmp_path / "f"
    raw = PACKED[form]
    for cut in range(1, len(raw)):
        path.write_bytes(raw[:cut])
        data, reason = read(path, form)
        assert reason == "damaged_stream" and SMALL.startswith(data), cut
    path.write_bytes(raw)
    assert read(path, form) == (SMALL, None)
    assert peel(path, 4).compression == form
    # One after the other, of one form.
    path.write_bytes(raw + raw)
    assert read(path, form) == (SMALL + SMALL, None)


def test_layers_are_told_by_content_and_counted(tmp_path):
    path = tmp_path / "f"
    data = SMALL
    for _ in range(5):
        data = gzip.compress(data)
    path.write_bytes(data)
    assert (peel(path, 4).inner, peel(path, 5).inner, peel(path, 5).layers) == ("depth", "none", ("gzip",) * 5)
    path.write_bytes(SMALL)
    assert peel(path, 4).compression == "none"
    assert [sniff(head) for head in (b"BZhello", b"BZh9 is a word", b"", b"\x1f", b"PK")] == ["none"] * 5


@pytest.mark.parametrize("form", ["gzip", "zstd-blocks"])
@pytest.mark.parametrize("place", [0.5, 0.99])
def test_what_stands_before_the_damage_is_read(tmp_path, place, form):
    """A wrong byte in the last stretch must not cost the lines before it."""
    raw = bytearray(FORMS[form])
    raw[int(len(raw) * place)] ^= 0xFF
    path = tmp_path / "f"
    path.write_bytes(raw)
    data, reason = read(path, form.partition("-")[0])
    assert reason == "damaged_stream"
    common = next((i for i, (a, b) in enumerate(zip(data, DATA, strict=False)) if a != b), len(data))
    assert common > len(DATA) * place * 0.9
    form = form.partition("-")[0]
    raw = bytearray(PACKED[form])
    raw[{"gzip": -6, "zstd": -1}[form]] ^= 1  # the checksum
    path.write_bytes(raw)
    assert read(path, form) == (SMALL, "damaged_stream")


def test_a_window_that_takes_gigabytes_is_refused(tmp_path):
    path = tmp_path / "f"
    big = lzma.compress(SMALL, format=lzma.FORMAT_XZ, filters=[{"id": lzma.FILTER_LZMA2, "dict_size": 1 << 29}])
    path.write_bytes(big)
    assert read(path, "xz") == (b"", "memory")
    frame = bytearray(zstandard.ZstdCompressor(write_content_size=False).compress(SMALL))
    assert not frame[4] & 0x20
    frame[5] = 21 << 3  # 2 GiB
    path.write_bytes(frame)
    assert read(path, "zstd") == (b"", "memory")


@pytest.mark.parametrize("compression", ["gzip", "zstd", "bzip2", "xz"])
def test_trailing_garbage_is_said(bench, compression):
    pack = {"gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress, "bzip2": bz2.compress}
    bench.put("log.gz", pack.get(compression, lzma.compress)(b'{"request_id":"a"}\n') + b"garbage")
    summary = bench.run()
    assert (summary.figures["records"], summary.figures["files"][0]["complete"]) == (1, False)


@pytest.mark.parametrize("compression", ["gzip", "zstd", "bzip2", "xz", "xz+gzip"])
def test_a_bomb_is_stopped(bench, compression):
    bomb = b'{"request_id":"a"}\n' + b"0" * (200 << 20 if compression == "gzip" else 90 << 20)
    packed = {
        "gzip": lambda: gzip.compress(bomb, 9),
        "zstd": lambda: zstandard.ZstdCompressor(level=3).compress(bomb),
        "bzip2": lambda: bz2.compress(bomb, 9),
        "xz": lambda: lzma.compress(bomb, preset=0),
        "xz+gzip": lambda: lzma.compress(gzip.compress(bomb, 9)),
    }[compression]()
    bench.put("log", packed)
    summary = bench.run(max_line_bytes=1 << 20)
    file = summary.figures["files"][0]
    assert summary.figures["partial"] is True
    assert (file["complete"], file["records"]) == (False, 1)
    assert file["reasons"] == {"oversized_line": 1, "ratio": 1}
    assert file["content_bytes"] < 80 << 20


def test_a_layer_that_yields_nothing_is_bounded_too(tmp_path):
    """Inside, millions of empty members: nothing comes out at the top, and the layer below must stop it."""
    empty = gzip.compress(b"", mtime=0)
    one = gzip.compress(empty * (1 << 20), 9, mtime=0)  # 20 MiB in 64 KiB
    path = tmp_path / "f"
    path.write_bytes(lzma.compress(one * 4))
    assert read(path, "xz+gzip+gzip", Limits(1000, 1 << 40)) == (b"", "ratio")


def test_a_budget_is_shared():
    budget = Budget(1 << 20, 1000, 1 << 40)
    budget.take(1000 << 20)
    with pytest.raises(StreamEnd, match="ratio"):
        budget.take(1)
    with pytest.raises(StreamEnd, match="size"):
        Budget(1, 1000, 10).take(11)


def test_max_bytes(bench):
    bench.put("log", FORMS["gzip"])
    summary = bench.run(max_bytes=100_000)
    assert summary.figures["partial"] is True
    file = summary.figures["files"][0]
    assert (file["content_bytes"], file["complete"], file["reasons"]["size"]) == (100_000, False, 1)
    assert file["records"] == DATA[:100_000].count(b"\n")
