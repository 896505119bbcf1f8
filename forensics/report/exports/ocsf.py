"""How does the case look as an OCSF finding? One Data Security Finding (class 2006, schema 1.8.0) per case, as JSON.

Its resources are the affected responses under pseudonyms, the surest first. Times are those of the evidence, outward
to the minute; nothing in it comes from the clock of the machine. https://schema.ocsf.io/1.8.0/classes/data_security_finding
"""

from __future__ import annotations

from typing import Any

import orjson

from forensics import __version__
from forensics.report.exports.facts import MINUTE, MOST_RESPONSES, Facts, Response, window_us

VERSION = "1.8.0"
CATEGORY, CLASS, CREATE = 2, 2006, 1
SENT = "LLM response with text of another tenant"
TITLE = "Text of one customer in LLM responses to another"
PATTERN = "Text that only another tenant had supplied, in a response, after own, shared and public text is ruled out."
BASIS = (
    "Found by comparing every response with the texts of all other tenants. Tenants and requests are named by the "
    "case's pseudonyms. That a response was generated is shown by the logs; that it was returned or viewed is not."
)
# OCSF's classification of each of our categories.
_CLASSES = {
    **dict.fromkeys(("email", "phone", "health", "special_category", "child"), 1),
    "government_id": 2,
    **dict.fromkeys(("payment", "account_id"), 3),
    "code": 4,
    "credential": 6,
}
_CAPTIONS = {0: "Unknown", 1: "Personal", 2: "Governmental", 3: "Financial", 4: "Business", 6: "Security", 99: "Other"}
# Of the surest verdict in the case: (severity_id, severity, confidence_id, confidence).
_GRADES = {
    "confirmed": (4, "High", 3, "High"),
    "probable": (4, "High", 2, "Medium"),
    "possible": (2, "Low", 1, "Low"),
}


def document(facts: Facts) -> bytes:
    """The finding as JSON. The case must have a response that is possible or better."""
    return orjson.dumps(finding(facts), option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"


def finding(facts: Facts) -> dict[str, Any]:
    """The finding. Raises KeyError for a case without a response that is possible or better."""
    severity_id, severity, confidence_id, confidence = _GRADES[facts.surest or ""]
    first, last = window_us(facts)
    known = facts.surest in ("confirmed", "probable")
    status = (1, "New") if not facts.reviewed else (2, "In Progress")
    numbers = facts.numbers
    classes = sorted({_CLASSES[one.name] for one in facts.categories})
    # Nothing seen is not nothing there; several classes are `Other` in OCSF's words.
    category = 0 if not classes else classes[0] if len(classes) == 1 else 99
    description = (
        f"Responses with foreign text: {numbers.count('responses.confirmed')} confirmed, "
        f"{numbers.count('responses.probable_or_better')} probable or better, "
        f"{numbers.count('responses.possible_or_better')} possible or better, of {numbers.of('examined')} requests "
        f"examined; not examinable: {numbers.of('not_examinable')}. {BASIS}"
    )
    event: dict[str, Any] = {
        "activity_id": CREATE,
        "activity_name": "Create",
        "category_uid": CATEGORY,
        "category_name": "Findings",
        "class_uid": CLASS,
        "class_name": "Data Security Finding",
        "type_uid": CLASS * 100 + CREATE,
        "type_name": "Data Security Finding: Create",
        "severity_id": severity_id,
        "severity": severity,
        "confidence_id": confidence_id,
        "confidence": confidence,
        "status_id": status[0],
        "status": status[1],
        "is_alert": known,
        "is_suspected_breach": known,
        "message": TITLE,
        "metadata": {
            "version": VERSION,
            "product": {"name": "leak-forensics", "vendor_name": "leak-forensics", "version": __version__},
            "profiles": ["incident"],
            "correlation_uid": facts.case_ref,
        },
        "finding_info": {
            "uid": facts.case_ref,
            "title": TITLE,
            "desc": description,
            "types": ["Cross-tenant disclosure"],
            "analytic": {
                "name": "text attribution",
                "type_id": 10,
                "type": "Partial Data Match",
                "version": __version__,
            },
            "data_sources": list(facts.formats),
            "related_events_count": facts.count("responses.possible_or_better"),
        },
        "data_security": {
            "category_id": category,
            "category": _CAPTIONS[category],
            "data_lifecycle_state_id": 3,
            "data_lifecycle_state": "Data in-Use",
            "detection_pattern": PATTERN,
        },
        "resources": [_resource(response) for response in facts.responses],
        "unmapped": {
            "resources_listed": len(facts.responses),
            "resources_limit": MOST_RESPONSES,
            "fragments": facts.fragments,
            "fragments_reviewed": facts.reviewed,
            "categories": {
                one.name: {"fragments": one.fragments, "checked_by_a_person": one.checked} for one in facts.categories
            },
        },
    }
    if first is not None and last is not None:
        event |= {"start_time": first // 1000, "end_time": last // 1000}
        event["finding_info"] |= {"first_seen_time": first // 1000, "last_seen_time": last // 1000}
    # When the finding was made is the clock's to say. What is certain is up to when the evidence reaches.
    event["time"] = _up(facts.as_of_us if facts.as_of_us is not None else (last or 0)) // 1000
    return event


def _resource(response: Response) -> dict[str, Any]:
    resource: dict[str, Any] = {
        "uid": response.request_ref,
        "type": SENT,
        "role_id": 3,
        "role": "Affected",
        "owner": {"uid": response.tenant_ref, "type": "recipient tenant", "type_id": 99},
        "labels": [f"verdict:{response.verdict}"],
        "data": {"fragments": response.fragments, "foreign_chars": response.foreign_chars},
    }
    if response.received_us is not None:
        resource["created_time"] = response.received_us // MINUTE * MINUTE // 1000
    return resource


def _up(moment: int) -> int:
    return -(-moment // MINUTE) * MINUTE
