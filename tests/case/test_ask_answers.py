"""Questions of responders, compliance and postmortem authors: rows in, rows out. Expected values are worked out by hand."""

from __future__ import annotations

import math
from datetime import datetime
from typing import Any

from forensics.case import custody
from forensics.case.ask import ask
from forensics.case.store import Case


def at(minute: int, second: int = 0) -> datetime:
    return datetime(2026, 5, 11, 6, minute, second)


def rows(case: Case, name: str, *columns: str, **parameters: str) -> list[tuple[Any, ...]]:
    return [tuple(record[column] for column in columns) for record in ask(case, name, parameters).records()]


def number(name: str, value: str | None, **rest: Any) -> dict[str, Any]:
    return {"name": name, "value": value, "method": f"how {name} came about", **rest}


def test_a_source_that_may_be_unread_is_said(filled: Case, filler: Any) -> None:
    """The fragment without a source finished at 6:03; one of four earlier requests has no full prompt."""
    assert rows(filled, "unattributed", "unread_before", "requests_before") == [(0, 3)]
    filler(
        filled,
        "joined_requests",
        [{"request": 7, "received_at": at(1), "prompt_state": "truncated", "response_state": "full"}],
    )
    filler(
        filled,
        "joined_requests",
        [{"request": 8, "received_at": at(9), "prompt_state": "absent", "response_state": "full"}],
    )
    found = rows(filled, "unattributed", "unread_before", "requests_before", "incomplete")
    assert found == [(1, 4, "yes: a source may be among what could not be read")]


def test_several_sources_are_one_of_several(filled: Case, filler: Any) -> None:
    fragment = {
        "fragment_id": "f00d0003",
        "request": 1,
        "recipient_request_id": "req-1",
        "recipient_tenant_id": "globex",
    }
    filler(
        filled, "fragments", [{**fragment, "field": "z", "sources": ["acme", "initech"], "machine_verdict": "probable"}]
    )
    place = {"fragment_id": "f00d0003", "named": True, "side": "prompt", "field": "messages[0].content"}
    filler(
        filled,
        "appearances",
        [
            {**place, "rank": 1, "request": 0, "source_request_id": "req-0", "source_tenant_id": "acme"},
            {**place, "rank": 2, "request": 2, "source_request_id": "req-2", "source_tenant_id": "initech"},
        ],
    )
    found = rows(filled, "fragment-sources", "fragment_id", "standing", "source_tenant_id")
    assert [row[1:] for row in found if row[0] == "f00d0003"] == [
        ("one of several", "acme"),
        ("one of several", "initech"),
    ]


def test_order_of_events_takes_prefill_and_abort_from_the_engine(filled: Case, filler: Any) -> None:
    passed = {"worker": "w0"}
    filler(
        filled,
        "batches",
        [
            {**passed, "batch": 1, "kind": "prefill", "at": at(0, 30)},
            {**passed, "batch": 2, "kind": "decode", "at": at(0, 10)},
        ],
    )
    filler(filled, "batch_members", [{"batch": 1, "request": 0}, {"batch": 2, "request": 0}])
    filler(filled, "engine_events", [{"kind": "abort", "request_id": "req-0"}])
    (row,) = ask(filled, "order-of-events").records()
    assert row["source_prefilled_at"] == "2026-05-11T06:00:30.000000Z"
    assert row["source_ended"] == "aborted"
    assert row["recipient_ended"] is None


