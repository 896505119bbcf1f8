"""Which options do several verbs share? Declared once, so that they read the same everywhere. Loads Typer only."""

from __future__ import annotations

import re
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from forensics.case.errors import UsageError

CaseArgument = Annotated[Path, typer.Argument(metavar="CASE", help="The case directory.", show_default=False)]
CaseOption = Annotated[
    Path, typer.Option("--case", metavar="DIR", help="The case directory; made if absent.", show_default=False)
]
EvidenceArgument = Annotated[
    list[Path],
    typer.Argument(
        metavar="EVIDENCE...",
        help="Log files and folders: plain or compressed, and archives of them, judged by content.",
        show_default=False,
    ),
]
FragmentArgument = Annotated[
    str, typer.Argument(metavar="FRAGMENT", help="A fragment id, or its unique beginning.", show_default=False)
]
Fragments = Annotated[
    list[str] | None,
    typer.Option(
        "--fragment",
        metavar="ID",
        help="Only this fragment, by its id or its unique beginning; repeatable, or several with commas.",
        show_default=False,
    ),
]
Original = Annotated[
    bool, typer.Option("--original", help="Use the customers' own texts instead of surrogates; needs --reason.")
]
Reason = Annotated[
    str, typer.Option("--reason", metavar="TEXT", help="Why the originals are needed; logged.", show_default=False)
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="No progress and no log on stderr.")]
Verbose = Annotated[int, typer.Option("--verbose", "-v", count=True, help="Say more on stderr.", show_default=False)]
Tenants = Annotated[
    Path | None,
    typer.Option("--tenants", metavar="FILE", help="CSV that gives tenants to keys.", show_default=False),
]
TimeZone = Annotated[
    str | None,
    typer.Option(
        "--time-zone", metavar="ZONE", help="IANA zone of times without an offset; none: UTC.", show_default=False
    ),
]
LogFormat = Annotated[
    str | None,
    typer.Option("--format", metavar="NAME", help="The log format; none: judged by content.", show_default=False),
]
Profiles = Annotated[
    list[Path] | None,
    typer.Option("--profile", metavar="FILE", help="A TOML profile of a log format; repeatable.", show_default=False),
]
PrivateKeys = Annotated[
    list[Path] | None,
    typer.Option(
        "--private-key",
        metavar="FILE",
        help="PEM key that opens encrypted Cloudflare fields; repeatable.",
        show_default=False,
    ),
]
AllowPickle = Annotated[
    bool,
    typer.Option("--allow-pickle", help="Read the data in pickles, such as SGLang's dumps; they are never run."),
]
MaxRejects = Annotated[
    int | None,
    typer.Option(
        "--max-rejects", metavar="N", min=0, help="Fail (exit 11) above N unreadable records.", show_default=False
    ),
]
MaxLineBytes = Annotated[
    str | None,
    typer.Option(
        "--max-line-bytes", metavar="SIZE", help="A longer line is passed over; none: 256M.", show_default=False
    ),
]
MaxRatio = Annotated[
    int | None,
    typer.Option(
        "--max-ratio",
        metavar="N",
        min=1,
        help="Stop where a file unfolds to more than N times its size (after the first 64M); none: 1000.",
        show_default=False,
    ),
]
MaxBytes = Annotated[
    str | None,
    typer.Option(
        "--max-bytes", metavar="SIZE", help="Stop where a file unfolds to more than this; none: 1T.", show_default=False
    ),
]
MaxMembers = Annotated[
    int | None,
    typer.Option(
        "--max-members",
        metavar="N",
        min=1,
        help="Stop after N entries of the archives in one file; none: 100000.",
        show_default=False,
    ),
]
MaxDepth = Annotated[
    int | None,
    typer.Option(
        "--max-depth",
        metavar="N",
        min=1,
        max=64,
        help="Open at most N archives, or compressions, one inside another; none: 4.",
        show_default=False,
    ),
]
Memory = Annotated[str, typer.Option("--memory", metavar="SIZE", help="Memory to use, e.g. 2G; beyond it, disk.")]
Threads = Annotated[int, typer.Option("--threads", metavar="N", min=1, max=256, help="Threads to use.")]
Canaries = Annotated[
    Path | None,
    typer.Option(
        "--canaries", metavar="FILE", help="CSV of strings planted with tenants: canary,tenant_id[,label].",
        show_default=False,
    ),
]  # fmt: skip


