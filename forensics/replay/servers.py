"""Which server does an arm need, and is this one it? Checks flags by what a server says, and starts servers of its own.

A server of our own is started from a command that the user gives (`--server-template`), without a shell, on a free
loopback port, and stopped when its arms are done. Its log is kept in `restricted/`: it may hold prompts.
"""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson

from forensics.case.errors import UsageError
from forensics.replay.facts import FLAGS, Facts
from forensics.replay.plan import FIXED, Arm, Plan

STOP_SECONDS = 20.0
HOLES = ("{flags}", "{port}")


@dataclass(frozen=True)
class Need:
    """What an arm asks of a server beyond being one. Empty: any server of the incident's kind."""

    flags: tuple[str, ...]
    environment: tuple[tuple[str, str], ...]
    fixed: bool

    @classmethod
    def of(cls, arm: Arm) -> Need:
        """The need of an arm."""
        return cls(arm.flags, tuple(sorted(arm.environment.items())), arm.switch == FIXED)

    @property
    def plain(self) -> bool:
        """Whether the server of the arms without a switch will do."""
        return not self.flags and not self.environment and not self.fixed


def settings(flags: tuple[str, ...]) -> dict[str, str | bool]:
    """Flags of a command line as a server names its settings: `--page-size 1` is `page_size: "1"`."""
    found: dict[str, str | bool] = {}
    name = ""
    for flag in flags:
        if flag.startswith("--"):
            name, given, value = flag[2:].replace("-", "_").partition("=")
            found[name] = value if given else True
        elif name:
            found[name] = flag
    return found


def unmet(facts: Facts, flags: tuple[str, ...]) -> tuple[str, ...]:
    """Flags that a server does not have, by what it says."""
    return tuple(
        f"--{name.replace('_', '-')}"
        for name, value in settings(flags).items()
        if name not in facts.flags or not _equal(facts.flags[name], value)
    )


def differences(facts: Facts, plan: Plan) -> tuple[str, ...]:
    """In what a server differs from the engine of the incident, as far as both are known; sentences."""
    found = []
    if plan.engine.version and facts.version and plan.engine.version != facts.version:
        found.append(f"the incident's engine was release {plan.engine.version}, this server is {facts.version}")
    flags = {name.lstrip("-").replace("-", "_"): value for name, value in plan.engine.flags.items()}
    for name in sorted(flags.keys() & facts.flags.keys() & (FLAGS - _PLACES)):
        if not _equal(facts.flags[name], flags[name]):
            found.append(f"{name} differs from the incident's engine")
    return tuple(found)


def told(facts: Facts, address: str) -> dict[str, Any]:
    """What trials keep of their server: version, model, flags, and a digest that is the same for equal servers."""
    body = asdict(facts)
    steady = {**body, "flags": {name: value for name, value in facts.flags.items() if name != "random_seed"}}
    name = sha256(orjson.dumps(steady, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]
    return {**body, "address": address, "digest": name}


def command(template: str, flags: tuple[str, ...], port: int) -> list[str]:
    """The words of the command. Raises UsageError where the template lacks a place to fill, or is no command."""
    if not all(hole in template for hole in HOLES):
        raise UsageError("--server-template needs {flags} and {port} in it, e.g. 'serve --port {port} {flags}'")
    try:
        words = shlex.split(template)
    except ValueError:
        raise UsageError("--server-template has a quote that does not end") from None
    found: list[str] = []
    for word in words:
        if word == "{flags}":
            found += flags
        else:
            found.append(word.replace("{port}", str(port)))
    if any("{flags}" in word for word in found):
        raise UsageError("--server-template needs {flags} as a word of its own, outside quotes")
    return found


class NotStarted(Exception):
    """A server of our own ended or did not answer in time. The message says which, and where its log is."""


@contextmanager
def started(
    template: str, flags: tuple[str, ...], environment: Mapping[str, str], log: Path
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """URL and process of a server; it is stopped, with all it started, at the end."""
    port = _free_port()
    words = command(template, flags, port)
    log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as out:
        try:
            process = subprocess.Popen(  # noqa: S603 (the user's own command, no shell)
                words, env={**os.environ, **environment}, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                start_new_session=True,
            )  # fmt: skip
        except OSError as error:
            raise NotStarted(f"the command of --server-template cannot be run: {error.strerror}") from None
        try:
            yield f"http://127.0.0.1:{port}", process
        finally:
            _stop(process)


def _stop(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        end = time.monotonic() + STOP_SECONDS
        while time.monotonic() < end and (process.poll() is None or _group_lives(process.pid)):
            time.sleep(0.1)
        if process.poll() is not None and not _group_lives(process.pid):
            return


def _group_lives(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


_PLACES = frozenset(("model_path", "tokenizer_path", "random_seed", "served_model_name", "mem_fraction_static"))


def _equal(said: Any, wanted: str | bool) -> bool:
    """Whether a server's setting is the wanted one; -1 and none both mean: off."""
    if isinstance(wanted, bool) or str(wanted).lower() in ("true", "false"):
        return bool(said) == (str(wanted).lower() == "true")
    if said is None:
        return str(wanted).lower() in ("-1", "none", "null", "")
    return str(said).lower() == str(wanted).lower()
