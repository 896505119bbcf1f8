"""How does a judged plan enter the case? Tables `trials`, `replay_verdicts` and `replays`, and `out/replay.json`.

A plan that is judged again replaces its own rows, other plans stay. Verdicts of fragments are scope's business: it
reads `replay_verdicts` the next time it runs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import orjson
import pyarrow as pa

from forensics.case.store import Case
from forensics.replay.judge import Judged, LeakVerdict
from forensics.replay.plan import Plan
from forensics.replay.records import Trial

SCHEMA = "forensics/replay/1"
_SORTED = orjson.OPT_SORT_KEYS


def record(
    case: Case,
    plan: Plan,
    trials: Sequence[Trial],
    verdicts: Sequence[LeakVerdict],
    judged: Sequence[Judged],
    notes: Sequence[str],
    carried: int,
) -> None:
    """Put the outcome of `plan` into the tables, in one transaction, and write `out/replay.json`."""
    servers = {trial.server["digest"]: _server(trial.server) for trial in trials}
    facts = {
        "text": plan.text,
        "reason": plan.reason,
        "seed": plan.seed,
        "engine": asdict(plan.engine),
        "tokens": plan.tokens,
        "assumed": list(plan.assumed),
        "left_out": list(plan.left_out),
        "servers": [servers[name] for name in sorted(servers)],
        "notes": list(notes),
        "trials": len(trials),
        "carried_over": carried,
    }
    with case.transaction():
        for query in ("replay/forget_trials", "replay/forget_verdicts", "replay/forget_replay"):
            case.run(query, {"plan": plan.plan_id})
        _append(case, "trials", _trial_rows(plan, trials, judged))
        _append(
            case,
            "replay_verdicts",
            [
                {
                    "plan_id": plan.plan_id,
                    "fragment_id": one.fragment_id,
                    "verdict": one.verdict,
                    "because": one.because,
                    "text": plan.text,
                    "figures": _json({"arms": [asdict(arm) for arm in one.arms], "cures": one.cures}),
                }
                for one in verdicts
            ],
        )
        _append(case, "replays", [{"plan_id": plan.plan_id, "facts": _json(facts)}])
    case.write("out/replay.json", document(case))


def document(case: Case) -> bytes:
    """`out/replay.json` of all plans of the case that were run; sorted, without times."""
    plans: dict[str, dict[str, Any]] = {
        plan: {"plan_id": plan, **orjson.loads(facts), "leaks": []} for plan, facts in case.rows("replay/replays")
    }
    for plan, fragment, verdict, because, text, figures in case.rows("replay/verdicts"):
        leak = {"fragment_id": fragment, "verdict": verdict, "because": because, "text": text, **orjson.loads(figures)}
        plans[plan]["leaks"].append(leak)
    return orjson.dumps({"schema": SCHEMA, "plans": list(plans.values())}, option=orjson.OPT_INDENT_2 | _SORTED) + b"\n"


def _trial_rows(plan: Plan, trials: Sequence[Trial], judged: Sequence[Judged]) -> list[dict[str, Any]]:
    played = {trial.id: trial for trial in trials}
    rows = []
    for one in judged:
        trial = played[one.fragment_id, one.arm, one.trial]
        rows.append(
            {
                "plan_id": plan.plan_id,
                "fragment_id": one.fragment_id,
                "arm": one.arm,
                "trial": one.trial,
                "seed": trial.seed,
                "server": _json(trial.server),
                "valid": one.valid,
                "hit": one.hit,
                "absent": one.absent,
                "from_source": one.from_source,
                "foreign_chars": one.foreign,
                "elsewhere": one.elsewhere,
                "sources": list(one.sources),
                "response": one.response,
                "problem": one.why,
                "started": list(trial.order),
                "idle": trial.idle,
                "milliseconds": trial.ms,
            }
        )
    return rows


def _server(server: Mapping[str, Any]) -> dict[str, Any]:
    """A server without what changes from start to start."""
    flags = {name: value for name, value in server["flags"].items() if name != "random_seed"}
    return {"version": server["version"], "model": server["model"], "digest": server["digest"], "flags": flags}


def _append(case: Case, table: str, rows: list[dict[str, Any]]) -> None:
    if rows:
        case.append(table, pa.Table.from_pylist(rows, schema=case.table(table).schema))


def _json(value: object) -> str:
    return orjson.dumps(value, option=_SORTED).decode()
