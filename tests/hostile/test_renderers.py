"""The hostile corpus through every renderer: nothing of it acts, and all of it is still there.

Each string is tenant, request id, worker, model, tool and text at once; each tenant's secret leaks to the next.
"""

from __future__ import annotations

import csv
import http.server
import json
import os
import re
import runpy
import shutil
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow.parquet
import pytest
from typer.testing import CliRunner

from forensics.case.ask import questions
from forensics.case.csv_file import csv_value
from forensics.case.store import Case
from forensics.cli.main import app
from forensics.text.safe_text import safe_text
from tests.hostile.active import in_cells, in_markdown, in_markup, text_of, unsafe_signs
from tests.hostile.payloads import payloads, secret

pytestmark = pytest.mark.slow  # the finished case alone takes half a minute of processor time

ROOT = Path(__file__).resolve().parents[2]
OUTWARD = ("ocsf.json", "veris.json", "timeline.jsonl", "trace.json")


@dataclass(frozen=True)
class Made:
    """A finished case over the corpus, and where its strings would call home."""

    root: Path
    tricks: dict[str, str]
    calls: list[str]
    beacon: str
    withheld: frozenset[
        str
    ]  # letters whose name, read as markup within markup, comes to the name of another: not written

    @property
    def tenants(self) -> list[str]:
        return list(self.tricks.values())


@pytest.fixture(scope="module")
def listener() -> Iterator[tuple[str, list[str]]]:
    """A web server on this machine that remembers who called."""
    calls: list[str] = []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            calls.append(self.path)
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()

        do_POST = do_HEAD = do_OPTIONS = do_GET

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", calls
    server.shutdown()


def _record(number: int, trick: str, prompt: str, answer: str) -> dict[str, Any]:
    return {
        "request_id": f"{trick}#{number}",
        "tenant_id": trick,
        "timestamp": f"2026-05-11T{6 + number // 60:02d}:{number % 60:02d}:00Z",
        "finished_at": f"2026-05-11T{6 + number // 60:02d}:{number % 60:02d}:30Z",
        "worker": trick,
        "model": trick,
        "stream": False,
        "request": {
            "messages": [{"role": "user", "content": prompt}],
            "tools": [{"type": "function", "function": {"name": trick, "description": trick, "parameters": {}}}],
        },
        "response": {
            "choices": [{"index": 0, "finish_reason": trick, "message": {"role": "assistant", "content": answer}}]
        },
    }


@pytest.fixture(scope="module")
def made(forensics: Any, listener: tuple[str, list[str]], tmp_path_factory: pytest.TempPathFactory) -> Made:
    beacon, calls = listener
    tricks = payloads(beacon)
    names = list(tricks.values())
    records, rows = [], []
    for number, trick in enumerate(names):
        records.append(_record(2 * number, trick, f"{trick} Please check {secret(number)}.", "Checked."))
        victim = names[(number + 1) % len(names)]
        records.append(
            _record(2 * number + 1, victim, f"What is the {2 * number + 3}rd prime?", f"Mild. {secret(number)}")
        )
        rows.append(("tenant", trick, trick, f"Org {number}", f"{trick} Ltd.", f"{trick} at example", trick, trick))
    root = tmp_path_factory.mktemp("renderers")
    (root / "log.jsonl").write_bytes(b"".join(json.dumps(item).encode("ascii") + b"\n" for item in records))
    header = "key_kind,key,tenant_id,organisation,legal_name,contact,country,language".split(",")
    with (root / "tenants.csv").open("w", encoding="utf-8", errors="surrogatepass", newline="") as file:
        writer = csv.writer(file)
        writer.writerows([header, *(row for row in rows if not _unwritable(row[1]))])
    done = forensics("run", root / "log.jsonl", "--case", root / "case", "--tenants", root / "tenants.csv", "--json")
    assert done.code == 0, done.stderr
    assert unsafe_signs(done.stdout + done.stderr) == []
    formats = [part for name in ("ocsf", "veris", "timesketch", "perfetto", "bagit") for part in ("--format", name)]
    exported = forensics("case", "export", root / "case", *formats, "--json")
    assert exported.code == 0, exported.stderr
    [reported] = [stage for stage in done.data["stages"] if stage["stage"] == "report"]
    withheld = frozenset(reported["figures"]["withheld"])
    return Made(root / "case", tricks, calls, beacon, withheld)


def _unwritable(text: str) -> bool:
    """What a CSV file in UTF-8 cannot hold, or no reader of it gives back."""
    return any(0xD800 <= ord(c) <= 0xDFFF or c in "\0\r" for c in text)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def _pages(made: Made) -> list[Path]:
    return [*made.root.rglob("*.html"), *made.root.rglob("*.svg")]


