"""A planted leak is caught in every format: passages, any text of another tenant, its numbers, its people, its name."""

from __future__ import annotations

import base64
import gzip
import html
import io
import json
import quopri
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from case_builder import CaseBuilder

from forensics.case.store import Case
from forensics.report.corpus_check import Outgoing, check_corpus
from forensics.report.decoded import unfold
from forensics.report.egress import Passage, check

PASSAGE = "the quay ledger of Halloran names four barges, and Ilse Brandvold signs for “all of them” & more"
ACCOUNT = "4471-9982-1107"
PERSON = "Ilse Brandvold"
MAIL = "i.brandvold@quay-ledger.example"
TENANT = "halloran-freight"
AROUND = "Please delete the passages that are not yours. "


def zipped(text: str, inner: str = "a.txt") -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("other.txt", "nothing here")
        archive.writestr(inner, text)
    return sink.getvalue()


def notebook(text: str) -> str:
    half = len(text) // 2
    cell = {"cell_type": "markdown", "metadata": {}, "source": [text[:half], text[half:]]}
    return json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


FORMATS: dict[str, tuple[str, Callable[[str], str | bytes]]] = {
    "markdown": ("a.md", lambda t: "".join("\\" + c if c in "-,.&@" else c for c in t)),
    "markdown, emphasis inside": ("a.md", lambda t: t[:5] + "**" + t[5:9] + "**" + t[9:]),
    "html": ("a.html", lambda t: f"<p>{html.escape(t)}</p>"),
    "html, split over tags": ("a.html", lambda t: "<p>" + "".join(f"<b>{html.escape(t[i : i + 3])}</b>" for i in range(0, len(t), 3)) + "</p>"),
    "html, split over blocks": ("a.html", lambda t: f"<p>{html.escape(t[:7])}</p><p>{html.escape(t[7:])}</p>"),
    "html, attribute": ("a.html", lambda t: f'<img alt="{html.escape(t)}">'),
    "html, other attribute": ("a.html", lambda t: f'<p data-x="{html.escape(t)}"></p>'),
    "html, comment": ("a.html", lambda t: f"<!-- {t} -->"),
    "html, script": ("a.html", lambda t: f"<script>var x = {json.dumps(t)};</script>"),
    "html, style": ("a.html", lambda t: f"<style>p::after {{ content: '{t}' }}</style>"),
    "entities, decimal": ("a.html", lambda t: "".join(f"&#{ord(c)};" for c in t)),
    "entities, hexadecimal, in text": ("a.txt", lambda t: "".join(f"&#x{ord(c):x};" for c in t)),
    "csv": ("a.csv", lambda t: 'a,b\n1,"' + t.replace('"', '""') + '"\n'),
    "json": ("a.json", lambda t: json.dumps({"x": [{"y": t}]})),
    "json, as a key": ("a.json", lambda t: json.dumps({t: 1})),
    "json, every letter escaped": ("a.json", lambda t: '{"x": "' + "".join(f"\\u{ord(c):04x}" for c in t) + '"}'),
    "json in json": ("a.json", lambda t: json.dumps({"x": json.dumps({"y": t})})),
    "json lines": ("a.jsonl", lambda t: '{"a": 1}\n{"x": "' + "".join(f"\\u{ord(c):04x}" for c in t) + '"}\n'),
    "svg": ("a.svg", lambda t: f"<svg><text>{html.escape(t)}</text></svg>"),
    "svg, one sign a span": ("a.svg", lambda t: "<svg><text>" + "".join(f"<tspan>{html.escape(c)}</tspan>" for c in t) + "</text></svg>"),
    "svg, title": ("a.svg", lambda t: f"<svg><title>{html.escape(t)}</title></svg>"),
    "notebook": ("a.ipynb", notebook),
    "base64": ("a.txt", b64),
    "base64, urlsafe": ("a.txt", lambda t: base64.urlsafe_b64encode(t.encode()).decode().rstrip("=")),
    "base64, wrapped": ("a.txt", lambda t: base64.encodebytes((t * 3).encode()).decode()),
    "base64, behind three letters": ("a.txt", lambda t: "key" + b64(t)),
    "base64, data address": ("a.html", lambda t: f'<img src="data:text/plain;base64,{b64(t)}">'),
    "base64, twice": ("a.txt", lambda t: b64(b64(t))),
    "base64 in json in a notebook": ("a.ipynb", lambda t: notebook(json.dumps({"x": b64(t)}))),
    "hexadecimal": ("a.txt", lambda t: t.encode().hex()),
    "percent": ("a.txt", lambda t: "https://example.org/?q=" + quote(t)),
    "percent, every letter": ("a.html", lambda t: '<a href="/?q=' + "".join(f"%{b:02X}" for b in t.encode()) + '">x</a>'),
    "quoted-printable": ("a.eml", lambda t: quopri.encodestring(t.encode(), quotetabs=True)),
    "quoted-printable, every letter": ("a.eml", lambda t: "".join(f"={b:02X}" for b in t.encode())),
    "escapes in a script": ("a.md", lambda t: "".join(f"\\x{ord(c):02x}" if ord(c) < 256 else f"\\u{ord(c):04x}" for c in t)),
    "zip member": ("a.zip", zipped),
    "zip in zip": ("a.bin", lambda t: _nested(t)),
    "zip, name of a member": ("a.zip", lambda t: zipped("x", t.replace("/", " ") + ".txt")),
    "zip in base64": ("a.txt", lambda t: base64.b64encode(zipped(t)).decode()),
    "gzip": ("a.gz", lambda t: gzip.compress(t.encode())),
    "utf-16": ("a.txt", lambda t: t.encode("utf-16")),
    "utf-16 without a mark": ("a.txt", lambda t: t.encode("utf-16-le")),
    "full width": ("a.txt", lambda t: "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in t)),
    "zero width between": ("a.txt", lambda t: "\u200b".join(t)),
    "upper case, other spaces": ("a.txt", lambda t: t.upper().replace(" ", "\u00a0\n ")),
}  # fmt: skip


def _nested(text: str) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("inner.zip", zipped(text))
    return sink.getvalue()


def written(name: str, text: str) -> tuple[str, bytes]:
    path, write = FORMATS[name]
    data = write(text)
    return path, data if isinstance(data, bytes) else data.encode()


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Case]:
    b = CaseBuilder()
    b.request("theirs", TENANT, 0, 10, prompt=f"note: {PASSAGE}; account {ACCOUNT}, {MAIL}; Ilse Brandvold asks.")
    b.request("mine", "beta", 20, 30, prompt="what is the tide at noon?")
    with b.write(tmp_path_factory.mktemp("planted") / "c") as case:
        yield case


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_a_leaked_passage_is_caught_in_every_format(name: str) -> None:
    path, data = written(name, PASSAGE)
    found = check([(path, data)], [Passage("f1", PASSAGE)])
    assert [(hit.path, hit.fragment_id) for hit in found] == [(path, "f1")]
    assert found[0].place and "Halloran" not in found[0].why and "Halloran" not in repr(found)


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_text_of_another_tenant_is_caught_in_every_format(name: str, case: Case) -> None:
    path, data = written(name, PASSAGE)
    found = check_corpus(case, [Outgoing(path, data, "beta")])
    assert [(hit.path, hit.request_id) for hit in found] == [(path, "theirs")]
    assert check_corpus(case, [Outgoing(path, data, TENANT)]) == []


