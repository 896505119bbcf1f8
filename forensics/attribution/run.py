"""The attribution stage: contents in, fragments, appearances, exclusions and decoy strata out.

Says which step comes when; the steps live in their own modules. Uses request times and workers only; slots and
batches are the timeline's. `altered` and `structure` fragments and spike-ins are not searched for in this version.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from forensics.attribution.candidates import build
from forensics.attribution.corpus import Corpus
from forensics.attribution.evidence import gather
from forensics.attribution.findings import Judged
from forensics.attribution.foreign_script import find_switches
from forensics.attribution.hits import Carriers, find_hits
from forensics.attribution.holdings import load_world
from forensics.attribution.parameters import Parameters
from forensics.attribution.seeds import scan
from forensics.attribution.swapped import find_swapped
from forensics.attribution.tables import store
from forensics.attribution.texts import Texts
from forensics.case.stage import Summary, run_stage
from forensics.case.store import Case

__all__ = ["Parameters", "run"]

Progress = Callable[[str, int, int], None]
WRITES = ("fragments", "appearances", "exclusions", "decoy_strata")


def run(case: Case, parameters: Parameters, progress: Progress | None = None) -> Summary:
    """Attribute the case's responses. Reads the ingest stage; replaces its own four tables."""
    return run_stage(case, "attribution", parameters, ("ingest",), WRITES, lambda: _work(case, parameters, progress))


def _work(case: Case, parameters: Parameters, progress: Progress | None) -> tuple[dict[str, Any], tuple[str, ...]]:
    world = load_world(case)
    warnings: list[str] = []
    if len(world.requests.unit_names) < 2:
        warnings.append(
            f"{len(world.requests.unit_names)} tenants are known: without two, nothing can be foreign. "
            "Supply the tenants with --tenants FILE.csv or add the gateway's log"
        )
    without = int((world.requests.unit < 0).sum())
    if without:
        warnings.append(f"{without} requests have no tenant; their responses are not examined")
    total = int(world.text_bytes.sum())
    done = [0]

    def tick(size: int) -> None:
        done[0] += size
        if progress:
            progress("attribute", min(done[0], total), total)

    corpus = Corpus(case, world)
    found = scan(corpus, tick)
    grams = find_hits(world, found.grams, parameters.shared_limit, parameters.phrase_limit)
    tokens = find_hits(world, found.tokens, parameters.shared_limit, parameters.phrase_limit)
    texts = Texts(corpus)
    candidates, excluded = build(
        world, texts, grams, tokens, (Carriers(world, found.grams), Carriers(world, found.tokens))
    )
    judged, dropped, strata = gather(texts, candidates, (found.tokens_in_responses, found.tokens_in_others), parameters)
    found.grams.close()
    found.tokens.close()
    switches = find_switches(world, found.scripts, texts, _taken(judged), [*excluded, *dropped])
    excluded.extend(dropped)
    swapped, unread = find_swapped(
        corpus, texts, grams, judged, excluded, any(s.correlated for s in strata), parameters
    )
    warnings.extend(unread)
    counts = store(case, world, texts, [*judged, *switches, *swapped], excluded, strata)
    corpus.close()
    if progress:
        progress("attribute", total, total)
    warnings.extend(f"{s.name}: no q-value is printed: {s.reason}" for s in strata if not s.valid)
    figures: dict[str, Any] = {
        "candidates": sum(1 for c in candidates if c.family == "target"),
        "decoys": sum(1 for c in candidates if c.family == "decoy"),
        **counts,
    }
    return figures, tuple(warnings)


def _taken(judged: list[Judged]) -> dict[int, list[tuple[int, int]]]:
    """Unit spans already reported, by use."""
    spans: dict[int, list[tuple[int, int]]] = {}
    for item in judged:
        spans.setdefault(item.candidate.use, []).append((item.candidate.start, item.candidate.end))
    return spans
