"""How does the case look in VERIS, the vocabulary of incident statistics? One object (schema 1.4.1), honest Unknowns.

The logs show that text surfaced where it should not. They do not show who erred, why, or whether anybody read it, so
those fields say Unknown; a person fills them. Counts of customers below five are not given: they can name one.
https://github.com/vz-risk/veris
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import orjson

from forensics.report.exports.facts import Facts, window_us
from forensics.report.letters import BAND

VERSION = "1.4.1"
SUMMARY = (
    "A shared language model service returned text of some customers inside responses to others. Responses with "
    "foreign text: {confirmed} confirmed, {probable} probable or better, {possible} possible or better; requests "
    "examined: {examined}. The cause is not stated here."
)
DISCLOSURE = (
    "The logs show that the responses were generated. That they were returned or viewed is not inferred from them. The "
    "number of records is not known."
)
ACTOR = "No actor is shown by the logs."
ERROR = "What was seen is that text went to the wrong customer. Which error led to it is not stated here."
LABELS = "The varieties of data are labels by detectors and by people, not a count; Unknown stands for what had none."
NOT_BANDED = "The number of customers whose text surfaced is below five and is not given."

# VERIS's variety of each of our categories.
_VARIETIES = {
    "credential": "Credentials",
    **dict.fromkeys(("email", "phone"), "Personal"),
    "payment": "Payment",
    "account_id": "Bank",
    **dict.fromkeys(("government_id", "special_category", "child"), "Sensitive Personal"),
    "health": "Medical",
    "code": "Source code",
}


def document(facts: Facts) -> bytes:
    """The object as JSON. The case must have a response that is possible or better."""
    return orjson.dumps(incident(facts), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def incident(facts: Facts) -> dict[str, Any]:
    """The incident. Its year is that of the first affected response, else of the evidence's end."""
    numbers = facts.numbers
    confirmed = facts.surest == "confirmed"
    delivered = numbers.value("delivery") in ("returned", "viewed")
    return {
        "schema_version": VERSION,
        "incident_id": facts.case_ref,
        "security_incident": "Confirmed" if confirmed else "Suspected",
        "confidence": {"confirmed": "High", "probable": "Medium"}.get(facts.surest or "", "Low"),
        "summary": SUMMARY.format(
            confirmed=numbers.count("responses.confirmed"),
            probable=numbers.count("responses.probable_or_better"),
            possible=numbers.count("responses.possible_or_better"),
            examined=numbers.of("examined"),
        ),
        "timeline": {"incident": _date(facts), "discovery": {"unit": "Unknown"}, "containment": {"unit": "Unknown"}},
        "victim": _victim(facts),
        "actor": {"unknown": {"notes": ACTOR}},
        "action": {"error": {"variety": ["Misdelivery"], "vector": ["Unknown"], "notes": ERROR}},
        "asset": {"assets": [{"variety": "S - Unknown"}], "cloud": ["Unknown"]},
        "attribute": {
            "confidentiality": {
                "data_disclosure": "Yes" if confirmed and delivered else "Potentially",
                "data": [{"variety": variety} for variety in _varieties(facts)],
                "data_victim": ["Customer"],
                "state": ["Processed"],
                "notes": f"{DISCLOSURE} {LABELS}",
            }
        },
        "discovery_method": {"unknown": True},
    }


def _varieties(facts: Facts) -> list[str]:
    found = {_VARIETIES[one.name] for one in facts.categories}
    return [*sorted(found), "Unknown"]


def _date(facts: Facts) -> dict[str, int]:
    first, _ = window_us(facts)
    if first is not None:
        moment = datetime.fromtimestamp(first // 1_000_000, UTC)
        return {"year": moment.year, "month": moment.month, "day": moment.day}
    return {"year": datetime.fromtimestamp((facts.as_of_us or 0) // 1_000_000, UTC).year}


def _victim(facts: Facts) -> dict[str, Any]:
    """The operator, of whom the case knows nothing; secondary victims are the customers whose text surfaced."""
    customers = facts.count("source_tenants.probable_or_better")
    secondary: dict[str, Any] = {"amount": customers} if customers >= BAND else {"notes": NOT_BANDED}
    return {
        "country": ["Unknown"],
        "employee_count": "Unknown",
        "industry": "000000",
        "government": ["Unknown"],
        "secondary": secondary,
    }
