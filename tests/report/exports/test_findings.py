"""OCSF and VERIS as their own schemas have them; no text, no real name, nothing said that is not known."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from case_builder import HOSTILE_TENANTS, OTHER_SECRET, SECRET, CaseBuilder, small_case
from ocsf_schema import faults

from forensics.case.errors import UsageError
from forensics.case.pseudonyms import load_pseudonyms
from forensics.case.store import Case
from forensics.report.exports import ocsf, veris
from forensics.report.exports.facts import Facts, load_facts
from forensics.report.exports.run import export

VERIS = json.loads((Path(__file__).resolve().parents[1] / "schemas" / "veris-1.4.1-verisc-merged.json").read_text())


def _facts(root: Path) -> Facts:
    with Case.open(root, read_only=True) as case:
        return load_facts(case, load_pseudonyms(case))


def _veris_faults(incident: dict[str, Any]) -> list[str]:
    return [error.message for error in jsonschema.Draft4Validator(VERIS).iter_errors(incident)]


@pytest.fixture(scope="module")
def facts(small: Path) -> Facts:
    return _facts(small)


def test_the_ocsf_finding_fits_the_schema(facts: Facts) -> None:
    event = json.loads(ocsf.document(facts))
    assert faults(event) == []
    assert (event["class_uid"], event["type_uid"]) == (2006, 200601)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("metadata",), None),
        (("finding_info", "uid"), None),
        (("severity_id",), 7),
        (("severity_id",), "4"),
        (("severity",), "Fatal"),
        (("time",), 1.5),
        (("type_uid",), 200602),
        (("anything",), "x"),
        (("data_security", "category_id"), 42),
        (("resources", 0, "role_id"), 17),
        (("finding_info", "analytic", "type_id"), None),
        (("metadata", "profiles"), []),
    ],
    ids=str,
)
def test_the_check_would_see_a_fault(facts: Facts, path: tuple[Any, ...], value: Any) -> None:
    event = copy.deepcopy(ocsf.finding(facts))
    place: Any = event
    for part in path[:-1]:
        place = place[part]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    assert faults(event) != []


def test_the_finding_says_what_the_case_says(small: Path, facts: Facts) -> None:
    """small_case: three probable fragments in two responses, one undetermined; received 10:01:00 and 10:02:00."""
    event = ocsf.finding(facts)
    assert [(r["labels"], r["data"]["fragments"]) for r in event["resources"]] == [
        (["verdict:probable"], 1),
        (["verdict:probable"], 2),
    ]
    assert (event["severity"], event["confidence"], event["is_alert"]) == ("High", "Medium", True)
    assert event["finding_info"]["related_events_count"] == 2
    assert "2 probable or better" in event["finding_info"]["desc"]
    minute = 1772618400_000  # 2026-03-04 10:00 UTC
    assert (event["start_time"], event["end_time"]) == (minute + 60_000, minute + 120_000)
    assert (event["status"], event["unmapped"]["fragments_reviewed"]) == ("New", 0)


def test_the_veris_object_fits_its_schema(facts: Facts) -> None:
    incident = json.loads(veris.document(facts))
    assert _veris_faults(incident) == []
    assert incident["security_incident"] == "Suspected"
    assert incident["attribute"]["confidentiality"]["data_disclosure"] == "Potentially"
    assert incident["timeline"]["incident"] == {"year": 2026, "month": 3, "day": 4}


def test_the_veris_schema_would_see_a_fault(facts: Facts) -> None:
    for change in ({"security_incident": "Maybe"}, {"action": {"error": {}}}, {"extra_field": 1}, {"asset": {}}):
        assert _veris_faults({**veris.incident(facts), **change})
    without = veris.incident(facts)
    del without["actor"]
    assert _veris_faults(without)


def test_few_customers_are_not_counted_outside(facts: Facts) -> None:
    """Two source tenants: the number is not given. With five it is."""
    assert "amount" not in veris.incident(facts)["victim"]["secondary"]


def test_many_customers_are_counted(reported: Callable[..., Path], tmp_path: Path) -> None:
    b = CaseBuilder()
    for i in range(5):
        b.request(f"s{i}", f"source{i}", i, i + 1, prompt=f"{SECRET} number {i}")
    for i in range(5):
        text = f"{SECRET} number {i}"
        recipient = b.request(f"r{i}", "victim", 100 + i, 110 + i, response=text)
        b.fragment(f"f{i}", recipient, 0, len(text), [f"source{i}"], [(i, "prompt")])
    facts = _facts(reported(b, tmp_path / "c"))
    assert veris.incident(facts)["victim"]["secondary"] == {"amount": 5}
    assert _veris_faults(veris.incident(facts)) == []


def test_a_confirmed_leak_is_confirmed(reported: Callable[..., Path], tmp_path: Path) -> None:
    b = small_case()
    b.review("f1", "accept")
    facts = _facts(reported(b, tmp_path / "c"))
    event, incident = ocsf.finding(facts), veris.incident(facts)
    assert faults(event) == [] and _veris_faults(incident) == []
    assert (event["confidence"], event["status"]) == ("High", "In Progress")
    assert event["resources"][0]["labels"] == ["verdict:confirmed"]
    assert incident["security_incident"] == "Confirmed"
    # The logs do not show that anybody received it.
    assert incident["attribute"]["confidentiality"]["data_disclosure"] == "Potentially"


def test_a_weak_finding_raises_no_alarm(reported: Callable[..., Path], tmp_path: Path) -> None:
    b = small_case()
    for fragment in b.fragments[:3]:
        fragment["machine_verdict"] = "possible"
    facts = _facts(reported(b, tmp_path / "c"))
    event = ocsf.finding(facts)
    assert faults(event) == [] and _veris_faults(veris.incident(facts)) == []
    assert (event["is_alert"], event["is_suspected_breach"], event["severity"]) == (False, False, "Low")
    assert "start_time" not in event


def test_a_clean_case_has_no_finding(reported: Callable[..., Path], tmp_path: Path) -> None:
    b = CaseBuilder()
    b.request("a", "alpha", 0, 1)
    root = reported(b, tmp_path / "c")
    with Case.open(root, read_only=True) as case:
        with pytest.raises(UsageError, match="no finding"):
            export(case, ["ocsf"], tmp_path / "out")
        written, warnings = export(case, [], tmp_path / "out")
    assert [item.format for item in written] == ["timesketch", "perfetto"]
    assert len(warnings) == 1


def test_a_case_without_times_is_exported(reported: Callable[..., Path], tmp_path: Path) -> None:
    b = CaseBuilder()
    source = b.request("s", "alpha", None, None, prompt=SECRET)
    recipient = b.request("r", "beta", None, None, response=SECRET)
    b.fragment("f1", recipient, 0, len(SECRET), ["alpha"], [(source, "prompt")])
    facts = _facts(reported(b, tmp_path / "c"))
    assert faults(ocsf.finding(facts)) == [] and _veris_faults(veris.incident(facts)) == []


def test_every_category_has_its_place_in_both_vocabularies(facts: Facts) -> None:
    from dataclasses import replace

    from forensics.report.exports.facts import Category
    from forensics.text.sensitive import CATEGORIES

    for name in CATEGORIES:
        one = replace(facts, categories=(Category(name, 2, 1),))
        event, incident = ocsf.finding(one), veris.incident(one)
        assert faults(event) == [] and _veris_faults(incident) == []
        assert event["data_security"]["category_id"] not in (0, 99)
        assert len(incident["attribute"]["confidentiality"]["data"]) == 2
    several = replace(facts, categories=(Category("credential", 2, 1), Category("health", 1, 0)))
    assert ocsf.finding(several)["data_security"]["category"] == "Other"
    assert veris.incident(several)["attribute"]["confidentiality"]["data"] == [
        {"variety": "Credentials"},
        {"variety": "Medical"},
        {"variety": "Unknown"},
    ]
    assert ocsf.finding(several)["unmapped"]["categories"]["credential"] == {"fragments": 2, "checked_by_a_person": 1}


def test_hostile_names_stand_in_no_export(hostile: Path) -> None:
    facts = _facts(hostile)
    for data in (ocsf.document(facts), veris.document(facts)):
        text = data.decode()
        assert not any(name in text for name in HOSTILE_TENANTS)
        assert SECRET not in text and OTHER_SECRET not in text
    assert faults(ocsf.finding(facts)) == [] and _veris_faults(veris.incident(facts)) == []
