"""Does the likelihood test tell true sources from wrong ones? Measured on a real engine, with leaks of a real engine.

    PYTHONPATH=. python bench/likelihood.py --engine .engine [--pairs 50] [--candidates 20] [--server URL]

True pairs: victims of the captured incidents (`sample_logs/sglang-*`: answers that a real engine gave under another
request's context) with the source that the fault plugin noted, by the recorded tokens. False pairs of the hard kind:
the same victims with a wrong source of the same template. False pairs of the plain kind: clean answers of the same
incidents with another tenant's prompt. Boilerplate: stock sentences as answers. Every answer is scored under its own
prompt and under `--candidates` others, of which one is the claimed source; what is reported is the sum of the best
segment and the margin to the best of the others. The last lines repeat the whole test with 99 wrong sources on a few.
Every scoring is a forward pass over the answer at least: 2,600 of them take some ten minutes on two quiet cores.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from forensics.replay.address import address
from forensics.replay.client import Client
from forensics.replay.likelihood import LEAST_WRONG, MARGIN, best_segment, differences, judge, needed

ROOT = Path(__file__).resolve().parents[1]
SETS = ("slot_reuse", "cross_salt", "poisoned_prefix")
STOCK = (
    " Thank you for reaching out to us. Please let me know if you have any other questions.",
    " I hope this helps! Let me know if you need any further information or clarification.",
    " I'm sorry, but I can't assist with that request. Is there anything else I can help you with?",
    " As an AI language model, I do not have access to real-time information about this.",
    " We apologize for any inconvenience this may have caused and thank you for your patience.",
    " Here is a step-by-step guide to help you get started with your request today.",
    " Please do not hesitate to contact us if you have any further questions or concerns.",
    " The first record is as follows. The record is written exactly as it stands in the list.",
    " I have copied the first record without any change. The names and numbers are as written.",
    " I am happy to help you with this. Let me take a look at the records that you gave me.",
)


@dataclass(frozen=True)
class Answer:
    """An answer: its tokens, its own prompt, and the prompt that it came from, if another's."""

    name: str
    tokens: tuple[int, ...]
    own: str
    source: str | None


def tenant(rid: str) -> str:
    return rid.rsplit("-", 1)[0]


def load(fault: str) -> tuple[dict[str, str], list[Answer]]:
    """Prompts by rid, and all answers, of one captured incident."""
    folder = ROOT / "sample_logs" / f"sglang-{fault}"
    prompts: dict[str, str] = {}
    tokens: dict[str, tuple[int, ...]] = {}
    with gzip.open(next((folder / "logs").glob("*_0.log.gz")), "rt", encoding="utf-8") as log:
        for line in log:
            event = json.loads(line[line.index("{") :])
            rid = event["rid"]
            prompts[rid] = event["obj"]["text"]
            if event["event"] == "request.finished":
                tokens[rid] = tuple(event["out"]["output_ids"])
    sources: dict[str, set[str]] = {}
    for row in (folder / "truth.jsonl").read_text(encoding="utf-8").split("\n"):
        if row:
            leak = json.loads(row)
            sources.setdefault(leak["response_request_id"], set()).add(leak["source_request_id"])
    answers = []
    for rid in sorted(tokens):
        found = sources.get(rid, set())
        if len(found) <= 1:
            answers.append(Answer(rid, tokens[rid], rid, next(iter(found), None)))
    return prompts, answers


def area(positive: Sequence[float], negative: Sequence[float]) -> float:
    """Area under the curve: how often a true pair scores higher than a false one (Mann-Whitney)."""
    wins = sum((one > other) + 0.5 * (one == other) for one in positive for other in negative)
    return wins / (len(positive) * len(negative))


