"""Letters: kinds, versions, languages, facts that people set, checks of what lies there, release with two names."""

from __future__ import annotations

import csv
import hashlib
import json
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from case_builder import OTHER_SECRET, SECRET, CaseBuilder, small_case
from inert_page import assert_inert
from letter_folders import folders
from markdown_it import MarkdownIt

from forensics.case import custody
from forensics.case.errors import EgressBlocked, HashMismatch, MissingInput, UsageError
from forensics.case.review import review
from forensics.case.store import Case
from forensics.report import run as report
from forensics.report.fields import KEYS
from forensics.report.notices import Settings, render_notices
from forensics.report.release import Setting, aware_time, check, read_settings, release, set_facts
from forensics.report.render import environment, languages, template_source
from forensics.scope import run as scope

PEOPLE = {"prepared_by": "Ada Prepares", "approved_by": "Ben Approves"}
ALL_OPEN = (*KEYS, "legal_name", "contact", "country")


def address(tenant: str, **values: str | None) -> dict[str, Any]:
    empty = dict.fromkeys(("organisation", "legal_name", "contact", "country", "language"))
    return {"key_kind": "tenant", "key": tenant, "tenant_id": tenant, **empty, **values}


@pytest.fixture
def case(tmp_path: Path, small: Path) -> Iterator[Case]:
    """A copy of the finished small case."""
    shutil.copytree(small, tmp_path / "c")
    with Case.open(tmp_path / "c") as opened:
        yield opened


def redraft(case: Case, **parameters: Any) -> None:
    scope.run(case, scope.Parameters())
    report.run(case, report.Parameters(**parameters))


def folder_of(case: Case, tenant: str) -> Path:
    return folders(case.root)[tenant]


# -- kinds and languages ----------------------------------------------------------------------------------------------


def five_kinds() -> CaseBuilder:
    b = CaseBuilder()
    s = b.request("s", "source-co", 0, 10, prompt=SECRET)
    r = b.request("r", "both-co", 5, 15, prompt=OTHER_SECRET, response=SECRET)
    t = b.request("t", "recipient-co", 20, 30, response=OTHER_SECRET)
    b.request("c", "clear-co", 20, 30)
    b.request("n", "dark-co", 20, 30, examinable_reason="no body")
    b.request("m", "dark-co", 40, 50)
    weak = b.request("w", "weak-co", 60, 70, response="odd words that nobody holds")
    b.fragment("leak-1", r, 0, len(SECRET), ["source-co"], [(s, "prompt")])
    b.fragment("leak-2", t, 0, len(OTHER_SECRET), ["both-co"], [(r, "prompt")])
    b.fragment("leak-3", weak, 0, 20, [], machine_verdict="undetermined", kind="undetermined", q_value=None)
    return b


def test_five_kinds_of_letters_and_none_for_weak_findings(tmp_path: Path, reported: Callable[..., Path]) -> None:
    root = reported(five_kinds(), tmp_path / "c")
    names = {name for name, folder in folders(root).items() if folder.is_dir()}
    assert names == {"source-co", "both-co", "recipient-co"}
    by_tenant = folders(root)
    with Case.open(root) as case:
        report.run(case, report.Parameters(clear=True, not_examined=True))
        everybody = names | {"clear-co", "dark-co"}
        assert {n for n, f in by_tenant.items() if f.is_dir()} == everybody
        # Once asked for, a letter is kept up to date.
        report.run(case, report.Parameters())
        assert {n for n, f in by_tenant.items() if f.is_dir()} == everybody
    clear, dark = ((by_tenant[name] / "letter.md").read_text() for name in ("clear-co", "dark-co"))
    assert "We examined every one of your requests that we have on record: 1 of 1." in clear
    assert "We could examine 1 of your 2 requests" in dark and "about the others we can say nothing" in dark
    for text in (clear, dark):
        assert "This is no proof that nothing happened" in text and "are not yours" not in text
    facts = json.loads((by_tenant["dark-co"] / "fields.json").read_text())
    assert facts["not_examinable_share"]["value"] == "1 of 2"
    assert facts["own_text_chars"]["status"] == facts["deletion_status"]["status"] == "not_applicable"


