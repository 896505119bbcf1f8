"""Which context explains a leaked response? Has a live server score it under each, and keeps what came of it.

The response's tokens (the engine's own where the log has them) are scored after the recipient's prompt, after each
named source's and after those of wrong sources: other tenants' prompts that are as long and worded alike. Needs the
customers' own texts, so that a reason is given and logged. Generates nothing; judging is `likelihood`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import orjson
import pyarrow as pa

from forensics.case.errors import MissingInput, UsageError
from forensics.case.store import Case
from forensics.replay.address import Address
from forensics.replay.calls import Call, read_calls
from forensics.replay.client import Client, Gone
from forensics.replay.company import Chosen, choose, none_left
from forensics.replay.likelihood import LEAST_WRONG, Likelihood, judge
from forensics.replay.replies import Nonsense

SCHEMA = "forensics/likelihood/1"
_MOST_TOKENS = 4096  # of a response that are scored
_TOGETHER = 4  # scorings under way at a time
_AFTER = 64  # tokens behind the fragment that still are
Progress = Callable[[str, int, int], None]


@dataclass(frozen=True)
class Parameters:
    """What to score. `fragments`: ids or beginnings, none: the clearest `most`. `wrong`: wrong sources per fragment."""

    fragments: tuple[str, ...] = ()
    most: int = 3
    wrong: int = LEAST_WRONG
    reason: str = ""


@dataclass(frozen=True)
class Scored:
    """One fragment: the test, or why there is none (`problem`, a sentence)."""

    fragment_id: str
    likelihood: Likelihood | None
    basis: str  # logged | text
    problem: str = ""


def score(case: Case, parameters: Parameters, address: Address, progress: Progress | None = None) -> list[Scored]:
    """Score fragments and put the outcome into table `likelihoods` and `out/likelihood.json`.

    Raises UsageError without a reason or without a fragment to score, MissingInput where no server answers.
    """
    if not parameters.reason.strip():
        raise UsageError(
            "scoring sends customers' own texts: give --original and say why with --reason TEXT; it is logged"
        )
    if parameters.wrong < 0:
        raise UsageError("--wrong must be 0 or more")
    chosen, left_out = choose(case, parameters.fragments, parameters.most)
    if not chosen:
        raise none_left("scored", left_out)
    ids = ", ".join(one.fragment_id for one in chosen)
    case.record(
        "replay-score", f"fragments {ids}", reason=f"original texts to {address.shown}: {parameters.reason.strip()}"
    )
    try:
        model, done = asyncio.run(_all(case, chosen, parameters, address, progress))
    except Gone:
        raise MissingInput(f"no server answers at {address.shown}; start it, or mend --server") from None
    except Nonsense as error:
        raise UsageError(f"{address.shown} is no SGLang server that can score: {error}") from None
    _keep(case, model, done)
    return [scored for scored, _ in done]


async def _all(
    case: Case,
    chosen: Sequence[Chosen],
    parameters: Parameters,
    address: Address,
    progress: Progress | None,
) -> tuple[str | None, list[tuple[Scored, dict[str, int]]]]:
    async with Client(address, seconds=300.0) as scorer:
        facts = await scorer.facts()
        done = []
        try:
            for number, one in enumerate(chosen):
                done.append(await _one(case, one, parameters, scorer))
                if progress is not None:
                    progress("fragments scored", number + 1, len(chosen))
        finally:
            # What was scored must not stay in the server's prefix cache, whatever came of it.
            await scorer.flush()
        return facts.model, done


async def _one(case: Case, chosen: Chosen, parameters: Parameters, scorer: Client) -> tuple[Scored, dict[str, int]]:
    """One fragment, and the requests that the keys of its sources stand for."""
    calls = read_calls(case, [chosen.recipient, *chosen.sources])
    recipient = calls.get(chosen.recipient)
    sources = [calls[source] for source in chosen.sources if source in calls and calls[source].whole]
    if recipient is None or not sources:
        return Scored(chosen.fragment_id, None, "text", "the prompts of recipient and source are not whole"), {}
    text, end, logged = case.rows("replay/answers", {"fragment": chosen.fragment_id})[0]
    tokens = list(logged) if logged else await scorer.tokenize(text)
    basis = "logged" if logged else "text"
    until = len(await scorer.tokenize(text[:end])) + _AFTER
    tokens = tokens[: min(until, _MOST_TOKENS)]
    if not tokens:
        return Scored(chosen.fragment_id, None, basis, "the response has no tokens"), {}
    wrong = _wrong(case, chosen, recipient, sources, parameters.wrong)
    everybody = (recipient, *sources, *wrong)
    # As its engine read it, where that is logged: a template is not rendered twice alike for sure.
    read: dict[int, list[int]] = dict(
        case.rows("replay/prompt_tokens", {"requests": [call.request for call in everybody]})
    )
    free = asyncio.Semaphore(_TOGETHER)

    async def under(call: Call) -> list[float]:
        async with free:
            prompt = read.get(call.request) or await _prompt_tokens(scorer, call)
            rows = await scorer.score([*prompt, *tokens], len(prompt))
        return [0.0 if value is None else value for value, _ in rows]

    own, *others = await asyncio.gather(*(under(call) for call in everybody))
    keys = {f"s{number:03d}": source.request for number, source in enumerate(sources)}
    named = dict(zip(keys, others[: len(sources)], strict=True))
    return Scored(chosen.fragment_id, judge(own, named, others[len(sources) :]), basis), keys


async def _prompt_tokens(scorer: Client, call: Call) -> list[int]:
    """Tokens of a call's prompt as the engine would read it."""
    if call.endpoint == "chat":
        return await scorer.tokenize_chat([{"role": part.role, "content": part.text} for part in call.parts])
    return await scorer.tokenize(call.parts[0].text, whole=True)


