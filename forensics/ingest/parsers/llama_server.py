"""llama.cpp's server log in text: what each slot did, and at DEBUG the whole bodies of calls.

Task ids begin anew with each process, so every event says how many starts of the process came before it in the file.
Times in the log count from that start: they are kept as `relative_us`; a time of day comes from the wrapper alone.
A slot's task is not tied to a call by any id, and none is made up here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from forensics.ingest import llama, loose_json
from forensics.ingest.parsers import llama_json
from forensics.ingest.record import HELD, STRUCTURE, EngineEvent, FileContext, Item, Place, Record, Reject
from forensics.ingest.timestamps import parse_time, parse_uptime

NAME = "llama_server"
KIND = "log"
TITLE = "llama.cpp server log (text)"
VERSIONS = "early 2024 to late 2026; the sources of June 2024, December 2024 and 2026 compared"
SOURCE = "the project's source at these releases"

# A router puts the child's port first; then minutes.seconds.milliseconds.microseconds since the start, and the level.
_HEAD = rb"(?:\[(\d{2,5})\] ?)?(?:(\d{1,9}\.\d\d\.\d{3}\.\d{3}) )?(?:[DIWETV] )?"
_SLOT = re.compile(_HEAD + rb"slot +[\w~<> ()]{1,24}?: id {1,3}(\d{1,6}) \| task (-?\d{1,18}) \| ?(.*)", re.S)
_SERVER = re.compile(_HEAD + rb"(?:srv|que|res) {1,16}[\w~<> ()]{1,20}?: (.*)", re.S)
_PLAIN = re.compile(
    _HEAD
    + rb"((?:done )?request: +(?:GET|POST|PUT|DELETE|OPTIONS|HEAD|PATCH) /\S*|request:  ?(?:\{|$)|response: ?(?:\{|$)|"
    rb"\r? *(?:prompt eval|generation eval|eval|total) time +=)"
)
_EARLY = re.compile(
    rb"slot (\d{1,6}) (is processing \[task id: (\d{1,18})\]|"
    rb": in cache: (\d{1,12}) tokens \| to process: (\d{1,12}) tokens|"
    rb": kv cache rm - \[(\d{1,12}), end\)|released \((\d{1,12}) tokens in cache\))"
)
_NAMED = re.compile(
    rb"(?: ERR|ERR|INFO|WARN|VERB) \[ {0,24}\w{1,64}\] ([^|\n]{0,1100}?) \|((?: [\w.]{1,60}=.*)?)$", re.S
)
_PAIR = re.compile(r' ([\w.]{1,60})=("(?:[^"\\]|\\.)*+"|[^\s"]++)', re.S)
_HTTP = re.compile(r"(?:done )?request: ([A-Z]{3,7}) (/[\w./-]{0,100})(?:\?\S*)? (\S{1,64}) (\d{3})$")
_BODY = re.compile(r"(request|response):(?: {1,2}|$)(.*)", re.S)
_KNOWN_HEAD = re.compile(
    _HEAD + rb"(?:slot|srv|que|res|main|llama_|common_|ggml_|load|print_info|build:|system|warning:) *"
)
_BACKWARDS_US = 5_000_000
_MOST_PROCESSES = 1000


@dataclass(slots=True)
class _Process:
    """One process of the log: told apart by who wrote the line, a router's children also by their port."""

    starts: int = 0
    busy: bool = True  # something but a start was seen since the last start
    told: bool = True  # the last start has its event
    last_us: int | None = None
    slot: str | None = None  # of the last slot line, for the timing lines that follow it
    task: int | None = None
    # Calls whose line of the web server, or whose request body, is printed and not yet followed by the next part.
    ended: int = 0
    http: tuple[str, int] | None = None
    bodies: int = 0
    request: tuple[Place | None, dict[str, Any] | None, tuple[str, int] | None] | None = None


def accepts_line(line: bytes) -> bool:
    """Whether a line is one of the server's own."""
    head = line[:1]
    if head not in b"s[0123456789DIWETVrqpdC \r ":
        return False
    return (
        _SLOT.match(line) is not None
        or _SERVER.match(line) is not None
        or _PLAIN.match(line) is not None
        or _EARLY.match(line) is not None
        or _NAMED.match(line) is not None
    )


def is_structure(line: bytes) -> bool:
    """Whether a line is one of the libraries below the server."""
    return _KNOWN_HEAD.match(line) is not None


def open_log(context: FileContext) -> _Log:
    """A reader for one file."""
    return _Log(context)


