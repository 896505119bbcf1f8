"""vLLM's text log: requests, printed answers and deltas, aborts, and how many requests ran together.

One call is several lines of several processes. Answers printed as deltas are put together per id; several answers of
one id come out as choices in the order of print, since the log gives them no number. Prompts that newer releases do
not print at INFO are `not_logged`. Does not read the spans and KV events that vLLM sends elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from forensics.ingest import bodies, loose_json, vllm
from forensics.ingest.envelope import id_text
from forensics.ingest.record import HELD, STRUCTURE, Chunk, EngineEvent, FileContext, Item, Place, Record, Reject, Text
from forensics.ingest.timestamps import parse_yearless

NAME = "vllm_log"
KIND = "log"
TITLE = "vLLM server log (text)"
VERSIONS = (
    "0.6 to 0.33: both engines, both prefixes; read from the releases 0.6.6, 0.8.5, 0.10, 0.11, 0.12, 0.14, 0.16, 0.33"
)
SOURCE = "the project's source at these releases"

_MOST_OPEN = 20_000
_MOST_CHARACTERS = 64_000_000
_LEAST_EQUAL = 3  # different texts of one greatest length that betray a limit
_LEAST_LENGTH = 16
_TOP_CHOICES = 4096

Key = tuple[str | None, str]


@dataclass(slots=True)
class _Call:
    request_id: str
    worker: str | None
    n: int | None = None  # answers asked for
    received: bool = False  # the request's own line was seen
    doubtful: bool = False  # another call of the same id was still printing its answer when this one came
    place: Place | None = None
    deltas: list[tuple[str, int | None]] = field(default_factory=list)
    finals: list[str] = field(default_factory=list)
    reason: str | None = None
    stream: bool = False
    at: int | None = None
    precision: str | None = None
    characters: int = 0


@dataclass(slots=True)
class _Early:
    """What was printed of a request before its own line: the prompt (DEBUG) or the whole body."""

    place: Place | None
    worker: str | None
    at: int | None
    precision: str | None
    prompt: str | None = None
    body: dict[str, Any] | None = None
    cut: bool = False


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
        self._calls: dict[Key, _Call] = {}
        self._early: dict[Key, _Early] = {}
        self._closing: Key | None = None
        self._characters = 0
        self._limit: int | None = None  # --max-log-len, where the log says it
        self._longest = 0
        self._of_longest: set[int] = set()
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
        if self._limit is None and b"max_log_len" in message:
            found = vllm.LOG_LIMIT.search(message.decode("utf-8", "replace"))
            self._limit = int(found.group(1)) if found else None
        if message.startswith(b"Sequence group "):
            found = vllm.PREEMPTED.match(message.decode("utf-8", "replace"))
            if found:
                worker = self.context.worker or self.context.source
                return (EngineEvent("preemption", self._time(prefix), worker, self._resolve(found.group(1))[1]),)
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
        call = _Call(request_id, worker, n if isinstance(n, int) and 0 < n < _TOP_CHOICES else None, received=True)
        items: list[Item] = []
        key = (self.context.source, request_id)
        if key in self._calls:
            # The id is used again: what is known of the former call is all that there will be.
            call.doubtful = bool(self._calls[key].deltas)
            items += self._finished(key, whole=False)
        self._calls[key] = call
        record = self._request_record(request_id, early)
        adapter = values.get("lora_request")
        if isinstance(adapter, dict) and isinstance(adapter.get("lora_name"), str) and adapter["lora_name"]:
            record.ids["lora_name"] = adapter["lora_name"]
        return [*items, record, *self._bounded()]

    def _request(self, message: str, at: int | None) -> Sequence[Item]:
        """A line that comes before the request's own: it waits for that one."""
        details = vllm.DETAILS.match(message)
        body = vllm.BODY.match(message)
        early = _Early(self.context.place, self.context.worker or self.context.source, at, self._precision)
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
                return (self._request_record(f"sha256:{early.place.digest[:16]}", early, part="whole"),)
        else:
            raise Reject("unrecognised_line")
        key = (self.context.source, name)
        items: list[Item] = []
        former = self._early.get(key)
        if former is not None and ((former.prompt is None) == (early.prompt is None)):
            items.append(self._request_record(name, self._early.pop(key)))
            former = None
        if former is not None:
            former.prompt = early.prompt if early.prompt is not None else former.prompt
            former.body = early.body if early.body is not None else former.body
            former.cut = former.cut or early.cut
        else:
            self._early[key] = early
        if len(self._early) > _MOST_OPEN:
            oldest = next(iter(self._early))
            items.append(self._request_record(oldest[1], self._early.pop(oldest)))
            self.context.notice("open_calls_closed")
        return items or HELD

    def _take_early(self, request_id: str) -> _Early:
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
            found = found or _Early(whole.place, whole.worker, None, None)
            found.body, found.cut = body, whole.cut
        return found or _Early(self.context.place, None, None, None)

    def _request_record(self, request_id: str, early: _Early, part: str = "received") -> Record:
        worker = early.worker or self.context.worker or self.context.source
        record = Record(request_id, "engine", part, worker=worker, received_at=early.at, place=early.place)
        record.time_precision = early.precision if early.at is not None else None
        record.ids = vllm.external_ids(request_id)
        texts: list[Text] = []
        record.texts = texts
        found = False
        cut = early.cut
        if early.prompt is not None:
            found = True
            cut = cut or self._is_cut(early.prompt)
            if early.prompt:
                texts.append(("prompt", "prompt", "prompt", early.prompt))
        body = early.body
        if body is not None:
            if early.prompt is not None:
                body = {name: value for name, value in body.items() if name != "prompt"}
            found = bodies.request_texts(body, texts) or found
            for name in ("cache_salt", "user", "model"):
                value = id_text(body[name]) if not isinstance(body.get(name), float | None) else None
                if value is not None and name == "cache_salt":
                    record.ids[name] = value
                elif value is not None:
                    setattr(record, "user_id" if name == "user" else name, value)
            stream = body.get("stream")
            record.stream = stream if isinstance(stream, bool) else None
        record.prompt_state = "truncated" if cut else "full" if found else "not_logged"
        return record

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
            call = self._calls[key] = _Call(match.group(1), self.context.worker or self.context.source)
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
        record = Record(
            call.request_id, "engine", "finished", worker=call.worker, place=call.place or self.context.place
        )
        record.stream = True if call.stream else None
        record.ids = vllm.external_ids(call.request_id)
        record.finish_reason = "abort" if status == "aborted" else call.reason
        record.status = "aborted" if record.finish_reason == "abort" else status if whole or at is not None else None
        record.finished_at = at if at is not None else call.at if whole or call.reason is not None else None
        record.time_precision = call.precision if record.finished_at is not None else None
        texts: list[Text] = []
        record.texts = texts
        printed = self._finals(call, record)
        joined = "".join(text for text, _ in call.deltas)
        several = call.doubtful or len(printed) > 1 or (call.n or 1) > 1
        for choice, text in enumerate(printed):
            vllm.answer(text, choice, texts)
        if call.deltas:
            record.first_token_at = call.deltas[0][1]
        if joined and several:
            self.context.notice("deltas_of_several_answers")
            if not printed:
                # Nothing says which answer a delta belongs to: the text stands as it was printed.
                texts.append(("response", "choices[0].content", "response", joined))
        elif joined:
            self._streamed(call, record, texts, printed[0] if printed else None, joined)
        record.response_state = self._state(call, printed, several, status, whole)
        if len(printed) not in (0, call.n or len(printed)):
            self.context.notice("missing_choice")
        return [record]

    def _finals(self, call: _Call, record: Record) -> list[str]:
        """The answers printed whole. A marker stands for one whose text the engine did not keep."""
        printed: list[str] = []
        for text in call.finals:
            marker = vllm.MARKER.fullmatch(text)
            if marker:
                record.completion_tokens = (record.completion_tokens or 0) + int(marker.group(1))
            else:
                printed.append(text)
        return printed

    def _streamed(self, call: _Call, record: Record, texts: list[Text], printed: str | None, joined: str) -> None:
        """Put the deltas of a single answer in their place: as the answer, inside it, or beside it."""
        start = 0
        if printed is None:
            texts.append(("response", "choices[0].content", "response", joined))
        else:
            start = printed.find(joined)
            if start < 0:
                # The engine took tool calls or thinking out of what it sent on: both are evidence.
                texts.append(("response", "choices[0].deltas", "response", joined))
                return
            if not any(path == "choices[0].content" for _, path, _, _ in texts):
                return
        chunks: list[Chunk] = []
        for sequence, (text, at) in enumerate(call.deltas):
            chunks.append((0, sequence, at, start, start + len(text)))
            start += len(text)
        record.chunks = chunks

    def _state(self, call: _Call, printed: list[str], several: bool, status: str, whole: bool) -> str:
        if not printed and not call.deltas:
            return "full" if call.finals and not any(map(vllm.MARKER.fullmatch, call.finals)) else "not_logged"
        cut = [self._is_cut(text) for text in (*printed, *(text for text, _ in call.deltas))]
        if any(cut):
            return "truncated"
        if printed:
            return "full"
        # Deltas alone: whole only where the first and the last are known to be there.
        ended = call.received and (call.reason is not None or bool(call.finals))
        return "full" if ended and whole and not several and status == "ok" else "partial_stream"

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
            return [event] if engine_id != request_id else self._end(key, at, "ok") + [event]
        return self._end(key, at, "aborted") + [event]

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

    def _is_cut(self, text: str) -> bool:
        """Whether --max-log-len is known to have cut the text. Remembers the greatest length where it is not known."""
        size = len(text)
        if self._limit is not None:
            return size == self._limit
        if size > self._longest:
            self._longest, self._of_longest = size, set()
        if size == self._longest and len(self._of_longest) < _LEAST_EQUAL:
            self._of_longest.add(hash(text))
        return False

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
            items.append(self._request_record(key[1], self._early.pop(key)))
        if self._broken is not None:
            self.context.notice("cut_message")
        if len(self._of_longest) >= _LEAST_EQUAL and self._longest >= _LEAST_LENGTH:
            self.context.notice("equal_longest_texts")
        return items


def _rank(prefix: re.Match[bytes] | None) -> int | None:
    process = prefix.group(1) if prefix is not None else None
    found = vllm.RANK.search(process.decode()) if process else None
    return int(found.group(1)) if found else None
