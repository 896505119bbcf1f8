"""Lines of batch files: OpenAI's input, output and error files, those of vLLM's batch runner, and Anthropic's results.

`custom_id` names a call only inside one batch, so it stands in the ids and never names the record. An input line has no
id of the service: it is named by its digest. Input and output of one item are put together where only one batch can be
meant (queries/ingest/batch_items.sql). Batch files lie at the caller's.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from forensics.ingest.envelope import id_text, parse_envelope
from forensics.ingest.record import FileContext, Item

Object = dict[str, Any]
NAME = "batch"
KIND = "object"
TITLE = "Batch input, output and error files"
VERSIONS = "OpenAI Batch API, vLLM run_batch 0.6 to 0.33, Anthropic Message Batches"
SOURCE = "vLLM's source; the published schemas; public fixtures"
_OUTPUT = frozenset(("id", "custom_id", "response", "error"))


def may(keys: frozenset[str]) -> bool:
    """Whether an object with these keys can be a line of a batch."""
    if "custom_id" not in keys:
        return False
    return {"url", "body"} <= keys or "params" in keys or "result" in keys or ("response" in keys and keys <= _OUTPUT)


def accepts(obj: Object) -> bool:
    """Whether one object is a line of a batch file."""
    if not may(frozenset(obj)):
        return False
    for name in ("body", "params", "result"):
        if name in obj:
            return isinstance(obj[name], dict)
    response = obj["response"]
    return response is None or (
        isinstance(response, dict) and ("status_code" in response or "body" in response or "request_id" in response)
    )


def parse(obj: Object, context: FileContext) -> Sequence[Item]:
    """The record of one line."""
    made: Object = {"custom_id": obj["custom_id"]}
    response = obj.get("response")
    result = obj.get("result")
    status: str | None = None
    if isinstance(result, dict):
        status = _text(result.get("type"))
        if isinstance(result.get("message"), dict):
            made["response_body"] = result["message"]
        elif isinstance(result.get("error"), dict):
            made["error"] = result["error"]
            inner = result["error"].get("request_id")
            made["request_id"] = inner
    elif isinstance(response, dict):
        made["request_id"] = response.get("request_id")
        made["status"] = response.get("status_code")
        body = response.get("body")
        made["response_body"] = body if isinstance(body, dict) else {}
    elif obj.get("error"):
        made["error"] = obj["error"]
    asked = obj.get("body", obj.get("params"))
    if isinstance(asked, dict):
        made["request_body"] = asked
        if isinstance(obj.get("url"), str):
            made["url"] = obj["url"]
    record = parse_envelope(made, context, default_vantage="client", made_id=True)[0]
    if (own := id_text(obj.get("id"))) is not None and own != record.request_id:
        record.ids["batch_request_id"] = own
    if status is not None:
        record.status = status
    if record.status is None and obj.get("error"):
        record.status = "error"
    return (record,)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
