"""SGLang's metrics export (`--export-metrics-to-file`): a request's parameters and its facts, never its answer.

With request logging off nothing of the parameters is left out, so that the prompt may stand here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Sequence

from forensics.ingest.envelope_keys import Object
from forensics.ingest.record import FileContext, Item
from forensics.ingest.sglang import record_of_export

NAME = "sglang_metrics"
KIND = "object"
TITLE = "SGLang request metrics export"
VERSIONS = "0.5.6 to 0.5.23"
SOURCE = "the project's source; files of a running engine"


def may(keys: frozenset[str]) -> bool:
    """Whether an object with these keys can be a record."""
    return "request_parameters" in keys


def accepts(obj: Object) -> bool:
    """Whether an object is a request's metrics."""
    return isinstance(obj.get("request_parameters"), str) and ("id" in obj or "finish_reason" in obj)


def parse(obj: Object, context: FileContext) -> Sequence[Item]:
    """The record of one request."""
    return record_of_export(obj, context)
