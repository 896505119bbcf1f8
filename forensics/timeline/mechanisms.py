"""How did the text cross, since when, and who else was near it? Which comes when; the judging is done elsewhere.

Leaks that are probable, and apart those that are only possible, are compared with matched controls, fact by fact. It
never touches what is a leak and whose: place and time explain leaks here, they do not find them.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
import pyarrow as pa

from forensics.case.store import Case
from forensics.case.words import counted
from forensics.timeline import catalogue as known
from forensics.timeline import factors, window
from forensics.timeline.judge import (
    MechanismTest,
    PredicateTest,
    SetFact,
    claimed,
    judge_mechanisms,
    judge_predicates,
)

WRITES = (
    "leak_pairs",
    "pair_facts",
    "predicate_tests",
    "mechanism_tests",
    "fault_window",
    "leak_factors",
    "exposures",
)


@dataclass(frozen=True)
class Settings:
    """`alpha`: corrected p-value up to which something is claimed. `most_sets`: leaks that are tested, per level.
    `members`: requests of one customer that may hold the text. `source_controls`, `recipient_controls`: the most per
    leak. `near`: requests before and after on the worker among which controls are sought."""

    alpha: float = 0.01
    confidence: float = 0.95
    most_sets: int = 1000
    members: int = 8
    source_controls: int = 20
    recipient_controls: int = 10
    near: int = 100


def reviews_digest(case: Case) -> str:
    """SHA-256 over the fragments that people rejected: no stage writes them, and they are not tested."""
    rows = [row[0] for row in case.rows("timeline/rejected_fragments")]
    return hashlib.sha256(orjson.dumps(rows)).hexdigest()


def fill(case: Case, settings: Settings) -> tuple[dict[str, Any], list[str]]:
    """Fill the tables of `WRITES` from requests, fragments, residencies, batches, cache hits and engine events.

    Returns figures and warnings of the stage.
    """
    _pairs(case, settings)
    catalogue = known.load()
    case.run("timeline/cached_prefixes", {"of_leaks": True, "low": None, "high": None})
    for query in sorted({predicate.query for predicate in catalogue.predicates if predicate.query is not None}):
        case.run(f"timeline/predicate_{query}")
    facts = _facts(case)
    tests = {
        level: judge_predicates(catalogue, level, facts[level], settings.alpha) for level in ("probable", "possible")
    }
    case.append("predicate_tests", _predicate_table([*tests["probable"], *tests["possible"]], case))
    conditions = dict(case.rows("timeline/conditions"))
    verdicts = judge_mechanisms(catalogue, tests["probable"], conditions, settings.alpha)
    case.append("mechanism_tests", _mechanism_table(verdicts, case))
    bounds = window.find(case, settings.confidence)
    case.append("fault_window", window.table(bounds, case))
    low, high = window.limits(bounds)
    case.append("leak_factors", factors.table(factors.compare(case, low, high, settings), case))
    _exposures(case, tests["probable"], verdicts, low, high, settings.alpha)
    return _summary(case, tests["probable"], verdicts)


def _pairs(case: Case, settings: Settings) -> None:
    limits: dict[str, object] = {
        "most_sets": settings.most_sets,
        "members": settings.members,
        "near": settings.near,
    }
    case.run("timeline/leak_sources", limits)
    case.run("timeline/leak_recipients", limits)
    case.run("timeline/source_controls", limits | {"controls": settings.source_controls})
    case.run("timeline/recipient_controls", limits | {"controls": settings.recipient_controls})


def _facts(case: Case) -> defaultdict[str, defaultdict[str, list[SetFact]]]:
    """The sets by level and predicate."""
    found: defaultdict[str, defaultdict[str, list[SetFact]]] = defaultdict(lambda: defaultdict(list))
    for level, predicate, _, recipient, source, leak, controls, with_fact in case.rows("timeline/strata"):
        found[level][predicate].append(SetFact(recipient, source, leak, with_fact, controls))
    return found


def _predicate_table(tests: Sequence[PredicateTest], case: Case) -> pa.Table:
    rows = []
    for test in tests:
        result = test.result
        rows.append(
            {
                "level": test.level,
                "predicate": test.predicate.name,
                "unit": test.predicate.unit,
                "status": test.status,
                "leaks": result.leaks if result else 0,
                "leaks_with": result.leaks_with if result else 0,
                "controls": result.controls if result else 0,
                "controls_with": result.controls_with if result else 0,
                "unknown": test.unknown,
                "odds_ratio": result.odds_ratio if result else None,
                "low": result.low if result else None,
                "high": result.high if result else None,
                "p_value": result.p_value if result else None,
                "p_holm": test.p_holm,
                "p_beyond": test.p_beyond,
                "rank": test.rank,
                "finding": f"{test.predicate.question}: {test.finding}",
            }
        )
    return pa.Table.from_pylist(rows, schema=case.table("predicate_tests").schema)


def _mechanism_table(verdicts: Sequence[MechanismTest], case: Case) -> pa.Table:
    rows = [
        {
            "hypothesis": verdict.hypothesis.id,
            "title": verdict.hypothesis.title,
            "status": verdict.status,
            "rank": verdict.rank,
            "class": verdict.class_,
            "predicate": verdict.predicate,
            "p_holm": verdict.p_holm,
            "condition": verdict.condition,
            "finding": verdict.finding,
            "missing": verdict.missing,
            "seen_in": verdict.hypothesis.seen_in,
            "source": verdict.hypothesis.source,
        }
        for verdict in verdicts
    ]
    return pa.Table.from_pylist(rows, schema=case.table("mechanism_tests").schema)


def _exposures(
    case: Case,
    tests: Sequence[PredicateTest],
    verdicts: Sequence[MechanismTest],
    low: datetime | None,
    high: datetime | None,
    alpha: float,
) -> None:
    """Those who share a slot, a pass or a prefix with a leak: where that stands as mechanism, cannot be judged, or is
    another sign of a mechanism that stands."""
    standing = {test.predicate.name for test in tests if claimed(test, alpha)}
    open_ = {test.predicate.name for test in tests if test.status in ("too_few", "no_contrast")}
    open_ |= {name for verdict in verdicts if verdict.rank is not None for name in verdict.hypothesis.any}
    time: dict[str, object] = {"low": low, "high": high}
    case.run("timeline/exposed")
    for relation, predicates in (
        ("slot", {"slot_reused", "slot_reused_after_abort", "slot_given"}),
        ("batch", {"same_batch", "same_prefill_batch"}),
        ("prefix", {"poisoned_prefix"}),
        ("namespace", {"excess_cached", "prefix_hit_on_source"}),
    ):
        if not predicates & (standing | open_):
            continue
        supported: dict[str, object] = {"supported": bool(predicates & standing)}
        if relation == "prefix":
            case.run("timeline/cached_prefixes", time | {"of_leaks": False})
            case.run("timeline/exposures_prefix", supported)
        else:
            case.run(f"timeline/exposures_{relation}", time | supported)
    case.run("timeline/exposures")


def _summary(
    case: Case, tests: Sequence[PredicateTest], verdicts: Sequence[MechanismTest]
) -> tuple[dict[str, Any], list[str]]:
    standing = [verdict for verdict in verdicts if verdict.rank is not None]
    first = min(standing, key=lambda verdict: verdict.rank or 0, default=None)
    counts = {status: sum(v.status == status for v in verdicts) for status in sorted({v.status for v in verdicts})}
    figures: dict[str, Any] = {
        "mechanisms": first.class_ if first else None,
        "mechanisms_by_status": counts,
        "predicates_tested": sum(test.p_holm is not None for test in tests),
        "exposures": case.count("exposures"),
    }
    warnings = []
    missing = counts.get("not_testable", 0)
    if missing and any(test.result or test.unknown for test in tests):
        warnings.append(
            f"{counted(missing, 'mechanism')} of the catalogue cannot be tested on these logs; "
            "`forensics ask CASE mechanisms` names what to switch on"
        )
    return figures, warnings