def test_languages_have_the_same_macros_and_no_typed_numbers() -> None:
    assert languages() == ("en", "zh")

    def exported(language: str) -> set[str]:
        module = environment("md").get_template(f"words.{language}.j2").module
        return {name for name in dir(module) if not name.startswith("_")}

    assert exported("en") == exported("zh")
    for language in languages():
        labels = environment("md").get_template(f"words.{language}.j2").module.labels
        assert set(labels) == set(KEYS) - set(
            "incident_ref version supersedes recipient_ref own_requests attachments".split()
        )
        source = template_source(f"words.{language}.j2")
        assert not [sign for sign in source if sign in "一二三四五六七八九十百千两" and f"{sign}个" in source]


def test_chinese_letters_and_the_fall_back_to_english(tmp_path: Path, reported: Callable[..., Path]) -> None:
    b = five_kinds()
    b.tenants += [
        address(
            "source-co", language="zh-CN", country="CN", legal_name="源流公司", contact="法务部 <a@source.example>"
        ),
        address("both-co", language="fi", country="FI"),
        address("recipient-co", language="EN"),
    ]
    root = reported(b, tmp_path / "c")
    by_tenant = folders(root)
    chinese = (by_tenant["source-co"] / "letter.md").read_text(encoding="utf-8")
    assert "# 关于我方模型服务响应中出现他人文本的通知" in chinese and "源流公司" in chinese
    assert "不足 5 个其他客户" in chinese and "个人信息保护法" in chinese and "UNKNOWN - TO FILL" in chinese
    assert "Text from your requests" not in chinese
    page = assert_inert((by_tenant["source-co"] / "letter.html").read_text(encoding="utf-8"))
    assert "法务部 <a@source.example>" in "".join(page.text)
    assert dict(next(a for tag, a in page.tags if tag == "html"))["lang"] == "zh"
    finnish = (by_tenant["both-co"] / "letter.md").read_text()
    assert "no words are shipped for the language fi" in finnish
    assert "no words are shipped" not in (by_tenant["recipient-co"] / "letter.md").read_text()


def test_addresses_that_contradict_are_left_to_a_person(tmp_path: Path, reported: Callable[..., Path]) -> None:
    b = small_case()
    b.tenants += [
        address("alpha", legal_name="Alpha AG", country="DE", contact="a@alpha.example"),
        {**address("alpha", legal_name="Alpha Ltd", country="GB", contact="b@alpha.example"), "key": "key-2"},
    ]
    root = reported(b, tmp_path / "c")
    letter = (folders(root)["alpha"] / "letter.md").read_text()
    assert "- To: UNKNOWN - TO FILL" in letter and "GDPR, processor to controller" in letter
    assert "UK GDPR" in letter and "a\\@alpha.example; b\\@alpha.example" in letter


# -- facts that people set --------------------------------------------------------------------------------------------


def test_only_a_person_sets_when_the_sender_was_aware(tmp_path: Path, reported: Callable[..., Path]) -> None:
    b = small_case()
    b.tenants.append(address("alpha", country="US"))
    reported(b, tmp_path / "c")
    with Case.open(tmp_path / "c") as case:
        letter = folder_of(case, "alpha") / "letter.md"
        assert "which would be" not in letter.read_text()
        with pytest.raises(UsageError, match="--by"):
            set_facts(case, [Setting("", "aware", "2026-03-05T09:30:00Z")], " ")
        with pytest.raises(UsageError, match="offset"):
            set_facts(case, [Setting("", "aware", "2026-03-05 09:30")], "Ada")
        set_facts(case, [Setting("", "aware", "2026-03-05T10:30:00+01:00")], "Ada Aware")
        redraft(case)
        second = folder_of(case, "alpha") / "letter-v2.md"
        assert "60 days from our awareness, which would be 2026-05-04 09:30 UTC" in second.read_text()
        facts = json.loads((second.parent / "fields-v2.json").read_text())
        assert (facts["aware"]["value"], facts["aware"]["status"]) == ("2026-03-05T09:30:00Z", "known")
        [entry] = [e for e in custody.read(case.custody_path) if e.action == "notify set"]
        assert "2026-03-05T09:30:00Z" in entry.reason and "Ada Aware" in entry.reason


