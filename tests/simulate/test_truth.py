"""Is every row of the truth really so in the files, judged by plain substring search?"""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from simulated import SMALL, Incident, read_back

from forensics.simulate.cuts import maximal, plain_in_json, splice
from forensics.simulate.dice import Dice
from forensics.simulate.parameters import FAULTS
from forensics.simulate.run import simulate
from forensics.simulate.truth import search


def leaked(incident: Incident, row: dict) -> str:
    return incident.exchanges[row["response_request_id"]].fields[row["field"]][row["char_start"] : row["char_end"]]


def test_incident_has_the_leaks_it_was_asked_for(incident: Incident):
    assert len({row["response_request_id"] for row in incident.truth}) == 30
    assert sum(bool(row["ambiguous_with"]) for row in incident.truth) >= 2
    assert sum(row["kind"] == "undetermined" for row in incident.truth) == 4


def test_named_source_holds_the_text(incident: Incident):
    checked = 0
    for row in incident.truth:
        text = leaked(incident, row)
        assert text == text.strip() and len(text) == row["chars"]
        if row["source_field"] is None:
            continue
        source = incident.exchanges[row["source_request_id"]]
        assert source.tenant == row["source_tenant_id"]
        held = [source.prompt] if row["source_field"] == "prompt" else list(source.fields.values())
        assert any(text in part for part in held)
        checked += 1
    assert checked >= 24


def test_source_is_another_organisation_and_came_earlier(incident: Incident):
    for row in incident.truth:
        if row["source_request_id"] is None:
            continue
        recipient = incident.exchanges[row["response_request_id"]]
        source = incident.exchanges[row["source_request_id"]]
        assert incident.organisations[source.tenant] != incident.organisations[recipient.tenant]
        assert source.received < recipient.finished


def test_recipient_had_not_sent_the_text(incident: Incident):
    for row in incident.truth:
        text, recipient = leaked(incident, row), incident.exchanges[row["response_request_id"]]
        organisation = incident.organisations[recipient.tenant]
        for other in incident.exchanges.values():
            if incident.organisations[other.tenant] == organisation and other.received <= recipient.received:
                assert text not in other.prompt


def test_ambiguous_tenants_are_those_that_supplied_the_text(incident: Incident):
    victims = {row["response_tenant_id"] for row in incident.truth}
    for row in incident.truth:
        if row["source_field"] != "prompt":
            continue
        text, recipient = leaked(incident, row), incident.exchanges[row["response_request_id"]]
        suppliers = {
            other.tenant
            for other in incident.exchanges.values()
            if other.received < recipient.finished and text in other.prompt
        }
        named = {row["source_tenant_id"], *row["ambiguous_with"]}
        assert named <= suppliers
        # Victims repeat the leak in their history; that makes them no suppliers.
        assert suppliers - named <= victims


def test_undetermined_text_is_in_no_prompt_before(incident: Incident):
    for row in incident.truth:
        if row["kind"] != "undetermined":
            continue
        text, recipient = leaked(incident, row), incident.exchanges[row["response_request_id"]]
        victims = [other for other in incident.truth if leaked(incident, other) == text]
        assert len({other["response_tenant_id"] for other in victims}) >= 2
        first = min(incident.exchanges[other["response_request_id"]].finished for other in victims)
        for other in incident.exchanges.values():
            assert text not in other.prompt or other.received > first
        assert row["source_request_id"] is None and row["source_tenant_id"] is None
        assert recipient.finished >= first


def test_lookalikes_are_not_in_the_truth(incident: Incident):
    assert {row["class"] for row in incident.lookalikes} >= {"own_quotation", "licence", "template", "model_phrase"}
    leaks = {(row["response_request_id"], row["field"]): row for row in incident.truth}
    for row in incident.lookalikes:
        leak = leaks.get((row["request_ids"][0], row["field"]))
        if leak is not None:
            apart = row["char_end"] <= leak["char_start"] or leak["char_end"] <= row["char_start"]
            assert apart or leak["kind"] == "whole_response"


def test_lookalike_offsets_lie_in_the_response(incident: Incident):
    for row in incident.lookalikes:
        text = incident.exchanges[row["request_ids"][0]].fields[row["field"]]
        assert 0 <= row["char_start"] < row["char_end"] <= len(text)


def test_clean_log_has_an_empty_truth(tmp_path: Path):
    simulate(tmp_path / "clean", dataclasses.replace(SMALL, leaks=0, ambiguous=0, undetermined=0, requests=60))
    assert (tmp_path / "clean" / "truth.jsonl").read_bytes() == b""


@pytest.mark.parametrize("fault", FAULTS)
def test_each_fault_leaks_alone(fault: str, tmp_path: Path):
    parameters = dataclasses.replace(
        SMALL, faults=(fault,), leaks=4, ambiguous=0, undetermined=0, requests=350, long_prompt_chars=0,
        slots=2, form="house",
    )  # fmt: skip
    simulate(tmp_path / "one", parameters)
    found = read_back(tmp_path / "one").truth
    assert found and {row["fault"] for row in found} == {fault}
    if fault in ("response_cache_without_tenant", "connection_off_by_one"):
        assert {row["kind"] for row in found} == {"whole_response"}


def test_search_finds_what_str_find_finds():
    dice = Dice(3, "search")
    texts = ["".join(dice.pick("abcאב漢 ") for _ in range(dice.between(0, 200))) for _ in range(60)]
    needles = [text[at : at + 9] for text in texts for at in (0, 17) if len(text) > 30]
    expected = [[number for number, text in enumerate(texts) if needle in text] for needle in needles]
    assert search(needles, texts) == expected


def test_maximal_grows_over_equal_neighbours_and_drops_spaces():
    # "d leak" stands in both, with the space before it; the truth takes the letters, not the outer space.
    assert maximal("told leak xx", 5, 9, "cold leak yy", 5) == (1, 9)
    assert maximal("a leak b", 2, 6, "c leak d", 2) == (2, 6)


@pytest.mark.parametrize("text", ["plain", "ünïcode 漢字", "a: {b}"])
def test_what_is_put_into_an_argument_stands_there_as_it_is(text: str):
    assert plain_in_json(text)
    assert json.loads(f'{{"query": "{text}"}}') == {"query": text}


@pytest.mark.parametrize("sign", ['"', "\\", "\n", "\t", "\r", "\x0b", "\x00"])
def test_what_would_break_an_argument_is_not_put_there(sign: str):
    assert not plain_in_json(f"a{sign}b")


def test_splice_keeps_the_neighbours_different():
    dice = Dice(1, "splice")
    for _ in range(50):
        made = splice("one two three four five six", "LEAK", "o", "t", "middle", (), dice)
        assert made is not None
        left, right = made.split("LEAK")
        assert not left.rstrip().endswith("o") and not right.lstrip().startswith("t")
