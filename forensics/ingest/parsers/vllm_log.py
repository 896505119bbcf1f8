"""vLLM's text log: requests, printed answers and deltas, aborts, and how many requests ran together.

One call is several lines of several processes. Answers printed as deltas are put together per id; several answers of
one id come out as choices in the order of print, since the log gives them no number. Prompts that newer releases do
not print at INFO are `not_logged`. Does not read the spans and KV events that vLLM sends elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from forensics.ingest import loose_json, vllm
from forensics.ingest.record import HELD, STRUCTURE, EngineEvent, FileContext, Item, Place, Record, Reject
from forensics.ingest.timestamps import parse_yearless
from forensics.ingest.vllm_calls import Call, Cuts, Early, answer_record, request_record

NAME = "vllm_log"
KIND = "log"
TITLE = "vLLM server log (text)"
VERSIONS = (
    "0.6 to 0.33: both engines, both prefixes; read from the releases 0.6.6, 0.8.5, 0.10, 0.11, 0.12, 0.14, 0.16, 0.33"
)
SOURCE = "the project's source at these releases"

_MOST_OPEN = 20_000
_MOST_CHARACTERS = 64_000_000
_TOP_CHOICES = 4096

Key = tuple[str | None, str]


def accepts_line(line: bytes) -> bool:
    """Whether a line is one of this log's, with its prefix or, where a wrapper holds that, without."""
    prefix = vllm.PREFIX.match(line)
    return prefix is not None or vllm.MESSAGE.match(line) is not None


def is_structure(line: bytes) -> bool:
    """Whether a line is one of the web server or of a worker's own output."""
    return vllm.OTHER.match(line) is not None


def open_log(context: FileContext) -> _Log:
    """A reader for one file."""
    return _Log(context)