# Encodings that leave the signs of a token in order are read with the token between other words; inside some of them a
# token is cut up, so that only whole passages can be promised.
SPLITS_TOKENS = {"html, split over blocks"}


@pytest.mark.parametrize("name", sorted(set(FORMATS) - SPLITS_TOKENS))
@pytest.mark.parametrize("token", [ACCOUNT, MAIL])
def test_an_identifier_of_another_tenant_is_caught(name: str, token: str, case: Case) -> None:
    if name == "zip, name of a member" and token == MAIL:
        pytest.skip("the suffix of the name becomes part of the address")
    path, data = written(name, f"see {token}.")
    found = check_corpus(case, [Outgoing(path, data, "beta")], ["see"])
    assert [(hit.path, hit.what) for hit in found] == [(path, "identifier")]
    assert token not in found[0].why


@pytest.mark.parametrize("name", ["html", "csv", "json", "svg", "notebook", "base64", "percent", "quoted-printable", "zip member", "entities, decimal"])  # fmt: skip
def test_a_person_and_the_name_of_another_tenant_are_caught(name: str, case: Case) -> None:
    for text in (f"so says {PERSON} today", f"as with {TENANT} before"):
        path, data = written(name, text)
        found = check_corpus(case, [Outgoing(path, data, "beta")])
        assert [(hit.path, hit.what) for hit in found] == [(path, "name")]
        assert check_corpus(case, [Outgoing(path, data, TENANT)]) == []


