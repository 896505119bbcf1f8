"""How a stage runs: skipped when nothing changed, else its tables replaced in one transaction and the run recorded.

A stage's input digest is made of its parameters, the tool's version and the digests of the stages it reads, so that
a change anywhere upstream makes everything downstream run again, and nothing else does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass
from typing import Any

import orjson
import pyarrow as pa

from forensics import __version__
from forensics.case.store import Case


@dataclass(frozen=True)
class Summary:
    """What a stage reports. `figures` are JSON scalars or lists; `warnings` are sentences without log text."""

    stage: str
    figures: dict[str, Any]
    warnings: tuple[str, ...] = ()
    skipped: bool = False


def run_stage(
    case: Case,
    name: str,
    parameters: object,
    reads: Sequence[str],
    writes: Sequence[str],
    work: Callable[[], tuple[dict[str, Any], tuple[str, ...]]],
    extra: str = "",
) -> Summary:
    """Run `work` as stage `name` unless its inputs are unchanged.

    `reads` are stage names; `writes` are the tables that are emptied first and counted after; `extra` is a digest of
    inputs that are not stages (evidence files, reviews). `work` returns figures and warnings.
    """
    known = {row[0]: row for row in case.rows("schema/stage_rows")}
    read = {stage: known[stage][3] if stage in known else "" for stage in reads}
    digest = input_digest(name, parameters, read, extra)
    if name in known and known[name][3] == digest:
        saved = orjson.loads(known[name][5])
        return Summary(name, saved["figures"], tuple(saved["warnings"]), skipped=True)
    with case.transaction():
        case.clear(writes)
        figures, warnings = work()
        outputs = {table: case.count(table) for table in writes}
        case.run("schema/stage_delete", {"stage": name})
        case.append(
            "stages",
            pa.table(
                {
                    "stage": [name],
                    "version": [__version__],
                    "parameters": [dump(parameters)],
                    "input_digest": [digest],
                    "outputs": [orjson.dumps(outputs, option=orjson.OPT_SORT_KEYS).decode()],
                    "summary": [
                        orjson.dumps(
                            {"figures": figures, "warnings": list(warnings), "reads": read},
                            option=orjson.OPT_SORT_KEYS,
                        ).decode()
                    ],
                }
            ),
        )
    case.record("stage", name, digest)
    return Summary(name, figures, warnings)


def has_run(case: Case, name: str) -> bool:
    """Whether stage `name` has been finished in this case."""
    return any(row[0] == name for row in case.rows("schema/stage_rows"))


def verb(stage: str) -> str:
    """The command that runs a stage."""
    return "attribute" if stage == "attribution" else stage


def doubts(case: Case, name: str, optional: Sequence[str] = ()) -> tuple[str, ...]:
    """Sentences on what stage `name` rests on that has not run, or ran before what it rests on itself changed.

    Stages in `optional` may be missing. Runs of releases that did not keep what they read are not judged.
    """
    read = {
        row[0]: (row[3], orjson.loads(row[5]).get("reads", {}))  # its own digest, and those it saw
        for row in case.rows("schema/stage_rows")
    }
    told: dict[str, None] = {}
    open_ = [name]
    seen = set(open_)
    while open_:
        stage = open_.pop()
        for upstream, digest in sorted(read[stage][1].items()):
            if upstream not in read:
                if upstream not in optional:
                    lacks = f"`forensics {verb(upstream)}` has not run here"
                    told[f"{lacks}: what {stage} takes from it is missing"] = None
                continue
            if read[upstream][0] != digest:
                told[f"{stage} is of before {upstream} ran again: run `forensics {verb(stage)}` once more"] = None
            if upstream not in seen:
                seen.add(upstream)
                open_.append(upstream)
    return tuple(told)


def input_digest(name: str, parameters: object, read: Mapping[str, str], extra: str) -> str:
    """SHA-256 over the stage's name, the tool's version, its parameters and the digests of what it reads (`read`)."""
    body = {"stage": name, "version": __version__, "parameters": dump(parameters), "reads": read, "extra": extra}
    return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()


def dump(parameters: object) -> str:
    """Parameters as sorted JSON."""
    value = asdict(parameters) if is_dataclass(parameters) and not isinstance(parameters, type) else parameters
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS, default=str).decode()
