"""The report is parsed back with standard parsers: nothing active, nothing from outside, nothing of any customer."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from case_builder import HOSTILE_TENANTS, OTHER_SECRET, SECRET, CaseBuilder, hostile_case
from inert_page import Page, assert_inert
from markdown_it import MarkdownIt

from forensics.case.store import Case
from forensics.report import run as report
from forensics.report.render import template_names, template_source


@pytest.mark.parametrize("which", ["small", "hostile"])
def test_the_page_is_inert_and_self_contained(which: str, request: pytest.FixtureRequest) -> None:
    root = request.getfixturevalue(which)
    text = (root / "report/report.html").read_text(encoding="utf-8")
    page = assert_inert(text)
    # Time, who to whom, lengths, and one for each leak with one possible source.
    assert sum(tag == "svg" for tag, _ in page.tags) == 3 + {"small": 2, "hostile": 6}[which]
    ids = [a["id"] for _, a in page.tags if "id" in a]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", ["report.html", "report.md"])
def test_no_names_ids_or_texts_in_what_leaves_the_house(name: str, small: Path, hostile: Path) -> None:
    text = (small / "report" / name).read_text(encoding="utf-8")
    for forbidden in ("alpha", "gamma", "req-a1", "req-b1", "gateway.jsonl", SECRET[:24], OTHER_SECRET[:24]):
        assert forbidden not in text
    assert re.search(r"T-[0-9A-Z]{4}", text) and re.search(r"R-[0-9A-Z]{6}", text)
    nasty = (hostile / "report" / name).read_text(encoding="utf-8")
    for forbidden in (*HOSTILE_TENANTS, "alert(1)", "cmd()", "example.invalid", "\x1b", "\u202e", "invoice"):
        assert forbidden not in nasty


def test_evidence_is_numbered_and_the_page_says_where_its_names_are(small: Path) -> None:
    markdown = (small / "report/report.md").read_text(encoding="utf-8")
    assert "\n| file 1 | " in markdown and "\n| 0 | " not in markdown
    page = "".join(Page((small / "report/report.html").read_text(encoding="utf-8")).text)
    assert "file 1" in page and "forensics ask DIR evidence" in page


def test_the_figures_of_the_case_are_in_the_text(small: Path) -> None:
    text = " ".join("".join(Page((small / "report/report.html").read_text()).text).split())
    assert "2 of 8 responses carry text of another customer" in text
    assert "received between 2026-03-04 10:01 UTC and 2026-03-04 10:02 UTC" in text
    assert "7 of 8 (87.5 %) requests could be examined" in text
    assert "No mechanism is claimed" in text and "not measured" in text
    markdown = (small / "report/report.md").read_text()
    assert "2 of 8 responses carry text of another customer" in markdown


def test_every_percentage_has_its_numbers(small: Path) -> None:
    text = "".join(Page((small / "report/report.html").read_text()).text)
    for match in re.finditer(r"\((\d[\d.]*) %\)", text):
        assert re.search(r"[\d,]+ of [\d,]+ $", text[: match.start()]), match.group()


@pytest.mark.parametrize("name", [n for n in template_names() if not n.startswith("style")])
def test_no_template_types_a_number_by_hand(name: str) -> None:
    source = re.sub(r"\{[{%#].*?[}%#]\}", "", template_source(name), flags=re.DOTALL)
    prose = re.sub(r"<[^>]*>", "", source)
    prose = prose.replace("SHA-256", "")
    assert not re.search(r"\d", prose), re.findall(r".*\d.*", prose)


def test_markdown_tables_have_equal_rows(hostile: Path) -> None:
    parsed = MarkdownIt("commonmark").enable("table").parse((hostile / "report/report.md").read_text())
    tables = [token for token in parsed if token.type == "table_open"]
    assert len(tables) == 9
    assert not [c for t in parsed for c in t.children or () if c.type in ("link_open", "image", "html_inline")]


def test_two_runs_give_the_same_bytes(tmp_path: Path, hostile: Path, reported: Callable[..., Path]) -> None:
    again = reported(hostile_case(), tmp_path / "again")
    names = sorted(p.relative_to(hostile).as_posix() for f in ("report", "notify") for p in (hostile / f).rglob("*.*"))
    assert len(names) == 2 + 5 * len(HOSTILE_TENANTS)
    for name in names:
        assert (hostile / name).read_bytes() == (again / name).read_bytes(), name


def test_missing_files_come_back_and_stale_ones_go(tmp_path: Path, reported: Callable[..., Path]) -> None:
    b = CaseBuilder()
    source = b.request("s", "alpha", 0, 10, prompt=SECRET)
    recipient = b.request("r", "beta", 5, 15, response=SECRET)
    b.fragment("f", recipient, 0, len(SECRET), ["alpha"], [(source, "prompt")])
    root = reported(b, tmp_path / "c")
    stale = root / "notify/T-0000"
    stale.mkdir()
    (stale / "letter.md").write_text("old")
    (stale / "sent.eml").write_text("kept: not ours")
    (root / "report/report.md").unlink()
    with Case.open(root) as case:
        assert report.run(case, report.Parameters()).skipped
    assert (root / "report/report.md").is_file()
    assert [path.name for path in stale.iterdir()] == ["sent.eml"]


def test_nothing_affected_still_makes_a_report(tmp_path: Path, reported: Callable[..., Path]) -> None:
    root = reported(CaseBuilder(), tmp_path / "c")
    text = (root / "report/report.html").read_text()
    assert_inert(text)
    assert "This is no proof that nothing leaked" in text
    assert not list((root / "notify").iterdir())


def test_the_mechanism_comes_with_the_fallen_and_with_pictures_of_slots(tmp_path: Path) -> None:
    from served import served

    from forensics.report import run as report
    from forensics.scope import run as scope
    from forensics.timeline import mechanisms

    incident = served(1, calls=200)
    incident.leaks = [
        (c.former, c.number)
        for c in incident.calls
        if c.former is not None and incident.calls[c.former].tenant != c.tenant and incident.calls[c.former].aborted
    ][:12]
    pages = []
    for name in ("a", "b"):
        with incident.write(tmp_path / name) as case:
            incident.fill(case)
            mechanisms.fill(case, mechanisms.Settings())
            scope.run(case, scope.Parameters())
            report.run(case, report.Parameters(on_block="withhold", leak_pictures=4))
        pages.append((tmp_path / name / "report/report.html").read_text(encoding="utf-8"))
    assert pages[0] == pages[1]
    assert "<strong>M3, M4, M19</strong>" in pages[0]
    assert "M28: finished texts handed" in pages[0] and "<td>falls</td>" in pages[0]
    assert pages[0].count("Slots around fragment") == 4 and pages[0].count("More leaks drawn") == 1
    assert "slot 3" in pages[0] and ">recipient</text>" in pages[0]
    assert not any(f">{call.tenant}<" in pages[0] or f"req-{call.number}<" in pages[0] for call in incident.calls)


def test_what_a_replay_showed_is_in_the_report(tmp_path: Path) -> None:
    from forensics.scope import run as scope

    b = CaseBuilder()
    source = b.request("req-a1", "alpha", 0, 10)
    recipient = b.request("req-b1", "beta", 5, 15)
    b.fragment("f", recipient, 0, 9, ["alpha"], [(source, "prompt")])
    b.trial("f", "reproduced_in_company", text="surrogate")
    arm = '{"name": "original", "hits": 5, "trials": 5, "low": 0.478, "high": 1.0}'
    idle = '{"name": "radix_off", "hits": 0, "trials": 0, "low": 0.0, "high": 1.0}'
    b.replays[0]["figures"] = f'{{"arms": [{arm}, {idle}]}}'
    with b.write(tmp_path / "case") as case:
        scope.run(case, scope.Parameters())
        report.run(case, report.Parameters())
    for name in ("report.html", "report.md"):
        text = (tmp_path / "case" / "report" / name).read_text(encoding="utf-8")
        assert "reproduced in company" in text and "original 5 of 5 (48% to 100%)" in text
        assert "as the trials show" in text and "radix off" not in text and "req-b1" not in text
