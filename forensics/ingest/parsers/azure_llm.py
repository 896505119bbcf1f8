"""Azure API Management's LLM log, one call over several rows: messages over 32 KB are cut into parts by SequenceNumber.

Rows of one CorrelationId and RequestId are put together, in the order of SequenceNumber, once the file ends; a missing
part makes that side truncated. `TenantId` in it is the Log Analytics workspace, not a tenant: those come from the
gateway log, by CorrelationId.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from forensics.ingest import bodies
from forensics.ingest.decode import CutList, CutObject, decoded
from forensics.ingest.envelope import id_text
from forensics.ingest.envelope_keys import Object
from forensics.ingest.profile import whole_number
from forensics.ingest.record import HELD, FileContext, Item, Place, Record, Reject, Text
from forensics.ingest.timestamps import parse_time

NAME = "azure_llm"
KIND = "log"
TITLE = "Azure API Management LLM log (ApiManagementGatewayLlmLog), rows of one call put together"
VERSIONS = "PascalCase columns of the table; rows of the diagnostic log with `properties`"
SOURCE = "vendor documentation"

_MOST_OPEN = 4_096
_MARKS = frozenset(("CorrelationId", "SequenceNumber"))
_SIDES = ("RequestMessages", "ResponseMessages")


def may(keys: frozenset[str]) -> bool:
    """Whether an object with these keys can be a row."""
    return keys >= _MARKS or ("properties" in keys and "category" in keys)


def accepts(obj: Object) -> bool:
    """Whether one object is a row of the log."""
    if obj.keys() >= _MARKS:
        return any(name in obj for name in (*_SIDES, "ModelName", "PromptTokens"))
    return obj.get("category") == "GatewayLlmLogs" and obj.get("properties") is not None


def accepts_line(line: bytes) -> bool:
    """Rows are objects; no other line is one."""
    return False


def open_log(context: FileContext) -> Reader:
    """A reader of one file."""
    return Reader(context)


@dataclass(slots=True)
class _Call:
    """The rows of one call so far."""

    place: Place | None
    rows: dict[int, Object] = field(default_factory=dict)


class Reader:
    """Holds rows by call until the file ends; of very many open calls the oldest are given out early."""

    def __init__(self, context: FileContext) -> None:
        self._context = context
        self._calls: dict[tuple[str, str], _Call] = {}

    def read_object(self, obj: Object) -> Sequence[Item]:
        """Take one row; what comes back are calls given out early."""
        row = _row(obj, self._context)
        correlation = id_text(row.get("CorrelationId"))
        if correlation is None:
            raise Reject("no_id")
        key = (correlation, id_text(row.get("RequestId")) or "")
        number = whole_number(row.get("SequenceNumber"))
        call = self._calls.get(key)
        if call is None:
            call = self._calls[key] = _Call(self._context.place)
        if number is None or (number in call.rows and call.rows[number] != row):
            # Whatever it is, it is kept; behind the numbered rows, where a gap tells that the order is not known.
            number = max(call.rows) + 2 if call.rows else 0
        call.rows[number] = row
        if len(self._calls) > _MOST_OPEN:
            self._context.notice("call_given_out_early")
            return [self._record(next(iter(self._calls)))]
        return HELD

    def end(self) -> Sequence[Item]:
        """The calls that are still held."""
        return [self._record(key) for key in list(self._calls)]

    def _record(self, key: tuple[str, str]) -> Record:
        call = self._calls.pop(key)
        numbers = sorted(call.rows)
        rows = [call.rows[number] for number in numbers]
        record = Record(key[0], "gateway", place=call.place)
        if key[1] and key[1] != key[0]:
            record.ids["request_id"] = key[1]
        _facts(record, rows, self._context)
        # Numbers begin at 0 or 1 and have no gaps where every row is there.
        whole = numbers[0] in (0, 1) and numbers[-1] - numbers[0] == len(numbers) - 1
        texts: list[Text] = []
        record.prompt_state = _side(rows, _SIDES[0], texts, self._context, whole=whole)
        record.response_state = _side(rows, _SIDES[1], texts, self._context, whole=whole)
        record.texts = texts
        return record


def _row(obj: Object, context: FileContext) -> Object:
    """The columns of a row, from the table or from the diagnostic log with its camelCase properties."""
    if obj.keys() >= _MARKS:
        return obj
    properties = decoded(obj["properties"], ("json*",), context)
    if not isinstance(properties, dict):
        raise Reject("no_id")
    row = {name[:1].upper() + name[1:]: value for name, value in properties.items() if isinstance(name, str)}
    row.setdefault("CorrelationId", obj.get("correlationId"))
    row.setdefault("TimeGenerated", obj.get("time"))
    row.setdefault("OperationName", obj.get("operationName"))
    return row


def _facts(record: Record, rows: Sequence[Object], context: FileContext) -> None:
    def found(name: str) -> Any:
        return next((row[name] for row in rows if row.get(name) not in (None, "")), None)

    record.model = _text(found("ModelName"))
    record.worker = _text(found("DeploymentName"))
    record.endpoint = _text(found("OperationName"))
    record.prompt_tokens = whole_number(found("PromptTokens"))
    record.completion_tokens = whole_number(found("CompletionTokens"))
    stream = found("IsStreamCompletion")
    record.stream = stream if isinstance(stream, bool) else {"true": True, "false": False}.get(str(stream).lower())
    times = [parse_time(row["TimeGenerated"], context) for row in rows if row.get("TimeGenerated")]
    known = [(at, precision) for at, precision in times if at is not None]
    if known:
        record.received_at, record.time_precision = min(known)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _side(rows: Sequence[Object], name: str, texts: list[Text], context: FileContext, *, whole: bool) -> str:
    """Append the texts of one side; what it is worth."""
    pieces = [row[name] for row in rows if row.get(name) not in (None, "")]
    if not pieces:
        return "not_logged"
    if all(isinstance(piece, str) for piece in pieces):
        value = decoded("".join(pieces), ("json*",), context)
    else:
        value = [item for piece in pieces for item in (piece if isinstance(piece, list) else [piece])]
    cut = isinstance(value, CutObject | CutList) or not whole
    before = len(texts)
    prompt = name == _SIDES[0]
    if isinstance(value, str):
        value = {"prompt": value} if prompt else {"choices": [{"message": {"content": value}}]}
    elif isinstance(value, list):
        messages = [item for item in value if isinstance(item, dict | str)]
        value = {"messages": messages} if prompt else {"choices": [_choice(item) for item in messages]}
    if isinstance(value, dict):
        if not prompt and "choices" not in value and "content" in value:
            value = {"choices": [_choice(value)]}
        (bodies.request_texts if prompt else bodies.response_texts)(value, texts)
    if len(texts) == before:
        context.notice("unknown_body")
        return "absent"
    return "truncated" if cut else "full"


def _choice(item: Any) -> Any:
    return item if isinstance(item, dict) and "message" in item else {"message": item}