def test_shared_places_say_logged_or_derived(filled: Case, filler: Any) -> None:
    facts = {
        "same_slot": "yes",
        "slot_predecessor": "yes",
        "slot_gap_us": "2500000",
        "same_batch": "unknown",
        "same_worker": "yes",
    }
    filler(
        filled,
        "appearance_relations",
        [
            {"fragment_id": "f00d0001", "rank": 1, "relation": k, "value": v, "basis": "derived"}
            for k, v in facts.items()
        ],
    )
    stay = {"worker": "w0", "phase": "slot", "basis": "derived"}
    filler(
        filled,
        "residencies",
        [{**stay, "request": 0, "slot": "3"}, {**stay, "request": 1, "slot": "3"}, {**stay, "request": 1, "slot": "4"}],
    )
    columns = (
        "same_slot",
        "shared_slots",
        "source_held_it_just_before",
        "slot_gap_seconds",
        "same_batch",
        "slot_basis",
        "batch_basis",
    )
    assert rows(filled, "shared-places", *columns) == [
        ("yes", ["w0 slot 3"], "yes", 2.5, "unknown", "derived", "not in these logs")
    ]


def test_shapes_by_the_place_in_the_field(filled: Case, filler: Any) -> None:
    """Field of 89 code points: [3, 40) is at the beginning, [30, 60) in the middle, [2, 88) the whole."""
    more = {"request": 1, "content": 3, "machine_verdict": "probable", "kind": "verbatim"}
    places = {"a": (3, 40), "b": (30, 60), "c": (2, 88)}
    filler(filled, "fragments", [{**more, "fragment_id": k, "start": s, "end": e} for k, (s, e) in places.items()])
    filler(filled, "fragments", [{**more, "fragment_id": "d", "start": 30, "end": 60, "kind": "altered"}])
    found = {(row[0], row[1]): row[2] for row in rows(filled, "shapes", "shape", "verdict", "fragments")}
    assert found == {
        ("at the beginning", "probable"): 1,
        ("in the middle", "probable"): 1,
        ("whole response", "probable"): 1,
        ("altered copy", "probable"): 1,
        ("at the end", "probable"): 1,
        ("at the end", "undetermined"): 1,
    }


def test_findings_that_hang_on_a_join(filled: Case, filler: Any) -> None:
    """Recipient and source were both joined by id, of which 2 + 1 stand for several calls."""
    key = {
        "near_vantage": "gateway",
        "far_vantage": "engine",
        "near_kind": "request_id",
        "far_kind": "rid",
        "form": "exact",
    }
    filler(filled, "join_keys", [{**key, "one_to_many": 2, "many_to_many": 1, "rank": 1}])
    filler(filled, "request_joins", [{**key, "request": r, "basis": "id"} for r in (0, 1)])
    columns = ("basis", "calls", "ids_not_one_to_one", "fragments_by_recipient", "fragments_by_source", "of_fragments")
    assert rows(filled, "join-dependence", *columns) == [
        ("id", 2, 3, 1, 1, 1),
        ("nothing joined: one vantage", 1, 0, 0, 0, 1),
    ]


def test_what_could_not_be_examined_by_hour_and_tenant(filled: Case, filler: Any) -> None:
    """Outside the window's hour nothing counts; a request without a tenant has a row of its own."""
    gone = {"examinable": False, "examinable_reason": "response absent", "tenant_id": "globex"}
    filler(filled, "joined_requests", [{**gone, "request": 7, "received_at": at(40)}])
    filler(filled, "joined_requests", [{**gone, "request": 8, "received_at": datetime(2026, 5, 11, 9)}])
    filler(filled, "joined_requests", [{**gone, "request": 9, "received_at": at(41), "tenant_id": None}])
    found = rows(filled, "not-examinable", "tenant_id", "requests", "not_examinable", "share", "reasons")
    assert found == [
        ("acme", 1, 0, 0.0, []),
        ("globex", 2, 1, 0.5, ["response absent"]),
        ("initech", 1, 0, 0.0, []),
        (None, 1, 1, 1.0, ["response absent"]),
    ]