class Bench:
    """Scores answers under prompts; every score is asked once."""

    def __init__(self, client: Client, prompts: dict[str, str], together: int) -> None:
        self._client, self._prompts = client, prompts
        self._ids: dict[str, list[int]] = {}
        self._free = asyncio.Semaphore(together)
        self.calls = 0

    async def ids(self, rid: str) -> list[int]:
        if rid not in self._ids:
            self._ids[rid] = await self._client.tokenize(self._prompts[rid])
        return self._ids[rid]

    async def tokens(self, text: str) -> list[int]:
        """Tokens of a text."""
        return await self._client.tokenize(text)

    async def score(self, rid: str, tokens: Sequence[int]) -> list[float]:
        """The answer's scores under one prompt."""
        async with self._free:
            prompt = await self.ids(rid)
            self.calls += 1
            rows = await self._client.score([*prompt, *tokens], len(prompt))
        return [value if value is not None else 0.0 for value, _ in rows]

    async def all(self, rids: Sequence[str], tokens: Sequence[int]) -> list[list[float]]:
        return list(await asyncio.gather(*(self.score(rid, tokens) for rid in rids)))


def wrong_for(answer: Answer, prompts: dict[str, str], claimed: str, count: int) -> list[str]:
    """Other tenants' prompts, as long as the claimed source's, that are neither it nor the true one."""
    barred = {tenant(answer.own), tenant(claimed), tenant(answer.source or claimed)}
    free = [rid for rid in prompts if tenant(rid) not in barred]
    return sorted(free, key=lambda rid: (abs(len(prompts[rid]) - len(prompts[claimed])), rid))[:count]


