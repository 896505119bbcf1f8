"""What logs allow and what not, counted on small cases, with the advice for the formats that are in them."""

from __future__ import annotations

import json

import pytest

from forensics.case.ask import ask
from forensics.ingest.advice import COLUMNS, read_advice
from forensics.ingest.parsers import NAMES
from forensics.ingest.profile_files import read_profiles
from forensics.ingest.registry import registry
from forensics.ingest.transcoders import NAMES as TRANSCODERS

STEPS = """
[profile]
name = "steps"
vantage = "engine"
[detect]
keys = ["/rid", "/pass"]
[map]
request_id = "/rid"
[request]
prompt = "/asked"
[response]
content = "/said"
[[event]]
kind = "step"
batch = "/pass"
"""
FINDINGS = (
    "truncated partial_stream redacted encrypted offloaded not_logged absent no_tenant no_worker no_received_time "
    "no_finished_time no_batch_or_slot one_vantage hours_without_requests zone_assumed year_assumed precision_seconds "
    "clocks_apart texts_differ rejected_lines incomplete_files"
).split()


def found(bench) -> dict[tuple[str, str | None, str | None, str | None], dict[str, object]]:
    rows = ask(bench.case, "readiness").records()
    keys = [(row["finding"], row["side"], row["vantage"], row["format"]) for row in rows]
    assert len(set(keys)) == len(keys)
    assert all(row["means"] for row in rows)
    return dict(zip(keys, rows, strict=True))


def sglang(rid: str, text: str | None, answer: str | None, stamp: str = "2026-03-04T05:06:07.000001") -> str:
    out: dict[str, object] = {"meta_info": {"id": rid, "finish_reason": {"type": "stop"}, "e2e_latency": 1.0}}
    if answer is not None:
        out["text"] = answer
    event = {"timestamp": stamp, "event": "request.finished", "rid": rid, "obj": {"text": text}, "out": out}
    return json.dumps(event) + "\n"


def test_an_engine_log_at_level_two_and_one(bench):
    cut = "a" * 1024 + "..." + "b" * 1024
    bench.put(
        "n_0.log",
        sglang("r1", "short", "whole")
        + sglang("r2", cut, "whole")
        + sglang("r3", "short", cut)
        + sglang("r4", None, None),
    )
    bench.run()
    rows = found(bench)
    counts = {key[:2]: (row["n"], row["total"]) for key, row in rows.items()}
    assert counts[("prompt_full", "prompt")] == (2, 4)
    assert counts[("response_full", "response")] == (2, 4)
    assert counts[("examinable", None)] == (0, 4)
    assert counts[("truncated", "prompt")] == counts[("truncated", "response")] == (1, 4)
    assert counts[("not_logged", "prompt")] == counts[("not_logged", "response")] == (1, 4)
    assert counts[("no_tenant", None)] == counts[("one_vantage", None)] == counts[("no_batch_or_slot", None)] == (4, 4)
    assert ("no_worker", None) not in counts
    assert ("precision_seconds", None) not in counts
    row = rows[("truncated", "response", "engine", "sglang_json")]
    assert "--log-requests --log-requests-level 3" in str(row["next_time"])
    assert str(row["since"]).startswith("SGLang 0.4.9")
    assert "SGLANG_LOG_REQUEST_HEADERS" in str(rows[("no_tenant", None, "engine", "sglang_json")]["next_time"])
    assert rows[("zone_assumed", None, None, "sglang_json")]["n"] == 1


def test_what_another_vantage_has_is_not_missing(bench):
    bench.put("n_0.log", sglang("r1", None, None))
    both = {
        "request": {"messages": [{"role": "user", "content": "p"}]},
        "response": {"choices": [{"message": {"content": "a"}}]},
    }
    bench.put(
        "g.jsonl",
        json.dumps({"request_id": "r1", "tenant_id": "t", "timestamp": "2026-03-04T05:06:05.5Z", **both}) + "\n",
    )
    bench.run()
    findings = {key[0] for key in found(bench)}
    assert findings.isdisjoint({"not_logged", "absent", "no_tenant", "one_vantage", "no_worker"})
    assert {"prompt_full", "response_full", "examinable", "joined"} <= findings


