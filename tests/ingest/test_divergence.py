"""Where vantages log another text for the same call: found, told apart by sort, and said without the text."""

from __future__ import annotations

import json

import pytest

from forensics.ingest.divergence import common_prefix, compare

ENGINE = "The tide turns at noon. Bring the small boat."
FOREIGN = "Dear Ms Okafor, your parcel 4471 waits at the counter."


@pytest.mark.parametrize(
    ("sent", "received", "kind", "at"),
    [
        (ENGINE, FOREIGN, "different", 0),
        (ENGINE, ENGINE[:24] + "Bring Ms Okafor.", "different", 30),
        (ENGINE, ENGINE + "\n", "whitespace", len(ENGINE)),
        (ENGINE, ENGINE.replace(" ", "  ", 1), "whitespace", 4),
        (ENGINE + "<|im_end|>", ENGINE, "special_tokens", len(ENGINE)),
        (ENGINE, ENGINE[:20], "prefix", 20),
        ("<think>\nTides.\n</think>\n\n" + ENGINE, ENGINE, "suffix", 0),
        ("<think>x</think>" + ENGINE + " And more.", ENGINE, "contained", 0),
        (ENGINE, ENGINE + " " + FOREIGN, "added", len(ENGINE)),
        (ENGINE, FOREIGN + " " + ENGINE, "added", 0),
        (ENGINE, None, "empty", 0),
        (None, ENGINE, "added", 0),
        ("<|im_end|>", ENGINE, "added", 0),
        (ENGINE, "<|im_end|>", "empty", 0),
        ("é𝄞" + ENGINE, "é𝄞" + FOREIGN, "different", 2),
    ],
)
def test_sorts(sent, received, kind, at):
    assert compare(sent, received) == (kind, at)


LONG = "".join(f"line {i} of a long answer; " for i in range(200))


@pytest.mark.parametrize(
    ("cut", "kind"),
    [
        (LONG[:1024] + "..." + LONG[-1024:], "truncated"),
        (LONG[:1024] + "..." + FOREIGN.ljust(1024, "x")[:1024], "different"),
        (LONG[:716] + "... (litellm_truncated skipped 3000 chars. see the docs) ..." + LONG[-1331:], "truncated"),
    ],
)
def test_a_logs_own_cut_compares_what_is_left(cut, kind):
    assert compare(cut, LONG)[0] == kind
    assert compare(LONG, cut)[0] == kind


def test_common_prefix_counts_code_points():
    assert common_prefix("", "abc") == 0
    assert common_prefix("abc", "abc") == 3
    assert common_prefix("a" * 1000 + "x", "a" * 1000 + "y") == 1000
    assert common_prefix("😀a", "😀b") == 1


def record(vantage: str, answer: str, rid: str = "r", prompt: str = "When?") -> str:
    messages = [{"role": "user", "content": prompt}]
    choices = [{"message": {"content": answer}}] if answer else [{"message": {"content": None}}]
    body = {"vantage": vantage, "request_id": rid, "request": {"messages": messages}, "response": {"choices": choices}}
    return json.dumps(body) + "\n"


def found(bench):
    columns = ("side", "field", "vantage_a", "vantage_b", "kind", "first_at", "code_points_a", "code_points_b")
    return [tuple(row[column] for column in columns) for row in bench.rows("divergences", "vantage_a")]


def test_it_is_located_between_neighbours(bench):
    bench.put("a.jsonl", record("engine", ENGINE) + record("gateway", FOREIGN) + record("client", FOREIGN))
    summary = bench.run()
    field = "choices[0].content"
    assert found(bench) == [("response", field, "engine", "gateway", "different", 0, len(ENGINE), len(FOREIGN))]
    assert summary.figures["divergences"] == [
        {
            "side": "response",
            "vantage_a": "engine",
            "vantage_b": "gateway",
            "kind": "different",
            "requests": 1,
            "texts": 1,
        }
    ]
    (warning,) = [text for text in summary.warnings if "divergences" in text]
    assert "1 requests have a response at the gateway that is not what the engine logged" in warning
    assert not any(word in " ".join(summary.warnings) for word in ("Okafor", "tide"))
    # Both texts stay in the case.
    assert {text for name, text in bench.texts("r").items() if name == field} <= {ENGINE, FOREIGN}
    uses = [row for row in bench.rows("request_contents", "key") if row["field"] == field]
    assert len({row["content"] for row in uses}) == 2


def test_without_a_gateway_text_engine_and_client_are_neighbours(bench):
    bench.put("a.jsonl", record("engine", ENGINE) + record("client", FOREIGN))
    bench.put("g.jsonl", json.dumps({"request_id": "r", "tenant_id": "acme"}) + "\n")
    bench.run()
    assert [row[2:5] for row in found(bench)] == [("engine", "client", "different")]


def test_equal_texts_shifted_messages_and_harmless_differences_do_not_alarm(bench):
    shifted = {
        "vantage": "gateway",
        "request_id": "s",
        "request": {"messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "When?"}]},
        "response": {"choices": [{"message": {"content": ENGINE}}]},
    }
    bench.put("a.jsonl", record("client", ENGINE, "s") + json.dumps(shifted) + "\n")
    bench.put("b.jsonl", record("engine", ENGINE + "\n", "w") + record("gateway", ENGINE, "w"))
    summary = bench.run()
    assert [row[4] for row in found(bench)] == ["whitespace"]
    assert not [text for text in summary.warnings if "divergences" in text]


def test_a_gateway_that_answers_where_the_engine_said_nothing(bench):
    bench.put("a.jsonl", record("engine", "") + record("gateway", FOREIGN))
    bench.run()
    assert found(bench) == [("response", "choices[0].content", "engine", "gateway", "added", 0, 0, len(FOREIGN))]