async def measure(arguments: argparse.Namespace, url: str) -> None:
    dice = random.Random(1)
    prompts: dict[str, str] = {}
    victims: list[Answer] = []
    clean: list[Answer] = []
    for fault in SETS:
        found, answers = load(fault)
        prompts |= found
        victims += [answer for answer in answers if answer.source is not None]
        clean += [answer for answer in answers if answer.source is None]
    victims = [victims[place * len(victims) // arguments.pairs] for place in range(arguments.pairs)]
    clean = [clean[place * len(clean) // arguments.pairs] for place in range(arguments.pairs)]
    others = arguments.candidates - 1
    true_sums, true_margins, hard_sums, hard_margins, plain_sums, plain_margins = ([] for _ in range(6))
    first = placed = 0
    began = time.process_time()
    async with Client(address(url), seconds=300.0) as client:
        bench = Bench(client, prompts, arguments.together)
        for answer in victims:
            assert answer.source is not None
            wrong = wrong_for(answer, prompts, answer.source, others)
            own, *rest = await bench.all([answer.own, answer.source, *wrong], answer.tokens)
            sums = [best_segment(differences(own, scores)).total for scores in rest]
            true_sums.append(sums[0])
            true_margins.append(sums[0] - max(sums[1:]))
            first += sums[0] > max(sums[1:])
            claimed = dice.randrange(1, len(sums))
            hard_sums.append(sums[claimed])
            hard_margins.append(sums[claimed] - max(sums[:claimed] + sums[claimed + 1 :]))
            placed += 1
        print(
            f"victims {placed}: true source first of {arguments.candidates}: {first} ({first / placed:.1%})", flush=True
        )
        for answer in clean:
            claimed_rid = dice.choice([rid for rid in sorted(prompts) if tenant(rid) != tenant(answer.own)])
            wrong = wrong_for(answer, prompts, claimed_rid, others)
            own, *rest = await bench.all([answer.own, claimed_rid, *wrong], answer.tokens)
            sums = [best_segment(differences(own, scores)).total for scores in rest]
            plain_sums.append(sums[0])
            plain_margins.append(sums[0] - max(sums[1:]))
        for name, sums_, margins_ in (
            ("wrong source of the same template", hard_sums, hard_margins),
            ("clean answer", plain_sums, plain_margins),
        ):
            print(f"false pairs, {name} ({len(sums_)}):")
            print(f"  area by margin to the best other candidate: {area(true_margins, margins_):.4f}")
            print(f"  area by the sum alone: {area(true_sums, sums_):.4f}")
        for name, values in (
            ("true sum", true_sums), ("true margin", true_margins), ("same-template sum", hard_sums),
            ("same-template margin", hard_margins), ("clean sum", plain_sums), ("clean margin", plain_margins),
        ):  # fmt: skip
            ordered = sorted(values)
            print(f"  {name}: min {ordered[0]:.1f} median {ordered[len(ordered) // 2]:.1f} max {ordered[-1]:.1f} nats")
        sys.stdout.flush()
        stock = await boilerplate(bench, prompts, clean, others, dice)
        await whole(
            bench, arguments, prompts, {"victims": victims, "clean answers": clean, "stock sentences": stock}, dice
        )
        print(f"{bench.calls} scorings, {time.process_time() - began:.1f} s of this process")


async def boilerplate(
    bench: Bench, prompts: dict[str, str], clean: Sequence[Answer], others: int, dice: random.Random
) -> list[Answer]:
    """Stock sentences as answers: how many reach the sum and the margin that support needs, for or against."""
    stock: list[Answer] = []
    reached = against = 0
    sums: list[float] = []
    for number, sentence in enumerate(STOCK):
        own = clean[number * len(clean) // len(STOCK)].own
        answer = Answer(f"stock-{number}", tuple(await bench.tokens(sentence)), own, None)
        stock.append(answer)
        claimed = dice.choice([rid for rid in sorted(prompts) if tenant(rid) != tenant(own)])
        wrong = wrong_for(answer, prompts, claimed, others)
        own_scores, *rest = await bench.all([own, claimed, *wrong], answer.tokens)
        found = [best_segment(differences(own_scores, scores)).total for scores in rest]
        sums.append(found[0])
        least, best = needed(len(answer.tokens)), max(found[1:])
        reached += found[0] >= least and found[0] - best >= MARGIN
        against += best >= least and best - found[0] >= MARGIN
    print(f"stock sentences {len(stock)}: {reached} support the claimed source, {against} another; ", end="")
    print(f"greatest sum {max(sums):.1f} nats", flush=True)
    return stock


async def whole(
    bench: Bench,
    arguments: argparse.Namespace,
    prompts: dict[str, str],
    kinds: dict[str, Sequence[Answer]],
    dice: random.Random,
) -> None:
    """The whole test, with 99 wrong sources, on a few answers of each kind."""
    counts: dict[str, dict[str, int]] = {}
    for name, answers in kinds.items():
        step = max(len(answers) // arguments.whole, 1)
        for answer in answers[::step][: arguments.whole]:
            claimed = answer.source or dice.choice(
                [rid for rid in sorted(prompts) if tenant(rid) != tenant(answer.own)]
            )
            wrong = wrong_for(answer, prompts, claimed, LEAST_WRONG)
            own_scores, named, *rest = await bench.all([answer.own, claimed, *wrong], answer.tokens)
            finding = judge(own_scores, {claimed: named}, rest).finding
            counts.setdefault(name, {})[finding] = counts.get(name, {}).get(finding, 0) + 1
    for name, found in counts.items():
        print(f"whole test, {name}: {json.dumps(found, sort_keys=True)}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--engine", type=Path, default=ROOT / ".engine", help="what tests/sglang/harness/install.py made"
    )
    parser.add_argument("--server", help="a running server instead")
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--candidates", type=int, default=20)
    parser.add_argument("--whole", type=int, default=1, help="answers of each kind for the whole test")
    parser.add_argument("--together", type=int, default=4, help="scorings under way at a time")
    arguments = parser.parse_args()
    with ExitStack() as stack:
        url = arguments.server
        if url is None:
            from tests.sglang.harness.server import serving

            folder = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "engine"
            url = stack.enter_context(serving(arguments.engine, folder))
        asyncio.run(measure(arguments, url))


if __name__ == "__main__":
    main()
