"""Records to calls: which records tell of one call, which vantages saw it, whose it is. The work is SQL.

Ids first, the best kind by measured uniqueness; then ids that engines make from the gateway's; then ids that may
stand for several calls; last, equal texts at a fitting time. Two different calls are never merged: what is tied or
contradicted stays apart and is counted. An id that an answer brought along is checked by the prompts: the leak that is
looked for would bring it to the wrong call.
"""

from __future__ import annotations

from forensics.case.store import Case
from forensics.ingest.clocks import ZoneFinding, find_zones
from forensics.ingest.divergence import list_divergences
from forensics.ingest.record import STATES

_TABLES = (
    "requests",
    "joined_requests",
    "request_contents",
    "chunks",
    "request_settings",
    "join_keys",
    "request_joins",
    "join_outcomes",
    "clock_offsets",
    "divergences",
)
_ID_TIERS = (1, 2, 3)
_TEXT_TIER = 4
SLICE = 1 << 18  # calls whose records are put together at a time
# What callers write, as they wrote it or as an engine renders it; the rest is the same for many calls, or rewritten.
_WRITTEN = ("user", "prompt")
_MESSAGES = ("assistant", "system", "tool", "user")


def rebuild(case: Case, isolate_by: str, infer_zones: bool = True) -> list[ZoneFinding]:
    """Make the tables of calls and of how they were joined anew from the records. Leaves scratch tables.

    Returns what joined calls say of files whose times name no zone or year; with `infer_zones`, what is certain is
    changed in the records.
    """
    case.clear(_TABLES)
    states: dict[str, object] = {"states": list(STATES)}
    case.run("ingest/batch_items")
    zones = _group_and_link(case, states, infer_zones)
    case.run("ingest/through_pairs")
    _check_prompts(case)
    case.run("ingest/request_roots")
    case.run("ingest/request_joins")
    case.run("ingest/join_outcomes")
    case.run("ingest/batch_outcomes")
    case.run("ingest/requests")
    case.run("ingest/request_tenants")
    case.run("ingest/joined_requests", {**states, "isolate_by": isolate_by})
    case.run("ingest/request_contents")
    case.run("ingest/chunks")
    case.run("ingest/request_settings")
    list_divergences(case)
    case.run("ingest/evidence_repeats")
    case.run("ingest/time_span")
    return zones


def _group_and_link(case: Case, states: dict[str, object], infer_zones: bool) -> list[ZoneFinding]:
    zones: dict[tuple[int, int, int], ZoneFinding] = {}
    # Once is enough for nearly all evidence; a year and then a zone take two more rounds.
    for last in (False, False, True):
        case.run("ingest/record_groups")
        _fill_rows(case, states)
        case.run("ingest/request_ids")
        case.run("ingest/content_uses")
        link(case)
        found = find_zones(case, infer_zones and not last)
        zones.update({(zone.evidence, zone.years, zone.quarters): zone for zone in found})
        if not any(zone.applied for zone in found):
            break
    case.run("ingest/clock_offsets")
    return [zones[key] for key in sorted(zones)]


def _fill_rows(case: Case, states: dict[str, object]) -> None:
    case.run("ingest/request_rows_made")
    past = int(case.rows("ingest/last_call")[0][0]) + 1
    for first in range(0, past, SLICE):
        case.run("ingest/request_rows", {**states, "first": first, "past": first + SLICE})


def link(case: Case) -> None:
    """Make the scratch tables of links between rows and of how far clocks are apart, and the table `join_keys`."""
    case.clear(("join_keys",))
    case.run("ingest/id_bases")
    case.run("ingest/join_keys")
    case.run("ingest/join_candidates")
    case.run("ingest/clock_calls")
    _estimate_clocks(case)
    case.run("ingest/id_pairs")
    case.run("ingest/pair_times")
    _check_prompts(case)
    case.run("ingest/join_checks")
    for tier in _ID_TIERS:
        _settle(case, tier)
    case.run("ingest/text_keys")
    if case.rows("ingest/text_keys_made")[0][0]:
        case.run("ingest/clock_calls_by_text")
        _estimate_clocks(case)
        case.run("ingest/text_pairs")
        case.run("ingest/pair_times")
        case.run("ingest/text_pairs_timed")
        _find_prompts(case, _MESSAGES, every=True)
        case.run("ingest/text_candidates")
        _settle(case, _TEXT_TIER)
    case.run("ingest/clock_calls_joined")
    _estimate_clocks(case)


def drop_scratch(case: Case) -> None:
    """Forget the scratch tables of `rebuild`."""
    case.run("ingest/drop_scratch")


def _estimate_clocks(case: Case) -> None:
    case.run("ingest/clock_differences")
    case.run("ingest/clock_estimates")


def _check_prompts(case: Case) -> None:
    # The last and the longest text tell one call from another; all texts of long chats would be a search of its own.
    _find_prompts(case, _WRITTEN, every=False)
    case.run("ingest/prompt_checks")


def _find_prompts(case: Case, roles: tuple[str, ...], *, every: bool) -> None:
    case.run("ingest/prompt_places", {"roles": list(roles), "every": every})
    case.run("ingest/prompt_insides")
    for page in range(int(case.rows("ingest/prompt_pages")[0][0])):
        case.run("ingest/prompt_inside", {"page": page})
    case.run("ingest/prompt_finds")


def _settle(case: Case, tier: int) -> None:
    case.run("ingest/join_round", {"tier": tier})
    case.run("ingest/join_settle")
