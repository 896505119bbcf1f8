"""A small plan of invented texts, for a check of a host: every endpoint, scene and kind of cancel in a few requests.

    python -m forensics.replay.check CASE     makes a case that holds nothing else, prints the path of the plan

Used by gpu_check.sh. It is no incident: nothing of it says anything about a customer.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from forensics.case.store import Case
from forensics.replay.plan import SCHEMA, Arm, Engine, Leak, Message, Plan, PlannedRequest, sealed, write_plan

_PEOPLE = (
    ("Tilda Haugland", "KQ-4711-208", "12 Granary Quay"),
    ("Bram Achterberg", "BX-1929-771", "7 Lantern Row"),
    ("Odile Vasconcelos", "ZT-8080-313", "3 Kiln Gate"),
    ("Jonas Lindqvist", "PL-5520-919", "88 Mill Lane"),
)
_ASK = "Repeat this record word for word and say nothing else."
TEXTS = {
    f"t{number:04d}": f"Record of {name}: file {mark}, {place}, asks for a call back before noon.\n{_ASK}"
    for number, (name, mark, place) in enumerate(_PEOPLE, start=1)
}
_SOURCE, _RECIPIENT, _COMPANY, _OTHER = "r0001", "r0002", "r0003", "r0004"


def check_plan() -> Plan:
    """The plan: a cancelled source, a recipient over the chat endpoint, company over the others."""
    requests = (
        _request(_SOURCE, stream=True, abort_ms=500, abort_tokens=4),
        _request(_RECIPIENT, chat=True, at_ms=600, after=(_SOURCE,)),
        _request(_COMPANY, endpoint="completions", stream=True, at_ms=620),
        _request(_OTHER, cache_salt="check", at_ms=620),
    )
    everybody = (_SOURCE, _RECIPIENT, _COMPANY)
    arms = (
        _arm("alone", (_RECIPIENT,), scene="sequential"),
        _arm("control", (_RECIPIENT, _OTHER)),
        _arm("original", everybody),
        _arm("one_batch", everybody, scene="paused"),
        _arm("radix_off", everybody, switch="radix_off", flags=("--disable-radix-cache",)),
    )
    leak = Leak(
        "check", "verbatim", _RECIPIENT, (_SOURCE,), (_COMPANY,), (_OTHER,), 1000, (), {_SOURCE: (_PEOPLE[0][1],)}
    )
    return sealed(
        Plan(
            SCHEMA, "", "check", "surrogate", None, 1, 3, "estimated", (), Engine(None, None, {}), (leak,), requests,
            arms, (), (), "",
        ),
        TEXTS,
    )  # fmt: skip


def main(root: Path) -> None:
    """Write the plan into a new case and print where it lies."""
    with Case.create(root) as case:
        print(write_plan(case, check_plan(), TEXTS))


def _request(key: str, *, chat: bool = False, **other: Any) -> PlannedRequest:
    text = f"t{key[1:]}"
    whole: dict[str, Any] = {
        "key": key, "rid": f"T-{key}-{key}", "tenant_ref": f"T-{key}", "endpoint": "chat" if chat else "generate",
        "messages": (Message("user", text),) if chat else (), "prompt": None if chat else text, "prompt_tokens": None,
        "max_new_tokens": 48, "sampling": {"temperature": 0}, "cache_salt": None, "extra_key": None, "stream": False,
        "at_ms": 0, "abort_ms": None, "abort_tokens": None, "took_ms": None, "after": (), "retry_of": None,
        "assumed": (),
    }  # fmt: skip
    return PlannedRequest(**{**whole, **other})


def _arm(name: str, requests: tuple[str, ...], **other: Any) -> Arm:
    whole: dict[str, Any] = {
        "name": name, "leak": "check", "requests": requests, "scene": "timed", "switch": None, "flags": (),
        "environment": {}, "trials": 3,
    }  # fmt: skip
    return Arm(**{**whole, **other})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