def test_bounds_print_their_assumption_and_what_was_not_measured(filled: Case, filler: Any) -> None:
    filler(
        filled,
        "numbers",
        [number("responses.confirmed", "3", n=3, total=40), number("recall", "0.9", n=9, total=10, low=0.5, high=1.0)],
    )
    found = {row["estimate"]: row for row in ask(filled, "bounds").records()}
    assert (found["confirmed"]["n"], found["confirmed"]["total"]) == (3, 40)
    assert found["share of planted leaks that was found"]["low"] == 0.5
    missing = found["two detectors (capture-recapture)"]
    assert missing["n"] is None and "independently" in missing["assumption"] and "not measured" in missing["method"]


def test_false_positives_come_with_their_totals(filled: Case, filler: Any) -> None:
    filler(filled, "numbers", [number("controls.false_positives.before.probable", "0", n=0, total=300, high=0.00994)])
    filler(
        filled, "decoy_strata", [{"stratum": "text", "targets": 20, "decoys": 1, "valid": False, "reason": "too few"}]
    )
    found = rows(filled, "false-positives", "control", "n", "total", "method")
    assert found[0][:3] == ("before the fault, probable", 0, 300)
    assert found[-1] == ("decoys of text", 1, 21, "not believed: too few")
    assert "--fault-began" in found[1][3]


def test_replays_by_plan_leak_and_arm(filled: Case, filler: Any) -> None:
    trial = {"plan_id": "p", "fragment_id": "f00d0001", "valid": True, "absent": False, "milliseconds": 2000}
    filler(filled, "replay_verdicts", [{"plan_id": "p", "fragment_id": "f00d0001", "verdict": "reproduced"}])
    filler(
        filled,
        "trials",
        [{**trial, "arm": "exposed", "trial": i, "hit": i < 3, "from_source": i < 2} for i in range(4)]
        + [{**trial, "arm": "alone", "hit": False, "from_source": False}]
        + [{**trial, "arm": "alone", "hit": False, "from_source": False, "valid": False}],
    )
    found = rows(filled, "replays", "verdict", "arm", "trials", "hits", "from_source", "failed", "seconds")
    assert found == [("reproduced", "alone", 1, 0, 0, 1, 2.0), ("reproduced", "exposed", 4, 3, 2, 0, 2.0)]


def test_settings_are_those_of_the_stages(filled: Case, filler: Any) -> None:
    filler(
        filled, "stages", [{"stage": "scope", "version": "1.2", "parameters": "{}", "outputs": "{}", "summary": "{}"}]
    )
    assert rows(filled, "settings", "stage", "version", "parameters") == [("scope", "1.2", "{}")]


def test_source_and_recipient_are_never_swapped(filled: Case) -> None:
    """acme supplied, globex received: every question that names both says so."""
    assert rows(filled, "tenant-as-source", "recipient_tenant_id", tenant="acme") == [("globex",)]
    assert rows(filled, "tenant-as-source", "recipient_tenant_id", tenant="globex") == []
    assert rows(filled, "tenant-as-recipient", "request_id", tenant="globex") == [("req-1",)]
    assert rows(filled, "tenant-as-recipient", "request_id", tenant="acme") == []
    assert rows(filled, "who-to-whom", "source_tenant_id", "recipient_tenant_id") == [("acme", "globex")]
    first = ask(filled, "fragment-sources").records()[0]
    assert (first["source_tenant_id"], first["recipient_tenant_id"]) == ("acme", "globex")
    pair = ask(filled, "order-of-events").records()[0]
    assert (pair["source_request_id"], pair["recipient_request_id"]) == ("req-0", "req-1")
    place = ask(filled, "shared-places").records()[0]
    assert (place["source_request_id"], place["recipient_request_id"]) == ("req-0", "req-1")


