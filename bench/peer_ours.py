"""The tool itself for `peers.py`: attribution of a case, whole or up to some step, with what it finds and CPU seconds.

The parts are steps of `forensics.attribution.run`, called in its order: who changes that changes this too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path

from forensics.attribution import run as attribution
from forensics.attribution.altered import find_altered
from forensics.attribution.candidate import Candidate
from forensics.attribution.candidates import build
from forensics.attribution.corpus import Corpus
from forensics.attribution.evidence import gather
from forensics.attribution.hits import Carriers, find_hits
from forensics.attribution.holdings import load_world
from forensics.attribution.parameters import Parameters
from forensics.attribution.public_sets import without_public
from forensics.attribution.seeds import scan
from forensics.attribution.settled import settle
from forensics.attribution.templates import without_templates
from forensics.attribution.texts import Texts
from forensics.case.store import Case
from forensics.evaluate.records import Finding, read_findings

Clock = Callable[[], float]
Stretch = Callable[[Case, Parameters, Clock], tuple[list[Finding], float]]


def whole(case: Case, parameters: Parameters, clock: Clock) -> tuple[list[Finding], float]:
    """All of attribution. What it found is what `forensics run` wrote for the case."""
    started = clock()
    attribution.run(case, parameters)
    return read_findings(case.out / "fragments.jsonl"), clock() - started


def copies(case: Case, parameters: Parameters, clock: Clock) -> tuple[list[Finding], float]:
    """Copied passages, exact or altered, judged; without the searches for what no peer looks for."""
    started = clock()
    with closing(Corpus(case, load_world(case))) as corpus:
        world, texts = corpus.world, Texts(corpus)
        found = scan(corpus)
        limits = parameters.shared_limit, parameters.phrase_limit
        grams, tokens = (find_hits(world, part.groups(), *limits) for part in (found.grams, found.tokens))
        carriers = (Carriers(world, found.grams), Carriers(world, found.tokens))
        candidates, _ = build(world, texts, grams, tokens, carriers)
        altered, _ = find_altered(world, texts, grams, carriers)
        candidates = [*candidates, *altered]
        for explain in (without_public, without_templates):
            candidates, _ = explain(texts, candidates, carriers, parameters)
        judged, _, _ = gather(texts, candidates, found.token_counts, parameters)
        judged = settle(judged)
        seconds = clock() - started
        found.tokens.close()
        found.grams.close()
        return findings(texts, ((item.candidate, item.units) for item in judged)), seconds


def exact(case: Case, parameters: Parameters, clock: Clock) -> tuple[list[Finding], float]:
    """From texts in memory to exact runs and who holds them; nothing is judged."""
    with closing(Corpus(case, load_world(case))) as corpus:
        world, texts = corpus.world, Texts(corpus)
        corpus.data(0)  # reads them all
        limits = parameters.shared_limit, parameters.phrase_limit
        started = clock()
        found = scan(corpus)
        grams, tokens = (find_hits(world, part.groups(), *limits) for part in (found.grams, found.tokens))
        carriers = (Carriers(world, found.grams), Carriers(world, found.tokens))
        candidates, _ = build(world, texts, grams, tokens, carriers)
        seconds = clock() - started
        found.tokens.close()
        found.grams.close()
        runs = (item for item in candidates if item.family == "target")
        return findings(texts, ((item, [holder.unit for holder in item.holders]) for item in runs)), seconds


STRETCHES: dict[str, Stretch] = {"ours": whole, "ours, copies": copies, "ours, exact runs": exact}


def findings(texts: Texts, named: Iterable[tuple[Candidate, list[int]]]) -> list[Finding]:
    """Candidates with the units that are named for them, in code points of the answers."""
    world = texts.corpus.world
    found = []
    for item, units in named:
        start, end = texts.folded(item.content).span(item.start, item.end)
        request, tenants = item.request, frozenset(world.requests.unit_names[unit] for unit in units)
        found.append(
            Finding(
                world.requests.request_id[request],
                world.uses.field[item.use],
                start,
                end,
                tenants,
                "verbatim",
                "possible",
                world.requests.tenant_id[request],
            )
        )
    return found


def attributed(root: Path, name: str, clock: Clock) -> tuple[list[Finding], float]:
    """A stretch of attribution on the case at `root`, the second time: the first one loads what was compiled."""
    with Case.open(root) as case:
        for seed in (1, 2):  # with the same parameters the stage would be skipped
            result = STRETCHES[name](case, Parameters(seed=1000 + seed), clock)
    return result
