"""Small honest records around hostile ones, and the public command as a user would call it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.memory import Watched

Record = dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """What a command left: exit code, both streams, and the JSON object where there is one."""

    code: int
    stdout: str
    stderr: str
    peak: int  # bytes that the command and its children held at most

    @property
    def json(self) -> dict[str, Any]:
        return json.loads(self.stdout)

    @property
    def data(self) -> dict[str, Any]:
        return self.json["data"]


class Command:
    """The public command, run in a folder of its own, so that a file written to the wrong place is seen."""

    def __init__(self, work: Path) -> None:
        self.work = work

    def __call__(self, *arguments: object, text: str | None = None) -> Outcome:
        process = subprocess.Popen(
            [sys.executable, "-m", "forensics", *map(str, arguments)],
            cwd=self.work,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            env={**os.environ, "NO_COLOR": "1"},
        )
        with process, Watched(process) as watched:
            stdout, stderr = process.communicate(text or "")
        return Outcome(process.returncode, stdout, stderr, watched.peak)


@pytest.fixture(scope="session")
def forensics(tmp_path_factory: pytest.TempPathFactory) -> Command:
    return Command(tmp_path_factory.mktemp("work"))


def record(number: int, tenant: str = "acme", prompt: str = "Plan my week.", answer: str = "Here is a plan.") -> Record:
    """One call in the house format; every call has its own minute."""
    return {
        "request_id": f"req-{number}",
        "tenant_id": tenant,
        "timestamp": f"2026-05-11T06:{number % 60:02d}:00Z",
        "finished_at": f"2026-05-11T06:{number % 60:02d}:30Z",
        "worker": "w0",
        "model": "glm-5.3",
        "stream": False,
        "request": {"messages": [{"role": "user", "content": prompt}]},
        "response": {"choices": [{"index": 0, "message": {"role": "assistant", "content": answer}}]},
    }


@pytest.fixture(scope="session")
def make_record() -> Callable[..., Record]:
    return record
