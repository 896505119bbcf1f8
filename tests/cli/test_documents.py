"""Documents cannot drift: reference pages come from the code, every verb and every exit code is explained."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from forensics.case import errors
from forensics.case.ask import questions
from forensics.cli.reference import cli_page, commands, formats_page, questions_page

ROOT = Path(__file__).parent.parent.parent
DOCS = ROOT / "docs"
VERBS = [name.removeprefix("forensics ") for name, _ in commands()]


def test_reference_pages_are_those_of_the_code() -> None:
    assert (DOCS / "cli.md").read_text(encoding="utf-8") == cli_page(), "run: make docs"
    assert (DOCS / "questions.md").read_text(encoding="utf-8") == questions_page(), "run: make docs"
    formats = (DOCS / "formats.md").read_text(encoding="utf-8")
    assert formats == formats_page(formats), "run: make docs"


@pytest.mark.parametrize("page", ["README.md", "docs/architecture.md", "docs/first-case.md", "docs/cli.md"])
def test_every_verb_is_mentioned(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert [verb for verb in VERBS if not re.search(rf"\b{verb}\b", text)] == []


def test_every_exit_code_is_explained() -> None:
    text = (DOCS / "exit-codes.md").read_text(encoding="utf-8")
    classes = [c for c in vars(errors).values() if isinstance(c, type) and issubclass(c, errors.ForensicsError)]
    codes = {c.exit_code for c in classes} | {0, 1, 130}
    assert [code for code in sorted(codes) if f"| {code} |" not in text] == []


def test_questions_that_documents_name_exist() -> None:
    known = {question.name for question in questions()}
    for page in [ROOT / "README.md", *DOCS.glob("*.md")]:
        named = re.findall(r"forensics ask \S+ ([a-z][a-z-]+)", page.read_text(encoding="utf-8"))
        assert set(named) <= known, page.name


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *DOCS.glob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_paths_in_the_documents_exist() -> None:
    for page in [ROOT / "README.md", DOCS / "architecture.md", DOCS / "how-to-add.md"]:
        for path in re.findall(
            r"`((?:forensics|queries|tests|docs|bench)/[\w./-]+)`", page.read_text(encoding="utf-8")
        ):
            assert (ROOT / path).exists(), f"{page.name}: {path}"