def release(value: str | None) -> str | None:
    """A release of the engine such as 0.5.18 or 0.5.10.post1. Raises typer.BadParameter for anything else."""
    if value is not None and re.fullmatch(r"\d{1,4}\.\d{1,4}(\.\d{1,4})?(\.?(post|rc)\d{1,4})?", value) is None:
        raise typer.BadParameter("a release such as 0.5.18 is needed")
    return value


EngineVersion = Annotated[
    str | None,
    typer.Option(
        "--engine-version",
        metavar="X.Y.Z",
        callback=release,
        help="Release of SGLang, for logs that do not tell it: it says in which order slots are given again.",
    ),
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", help="Seed of every random choice.")]


class Rule(StrEnum):
    """Exclusion rules that may be switched off; the same names as attribution's OPTIONAL_RULES (a test holds it)."""

    shared = "shared"
    template = "template"
    public_text = "public_text"
    model_phrase = "model_phrase"
    same_question = "same_question"


WithoutRule = Annotated[
    list[Rule] | None,
    typer.Option(
        "--without-rule",
        help="Switch an exclusion rule off, to see what it sets aside judged by the others; recorded. Repeatable.",
        show_default=False,
    ),
]


class IsolateBy(StrEnum):
    """Who may share text with whom."""

    tenant = "tenant"
    user = "user"


class FailOn(StrEnum):
    """From which verdict on findings make the exit code 3."""

    confirmed = "confirmed"
    probable = "probable"
    possible = "possible"


Isolation = Annotated[IsolateBy, typer.Option("--isolate-by", help="The unit that may see its own text.")]


def fragment_ids(given: list[str] | None) -> tuple[str, ...]:
    """The ids and beginnings of `--fragment`, in the order given."""
    return tuple(one for several in given or () for one in several.split(",") if one)


def rules_off(rules: list[Rule] | None) -> tuple[str, ...]:
    """The given rules by name, each once, sorted."""
    return tuple(sorted({rule.value for rule in rules or ()}))


_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def memory_bytes(size: str) -> int:
    """`2G`, `512M`, `1.5GiB` as bytes. Raises UsageError for anything else or for less than 256 MiB."""
    value = size_bytes("--memory", size)
    if value < 256 << 20:
        raise UsageError("--memory needs at least 256M")
    return value


def limits(
    max_line_bytes: str | None,
    max_ratio: int | None,
    max_bytes: str | None,
    max_members: int | None,
    max_depth: int | None,
) -> dict[str, int]:
    """The limits of reading that were given, by the names that the first stage uses, sizes in bytes."""
    given = {
        "max_line_bytes": None if max_line_bytes is None else size_bytes("--max-line-bytes", max_line_bytes),
        "max_ratio": max_ratio,
        "max_bytes": None if max_bytes is None else size_bytes("--max-bytes", max_bytes),
        "max_members": max_members,
        "max_depth": max_depth,
    }
    return {name: value for name, value in given.items() if value is not None}


def size_bytes(option: str, size: str) -> int:
    """A size such as `2G` in bytes. Raises UsageError, which names `option`, for anything else or for none at all."""
    number = size.strip().upper().removesuffix("B").removesuffix("I")
    unit = number[-1:] if number[-1:].isalpha() else ""
    try:
        value = int(float(number.removesuffix(unit) if unit else number) * _UNITS[unit])
    except (ValueError, KeyError, OverflowError):
        raise UsageError(f"{option} wants a size such as 2G or 512M") from None
    if value < 1:
        raise UsageError(f"{option} wants at least one byte")
    return value
