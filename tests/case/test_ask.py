"""Named questions: each has a header, runs, and answers what it says on a case whose answers are known."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from forensics.attribution import controls
from forensics.attribution import run as attribution
from forensics.case.ask import FILLS, ask, questions, to_csv
from forensics.case.errors import UsageError
from forensics.case.queries import query_header
from forensics.case.store import Case
from forensics.scope import run as scope
from forensics.timeline import run as timeline

# question -> parameters -> the answer's rows, restricted to the columns named
EXPECTED: dict[str, tuple[dict[str, str], tuple[str, ...], list[tuple[Any, ...]]]] = {
    "affected-requests": (
        {},
        ("request_id", "verdict", "source_tenants", "listed"),
        [("req-1", "probable", ["acme"], "affected"), ("req-2", "undetermined", [], "possible")],
    ),
    "affected-tenants": ({}, ("tenant_id", "role"), [("acme", "source"), ("globex", "recipient")]),
    "ambiguous": ({}, ("fragment_id",), []),
    "batch-mates": ({"request": "req-1"}, ("request_id",), []),
    "cache-hits-beyond-own": ({}, ("request_id",), []),
    "cache-key-collisions": ({}, ("rule",), []),
    "clocks": ({}, ("near_vantage",), []),
    "controls": ({}, ("measure",), []),
    "decoys": ({}, ("stratum",), []),
    "divergences": ({}, ("request_id",), []),
    "engine-clocks": ({}, ("source",), []),
    "evidence": ({}, ("name", "records", "rejected"), [("engine.jsonl", 3, 1)]),
    "examinable-per-hour": ({}, ("reason", "requests", "share"), [("full", 3, 1.0)]),
    "examinable-per-tenant": (
        {},
        ("tenant_id", "standing"),
        [("acme", "affected"), ("globex", "affected"), ("initech", "examined, nothing found")],
    ),
    "exclusions": ({}, ("rule", "runs", "code_points", "most_holders"), [("model_phrase", 1, 5, 9)]),
    "exclusions-of-request": ({"request": "req-1"}, ("start", "end", "rule"), [(0, 5, "model_phrase")]),
    "exposures": ({}, ("request_id",), []),
    "factors": ({}, ("factor",), []),
    "fragments-of-request": (
        {"request": "req-1"},
        ("fragment_id", "start", "end", "verdict", "sources"),
        [("f00d0001", 26, 84, "probable", ["acme"])],
    ),
    "join-keys": ({}, ("near_kind",), []),
    "join-outcomes": ({}, ("vantage",), []),
    "mechanism-facts": ({}, ("predicate",), []),
    "mechanisms": ({}, ("hypothesis",), []),
    "numbers": ({}, ("name",), []),
    "onset": ({}, ("bound",), []),
    "readiness": (
        {},
        ("finding", "n", "total", "unit"),
        [
            ("examinable", 3, 3, "requests"),
            ("prompt_full", 3, 3, "requests"),
            ("response_full", 3, 3, "requests"),
            ("joined", 0, 3, "requests"),
            ("no_batch_or_slot", 3, 3, "requests"),
            ("one_vantage", 3, 3, "requests"),
            ("rejected_lines", 1, 4, "lines"),
        ],
    ),
    "references": ({}, ("name",), []),
    "categories": ({}, ("fragment_id",), []),
    "categories-of-tenant": ({"tenant": "acme"}, ("category",), []),
    "letters": ({}, ("tenant_id",), []),
    "rejects": ({}, ("evidence_name", "line", "byte_offset", "reason"), [("engine.jsonl", 4, 900, "bad_json")]),
    "repeated-ids": ({}, ("request_id",), []),
    "replays": ({}, ("fragment_id",), []),
    "likelihoods": ({}, ("fragment_id",), []),
    "request": (
        {"request": "req-0"},
        ("request_id", "vantage", "tenant_id", "evidence_name", "line"),
        [("req-0", "engine", "acme", "engine.jsonl", 1)],
    ),
    "review-queue": ({}, ("fragment_id", "verdict"), [("f00d0001", "probable"), ("f00d0002", "undetermined")]),
    "reviews": ({}, ("fragment_id",), []),
    "slot-of-request": ({"request": "req-1"}, ("slot",), []),
    "slots": ({}, ("worker",), []),
    "spikes": ({}, ("round",), []),
    "tenant-as-recipient": ({"tenant": "globex"}, ("request_id", "fragment_id"), [("req-1", "f00d0001")]),
    "tenant-as-source": (
        {"tenant": "acme"},
        ("source_request_id", "source_start", "source_end", "recipient_request_id", "recipient_tenant_id"),
        [("req-0", 15, 73, "req-1", "globex")],
    ),
    "unattributed": ({}, ("fragment_id", "recipient_request_id"), [("f00d0002", "req-2")]),
    "vantages": ({}, ("vantages", "tenant_basis", "requests"), [("engine", "record", 3)]),
    "verdicts": ({}, ("kind", "verdict", "fragments"), [("undetermined", "undetermined", 1), ("verbatim", "probable", 1)]),
    "who-to-whom": (
        {},
        ("source_tenant_id", "recipient_tenant_id", "responses", "code_points"),
        [("acme", "globex", 1, 58)],
    ),
    "window": ({}, ("verdict", "requests"), [("probable", 1), ("undetermined", 1)]),
    "worker-rates": ({}, ("worker",), []),
    "bounds": ({}, ("estimate", "n", "method"), [
        (estimate, None, "not computed: `forensics scope CASE` has not run")
        for estimate in (
            "confirmed", "found: confirmed or probable", "lower bound", "share of planted leaks that was found",
            "upper bound by recall", "found, and all that could not be examined", "two detectors (capture-recapture)",
            "silent responses that a person read",
        )
    ]),
    "certainty": (
        {},
        ("fragment_id", "verdict", "net_bits", "best_similarity", "runner_up_tenant_id", "margin"),
        [("f00d0001", "probable", 90.25, 1.0, "initech", 0.75), ("f00d0002", "undetermined", 2.0, None, None, None)],
    ),
    "content-views": ({}, ("action",), []),
    "countries": ({}, ("country", "customers", "to_tell", "to_review"), [(None, 2, 0, 2)]),
    "credentials": ({}, ("fragment_id",), []),
    "delivery": (
        {},
        ("request_id", "generated", "returned", "viewed"),
        [("req-1", "yes", "not shown by these logs", "not shown by these logs")],
    ),
    "earlier-detection": (
        {},
        ("way", "caught", "of_affected", "false_alarms", "of_unaffected"),
        [
            ("each answer compared with the texts of other customers", 1, 1, None, 1),
            ("identifiers of other customers in an answer", 0, 1, None, 1),
            ("alarms of the engine itself (double free, damaged KV pages)", None, 1, None, 1),
            ("gateway and engine log another answer", None, 1, None, 1),
            ("more cached tokens than the own prefix explains", None, 1, None, 1),
            ("strings planted with each customer (canaries)", None, 1, None, 1),
        ],
    ),
    "false-positives": ({}, ("control", "n", "total"), [
        ("before the fault, probable", None, None),
        ("before the fault, any verdict", None, None),
        ("texts of tenants who do not exist, probable", None, None),
        ("texts of tenants who do not exist, any verdict", None, None),
    ]),
    "foreign-text": (
        {},
        ("request_id", "tenant_id", "start", "end", "code_points", "code_points_of_field", "verdict", "sources"),
        [("req-1", "globex", 26, 84, 58, 89, "probable", ["acme"]), ("req-2", "initech", 7, 22, 15, 22, "undetermined", [])],
    ),
    "fragment-sources": (
        {},
        ("fragment_id", "recipient_tenant_id", "standing", "source_request_id", "source_tenant_id", "part", "source_start"),
        [
            ("f00d0001", "globex", "source", "req-0", "acme", "prompt", 15),
            ("f00d0001", "globex", "runner-up", "req-2", "initech", "prompt", 0),
            ("f00d0002", "initech", "no request in the evidence holds it", None, None, None, None),
        ],
    ),
    "has-it-stopped": ({}, ("affected", "method"), [(None, "not computed: `forensics scope CASE` has not run")] * 7),
    "join-dependence": (
        {},
        ("basis", "calls", "ids_not_one_to_one", "fragments_by_recipient", "fragments_by_source", "of_fragments"),
        [("nothing joined: one vantage", 3, 0, 1, 1, 1)],
    ),
    "kept-copies": (
        {},
        ("request_id", "batch_output", "same_answer_elsewhere", "later_prompts_with_it"),
        [("req-1", False, 0, 0)],
    ),
    "milestones": ({}, ("step", "at", "status"), [
        ("evidence begins", None, "unknown"),
        ("trigger", None, "unknown_to_fill"),
        ("onset of the fault", None, "unknown"),
        ("fault began, as declared", None, "unknown_to_fill"),
        ("first affected response", None, "none"),
        ("first alarm of an engine", None, "none"),
        ("first report", None, "unknown_to_fill"),
        ("awareness", None, "unknown_to_fill"),
        ("containment", None, "unknown_to_fill"),
        ("last affected response", None, "none"),
        ("end of the fault", None, "unknown"),
        ("what may have ended it", None, "unknown_to_fill"),
        ("fix", None, "unknown_to_fill"),
        ("verification", None, "unknown_to_fill"),
        ("evidence ends", None, "unknown"),
    ]),
    "not-examinable": (
        {},
        ("tenant_id", "requests", "not_examinable", "share", "reasons"),
        [("acme", 1, 0, 0.0, []), ("globex", 1, 0, 0.0, []), ("initech", 1, 0, 0.0, [])],
    ),
    "order-of-events": (
        {},
        ("source_request_id", "recipient_request_id", "source_came_earlier_seconds", "source_gone_before_seconds", "order"),
        [("req-0", "req-1", 60.0, 0.0, "the source had left when the recipient came")],
    ),
    "publishable": ({}, ("name",), []),
    "records": (
        {},
        ("category", "status", "records"),
        [("all records", "known", 1), ("persons", "unknown_to_fill", None)],
    ),
    "settings": ({}, ("stage",), []),
    "shapes": (
        {},
        ("shape", "verdict", "fragments", "of_fragments"),
        [("at the end", "probable", 1, 2), ("at the end", "undetermined", 1, 2)],
    ),
    "shared-places": (
        {},
        ("source_request_id", "recipient_request_id", "source_worker", "same_slot", "slot_basis"),
        [("req-0", "req-1", "w0", "unknown", "not in these logs")],
    ),
    "whom-to-tell": (
        {},
        ("tenant_id", "notify", "role", "standing"),
        [
            ("acme", "review", "source", "affected"),
            ("globex", "review", "recipient", "affected"),
            ("initech", "no", "none", "examined, nothing found"),
        ],
    ),
    "window-ends": ({}, ("at", "fixed_by"), [(None, "not computed: `forensics scope CASE` has not run")] * 10),
}  # fmt: skip


def test_every_question_has_an_expected_answer() -> None:
    assert sorted(EXPECTED) == [question.name for question in questions()]


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_answer(filled: Case, name: str) -> None:
    parameters, columns, rows = EXPECTED[name]
    answer = ask(filled, name, parameters)
    assert set(columns) <= set(answer.columns)
    found = [tuple(record[column] for column in columns) for record in answer.records()]
    assert found == rows
    assert bool(answer.note) == (not rows)  # no row, and why; never an empty table without a reason
    shown = answer.printed()
    assert len(shown.rows) >= 1 and (rows or shown.rows[0][-1] == answer.note)


@pytest.mark.parametrize("name", [question.name for question in questions()])
def test_every_question_says_what_no_row_means(name: str) -> None:
    header = query_header("ask/" + name.replace("-", "_"))
    assert len(header["empty"]) > 10


def test_no_row_names_the_stage_that_has_not_run(filled: Case) -> None:
    assert "`forensics controls` has not run on this case" in ask(filled, "controls").note
    assert "`forensics scope` has not run on this case" in ask(filled, "categories").note
    assert ask(filled, "rejects").note == ""
    answer = ask(filled, "publishable")
    assert list(csv.reader(io.StringIO(to_csv(answer))))[1][-1] == answer.note


def test_the_stages_named_are_those_that_write_the_tables() -> None:
    written = {
        "attribution": attribution.WRITES,
        "timeline": timeline.TABLES,
        "scope": scope.WRITES,
        "controls": controls.WRITES,
    }
    named = {stage: set(tables.split()) for stage, tables in FILLS.items()}
    assert named == {stage: set(tables) for stage, tables in written.items()}


def test_repeated_ids_are_listed_with_their_tenants(filled: Case, filler: Any) -> None:
    filler(filled, "joined_requests", [{"request": 7, "request_id": "req-1", "tenant_id": "acme"}])
    found = ask(filled, "repeated-ids").records()
    assert [(row["request_id"], row["requests"], row["tenant_ids"]) for row in found] == [
        ("req-1", 2, ["acme", "globex"])
    ]


def test_replays_are_counted_arm_by_arm(filled: Case, filler: Any) -> None:
    leak = {"plan_id": "p1", "fragment_id": "f00d0001", "verdict": "reproduced_in_company"}
    filler(filled, "replay_verdicts", [{**leak, "because": "", "text": "surrogate", "figures": "{}"}])
    trial = {"plan_id": "p1", "fragment_id": "f00d0001", "valid": True, "problem": "", "absent": False}
    trials = [
        {**trial, "arm": "original", "trial": n, "hit": n < 2, "from_source": n < 1, "milliseconds": 1000 * n}
        for n in range(3)
    ]
    failed = {
        **trial,
        "arm": "alone",
        "trial": 0,
        "valid": False,
        "hit": True,
        "from_source": True,
        "milliseconds": 500,
    }
    filler(filled, "trials", [*trials, failed])
    columns = ("arm", "verdict", "trials", "hits", "from_source", "not_sent", "failed", "seconds")
    found = [tuple(row[name] for name in columns) for row in ask(filled, "replays").records()]
    assert found == [
        ("alone", "reproduced_in_company", 0, 0, 0, 0, 1, 0.5),
        ("original", "reproduced_in_company", 3, 2, 1, 0, 0, 1.0),
    ]


def test_references_are_counted_by_what_they_set_aside(filled: Case, filler: Any) -> None:
    filler(filled, "reference_sets", [{"name": "minutes"}, {"name": "harbour minutes"}, {"name": "unused"}])
    rule = {"rule": "public_text", "recipient_request_id": "req-1"}
    details = ["100% of it stands in the reference harbour minutes", "70% of it stands in the reference minutes"]
    filler(filled, "exclusions", [{**rule, "request": i, "detail": details[i % 2]} for i in range(3)])
    filler(filled, "exclusions", [{**rule, "request": 0, "detail": details[0]}])
    found = [(row["name"], row["runs_set_aside"], row["requests"]) for row in ask(filled, "references").records()]
    assert found == [("harbour minutes", 3, 2), ("minutes", 1, 1), ("unused", 0, 0)]


def test_readiness_takes_the_advice_of_the_most_specific_format(filled: Case, filler: Any) -> None:
    finding = {"finding": "one_vantage", "since": "any", "source": "s"}
    filler(
        filled,
        "advice",
        [
            {**finding, "format": "%", "advice": "general"},
            {**finding, "format": "hous%", "advice": "for the house format"},
            {**finding, "format": "sglang%", "advice": "for another"},
        ],
    )
    filler(
        filled, "residencies", [{"request": r, "worker": "w0", "basis": b} for r, b in ((0, "logged"), (1, "derived"))]
    )
    rows = {row["finding"]: row for row in ask(filled, "readiness").records()}
    assert (rows["one_vantage"]["format"], rows["one_vantage"]["next_time"]) == ("house", "for the house format")
    assert rows["one_vantage"]["share"] == 1.0
    assert (rows["no_batch_or_slot"]["n"], rows["no_batch_or_slot"]["next_time"]) == (2, None)
    assert rows["examinable"]["next_time"] is None


def test_join_keys_say_what_each_kind_joined(filled: Case, filler: Any) -> None:
    key = {"near_vantage": "gateway", "far_vantage": "engine", "near_kind": "request_id", "far_kind": "rid"}
    filler(
        filled,
        "join_keys",
        [
            {**key, "form": "exact", "near_ids": 5, "far_ids": 4, "one_to_one": 3, "near_unmatched": 2, "rank": 1},
            {**key, "far_kind": "x-request-id", "form": "exact", "many_to_many": 1, "used": False, "rank": 2},
        ],
    )
    link = {**key, "form": "exact", "basis": "id"}
    text = {**key, "near_kind": None, "far_kind": None, "basis": "text_and_time", "form": "response"}
    filler(filled, "request_joins", [link, {**link, "request": 1}, text])
    found = ask(filled, "join-keys").records()
    assert [
        (row["near_kind"], row["far_kind"], row["one_to_one"], row["used"], row["joined_calls"]) for row in found
    ] == [
        ("request_id", "rid", 3, True, 2),
        ("request_id", "x-request-id", 0, False, 0),
        ("text_and_time", "text_and_time", None, True, 1),
    ]


def test_join_outcomes_have_shares(filled: Case, filler: Any) -> None:
    row = {"vantage": "engine", "other_vantage": "gateway"}
    filler(
        filled, "join_outcomes", [{**row, "outcome": "joined", "requests": 3}, {**row, "outcome": "tie", "requests": 1}]
    )
    found = ask(filled, "join-outcomes").rows
    assert found == (("engine", "gateway", "joined", 3, 4, 0.75), ("engine", "gateway", "tie", 1, 4, 0.25))


def test_divergences_say_where_it_changed(filled: Case, filler: Any) -> None:
    row = {"request": 1, "field": "f", "vantage_a": "engine", "vantage_b": "gateway", "first_at": 5}
    filler(
        filled,
        "divergences",
        [{**row, "side": "prompt", "kind": "whitespace"}, {**row, "side": "response", "kind": "different"}],
    )
    found = ask(filled, "divergences").records()
    assert [(row["request_id"], row["kind"], row["alarming"], row["changed"]) for row in found] == [
        ("req-1", "different", True, "after the engine's log, at or before the gateway's"),
        ("req-1", "whitespace", False, "after the gateway's log, at or before the engine's"),
    ]


def test_clocks_are_in_seconds_and_say_whether_they_keep_step(filled: Case, filler: Any) -> None:
    row = {"near_vantage": "gateway", "far_vantage": "engine", "offset_us": 1_500_000, "residual_us": 250_000, "n": 9}
    filler(filled, "clock_offsets", [{**row, "near_evidence": None, "far_evidence": None, "low_us": 10, "high_us": 20}])
    filler(filled, "clock_offsets", [{**row, "near_evidence": 0, "far_evidence": 0, "low_us": 20, "high_us": 10}])
    found = ask(filled, "clocks").records()
    columns = ("near_name", "offset_seconds", "residual_seconds", "n", "keeps_step")
    assert [tuple(row[column] for column in columns) for row in found] == [
        (None, 1.5, 0.25, 9, True),
        ("engine.jsonl", 1.5, 0.25, 9, False),
    ]


def test_mechanisms_come_with_the_numbers_that_felled_them(filled: Case, filler: Any) -> None:
    fact = {"level": "probable", "status": "falls", "leaks": 30, "controls": 300, "p_beyond": None, "rank": None}
    filler(filled, "predicate_tests", [{**fact, "predicate": "slot_reused", "leaks_with": 2, "controls_with": 20}])
    filler(filled, "predicate_tests", [{**fact, "level": "possible", "predicate": "slot_reused", "leaks_with": 9}])
    row = {"predicate": "slot_reused", "status": "falls", "rank": None}
    filler(
        filled,
        "mechanism_tests",
        [
            {**row, "hypothesis": "M10", "status": "not_testable", "predicate": None, "missing": "a flag"},
            {**row, "hypothesis": "M4"},
            {**row, "hypothesis": "M28", "status": "stands", "rank": 1, "class": "M28", "predicate": "other"},
        ],
    )
    found = ask(filled, "mechanisms").records()
    assert [(r["hypothesis"], r["leaks_with"], r["leaks"], r["next_time"]) for r in found] == [
        ("M28", None, None, "x"),
        ("M4", 2, 30, "x"),
        ("M10", None, None, "a flag"),
    ]


def test_exposures_that_a_mechanism_supports_come_first(filled: Case, filler: Any) -> None:
    row = {"relation": "slot", "shared": "slot 3", "fragment_id": "f00d0001"}
    filler(
        filled,
        "exposures",
        [{**row, "request_id": "b", "supported": False}, {**row, "request_id": "c"}, {**row, "request_id": "a"}],
    )
    assert [r["request_id"] for r in ask(filled, "exposures").records()] == ["a", "c", "b"]


def test_the_onset_of_all_together_comes_before_that_of_workers(filled: Case, filler: Any) -> None:
    ends = [{"worker": w, "bound": b} for w in ("w0", None) for b in ("end", "onset")]
    filler(filled, "fault_window", ends)
    found = [(r["worker"], r["bound"]) for r in ask(filled, "onset").records()]
    assert found == [(None, "onset"), (None, "end"), ("w0", "onset"), ("w0", "end")]


def test_a_parameter_that_a_question_does_not_take_is_named(filled: Case) -> None:
    with pytest.raises(UsageError, match="foo"):
        ask(filled, "request", {"foo": "1"})  # the one it needs is missing as well
    with pytest.raises(UsageError, match="foo"):
        ask(filled, "evidence", {"foo": "1"})


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("no-such", {}),
        ("../schema/ingest", {}),
        ("tenant-as-source", {}),
        ("affected-requests", {"tenant": "acme"}),
        ("tenant-as-source", {"tenant": "acme", "other": "x"}),
    ],
)
def test_wrong_questions_are_usage_errors(filled: Case, name: str, parameters: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        ask(filled, name, parameters)


def test_a_parameter_is_data_not_sql(filled: Case) -> None:
    assert ask(filled, "tenant-as-source", {"tenant": "acme' OR '1'='1"}).rows == ()


@pytest.mark.parametrize("hostile", ["=cmd()", "+1", "-1", "@x", " =x", "＝cmd()", "\t=x", "\x1b[31mred", "<script>"])
def test_csv_cells_do_not_act(filled: Case, filler: Any, hostile: str) -> None:
    filler(
        filled, "affected_tenants", [{"tenant_id": hostile, "role": "source", "notify": "no", "verdict": "possible"}]
    )
    rows = list(csv.reader(io.StringIO(to_csv(ask(filled, "affected-tenants")))))
    cells = [row[0] for row in rows[1:]]
    assert len(cells) == 3
    assert not any(cell.lstrip(" \t'\"").startswith(tuple("=+-@＝")) and not cell.startswith("'") for cell in cells)
    assert not any(ord(character) < 32 for cell in cells for character in cell)