@pytest.mark.parametrize(
    ("value", "status", "deadline"),
    [
        ("early in March", "estimated", None),
        ("", "not_applicable", None),
        ("2026-03-05 09:30", "estimated", "2026-05-04T09:30:00Z"),
    ],
)
def test_an_awareness_that_is_estimated_may_be_words(
    value: str, status: str, deadline: str | None, tmp_path: Path, reported: Callable[..., Path]
) -> None:
    b = small_case()
    b.tenants.append(address("alpha", country="US"))
    reported(b, tmp_path / "c")
    with Case.open(tmp_path / "c") as case:
        set_facts(case, [Setting("", "aware", value, status)], "Ada")
        redraft(case)
        document = json.loads((folder_of(case, "alpha") / "regimes-v2.json").read_text())
    [clock] = [c for r in document["regimes"] for c in r["clocks"] if c["article"] == "164.410" and c["amount"] == 60]
    assert clock["deadline_utc"] == deadline


@pytest.mark.parametrize("text", ["tomorrow", "2026-03-05", "2026-03-05T09:30:00", ""])
def test_an_awareness_without_an_offset_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        aware_time(text)


def test_facts_from_a_file_for_all_and_for_one(case: Case, tmp_path: Path) -> None:
    ref = folder_of(case, "alpha").name
    path = tmp_path / "facts.toml"
    path.write_text(
        'contact_name = "R. Esponsible"\nmeasures_taken = "the worker was restarted"\n'
        'data_subjects_estimate = {value = "about 40", status = "estimated", basis = "count of names in the prompts"}\n'
        f'[{ref}]\nmeasures_taken = "keys were replaced"\ncountry = "DE"\nlegal_name = "Alpha <b>AG</b>"\nlanguage = "zh"\n'
    )
    assert set_facts(case, read_settings(path), "Ada") == 7
    redraft(case)
    facts = {n: json.loads((folder_of(case, n) / "fields-v2.json").read_text()) for n in ("alpha", "beta")}
    assert facts["alpha"]["measures_taken"]["value"] == "keys were replaced"
    assert facts["beta"]["measures_taken"]["value"] == "the worker was restarted"
    assert facts["beta"]["data_subjects_estimate"]["status"] == "estimated"
    letter = (folder_of(case, "alpha") / "letter-v2.md").read_text()
    assert "通用数据保护条例" in letter
    inline = [c for t in MarkdownIt().parse(letter) for c in t.children or ()]
    assert "html_inline" not in {c.type for c in inline}
    assert "Esponsible" not in case.custody_path.read_text()


@pytest.mark.parametrize(
    "setting",
    [
        Setting("", "own_requests", "none"),
        Setting("", "no_such_key", "x"),
        Setting("", "measures_taken", "  "),
        Setting("", "measures_taken", "x" * 5000),
        Setting("", "measures_taken", "x", "certain"),
        Setting("", "legal_name", "for all"),
        Setting("T-NONE", "measures_taken", "x"),
    ],
)
def test_facts_that_nobody_may_set_are_refused(setting: Setting, case: Case) -> None:
    with pytest.raises(UsageError):
        set_facts(case, [setting], "Ada")
    assert case.count("notice_facts") == 0


@pytest.mark.parametrize("text", ["a = [1]", "a = true", "a = {what = 1}", "not toml", "a = {basis = 'x'}"])
def test_a_file_of_facts_that_is_not_one_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "f.toml").write_text(text)
    with pytest.raises(UsageError):
        read_settings(tmp_path / "f.toml")
    with pytest.raises(MissingInput):
        read_settings(tmp_path / "none.toml")


