"""Every view of a file, against the same patterns written plainly, and views whatever was unfolded before."""

from __future__ import annotations

import base64
import gzip
import re
import string

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.report import decoded
from forensics.report.decoded import unfold

MARKS = re.compile(r"(?<=[\w.@-])(?:[*`]{1,3}|~~)(?=[\w@-]|\.\w)|\\(?=[!-/:-@\[-`{-~])")
HEX = re.compile(r"(?:[0-9A-Fa-f]{2}[ :]?){12,}")
WRAPPED = re.compile(r"(?<![A-Za-z0-9+/])(?:[A-Za-z0-9+/]{20,}={0,2}\r?\n[ \t]*)+[A-Za-z0-9+/]+={0,2}")
PIECES = st.sampled_from(
    [
        *"*`~\\.@-_=+/ aZ9\n",
        "**", "***", "~~", "\r\n", "==", "word", "0af3", "61 62 ", "3a:4b:", "deadbeefcafe", "QUJDREVGR0hJSktMTU5P",
        "UFFSU1RVVldYWVphYmNkZWZnaGk=", "\n  ",
    ]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=30).map("".join)


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_marks_and_hexadecimal_are_found_as_by_the_plain_patterns(text: str) -> None:
    for fast, plain in ((decoded._MARKS, MARKS), (decoded._HEX, HEX)):
        assert [match.span() for match in fast.finditer(text)] == [match.span() for match in plain.finditer(text)]


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_every_wrapped_passage_is_a_view(text: str) -> None:
    views = [view.text for view in unfold("f", text.encode()).views]
    for match in WRAPPED.finditer(text):
        held = re.sub(r"\s", "", match.group()).rstrip("=")
        if not re.search(r"[A-Z][^A-Z]*[a-z]|[a-z][^a-z]*[A-Z]", match.group()) or "=" in held:
            continue
        inner = base64.b64decode(held[: len(held) - (len(held) % 4 == 1)] + "=" * (-len(held) % 4))
        if inner.isascii() and all(chr(byte) in string.printable for byte in inner):
            assert inner.decode() in views


@pytest.mark.parametrize("count", [1, 30], ids=["kept", "not kept"])
def test_a_passage_is_unfolded_alike_the_second_time(count: int) -> None:
    inner = "the ledger of kestrel quay " * count
    data = base64.b64encode(inner.encode()) + b" <b>Kestrel</b> &amp; q**ua**y"
    first, second = unfold("a", data), unfold("b", data)
    assert [(view.place, view.text) for view in first.views[:-1]] == [(v.place, v.text) for v in second.views[:-1]]
    assert inner in [view.text for view in second.views]


@pytest.mark.parametrize("signs", ["H4t", "H4s"])
def test_a_name_that_reads_like_the_first_bytes_of_gzip_is_no_stream(signs: str) -> None:
    """Digests and ids do so now and then: a file must not be withheld for one."""
    held = base64.b64encode(base64.b64decode(signs + "A") + b"\xff" * 21).decode()
    assert held.startswith(signs)
    assert unfold("a.md", f"fragment {held} is one".encode()).unread == []


def test_a_stream_that_breaks_off_is_named() -> None:
    for broken in (
        gzip.compress(b"the ledger of kestrel quay" * 9)[:-12],
        gzip.compress(b"x" * 40)[:10] + b"\xff" * 20,
    ):
        assert unfold("a.md", b"<p>" + base64.b64encode(broken) + b"</p>").unread
