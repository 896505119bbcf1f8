"""A house format that a TOML file describes, as a parser beside those of `parsers`. Reads no files, knows no format.

The language is `profile_spec`'s. As every parser it states only what the record says: no mapped tenant, no tenant.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from forensics.ingest import bodies
from forensics.ingest.decode import decoded
from forensics.ingest.envelope import add_headers, id_text, key_digest
from forensics.ingest.envelope_keys import ID_HEADERS, TENANT_HEADERS, TENANT_HEADERS_LAST, USER_KEYS, Object
from forensics.ingest.pointers import Pointer, View, as_text, slots
from forensics.ingest.profile_bodies import Side, request_side, response_side
from forensics.ingest.profile_parts import Condition, EventRule, Spec, Variant
from forensics.ingest.profile_times import fill_times
from forensics.ingest.record import STRUCTURE, EngineEvent, FileContext, Item, Record, Reject
from forensics.ingest.settings import sampling_of

_NUMBER = re.compile(r"\d{1,15}(?:\.0+)?")
_TRUE = frozenset(("true", "1", "yes"))
_FALSE = frozenset(("false", "0", "no"))
_BLANK = re.compile(r"\s*+")
_MOST_MATCHED = 4096
_AS_TEXT = frozenset(("request_id", "tenant_id", "user_id", "model", "worker", "status", "finish_reason"))
_MOST_LISTED = 64
_KEEPS_TEXTS = frozenset(("full", "truncated", "partial_stream"))


class Profile:
    """One profile as a parser of objects, or of lines where it has a `[text]`."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.NAME = spec.name
        self.KIND = "line" if spec.text else "object"
        self.TITLE = spec.title
        self.VERSIONS = spec.versions
        self.SOURCE = spec.source
        self._marks = [_marks(condition) for condition in spec.detect]
        self._marks += [frozenset((str(pointer.path[0]),)) for pointer in spec.unwrap if pointer.path]

    def may(self, keys: frozenset[str]) -> bool:
        """Whether an object with these keys can be a record."""
        return any(marks <= keys for marks in self._marks)

    def accepts(self, obj: Object) -> bool:
        """Whether the profile's `detect` takes the object."""
        return self._detected(self._unwrapped(obj))

    def _detected(self, obj: Object) -> bool:
        view = View(obj, obj, _NO_FILE)
        return not self.spec.detect or any(met(condition, view) for condition in self.spec.detect)

    def _unwrapped(self, obj: Object) -> Object:
        if self.spec.unwrap:
            inner = first(self.spec.unwrap, View(obj, obj, _NO_FILE))
            if isinstance(inner, dict):
                return inner
        return obj

    def accepts_line(self, line: bytes) -> bool:
        """Whether one of the profile's expressions takes the line."""
        return self._parts(line) is not None

    def is_structure(self, line: bytes) -> bool:
        """Whether the profile knows the line as one that is no record."""
        rule = self.spec.text
        if rule is None or not rule.structure or len(line) > rule.longest:
            return False
        text = line.decode("utf-8", "replace")
        return any(pattern.match(text) for pattern in rule.structure)

    def parse_line(self, line: bytes, context: FileContext) -> Sequence[Item]:
        """The items of one line."""
        found = self._parts(line)
        if found is None:
            raise Reject("unrecognised_line")
        parts, rest = found
        if rest:
            context.notice("unmatched_rest")
        return self.parse(parts, context)

    def _parts(self, line: bytes) -> tuple[Object, bool] | None:
        """The named groups of a line, and whether text stands behind what the expression took."""
        rule = self.spec.text
        if rule is None or len(line) > rule.longest:
            return None
        try:
            text = line.decode("utf-8")
        except UnicodeDecodeError:
            return None
        for pattern in rule.patterns:
            match = pattern.match(text)
            if match is not None:
                parts: Object = match.groupdict()
                return (parts, not _BLANK.fullmatch(text, match.end())) if self._detected(parts) else None
        return None

    def parse(self, obj: Object, context: FileContext) -> Sequence[Item]:
        """The items of one object; none where the profile's filter leaves it out. Decodes inside `obj`."""
        spec = self.spec
        obj = self._unwrapped(obj)
        for pointer, chain in spec.decode:
            for holder, key in list(slots(obj, pointer.path)):
                holder[key] = decoded(holder[key], chain, context)
        for pointer, name in spec.rename:
            for holder, key in list(slots(obj, pointer.path)):
                if isinstance(holder, dict) and name not in holder:
                    holder[name] = holder.pop(key)
        for pointer, pattern in spec.extract:
            for holder, key in list(slots(obj, pointer.path)):
                found = pattern.match(holder[key][:_MOST_MATCHED]) if isinstance(holder[key], str) else None
                if found is not None and isinstance(holder, dict):
                    holder[f"{key}#"] = found.groupdict()
        if not spec.expand:
            return self._one(obj, obj, context)
        whole = View(obj, obj, context)
        items: list[Item] = []
        refused: Reject | None = None
        values = [value for pointer in spec.expand for value in pointer.all(whole)]
        for number, value in enumerate(values):
            try:
                items += self._one(value, obj, context, number)
            except Reject as reject:
                refused = reject
                context.notice("unreadable_entry")
        if refused is not None and not items:
            raise refused
        return items

    def _one(self, value: Any, outer: Object, context: FileContext, number: int = 0) -> Sequence[Item]:
        spec = self.spec
        view = View(value, outer, context, empty=spec.empty)
        for pointer in spec.headers:
            for found in pointer.all(view):
                add_headers(found, view.headers)
        if spec.filter is not None and not met(spec.filter, view):
            return STRUCTURE
        mapping = next(m for m in spec.variants if m.when is None or met(m.when, view))
        record = Record(None, mapping.vantage, mapping.part)
        request = request_side(mapping.request, view)
        response = response_side(mapping.response, view)
        self._fields(record, mapping, view)
        self._people(record, view, request.body)
        _ids(record, mapping, spec, view, response.body)
        fill_times(record, mapping, view)
        _facts(record, request.body, response.body)
        texts = []
        for side, name in ((request, "prompt"), (response, "response")):
            state = self._state(side, name, view)
            setattr(record, f"{name}_state", state)
            texts += side.texts if state in _KEEPS_TEXTS or state == "redacted" else []
        record.texts = texts
        _stream_end(record, response)
        if record.request_id is None:
            if not spec.made_id or context.place is None:
                raise Reject("no_id")
            record.request_id = f"sha256:{context.place.digest[:16]}"
            context.notice("made_id")
            if number:
                # Several records of one line must not share the id that is made from it.
                record.request_id += f":{number}"
        return [record, *(_event(rule, record, view) for rule in spec.events if _when(rule.when, view))]

    def _fields(self, record: Record, mapping: Variant, view: View) -> None:
        values: dict[str, Any] = dict(mapping.constants)
        for name, pointers in mapping.fields.items():
            found = first(pointers, view)
            if found is not None:
                values[name] = found
        for rule in self.spec.lookups:
            key = as_text(first(rule.sources, view) if rule.sources else values.get(rule.field))
            if key is not None and key in rule.table:
                values[rule.field] = rule.table[key]
        for name, value in values.items():
            _set(record, name, value)

    def _people(self, record: Record, view: View, request: Object | None) -> None:
        headers = view.headers
        if headers:
            for name in (*TENANT_HEADERS, *TENANT_HEADERS_LAST):
                if name in headers:
                    record.ids[name] = headers[name]
            secret = headers.get("x-api-key") or headers.get("authorization")
            if secret and "api_key" not in record.ids:
                record.ids["api_key"] = key_digest(secret)
        if request is not None:
            if record.user_id is None:
                record.user_id = next((v for key in USER_KEYS if isinstance(v := request.get(key), str) and v), None)
            record.sampling = sampling_of(request)
            salt = request.get("cache_salt")
            if isinstance(salt, str) and salt:
                record.ids["cache_salt"] = salt

    def _state(self, side: Side, name: str, view: View) -> str:
        """The state of a body; texts that stand in place of a body are taken out of `side`."""
        for rule in self.spec.states:
            if name not in rule.sides or (rule.only_without_texts and side.texts):
                continue
            if rule.when is not None and not met(rule.when, view):
                continue
            if rule.texts_equal or rule.texts_contain:
                if not any(_marked(text[3], rule.texts_equal, rule.texts_contain) for text in side.texts):
                    continue
                side.texts[:] = [text for text in side.texts if text[3] not in rule.texts_equal]
            return rule.state
        return side.state


