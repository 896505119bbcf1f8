"""A letter says what its customer needs and cannot say anything about another one."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from case_builder import HOSTILE_TENANTS, OTHER_SECRET, SECRET, CaseBuilder, small_case
from inert_page import assert_inert
from letter_folders import folders
from markdown_it import MarkdownIt

from forensics.case.csv_file import csv_value
from forensics.report.fields import KEYS
from forensics.report.letters import OwnSpan, TenantView, band
from forensics.report.render import markdown_text, minute_down, minute_up
from forensics.text.safe_text import safe_text


def test_the_type_has_no_place_for_other_peoples_text_or_ids() -> None:
    assert TenantView.__dataclass_params__.frozen and OwnSpan.__dataclass_params__.frozen
    assert {f.name: f.type for f in dataclasses.fields(OwnSpan)} == {
        "request_id": "str",
        "side": "str",
        "field": "str",
        "start": "int",
        "end": "int",
        "received_at": "str | None",
        "verdict": "str",
    }
    names = {f.name for f in dataclasses.fields(TenantView)}
    assert not [n for n in names if any(word in n for word in ("text", "content", "peer", "other", "source", "quote"))]


def test_each_customer_gets_a_letter_of_its_kind(small: Path) -> None:
    by_tenant = folders(small)
    # delta's own finding is undetermined, so only its part as possible source counts.
    letters = {name: (by_tenant[name] / "letter.md").read_text() for name in ("alpha", "beta", "gamma", "delta")}
    assert all(text.startswith("**DRAFT - not released.") for text in letters.values())
    assert "## Your text in responses to others" in letters["alpha"]
    assert "## Text in your responses that is not yours" not in letters["alpha"]
    assert "## Text in your responses that is not yours" in letters["beta"]
    assert "## Your text in responses to others" not in letters["beta"]
    assert "characters 6-74 of `choices[0].content` are not yours; please delete" in letters["beta"]
    assert "Request `req-a1`, prompt: characters 0-72 of `messages[0].content`" in letters["alpha"]
    assert "in responses to fewer than 5 other customers" in letters["alpha"]
    # c1 was received 10:02:00 and finished 10:02:30; b1 was received 10:01:00.
    assert "between 2026-03-04 10:01 UTC and 2026-03-04 10:03 UTC" in letters["alpha"]


def test_no_letter_holds_anything_of_another_customer(small: Path) -> None:
    own = {"alpha": ["req-a1"], "beta": ["req-b1"], "gamma": ["req-c1"], "delta": ["req-d1"]}
    ids = {"req-a1", "req-a2", "req-b1", "req-b2", "req-c1", "req-c2", "req-d1", "req-d2"}
    refs = {name: path.name for name, path in folders(small).items()}
    for name, folder in folders(small).items():
        files = sorted(path.name for path in folder.iterdir())
        assert files == ["attachment.csv", "fields.json", "letter.html", "letter.md", "regimes.json"]
        for file in files:
            text = (folder / file).read_text()
            for other in set(own) - {name}:
                assert other not in text and refs[other] not in text
            assert {i for i in ids if i in text} == (set() if file == "regimes.json" else set(own[name]))
            assert SECRET[:12] not in text and OTHER_SECRET[:12] not in text


def test_both_kinds_in_one_letter_and_confirmed_words(tmp_path: Path, reported: Callable[..., Path]) -> None:
    b = small_case()
    delta = b.request("req-d3", "delta", 500, 510, response=SECRET)
    b.fragment("f5", delta, 0, len(SECRET), ["beta"], [(2, "response")])
    b.review("f1", "accept")
    b.review("f5", "accept")
    root = reported(b, tmp_path / "c")
    text = (folders(root)["beta"] / "letter.md").read_text()
    assert "## Text in your responses that is not yours" in text and "## Your text in responses to others" in text
    assert "Text from your requests has surfaced" in text
    assert "A person must check and release this letter" in text
    assert "(confirmed)" in text


def test_every_field_is_there_and_unknown_ones_name_an_owner(small: Path) -> None:
    facts = json.loads((folders(small)["alpha"] / "fields.json").read_text())
    assert set(facts) == set(KEYS) and len(facts) == 63
    for key, fact in facts.items():
        assert set(fact) == {"value", "status", "basis", "as_of_utc", "confidence"}, key
        assert fact["status"] in {"known", "estimated", "unknown_to_fill", "not_applicable"}
        if fact["status"] == "unknown_to_fill":
            assert fact["value"].startswith("UNKNOWN - TO FILL (owner: ")
    assert facts["aware"]["status"] == "unknown_to_fill"
    assert facts["own_text_chars"]["value"] == 72  # [0, 68) and [0, 72) of one field of req-a1
    attachment = (folders(small)["alpha"] / "attachment.csv").read_bytes()
    assert facts["attachments"]["value"] == [
        {"name": "attachment.csv", "sha256": hashlib.sha256(attachment).hexdigest()}
    ]
    letter = (folders(small)["alpha"] / "letter.md").read_text()
    assert "When we became aware: UNKNOWN - TO FILL (owner: legal)" in letter


def test_hostile_names_are_shown_and_do_nothing(hostile: Path) -> None:
    markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
    by_tenant = folders(hostile)
    assert set(by_tenant) == {safe_text(name) for name in HOSTILE_TENANTS}
    assert {path.name for path in (hostile / "notify").iterdir()} == {path.name for path in by_tenant.values()}
    assert not (hostile.parent / "x").exists() and not (hostile / "x").exists()
    for name, folder in by_tenant.items():
        page = assert_inert((folder / "letter.html").read_text(encoding="utf-8"))
        assert name in page.text
        inline = [
            child
            for token in markdown.parse((folder / "letter.md").read_text(encoding="utf-8"))
            for child in token.children or ()
        ]
        assert {child.type for child in inline} <= {"text", "code_inline", "softbreak", "strong_open", "strong_close"}
        codes = {child.content for child in inline if child.type == "code_inline"}
        assert {name, f"{name}/source", f"{name}/victim"} <= codes
        with (folder / "attachment.csv").open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        assert {csv_value(row["request_id"]) for row in rows} == {f"{name}/source", f"{name}/victim"}
        facts = json.loads((folder / "fields.json").read_text())
        assert len(facts["own_requests"]["value"]) == 2


def test_address_comes_from_the_tenants_file_and_is_escaped(tmp_path: Path, reported: Callable[..., Path]) -> None:
    b = small_case()
    row = dict.fromkeys(("organisation", "country", "language"))
    b.tenants.append(
        {
            "key_kind": "tenant",
            "key": "beta",
            "tenant_id": "beta",
            "legal_name": "Beta <b>& Sons</b> [x](http://e.invalid)",
            "contact": "# dpo@beta.invalid",
            **row,
        }
    )
    root = reported(b, tmp_path / "c")
    folder = folders(root)["beta"]
    page = assert_inert((folder / "letter.html").read_text())
    assert "Beta <b>& Sons</b> [x](http://e.invalid)" in "".join(page.text)
    tokens = MarkdownIt("commonmark").parse((folder / "letter.md").read_text())
    inline = [child for token in tokens for child in token.children or ()]
    assert not [child for child in inline if child.type in ("link_open", "html_inline", "image")]
    assert "Beta <b>& Sons</b> [x](http://e.invalid)" in "".join(child.content for child in inline)


@pytest.mark.parametrize(("count", "text"), [(0, None), (4, None), (5, "5"), (1234, "1,234")])
def test_small_numbers_of_others_are_banded(count: int, text: str | None) -> None:
    assert band(count) == text


def test_times_are_rounded_outward() -> None:
    just_after = 1772618400_000_001  # 2026-03-04 10:00:00.000001
    assert minute_down(just_after) == "2026-03-04 10:00 UTC"
    assert minute_up(just_after) == "2026-03-04 10:01 UTC"
    assert minute_up(just_after - 1) == "2026-03-04 10:00 UTC"


@pytest.mark.parametrize(
    "text",
    [
        "*bold*",
        "[a](b)",
        "![a](b)",
        "<b>",
        "`x`",
        "a|b",
        "# h",
        "- item",
        "1. one",
        "a\n\n# h",
        "&amp;",
        "~~x~~",
        "\\*",
    ],
)
def test_markdown_values_come_back_as_they_were(text: str) -> None:
    tokens = MarkdownIt("commonmark").enable("strikethrough").parse(f"- {markdown_text(text)}")
    inline = [child for token in tokens for child in token.children or ()]
    assert {child.type for child in inline} <= {"text", "text_special"}
    assert "".join(child.content for child in inline) == safe_text(text)


def test_a_case_without_known_requests_of_a_source_says_so(tmp_path: Path, reported: Callable[..., Path]) -> None:
    b = CaseBuilder()
    recipient = b.request("r", "beta", 5, 15, response=SECRET)
    b.fragment("f", recipient, 0, len(SECRET), ["alpha"])
    root = reported(b, tmp_path / "c")
    text = (folders(root)["alpha"] / "letter.md").read_text()
    assert "Which of your requests are concerned: UNKNOWN - TO FILL" in text