def test_who_can_be_told_that_nothing_was_found(filled: Case, filler: Any) -> None:
    gone = {"examinable": False, "examinable_reason": "response absent"}
    filler(
        filled,
        "joined_requests",
        [{**gone, "request": 7, "tenant_id": "hooli"}, {**gone, "request": 8, "tenant_id": "initech"}],
    )
    filler(
        filled, "affected_tenants", [{"tenant_id": "umbra", "role": "source", "notify": "no", "verdict": "possible"}]
    )
    assert rows(filled, "whom-to-tell", "tenant_id", "standing", "requests", "examined") == [
        ("acme", "affected", 1, 1),
        ("globex", "affected", 1, 1),
        ("hooli", "not examined", 1, 0),
        ("initech", "examined in part, nothing found in it", 2, 1),
        ("umbra", "something weaker than probable was found: review it first", 0, 0),
    ]


def test_records_per_category_known_estimated_unknown(filled: Case, filler: Any) -> None:
    label = {"fragment_id": "f00d0001", "detector": "d", "start": 26, "end": 40}
    filler(
        filled,
        "fragment_categories",
        [
            {**label, "category": "email", "checked": "yes"},
            {**label, "category": "account_id", "checked": "no"},
            {**label, "fragment_id": "f00d0002", "category": "health", "checked": "yes"},  # not probable: not counted
        ],
    )
    assert rows(filled, "records", "category", "status", "records", "checked_by_a_person") == [
        ("account_id", "estimated", 1, 0),
        ("email", "known", 1, 1),
        ("all records", "known", 1, None),
        ("persons", "unknown_to_fill", None, None),
    ]


def test_credentials_by_type_and_never_themselves(filled: Case, filler: Any) -> None:
    label = {"fragment_id": "f00d0001", "category": "credential", "detector": "AWSKeyDetector", "checked": "no"}
    filler(
        filled, "fragment_categories", [{**label, "start": 26, "end": 46, "score": 0.9}, {**label, "category": "email"}]
    )
    columns = ("whose", "who_received_it", "type_by", "score", "start", "end", "advice")
    assert rows(filled, "credentials", *columns) == [
        (["acme"], "globex", "AWSKeyDetector", 0.9, 26, 46, "replace it now")
    ]


def test_countries_of_affected_customers_alone(filled: Case, filler: Any) -> None:
    filler(filled, "tenants", [{"tenant_id": "acme", "country": "DE"}, {"tenant_id": "initech", "country": "FR"}])
    found = rows(filled, "countries", "country", "customers", "to_review", "aware_at")
    unset = "unknown_to_fill: only a person sets it"
    assert found == [("DE", 1, 1, unset), (None, 1, 1, unset)]


def test_what_people_set_stands_in_the_milestones(filled: Case, filler: Any) -> None:
    fact = {"tenant_ref": "", "status": "known", "basis": "b", "name": "n"}
    filler(filled, "notice_facts", [{**fact, "key": "aware", "value": "2026-05-11T09:30:00Z"}])
    filler(filled, "notice_facts", [{**fact, "key": "discovered", "value": "by a customer", "tenant_ref": ""}])
    found = {row["step"]: row for row in ask(filled, "milestones").records()}
    assert (found["awareness"]["at"], found["awareness"]["status"]) == (
        "2026-05-11T09:30:00.000000Z",
        "set by a person",
    )
    assert (found["first report"]["at"], found["first report"]["status"]) == (None, "unknown_to_fill")
    assert {row["aware_at"] for row in ask(filled, "countries").records()} == {"2026-05-11T09:30:00Z"}


def test_a_kept_answer_shows_and_so_does_its_return(filled: Case, filler: Any) -> None:
    """req-1's answer (content 3) stands in a later prompt of its own tenant, and as the answer of another call."""
    more = {"tenant_id": "globex", "received_at": at(20)}
    filler(filled, "joined_requests", [{**more, "request": 7}, {**more, "request": 8, "tenant_id": "initech"}])
    use = {"content": 3, "field": "f", "role": "x", "ordinal": 0}
    filler(
        filled, "request_contents", [{**use, "request": 7, "side": "prompt"}, {**use, "request": 8, "side": "response"}]
    )
    assert rows(filled, "kept-copies", "same_answer_elsewhere", "later_prompts_with_it") == [(1, 1)]
    assert rows(filled, "delivery", "returned", "viewed") == [
        ("yes: in a later prompt of the customer", "not shown by these logs")
    ]
    filler(
        filled,
        "requests",
        [{"key": 9, "request": 1, "vantage": "client", "response_state": "full", "prompt_state": "full"}],
    )
    assert rows(filled, "delivery", "returned") == [("yes: in a client's log, and in a later prompt",)]


