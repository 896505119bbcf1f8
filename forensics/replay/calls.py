"""What do the logs hold of a call that is to be sent again? Reads case tables; decides nothing about a plan."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import orjson

from forensics.case.store import Case
from forensics.replay.plan import SAMPLING

Endpoint = Literal["generate", "chat", "completions"]
_MESSAGE = re.compile(r"messages\[(\d+)\]\.")
_ROLES = ("system", "user", "assistant")
DEFAULT_TOKENS = 64  # of an answer whose length nothing tells


@dataclass(frozen=True)
class Part:
    """One text of a prompt. `contents`: (content key, field, code points before it) of what it is made of."""

    role: str
    text: str
    contents: tuple[tuple[int, str, int], ...]


@dataclass(frozen=True)
class Call:
    """One call as logged. Times in UTC microseconds. `assumed`: fields of the plan that the logs do not tell."""

    request: int
    tenant_id: str | None
    unit: str | None
    model: str | None
    endpoint: Endpoint
    parts: tuple[Part, ...]
    received_us: int | None
    finished_us: int | None
    aborted: bool
    tokens_at_end: int | None
    prompt_tokens: int | None
    max_new_tokens: int
    sampling: dict[str, Any]
    cache_salt: str | None
    extra_key: str | None
    rid: str
    stream: bool
    whole: bool  # the whole prompt is in the case
    assumed: tuple[str, ...]

    @property
    def took_us(self) -> int | None:
        """From arrival to end."""
        if self.received_us is None or self.finished_us is None:
            return None
        return max(self.finished_us - self.received_us, 0)

    @property
    def beginning(self) -> str:
        """The prompt as one text, to compare beginnings."""
        return "\0".join(f"{part.role}\0{part.text}" for part in self.parts)


def read_calls(case: Case, requests: Sequence[int]) -> dict[int, Call]:
    """Calls by request; those without any prompt text are left out."""
    wanted: dict[str, object] = {"requests": sorted(set(requests))}
    texts: dict[int, list[tuple[str, str, int, str]]] = {}
    for request, field, role, _, content, text in case.rows("replay/call_texts", wanted):
        texts.setdefault(request, []).append((field, role, content, text))
    rows = case.arrow("replay/calls", wanted).to_pylist()
    return {row["request"]: _call(row, texts[row["request"]]) for row in rows if row["request"] in texts}


def _call(row: dict[str, Any], texts: Sequence[tuple[str, str, int, str]]) -> Call:
    endpoint, parts, notes = _prompt(row["endpoint"], texts)
    assumed = set(notes)
    told: dict[str, Any] = orjson.loads(row["sampling"]) if row["sampling"] else {}
    sampling = {name: told[name] for name in sorted(told) if name in SAMPLING and name != "n"}
    if "temperature" not in sampling:
        # Greedy is the one setting under which a clean engine answers twice alike.
        sampling["temperature"] = 0
        assumed.add("sampling.temperature")
    if told.get("constrained"):
        assumed.add("sampling.grammar")
    if "sampling_seed" not in sampling and sampling["temperature"] != 0:
        assumed.add("sampling.sampling_seed")
    tokens = told.get("max_new_tokens")
    if not isinstance(tokens, int) or isinstance(tokens, bool) or tokens < 1:
        tokens = row["completion_tokens"] or DEFAULT_TOKENS
        assumed.add("max_new_tokens")
    if row["stream"] is None:
        assumed.add("stream")
    aborted = bool(row["aborted"])
    if aborted and row["tokens_at_end"] is None:
        assumed.add("abort_tokens")
    return Call(
        request=row["request"],
        tenant_id=row["tenant_id"],
        unit=row["unit"],
        model=row["model"],
        endpoint=endpoint,
        parts=parts,
        received_us=row["received_us"],
        finished_us=row["finished_us"],
        aborted=aborted,
        tokens_at_end=row["tokens_at_end"],
        prompt_tokens=row["prompt_tokens"],
        max_new_tokens=tokens,
        sampling=sampling,
        cache_salt=row["cache_salt"],
        extra_key=row["extra_key"],
        rid=row["rid"],
        stream=bool(row["stream"]),
        whole=row["prompt_state"] == "full",
        assumed=tuple(sorted(assumed)),
    )


def _prompt(
    endpoint: str | None, texts: Sequence[tuple[str, str, int, str]]
) -> tuple[Endpoint, tuple[Part, ...], set[str]]:
    """How the call is sent, its texts in order, and what of it cannot be sent as it was."""
    native = [text for text in texts if text[1] == "prompt"]
    if native:
        field, _, content, text = native[0]
        notes = set() if len(native) == 1 else {"prompt.others"}
        asked: Endpoint = "completions" if "completions" in (endpoint or "") and field != "text" else "generate"
        return asked, (Part("prompt", text, ((content, field, 0),)),), notes
    notes = set()
    parts: list[Part] = []
    last = ""
    for field, role, content, text in texts:
        found = _MESSAGE.match(field)
        if found is None:
            # Definitions of tools and the like: part of the prompt, but no message.
            notes.add("messages.others")
            continue
        sent = role if role in _ROLES else "user"
        if sent != role:
            notes.add("messages.role")
        if parts and found.group(1) == last:
            former = parts.pop()
            notes.add("messages.parts")
            joined = f"{former.text}\n{text}"
            parts.append(Part(former.role, joined, (*former.contents, (content, field, len(former.text) + 1))))
        else:
            parts.append(Part(sent, text, ((content, field, 0),)))
        last = found.group(1)
    if not parts:
        field, _, content, text = texts[0]
        return "generate", (Part("prompt", text, ((content, field, 0),)),), {"prompt.template"}
    return "chat", tuple(parts), notes