# -- versions ---------------------------------------------------------------------------------------------------------


def test_a_draft_that_says_the_same_is_no_new_version(case: Case) -> None:
    before = {p: p.read_bytes() for p in (case.root / "notify").rglob("*") if p.is_file()}
    redraft(case, letter_rows=50, leak_pictures=11)
    assert {p: p.read_bytes() for p in (case.root / "notify").rglob("*") if p.is_file()} == before


def test_a_draft_that_differs_is_a_new_version_with_a_diff_and_the_former_stays(case: Case) -> None:
    folder = folder_of(case, "beta")
    first = {path.name: path.read_bytes() for path in folder.iterdir()}
    review(case, find(case, "beta"), "accept", "seen", "Ada")
    redraft(case)
    assert {name: (folder / name).read_bytes() for name in first} == first
    names = {path.name for path in folder.iterdir()} - set(first)
    assert names == {
        "letter-v2.md", "letter-v2.html", "fields-v2.json", "regimes-v2.json", "attachment-v2.csv", "changes-v2.diff",
    }  # fmt: skip
    facts = json.loads((folder / "fields-v2.json").read_text())
    assert (facts["version"]["value"], facts["supersedes"]["value"]) == ("2", "1")
    assert facts["attachments"]["value"][0]["name"] == "attachment-v2.csv"
    diff = (folder / "changes-v2.diff").read_text()
    assert "-- Version 1" in diff and "+- Version 2; it replaces version 1" in diff
    assert "+How sure this is: confirmed." in diff and SECRET[:12] not in diff
    with (folder / "attachment-v2.csv").open(newline="") as file:
        assert {row["verdict"] for row in csv.DictReader(file)} == {"confirmed"}


def find(case: Case, recipient: str) -> str:
    return next(
        row["fragment_id"] for row in case.table("fragments").to_pylist() if row["recipient_tenant_id"] == recipient
    )


@pytest.fixture(autouse=True)
def _long_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    """The cases of this file have short ids of fragments; people give at least four characters."""
    monkeypatch.setattr("forensics.case.explain.SHORTEST_PREFIX", 1)


def test_a_letter_that_is_called_for_no_more_goes_unless_it_was_released(case: Case) -> None:
    folder = folder_of(case, "beta")
    review(case, find(case, "beta"), "reject", "public text", "Ada")
    redraft(case)
    assert not folder.exists()
    assert not [row for row in case.rows("report/notices") if row[0] == "beta"]


def test_a_released_letter_stays_and_a_correction_follows(case: Case) -> None:
    folder = folder_of(case, "beta")
    release(case, [folder.name], **PEOPLE, acknowledged=ALL_OPEN)
    kept = {path.name: path.read_bytes() for path in folder.iterdir()}
    review(case, find(case, "beta"), "reject", "public text", "Ada")
    redraft(case)
    assert {name: (folder / name).read_bytes() for name in kept} == kept
    assert "We found no text of yours" in (folder / "letter-v2.md").read_text()


# -- check and release ------------------------------------------------------------------------------------------------


def test_check_passes_clean_letters_and_leaves_a_record(case: Case) -> None:
    result = check(case)
    assert result.hits == () and len(result.letters) == 4 and result.files >= 22
    state = next(s for s in result.letters if s.tenant_ref == folder_of(case, "alpha").name)
    assert not state.released and not state.outdated and {"aware", "measures_taken", "legal_name"} <= set(state.unknown)
    body = json.loads((folder_of(case, "alpha") / "egress_check.json").read_text())
    letter = (folder_of(case, "alpha") / "letter.md").read_bytes()
    folder = f"notify/{state.tenant_ref}"
    assert body["passed"] and body["files"][f"{folder}/letter.md"] == hashlib.sha256(letter).hexdigest()
    assert set(body["words_of_our_own"]) >= {"letter.md.j2", "words.en.j2"}
    first = (folder_of(case, "alpha") / "egress_check.json").read_bytes()
    check(case)
    assert (folder_of(case, "alpha") / "egress_check.json").read_bytes() == first