def test_an_answer_in_another_tenants_prompt_shows_no_return(filled: Case, filler: Any) -> None:
    filler(filled, "joined_requests", [{"request": 7, "tenant_id": "initech"}])
    filler(filled, "request_contents", [{"content": 3, "field": "f", "request": 7, "side": "prompt", "role": "x"}])
    assert rows(filled, "delivery", "returned") == [("not shown by these logs",)]


def test_an_earlier_prompt_with_the_same_words_shows_no_return(filled: Case, filler: Any) -> None:
    """req-1 was received at 6:01; of another prompt of its tenant it is not known when it came."""
    early = {"tenant_id": "globex", "received_at": at(0)}
    filler(filled, "joined_requests", [{**early, "request": 7}, {"request": 8, "tenant_id": "globex"}])
    use = {"content": 3, "field": "f", "role": "x", "ordinal": 0, "side": "prompt"}
    filler(filled, "request_contents", [{**use, "request": 7}, {**use, "request": 8}])
    assert rows(filled, "delivery", "returned") == [("not shown by these logs",)]
    assert rows(filled, "kept-copies", "later_prompts_with_it") == [(0,)]


def test_looks_at_content_come_from_the_custody_log(filled: Case) -> None:
    custody.append(filled.custody_path, "stage", "scope", "aa")
    custody.append(filled.custody_path, "reveal", "fragment f00d0001", reason="explain --reveal")
    custody.append(filled.custody_path, "trace", "passage", "bb")
    found = rows(filled, "content-views", "action", "object", "recipient_tenant_id", "source_tenant_ids", "reason")
    assert found == [
        ("reveal", "fragment f00d0001", "globex", ["acme"], "explain --reveal"),
        ("trace", "passage", None, None, ""),
    ]
    assert all(row[0] for row in rows(filled, "content-views", "actor"))


def test_milestones_are_the_figures_of_scope_and_what_people_said(filled: Case, filler: Any) -> None:
    filler(
        filled,
        "numbers",
        [
            number("window.opens_at", '"2026-05-11T05:00:00.000000Z"'),
            number("fault.onset", '"2026-05-11T06:00:40.000000Z"'),
            number("fault.onset.earliest", '"2026-05-11T06:00:00.000000Z"'),
            number("window.first_at", '"2026-05-11T06:01:00.000000Z"'),
            number("window.first_request", '"req-1"'),
            number("declared.fault_fixed", '"2026-05-11T06:30:00.000000Z"'),
            number("rate.after_window", "0.0", n=0, total=7),
        ],
    )
    found = {row["step"]: row for row in ask(filled, "milestones").records()}
    shown = {step: (row["at"], row["status"]) for step, row in found.items()}
    assert shown["onset of the fault"] == ("2026-05-11T06:00:40.000000Z", "estimated")
    assert found["onset of the fault"]["low"] == "2026-05-11T06:00:00.000000Z"
    assert shown["fix"] == ("2026-05-11T06:30:00.000000Z", "declared")
    assert shown["trigger"] == ("2026-05-11T05:00:00.000000Z", "candidate")
    assert shown["awareness"] == (None, "unknown_to_fill")
    assert found["first affected response"]["basis"] == "how window.first_at came about; request req-1"
    assert found["verification"]["basis"].startswith("7 examined responses after the last affected one")