def _marks(condition: Condition) -> frozenset[str]:
    """The keys that every record of a condition has at its top."""
    pointers = [
        *condition.keys,
        *condition.filled,
        *(p for p, _ in condition.equal),
        *(p for p, _ in condition.matches),
    ]
    firsts = [pointer.path[0] for pointer in pointers if pointer.base == "/" and pointer.path]
    return frozenset(first for first in firsts if isinstance(first, str))


def met(condition: Condition, view: View) -> bool:
    """Whether a record meets all of a condition."""
    return (
        all(pointer.there(view) for pointer in condition.keys)
        and (not condition.any_of or any(pointer.there(view) for pointer in condition.any_of))
        and not any(pointer.there(view) for pointer in condition.none_of)
        and all(pointer.first(view) is not None for pointer in condition.filled)
        and all(any(as_text(value) in wanted for value in p.all(view)) for p, wanted in condition.equal)
        and all(any(_matches(regex, value) for value in p.all(view)) for p, regex in condition.matches)
    )


def first(pointers: Sequence[Pointer], view: View) -> Any:
    """What the first pointer that leads to something leads to."""
    for pointer in pointers:
        value = pointer.first(view)
        if value is not None:
            return value
    return None


def _when(condition: Condition | None, view: View) -> bool:
    return condition is None or met(condition, view)


