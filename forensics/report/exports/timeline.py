"""How does the timeline leave the house? As Timesketch JSONL like `out/timeline.jsonl`, with pseudonyms for ids.

Makes no event of its own: it reads the finished file and replaces what names a request, a worker or a named slot.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson

from forensics.case.errors import MissingInput
from forensics.case.pseudonyms import Pseudonyms
from forensics.case.store import Case

SOURCE = "out/timeline.jsonl"


def document(case: Case, pseudonyms: Pseudonyms) -> bytes:
    """The timeline, one JSON object a line, in the order of `out/timeline.jsonl`."""
    path = case.root / SOURCE
    if not path.is_file():
        raise MissingInput(f"{SOURCE} is not there; `forensics scope {case.root}` writes it")
    events = [orjson.loads(line) for line in path.read_bytes().split(b"\n") if line]
    return b"".join(orjson.dumps(event) + b"\n" for event in _outward(case, pseudonyms, events))


def _outward(case: Case, pseudonyms: Pseudonyms, events: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    wanted = sorted({event["request_uid"] for event in events if "request_uid" in event})
    names = {number: pseudonyms.request(name) for number, name in case.rows("report/export_names", {"wanted": wanted})}
    for event in events:
        worker = event.get("server", "")
        # A worker's name of thousands of letters is shortened in the file and has no code there.
        changed = {"server": pseudonyms.workers.get(worker, "W-unknown") if worker else ""}
        if "request_uid" in event:
            changed["rid"] = names[event["request_uid"]]
            slot = event["slot"]
            changed["slot"] = slot if slot.isascii() and slot.isdigit() else "named" if slot else ""
        yield {**event, **changed}
