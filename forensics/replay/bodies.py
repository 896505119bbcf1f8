"""What is sent for a planned request? Its path and JSON body, as the server's release wants them. Sends nothing.

Only what the plan names is sent: no tools, no logit processors, no images.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from forensics.replay.facts import KEYS, SALTS, SEEDS, Facts
from forensics.replay.plan import Arm, Plan, PlannedRequest

_OPENAI_NAMES = {"min_new_tokens": "min_tokens", "sampling_seed": "seed"}
PATHS = {"generate": "/generate", "chat": "/v1/chat/completions", "completions": "/v1/completions"}
# A request of nobody's, sent between trials: what a fault left behind falls on it and not on the next trial.
WASHOUT = "Count from one to nine and say nothing else: one, two, three,"
WASHOUT_TOKENS = 4


def trial_seed(plan: Plan, fragment: str, trial: int) -> int:
    """The seed of a trial: the same in every arm, so that arms are compared under the same sampling."""
    return int.from_bytes(hashlib.sha256(f"{plan.seed}|{fragment}|{trial}".encode()).digest()[:4]) >> 1


def request_ids(plan: Plan, arm: Arm, trial: int) -> dict[str, str]:
    """A new id for each request of a trial, by key. Requests that share one in the plan share one here.

    Of one length per tenant, so that no id is the beginning of another one: SGLang aborts by beginnings.
    """
    chosen = {key: plan.request(key) for key in arm.requests}
    uses: dict[str, int] = {}
    for one in chosen.values():
        uses[one.rid] = uses.get(one.rid, 0) + 1
    return {
        key: _id("shared" if uses[one.rid] > 1 else one.tenant_ref, plan.plan_id, arm.leak, arm.name, trial, one.rid)
        for key, one in chosen.items()
    }


def washout_id(plan: Plan, arm: Arm, trial: int) -> str:
    """The id of the request between trials."""
    return _id("washout", plan.plan_id, arm.leak, arm.name, trial, "washout")


def body(
    one: PlannedRequest, texts: Mapping[str, str], rid: str, seed: int, facts: Facts
) -> tuple[str, dict[str, Any]]:
    """Path and body of a planned request. `seed` is used where sampling is random and the plan names none."""
    sampling = dict(one.sampling)
    if "sampling_seed" not in sampling and sampling.get("temperature") != 0 and facts.since(SEEDS):
        sampling["sampling_seed"] = seed
    if one.prompt is not None and one.endpoint == "generate":
        found: dict[str, Any] = {
            "rid": rid,
            "text": texts[one.prompt],
            "stream": one.stream,
            "sampling_params": {**sampling, "max_new_tokens": one.max_new_tokens},
        }
        found |= _namespace(one, facts)
        return PATHS["generate"], found
    found = {"rid": rid, "model": facts.model or "default", "stream": one.stream, "max_tokens": one.max_new_tokens}
    found |= {_OPENAI_NAMES.get(name, name): value for name, value in sampling.items()}
    if one.stream:
        found["stream_options"] = {"include_usage": True}
    if facts.since(KEYS):
        found |= _keys(one)
    if one.prompt is not None:
        return PATHS["completions"], {**found, "prompt": texts[one.prompt]}
    messages = [{"role": message.role, "content": texts[message.text]} for message in one.messages]
    return PATHS["chat"], {**found, "messages": messages}


def washout(rid: str) -> tuple[str, dict[str, Any]]:
    """The request between trials."""
    sampling = {"temperature": 0, "max_new_tokens": WASHOUT_TOKENS}
    return PATHS["generate"], {"rid": rid, "text": WASHOUT, "stream": False, "sampling_params": sampling}


def unsaid(requests: Sequence[PlannedRequest], facts: Facts) -> tuple[str, ...]:
    """What of the plan a server of this release cannot be told, as sentences."""
    if not facts.since(KEYS) and any(one.cache_salt or one.extra_key for one in requests):
        return ("this release has no cache salts and no extra keys: all requests share one prefix cache",)
    if not facts.since(SEEDS) and any(one.sampling.get("temperature") != 0 for one in requests):
        return ("this release takes no seed per request: sampling differs from run to run",)
    return ()


def _namespace(one: PlannedRequest, facts: Facts) -> dict[str, Any]:
    """Salt and key of /generate: two fields since 0.5.18, one joined field before, none before 0.5.3."""
    if facts.since(SALTS):
        return _keys(one)
    joined = f"{one.cache_salt or ''}{one.extra_key or ''}"
    return {"extra_key": joined} if joined and facts.since(KEYS) else {}


def _keys(one: PlannedRequest) -> dict[str, str]:
    return {name: value for name, value in (("cache_salt", one.cache_salt), ("extra_key", one.extra_key)) if value}


def _id(name: str, *parts: object) -> str:
    return f"{name}-{hashlib.sha256('|'.join(map(str, parts)).encode()).hexdigest()[:12]}"