# -- data survives -------------------------------------------------------------------------------------------------


def test_all_of_it_was_read(made: Made) -> None:
    with Case.open(made.root, read_only=True) as case:
        requests = case.table("joined_requests").to_pylist()
    assert len(requests) == 2 * len(made.tricks)
    expected = {_kept(trick) for trick in made.tenants}
    assert {row["tenant_id"] for row in requests} == expected
    assert {row["worker"] for row in requests} == expected


def _kept(text: str) -> str:
    """As the case keeps it: half a character cannot be stored as UTF-8, becomes U+FFFD, and a warning counts it."""
    return "".join("\ufffd" if 0xD800 <= ord(c) <= 0xDFFF else c for c in text)


def _victim(made: Made, number: int) -> str:
    """The request whose response carries the secret of tenant `number`."""
    names = made.tenants
    return _kept(f"{names[(number + 1) % len(names)]}#{2 * number + 1}")


def test_every_leak_is_found_and_its_source_named(made: Made) -> None:
    found: dict[str, set[str]] = {}
    for item in _lines(made.root / "out" / "fragments.jsonl"):
        found.setdefault(item["recipient_request_id"], set()).update(item["sources"])
    for number, trick in enumerate(made.tenants):
        sources = found.get(_victim(made, number), set())
        assert sources == {_kept(trick)}, list(made.tricks)[number]


def test_json_gives_every_id_back(made: Made) -> None:
    """Lists as they are; the table files too."""
    fragments = _lines(made.root / "out" / "fragments.jsonl")
    assert {item["recipient_tenant_id"] for item in fragments} == {_kept(trick) for trick in made.tenants}
    events = _lines(made.root / "out" / "timeline.jsonl")
    longest = 4000
    wanted = {rid for rid in (_victim(made, i) for i in range(len(made.tricks))) if len(rid) < longest}
    assert wanted <= {event["rid"] for event in events if "rid" in event}
    stored = pyarrow.parquet.read_table(made.root / "out" / "affected_requests.parquet").to_pylist()
    assert {row["tenant_id"] for row in stored} == {_kept(trick) for trick in made.tenants}


def test_spreadsheets_give_every_id_back(made: Made) -> None:
    with (made.root / "out" / "affected_tenants.csv").open(encoding="utf-8", newline="") as file:
        cells = {csv_value(row["tenant_id"]) for row in csv.DictReader(file)}
    assert cells == {safe_text(_kept(trick)) for trick in made.tenants}


def test_letters_hold_the_customers_own_names_and_ids(made: Made) -> None:
    """In HTML and Markdown a reader sees every sign of them, the invisible ones as escapes."""
    with (made.root / "restricted" / "pseudonyms.csv").open(encoding="utf-8", newline="") as file:
        folders = {csv_value(row["id"]): row["code"] for row in csv.DictReader(file) if row["kind"] == "tenant"}
    letters = 0
    for trick in made.tenants:
        shown = safe_text(_kept(trick))
        folder = made.root / "notify" / folders[shown]
        wanted = _words(shown)
        for name in ("letter.html", "letter.md"):
            path = folder / name
            if path.relative_to(made.root).as_posix() in made.withheld:
                continue
            letters += 1
            text = path.read_text(encoding="utf-8")
            assert wanted in _words(text_of(text) if name == "letter.html" else in_markdown(text)[1])
    withheld = sum(path.endswith(("letter.html", "letter.md")) for path in made.withheld)
    assert letters == 2 * len(made.tricks) - withheld > 1.9 * len(made.tricks)


def _words(text: str) -> str:
    return " ".join(text.split())


# -- nothing acts --------------------------------------------------------------------------------------------------


def test_names_never_become_paths(forensics: Any, made: Made) -> None:
    assert sorted(path.name for path in made.root.parent.iterdir()) == ["case", "log.jsonl", "tenants.csv"]
    assert list(forensics.work.iterdir()) == []
    for path in made.root.rglob("*"):
        assert re.fullmatch(r"[A-Za-z0-9_.-]+", path.name), "a name from data became a path"
    assert not any(
        Path(folder, "hostile-escape").exists() for folder in (".", "..", "/", "/tmp", made.root.parent.parent)
    )


def test_pages_hold_nothing_active(made: Made) -> None:
    pages = _pages(made)
    assert len(pages) >= len(made.tricks) - len(made.withheld)
    for path in pages:
        page = path.read_text(encoding="utf-8")
        assert in_markup(page) == [], path.relative_to(made.root)
        if path.suffix == ".html":
            policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
            assert policy and "default-src 'none'" in policy.group(1)