def test_window_ends_and_the_silence_after(filled: Case, filler: Any) -> None:
    filler(
        filled,
        "numbers",
        [
            number("window.first_at", '"2026-05-11T06:01:00.000000Z"'),
            number("rate.after_window", "0.0", n=0, total=300, low=0.0, high=0.00994),
            number("stopped.chance", "0.001"),
        ],
    )
    ends = {row["end"]: row for row in ask(filled, "window-ends").records()}
    assert ends["first affected response"]["at"] == "2026-05-11T06:01:00.000000Z"
    stopped = {row["period"]: row for row in ask(filled, "has-it-stopped").records()}
    assert (
        stopped["after the last affected response"]["affected"],
        stopped["after the last affected response"]["examined"],
    ) == (0, 300)
    assert "no fix is declared" in stopped["after the declared fix"]["method"]


def test_rates_have_wilson_intervals(filled: Case, filler: Any) -> None:
    """Wilson (1927) by hand for 5 of 10 at z = 1.96: 0.2366 to 0.7634; 0 of 10: 0 to 0.2775."""
    filler(
        filled,
        "worker_rates",
        [{"worker": "w0", "bucket": at(i), "responses": 10, "affected": 5 * i} for i in range(2)],
    )
    filler(filled, "worker_rates", [{"worker": "w1", "bucket": at(0), "responses": 0, "affected": 0}])
    filler(filled, "slot_derivations", [{"worker": "w0", "version": "0.5.12"}])
    found = rows(filled, "worker-rates", "worker", "version", "share", "low", "high")
    assert [(w, v, s) for w, v, s, _, _ in found] == [("w0", "0.5.12", 0.0), ("w0", "0.5.12", 0.5), ("w1", None, None)]
    assert found[0][3] == 0 and math.isclose(found[0][4], 0.2775, abs_tol=5e-5)
    assert math.isclose(found[1][3], 0.2366, abs_tol=5e-5) and math.isclose(found[1][4], 0.7634, abs_tol=5e-5)


def test_ways_of_detection_count_hits_and_false_alarms(filled: Case, filler: Any) -> None:
    """Clean: req-0 alone (req-2 holds a weaker finding). The cache fires at req-1 (a hit) and req-0 (a false alarm)."""
    hit = {"worker": "w0", "cached_tokens": 90}
    filler(filled, "cache_hits", [{**hit, "request": r, "excess_tokens": e} for r, e in ((0, 5), (1, 50), (2, 0))])
    found = {row["way"]: row for row in ask(filled, "earlier-detection").records()}
    cache = found["more cached tokens than the own prefix explains"]
    assert (cache["caught"], cache["of_affected"], cache["false_alarms"], cache["of_unaffected"]) == (1, 1, 1, 1)
    assert found["gateway and engine log another answer"]["caught"] is None


def test_small_groups_are_banded_and_times_rounded_outward(filled: Case, filler: Any) -> None:
    filler(
        filled,
        "numbers",
        [
            number("recipient_tenants.confirmed", "3", n=3, total=48),
            number("recipient_tenants.probable_or_better", "37", n=37, total=48),
            number("responses.confirmed", "2", n=2, total=900),
            number("window.first_at", '"2026-05-11T06:01:40.500000Z"'),
            number("window.last_at", '"2026-05-11T06:38:22.852381Z"'),
            number("window.first_request", '"req-1"'),
            number("upper_bound.responses", None),
        ],
    )
    found = {row["name"]: (row["publish"], row["publish_as"]) for row in ask(filled, "publishable").records()}
    assert found == {
        "recipient_tenants.confirmed": ("banded", "fewer than 5 of 48"),
        "recipient_tenants.probable_or_better": ("yes", "37 of 48"),
        "responses.confirmed": ("yes", "2 of 900"),
        "window.first_at": ("yes", "2026-05-11 06:01 UTC"),
        "window.last_at": ("yes", "2026-05-11 06:39 UTC"),
        "window.first_request": ("no", None),
        "upper_bound.responses": ("no", None),
    }
