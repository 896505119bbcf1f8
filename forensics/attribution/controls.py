"""Stage `controls`: how much would be missed in this very case, and how much of what is found is false?

Plants copies of other tenants' texts into responses in which nothing was found, in a copy of the case, attributes the
copy blind with the recorded parameters, and counts what is reported. Beside it: public texts under fictitious tenants
(entrapment), a sample of silent responses for a person to read, two detectors against each other, and the rates before
the fault and after its fix where somebody declares when they were. The evidence and the findings stay as they are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from forensics.attribution.case_copy import copied, entrap, plant, rerun
from forensics.attribution.control_figures import (
    Figure,
    Found,
    Outcome,
    elusion_figures,
    entrapment_figures,
    match,
    period_figures,
    recall_figures,
    recapture_figure,
)
from forensics.attribution.corpus import Corpus
from forensics.attribution.elusion import draw_sample, elusion_counts, write_sample
from forensics.attribution.holdings import EARLY, World, load_world
from forensics.attribution.parameters import Parameters as Attribution
from forensics.attribution.public_texts import public_texts
from forensics.attribution.spikes import Planter, Spike, recipients, rounds
from forensics.attribution.texts import Texts
from forensics.case.errors import MissingInput, UsageError
from forensics.case.stage import Summary, run_stage
from forensics.case.store import Case

Progress = Callable[[str, int, int], None]
WRITES = ("controls", "control_spikes", "elusion_sample")
MOST_SHARE = 0.01  # of the responses that may carry a spike in one round
ENTRAPMENT_TENANTS = 20
ENTRAPMENT_NAME = "entrapment-"


@dataclass(frozen=True)
class Parameters:
    """`rounds` of planted leaks, each in under 1 % of the responses; `spikes` at most so many a round.

    `elusion`: silent responses per stratum for a person to read. `entrapment`: a file of public texts, None to leave it
    out. `fault_began`, `fault_fixed`: ISO times as somebody declares them. `confidence` of every interval, 0 to 1.
    """

    rounds: int = 3
    spikes: int = 300
    elusion: int = 60
    entrapment: Path | None = None
    fault_began: str | None = None
    fault_fixed: str | None = None
    confidence: float = 0.95
    seed: int = 0


def run(case: Case, parameters: Parameters, progress: Progress | None = None) -> Summary:
    """Measure. Reads ingest and attribution; replaces its own tables; writes out/elusion_sample.csv."""
    frozen, digest = _frozen(case)
    summary = run_stage(
        case,
        "controls",
        parameters,
        ("ingest", "attribution"),
        WRITES,
        lambda: _work(case, parameters, frozen, digest, progress),
        extra=_decisions_digest(case),
    )
    if summary.skipped and not (case.out / "elusion_sample.csv").is_file():
        write_sample(case)
    return summary


def _work(
    case: Case, parameters: Parameters, frozen: Attribution, digest: str, progress: Progress | None
) -> tuple[dict[str, Any], tuple[str, ...]]:
    steps = parameters.rounds + 2

    def tell(label: str, done: int) -> None:
        if progress is not None:
            progress(label, done, steps)

    tell("drawing", 0)
    world = load_world(case)
    drawn, lacking, per_round, responses = _draw(case, world, parameters)
    outcomes: list[Outcome] = []
    for number, spikes in enumerate(drawn):
        tell(f"round {number + 1}", 1 + number)
        outcomes.extend(_round(case, world, number, spikes, frozen))
    figures = recall_figures(outcomes, parameters.confidence)
    tell("entrapment", steps - 1)
    if parameters.entrapment is not None:
        figures += _entrapment(case, world, parameters, frozen)
    draw_sample(case, parameters.elusion, parameters.seed)
    figures += elusion_figures(elusion_counts(case), parameters.confidence)
    by_text, by_identifier, by_both = case.rows("attribution/detectors")[0]
    figures.append(recapture_figure(by_text, by_identifier, by_both, parameters.confidence))
    began, fixed = _moment(parameters.fault_began), _moment(parameters.fault_fixed)
    figures += period_figures(
        case.rows("attribution/period_findings", {"began": began, "fixed": fixed}), parameters.confidence
    )
    _store(case, world, outcomes, figures, digest)
    write_sample(case)
    tell("done", steps)
    warnings = []
    if per_round > MOST_SHARE * responses:
        warnings.append(f"one spike a round is more than 1 % of {responses} responses: they may disturb each other")
    if lacking:
        warnings.append(
            f"{lacking} spikes could not be drawn: no text of that length and side that one tenant alone holds"
        )
    by_name = {(f.measure, f.part): f for f in figures}
    told: dict[str, Any] = {"spikes": len(outcomes), "spikes_not_drawn": lacking, "rounds": parameters.rounds}
    for name in ("recall.reported", "recall.probable", "wrong_tenant"):
        figure = by_name.get((name, "all"))
        if figure is not None:
            told |= {name: figure.n, f"{name}.low": figure.low, f"{name}.high": figure.high}
    return told, tuple(warnings)


def _frozen(case: Case) -> tuple[Attribution, str]:
    """The parameters of the run of attribution that is measured, and its digest."""
    rows = {row[0]: row for row in case.rows("schema/stage_rows")}
    if "attribution" not in rows:
        raise MissingInput("nothing was attributed yet: `forensics attribute CASE` comes before `forensics controls`")
    recorded = orjson.loads(rows["attribution"][2])
    known = {field.name for field in fields(Attribution)}
    return Attribution(**{name: value for name, value in recorded.items() if name in known}), str(
        rows["attribution"][3]
    )


def _draw(case: Case, world: World, parameters: Parameters) -> tuple[list[list[Spike]], int, int, int]:
    """Spikes of all rounds, how many could not be drawn, how many a round was to have, of how many responses."""
    affected = frozenset(int(row[0]) for row in case.rows("attribution/affected"))
    rows = recipients(world, affected)
    answered = int(np.unique(world.uses.request[world.uses.side == 1]).size)
    per_round = min(parameters.spikes, max(1, int(MOST_SHARE * answered - 1e-9)))
    if rows.size == 0:
        return [], 0, 0, answered
    corpus = Corpus(case, world)
    next(corpus.batches(np.ones(world.text_bytes.size, dtype=np.bool_)), None)  # keeps the texts, where they fit
    planter = Planter(corpus, Texts(corpus), rows, parameters.seed)
    made: list[list[Spike]] = []
    lacking = 0
    for spikes, missing in rounds(planter, parameters.rounds, per_round, parameters.seed):
        made.append(spikes)
        lacking += missing
    return made, lacking, per_round, answered


def _round(case: Case, world: World, number: int, spikes: list[Spike], frozen: Attribution) -> list[Outcome]:
    found: dict[int, list[Found]] = {}
    with copied(case) as copy:
        plant(copy, spikes, int(world.text_bytes.size))
        rerun(copy, frozen)
        rows = copy.rows("attribution/fragments_found", {"requests": sorted({s.request for s in spikes})})
        for request, field, start, end, kind, verdict, sources in rows:
            found.setdefault(request, []).append(Found(field, start, end, kind, verdict, tuple(sources)))
    tenants = _tenants(world)
    return [match(number, s, found.get(s.request, []), tenants.get(s.source_unit, frozenset())) for s in spikes]


def _tenants(world: World) -> dict[int, frozenset[str]]:
    """Tenant ids of each isolation unit."""
    made: dict[int, set[str]] = {}
    for unit, tenant in zip(world.requests.unit.tolist(), world.requests.tenant_id, strict=True):
        if tenant is not None:
            made.setdefault(unit, set()).add(tenant)
    return {unit: frozenset(names) for unit, names in made.items()}


def _entrapment(case: Case, world: World, parameters: Parameters, frozen: Attribution) -> list[Figure]:
    """Family D: whatever is found to come from a tenant who does not exist is false."""
    assert parameters.entrapment is not None
    texts = public_texts(parameters.entrapment)
    dice = np.random.default_rng(parameters.seed)
    volume = int(world.text_bytes[world.is_prompt].sum())
    chosen: list[str] = []
    size = 0
    for place in dice.permutation(len(texts)).tolist():  # as much as the real tenants sent, where there is as much
        if size >= volume:
            break
        chosen.append(texts[place])
        size += len(texts[place].encode("utf-8", "replace"))
    known = world.requests.received[world.requests.received > EARLY]
    if not chosen or known.size == 0:
        return []
    times = np.sort(dice.integers(int(known.min()), int(known.max()) + 1, size=len(chosen)))
    names = ENTRAPMENT_NAME + hashlib.sha256(str(parameters.seed).encode()).hexdigest()[:8] + "-"
    with copied(case) as copy:
        entrap(copy, chosen, ENTRAPMENT_TENANTS, times, names)
        rerun(copy, frozen)
        fragments = copy.table("fragments").select(["machine_verdict", "sources"]).to_pylist()
    counts = {"probable": (0, 0), "any verdict": (0, 0)}
    for row in fragments:
        if not row["sources"]:
            continue
        trapped = any(name.startswith(names) for name in row["sources"])
        for part in ("any verdict", *(("probable",) if row["machine_verdict"] == "probable" else ())):
            real, false = counts[part]
            counts[part] = (real + (not trapped), false + trapped)
    return entrapment_figures(counts, size / volume if volume else 0.0, len(chosen))


def _store(case: Case, world: World, outcomes: list[Outcome], figures: list[Figure], digest: str) -> None:
    ids, tenants = world.requests.request_id, world.requests.tenant_id
    rows = [
        {
            "round": o.round, "kind": o.spike.spike_class.kind, "length": o.spike.spike_class.length,
            "form": o.spike.spike_class.form, "side": o.spike.spike_class.side, "near": o.spike.near,
            "script": o.spike.script, "request": o.spike.request, "request_id": ids[o.spike.request],
            "field": o.spike.field, "start": o.spike.start, "end": o.spike.end,
            "source_request_id": ids[o.spike.source_request], "source_tenant_id": tenants[o.spike.source_request],
            "reported": o.reported, "probable": o.probable, "right_tenant": o.right_tenant,
            "wrong_tenant": o.wrong_tenant, "kinds_found": list(o.kinds),
        }
        for o in outcomes
    ]  # fmt: skip
    if rows:
        table = pa.Table.from_pylist(rows)
        at = table.schema.get_field_index("kinds_found")
        case.append(
            "control_spikes", table.set_column(at, "kinds_found", table["kinds_found"].cast(pa.list_(pa.string())))
        )
    case.append(
        "controls",
        pa.table(
            {
                "measure": [f.measure for f in figures],
                "class": [f.part for f in figures],
                "value": pa.array([f.value for f in figures], pa.float64()),
                "n": pa.array([f.n for f in figures], pa.int64()),
                "total": pa.array([f.total for f in figures], pa.int64()),
                "low": pa.array([f.low for f in figures], pa.float64()),
                "high": pa.array([f.high for f in figures], pa.float64()),
                "method": [f.method for f in figures],
                "attribution_digest": [digest] * len(figures),
            }
        ),
    )


def _moment(text: str | None) -> int | None:
    """UTC microseconds of an ISO time; without an offset it is UTC."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError("a time is written like 2026-05-11T06:00:00Z") from None
    moment = moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment
    return round(moment.timestamp() * 1_000_000)


def _decisions_digest(case: Case) -> str:
    rows = [list(row) for row in case.rows("attribution/elusion_decisions")]
    return hashlib.sha256(orjson.dumps(rows)).hexdigest()
