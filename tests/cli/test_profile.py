"""`forensics profile`: the envelope, the exit codes, and that no text is shown unless asked for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROFILE = """
[profile]
name = "own"
vantage = "gateway"
[detect]
keys = ["/call"]
[map]
request_id = "/call"
[response]
content = "/said"
"""
LOG = '{"call": "a-1", "said": "The invented secret."}\n'


def forensics(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "forensics", *map(str, arguments)], capture_output=True, encoding="utf-8", check=False
    )


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "own.toml").write_text(PROFILE)
    (tmp_path / "log.jsonl").write_text(LOG)
    return tmp_path / "own.toml", tmp_path / "log.jsonl"


def test_a_trial_prints_one_envelope_and_no_text(files):
    done = forensics("profile", "test", *files, "--json")
    assert done.returncode == 0
    assert "secret" not in done.stdout + done.stderr
    envelope = json.loads(done.stdout)
    assert (envelope["schema"], envelope["case"], envelope["ok"]) == ("forensics.profile.test/1.0", None, True)
    assert envelope["data"]["share"] == 1.0
    assert envelope["data"]["examples"][0]["request_id"] == "a-1"
    assert any("no tenant" in sentence for sentence in envelope["data"]["missing"])


def test_texts_are_shown_where_asked_for_and_that_is_said(files):
    done = forensics("profile", "test", *files, "--reveal")
    assert "The invented secret." in done.stdout
    assert "no custody log" in done.stderr


def test_nothing_that_matches_is_code_11_and_a_bad_profile_code_2(files):
    profile, log = files
    log.write_text('{"other": 1}\n')
    assert forensics("profile", "test", profile, log).returncode == 11
    profile.write_text(PROFILE.replace("request_id", "requestid"))
    done = forensics("profile", "test", profile)
    assert done.returncode == 2
    assert "own.toml: map.requestid: unknown key" in done.stderr
    assert forensics("profile", "test", profile.parent / "none.toml").returncode == 10


def test_ingest_takes_a_profile(files, tmp_path):
    profile, log = files
    done = forensics("ingest", log, "--case", tmp_path / "case", "--profile", profile, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["data"]["files"][0]["format"] == "own"


def test_the_list_names_code_and_profiles():
    listed = json.loads(forensics("profile", "list", "--json").stdout)["data"]["formats"]
    made = {row["name"]: row["made_by"] for row in listed}
    assert (made["house"], made["kong_ai"]) == ("code", "profile")