class _Log:
    def __init__(self, context: FileContext) -> None:
        self.context = context
        self._processes: dict[tuple[str | None, bytes | None], _Process] = {}
        self._left: list[Item] = []  # of processes that are forgotten

    def read(self, line: bytes) -> Sequence[Item]:
        """The items of one line."""
        items = self._read(line)
        if not self._left:
            return items
        left, self._left = self._left, []
        return [*left, *items]

    def _read(self, line: bytes) -> Sequence[Item]:
        slot = _SLOT.match(line)
        if slot is not None:
            return self._slot(slot)
        server = _SERVER.match(line)
        if server is not None:
            process, relative = self._process(server)
            return self._server(process, server.group(3), relative, server.group(1))
        plain = _PLAIN.match(line)
        if plain is not None:
            process, relative = self._process(plain)
            return self._server(process, line[plain.start(3) :], relative, plain.group(1))
        early = _EARLY.match(line)
        if early is not None:
            return self._early(early)
        named = _NAMED.match(line)
        if named is None:
            raise Reject("unrecognised_line")
        return self._named(named)

    def _process(self, match: re.Match[bytes]) -> tuple[_Process, int | None]:
        """The process of a line and the line's time since its start."""
        process = self._of_port(match.group(1))
        if match.group(2) is None:
            return process, None
        relative = parse_uptime(match.group(2).decode())
        if relative is None:
            return process, None
        if process.last_us is not None and relative < process.last_us - _BACKWARDS_US:
            process.told = not self._start(process)
        process.last_us = relative
        return process, relative

    def _of_port(self, port: bytes | None) -> _Process:
        key = (self.context.source, port)
        process = self._processes.get(key)
        if process is None:
            if len(self._processes) >= _MOST_PROCESSES:
                self._leave(self._processes.pop(next(iter(self._processes))))
            process = self._processes[key] = _Process()
        return process

    def _leave(self, process: _Process) -> None:
        """Give out the request of a process that will not print its answer any more."""
        if process.request is not None:
            self._left += self._record(*process.request, None)
            process.request = None

    def _start(self, process: _Process) -> bool:
        """Count a start, unless the lines of one are still being read."""
        if not process.busy:
            return False
        process.starts += 1
        process.busy = False
        process.last_us = process.slot = process.task = None
        process.ended = process.bodies = 0
        process.http = None
        self._leave(process)
        return True

    def _event(self, event: EngineEvent, process: _Process, relative: int | None, port: bytes | None) -> EngineEvent:
        event.at = self.context.at
        event.worker = self.context.worker or self.context.source
        event.attributes["process"] = process.starts
        if relative is not None:
            event.attributes["relative_us"] = relative
        if port is not None:
            event.attributes["port"] = int(port)
        return event

    def _slot(self, match: re.Match[bytes]) -> Sequence[Item]:
        process, relative = self._process(match)
        task = int(match.group(4))
        message = match.group(5).decode("utf-8", "replace")
        process.slot, process.task = str(int(match.group(3))), task
        found = llama.event_of(message, process.slot, task)
        if found is None:
            return STRUCTURE
        if found.kind != "slot_new":
            process.busy = True
        return (self._event(found, process, relative, match.group(1)),)

    def _server(self, process: _Process, data: bytes, relative: int | None, port: bytes | None) -> Sequence[Item]:
        if data.startswith((b"request:", b"response:", b"done request:")):
            return self._http_line(process, data, relative, port)
        message = data[:4000].decode("utf-8", "replace").strip()
        if message.startswith(llama.STARTS):
            items: list[Item] = []
            if self._start(process) or not process.told:
                process.told = True
                items.append(self._event(EngineEvent("process_start"), process, relative, port))
            found = llama.event_of(message, None, None)
            if found is not None:
                items.append(self._event(found, process, relative, port))
            return items or STRUCTURE
        found = llama.event_of(message, None, None)
        if found is None:
            return STRUCTURE
        if found.kind.endswith("_timing"):
            # The parts of one message of several lines: they belong to the slot of the line before.
            found.slot = process.slot
            if process.task is not None:
                found.counts["task"] = process.task
        return (self._event(found, process, relative, port),)

    def _early(self, match: re.Match[bytes]) -> Sequence[Item]:
        process = self._of_port(None)
        slot, _, task, in_cache, to_process, kept, released = match.groups()
        name = str(int(slot))
        if task is not None:
            event = EngineEvent("slot_busy", slot=name, counts={"task": int(task)})
        elif in_cache is not None:
            event = EngineEvent("prompt_loaded", slot=name)
            event.counts = {"in_cache": int(in_cache), "to_process": int(to_process)}
        elif kept is not None:
            event = EngineEvent("cache_reuse", slot=name, counts={"kept": int(kept)})
        else:
            event = EngineEvent("slot_free", slot=name, counts={"tokens": int(released)})
        process.busy = True
        return (self._event(event, process, None, None),)

    def _named(self, match: re.Match[bytes]) -> Sequence[Item]:
        """A line of the year when a line was a message and `name=value` pairs."""
        values: dict[str, Any] = {}
        for name, text in _PAIR.findall(match.group(2).decode("utf-8", "replace")):
            try:
                values[name] = loose_json.loads(text)
            except ValueError:
                continue
        process = self._of_port(None)
        message = match.group(1).decode("utf-8", "replace")
        if message.startswith(llama.STARTS):
            started = self._start(process)
            event = self._event(EngineEvent("process_start"), process, None, None)
            at, _ = parse_time(values.get("timestamp"), self.context)
            event.at = at if at is not None else event.at
            first: list[Item] = [event] if started else []
            return [*first, *self._marked(llama_json.items_of(message, values, self.context), process)] or STRUCTURE
        process.busy = True
        return self._marked(llama_json.items_of(message, values, self.context), process) or STRUCTURE

    def _marked(self, items: Sequence[Item], process: _Process) -> list[Item]:
        kept: list[Item] = []
        for item in items:
            if isinstance(item, EngineEvent):
                if item.kind == "process_start":
                    continue
                item.attributes["process"] = process.starts
            kept.append(item)
        return kept

    # The web server's lines: the end of a call, then its bodies. Those of several calls may be mixed.

    def _http_line(self, process: _Process, data: bytes, relative: int | None, port: bytes | None) -> Sequence[Item]:
        try:
            text = data.decode("utf-8").rstrip("\r\n")
        except UnicodeDecodeError:
            raise Reject("bad_utf8") from None
        http = _HTTP.match(text)
        if http is not None:
            method, path, _, status = http.groups()
            process.busy = True
            process.ended += 1
            process.http = (path, int(status)) if process.ended == 1 else None
            event = self._event(EngineEvent("http_end", counts={"status": int(status)}), process, relative, port)
            event.attributes["method"], event.attributes["path"] = method, path
            return (event,)
        body = _BODY.match(text)
        if body is None:
            return STRUCTURE
        value = self._body(body.group(2))
        if body.group(1) == "request":
            return self._request(process, value)
        return self._response(process, value)

    def _body(self, text: str) -> dict[str, Any] | None:
        if not text.strip():
            return None
        try:
            value = loose_json.loads(text)
        except ValueError:
            if text[:1] == "{":
                raise Reject("bad_json") from None
            return None
        return value if isinstance(value, dict) else None

    def _request(self, process: _Process, body: dict[str, Any] | None) -> Sequence[Item]:
        http = process.http if process.ended == 1 else None
        process.ended = max(0, process.ended - 1)
        process.http = None
        items: list[Item] = []
        process.bodies += 1
        if process.bodies > 1:
            # Two calls at once: nothing says which answer is whose. Each body stands alone.
            if process.request is not None:
                items += self._record(*process.request, None)
            process.request = None
            items += self._record(self.context.place, body, None, None)
            return items or HELD
        process.request = (self.context.place, body, http)
        return HELD

    def _response(self, process: _Process, body: dict[str, Any] | None) -> Sequence[Item]:
        held, process.request = process.request, None
        alone = process.bodies == 1 and held is not None
        process.bodies = max(0, process.bodies - 1)
        if alone and held is not None:
            return self._record(*held, body) or HELD
        items = self._record(*held, None) if held is not None else []
        return [*items, *self._record(self.context.place, None, None, body)] or HELD

    def _record(
        self,
        place: Place | None,
        request: dict[str, Any] | None,
        http: tuple[str, int] | None,
        response: dict[str, Any] | None,
    ) -> list[Item]:
        record = Record(None, "engine", worker=self.context.worker or self.context.source, place=place)
        llama.body_facts(record, request, response)
        if not record.texts:
            return []
        if http is not None:
            record.endpoint, record.status = http[0], str(http[1])
        if response is not None or http is not None:
            record.finished_at = self.context.at
        own = response.get("id") if response is not None else None
        if isinstance(own, str) and own:
            record.request_id = own
        else:
            assert place is not None
            record.request_id = f"sha256:{place.digest[:16]}"
            self.context.notice("made_id")
        if request is not None and response is None:
            record.response_state = "absent" if http is None else "not_logged"
        return [record]

    def end(self) -> Sequence[Item]:
        """Requests whose answer is not in the log."""
        for process in self._processes.values():
            self._leave(process)
        return self._left
