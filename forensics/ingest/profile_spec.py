"""What may a profile say? Its TOML as frozen parts, or an error that names the file, the key and the remedy.

Knows the language only; `profile` applies it. The language is explained in docs/how-to-add.md.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from zoneinfo import ZoneInfo

from forensics.case.errors import UsageError
from forensics.ingest.decode import STEPS
from forensics.ingest.pointers import Pointer, PointerError, compiled
from forensics.ingest.profile_parts import (
    FIELDS,
    FORMS,
    PARTS,
    REQUEST_KEYS,
    RESPONSE_KEYS,
    TIMES,
    UNITS,
    Condition,
    DurationRule,
    EventRule,
    Lookup,
    Spec,
    StateRule,
    TextRule,
    TimeRule,
    Variant,
)
from forensics.ingest.record import STATES, VANTAGES

_NAME = re.compile(r"[a-z][a-z0-9_]{1,40}")
_VARIED = ("part", "vantage", "map", "constants", "ids", "time", "duration", "request", "response")
_TOP = (
    *("profile", "detect", "unwrap", "decode", "rename", "extract", "filter", "expand", "headers", "join"),
    *("lookup", "body_state", "event", "text"),
)


class ProfileError(UsageError):
    """A profile says something that cannot be understood; the message names the place and what to do."""


def read_spec(toml: str, name: str) -> Spec:
    """The profile in `toml`; `name` is how messages call its file. Raises ProfileError."""
    try:
        data = tomllib.loads(toml)
    except tomllib.TOMLDecodeError as error:
        raise ProfileError(f"{name} is not TOML: {error}") from None
    return _Reader(name).spec(data)


class _Reader:
    """Reads one profile. `where` is the place in the file, for messages."""

    def __init__(self, name: str) -> None:
        self.name = name

    def fail(self, where: str, problem: str) -> ProfileError:
        return ProfileError(f"{self.name}: {where}: {problem}")

    def keys(self, table: Any, where: str, allowed: Iterable[str], needed: Iterable[str] = ()) -> dict[str, Any]:
        if not isinstance(table, dict):
            raise self.fail(where, "must be a table")
        allowed = tuple(allowed)
        for key in table:
            if key not in allowed:
                raise self.fail(f"{where}.{key}", f"unknown key; known are {', '.join(allowed)}")
        for key in needed:
            if key not in table:
                raise self.fail(where, f"`{key}` is missing")
        return table

    def text(self, table: Mapping[str, Any], key: str, where: str, default: str = "") -> str:
        value = table.get(key, default)
        if not isinstance(value, str):
            raise self.fail(f"{where}.{key}", "must be a text")
        return value

    def one_of(self, value: Any, where: str, allowed: Iterable[str]) -> str:
        allowed = tuple(allowed)
        if value not in allowed:
            raise self.fail(where, f"must be one of {', '.join(allowed)}")
        return str(value)

    def texts(self, value: Any, where: str) -> tuple[str, ...]:
        listed = value if isinstance(value, list) else [value]
        if not all(isinstance(item, str) for item in listed):
            raise self.fail(where, "must be a text or a list of texts")
        return tuple(listed)

    def pointers(self, value: Any, where: str) -> tuple[Pointer, ...]:
        found = []
        for item in self.texts(value, where):
            try:
                found.append(compiled(item))
            except PointerError as error:
                raise self.fail(where, str(error)) from None
        return tuple(found)

    def pointer_table(self, value: Any, where: str, allowed: Iterable[str] | None = None) -> dict[str, Any]:
        table = self.keys(value, where, value if allowed is None and isinstance(value, dict) else allowed or ())
        return {key: self.pointers(item, f"{where}.{key}") for key, item in table.items()}

    def regex(self, value: Any, where: str) -> re.Pattern[str]:
        try:
            return re.compile(value)
        except (re.error, TypeError) as error:
            raise self.fail(where, f"is no regular expression: {error}") from None

    def condition(self, value: Any, where: str) -> Condition:
        table = self.keys(value, where, ("keys", "any", "none", "filled", "equal", "matches"))
        equal = []
        for text, wanted in self.keys(table.get("equal", {}), f"{where}.equal", table.get("equal", {})).items():
            values = wanted if isinstance(wanted, list) else [wanted]
            if not all(isinstance(item, str | int | bool) for item in values):
                raise self.fail(f"{where}.equal", "values must be texts, whole numbers or true and false")
            wanted_texts = frozenset(str(v).lower() if isinstance(v, bool) else str(v) for v in values)
            equal.append((self.pointers(text, f"{where}.equal")[0], wanted_texts))
        matches = [
            (self.pointers(text, f"{where}.matches")[0], self.regex(regex, f"{where}.matches.{text}"))
            for text, regex in self.keys(table.get("matches", {}), where, table.get("matches", {})).items()
        ]
        made = Condition(
            self.pointers(table.get("keys", []), f"{where}.keys"),
            self.pointers(table.get("any", []), f"{where}.any"),
            self.pointers(table.get("none", []), f"{where}.none"),
            self.pointers(table.get("filled", []), f"{where}.filled"),
            tuple(equal),
            tuple(matches),
        )
        if made == Condition():
            raise self.fail(where, "says nothing; give keys, any, none, filled, equal or matches")
        return made

    def optional(self, table: Mapping[str, Any], key: str, where: str) -> Condition | None:
        return self.condition(table[key], f"{where}.{key}") if key in table else None

    def list_of(self, value: Any, where: str, make: Callable[[Any, str], Any]) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise self.fail(where, f"must be written [[{where}]]")
        return tuple(make(item, f"{where}[{number}]") for number, item in enumerate(value))

    def spec(self, data: dict[str, Any]) -> Spec:
        self.keys(data, "profile file", (*_TOP, *(k for k in _VARIED if k not in ("part", "vantage")), "variant"))
        head = self.keys(
            data.get("profile", {}),
            "profile",
            ("name", "title", "versions", "source", "vantage", "part", "made_id", "empty"),
            ("name", "vantage"),
        )
        name = self.text(head, "name", "profile")
        if not _NAME.fullmatch(name):
            raise self.fail("profile.name", "must be lower-case letters, digits and _, and begin with a letter")
        made_id = head.get("made_id", False)
        if not isinstance(made_id, bool):
            raise self.fail("profile.made_id", "must be true or false")
        text = self.text_rule(data["text"]) if "text" in data else None
        if text is None and "detect" not in data:
            raise self.fail("detect", "is missing; say which keys a record must have, or give [text] for line logs")
        base = {key: data[key] for key in _VARIED if key in data}
        base |= {key: head[key] for key in ("vantage", "part") if key in head}
        variants = [self.variant(base, item, where) for item, where in self._variants(data)]
        variants.append(self.mapping(base, None, "profile file"))
        return Spec(
            name,
            self.text(head, "title", "profile", "a profile of the user's"),
            self.text(head, "versions", "profile", "not stated"),
            self.text(head, "source", "profile", "the user"),
            made_id,
            frozenset(self.texts(head.get("empty", []), "profile.empty")),
            self.detect(data["detect"]) if "detect" in data else (),
            self.pointers(data.get("unwrap", []), "unwrap"),
            tuple(self.decode(data.get("decode", {}))),
            tuple(self.rename(data.get("rename", {}))),
            tuple(self.extract(data.get("extract", {}))),
            self.optional(data, "filter", "profile file"),
            self.pointers(data.get("expand", []), "expand"),
            self.pointers(data.get("headers", []), "headers"),
            self.joins(data),
            self.list_of(data.get("lookup", []), "lookup", self.lookup),
            self.list_of(data.get("body_state", []), "body_state", self.state),
            self.list_of(data.get("event", []), "event", self.event),
            text,
            tuple(variants),
        )

    def _variants(self, data: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
        listed = data.get("variant", [])
        if not isinstance(listed, list):
            raise self.fail("variant", "must be written [[variant]]")
        return [(item, f"variant[{number}]") for number, item in enumerate(listed)]

    def joins(self, data: dict[str, Any]) -> frozenset[str]:
        kinds = frozenset(self.texts(data.get("join", []), "join"))
        named = set(data.get("ids", {}))
        for item, _ in self._variants(data):
            named |= set(item.get("ids", {}))
        for kind in sorted(kinds - named):
            raise self.fail("join", f"`{kind}` is not among the [ids]; name kinds of ids that stand for one call each")
        return kinds

    def zone(self, time: Mapping[str, Any], where: str) -> ZoneInfo | None:
        if "zone" not in time:
            return None
        try:
            return ZoneInfo(time["zone"])
        except (KeyError, ValueError, OSError, TypeError):
            raise self.fail(f"{where}.zone", "must be a zone of the tz database, for example Europe/Berlin") from None

    def decode(self, value: Any) -> Iterable[tuple[Pointer, tuple[str, ...]]]:
        for text, chain in self.keys(value, "decode", value if isinstance(value, dict) else ()).items():
            steps = self.texts(chain, f"decode.{text}")
            for step in steps:
                self.one_of(step, f"decode.{text}", STEPS)
            pointer = self.pointers(text, "decode")[0]
            if pointer.base not in ("/", "^"):
                raise self.fail("decode", "only pointers into the record can be decoded")
            yield pointer, steps

    def rename(self, value: Any) -> Iterable[tuple[Pointer, str]]:
        for text, name in self.keys(value, "rename", value if isinstance(value, dict) else ()).items():
            pointer = self.pointers(text, "rename")[0]
            if pointer.base != "/" or not pointer.path or not isinstance(pointer.path[-1], str):
                raise self.fail(f"rename.{text}", "must be a pointer into the record that ends with a key")
            if not isinstance(name, str) or not name:
                raise self.fail(f"rename.{text}", "must be a text: the key's other name")
            yield pointer, name

    def detect(self, value: Any) -> tuple[Condition, ...]:
        if isinstance(value, list):
            return self.list_of(value, "detect", self.condition)
        return (self.condition(value, "detect"),)

    def extract(self, value: Any) -> Iterable[tuple[Pointer, re.Pattern[str]]]:
        for text, expression in self.keys(value, "extract", value if isinstance(value, dict) else ()).items():
            pattern = self.regex(expression, f"extract.{text}")
            if not pattern.groupindex:
                raise self.fail(f"extract.{text}", "needs named groups; `/a` and the group `b` make `/a#/b`")
            pointer = self.pointers(text, "extract")[0]
            if not pointer.plain:
                raise self.fail(f"extract.{text}", "must be a pointer of keys only")
            yield pointer, pattern

    def variant(self, base: dict[str, Any], item: Any, where: str) -> Variant:
        own = self.keys(item, where, ("when", *_VARIED), ("when",))
        merged = dict(base)
        for key in _VARIED:
            if key in own:
                both = isinstance(own[key], dict) and isinstance(base.get(key), dict)
                merged[key] = {**base[key], **own[key]} if both else own[key]
        return self.mapping(merged, self.condition(own["when"], f"{where}.when"), where)

    def mapping(self, data: dict[str, Any], when: Condition | None, where: str) -> Variant:
        prefix = "" if where == "profile file" else f"{where}."
        constants = self.keys(data.get("constants", {}), f"{prefix}constants", FIELDS)
        for key, value in constants.items():
            if not isinstance(value, str | int | bool):
                raise self.fail(f"{prefix}constants.{key}", "must be a text, a whole number, true or false")
        times = self.keys(data.get("time", {}), f"{prefix}time", ("zone", *TIMES))
        return Variant(
            when,
            self.one_of(data.get("vantage"), f"{prefix}profile.vantage", VANTAGES),
            self.one_of(data.get("part", "whole"), f"{prefix}profile.part", PARTS),
            self.pointer_table(data.get("map", {}), f"{prefix}map", FIELDS),
            constants,
            self.pointer_table(data.get("ids", {}), f"{prefix}ids"),
            {key: self.time(times[key], f"{prefix}time.{key}") for key in TIMES if key in times},
            self.list_of(data.get("duration", []), f"{prefix}duration", self.duration),
            self.pointer_table(data.get("request", {}), f"{prefix}request", REQUEST_KEYS),
            self.pointer_table(data.get("response", {}), f"{prefix}response", RESPONSE_KEYS),
            self.zone(times, f"{prefix}time"),
        )

    def time(self, value: Any, where: str) -> TimeRule:
        if not isinstance(value, dict):
            return TimeRule(self.pointers(value, where))
        table = self.keys(value, where, ("from", "form", "pattern"), ("from",))
        form = self.one_of(table.get("form", "auto"), f"{where}.form", FORMS)
        pattern = self.text(table, "pattern", where)
        if (form == "strptime") != bool(pattern):
            raise self.fail(where, "`pattern` goes with form strptime, and with it alone")
        if pattern and not any(year in pattern for year in ("%Y", "%y", "%c", "%x", "%G")):
            raise self.fail(f"{where}.pattern", "has no year (%Y); a time without a year cannot be read")
        return TimeRule(self.pointers(table["from"], f"{where}.from"), form, pattern)

    def duration(self, value: Any, where: str) -> DurationRule:
        table = self.keys(value, where, ("from", "unit", "between"), ("from", "unit", "between"))
        unit = self.one_of(table["unit"], f"{where}.unit", (*UNITS, "text"))
        between = self.texts(table["between"], f"{where}.between")
        if len(between) != 2 or not set(between) <= set(TIMES) or TIMES.index(between[0]) >= TIMES.index(between[1]):
            raise self.fail(f"{where}.between", f"must be two of {', '.join(TIMES)}, the earlier first")
        return DurationRule(self.pointers(table["from"], f"{where}.from"), unit, between[0], between[1])

    def lookup(self, value: Any, where: str) -> Lookup:
        table = self.keys(value, where, ("field", "from", "table"), ("field", "table"))
        rows = table["table"]
        if not isinstance(rows, dict) or not all(isinstance(item, str) for item in rows.values()):
            raise self.fail(f"{where}.table", "must be a table of texts")
        known = self.one_of(table["field"], f"{where}.field", FIELDS)
        return Lookup(known, self.pointers(table.get("from", []), f"{where}.from"), rows)

    def state(self, value: Any, where: str) -> StateRule:
        allowed = ("side", "state", "when", "texts_equal", "texts_contain", "only_without_texts")
        table = self.keys(value, where, allowed, ("side", "state"))
        side = self.one_of(table["side"], f"{where}.side", ("prompt", "response", "both"))
        state = self.one_of(table["state"], f"{where}.state", STATES)
        when = self.optional(table, "when", where)
        equal = frozenset(self.texts(table.get("texts_equal", []), f"{where}.texts_equal"))
        contain = self.texts(table.get("texts_contain", []), f"{where}.texts_contain")
        if when is None and not equal and not contain and not table.get("only_without_texts"):
            raise self.fail(where, "give when, texts_equal, texts_contain or only_without_texts = true")
        only = table.get("only_without_texts", state in ("offloaded", "not_logged", "absent"))
        sides = ("prompt", "response") if side == "both" else (side,)
        return StateRule(sides, state, when, equal, contain, bool(only))

    def event(self, value: Any, where: str) -> EventRule:
        fields = ("worker", "request_id", "slot", "batch", "iteration")
        table = self.keys(value, where, ("kind", "when", "at", *fields, "counts", "attributes"), ("kind",))
        if not _NAME.fullmatch(self.text(table, "kind", where)):
            raise self.fail(f"{where}.kind", "must be lower-case letters, digits and _")
        return EventRule(
            table["kind"],
            self.optional(table, "when", where),
            self.one_of(table.get("at", "finished"), f"{where}.at", TIMES),
            {key: self.pointers(table[key], f"{where}.{key}") for key in fields if key in table},
            self.pointer_table(table.get("counts", {}), f"{where}.counts"),
            self.pointer_table(table.get("attributes", {}), f"{where}.attributes"),
        )

    def text_rule(self, value: Any) -> TextRule:
        table = self.keys(value, "text", ("regex", "structure", "longest_line", "examples"), ("regex", "examples"))
        patterns = tuple(self.regex(item, "text.regex") for item in self.texts(table["regex"], "text.regex"))
        for pattern in patterns:
            if not pattern.groupindex:
                raise self.fail("text.regex", "needs named groups: (?P<time>...), which are then /time and so on")
        structure = table.get("structure", [])
        longest = table.get("longest_line", 65_536)
        if not isinstance(longest, int) or not 1 <= longest <= 16 << 20:
            raise self.fail("text.longest_line", "must be a number of bytes up to 16777216")
        examples = self.texts(table["examples"], "text.examples")
        for number, example in enumerate(examples):
            if not any(pattern.match(example) for pattern in patterns):
                raise self.fail(f"text.examples[{number}]", "no regex matches this line")
        if not examples:
            raise self.fail("text.examples", "needs a line that the regex matches")
        known = tuple(self.regex(item, "text.structure") for item in self.texts(structure, "text.structure"))
        return TextRule(patterns, known, longest, examples)
