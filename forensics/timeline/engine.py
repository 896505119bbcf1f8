"""Engine events to stays, slots and forward passes: which step comes when. Judges nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

from forensics.case.store import Case

Tell = Callable[[str], None]


def rebuild(case: Case, version: str | None, tell: Tell) -> None:
    """Fill residencies, batches, batch_members and slot_derivations from events and request times.

    `version` is the engine's release where the logs do not tell it.
    """
    import pyarrow as pa

    from forensics.timeline.slots import derive

    tell("names of calls")
    case.run("timeline/call_names")
    case.run("timeline/event_places")
    tell("forward passes")
    case.run("timeline/probe_batches")
    case.run("timeline/schedule_batches")
    case.run("timeline/batch_keys")
    case.run("timeline/batch_rows")
    tell("slots")
    case.run("timeline/slot_stays")
    case.run("timeline/time_stats")
    case.run("timeline/place_workers")
    case.run("timeline/request_workers")
    tell("batches")
    case.run("timeline/batches")
    case.run("timeline/batch_members")
    tell("residencies")
    case.run("timeline/residencies")
    case.run("timeline/runs")
    case.run("timeline/slot_residencies")
    case.run("timeline/logged_accounts")
    tell("derived slots")
    stays, accounts = derive(case, version)
    case.append("residencies", stays)
    if accounts:
        case.append("slot_derivations", pa.Table.from_pylist([asdict(account) for account in accounts], _accounts()))
    case.run("timeline/llama_stays")
    case.run("timeline/llama_residencies")
    case.run("timeline/llama_accounts")
    tell("clocks")
    case.run("timeline/event_clocks")
    case.run("timeline/shift_residencies")
    case.run("timeline/shift_batches")


def drop(case: Case) -> None:
    """Forget what only the stage itself needs."""
    case.run("timeline/drop_scratch")


def _accounts() -> object:
    import pyarrow as pa

    texts = dict.fromkeys(("worker", "basis", "policy", "version", "reason"), pa.string())
    numbers = dict.fromkeys(("first_slot", "slots", "stays", "given", "checks", "agreed"), pa.int64())
    return pa.schema(list({**texts, **numbers}.items()))
