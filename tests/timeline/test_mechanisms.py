"""Incidents with a known mechanism: it must come first, and none may be claimed where leaks are put in at random."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import pytest
from case_builder import at
from served import Call, Served, append, served

from forensics.timeline.mechanisms import Settings, fill


def judged(incident: Served, root: Path, **tables: list[dict[str, Any]]) -> dict[str, Any]:
    with incident.write(root) as case:
        incident.fill(case)
        for table, rows in tables.items():
            append(case, table, rows)
        figures, warnings = fill(case, Settings())
        names = ("mechanism_tests", "predicate_tests", "fault_window", "leak_factors", "exposures", "leak_pairs")
        found: dict[str, Any] = {name: case.table(name).to_pylist() for name in names}
    found["status"] = {row["hypothesis"]: row["status"] for row in found["mechanism_tests"]}
    found["facts"] = {(row["level"], row["predicate"]): row for row in found["predicate_tests"]}
    found["first"] = figures["mechanisms"]
    found["warnings"] = warnings
    return found


def foreign(incident: Served, source: int, recipient: int) -> bool:
    return incident.calls[source].tenant != incident.calls[recipient].tenant


def choose(pairs: list[tuple[int, int]], seed: int, most: int = 30) -> list[tuple[int, int]]:
    """At most one leak for each recipient, spread over the run."""
    dice = random.Random(seed)
    dice.shuffle(pairs)
    by_recipient = {recipient: (source, recipient) for source, recipient in pairs}
    return sorted(dice.sample(sorted(by_recipient.values()), min(most, len(by_recipient))))


def slot_leaks(incident: Served, aborted: bool = True) -> list[tuple[int, int]]:
    return [
        (c.former, c.number)
        for c in incident.calls
        if c.former is not None
        and foreign(incident, c.former, c.number)
        and (incident.calls[c.former].aborted or not aborted)
        and not c.aborted
    ]


def test_a_slot_reused_after_an_abort_comes_first(tmp_path: Path) -> None:
    incident = served(1)
    incident.leaks = choose(slot_leaks(incident), 1)
    assert len(incident.leaks) == 30
    found = judged(incident, tmp_path / "c")
    assert found["first"] == "M3, M4, M19"
    fact = found["facts"]["probable", "slot_reused_after_abort"]
    assert (fact["status"], fact["rank"], fact["controls_with"]) == ("stands", 1, 0)
    assert fact["p_holm"] < 0.01
    assert fact["odds_ratio"] == float("inf") and fact["low"] > 10
    # That the sources were aborted follows from it, and says so.
    other = found["facts"]["probable", "source_aborted"]
    assert other["rank"] > 1 and "no leak is left over" in other["finding"]
    assert {found["status"][m] for m in ("M20", "M22", "M28")} == {"falls"}
    assert {found["status"][m] for m in ("M5", "M7")} == {"explained"}
    fallen = next(row for row in found["mechanism_tests"] if row["hypothesis"] == "M28")
    assert (
        "of 28 leaks" in fallen["finding"] or "of 29 leaks" in fallen["finding"] or "of 30 leaks" in fallen["finding"]
    )
    # Exposed: others in those slots, none of them affected or a source, and the relation is supported.
    assert found["exposures"] and {row["relation"] for row in found["exposures"]} == {"slot"}
    exposed = {row["request"] for row in found["exposures"]}
    assert all(row["supported"] for row in found["exposures"])
    assert not exposed & {request for pair in incident.leaks for request in pair}
    slots = {(incident.calls[r].worker, incident.calls[r].slot) for _, r in incident.leaks}
    assert all((incident.calls[r].worker, incident.calls[r].slot) in slots for r in exposed)


def test_a_hand_over_of_finished_texts_comes_first(tmp_path: Path) -> None:
    incident = served(2)
    pairs = []
    for worker in ("w0", "w1"):
        ends = sorted((c for c in incident.calls if c.worker == worker), key=lambda c: c.end)
        pairs += [(a.number, b.number) for a, b in itertools.pairwise(ends) if foreign(incident, a.number, b.number)]
    incident.leaks = choose(pairs, 2)
    found = judged(incident, tmp_path / "c")
    assert found["first"] == "M28"
    assert found["facts"]["probable", "finish_neighbours"]["p_holm"] < 0.01
    assert found["status"]["M4"] in ("falls", "explained")


def test_a_hit_in_another_namespace_comes_first(tmp_path: Path) -> None:
    incident = served(3)
    earlier = [(a.number, b.number) for b in incident.calls[40:] for a in incident.calls[b.number - 30 : b.number]]
    incident.leaks = choose([pair for pair in earlier if foreign(incident, *pair)], 3)
    for source, recipient in incident.leaks:
        call = incident.calls[recipient]
        call.cached, call.excess, call.matched = 16, 16, source
    silent = next(c for c in incident.calls if c.number not in {r for _, r in incident.leaks})
    silent.cached, silent.excess, silent.matched = 16, 8, 0
    found = judged(incident, tmp_path / "c")
    assert found["first"] == "M20, M21"
    images = next(row for row in found["mechanism_tests"] if row["hypothesis"] == "M21")
    assert images["condition"] == "images: the logs do not say"
    assert silent.number in {row["request"] for row in found["exposures"] if row["relation"] == "prefix"}


def poisoned(seed: int) -> tuple[Served, list[Call]]:
    """From 30 s to a flush at 90 s every hit of prefix 3 on w0 gives the text of one request."""
    incident = served(seed)
    for call in incident.calls:
        call.salt, call.cached = "", 16
        call.prefix = 3 if call.number % 4 == 0 else call.prefix
    bad = [c for c in incident.calls if c.worker == "w0" and c.prefix == 3 and 30 < c.start < 90]
    source = next(c for c in incident.calls if c.worker == "w0")
    incident.leaks = [(source.number, c.number) for c in bad if foreign(incident, source.number, c.number)][:30]
    incident.flushes = [90.0]
    return incident, bad


def test_a_poisoned_prefix_comes_first(tmp_path: Path) -> None:
    incident, bad = poisoned(4)
    found = judged(incident, tmp_path / "c")
    assert len(incident.leaks) > 15
    assert found["first"] == "M7"
    # The source's own tenant had its own text back: no leak, and exposed to the same prefix.
    exposed = {row["request"] for row in found["exposures"] if row["relation"] == "prefix"}
    unread = {c.number for c in bad} - {r for _, r in incident.leaks}
    assert unread and unread <= exposed
    after = {c.number for c in incident.calls if c.start > 90}
    assert not exposed & after
    end = next(row for row in found["fault_window"] if row["worker"] == "w0" and row["bound"] == "end")
    assert end["low"] <= at(96) and (end["event_kind"], end["event_at"]) == ("cache_flush", at(90))


def test_a_duplicate_id_comes_first(tmp_path: Path) -> None:
    incident = served(5)
    together = [
        (a.number, b.number)
        for b in incident.calls
        for a in incident.calls[max(0, b.number - 10) : b.number]
        if a.end > b.start and a.worker == b.worker and foreign(incident, a.number, b.number)
    ]
    incident.leaks = choose(together, 5)
    for call in incident.calls:
        call.rid = f"rid-{call.number}"
    for source, recipient in incident.leaks:
        incident.calls[recipient].rid = incident.calls[source].rid
    found = judged(incident, tmp_path / "c")
    assert found["first"] == "M1"
    assert found["status"]["M2"] == "falls"


@pytest.mark.parametrize("kind", ["any", "concurrent"])
@pytest.mark.parametrize("seed", [11, 12, 13])
def test_random_leaks_prove_nothing(kind: str, seed: int, tmp_path: Path) -> None:
    incident = served(seed, calls=400)
    dice = random.Random(seed)
    if kind == "any":
        pairs = [
            (a.number, b.number) for b in incident.calls for a in dice.sample(incident.calls, 4) if a.start < b.end
        ]
    else:
        pairs = [
            (a.number, b.number)
            for b in incident.calls
            for a in incident.calls[max(0, b.number - 12) : b.number + 12]
            if a.worker == b.worker and a.start < b.end and b.start < a.end and a is not b
        ]
    incident.leaks = choose([pair for pair in pairs if foreign(incident, *pair)], seed)
    assert len(incident.leaks) == 30
    found = judged(incident, tmp_path / "c")
    assert found["first"] is None
    assert "stands" not in found["status"].values()
    assert not any(row["supported"] for row in found["exposures"])


def test_requests_that_share_every_pass_anyway_cannot_be_told_from_concurrent_ones(tmp_path: Path) -> None:
    incident = served(6)
    pairs = [(a, b) for _, _, _, members in incident.passes for a in members for b in members if a != b]
    incident.leaks = choose([pair for pair in pairs if foreign(incident, *pair)], 6)
    found = judged(incident, tmp_path / "c")
    assert found["first"] is None
    fact = found["facts"]["probable", "same_batch"]
    assert fact["status"] in ("no_contrast", "too_few") and fact["leaks_with"] == fact["leaks"]
    assert found["status"]["M8"] == "undecided"
    assert not any(row["supported"] for row in found["exposures"])


def test_a_fault_that_strikes_everything_for_a_while_is_no_sign_of_the_pass(tmp_path: Path) -> None:
    incident = served(14)
    dice = random.Random(14)
    burst = [c for c in incident.calls if 50 < c.start < 62]
    pairs = [(dice.randrange(c.number), c.number) for c in burst for _ in range(3)]
    incident.leaks = choose([pair for pair in pairs if foreign(incident, *pair)], 14, most=60)
    assert len(incident.leaks) > 25
    found = judged(incident, tmp_path / "c")
    assert found["first"] is None
    onset, end = (next(row for row in found["fault_window"] if row["bound"] == b) for b in ("onset", "end"))
    assert onset["low"] < onset["at"] < end["at"] < end["high"]
    assert onset["low"] <= at(56) and end["high"] >= at(60) and onset["affected"] == len(incident.leaks)


def test_a_clean_run_claims_nothing(tmp_path: Path) -> None:
    found = judged(served(7, calls=200), tmp_path / "c")
    assert found["first"] is None and not found["exposures"] and not found["leak_factors"]
    assert set(found["status"].values()) == {"not_testable", "no_text"}
    assert {row["finding"] for row in found["fault_window"]} == {"no affected response"}
    assert found["warnings"] == []


def test_one_leak_is_too_few_and_says_so(tmp_path: Path) -> None:
    incident = served(8, calls=200)
    incident.leaks = slot_leaks(incident)[:1]
    found = judged(incident, tmp_path / "c")
    fact = found["facts"]["probable", "slot_reused"]
    assert fact["status"] == "too_few" and fact["leaks"] == 1
    assert "so few leaks could not have shown it" in fact["finding"]
    assert found["status"]["M4"] == "undecided"
    assert {row["finding"] for row in found["fault_window"]} == {"too few affected responses to date it"}
    # Nobody can say whether the slot is at fault: its sharers are listed, and not as supported.
    assert found["exposures"] and not any(row["supported"] for row in found["exposures"])


def test_possible_leaks_are_tested_apart(tmp_path: Path) -> None:
    incident = served(1)
    incident.leaks = choose(slot_leaks(incident), 1)
    incident.possible = True
    found = judged(incident, tmp_path / "c")
    assert found["first"] is None and not found["exposures"]
    assert found["facts"]["possible", "slot_reused"]["status"] == "stands"
    assert found["facts"]["probable", "slot_reused"]["leaks"] == 0


def test_what_people_rejected_is_not_tested(tmp_path: Path) -> None:
    incident = served(1)
    incident.leaks = choose(slot_leaks(incident), 1)
    reviews = [
        {"fragment_id": f"f{i:04d}", "decision": "reject", "reason": "own text", "name": "x", "at": at(9)}
        for i in range(30)
    ]
    found = judged(incident, tmp_path / "c", reviews=reviews)
    assert found["first"] is None and found["leak_pairs"] == []


def test_without_slots_and_passes_it_is_not_testable_and_says_what_to_switch_on(tmp_path: Path) -> None:
    incident = served(1, calls=300)
    incident.leaks = choose(slot_leaks(incident), 1)
    incident.with_slots = incident.with_passes = incident.with_cache = False
    found = judged(incident, tmp_path / "c")
    row = next(row for row in found["mechanism_tests"] if row["hypothesis"] == "M3")
    assert row["status"] == "not_testable" and "slot and batch probe" in row["missing"]
    assert any("cannot be tested" in warning for warning in found["warnings"])


def test_what_is_switched_off_is_ruled_out(tmp_path: Path) -> None:
    incident = served(1)
    incident.leaks = choose(slot_leaks(incident), 1)
    arguments = {
        "evidence": 0,
        "byte_offset": 0,
        "at": at(0),
        "worker": "w0",
        "kind": "server_args",
        "attributes": '{"speculative_algorithm":"none","enable_hierarchical_cache":true,"disaggregation_mode":"null"}',
    }
    found = judged(incident, tmp_path / "c", engine_events=[arguments])
    assert found["status"]["M3"] == "ruled_out" and found["status"]["M9"] == "ruled_out"
    assert found["first"] == "M4, M19"
    host = next(row for row in found["mechanism_tests"] if row["hypothesis"] == "M15")
    assert host["condition"] == "host cache: it is in use"


def test_controls_are_matched_and_never_the_customers_of_the_leak(tmp_path: Path) -> None:
    incident = served(1)
    incident.leaks = choose(slot_leaks(incident), 1)
    pairs = [row for row in judged(incident, tmp_path / "c")["leak_pairs"] if row["kind"] == "source"]
    leaks = {row["pair_set"]: row for row in pairs if row["control"] == 0}
    controls = [row for row in pairs if row["control"] > 0]
    assert len(leaks) == 30 and controls
    for row in controls:
        leak = leaks[row["pair_set"]]
        source, other, recipient = (incident.calls[r] for r in (leak["source"], row["source"], leak["recipient"]))
        assert row["recipient"] == leak["recipient"]
        assert other.worker == source.worker
        assert other.tenant not in (source.tenant, recipient.tenant)
        assert other.start < recipient.end
        assert (other.end > recipient.start) == (source.end > recipient.start)
        assert abs(other.start - source.start) <= max(1, recipient.end - source.start) + 1e-6


def test_shared_factors_are_told_from_chance(tmp_path: Path) -> None:
    incident = served(9)
    on_one = [(a, b) for a, b in slot_leaks(incident, aborted=False) if incident.calls[b].worker == "w1"]
    incident.leaks = choose(on_one, 9)
    factors = {(row["factor"], row["value"]): row for row in judged(incident, tmp_path / "c")["leak_factors"]}
    worker = factors["worker", "w1"]
    assert (worker["affected"], worker["affected_of"]) == (30, 30)
    assert worker["p_holm"] < 0.01 and worker["finding"] == "more often among affected responses"
    assert factors["cache_hit", "yes"]["p_holm"] > 0.01


def test_the_same_rows_give_the_same_tables(tmp_path: Path) -> None:
    def once(name: str) -> dict[str, Any]:
        incident = served(10, calls=200)
        incident.leaks = choose(slot_leaks(incident, aborted=False), 10)
        return {key: value for key, value in judged(incident, tmp_path / name).items() if key != "leak_pairs"}

    first, second = once("a"), once("b")
    for table in ("mechanism_tests", "predicate_tests", "fault_window", "leak_factors"):
        assert first[table] == second[table]
