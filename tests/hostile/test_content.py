"""Tenants and texts that try to act: nothing is run, nothing is written outside the case, nothing hides."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TENANTS = (
    "../../x",
    "=cmd()",
    "<script>alert(1)</script>",
    "\x1b]0;owned\x07",
    "a\r\nb",
    "user\u202egnp",
    "; DROP TABLE fragments;",
)
# Texts that have nothing in common, so that each leak has one possible source.
SECRETS = (
    "wire reference 8812-5540-7731-KQ for Wilhelmina Szczepanska went on the ninth to the Reykjavik harbour office",
    "badge serial ZX-40918-TT was handed to Oluwaseun Adebayo behind the greenhouse in Tromsoe before the audit",
    "Dr. Cathasach Mulqueen prescribed 35 mg of dalvorexin daily, chart number 7719-0042-PL, ward Heliotrope",
    "the combination of the vault beneath Quarrington mill is 61-08-93, known only to Bartholomeus van Hoogstraten",
    "invoice INV-2291-XKCD over 48,113.70 guilders to Fjodor Ustinov remains unpaid since the flood at Zutphen",
    "passport K0449182Q of Ngozi Whitcombe-Duarte expires while she teaches falconry on the isle of Sark",
    "rotate api token tk_live_9f3Qm27Lw8 of the Kowalczyk greenhouse controller after midnight maintenance",
)
SECRET = SECRETS[0]
ESCAPES = "\x1b[2J\x1b]8;;http://evil.example\x07click\x1b]8;;\x07 \u202e\u200b\U000e0041 [bold red]markup[/] [/x]"


@pytest.fixture(scope="module")
def case(
    forensics: Callable[..., Any], make_record: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Every hostile tenant supplies a text of its own, with escapes; the next one's response carries it."""
    records = []
    for number, tenant in enumerate(TENANTS):
        secret = SECRETS[number]
        records.append(make_record(2 * number, tenant, f"{ESCAPES} Please check {secret}.", "Checked, all is well."))
        victim = TENANTS[(number + 1) % len(TENANTS)]
        records.append(make_record(2 * number + 1, victim, "What is the weather?", f"Mild. {ESCAPES} {secret}. Bye."))
    root = tmp_path_factory.mktemp("content")
    log = root / "log.jsonl"
    log.write_bytes(b"".join(json.dumps(item).encode("ascii") + b"\n" for item in records))
    done = forensics("run", log, "--case", root / "case", "--json")
    assert done.code == 0, done.stderr
    assert done.data["overview"]["requests"] == len(records)
    assert done.data["overview"]["tenants"] == len(TENANTS)
    return root / "case"


def _active(text: str) -> list[str]:
    return [
        hex(ord(c)) for c in text if (ord(c) < 32 and c not in "\n") or 0x7F <= ord(c) < 0xA0 or c in "\u202e\u200b"
    ]


def test_nothing_is_written_outside_and_names_never_become_paths(forensics: Any, case: Path) -> None:
    assert sorted(path.name for path in case.parent.iterdir()) == ["case", "log.jsonl"]
    assert list(forensics.work.iterdir()) == []
    for path in case.rglob("*"):
        assert re.fullmatch(r"[A-Za-z0-9_.-]+", path.name), "a name from data became a path"
        assert not path.stat().st_mode & 0o077


def test_lists_hold_no_formula_and_no_control_character(case: Path) -> None:
    rows = 0
    for path in [*(case / "out").glob("*.csv"), *(case / "notify").rglob("*.csv")]:
        text = path.read_bytes().decode("utf-8")
        assert _active(text) == []
        for row in csv.reader(text.split("\n")):
            rows += 1
            assert not any(
                cell.lstrip(" \"'")[:1] in tuple("=+-@") and not cell.startswith("'") for cell in row if cell
            )
    assert rows > len(TENANTS)


def test_reports_hold_no_markup_from_data(case: Path) -> None:
    pages = [*case.rglob("*.html")]
    assert pages
    for path in pages:
        page = path.read_text(encoding="utf-8")
        assert "<script" not in page.lower()
        assert "evil.example" not in page
        assert _active(page) == []


def test_leaked_text_stays_in_the_database(case: Path) -> None:
    needle = re.compile("Szczepanska|Adebayo|Mulqueen|Hoogstraten|Ustinov|Whitcombe|Kowalczyk", re.IGNORECASE)
    for folder in ("out", "report", "notify"):
        for path in (case / folder).rglob("*"):
            if path.is_file() and path.suffix != ".parquet":
                assert not needle.search(path.read_text(encoding="utf-8")), path.name
    for name in ("custody.jsonl", "manifest.json"):
        assert not needle.search((case / name).read_text())


def test_the_terminal_gets_text_only(forensics: Callable[..., Any], case: Path, tmp_path: Path) -> None:
    (tmp_path / "passage.txt").write_text(SECRET)
    commands: list[tuple[object, ...]] = [
        ("ask", case, "affected-tenants"),
        ("ask", case, "affected-tenants", "--format", "csv"),
        ("ask", case, "affected-tenants", "--format", "json"),
        ("ask", case, "request", "--param", "request=req-1"),
        ("trace", case, "--text", tmp_path / "passage.txt"),
        ("review", case),
        ("case", "verify", case),
    ]
    waiting = forensics("review", case, "--json").data["waiting"]
    assert waiting
    commands.append(("explain", case, waiting[0]["fragment_id"], "--reveal"))
    for command in commands:
        done = forensics(*command)
        assert done.code == 0, done.stderr
        assert _active(done.stdout) == [] and _active(done.stderr) == []
    names = re.compile("Szczepanska|Adebayo|Mulqueen|Hoogstraten|Ustinov|Whitcombe|Kowalczyk")
    assert names.search(forensics(*commands[-1]).stdout)
    assert not names.search(forensics("explain", case, waiting[0]["fragment_id"]).stdout)
    actions = [json.loads(line)["action"] for line in (case / "custody.jsonl").read_text().split("\n") if line]
    assert actions.count("reveal") == 2 and actions.count("trace") == 1


def test_errors_hold_no_text(forensics: Callable[..., Any], case: Path) -> None:
    done = forensics("ask", case, "tenant-as-source", "--param", "wrong=<script>")
    assert done.code == 2
    assert "<script>" not in done.stderr + done.stdout


def test_every_leak_between_hostile_tenants_is_found(case: Path) -> None:
    found = [json.loads(line) for line in (case / "out/fragments.jsonl").read_text().split("\n") if line]
    recipients = {item["recipient_request_id"] for item in found if item["verdict"] in ("probable", "possible")}
    assert recipients == {f"req-{2 * number + 1}" for number in range(len(TENANTS))}


def test_the_case_verifies(forensics: Callable[..., Any], case: Path) -> None:
    done = forensics("case", "verify", case, "--json")
    assert (done.code, done.data["problems"]) == (0, [])


def test_nobody_else_is_named(case: Path) -> None:
    """The escapes, which every tenant sends after having been given them, belong to the first who sent them."""
    found = [json.loads(line) for line in (case / "out/fragments.jsonl").read_text().split("\n") if line]
    true = {f"req-{2 * number + 1}": tenant for number, tenant in enumerate(TENANTS)}
    escapes_end = len(f"Mild. {ESCAPES} ")
    for item in found:
        allowed = {true[item["recipient_request_id"]]}
        if item["end"] <= escapes_end:
            allowed.add(TENANTS[0])
        assert set(item["sources"]) <= allowed
    assert any(item["end"] > escapes_end for item in found)
