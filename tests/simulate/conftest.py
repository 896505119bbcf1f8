"""Small simulated incidents, made once for all tests of the simulator."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from simulated import SMALL, Incident, read_back

from forensics.simulate.run import simulate


@pytest.fixture(scope="session")
def engine_incident(tmp_path_factory: pytest.TempPathFactory) -> Incident:
    folder = tmp_path_factory.mktemp("engine") / "incident"
    simulate(folder, SMALL)
    return read_back(folder)


@pytest.fixture(scope="session")
def house_incident(tmp_path_factory: pytest.TempPathFactory) -> Incident:
    folder = tmp_path_factory.mktemp("house") / "incident"
    simulate(folder, replace(SMALL, seed=8, form="house"))
    return read_back(folder)


@pytest.fixture(scope="session", params=["sglang", "house"])
def incident(request: pytest.FixtureRequest) -> Incident:
    return request.getfixturevalue("engine_incident" if request.param == "sglang" else "house_incident")