def test_markdown_holds_nothing_active(made: Made) -> None:
    files = [*made.root.rglob("*.md")]
    assert len(files) >= len(made.tricks) - len(made.withheld)
    for path in files:
        text = path.read_text(encoding="utf-8")
        assert unsafe_signs(text) == []
        assert in_markdown(text)[0] == [], path.relative_to(made.root)


def test_spreadsheets_hold_nothing_active(made: Made) -> None:
    files = [*made.root.rglob("*.csv")]
    assert len(files) >= len(made.tricks) - len(made.withheld)
    for path in files:
        assert in_cells(path.read_bytes()) == [], path.relative_to(made.root)


def test_json_holds_escapes_only(made: Made) -> None:
    """A line is an object, and no byte of it moves a cursor. (Direction marks are data there, and no terminal's.)"""
    for path in [*made.root.rglob("*.json"), *made.root.rglob("*.jsonl")]:
        data = path.read_bytes()
        assert not re.search(rb"[\x00-\x09\x0b-\x1f\x7f]", data), path.relative_to(made.root)
        for line in data.split(b"\n") if path.suffix == ".jsonl" else [data]:
            if line:
                json.loads(line)


def test_what_leaves_holds_none_of_it(made: Made) -> None:
    """Exports and reports have codes for names: no string of the corpus, however decoded, and no secret."""
    files = [made.root / "export" / name for name in OUTWARD]
    files += [path for path in (made.root / "export" / "bag").rglob("*") if path.is_file()]
    files += [
        path for path in (made.root / "report").rglob("*") if path.suffix in (".html", ".md", ".json", ".svg", ".csv")
    ]
    assert len(files) > 12
    for path in files:
        text = path.read_text(encoding="utf-8")
        seen = [text, json.dumps(json.loads(text), ensure_ascii=False) if path.suffix == ".json" else "", text_of(text)]
        for name, trick in made.tricks.items():
            if len(trick) < 9:
                continue  # `..`, `CON` and their like stand in ordinary text
            assert not any(trick in one or safe_text(trick) in one for one in seen), (path.name, name)
        assert made.beacon not in text
        assert not any(secret(number) in one for number in range(len(made.tricks)) for one in seen), path.name


def test_the_bag_holds_no_forged_line(made: Made) -> None:
    import bagit

    bag = bagit.Bag(str(made.root / "export" / "bag"))
    assert bag.is_valid()
    assert not any("forged" in name for name in bag.payload_files())


def test_the_custody_log_holds_no_forged_line(forensics: Any, made: Made) -> None:
    entries = _lines(made.root / "custody.jsonl")
    assert not any(entry["action"] == "review" for entry in entries)
    done = forensics("case", "verify", made.root, "--json")
    assert (done.code, done.data["problems"]) == (0, [])


# -- the terminal --------------------------------------------------------------------------------------------------


def test_the_terminal_gets_text_only(made: Made, tmp_path: Path) -> None:
    (tmp_path / "passage.txt").write_text(secret(0))
    runner = CliRunner(env={"COLUMNS": "120", "NO_COLOR": "1"})
    waiting = json.loads(runner.invoke(app, ["review", str(made.root), "--json"]).stdout)["data"]["waiting"]
    assert len(waiting) >= len(made.tricks)
    some = waiting[0]["fragment_id"]
    request = f"{made.tenants[0]}#0"
    commands: list[tuple[object, ...]] = [
        ("ask", made.root, "affected-tenants"),
        ("ask", made.root, "affected-requests", "--format", "csv"),
        ("ask", made.root, "who-to-whom", "--format", "json"),
        ("ask", made.root, "request", "--param", f"request={request}"),
        ("trace", made.root, "--text", tmp_path / "passage.txt"),
        ("review", made.root, "--list"),
        ("explain", made.root, some),
        ("explain", made.root, some, "--reveal"),
        ("explain", made.root, some, "--reveal", "--json"),
        ("case", "verify", made.root),
    ]
    for command in commands:
        done = runner.invoke(app, [str(part) for part in command])
        assert done.exit_code == 0, done.output
        assert done.output and unsafe_signs(done.output) == [], command[:3]
    wrong = runner.invoke(app, ["explain", str(made.root), "\x1b[2J\u202e"])
    assert wrong.exit_code == 2 and wrong.stderr and unsafe_signs(wrong.output) == []


