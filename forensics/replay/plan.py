"""What is a replay plan? Its parts, and how it is written and read. Makes no plan, runs none.

    CASE/replay/<plan_id>/plan.json                  reviewable: sorted keys, indented, no text
    CASE/replay/<plan_id>/texts.jsonl                {"text_id", "text"}: surrogates
    CASE/restricted/replay/<plan_id>/texts.jsonl     the same with the customers' own texts (--original)

`plan_id` is a digest of everything else in the plan, the digest of its texts included, so that a plan which was changed
after it was made is noticed. All times are milliseconds.
"""

from __future__ import annotations

import hashlib
import re
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar

import orjson

from forensics.case.errors import HashMismatch, MissingInput, UsageError
from forensics.case.store import Case

SCHEMA = "forensics/replay-plan/1"
ALONE, CONTROL, ORIGINAL = "alone", "control", "original"
FIXED = "fixed"
# Sampling parameters that /generate documents and a replay carries over. Nothing else of a log reaches a server.
SAMPLING = frozenset(
    "temperature top_p top_k min_p stop stop_token_ids ignore_eos min_new_tokens n repetition_penalty "
    "frequency_penalty presence_penalty skip_special_tokens no_stop_trim sampling_seed".split()
)
_KEY = re.compile(r"r\d{4,}")
_TEXT = re.compile(r"t\d{4,}")
_ENVIRONMENT = re.compile(r"SGLANG_[A-Z0-9_]{1,80}")
_FLAG = re.compile(r"--[a-z][a-z0-9-]{0,60}")


@dataclass(frozen=True)
class Message:
    """One turn of a prompt. `text` names a text of the plan."""

    role: str
    text: str


@dataclass(frozen=True)
class PlannedRequest:
    """One request to send. `assumed` names the fields that the logs did not tell."""

    key: str  # r0001
    rid: str  # `<tenant_ref>-<key>`, never a logged one; where two had one rid, both have that of the first
    tenant_ref: str  # the case's pseudonym
    endpoint: Literal["generate", "chat", "completions"]
    messages: tuple[Message, ...]  # empty where `prompt` is given
    prompt: str | None  # text id of a prompt that is one string
    prompt_tokens: int | None
    max_new_tokens: int
    sampling: dict[str, Any]  # keys of SAMPLING
    cache_salt: str | None  # a stand-in: equal where the logged ones are equal
    extra_key: str | None
    stream: bool
    at_ms: int  # arrival, from the start of its scene
    abort_ms: int | None  # how long after its arrival the client went away; None: it stayed
    # Tokens it had been given by then, where the logs tell: sure on an engine of another speed.
    abort_tokens: int | None
    took_ms: int | None  # from arrival to end, as logged
    after: tuple[str, ...]  # keys of requests that had ended before this one arrived
    retry_of: str | None  # key of the request it repeats
    assumed: tuple[str, ...]

    @property
    def text_ids(self) -> tuple[str, ...]:
        """Its texts, in order."""
        return tuple(message.text for message in self.messages) if self.prompt is None else (self.prompt,)


@dataclass(frozen=True)
class Leak:
    """One fragment to reproduce, by keys of requests."""

    fragment_id: str
    kind: str
    recipient: str
    sources: tuple[str, ...]
    # Shared worker, batch, slot or prefix with recipient or source near the leak; sources are not in it.
    company: tuple[str, ...]
    unrelated: tuple[str, ...]  # the company of the control arm: same shape, shares nothing with the leak
    window_ms: int
    mechanisms: tuple[str, ...]  # hypotheses that the timeline kept, best first
    marks: dict[str, tuple[str, ...]]  # key -> canary identifiers that its texts alone carry


@dataclass(frozen=True)
class Arm:
    """One condition. `requests` are keys in order of arrival."""

    name: str
    leak: str  # fragment id
    requests: tuple[str, ...]
    scene: Literal["timed", "paused", "sequential"]  # paused: pause and continue put all into one batch
    switch: str | None  # what is set otherwise than in the incident; `fixed`: another build
    flags: tuple[str, ...]  # server flags that it needs beyond those of the plan's engine
    environment: dict[str, str]
    trials: int


@dataclass(frozen=True)
class Engine:
    """The engine of the incident as its logs tell it. None and empty: they do not."""

    name: str | None
    version: str | None
    flags: dict[str, str]


