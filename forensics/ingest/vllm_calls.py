"""The records of one call of a vLLM log: what was asked, and what was printed of its answers. Reads no lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from forensics.ingest import bodies, vllm
from forensics.ingest.record import Chunk, FileContext, Place, Record, Text

_LEAST_EQUAL = 3  # different texts of one greatest length that betray a limit
_LEAST_LENGTH = 16


@dataclass(slots=True)
class Call:
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
class Early:
    """What was printed of a request before its own line: the prompt (DEBUG) or the whole body."""

    place: Place | None
    worker: str | None
    at: int | None
    precision: str | None
    prompt: str | None = None
    body: dict[str, Any] | None = None
    cut: bool = False


class Cuts:
    """Which texts --max-log-len has cut: known where the log states the limit, else only suspected."""

    def __init__(self) -> None:
        self.limit: int | None = None
        self._longest = 0
        self._of_longest: set[int] = set()

    def cut(self, text: str) -> bool:
        """Whether the limit is known to have cut the text."""
        size = len(text)
        if self.limit is not None:
            return size == self.limit
        if size > self._longest:
            self._longest, self._of_longest = size, set()
        if size == self._longest and len(self._of_longest) < _LEAST_EQUAL:
            self._of_longest.add(hash(text))
        return False

    @property
    def suspected(self) -> bool:
        """Whether several different texts share the greatest length of all."""
        return len(self._of_longest) >= _LEAST_EQUAL and self._longest >= _LEAST_LENGTH


def request_record(request_id: str, early: Early, cuts: Cuts, context: FileContext, part: str = "received") -> Record:
    """The record of a request, from its own line and what was printed before that."""
    worker = early.worker or context.worker or context.source
    record = Record(request_id, "engine", part, worker=worker, received_at=early.at, place=early.place)
    record.time_precision = early.precision if early.at is not None else None
    record.ids = vllm.external_ids(request_id)
    texts: list[Text] = []
    record.texts = texts
    found = False
    cut = early.cut
    if early.prompt is not None:
        found = True
        cut = cut or cuts.cut(early.prompt)
        if early.prompt:
            texts.append(("prompt", "prompt", "prompt", early.prompt))
    body = early.body
    if body is not None:
        if early.prompt is not None:
            body = {name: value for name, value in body.items() if name != "prompt"}
        found = bodies.request_texts(body, texts) or found
        bodies.request_facts(record, body)
    record.prompt_state = "truncated" if cut else "full" if found else "not_logged"
    return record


def answer_record(call: Call, cuts: Cuts, context: FileContext, *, whole: bool, status: str, at: int | None) -> Record:
    """The record of a call's answers; `whole` where its end was seen, `at` where a line of its own says when."""
    record = Record(call.request_id, "engine", "finished", worker=call.worker, place=call.place or context.place)
    record.stream = True if call.stream else None
    record.ids = vllm.external_ids(call.request_id)
    record.finish_reason = "abort" if status == "aborted" else call.reason
    record.status = "aborted" if record.finish_reason == "abort" else status if whole or at is not None else None
    record.finished_at = at if at is not None else call.at if whole or call.reason is not None else None
    record.time_precision = call.precision if record.finished_at is not None else None
    texts: list[Text] = []
    record.texts = texts
    printed = _finals(call, record)
    joined = "".join(text for text, _ in call.deltas)
    several = call.doubtful or len(printed) > 1 or (call.n or 1) > 1
    for choice, text in enumerate(printed):
        vllm.answer(text, choice, texts)
    if call.deltas:
        record.first_token_at = call.deltas[0][1]
    if joined and several:
        context.notice("deltas_of_several_answers")
        if not printed:
            # Nothing says which answer a delta belongs to: the text stands as it was printed.
            texts.append(("response", "choices[0].content", "response", joined))
    elif joined:
        _streamed(call, record, texts, printed[0] if printed else None, joined)
    record.response_state = _state(call, printed, several, status, whole, cuts)
    if len(printed) not in (0, call.n or len(printed)):
        context.notice("missing_choice")
    return record


def _finals(call: Call, record: Record) -> list[str]:
    """The answers printed whole. A marker stands for one whose text the engine did not keep."""
    printed: list[str] = []
    for text in call.finals:
        marker = vllm.MARKER.fullmatch(text)
        if marker:
            record.completion_tokens = (record.completion_tokens or 0) + int(marker.group(1))
        else:
            printed.append(text)
    return printed


def _streamed(call: Call, record: Record, texts: list[Text], printed: str | None, joined: str) -> None:
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


def _state(call: Call, printed: list[str], several: bool, status: str, whole: bool, cuts: Cuts) -> str:
    if not printed and not call.deltas:
        return "full" if call.finals and not any(map(vllm.MARKER.fullmatch, call.finals)) else "not_logged"
    cut = [cuts.cut(text) for text in (*printed, *(text for text, _ in call.deltas))]
    if any(cut):
        return "truncated"
    if printed:
        return "full"
    # Deltas alone: whole only where the first and the last are known to be there.
    ended = call.received and (call.reason is not None or bool(call.finals))
    return "full" if ended and whole and not several and status == "ok" else "partial_stream"
