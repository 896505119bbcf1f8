"""On an independent log no long run is shared by accident between a response and another tenant's text.

The check is simple code of its own: every run of 32 letters and digits of every response is looked up in a set of
those of all other organisations' texts; what a lookalike or a planted leak explains is taken out first.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from simulated import SMALL, Incident, read_back, shared_runs

from forensics.simulate.run import simulate


@pytest.mark.long
def test_independent_log_shares_nothing_by_accident(tmp_path: Path):
    simulate(
        tmp_path / "clean", dataclasses.replace(SMALL, seed=21, leaks=0, ambiguous=0, undetermined=0, form="house")
    )
    incident = read_back(tmp_path / "clean")
    assert len(incident.exchanges) == 500
    assert shared_runs(incident) == []


def test_leaks_and_lookalikes_explain_all_that_is_shared(house_incident: Incident):
    assert len(shared_runs(house_incident)) <= len(house_incident.truth)


@pytest.mark.long
def test_correlated_log_shares_much_between_tenants(tmp_path: Path):
    parameters = dataclasses.replace(
        SMALL, seed=22, leaks=0, ambiguous=0, undetermined=0, requests=200, form="house", correlated=True
    )
    simulate(tmp_path / "pool", parameters)
    incident = read_back(tmp_path / "pool")
    assert any(row["class"] == "common_pool" for row in incident.lookalikes)
    incident.lookalikes = [row for row in incident.lookalikes if row["class"] != "common_pool"]
    assert len(shared_runs(incident)) > 20
