"""No outgoing file holds any other tenant's text, leaked or not; our own words and the addressee's pass."""

from __future__ import annotations

import html
from collections.abc import Callable
from pathlib import Path

import pytest
from case_builder import CaseBuilder, small_case

from forensics.case.errors import EgressBlocked
from forensics.case.store import Case
from forensics.report import run as report
from forensics.report.corpus_check import Outgoing, check_corpus
from forensics.report.egress import Hit
from forensics.report.pictures import words_of_pictures
from forensics.report.render import template_texts

TEXTS = {
    "english": "ward nine keeps the admissions of Okonkwo and Zimmer apart",
    "polish": "księgowa z Łodzi przelała czynsz za trzy miesiące z góry",
    "hebrew": "הלקוחה מרים אוקונקוו פתחה חשבון חדש בסניף חיפה אתמול",
    "arabic": "فتحت العميلة مريم أوكونكو حسابا جديدا في فرع حيفا أمس",
    "chinese": "客户林晓梅的合同编号与银行账户已于昨日移交法务部",
    "japanese": "お客様の口座番号は昨日新しい担当者に引き継がれました",
    "korean": "고객의 계약서와 은행 계좌 번호는 어제 새 담당자에게 넘어갔습니다",
    "code": 'def settle_ledger(quay: str) -> int:\n    return LEDGERS[quay].close("halloran")',
}
LETTER = "Please delete the passages that are not yours."


def case_of(tmp_path: Path, text: str, own: str = "a question") -> Case:
    b = CaseBuilder()
    b.request("theirs", "alpha", 0, 10, prompt=f"note: {text}. End.")
    b.request("mine", "beta", 20, 30, prompt=own)
    return b.write(tmp_path / "c")


@pytest.mark.parametrize("script", sorted(TEXTS))
def test_text_of_another_tenant_is_found_in_every_script(tmp_path: Path, script: str) -> None:
    text = TEXTS[script]
    with case_of(tmp_path, text) as case:
        for path, data in (
            ("a.md", f"{LETTER} {text}"),
            ("a.html", f"<p>{LETTER}</p><p>{html.escape(text.upper())}</p>"),
            ("a.csv", f'1,"{text}"'),
        ):
            assert check_corpus(case, [Outgoing(path, data.encode(), "beta")]) == [Hit(path, "", "theirs")]
            assert check_corpus(case, [Outgoing(path, data.encode(), None)]) == [Hit(path, "", "theirs")]
            assert check_corpus(case, [Outgoing(path, data.encode(), "alpha")]) == []


def test_what_the_addressee_sent_itself_passes_to_it_alone(tmp_path: Path) -> None:
    text = TEXTS["english"]
    with case_of(tmp_path, text, own=text) as case:
        files = [Outgoing("a.md", text.encode(), "beta"), Outgoing("b.md", text.encode(), None)]
        assert check_corpus(case, files) == [Hit("b.md", "", "theirs")]


def test_what_the_addressee_was_answered_is_not_its_own(tmp_path: Path) -> None:
    b = CaseBuilder()
    b.request("theirs", "alpha", 0, 10, prompt=TEXTS["english"])
    b.request("victim", "beta", 5, 15, response=TEXTS["english"])
    with b.write(tmp_path / "c") as case:
        assert check_corpus(case, [Outgoing("a.md", TEXTS["english"].encode(), "beta")]) == [Hit("a.md", "", "theirs")]


def test_text_without_a_tenant_is_somebodys(tmp_path: Path) -> None:
    b = CaseBuilder()
    b.request("unknown", None, 0, 10, prompt=TEXTS["english"])
    with b.write(tmp_path / "c") as case:
        assert check_corpus(case, [Outgoing("a.md", TEXTS["english"].encode(), "beta")]) == [Hit("a.md", "", "unknown")]


def test_short_or_changed_text_and_the_addressees_name_pass(tmp_path: Path) -> None:
    name = "Brightwater Municipal Housing Association of Halloran"
    with case_of(tmp_path, f"{name} called about ward nine") as case:
        assert check_corpus(case, [Outgoing("a.md", name.encode(), "beta", (name,))]) == []
        assert check_corpus(case, [Outgoing("a.md", name.encode(), "beta")]) == [Hit("a.md", "", "theirs")]
        assert check_corpus(case, [Outgoing("a.md", b"called about ward nine", "beta")]) == []
        assert check_corpus(case, []) == []


def test_a_log_that_quotes_our_letter_blocks_nothing(tmp_path: Path) -> None:
    own = " ".join(template_texts())
    with case_of(tmp_path, own) as case:
        file = Outgoing("a.md", own.encode(), "beta")
        assert check_corpus(case, [file], template_texts()) == []
        assert check_corpus(case, [file]) == [Hit("a.md", "", "theirs")]


PAGE = """<!DOCTYPE html>
<html lang="en">
<head>
    <meta charset="UTF-8">
    <meta name="viewport" content="width=device-width, initial-scale=1.0">
    <title>Quay ledger</title>
</head>
<body>
    <svg xmlns="http://www.w3.org/2000/svg" width="24" height="24" viewBox="0 0 24 24"><path d="M0 0"/></svg>
</body>
</html>"""


def test_a_customers_page_that_begins_like_any_page_blocks_nothing(
    tmp_path: Path, reported: Callable[..., Path]
) -> None:
    b = small_case()
    b.request("page", "delta", 100, 110, prompt=f"What is wrong with this?\n{PAGE}")
    root = reported(b, tmp_path / "c")
    written = (root / "report" / "report.html").read_text()
    assert written.startswith("<!doctype html>")
    assert all(words in written for words in words_of_pictures())


def test_no_repr_shows_the_file() -> None:
    assert "Okonkwo" not in repr(Outgoing("a.md", TEXTS["english"].encode()))


def quoting_case(own: str = "a question") -> CaseBuilder:
    """A request id that the letter must name stands in a third tenant's prompt; it did not leak."""
    b = small_case()
    odd = "admissions-of-ward-nine-okonkwo-zimmer-may"
    recipient = b.request(odd, "delta", 100, 110, prompt=own, response="The quay ledger of Halloran was moved twice.")
    source = b.request("s2", "epsilon", 90, 120, prompt="The quay ledger of Halloran was moved twice.")
    b.fragment("f-odd", recipient, 0, 44, ["epsilon"], [(source, "prompt")])
    b.request("third", "gamma", 95, 99, prompt=f"see {odd.replace('-', ' ')} for all")
    return b


def test_the_stage_is_stopped_and_names_the_request(tmp_path: Path, reported: Callable[..., Path]) -> None:
    with pytest.raises(EgressBlocked) as caught:
        reported(quoting_case(), tmp_path / "c")
    assert "request third" in str(caught.value) and "zimmer" not in str(caught.value)


def test_the_stage_withholds_that_letter_and_writes_the_rest(tmp_path: Path, reported: Callable[..., Path]) -> None:
    root = reported(quoting_case(), tmp_path / "c", report.Parameters(on_block="withhold"))
    clean = reported(
        quoting_case(own="see admissions of ward nine okonkwo zimmer may"), tmp_path / "d",
        report.Parameters(on_block="withhold"),
    )  # fmt: skip
    assert len(list(clean.glob("notify/*/*"))) - len(list(root.glob("notify/*/*"))) == 5
    assert (root / "report/report.html").is_file()
