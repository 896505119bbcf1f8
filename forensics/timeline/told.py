"""What a reader of the timeline must know about it, in sentences: what is not known, and why. Computes no figure."""

from __future__ import annotations

from typing import Any

from forensics.case.store import Case

NO_SLOTS = "slots and batches are not in these logs: stays on workers are derived from request times"
NOT_JUDGED = {
    "tokens_unknown": "the tokens of the prompt are not logged",
    "adapter": "the call names an adapter, whose hashes cannot be computed from the log",
    "other_worker": "nothing was stored for the call in any recording",
    "hash_form_unknown": "the hashes are of a form that cannot be computed from tokens",
    "before_recording": "the recording began later",
    "after_recording": "the recording ended before",
    "end_unknown": "when the call was cut off is not logged",
    "began_warm": "what the cache held when the recording began is not known",
    "gap": "events were lost, and the cache was not flushed since",
    "key_not_in_hash": "an extra key or salt is not in the hashes, and more was not taken than all keys together held",
    "same_step": "what was stored in the same step may be another call's whose tokens are not known",
    "retracted": "the call was retracted and may have found itself",
}
NO_BATCHES = "no log says which requests were in a forward pass together"


def warnings_of(case: Case, figures: dict[str, Any]) -> tuple[str, ...]:
    """The sentences, most general first. They hold numbers and names of schedulers' states, never log text."""
    found: list[str] = []
    slots = figures["slots_logged"] + figures["slots_derived"]
    if not slots and not figures["batches"]:
        found.append(NO_SLOTS)
    elif not figures["batch_members"]:
        found.append(NO_BATCHES)
    for basis, reason, schedulers, stays, given in case.rows("timeline/slot_reasons"):
        if basis == "derived":
            share = f"{given} of {stays} stays on {schedulers} scheduler(s) have a derived slot"
            found.append(f"{share}: {reason}")
        elif basis != "logged":
            found.append(f"{stays} stays on {schedulers} scheduler(s) have no slot: {reason}")
    if case.count("kv_events"):
        for reason, calls in case.rows("timeline/tree_reasons"):
            if reason in NOT_JUDGED:
                found.append(f"{calls} cache hits are not judged by the cache's own events: {NOT_JUDGED[reason]}")
    for sentence, count in case.rows("timeline/doubts"):
        found.append(f"{count} {sentence}")
    if figures["requests_without_times"]:
        found.append(f"{figures['requests_without_times']} requests have no time and stand in no timeline")
    if figures["residencies_without_worker"]:
        found.append(f"{figures['residencies_without_worker']} requests name no worker; they stand under `unknown`")
    return tuple(found)