@dataclass(frozen=True)
class Plan:
    """A whole plan."""

    schema: str
    plan_id: str
    case_id: str
    text: Literal["surrogate", "original"]
    reason: str | None  # why originals; None with surrogates
    seed: int
    trials: int
    tokens: str  # how token counts were had: logged counts | tokenizer FILE | estimated
    models: tuple[str, ...]
    engine: Engine
    leaks: tuple[Leak, ...]
    requests: tuple[PlannedRequest, ...]
    arms: tuple[Arm, ...]
    assumed: tuple[str, ...]  # sentences
    left_out: tuple[str, ...]  # fragments without a plan, and why
    texts_sha256: str

    def request(self, key: str) -> PlannedRequest:
        """The request of a key. Raises KeyError."""
        return self._by_key[key]

    @cached_property
    def _by_key(self) -> dict[str, PlannedRequest]:
        return {one.key: one for one in self.requests}


def encode_texts(texts: Mapping[str, str]) -> bytes:
    """The lines of texts.jsonl, sorted by id."""
    return b"".join(orjson.dumps({"text_id": key, "text": texts[key]}) + b"\n" for key in sorted(texts))


def sealed(plan: Plan, texts: Mapping[str, str]) -> Plan:
    """The plan with the digest of its texts and its id filled in. Raises UsageError where it is not a sound plan."""
    whole = replace(plan, plan_id="", texts_sha256=hashlib.sha256(encode_texts(texts)).hexdigest())
    whole = replace(whole, plan_id=_digest(whole))
    _check(whole, set(texts), "the new plan")
    return whole


def write_plan(case: Case, plan: Plan, texts: Mapping[str, str]) -> Path:
    """Write a sealed plan and its texts into the case (0600); returns the path of plan.json."""
    case.write(f"{_texts_folder(plan)}/texts.jsonl", encode_texts(texts))
    body = orjson.dumps(asdict(plan), option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2) + b"\n"
    return case.write(f"replay/{plan.plan_id}/plan.json", body)


def read_plan(path: Path) -> tuple[Plan, dict[str, str]]:
    """The plan at `path` (plan.json, or the folder it lies in) and its texts by id.

    Raises MissingInput where a file is not there, UsageError where one is not a plan (the message names the place),
    HashMismatch where plan or texts were changed after the plan was made.
    """
    file = path / "plan.json" if path.is_dir() else path
    if not file.is_file():
        raise MissingInput(
            f"{path} is not a replay plan; `forensics replay plan CASE` makes one and prints where it lies"
        )
    try:
        raw = orjson.loads(file.read_bytes())
    except orjson.JSONDecodeError:
        raise UsageError(f"{file} is not JSON; make the plan again with `forensics replay plan`") from None
    if not isinstance(raw, dict) or raw.get("schema") != SCHEMA:
        raise UsageError(f"{file} is not of schema {SCHEMA}; make the plan again with this version's `replay plan`")
    plan = _decoded(Plan, raw, "", file)
    if _digest(plan) != plan.plan_id:
        raise HashMismatch(f"{file} was changed after it was made; make a new plan with the options you need")
    folder = file.parent if plan.text == "surrogate" else file.parents[2] / _texts_folder(plan)
    texts = _read_texts(folder / "texts.jsonl", plan)
    _check(plan, set(texts), str(file))
    return plan, texts


def _texts_folder(plan: Plan) -> str:
    return f"{'restricted/' if plan.text == 'original' else ''}replay/{plan.plan_id}"


def _digest(plan: Plan) -> str:
    body = asdict(replace(plan, plan_id=""))
    return hashlib.sha256(orjson.dumps(body, option=orjson.OPT_SORT_KEYS)).hexdigest()[:16]


def _read_texts(file: Path, plan: Plan) -> dict[str, str]:
    if not file.is_file():
        raise MissingInput(f"{file} is not there: a plan is read together with its texts; make the plan again")
    data = file.read_bytes()
    if hashlib.sha256(data).hexdigest() != plan.texts_sha256:
        raise HashMismatch(f"{file} was changed after the plan was made; make the plan again")
    rows = [orjson.loads(line) for line in data.split(b"\n") if line]
    return {row["text_id"]: row["text"] for row in rows}


# -- from JSON to the classes above, with the place of whatever does not fit ------------------------------------------

_Kind = TypeVar("_Kind")


def _decoded(kind: type[_Kind], raw: Any, place: str, file: Path) -> _Kind:
    """`raw` as an instance of the dataclass `kind`."""
    if not isinstance(raw, dict):
        raise _misfit(file, place, "an object")
    hints = typing.get_type_hints(kind)
    names = {one.name for one in fields(kind)}  # type: ignore[arg-type]
    strange, absent = sorted(raw.keys() - names), sorted(names - raw.keys())
    if absent:
        raise _misfit(file, f"{place}.{absent[0]}", "given")
    if strange:
        raise UsageError(f"{file}: {place or 'the plan'} has {len(strange)} unknown fields; make the plan again")
    return kind(**{name: _value(hints[name], raw[name], f"{place}.{name}", file) for name in sorted(names)})