@pytest.mark.parametrize("name", sorted(FORMATS))
def test_clean_words_pass_in_every_format(name: str, case: Case) -> None:
    path, data = written(name, AROUND)
    assert check([(path, data)], [Passage("f1", PASSAGE)]) == []
    assert check_corpus(case, [Outgoing(path, data, "beta")]) == []


def test_what_cannot_be_read_is_named() -> None:
    assert unfold("a.png", b"\x89PNG\r\n\x1a\n" + bytes(200)).unread
    assert unfold("a.zip", b"PK\x03\x04" + b"damaged" * 9).unread
    bomb = gzip.compress(gzip.compress(bytes(200 << 20)))
    assert unfold("a.gz", bomb).unread
    deep = b"x"
    for _ in range(9):
        deep = _wrap(deep)
    assert unfold("a.zip", deep).unread
    assert not unfold("a.md", AROUND.encode()).unread


def test_what_was_met_too_deep_is_read_where_it_stands_less_deep() -> None:
    """The same text as the innermost of four layers, whose own is not read, and later as a member of its own."""
    text = b64(PASSAGE)
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("a", b64(b64(text)))
        archive.writestr("b", text)
    assert check([("a.zip", sink.getvalue())], [Passage("f1", PASSAGE)])


def _wrap(data: bytes) -> bytes:
    sink = io.BytesIO()
    with zipfile.ZipFile(sink, "w") as archive:
        archive.writestr("a", data)
    return sink.getvalue()


def test_what_several_tenants_hold_is_nobodys_identifier(tmp_path: Path) -> None:
    b = CaseBuilder()
    for tenant in ("one", "two", "three", "four"):
        b.request(tenant, tenant, 0, 10, prompt="the model is glm-5.3-fp8-20260901")
    b.request("mine", "beta", 20, 30)
    with b.write(tmp_path / "c") as case:
        assert check_corpus(case, [Outgoing("a.md", b"served by glm-5.3-fp8-20260901", "beta")]) == []


def test_the_place_leads_to_the_words(case: Case) -> None:
    data = json.dumps({"note": f"{AROUND}{b64(PASSAGE)}"}).encode()
    [hit] = check_corpus(case, [Outgoing("a.json", data, "beta")])
    at = int(hit.place.rpartition(" ")[2])
    view = next(v for v in unfold("a.json", data).views if hit.place.startswith(f"{v.place}, at"))
    assert "base64" in view.place and view.text[at:].startswith("the quay ledger")


@pytest.mark.parametrize("name", ["2026", "1042", "text", "prompt", "value", "known", "eu"])
def test_a_tenant_that_is_called_like_a_date_or_a_word_of_ours_blocks_nothing(name: str, tmp_path: Path) -> None:
    from forensics.report.fields import words_of_fields
    from forensics.report.gate import held_back

    b = CaseBuilder()
    b.request("theirs", name, 0, 10)
    b.request("mine", "beta", 20, 30)
    with b.write(tmp_path / "c") as case:
        data = (
            b'{"value": "between 2026-03-04 10:01 UTC and later; 1042 characters", "status": "known", "text": "prompt"}'
        )
        assert held_back(case, {"report/a.json": data}, words_of_fields()) == []


@pytest.mark.parametrize("piece", ["<", "<!--", "<a ", "<a b='", "<![CDATA[", "&#", "\\u", "%4", "=\n", "QUJD", "QUJDQUJDQUJDQUJDQUJD\n", "41", "[", "a`b", '<a "' + "<a" * 1900])  # fmt: skip
def test_hostile_repetition_takes_no_longer_than_its_length(piece: str) -> None:
    started = time.process_time()
    unfold("a.html", (piece * (400_000 // len(piece))).encode())
    assert time.process_time() - started < 5, "reading is not linear"


def test_a_number_beside_another_cell_is_still_seen(case: Case) -> None:
    cell = "".join(f"&#{ord(sign)};" for sign in ACCOUNT)
    data = f"<table><tr><td>{cell}</td><td>12</td></tr></table>".encode()
    assert [hit.what for hit in check_corpus(case, [Outgoing("a.html", data, "beta")])] == ["identifier"]