@pytest.mark.parametrize("where", ["letter", "beside", "report", "trace"])
def test_check_finds_what_people_put_there(where: str, case: Case) -> None:
    folder = folder_of(case, "beta")
    places = {"letter": folder / "letter.md", "beside": folder / "note.eml"}
    path = (places | {"report": case.root / "report/notes.md", "trace": case.root / "out/trace.json"})[where]
    old = path.read_text() if path.exists() else ""
    path.write_text(f"{old}\nyou got: {SECRET}\n")
    path.chmod(0o600)
    result = check(case)
    assert [hit.path for hit in result.hits] == [path.relative_to(case.root).as_posix()]
    assert "Okonkwo" not in result.hits[0].why and "characters" in result.hits[0].why
    assert not (folder / "egress_check.json").exists() or where in ("report", "trace")
    if where == "letter":
        done, hits = release(case, [folder.name], **PEOPLE, acknowledged=ALL_OPEN)
        assert done == [] and [hit.path for hit in hits] == [f"notify/{folder.name}/letter.md"]
        assert case.count("notice_releases") == 0


def test_a_fact_that_quotes_another_customer_is_stopped(case: Case) -> None:
    set_facts(case, [Setting("", "measures_taken", f"we removed {SECRET}")], "Ada")
    with pytest.raises(EgressBlocked) as caught:
        redraft(case)
    assert "Okonkwo" not in str(caught.value)


def test_release_takes_two_people_and_every_unknown_field(case: Case) -> None:
    ref = folder_of(case, "beta").name
    for names in (("Ada", ""), ("", "Ben"), ("Ada Lovelace", " ada  LOVELACE"), ("Ａda", "Ada")):
        with pytest.raises(UsageError, match=r"prepared-by|two people"):
            release(case, [ref], *names, acknowledged=ALL_OPEN)
    with pytest.raises(UsageError, match="unknown fields") as caught:
        release(case, [ref], **PEOPLE, acknowledged=[key for key in ALL_OPEN if key != "aware"])
    assert "aware" in str(caught.value)
    assert case.count("notice_releases") == 0
    [done], hits = release(case, [ref], **PEOPLE, acknowledged=ALL_OPEN)
    assert not hits and sorted(done.files) == [
        "attachment.csv", "fields.json", "letter.html", "letter.md", "regimes.json",
    ]  # fmt: skip
    folder = folder_of(case, "beta")
    entries = {e.object: e for e in custody.read(case.custody_path) if e.action == "notify release"}
    for name, sha256 in done.files.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == sha256
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o400
        entry = entries[f"notify/{ref}/{name}"]
        assert entry.sha256 == sha256 and "Ada Prepares" in entry.reason and "Ben Approves" in entry.reason
        assert "aware" in entry.reason
    assert custody.verify(case.custody_path)
    letter = (folder / "letter.md").read_text()
    assert "DRAFT" not in letter and letter.startswith("- To: ")
    assert "DRAFT" not in (folder / "letter.html").read_text()
    with pytest.raises(UsageError, match="released already"):
        release(case, [ref], **PEOPLE, acknowledged=ALL_OPEN)


def test_nothing_released_is_written_again_and_a_change_of_it_is_seen(case: Case) -> None:
    folder = folder_of(case, "beta")
    release(case, [folder.name], **PEOPLE, acknowledged=ALL_OPEN)
    kept = {path.name: path.read_bytes() for path in folder.iterdir()}
    redraft(case, leak_pictures=3)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == kept
    assert check(case).letters
    (folder / "letter.md").chmod(0o600)
    (folder / "letter.md").write_text("something else")
    with pytest.raises(HashMismatch, match=r"letter\.md"):
        check(case)