def _matches(regex: re.Pattern[str], value: Any) -> bool:
    text = as_text(value)
    return text is not None and regex.match(text[:_MOST_MATCHED]) is not None


def _marked(text: str, equal: frozenset[str], contain: Sequence[str]) -> bool:
    return text in equal or any(mark in text for mark in contain)


def _set(record: Record, name: str, value: Any) -> None:
    """Put one mapped value into its field, in the field's type; what does not fit is left out."""
    if isinstance(value, str) and name in _AS_TEXT:
        setattr(record, name, value)
        return
    if name == "stream":
        text = (as_text(value) or "").lower()
        record.stream = True if text in _TRUE else False if text in _FALSE else None
    elif name in ("prompt_tokens", "completion_tokens", "cached_tokens", "dp_rank"):
        setattr(record, name, whole_number(value))
    elif name == "api_key":
        key = id_text(value)
        if key is not None:
            record.ids["api_key"] = key_digest(key)
    elif name == "error":
        # `false` and 0 say that there was none.
        if (as_text(value) or "").lower() not in _FALSE:
            record.status = record.status or "error"
    elif name == "finish_reason" and isinstance(value, list):
        record.finish_reason = ",".join(dict.fromkeys(v for v in value if isinstance(v, str) and v)) or None
    elif name == "status":
        record.status = _scalar(value) or record.status
    else:
        found = _scalar(value) if name in ("model", "endpoint", "finish_reason") else id_text(value)
        if found is not None:
            # What follows a path may hold keys.
            setattr(record, name, found.partition("?")[0] if name == "endpoint" else found)


