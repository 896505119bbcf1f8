"""The requests in a pickle of SGLang as JSON objects. Runs in a process of its own, and does nothing a pickle says.

Kept of a request is what says who asked what; of an answer its text and its facts. Token ids are counted, not kept;
tensors, images and the server's settings are left out. A pickle of another program that holds a list of dictionaries
gives these as they are.
"""

from __future__ import annotations

import codecs
import json
import mmap
from collections.abc import Iterator
from typing import Any

from forensics.ingest.isolated.bounds import OUT_OF_MEMORY, Speaker, give_up, leave
from forensics.ingest.isolated.pickle_values import Inert, Numbers
from forensics.ingest.isolated.pickles import PickleError, Reader

_MEMORY = 3 << 30
_MOST_BYTES = 1 << 30
_MOST_NODES = 500_000
_DEEPEST = 40
_TIME = (1e9, 1e10)
REQUEST = (
    "rid text stream model user cache_salt extra_key conversation_id session_id bootstrap_room lora_path priority "
    "data_parallel_rank routed_dp_rank sampling_params"
).split()
META = (
    "id finish_reason prompt_tokens completion_tokens cached_tokens dp_rank e2e_latency first_token_latency "
    "request_received_ts request_finished_ts prefill_finished_ts prefill_finished_time weight_version"
).split()


def main(arguments: list[str]) -> None:
    """Read the file that is the standard input; `arguments` are its size and the longest line, in bytes."""
    size, longest = map(int, arguments[:2])
    speaker = Speaker()
    code = 0
    # What opens a file comes first: nothing can be opened later.
    data = mmap.mmap(0, size, access=mmap.ACCESS_READ)
    for name in ("ascii", "latin-1", "raw-unicode-escape", "utf-8"):
        codecs.lookup(name)
    give_up(_MEMORY + size, 60 + (size >> 16), alone=True)
    try:
        if size > _MOST_BYTES:
            speaker.tell("end", "memory")
        else:
            for line in rows(data, longest, speaker):
                speaker.say(line)
    except PickleError as error:
        speaker.tell("end", error.reason)
    except RecursionError:
        speaker.tell("end", "too_deep")
    except MemoryError:
        code = OUT_OF_MEMORY
    except OSError:
        code = 1
    speaker.flush()
    leave(code)


def rows(data: Any, longest: int, speaker: Speaker) -> Iterator[bytes]:
    """The requests of the pickles in `data`. Raises PickleError where these break off."""
    reader = Reader(data)
    values: list[Any] = []
    broken: PickleError | None = None
    while reader.position < len(data) and broken is None:
        try:
            values.append(reader.load())
        except PickleError as error:
            broken = error
    entries = [entry for value in values for entry in _entries(value)]
    # What follows the last whole pickle takes a share of the bytes as well.
    speaker.tell("groups", 1 if broken is None else 2)
    speaker.tell("rows", len(entries))
    for entry in entries:
        made = _entry(entry)
        line = b"" if made is None else json.dumps(made, allow_nan=False).encode()
        if not line or len(line) > longest:
            speaker.tell("refused", "oversized_line" if line else "unreadable_entry")
        else:
            yield line
    if broken is not None:
        raise broken


def _entries(value: Any) -> list[Any]:
    if isinstance(value, dict) and isinstance(value.get("requests"), list | tuple):
        return list(value["requests"])
    return list(value) if isinstance(value, list) else [value]


def _entry(entry: Any) -> dict[str, Any] | None:
    try:
        if isinstance(entry, tuple | list) and len(entry) >= 2 and (asked := _fields(entry[0])) is not None:
            return {"sglang_dump": _call(asked, entry)}
        if isinstance(entry, dict):
            made = Plain().of(entry)
            return made if isinstance(made, dict) else None
    except (PickleError, RecursionError):
        pass
    return None


def _fields(value: Any) -> dict[Any, Any] | None:
    """The fields of a request object, whatever its class is called."""
    state = value.state if isinstance(value, Inert) else value
    return state if isinstance(state, dict) and not {"rid", "text", "input_ids"}.isdisjoint(state) else None


def _call(asked: dict[Any, Any], entry: Any) -> dict[str, Any]:
    plain = Plain()
    request = {name: plain.of(asked[name]) for name in REQUEST if asked.get(name) is not None}
    request["input_tokens"] = _length(asked.get("input_ids"))
    answered = entry[1]
    call: dict[str, Any] = {
        "kind": (entry[0].name if isinstance(entry[0], Inert) else "").rpartition(".")[2][:80],
        "request": request,
        "created": _time(entry, 2),
        "finished": _time(entry, 3),
    }
    if isinstance(answered, dict):
        out: dict[str, Any] = {"output_tokens": _length(answered.get("output_ids"))}
        if isinstance(answered.get("text"), str):
            out["text"] = plain.of(answered["text"])
        meta = answered.get("meta_info")
        if isinstance(meta, dict):
            out["meta_info"] = {name: plain.of(meta[name]) for name in META if name in meta}
        call["out"] = out
    return call


def _length(value: Any) -> int | None:
    if not isinstance(value, list | tuple) or any(isinstance(part, list | tuple) for part in value[:1]):
        return None
    return sum(len(part.values()) if isinstance(part, Numbers) else 1 for part in value)


def _time(entry: Any, index: int) -> float | None:
    value = entry[index] if len(entry) > index else None
    return value if isinstance(value, int | float) and _TIME[0] <= value < _TIME[1] else None


class Plain:
    """Values as JSON can hold them; bounded in number, depth and text, since a pickle may repeat one without end."""

    def __init__(self) -> None:
        self._nodes = 0

    def of(self, value: Any, depth: int = 0) -> Any:
        """One value. Raises PickleError beyond the bounds."""
        self._nodes += 1 + (len(value) // 256 if isinstance(value, str | bytes) else 0)
        if self._nodes > _MOST_NODES or depth > _DEEPEST:
            raise PickleError("memory")
        if value is None or isinstance(value, bool | str):
            return value
        if isinstance(value, int):
            return value if value.bit_length() <= 2000 else None
        if isinstance(value, float):
            return value if value == value and abs(value) != float("inf") else None
        if isinstance(value, bytes):
            return value.decode("utf-8", "replace")
        if isinstance(value, dict):
            return {
                key if isinstance(key, str) else str(key)[:100]: self.of(item, depth + 1) for key, item in value.items()
            }
        if isinstance(value, list | tuple):
            made: list[Any] = []
            for item in value:
                if isinstance(item, Numbers):
                    numbers = item.values()
                    self._nodes += len(numbers)
                    made += numbers
                else:
                    made.append(self.of(item, depth + 1))
            return made
        # An object with fields is told by them; of any other the name is all there is.
        return self.of(value.state, depth + 1) if isinstance(value.state, dict) else None