def test_an_outdated_letter_is_not_released(case: Case) -> None:
    review(case, find(case, "beta"), "accept", "seen", "Ada")
    scope.run(case, scope.Parameters())
    ref = folder_of(case, "beta").name
    assert [s.outdated for s in check(case, [ref]).letters] == [True]
    # The version that lies there was checked, not the one that is not yet drafted.
    assert [p.name for p in folder_of(case, "beta").glob("egress_check*")] == ["egress_check.json"]
    with pytest.raises(UsageError, match="draft it again"):
        release(case, [ref], **PEOPLE, acknowledged=ALL_OPEN)


def test_a_letter_that_lacks_a_file_or_is_not_there(case: Case) -> None:
    ref = folder_of(case, "beta").name
    (folder_of(case, "beta") / "fields.json").unlink()
    with pytest.raises(UsageError, match=r"lacks fields\.json"):
        release(case, [ref], **PEOPLE, acknowledged=ALL_OPEN)
    with pytest.raises(MissingInput, match="T-NONE"):
        check(case, ["T-NONE"])
    with pytest.raises(MissingInput) as caught:
        check(case, ["alpha"])
    assert "alpha" not in str(caught.value)


def test_every_letter_is_released_at_once(case: Case) -> None:
    done, hits = release(case, [], **PEOPLE, acknowledged=ALL_OPEN)
    assert len(done) == 4 and not hits
    assert len({row[0] for row in case.rows("report/released_files")}) == 4
    assert all(notice.released for notice in render_notices(case, Settings()))


HOSTILE = (
    "<script>alert(1)</script>",
    "=cmd()|' /C calc'!A0",
    "![x](http://e.invalid/x.png)",
    "\x1b]0;owned\x07\u202egnp",
    "{{ 7 * 7 }}{% raw %}",
    "a\n\n# heading\n| b |",
)


def test_hostile_addresses_and_facts_act_nowhere(tmp_path: Path, reported: Callable[..., Path]) -> None:
    b = small_case()
    for number, text in enumerate(HOSTILE):
        b.tenants.append(
            {**address("beta", contact=f"{text} of beta", language=text, country=text), "key": f"key-{number}"}
        )
    b.tenants.append(address("alpha", legal_name=HOSTILE[0], language=HOSTILE[0], country="DE"))
    reported(b, tmp_path / "c")
    with Case.open(tmp_path / "c") as case:
        ref = folder_of(case, "alpha").name
        keys = ("measures_taken", "root_cause", "systems", "contact_name", "contact_channel", "next_update_by")
        set_facts(case, [Setting(ref, key, text) for key, text in zip(keys, HOSTILE, strict=True)], HOSTILE[3])
        redraft(case)
        markdown = MarkdownIt("commonmark").enable(["table", "strikethrough"])
        for tenant, names in (("alpha", ("letter-v2.html", "letter-v2.md")), ("beta", ("letter.html", "letter.md"))):
            html, text = ((folder_of(case, tenant) / name).read_text(encoding="utf-8") for name in names)
            page = "".join(assert_inert(html).text)
            inline = [child for token in markdown.parse(text) for child in token.children or ()]
            allowed = {"text", "text_special", "code_inline", "softbreak", "strong_open", "strong_close"}
            assert {child.type for child in inline} <= allowed
            assert not any(sign in html + text for sign in "\x1b\x07\u202e")
            plain = "".join(child.content for child in inline)
            assert "{{ 7 * 7 }}" in plain and "{{ 7 * 7 }}" in page and "# heading" in plain
        assert not any(sign in (tmp_path / "c/custody.jsonl").read_text() for sign in "\x1b\x07")


def test_labels_and_phrases_of_a_language_are_words_of_our_own(tmp_path: Path, reported: Callable[..., Path]) -> None:
    b = small_case()
    b.tenants.append(address("alpha", language="zh", country="CN"))
    b.request(
        "quoter", "epsilon", 700, 710, prompt="保密性；严重程度与影响；保密性。已确认；受损方面；跨境影响；所在国家"
    )
    root = reported(b, tmp_path / "c")
    assert "保密性" in (folders(root)["alpha"] / "letter.md").read_text(encoding="utf-8")
