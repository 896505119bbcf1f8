"""The check of a GPU host, tried without a GPU: its one command against the stand-in server."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from forensics.replay.check import TEXTS, check_plan

ROOT = Path(__file__).resolve().parents[2]


def test_the_plan_is_sound_and_uses_every_endpoint() -> None:
    plan = check_plan()
    assert {one.endpoint for one in plan.requests} == {"generate", "chat", "completions"}
    assert {arm.scene for arm in plan.arms} == {"timed", "paused", "sequential"}
    assert len(TEXTS) == len(plan.requests)


def test_one_command_leaves_a_report(tmp_path: Path) -> None:
    out = tmp_path / "it's here"
    server = f"{sys.executable} -m tests.support.fake_sglang_server --port {{port}} {{flags}}"
    environment = {**os.environ, "PYTHON": sys.executable, "SERVER": server, "PYTHONPATH": str(ROOT)}
    script = ROOT / "forensics" / "replay" / "gpu_check.sh"
    done = subprocess.run([script, "no-model", out], env=environment, cwd=ROOT, capture_output=True, text=True)
    report = (out / "report.txt").read_text(encoding="utf-8")
    assert done.returncode == 0, done.stderr
    assert "OK: every endpoint and arm ran, nothing was reproduced" in report
    assert (
        "check: not_reproduced" in report and "original" in report and "one_batch" in report and "skipped" not in report
    )
