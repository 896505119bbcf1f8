"""Small replay plans for tests: a recipient, its source, company, and a control company, all invented."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from forensics.case.store import Case
from forensics.replay.plan import SCHEMA, Arm, Engine, Leak, Message, Plan, PlannedRequest, sealed, write_plan

NAMES = ("Tilda Haugland", "Bram Achterberg", "Odile Vasconcelos", "Jonas Lindqvist", "Celia Quintero")
PLACES = (
    "12 Granary Quay, Brevik",
    "7 Lantern Row, Orsa",
    "3 Kiln Gate, Rauma",
    "88 Mill Lane, Novara",
    "5 Elm Way, Ivrea",
)
MARKS = ("KQ-4711-208", "BX-1929-771", "ZT-8080-313", "PL-5520-919", "MD-3141-592")
TEXTS = {
    f"t{number:04d}": f"The records of today:\nRecord of {name}: file {mark}, {place}, wants a call.\nRepeat it."
    for number, (name, place, mark) in enumerate(zip(NAMES, PLACES, MARKS, strict=True), start=1)
}
RECIPIENT, SOURCE, COMPANY, STRANGER, OTHER = "r0002", "r0001", "r0003", "r0004", "r0005"


def request(key: str, **other: Any) -> PlannedRequest:
    """The request of a tenant of its own, with the text of its number."""
    whole: dict[str, Any] = {
        "key": key, "rid": f"T-{key[-1]}-{key}", "tenant_ref": f"T-{key[-1]}", "endpoint": "generate", "messages": (),
        "prompt": f"t{key[1:]}", "prompt_tokens": 20, "max_new_tokens": 12, "sampling": {"temperature": 0},
        "cache_salt": None, "extra_key": None, "stream": False, "at_ms": 0, "abort_ms": None, "abort_tokens": None,
        "took_ms": 100, "after": (), "retry_of": None, "assumed": (),
    }  # fmt: skip
    return PlannedRequest(**{**whole, **other})


def chat(key: str, **other: Any) -> PlannedRequest:
    """The same over the chat endpoint."""
    return request(key, endpoint="chat", prompt=None, messages=(Message("user", f"t{key[1:]}"),), **other)


def arm(name: str, *requests: str, **other: Any) -> Arm:
    """An arm of the one leak."""
    whole: dict[str, Any] = {
        "name": name, "leak": "f1", "requests": requests, "scene": "timed", "switch": None, "flags": (),
        "environment": {}, "trials": 3,
    }  # fmt: skip
    return Arm(**{**whole, **other})


# The source is cancelled in mid-answer; the recipient comes when it is gone.
CANCELS = (
    request(SOURCE, stream=True, abort_ms=40, abort_tokens=3),
    request(RECIPIENT, at_ms=60, after=(SOURCE,)),
    request(COMPANY, at_ms=61, after=(SOURCE,)),
    request(STRANGER, stream=True, abort_ms=40, abort_tokens=3),
    request(OTHER, at_ms=61, after=(STRANGER,)),
)
ARMS = (
    arm("alone", RECIPIENT),
    arm("control", OTHER, RECIPIENT),
    arm("original", SOURCE, RECIPIENT, COMPANY),
)

RADIX_OFF = arm("radix_off", SOURCE, RECIPIENT, COMPANY, switch="radix_off", flags=("--disable-radix-cache",))


def plan(requests: tuple[PlannedRequest, ...] = CANCELS, arms: tuple[Arm, ...] = ARMS, **other: Any) -> Plan:
    """A sealed plan of one leak."""
    return sealed(unsealed(requests, arms, **other), TEXTS)


def unsealed(requests: tuple[PlannedRequest, ...], arms: tuple[Arm, ...], **other: Any) -> Plan:
    """The same as it is before it is checked and has an id."""
    leak = Leak(
        "f1", "verbatim", RECIPIENT, (SOURCE,), (COMPANY,), (STRANGER, OTHER), 500, ("M3",), {SOURCE: (MARKS[0],)}
    )
    whole: dict[str, Any] = {
        "schema": SCHEMA, "plan_id": "", "case_id": "c", "text": "surrogate", "reason": None, "seed": 7, "trials": 3,
        "tokens": "estimated", "models": ("m",), "engine": Engine("sglang", None, {}), "leaks": (leak,),
        "requests": requests, "arms": arms, "assumed": (), "left_out": (), "texts_sha256": "",
    }  # fmt: skip
    return Plan(**{**whole, **other})


def in_case(root: Path, made: Plan) -> Path:
    """Write a plan into a case, made if absent; the path of plan.json."""
    with Case.create(root) as case:
        return write_plan(case, made, TEXTS)