def _wrong(case: Case, chosen: Chosen, recipient: Call, sources: Sequence[Call], most: int) -> list[Call]:
    """Wrong sources, those first that are worded most like the best named source: a template must not be evidence."""
    rows = case.rows(
        "replay/others",
        {
            "fragment": chosen.fragment_id,
            "units": sorted({call.unit for call in (recipient, *sources) if call.unit is not None}),
            "length": sources[0].prompt_tokens or 0,
        },
    )
    calls = read_calls(case, [row[0] for row in rows[: 4 * most]])
    words = set(sources[0].beginning.split())

    def unlike(call: Call) -> float:
        other = set(call.beginning.split())
        return -len(words & other) / max(len(words | other), 1)

    distinct = {call.beginning: call for call in sorted(calls.values(), key=lambda call: -call.request)}
    return sorted(distinct.values(), key=lambda call: (unlike(call), call.request))[:most]


def _keep(case: Case, model: str | None, done: Sequence[tuple[Scored, dict[str, int]]]) -> None:
    rows = []
    for scored, keys in done:
        found = scored.likelihood
        if found is not None:
            rows.append(
                {
                    "fragment_id": scored.fragment_id,
                    "model": model,
                    "tokens_basis": scored.basis,
                    "tokens": found.tokens,
                    "source": keys[found.source],
                    "part_start": found.part.start,
                    "part_end": found.part.end,
                    "total": found.part.total,
                    "needed": found.needed,
                    "runner_up": found.runner_up,
                    "margin": found.margin,
                    "wrong_sources": found.wrong,
                    "rank": found.rank,
                    "p_value": found.p_value,
                    "own_per_token": found.own_per_token,
                    "finding": found.finding,
                    "curve": list(found.curve),
                }
            )
    with case.transaction():
        for row in rows:
            case.run("replay/forget_likelihood", {"fragment": row["fragment_id"]})
        if rows:
            case.append("likelihoods", pa.Table.from_pylist(rows, schema=case.table("likelihoods").schema))
    case.write("out/likelihood.json", document(case))


def document(case: Case) -> bytes:
    """`out/likelihood.json`: every scored fragment, sorted; no text."""
    rows = case.arrow("replay/likelihoods").to_pylist()
    for row in rows:
        row["curve"] = [round(value, 3) for value in row["curve"]]
    return (
        orjson.dumps({"schema": SCHEMA, "fragments": rows}, option=orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS) + b"\n"
    )