def test_walking_all_fragments_shows_them_safely(made: Made, tmp_path: Path) -> None:
    root = tmp_path / "case"
    shutil.copytree(made.root, root)
    runner = CliRunner(env={"COLUMNS": "120", "NO_COLOR": "1"})
    done = runner.invoke(app, ["review", str(root), "--walk", "--reveal"], input="s\n" * 400)
    assert done.exit_code == 0 and "that was the last one" in done.output
    assert unsafe_signs(done.output) == []
    for name in ("clear_screen", "bidi", "zero_width", "null", "title"):
        first = safe_text(made.tricks[name])[:12]
        assert first in done.output, "hidden signs are shown, not dropped"
    reason = made.tricks["log_line"].replace("\n", "\r")
    noted = runner.invoke(
        app, ["review", str(root), "--walk", "--no-update"], input=f"u\n{reason}\n{made.tricks['title']}\nb\nq\n"
    )
    assert unsafe_signs(noted.output) == []
    entries = [entry for entry in _lines(root / "custody.jsonl") if entry["action"] == "review"]
    assert len(entries) == 1


@pytest.mark.parametrize("name", ["bounds", "leak", "mechanism", "triage"])
def test_notebooks_print_text_only(
    name: str, made: Made, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORENSICS_CASE", str(made.root))
    runpy.run_path(str(ROOT / "notebooks" / f"{name}.py"))
    printed = capsys.readouterr().out
    assert printed and unsafe_signs(printed) == []
    assert not any(secret(number) in printed for number in range(len(made.tricks)))


def test_every_question_answers_in_every_form(made: Made) -> None:
    """CSV of every named question: hostile ids stand in most of them."""
    from forensics.case.ask import ask, to_csv

    with Case.open(made.root, read_only=True) as case:
        for question in questions():
            given = dict.fromkeys(question.parameters, made.tenants[0])
            assert in_cells(to_csv(ask(case, question.name, given)).encode()) == [], question.name


# -- a real browser ------------------------------------------------------------------------------------------------

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def _open(page: Path, profile: Path) -> str:
    command = [
        str(BROWSER), "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run",
        f"--user-data-dir={profile}", "--virtual-time-budget=4000", "--dump-dom", page.as_uri(),
    ]  # fmt: skip
    environment = {key: value for key, value in os.environ.items() if not key.lower().endswith("_proxy")}
    return subprocess.run(command, capture_output=True, timeout=120, env=environment).stdout.decode("utf-8", "replace")


@pytest.mark.skipif(BROWSER is None, reason="no chromium on this machine")
def test_nothing_runs_and_nothing_is_fetched_in_a_browser(made: Made, tmp_path: Path) -> None:
    """All pages at once, as they are and without their content policy: escaping alone must be enough."""
    made.calls.clear()
    corpus = tmp_path / "raw.html"
    raw = "\n".join(
        f"<div>{trick}</div>" for name, trick in made.tricks.items() if name in ("script", "handler", "remote_image")
    )
    corpus.write_text(f"<!DOCTYPE html><meta charset=utf-8><title>x</title>{raw}", encoding="utf-8")
    _open(corpus, tmp_path / "profile-raw")
    assert {"/script", "/handler", "/remote-image"} <= set(made.calls), "the listener hears what does run"
    made.calls.clear()
    frames = []
    for number, path in enumerate(_pages(made)):
        page = path.read_text(encoding="utf-8")
        bare = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page)
        assert bare != page or path.suffix == ".svg"
        (tmp_path / f"bare-{number}.html").write_text(bare, encoding="utf-8")
        frames += [path.as_uri(), (tmp_path / f"bare-{number}.html").as_uri()]
    index = tmp_path / "index.html"
    index.write_text(
        "<!DOCTYPE html><title>all</title>" + "".join(f'<iframe src="{frame}"></iframe>' for frame in frames)
    )
    dom = _open(index, tmp_path / "profile")
    assert dom.count("<iframe") == len(frames) >= 1.9 * len(made.tricks)
    assert made.calls == []


def test_the_checks_would_see_it(made: Made) -> None:
    """Each check finds the tricks that are made for its kind of file, when they are not defused."""
    b = made.beacon
    for name in (
        "script",
        "handler",
        "remote_image",
        "svg",
        "close_script",
        "style",
        "frame",
        "refresh",
        "base",
        "bidi",
    ):
        assert in_markup(f"<p>{made.tricks[name]}</p>") != [], name
    assert in_markup(f'<p title="{made.tricks["attribute"]}">') != []
    for name in ("script", "markdown_image", "markdown_reference", "handler", "markdown_fence"):
        assert in_markdown(f"{made.tricks[name]}\n")[0] != [], name
    assert in_markdown(f"<{b}/autolink>")[0] != []
    for name, trick in made.tricks.items():
        if name.startswith("formula"):
            assert in_cells(f'"{trick.replace(chr(34), chr(34) * 2)}"\n'.encode()) != [], name
    for name in ("clear_screen", "c1", "bidi", "zero_width", "tags", "null", "separators"):
        assert unsafe_signs(made.tricks[name]) != [], name
