"""The attribution stage: contents in, fragments, appearances, exclusions and decoy strata out.

Says which step comes when; the steps live in their own modules. Uses request times and workers only; slots and
batches are the timeline's. Spike-ins are `controls`.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from typing import Any

from forensics.attribution.altered import find_altered
from forensics.attribution.canaries import find_canaries
from forensics.attribution.canary_list import CanaryList, canaries_of, keep, read_canaries
from forensics.attribution.candidates import build
from forensics.attribution.chains import marked
from forensics.attribution.copies import propose
from forensics.attribution.corpus import Corpus
from forensics.attribution.evidence import gather
from forensics.attribution.findings import Judged
from forensics.attribution.foreign_language import find_language_switches, switching_texts
from forensics.attribution.foreign_script import find_switches
from forensics.attribution.hits import Carriers, find_hits
from forensics.attribution.holdings import load_world
from forensics.attribution.interleaved import find_interleaved
from forensics.attribution.mixed import follow_origins
from forensics.attribution.names import find_names
from forensics.attribution.parameters import Parameters
from forensics.attribution.public_sets import without_public
from forensics.attribution.rare_names import find_rare_names
from forensics.attribution.reconcile import reconcile
from forensics.attribution.returned import without_returned
from forensics.attribution.seeds import scan
from forensics.attribution.settled import settle
from forensics.attribution.strange import find_strange
from forensics.attribution.structure import find_structure
from forensics.attribution.swapped import find_swapped
from forensics.attribution.tables import store
from forensics.attribution.templates import without_templates
from forensics.attribution.texts import Texts
from forensics.attribution.tool_calls import find_tool_calls
from forensics.case.references import digest
from forensics.case.stage import Summary, run_stage
from forensics.case.store import Case

__all__ = ["Parameters", "run"]

Progress = Callable[[str, int, int], None]
WRITES = ("fragments", "appearances", "exclusions", "decoy_strata")


def run(case: Case, parameters: Parameters, progress: Progress | None = None) -> Summary:
    """Attribute the case's responses. Reads the ingest stage; replaces its own four tables (canaries too, if given)."""
    listed = canaries_of(case) if parameters.canaries is None else read_canaries(parameters.canaries)
    new = parameters.canaries is not None
    recorded = replace(parameters, canaries=None, canaries_sha256=listed.sha256)

    def work() -> tuple[dict[str, Any], tuple[str, ...]]:
        if new:
            keep(case, listed)
        world = load_world(case)
        # Passes over the texts that need no result of another run beside the steps that keep a single core busy.
        ahead = ThreadPoolExecutor(1)
        with closing(Corpus(case, world)) as corpus:
            try:
                return _work(corpus, recorded, listed, progress, ahead)
            finally:
                ahead.shutdown(cancel_futures=True)

    return run_stage(case, "attribution", recorded, ("ingest",), WRITES, work, digest(case))


def _work(
    corpus: Corpus, parameters: Parameters, listed: CanaryList, progress: Progress | None, ahead: ThreadPoolExecutor
) -> tuple[dict[str, Any], tuple[str, ...]]:
    case, world = corpus.case, corpus.world
    warnings = [
        *listed.warnings,
        *(
            f"{rule}: this rule is switched off; the others judge what it would set aside"
            for rule in parameters.without_rules
        ),
    ]
    parameters = parameters.in_effect()
    if len(world.requests.unit_names) < 2:
        warnings.append(
            f"{'one' if world.requests.unit_names else 'no'} tenant is known: without two, nothing can be foreign. "
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

    found = scan(corpus, tick)
    switching = ahead.submit(switching_texts, corpus)
    strange = ahead.submit(find_strange, corpus)
    proposed = ahead.submit(propose, corpus, found.grams)
    rare = ahead.submit(find_rare_names, corpus, parameters)
    if case.resources.threads == 1:
        rare.result()  # the last of them
    grams = find_hits(world, found.grams.groups(), parameters.shared_limit, parameters.phrase_limit)
    tokens = find_hits(world, found.tokens.groups(), parameters.shared_limit, parameters.phrase_limit)
    texts = Texts(corpus)
    carriers = (Carriers(world, found.grams), Carriers(world, found.tokens))
    candidates, excluded = build(world, texts, grams, tokens, carriers)
    altered, explained = find_altered(world, texts, grams, carriers)
    mixed, own_streams, unmixed = find_interleaved(corpus, texts, parameters)
    warnings.extend(unmixed)
    candidates, excluded = [*candidates, *altered, *mixed], [*excluded, *explained, *own_streams]
    for explain in (without_public, without_templates):
        candidates, explained = explain(texts, candidates, carriers, parameters)
        excluded.extend(explained)
    judged, dropped, strata = gather(texts, candidates, found.token_counts, parameters)
    judged = settle(judged)
    found.tokens.close()
    switches = find_switches(world, found.scripts, texts, _taken(judged), [*excluded, *dropped])
    excluded.extend(dropped)
    switches += find_language_switches(corpus, texts, switching.result(), [*judged, *switches], excluded)
    displaced = find_swapped(
        corpus,
        texts,
        strange.result(),
        proposed.result(),
        found.scripts,
        grams,
        judged,
        excluded,
        any(s.correlated for s in strata),
        parameters,
    )
    found.grams.close()
    warnings.extend(displaced.warnings)
    whole = {item.candidate.use for item in displaced.judged}
    parts = [item for item in judged if not displaced.tells(item)]
    parts += [item for item in switches if item.candidate.use not in whole]
    found_so_far = marked([*parts, *displaced.judged], displaced.marks)
    correlated = any(s.correlated for s in strata)
    names, unsaid, by_names = find_names(corpus, texts, rare.result(), found_so_far, excluded, correlated, parameters)
    excluded.extend(unsaid)
    warnings.extend(rare.result().warnings)
    strata.extend(by_names)
    # A form may name whose the labels are where another test only saw that they are foreign; `reconcile` settles it.
    naming = [item for item in found_so_far if item.units]
    forms, formless = find_structure(corpus, texts, naming, excluded, parameters)
    excluded.extend(formless)
    calls, uncalled = find_tool_calls(corpus, texts, naming, parameters)
    excluded.extend(uncalled)
    every, own, said = find_canaries(corpus, texts, listed, [*found_so_far, *names, *forms, *calls], parameters)
    excluded.extend(own)
    warnings.extend(said)
    every, returned = without_returned(world, texts, follow_origins(every))
    excluded.extend(returned)
    counts = store(case, world, texts, reconcile(every), excluded, strata, parameters)
    if progress:
        progress("attribute", total, total)
    warnings.extend(f"{s.name}: no q-value is printed: {s.reason}" for s in strata if not s.valid)
    figures: dict[str, Any] = {
        "candidates": sum(1 for c in candidates if c.family == "target"),
        "decoys": sum(1 for c in candidates if c.family == "decoy"),
        "canaries": len(listed.canaries),
        "canary_lines_rejected": listed.rejected,
        **counts,
    }
    return figures, tuple(warnings)


def _taken(judged: list[Judged]) -> dict[int, list[tuple[int, int]]]:
    """Unit spans already reported, by use."""
    spans: dict[int, list[tuple[int, int]]] = {}
    for item in judged:
        spans.setdefault(item.candidate.use, []).append((item.candidate.start, item.candidate.end))
    return spans