def _scalar(value: Any) -> str | None:
    """A scalar that is no id: a float that is whole loses its point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return as_text(value)


def whole_number(value: Any) -> int | None:
    """A count, given as a number or as digits; None where it is none."""
    if isinstance(value, bool):
        return None
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value.strip()):
            return None
        value = float(value)
    if isinstance(value, int | float) and 0 <= value < 1 << 40 and value == int(value):
        return int(value)
    return None


def _ids(record: Record, mapping: Variant, spec: Spec, view: View, response: Object | None) -> None:
    for kind, pointers in mapping.ids.items():
        value = id_text(first(pointers, view))
        # Of a call that its answer names the join must know that.
        if value is not None and (value != record.request_id or kind == "response_id"):
            record.ids[f"joins.{kind}" if kind in spec.join else kind] = value
    for name in ID_HEADERS:
        if name in view.headers:
            value = view.headers[name]
            if record.request_id is None:
                record.request_id = value
            elif value != record.request_id:
                record.ids.setdefault(name, value)
    own = response.get("id") if response is not None else None
    if isinstance(own, str) and own:
        if record.request_id is None:
            record.request_id = record.ids["response_id"] = own
        elif own != record.request_id:
            record.ids.setdefault("response_id", own)


def _facts(record: Record, request: Object | None, response: Object | None) -> None:
    if response is not None:
        cached = record.cached_tokens
        bodies.response_facts(record, response)
        record.cached_tokens = cached if cached is not None else record.cached_tokens
    if request is not None:
        if record.model is None and isinstance(request.get("model"), str):
            record.model = request["model"] or None
        if record.stream is None and isinstance(request.get("stream"), bool):
            record.stream = request["stream"]
    if response is not None:
        if record.stream is None and response.get("stream") is True:
            record.stream = True
        if record.status is None and response.get("error"):
            record.status = "error"


def _stream_end(record: Record, response: Side) -> None:
    """A stream that did not come to its end, or whose choices have no finish reason, broke off."""
    body = response.body
    if not record.stream or record.response_state != "full" or body is None:
        return
    choices = body.get("choices")
    open_end = isinstance(choices, list) and bool(choices) and all(map(_has_end, choices))
    if body.get("complete") is False or (open_end and record.finish_reason is None):
        record.response_state = "partial_stream"


def _has_end(choice: Any) -> bool:
    """Whether a choice has the place for why it ended; not every body does."""
    return isinstance(choice, dict) and "finish_reason" in choice


def _event(rule: EventRule, record: Record, view: View) -> EngineEvent:
    def text(name: str) -> str | None:
        return id_text(first(rule.fields[name], view)) if name in rule.fields else None

    event = EngineEvent(rule.kind, getattr(record, f"{rule.at}_at"))
    event.worker = text("worker") or record.worker
    event.request_id = text("request_id") or record.request_id
    event.slot, event.batch = text("slot"), text("batch")
    if "iteration" in rule.fields:
        event.iteration = whole_number(first(rule.fields["iteration"], view))
    for name, pointers in rule.counts.items():
        value = first(pointers, view)
        if isinstance(value, int | float) and not isinstance(value, bool):
            event.counts[name] = float(value) if isinstance(value, float) else value
        elif (number := whole_number(value)) is not None:
            event.counts[name] = number
    for name, pointers in rule.attributes.items():
        attribute = _attribute(first(pointers, view), view.context)
        if attribute is not None:
            event.attributes[name] = attribute
    return event


def _attribute(value: Any, context: FileContext) -> str | int | float | bool | None:
    """A short value of an event; of a list the first entries, parted by commas."""
    if isinstance(value, list):
        if len(value) > _MOST_LISTED:
            context.notice("cut_list")
        value = ",".join(as_text(item) or "" for item in value[:_MOST_LISTED])
    if isinstance(value, str):
        return value[:2000] or None
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 64:
        return str(value)
    return value if isinstance(value, bool | int | float) else None


_NO_FILE = FileContext("", None)
