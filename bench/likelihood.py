"""Does the likelihood test tell true sources from wrong ones? Measured on a real engine, with leaks of a real engine.

    PYTHONPATH=. python bench/likelihood.py --engine .engine [--pairs 50] [--candidates 20] [--server URL]

True pairs: victims of the captured incidents (`sample_logs/sglang-*`: answers that a real engine gave under another
request's context) with the source that the fault plugin noted, by the recorded tokens. False pairs of the hard kind:
the same victims with a wrong source of the same template. False pairs of the plain kind: clean answers of the same
incidents with another tenant's prompt. Boilerplate: stock sentences as answers. Every answer is scored under its own
prompt and under `--candidates` others, of which one is the claimed source (clean answers and stock sentences under
`--clean-candidates`); what is reported is the sum of the best segment and the margin to the best of the others. The
last lines repeat the whole test with 99 wrong sources on a few.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import random
import tempfile
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
    """Scores answers under prompts. What is needed is noted first and asked prompt by prompt, so that a prompt is read
    once and found in the server's prefix cache by all answers that are scored after it."""

    def __init__(self, client: Client, prompts: dict[str, str], together: int) -> None:
        self._client, self._prompts, self._together = client, prompts, together
        self._needed: set[tuple[str, tuple[int, ...]]] = set()
        self._scores: dict[tuple[str, tuple[int, ...]], list[float]] = {}

    @property
    def calls(self) -> int:
        """Scorings so far."""
        return len(self._scores)

    async def tokens(self, text: str) -> tuple[int, ...]:
        """Tokens of a text."""
        return tuple(await self._client.tokenize(text))

    def need(self, rids: Sequence[str], tokens: tuple[int, ...]) -> None:
        """These will be asked for."""
        self._needed.update((rid, tokens) for rid in rids)

    async def fetch(self) -> None:
        """Have the server score what is needed and not known yet."""
        free = asyncio.Semaphore(self._together)
        for rid in sorted({rid for rid, _ in self._needed - self._scores.keys()}):
            prompt = await self._client.tokenize(self._prompts[rid])

            async def score(tokens: tuple[int, ...], rid: str = rid, prompt: list[int] = prompt) -> None:
                async with free:
                    rows = await self._client.score([*prompt, *tokens], len(prompt))
                self._scores[rid, tokens] = [value if value is not None else 0.0 for value, _ in rows]

            first, *rest = sorted(
                tokens for name, tokens in self._needed if name == rid and (rid, tokens) not in self._scores
            )
            await score(first)
            await asyncio.gather(*(score(tokens) for tokens in rest))

    def scores(self, rid: str, tokens: tuple[int, ...]) -> list[float]:
        """What was fetched."""
        return self._scores[rid, tokens]

    def sums(self, answer: Answer, rids: Sequence[str]) -> list[float]:
        """The sum of the best segment under each prompt, against the answer's own."""
        own = self.scores(answer.own, answer.tokens)
        return [best_segment(differences(own, self.scores(rid, answer.tokens))).total for rid in rids]


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
    async with Client(address(url), seconds=300.0) as client:
        bench = Bench(client, prompts, arguments.together)
        stock = [
            Answer(f"stock-{number}", await bench.tokens(sentence), clean[number * len(clean) // len(STOCK)].own, None)
            for number, sentence in enumerate(STOCK)
        ]

        def candidates(answer: Answer, count: int) -> tuple[Answer, list[str]]:
            """The claimed source, the true one where there is one, and wrong ones."""
            others = [rid for rid in sorted(prompts) if tenant(rid) != tenant(answer.own)]
            claimed = answer.source or dice.choice(others)
            rids = [claimed, *wrong_for(answer, prompts, claimed, count - 1)]
            bench.need([answer.own, *rids], answer.tokens)
            return answer, rids

        true_pairs = [candidates(answer, arguments.candidates) for answer in victims]
        clean_pairs = [candidates(answer, arguments.clean_candidates) for answer in clean]
        stock_pairs = [candidates(answer, arguments.clean_candidates) for answer in stock]
        kinds = {"victims": victims, "clean answers": clean, "stock sentences": stock}
        whole = {
            name: [candidates(answer, LEAST_WRONG + 1) for answer in answers[: arguments.whole]]
            for name, answers in kinds.items()
        }
        await bench.fetch()
    areas(bench, arguments, true_pairs, clean_pairs, dice)
    boilerplate(bench, stock_pairs)
    for name, pairs in whole.items():
        counts: dict[str, int] = {}
        for answer, (claimed, *wrong) in pairs:
            own, named = (bench.scores(rid, answer.tokens) for rid in (answer.own, claimed))
            finding = judge(own, {claimed: named}, [bench.scores(rid, answer.tokens) for rid in wrong]).finding
            counts[finding] = counts.get(finding, 0) + 1
        print(f"whole test with {LEAST_WRONG} wrong sources, {name}: {json.dumps(counts, sort_keys=True)}")
    print(f"{bench.calls} scorings")


Pairs = list[tuple[Answer, list[str]]]


def areas(bench: Bench, arguments: argparse.Namespace, true: Pairs, clean: Pairs, dice: random.Random) -> None:
    """How well true pairs are told from false ones, and how often the true source is first."""
    values: dict[str, list[float]] = {}
    first = 0
    for answer, rids in true:
        sums = bench.sums(answer, rids)
        first += sums[0] > max(sums[1:])
        wrong = dice.randrange(1, len(sums))
        for name, claimed in (("true", 0), ("same template", wrong)):
            values.setdefault(f"{name}, sum", []).append(sums[claimed])
            values.setdefault(f"{name}, margin", []).append(sums[claimed] - max(sums[:claimed] + sums[claimed + 1 :]))
    for answer, rids in clean:
        sums = bench.sums(answer, rids)
        values.setdefault("clean answer, sum", []).append(sums[0])
        values.setdefault("clean answer, margin", []).append(sums[0] - max(sums[1:]))
    print(f"victims {len(true)}: true source first of {arguments.candidates}: {first} ({first / len(true):.1%})")
    for kind in ("same template", "clean answer"):
        for statistic in ("margin", "sum"):
            true_values, false_values = values[f"true, {statistic}"], values[f"{kind}, {statistic}"]
            count = f"{len(true_values)} true and {len(false_values)} false pairs"
            print(f"area, {count} ({kind}), by {statistic}: {area(true_values, false_values):.4f}")
    for name, found in values.items():
        ordered = sorted(found)
        print(f"  {name}: min {ordered[0]:.1f} median {ordered[len(ordered) // 2]:.1f} max {ordered[-1]:.1f} nats")


def boilerplate(bench: Bench, pairs: Pairs) -> None:
    """Stock sentences as answers: how many reach the sum and the margin that support needs, for or against."""
    reached = against = 0
    greatest = 0.0
    for answer, rids in pairs:
        sums = bench.sums(answer, rids)
        least, best = needed(len(answer.tokens)), max(sums[1:])
        greatest = max(greatest, *sums)
        reached += sums[0] >= least and sums[0] - best >= MARGIN
        against += best >= least and best - sums[0] >= MARGIN
    print(f"stock sentences {len(pairs)}: {reached} for the claimed source, {against} for another; ", end="")
    print(f"greatest sum {greatest:.1f} nats")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--engine", type=Path, default=ROOT / ".engine", help="what tests/sglang/harness/install.py made"
    )
    parser.add_argument("--server", help="a running server instead")
    parser.add_argument("--pairs", type=int, default=50)
    parser.add_argument("--candidates", type=int, default=20)
    parser.add_argument("--clean-candidates", type=int, default=5, help="of clean answers and stock sentences")
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