def _value(kind: Any, raw: Any, place: str, file: Path) -> Any:
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return raw
    if origin is types.UnionType:
        return (
            None if raw is None else _value(next(one for one in inner if one is not types.NoneType), raw, place, file)
        )
    if origin is Literal:
        if raw not in inner:
            raise _misfit(file, place, " or ".join(inner))
        return raw
    if origin is tuple:
        if not isinstance(raw, list):
            raise _misfit(file, place, "a list")
        return tuple(_value(inner[0], one, f"{place}[{index}]", file) for index, one in enumerate(raw))
    if origin is dict:
        if not isinstance(raw, dict):
            raise _misfit(file, place, "an object")
        return {key: _value(inner[1], value, f"{place}.{{}}", file) for key, value in raw.items()}
    if is_dataclass(kind):
        return _decoded(typing.cast(type[Any], kind), raw, place, file)
    if not isinstance(raw, kind) or (kind is int and isinstance(raw, bool)):
        raise _misfit(file, place, {"str": "a string", "int": "a whole number", "bool": "true or false"}[kind.__name__])
    return raw


def _misfit(file: Path | str, place: str, needed: str) -> UsageError:
    return UsageError(f"{file}: {place.lstrip('.') or 'the plan'} must be {needed}; make the plan again")


# -- what the parts must be to each other -----------------------------------------------------------------------------


def _check(plan: Plan, texts: set[str], file: str) -> None:
    """Raises UsageError at the first thing that does not fit, with its place."""

    def need(holds: bool, place: str, needed: str) -> None:
        if not holds:
            raise _misfit(file, place, needed)

    need(plan.trials >= 1, "trials", "1 or more")
    need((plan.text == "original") == bool(plan.reason), "reason", "given with original texts, and only with them")
    known = {one.key for one in plan.requests}
    need(len(known) == len(plan.requests), "requests", "of different keys")
    need(all(_TEXT.fullmatch(one) for one in texts), "texts", "named t0000 and on")
    for index, one in enumerate(plan.requests):
        place = f"requests[{index}]"
        need(bool(_KEY.fullmatch(one.key)), f"{place}.key", "r0000 and on")
        need(bool(one.messages) != (one.prompt is not None), f"{place}.prompt", "given where there are no messages")
        need(set(one.text_ids) <= texts, f"{place}.messages", "texts of texts.jsonl")
        need(one.max_new_tokens >= 0, f"{place}.max_new_tokens", "0 or more")
        need(set(one.sampling) <= SAMPLING, f"{place}.sampling", "of keys that SGLang documents")
        need(one.at_ms >= 0, f"{place}.at_ms", "0 or more")
        need(one.abort_ms is None or one.abort_ms >= 0, f"{place}.abort_ms", "0 or more, or null")
        need(one.abort_ms is not None or one.abort_tokens is None, f"{place}.abort_tokens", "null without abort_ms")
        need(set(one.after) <= known - {one.key}, f"{place}.after", "other requests' keys")
        need(one.retry_of is None or one.retry_of in known - {one.key}, f"{place}.retry_of", "another request's key")
    for index, leak in enumerate(plan.leaks):
        place = f"leaks[{index}]"
        others = {*leak.sources, *leak.company, *leak.unrelated}
        need(leak.recipient in known, f"{place}.recipient", "a request's key")
        need(others <= known - {leak.recipient}, f"{place}.company", "keys of other requests")
        need(leak.marks.keys() <= known, f"{place}.marks", "by request key")
    fragments = {leak.fragment_id: leak for leak in plan.leaks}
    need(len(fragments) == len(plan.leaks), "leaks", "of different fragments")
    for index, arm in enumerate(plan.arms):
        place = f"arms[{index}]"
        need(arm.leak in fragments, f"{place}.leak", "the fragment of a leak")
        need(set(arm.requests) <= known and _distinct(arm.requests), f"{place}.requests", "different known keys")
        need(fragments[arm.leak].recipient in arm.requests, f"{place}.requests", "with the recipient among them")
        need(arm.trials >= 1, f"{place}.trials", "1 or more")
        need(all(map(_ENVIRONMENT.fullmatch, arm.environment)), f"{place}.environment", "SGLANG_ variables only")
        given = [flag for flag in arm.flags if flag.startswith("--")]
        need(all(_FLAG.fullmatch(flag) for flag in given), f"{place}.flags", "server flags")
    need(_distinct([(arm.leak, arm.name) for arm in plan.arms]), "arms", "named once per leak")


def _distinct(values: Sequence[object]) -> bool:
    return len(set(values)) == len(values)