def test_hours_without_requests_count_per_source(bench):
    rows = [{"request_id": f"r{h}", "tenant_id": "t", "timestamp": f"2026-03-04T{h:02d}:30:00Z"} for h in (1, 2, 5)]
    bench.put("g.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    bench.run()
    row = found(bench)[("hours_without_requests", None, "gateway", "house")]
    assert (row["n"], row["total"], row["unit"]) == (2, 5, "hours")


def test_rejects_bodies_and_precision_have_their_rows(bench):
    bench.put(
        "g.jsonl",
        json.dumps({"request_id": "r1", "tenant_id": "t", "timestamp": "2026-03-04T05:06:07Z", "request": "[redacted]"})
        + "\nnoise\n",
    )
    bench.run()
    rows = found(bench)
    assert (
        rows[("rejected_lines", None, None, "house")]["n"],
        rows[("rejected_lines", None, None, "house")]["total"],
    ) == (1, 2)
    assert rows[("redacted", "prompt", "gateway", "house")]["n"] == 1
    assert rows[("precision_seconds", None, "gateway", "house")]["n"] == 1
    assert rows[("absent", "response", "gateway", "house")]["next_time"].startswith("log request and response bodies")


def test_clocks_and_texts_that_differ(bench):
    body = {"request": {"messages": [{"role": "user", "content": "p"}]}}

    def row(vantage: str, start: str, end: str, text: str) -> str:
        response = {"choices": [{"message": {"content": text}}]}
        times = {"timestamp": f"2026-03-04T05:{start}Z", "finished_at": f"2026-03-04T05:{end}Z"}
        return (
            json.dumps(
                {"vantage": vantage, "request_id": "r1", "tenant_id": "t", **times, **body, "response": response}
            )
            + "\n"
        )

    bench.put("e.jsonl", row("engine", "08:00.500", "08:01.500", "the engine's own answer"))
    bench.put("g.jsonl", row("gateway", "06:00.000", "06:02.000", "what somebody else asked for"))
    bench.run()
    rows = found(bench)
    assert rows[("texts_differ", "response", None, None)]["n"] == 1
    assert rows[("clocks_apart", None, "gateway and engine", None)]["n"] == 1
    assert "divergences" in rows[("texts_differ", "response", None, None)]["next_time"]


def test_a_batch_is_known_by_the_engines_own_id(bench):
    """The gateway's id names the call; the engine's lines know the engine's."""
    step = {"rid": "e1", "asked": "When does pier four open, please?", "said": "At six.", "pass": "7"}
    bench.put("steps.jsonl", json.dumps(step) + "\n")
    gateway = {
        "request_id": "g1",
        "tenant_id": "t",
        "request": {"messages": [{"role": "user", "content": "When does pier four open, please?"}]},
        "response": {"id": "e1", "choices": [{"message": {"content": "At six."}}]},
    }
    bench.put("g.jsonl", json.dumps(gateway) + "\n")
    profile = bench.folder.parent / "steps.toml"
    profile.write_text(STEPS)
    bench.run(profiles=read_profiles((profile,)))
    assert [row["vantages"] for row in bench.rows("joined_requests", "request")] == ["engine,gateway"]
    assert [(row["request_id"], row["batch"]) for row in bench.rows("engine_events", "batch")] == [("e1", "7")]
    assert "no_batch_or_slot" not in {key[0] for key in found(bench)}


def test_the_advice_is_sound():
    rows = read_advice().to_pylist()
    keys = [(row["format"], row["finding"]) for row in rows]
    assert keys == sorted(set(keys))
    assert all(row[column].strip() for row in rows for column in COLUMNS)
    assert {row["finding"] for row in rows} == set(FINDINGS)
    # There is an answer for every finding, whatever the format.
    assert {row["finding"] for row in rows if row["format"] == "%"} == set(FINDINGS)


@pytest.mark.parametrize("name", NAMES)
def test_every_parser_has_advice_of_its_own(name):
    from fnmatch import fnmatchcase

    patterns = {row["format"].replace("%", "*") for row in read_advice().to_pylist()} - {"*"}
    assert any(fnmatchcase(name, pattern) for pattern in patterns)


def test_all_advice_is_for_a_format_that_there_is():
    """LIKE patterns of the longest fit: one that fits nothing is never read."""
    from fnmatch import fnmatchcase

    known = registry()
    names = {parser.NAME for parser in (*known.objects, *known.texts)} | set(TRANSCODERS)
    patterns = {row["format"].replace("%", "*") for row in read_advice().to_pylist()} - {"*"}
    assert [p for p in sorted(patterns) if not any(fnmatchcase(name, p) for name in names)] == []
