"""On an independent log no long run is shared by accident between a response and another tenant's text.

The check is simple code of its own: every run of 32 letters and digits of every response is looked up in a set of
those of all other organisations' texts; what a lookalike or a planted leak explains is taken out first.
"""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from pathlib import Path

from simulated import SMALL, Incident, read_back

from forensics.simulate.run import simulate

RUN = 32


def runs(text: str) -> set[str]:
    letters = "".join(c.lower() for c in text if c.isalnum())
    return {letters[at : at + RUN] for at in range(len(letters) - RUN + 1)}


def shared_runs(incident: Incident) -> list[str]:
    """Ids of responses that share an unexplained run with another organisation's prompt or response."""
    holders: dict[str, set[str]] = defaultdict(set)
    known: dict[str, set[str]] = {}
    for exchange in incident.exchanges.values():
        own = incident.organisations[exchange.tenant]
        for text in [exchange.prompt, *exchange.fields.values()]:
            if text not in known:
                known[text] = runs(text)
            for run in known[text]:
                holders[run].add(own)
    spans: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for row in incident.truth:
        spans[(row["response_request_id"], row["field"])].append((row["char_start"], row["char_end"]))
    for row in incident.lookalikes:
        spans[(row["request_ids"][0], row["field"])].append((row["char_start"], row["char_end"]))
    bad = []
    for exchange in incident.exchanges.values():
        own = incident.organisations[exchange.tenant]
        for field, text in exchange.fields.items():
            pieces, reached = [], 0
            for start, end in sorted(spans.get((exchange.rid, field), [])):
                pieces.append(text[reached:start])
                reached = max(reached, end)
            pieces.append(text[reached:])
            if any(holders[run] - {own} for piece in pieces for run in runs(piece)):
                bad.append(exchange.rid)
                break
    return bad


def test_independent_log_shares_nothing_by_accident(tmp_path: Path):
    simulate(
        tmp_path / "clean", dataclasses.replace(SMALL, seed=21, leaks=0, ambiguous=0, undetermined=0, form="house")
    )
    incident = read_back(tmp_path / "clean")
    assert len(incident.exchanges) == 500
    assert shared_runs(incident) == []


def test_leaks_and_lookalikes_explain_all_that_is_shared(house_incident: Incident):
    assert len(shared_runs(house_incident)) <= len(house_incident.truth)


def test_correlated_log_shares_much_between_tenants(tmp_path: Path):
    parameters = dataclasses.replace(
        SMALL, seed=22, leaks=0, ambiguous=0, undetermined=0, requests=200, form="house", correlated=True
    )
    simulate(tmp_path / "pool", parameters)
    incident = read_back(tmp_path / "pool")
    assert any(row["class"] == "common_pool" for row in incident.lookalikes)
    incident.lookalikes = [row for row in incident.lookalikes if row["class"] != "common_pool"]
    assert len(shared_runs(incident)) > 20