class _Log:
    def __init__(self, context: FileContext) -> None:
        self.context = context
        self._calls: dict[Key, Call] = {}
        self._early: dict[Key, Early] = {}
        self._closing: Key | None = None
        self._characters = 0
        self._cuts = Cuts()
        self._broken: tuple[bytes, bytes, Place | None] | None = None
        self._precision: str | None = None
        self._rank: int | None = None

    def read(self, line: bytes) -> Sequence[Item]:
        """The items of one line."""
        prefix = vllm.PREFIX.match(line)
        start = prefix.end() if prefix else 0
        if self._broken is not None:
            whole = self._continued(line, start)
            if whole is not None:
                line, start = whole, len(self._broken[0])
                prefix = vllm.PREFIX.match(line)
        if vllm.MESSAGE.match(line, start) is None:
            return self._other(line, start, prefix)
        at = self._time(prefix)
        self._rank = _rank(prefix)
        try:
            message = line[start:].decode("utf-8").rstrip("\r\n ")
        except UnicodeDecodeError:
            raise Reject("bad_utf8") from None
        try:
            items = self._message(message, at)
        except Reject as reject:
            if reject.reason == "bad_repr" and self._may_continue(line):
                place = self._broken[2] if self._broken else self.context.place
                self._broken = (line[:start], line, place)
                return HELD
            self._broken = None
            raise
        self._broken = None
        return items

    def _may_continue(self, line: bytes) -> bool:
        """Messages of several lines are printed with CR LF inside and the prefix again on every line."""
        place = self.context.place
        ended = line.endswith(b"\r") or (place is not None and place.size - len(line) == 2)
        return (ended or self._broken is not None) and len(line) < 1 << 24

    def _continued(self, line: bytes, start: int) -> bytes | None:
        assert self._broken is not None
        head, text, _ = self._broken
        if line[:start] == head and vllm.MESSAGE.match(line, start) is None:
            return text.rstrip(b"\r") + b"\n" + line[start:]
        self._broken = None
        self.context.notice("cut_message")
        return None

    def _time(self, prefix: re.Match[bytes] | None) -> int | None:
        if self.context.at is not None:
            self._precision = None
            return self.context.at
        if prefix is None:
            self._precision = None
            return None
        at, self._precision = parse_yearless(prefix.group(2).decode(), self.context)
        return at

    def _other(self, line: bytes, start: int, prefix: re.Match[bytes] | None) -> Sequence[Item]:
        message = line[start : start + 20_000]
        if self._cuts.limit is None and b"max_log_len" in message:
            found = vllm.LOG_LIMIT.search(message.decode("utf-8", "replace"))
            self._cuts.limit = int(found.group(1)) if found else None
        if message.startswith(b"Sequence group "):
            found = vllm.PREEMPTED.match(message.decode("utf-8", "replace"))
            if found:
                worker = self.context.worker or self.context.source
                return (EngineEvent("retraction", self._time(prefix), worker, self._resolve(found.group(1))[1]),)
        if message.startswith((b"Resetting prefix cache", b"Successfully reset prefix cache")):
            return (EngineEvent("cache_flush", self._time(prefix), self.context.worker or self.context.source),)
        return STRUCTURE

    def _message(self, message: str, at: int | None) -> Sequence[Item]:
        if message.startswith("Generated"):
            return self._generated(message, at)
        if message.startswith("Received"):
            return [*self._close(), *self._received(message, at)]
        if message.startswith("Request"):
            return self._request(message, at)
        items = self._close()
        ended = vllm.ENDED.match(message)
        if ended:
            for name in ended.group(2).split(","):
                items += self._ended(ended.group(1), name, at)
            return items
        event = vllm.statistics(message, at, self._rank, self.context)
        if event is None:
            raise Reject("unrecognised_line")
        return [*items, event]

    # Requests

    def _received(self, message: str, at: int | None) -> list[Item]:
        match = vllm.RECEIVED.match(message)
        if match is None:
            raise Reject("unrecognised_line")
        values, whole = vllm.fields(message.removesuffix("."), match.end())
        if not whole and (
            "params" not in values or ("prompt" not in values and message.startswith("prompt", match.end()))
        ):
            raise Reject("bad_repr")
        request_id = match.group(1)
        worker = self.context.worker or self.context.source
        early = self._take_early(request_id)
        prompt = values.get("prompt")
        early.prompt = prompt if isinstance(prompt, str) else early.prompt
        early.at, early.precision = at, self._precision
        params = values.get("params")
        n = params.get("n") if isinstance(params, dict) else None
        call = Call(request_id, worker, n if isinstance(n, int) and 0 < n < _TOP_CHOICES else None, received=True)
        items: list[Item] = []
        key = (self.context.source, request_id)
        if key in self._calls:
            # The id is used again: what is known of the former call is all that there will be.
            call.doubtful = bool(self._calls[key].deltas)
            items += self._finished(key, whole=False)
        self._calls[key] = call
        record = self._asked(request_id, early)
        adapter = values.get("lora_request")
        if isinstance(adapter, dict) and isinstance(adapter.get("lora_name"), str) and adapter["lora_name"]:
            record.ids["lora_name"] = adapter["lora_name"]
        return [*items, record, *self._bounded()]

    def _request(self, message: str, at: int | None) -> Sequence[Item]:
        """A line that comes before the request's own: it waits for that one."""
        details = vllm.DETAILS.match(message)
        body = vllm.BODY.match(message)
        early = Early(self.context.place, self.context.worker or self.context.source, at, self._precision)
        if details is not None:
            values, whole = vllm.fields(message.removesuffix("."), details.end())
            if not whole and "prompt" not in values:
                raise Reject("bad_repr")
            prompt = values.get("prompt")
            early.prompt = prompt if isinstance(prompt, str) else None
            name = details.group(1)
        elif body is not None:
            name = body.group(1)
            try:
                value = loose_json.loads(message[body.end() :])
            except ValueError:
                # Cut at the log's limit; what is left is no JSON.
                value, early.cut = {}, True
                self.context.notice("cut_body")
            early.body = value if isinstance(value, dict) else {}
            if name == "N/A":
                assert early.place is not None
                self.context.notice("made_id")
                return (self._asked(f"sha256:{early.place.digest[:16]}", early, part="whole"),)
        else:
            raise Reject("unrecognised_line")
        key = (self.context.source, name)
        items: list[Item] = []
        former = self._early.get(key)
        if former is not None and ((former.prompt is None) == (early.prompt is None)):
            items.append(self._asked(name, self._early.pop(key)))
            former = None
        if former is not None:
            former.prompt = early.prompt if early.prompt is not None else former.prompt
            former.body = early.body if early.body is not None else former.body
            former.cut = former.cut or early.cut
        else:
            self._early[key] = early
        if len(self._early) > _MOST_OPEN:
            oldest = next(iter(self._early))
            items.append(self._asked(oldest[1], self._early.pop(oldest)))
            self.context.notice("open_calls_closed")
        return items or HELD

    def _take_early(self, request_id: str) -> Early:
        """What was held of a request, under its own id or under that of the client's call."""
        source = self.context.source
        found = self._early.pop((source, request_id), None)
        external = vllm.external_ids(request_id).get("x-request-id")
        if external is not None and (whole := self._early.get((source, external))) is not None:
            prompts = whole.body.get("prompt") if whole.body is not None else None
            number = vllm.prompt_number(request_id)
            body = whole.body
            if isinstance(prompts, list) and number < len(prompts) and isinstance(prompts[number], str):
                body = {**(whole.body or {}), "prompt": prompts[number]}
            if not isinstance(prompts, list) or number >= len(prompts) - 1:
                del self._early[source, external]
            found = found or Early(whole.place, whole.worker, None, None)
            found.body, found.cut = body, whole.cut
        return found or Early(self.context.place, None, None, None)

    def _asked(self, request_id: str, early: Early, part: str = "received") -> Record:
        return request_record(request_id, early, self._cuts, self.context, part)

    # Answers

    def _generated(self, message: str, at: int | None) -> Sequence[Item]:
        match = vllm.GENERATED.match(message)
        if match is None:
            # Token ids alone: the texts stand on the line of the same answer.
            return STRUCTURE if vllm.TOKEN_IDS.match(message) else self._no_message()
        values, whole = vllm.fields(message, match.end())
        output = values.get("output")
        if "output" in values and output is None:
            output = ""
        if not isinstance(output, str) or (not whole and "finish_reason" not in values):
            raise Reject("bad_repr")
        key = (self.context.source, match.group(1))
        items: list[Item] = [] if key == self._closing else self._close()
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = Call(match.group(1), self.context.worker or self.context.source)
        if call.place is None:
            call.place = self.context.place
        call.at, call.precision = at, self._precision
        call.stream = call.stream or match.group(2) is not None
        call.characters += len(output)
        self._characters += len(output)
        reason = values.get("finish_reason")
        if isinstance(reason, str) and reason != "streaming_complete":
            call.reason = reason
        if match.group(2) == " (streaming delta)":
            call.deltas.append((output, at))
            items += self._bounded()
            return items or HELD
        call.finals.append(output)
        if call.n == len(call.finals):
            return [*items, *self._finished(key, whole=True)]
        self._closing = key
        return items or HELD

    def _no_message(self) -> Sequence[Item]:
        raise Reject("unrecognised_line")

    def _close(self) -> list[Item]:
        """The call whose answers were the last lines, which are printed one after the other."""
        key, self._closing = self._closing, None
        return self._finished(key, whole=True) if key is not None and key in self._calls else []

    def _finished(self, key: Key, *, whole: bool, status: str = "ok", at: int | None = None) -> list[Item]:
        """The record of a call's answers, and the call is forgotten; none where it has no answer and no end."""
        call = self._calls.pop(key)
        self._characters -= call.characters
        if self._closing == key:
            self._closing = None
        if not call.finals and not call.deltas and at is None:
            return []
        return [answer_record(call, self._cuts, self.context, whole=whole, status=status, at=at)]

    def _ended(self, word: str, engine_id: str, at: int | None) -> list[Item]:
        key, request_id = self._resolve(engine_id)
        kind = {"Added": "admitted", "Finished": "finished", "Aborted": "abort"}[word]
        event = EngineEvent(kind, at, self.context.worker or self.context.source, request_id)
        if request_id != engine_id:
            event.attributes["engine_request_id"] = engine_id
        if self._rank is not None:
            event.attributes["dp_rank"] = self._rank
        if word == "Added" or key is None:
            return [event]
        if word == "Finished":
            # The old engine prints no answers; the end of the call is all there is.
            return [event] if engine_id != request_id else [*self._end(key, at, "ok"), event]
        return [*self._end(key, at, "aborted"), event]

    def _end(self, key: Key, at: int | None, status: str) -> list[Item]:
        call = self._calls[key]
        call.precision = self._precision
        items = self._finished(key, whole=status == "ok", status=status, at=at)
        if not items:
            record = Record(call.request_id, "engine", "finished", worker=call.worker, place=self.context.place)
            record.status, record.response_state = status, "not_logged"
            record.finish_reason = "abort" if status == "aborted" else None
            record.ids = vllm.external_ids(call.request_id)
            items = [record]
        return items

    def _resolve(self, engine_id: str) -> tuple[Key | None, str]:
        """The open call that the engine's id stands for, and its own id."""
        for name in vllm.spellings(engine_id):
            if (self.context.source, name) in self._calls:
                return (self.context.source, name), name
        return None, engine_id

    def _bounded(self) -> list[Item]:
        items: list[Item] = []
        while len(self._calls) > _MOST_OPEN or (self._characters > _MOST_CHARACTERS and self._calls):
            oldest = next(iter(self._calls))
            found = self._finished(oldest, whole=False)
            if found:
                self.context.notice("open_calls_closed")
            items += found
        return items

    def end(self) -> Sequence[Item]:
        """What is still open: answers without an end, and prompts whose request line is missing."""
        items = self._close()
        for key in list(self._calls):
            items += self._finished(key, whole=False)
        for key in list(self._early):
            items.append(self._asked(key[1], self._early.pop(key)))
        if self._broken is not None:
            self.context.notice("cut_message")
        if self._cuts.suspected:
            self.context.notice("equal_longest_texts")
        return items


def _rank(prefix: re.Match[bytes] | None) -> int | None:
    process = prefix.group(1) if prefix is not None else None
    found = vllm.RANK.search(process.decode()) if process else None
    return int(found.group(1)) if found else None
