"""From a case to a replay plan: which leaks, with whom, in which words, under which conditions. Sends nothing.

Customers' texts are replaced by surrogates unless a reason is given; either way plan.json holds no text, no tenant's
name, no id of a log and no salt: keys, pseudonyms and stand-ins take their place, equal where the logged are equal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from forensics.case.errors import UsageError
from forensics.case.pseudonyms import Pseudonyms, load_pseudonyms
from forensics.case.store import Case
from forensics.case.words import counted
from forensics.replay.arms import arms_of
from forensics.replay.calls import Call, Part
from forensics.replay.canaries import Original
from forensics.replay.company import Chosen, Placed, Scene, choose, none_left, scene_of
from forensics.replay.plan import SCHEMA, Arm, Engine, Leak, Message, Plan, PlannedRequest, sealed, write_plan
from forensics.replay.surrogates import LIMIT, Surrogates, TokenizerFile, surrogates

_TOGETHER = ("same_batch", "finished_in_same_pass")
# Strings that end an answer may be words of a customer.
_WORDED = ("stop",)


@dataclass(frozen=True)
class Parameters:
    """What to plan. `fragments`: ids or their unique beginnings; none: the clearest `most`."""

    fragments: tuple[str, ...] = ()
    most: int = 3
    trials: int = 5
    company: int = 24
    window_ms: int = 30_000
    seed: int = 1
    tokenizer: Path | None = None
    original: bool = False
    reason: str = ""
    fixed: bool = False


def make_plan(case: Case, parameters: Parameters) -> tuple[Plan, Path]:
    """Make a plan, write it into the case and the fact into the custody log; returns it and where it lies.

    Raises UsageError where nothing can be planned, or where original texts are asked for without a reason.
    """
    reason = parameters.reason.strip()
    if parameters.original and not reason:
        raise UsageError("--original replays customers' own texts: say why with --reason TEXT; it is logged")
    if reason and not parameters.original:
        raise UsageError("--reason is for --original; surrogates need none")
    if min(parameters.trials, parameters.most) < 1 or min(parameters.company, parameters.window_ms) < 0:
        raise UsageError("--trials and --most must be 1 or more, --company and --window-ms 0 or more")
    chosen, left_out = choose(case, parameters.fragments, parameters.most)
    scenes: list[Scene] = []
    for one in chosen:
        scene = scene_of(case, one, parameters.company, parameters.window_ms)
        if isinstance(scene, Scene):
            scenes.append(scene)
        else:
            left_out.append(f"{one.fragment_id}: {scene}")
    if not scenes:
        raise none_left("replayed", left_out)
    draft = _Draft(case, scenes, parameters)
    plan, texts = draft.plan(left_out)
    path = write_plan(case, plan, texts)
    what = f"original texts: {reason}" if parameters.original else "surrogate texts"
    case.record("replay-plan", f"plan {plan.plan_id}", plan.texts_sha256, what)
    return plan, path


class _Draft:
    """A plan in the making."""

    def __init__(self, case: Case, scenes: Sequence[Scene], parameters: Parameters) -> None:
        self._case, self._scenes, self._parameters = case, scenes, parameters
        self._names: Pseudonyms = load_pseudonyms(case)
        self._tokens = TokenizerFile(parameters.tokenizer) if parameters.tokenizer is not None else None
        self._engine, self._settings, self._about_engine = _engine(case)
        self._text_ids = _text_ids(scenes)
        self._salt_key = hashlib.blake2b(f"salts|{parameters.seed}".encode(), digest_size=16).digest()

    def plan(self, left_out: Sequence[str]) -> tuple[Plan, dict[str, str]]:
        """The sealed plan and its texts."""
        originals = self._originals()
        if self._parameters.original:
            made = Surrogates({one.text_id: one.text for one in originals}, {}, {}, 0)
        else:
            made = surrogates(originals, self._parameters.seed, self._tokens)
        texts = made.texts
        requests: list[PlannedRequest] = []
        leaks: list[Leak] = []
        arms: list[Arm] = []
        mechanisms = self._case.rows("replay/mechanisms")
        together = any(row[1] in _TOGETHER and row[2] == "stands" for row in mechanisms)
        for scene in self._scenes:
            # Stable: within a millisecond the calls stay in the order in which they came.
            placed = sorted((*scene.calls, *scene.unrelated), key=lambda one: one.at_ms)
            keys = {one.call.request: f"r{len(requests) + place:04d}" for place, one in enumerate(placed, start=1)}
            requests += self._requests(placed, keys, texts)
            leak = _leak(scene, keys, [str(row[0]) for row in mechanisms])
            leaks.append(leak)
            timed = all(one.call.received_us is not None for one in scene.calls)
            arms += arms_of(
                leak,
                [keys[one.call.request] for one in placed],
                self._parameters.trials,
                self._settings,
                together=together or not timed,
                fixed=self._parameters.fixed,
            )
        if not self._parameters.original:
            leaks = [replace(leak, marks=_marks(leak, requests, made)) for leak in leaks]
        plan = Plan(
            schema=SCHEMA,
            plan_id="",
            case_id=self._names.case_ref,
            text="original" if self._parameters.original else "surrogate",
            reason=self._parameters.reason.strip() or None,
            seed=self._parameters.seed,
            trials=self._parameters.trials,
            tokens=self._counting(),
            models=tuple(sorted({one.call.model for scene in self._scenes for one in scene.calls if one.call.model})),
            engine=self._engine,
            leaks=tuple(leaks),
            requests=tuple(requests),
            arms=tuple(arms),
            assumed=tuple(self._assumed(requests, made)),
            left_out=tuple(left_out),
            texts_sha256="",
        )
        return sealed(plan, texts), texts

    def _counting(self) -> str:
        if self._parameters.tokenizer is not None:
            return f"tokenizer {self._parameters.tokenizer.name}"
        return "logged counts" if self._parameters.original else "estimated"

    def _originals(self) -> list[Original]:
        """Every text of the plan once, with the tenants that used it and the passages that leaked from it."""
        owners: dict[str, set[str]] = {}
        leaked: dict[str, set[tuple[int, int]]] = {}
        texts: dict[str, str] = {}
        for scene in self._scenes:
            for one in (*scene.calls, *scene.unrelated):
                spans = [span[1:] for span in scene.chosen.spans if span[0] == one.call.request]
                for part in one.call.parts:
                    key = self._text_ids[part.text]
                    texts[key] = part.text
                    owners.setdefault(key, set()).add(one.call.unit or "")
                    leaked.setdefault(key, set()).update(_within(part, spans))
        return [Original(key, texts[key], frozenset(owners[key]), tuple(sorted(leaked[key]))) for key in sorted(texts)]

    def _requests(
        self, placed: Sequence[Placed], keys: Mapping[int, str], texts: Mapping[str, str]
    ) -> Iterable[PlannedRequest]:
        rids: dict[str, str] = {}
        retries = _retries([one.call for one in placed])
        for one in placed:
            call, key = one.call, keys[one.call.request]
            tenant = self._names.tenant(call.tenant_id)
            salt, extra = self._salts(call)
            took = call.took_us
            used = [self._text_ids[part.text] for part in call.parts]
            assumed = set(call.assumed) | ({"at_ms"} if call.received_us is None else set())
            sampling = dict(call.sampling)
            if not self._parameters.original and any(name in sampling for name in _WORDED):
                sampling = {name: value for name, value in sampling.items() if name not in _WORDED}
                assumed.add("sampling.stop")
            chat = call.endpoint == "chat"
            aborted = call.aborted and took is not None
            yield PlannedRequest(
                key=key,
                rid=rids.setdefault(call.rid, f"{tenant}-{key}"),
                tenant_ref=tenant,
                endpoint=call.endpoint,
                messages=tuple(Message(part.role, text) for part, text in zip(call.parts, used, strict=True))
                if chat
                else (),
                prompt=None if chat else used[0],
                prompt_tokens=self._prompt_tokens(call, [texts[text] for text in used]),
                max_new_tokens=call.max_new_tokens,
                sampling=sampling,
                cache_salt=salt,
                extra_key=extra,
                # Who hangs up in the middle must have been reading along.
                stream=call.stream or aborted,
                at_ms=one.at_ms,
                abort_ms=took // 1000 if aborted and took is not None else None,
                abort_tokens=call.tokens_at_end if aborted else None,
                took_ms=None if took is None else took // 1000,
                after=tuple(sorted(keys[request] for request in one.after if request in keys)),
                retry_of=keys.get(retries.get(call.request, -1)),
                assumed=tuple(sorted(assumed)),
            )

    def _prompt_tokens(self, call: Call, texts: Sequence[str]) -> int | None:
        """Of a prompt that is one text, counted where it can be; else as logged of the original."""
        if self._tokens is not None and call.endpoint != "chat":
            return self._tokens.count(texts[0])
        return call.prompt_tokens

    def _salts(self, call: Call) -> tuple[str | None, str | None]:
        """Stand-ins of salt and extra key. Put one behind the other they are equal where the logged ones are so, since
        some releases do just that."""
        if not call.cache_salt and not call.extra_key:
            return None, None
        salt, extra = call.cache_salt or "", call.extra_key or ""
        whole = "".join(
            hashlib.blake2b((salt + extra)[: place + 1].encode(), key=self._salt_key, digest_size=4).hexdigest()
            for place in range(len(salt + extra))
        )
        cut = 8 * len(salt)
        return whole[:cut] or None, whole[cut:] or None

    def _assumed(self, requests: Sequence[PlannedRequest], made: Surrogates) -> Iterable[str]:
        yield from self._about_engine
        for scene in self._scenes:
            for note in scene.notes:
                yield f"{scene.chosen.fragment_id}: {note}"
            if not scene.unrelated:
                yield f"{scene.chosen.fragment_id}: the case holds no unrelated calls, so that there is no control arm"
        fields: dict[str, int] = {}
        for request in requests:
            for name in request.assumed:
                fields[name] = fields.get(name, 0) + 1
        for name, count in sorted(fields.items()):
            yield f"{_SENTENCES.get(name, name + ' is not in the logs')}: {counted(count, 'request')}"
        if not self._parameters.original:
            if self._tokens is None:
                yield "token lengths of surrogates are estimated by characters; --tokenizer FILE makes them equal"
            elif made.worst > LIMIT:
                yield f"the token length of a surrogate is off by {made.worst:.1%}, more than {LIMIT:.0%}"
            if made.prefixes_off:
                yield f"{counted(made.prefixes_off, 'pair')} of prompts share more or fewer first tokens than before"


_SENTENCES = {
    "at_ms": "arrival times are assumed",
    "stream": "that answers were not streamed is assumed",
    "abort_tokens": "how far an answer had come when its client went away is not in the logs; the time is",
    "max_new_tokens": "the limit of an answer is assumed to be its length",
    "messages.others": "definitions of tools and the like are left out",
    "messages.parts": "several parts of a message are sent as one text",
    "messages.role": "roles other than system, user and assistant are sent as user",
    "prompt.others": "further prompts of the same call are left out",
    "prompt.template": "the prompt is sent as its parts stand in the log, without a template",
    "sampling.grammar": "that an answer was held to a grammar is left out",
    "sampling.sampling_seed": "the seed of a sampled answer is not in the logs",
    "sampling.stop": "strings that end an answer are left out, since they may be a customer's words",
    "sampling.temperature": "temperature 0 is assumed",
}


def _text_ids(scenes: Sequence[Scene]) -> dict[str, str]:
    texts = {part.text for scene in scenes for one in (*scene.calls, *scene.unrelated) for part in one.call.parts}
    # Any order that does not depend on the database's.
    order = sorted(texts, key=lambda text: hashlib.blake2b(text.encode("utf-8", "surrogatepass")).digest())
    return {text: f"t{number:04d}" for number, text in enumerate(order, start=1)}


def _within(part: Part, spans: Sequence[tuple[Any, ...]]) -> Iterable[tuple[int, int]]:
    for field, start, end in spans:
        for _, of, before in part.contents:
            if of == field:
                yield before + start, before + end


def _leak(scene: Scene, keys: Mapping[int, str], mechanisms: Sequence[str]) -> Leak:
    chosen: Chosen = scene.chosen
    apart = {chosen.recipient, *scene.sources}
    return Leak(
        fragment_id=chosen.fragment_id,
        kind=chosen.kind,
        recipient=keys[chosen.recipient],
        sources=tuple(keys[source] for source in scene.sources),
        company=tuple(keys[one.call.request] for one in scene.calls if one.call.request not in apart),
        unrelated=tuple(keys[one.call.request] for one in scene.unrelated),
        window_ms=scene.window_ms,
        mechanisms=tuple(mechanisms),
        marks={},
    )


def _marks(leak: Leak, requests: Sequence[PlannedRequest], made: Surrogates) -> dict[str, tuple[str, ...]]:
    """Canaries of each source that no request of another tenant carries."""
    holders: dict[str, set[str]] = {}
    carried: dict[str, set[str]] = {}
    for one in requests:
        carried[one.key] = {canary for text in one.text_ids for canary in made.canaries[text]}
        for canary in carried[one.key]:
            holders.setdefault(canary, set()).add(one.tenant_ref)
    return {key: tuple(sorted(one for one in carried[key] if len(holders[one]) == 1)) for key in leak.sources}


def _retries(calls: Sequence[Call]) -> dict[int, int]:
    """request -> the aborted request of the same tenant with the same prompt that came before it."""
    found: dict[int, int] = {}
    aborted: dict[tuple[str | None, str], int] = {}
    for call in calls:
        key = (call.unit, call.beginning)
        if key in aborted and call.unit is not None:
            found[call.request] = aborted[key]
        if call.aborted:
            aborted[key] = call.request
    return found


def _engine(case: Case) -> tuple[Engine, dict[str, str], list[str]]:
    """The engine as logged, its settings by name, and what had to be assumed."""
    flags: dict[str, str] = {}
    versions: list[str] = []
    at_least: list[str] = []
    for kind, value in case.rows("replay/engine"):
        if kind == "version":
            versions.append(str(value))
            continue
        told = orjson.loads(value)
        if kind == "server_args":
            flags.update({name: _plain(setting) for name, setting in sorted(told.items())})
        else:
            at_least.append(str(told.get("at_least", "")))
    version = versions[0] if versions else f">={max(at_least)}" if at_least else None
    notes: list[str] = []
    if version is None:
        notes.append("the engine's version is not in the logs")
    if not flags:
        notes.append("the engine's settings are not in the logs: every switch is tried")
    name = "sglang" if flags or versions or at_least else None
    return Engine(name, version, flags), flags, notes


def _plain(value: object) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()
