"""Leaked text is found however a file dresses it, and our own words never count as leaked."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from case_builder import SECRET, CaseBuilder
from hypothesis import given
from hypothesis import strategies as st

from forensics.case.errors import EgressBlocked
from forensics.report import run as report
from forensics.report.egress import Hit, Passage, check

LEAK = [Passage("f1", SECRET)]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.txt", f"before {SECRET} after"),
        ("a.txt", SECRET.upper().replace(" ", "\n  ")),
        ("a.txt", f"... {SECRET[10:40]} ..."),  # a part of a long passage is enough
        ("a.html", f"<p>{html.escape(SECRET)}</p>"),
        ("a.html", "<p>" + "".join(f"&#{ord(c)};" for c in SECRET) + "</p>"),
        ("a.html", f"<p>{SECRET[:20]}<b>{SECRET[20:]}</b></p>"),
        ("a.html", f'<svg aria-label="{SECRET}"></svg>'),
        ("a.html", f"<!-- {SECRET} -->"),
        ("a.md", "".join("\\" + c if c in "-," else c for c in SECRET)),
        ("a.json", json.dumps({"x": [{"y": SECRET}]})),
        ("a.json", json.dumps({SECRET: 1})),
        ("a.csv", f'1,"{SECRET}"\n'),
    ],
)
def test_leaked_text_is_found(path: str, text: str) -> None:
    assert check([(path, text.encode())], LEAK) == [Hit(path, "f1")]


def test_clean_files_pass_and_hits_are_sorted() -> None:
    files = [("b.txt", SECRET.encode()), ("a.txt", SECRET.encode()), ("c.txt", b"nothing of interest in here at all")]
    assert [hit.path for hit in check(files, LEAK)] == ["a.txt", "b.txt"]


def test_short_passages_are_found_whole_and_only_whole() -> None:
    passage = [Passage("f", "GB29-7731-0045")]
    assert check([("a.txt", b"see GB29-7731-0045.")], passage)
    assert not check([("a.txt", b"see GB29-7731-004")], passage)
    assert not check([("a.txt", b"key 1234567890")], [Passage("f", "1234567890")])  # under twelve code points


def test_words_of_our_own_are_allowed() -> None:
    sentence = "This report holds no text of any customer."
    assert check([("a.txt", sentence.encode())], [Passage("f", sentence)])
    assert not check([("a.txt", sentence.encode())], [Passage("f", sentence)], allowed=[f"x {sentence} y"])


def test_a_passage_never_shows_its_text() -> None:
    assert SECRET not in repr(LEAK[0])


@given(st.text(min_size=24, max_size=60).filter(lambda t: len(" ".join(t.lower().split())) >= 24), st.text(max_size=20))
def test_any_long_passage_is_found_between_other_words(passage: str, around: str) -> None:
    data = json.dumps([f"{around}\n{passage}\n{around}"]).encode()
    assert check([("a.json", data)], [Passage("f", passage)])


def leaking_case() -> CaseBuilder:
    # The leaked text is the victim's own request id, which its letter must name: the one way in that is left.
    b = CaseBuilder()
    secret_id = "patient-Okonkwo-Maria-1971-04-12"
    source = b.request("s", "alpha", 0, 10, prompt=secret_id)
    recipient = b.request(secret_id, "beta", 5, 15, response=secret_id)
    b.fragment("f1", recipient, 0, len(secret_id), ["alpha"], [(source, "prompt")])
    return b


def test_a_blocked_file_stops_the_stage_and_nothing_is_written(tmp_path: Path, reported: Callable[..., Path]) -> None:
    with pytest.raises(EgressBlocked) as caught:
        reported(leaking_case(), tmp_path / "c")
    assert "Okonkwo" not in str(caught.value)
    assert not list((tmp_path / "c/notify").iterdir()) and not list((tmp_path / "c/report").iterdir())


def test_withheld_files_are_left_out_and_said(tmp_path: Path, reported: Callable[..., Path]) -> None:
    root = reported(leaking_case(), tmp_path / "c", report.Parameters(on_block="withhold"))
    written = sorted(path.name for path in root.glob("notify/*/*"))
    # The source's letter is clean; the recipient's names its own request id, so that no part of it is written.
    assert written == ["attachment.csv", "fields.json", "letter.html", "letter.md", "regimes.json"]
    assert (root / "report/report.html").is_file()
    from forensics.case.store import Case

    with Case.open(root) as case:
        summary = report.run(case, report.Parameters(on_block="withhold"))
    assert summary.skipped and len(summary.figures["withheld"]) == 5
    assert all("was withheld" in warning and "Okonkwo" not in warning for warning in summary.warnings)
