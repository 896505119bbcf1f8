"""By which decoys is each match judged, in which stratum, and by which score?

The check of a family comes first, over all its matches; then the matches are cut into strata (exclusive or shared,
short or long lag, prose or code) as far as each part is large enough, by counts that do not know targets from decoys,
and never joined again. In each stratum targets compete with decoys, by the learned score where there is enough to
learn from, else by bits. Says nothing about verdicts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from forensics.attribution import decoys
from forensics.attribution.candidates import Candidate
from forensics.attribution.holdings import LATE, Ints, World
from forensics.attribution.matches import Match, collect
from forensics.attribution.parameters import Parameters
from forensics.attribution.power import NAMES, PLACED, Floats, fixed_scores, learn, measure
from forensics.attribution.sources import Source, leading
from forensics.attribution.strength import Strength
from forensics.attribution.texts import Texts

FAMILIES = (("supplied text", False), ("supplied identifier", True))
MIN_PART = 100  # matches, targets and decoys together, that each part of a cut needs
SHIFT_US = 1_800_000_000  # family C: lag of two responses that counts as short


@dataclass
class Strata:
    """Rows of decoy_strata, and what is known of each candidate (by its index)."""

    rows: list[decoys.Stratum] = field(default_factory=list)
    q_values: dict[int, float] = field(default_factory=dict)
    least_q: dict[int, float] = field(default_factory=dict)  # where no q may be printed: what it is at least
    unsupported: set[int] = field(default_factory=set)  # family B was asked and does not speak for them
    with_identifiers: set[int] = field(default_factory=set)
    measured: dict[int, dict[str, float | int | str | None]] = field(default_factory=dict)

    @property
    def correlated(self) -> bool:
        """Has a check shown that tenants' contents follow each other?"""
        return any(row.correlated for row in self.rows)


def assess(
    texts: Texts,
    candidates: Sequence[Candidate],
    strengths: Sequence[Strength],
    sources: Sequence[Sequence[Source]],
    public: Sequence[bool],
    parameters: Parameters,
) -> Strata:
    """All strata. `public`: candidates that are public text, which compete with nobody."""
    world = texts.corpus.world
    matches = collect(texts, candidates, strengths, sources, public)
    made = Strata()
    waiting: list[tuple[bool, str, list[Match], Floats]] = []
    checks: list[decoys.Check] = []
    for name, token in FAMILIES:
        mine = [match for match in matches if match.token == token]
        check = _check(world, mine, parameters.seed)
        checks.append(check)
        # Decoys are measured only where they will be used. Those that undercount tell how many are false at least.
        competes = check.valid or check.uneven
        shown = mine if competes else [match for match in mine if match.target]
        table = measure(texts, candidates, strengths, shown)
        scores = {match.index: match.bits for match in mine}
        learned = None
        if competes and parameters.learn_combination:
            is_target = np.array([match.target for match in shown], dtype=np.bool_)
            learned = learn(table, is_target, _uses(shown), decoys.band_ratio(world), parameters.seed)
        if learned is not None:
            scores = {match.index: float(score) for match, score in zip(shown, learned.scores, strict=True)}
        _show(shown, table, None if learned is None else learned.scores, made)
        _mirrored(world, name, mine, scores, check, made, parameters.seed, "learned" if learned else "bits")
        waiting.append((check.uneven, name, shown, table))
    correlated = made.correlated  # where one kind's contents follow each other, both are judged by worker
    for uneven, name, shown, table in waiting:
        if correlated or uneven:
            late = [m for m in matches if m.token == dict(FAMILIES)[name] and not m.target]
            _placed(world, name, shown, table, late, made, parameters, correlated=correlated)
    shifted = _shifted(candidates, strengths, sources, checks[0], parameters.seed)
    if shifted is not None:
        made.rows.append(shifted)
    return made


def _check(world: World, matches: Sequence[Match], seed: int) -> decoys.Check:
    """Both tests of family A over one kind of match."""
    check = decoys.flatness(world, [match.lag for match in matches if not match.target])
    shared = [match for match in matches if not match.exclusive]
    bits = {match.index: match.bits for match in shared}
    return decoys.evenness(check, _best(shared, bits, True), _best(shared, bits, False), decoys.band_ratio(world), seed)


def _best(matches: Sequence[Match], scores: dict[int, float], target: bool) -> dict[int, float]:
    """Best score of each response."""
    found: dict[int, float] = {}
    for match in matches:
        if match.target == target:
            found[match.use] = max(found.get(match.use, -math.inf), scores[match.index])
    return found


def _mirrored(
    world: World,
    name: str,
    matches: list[Match],
    scores: dict[int, float],
    check: decoys.Check,
    made: Strata,
    seed: int,
    score_name: str,
) -> None:
    """Family A: q of each target in its stratum, where the check allows it; else what q is at least."""
    parts = cut(world, matches) if check.valid or check.uneven else [Part("", matches, 0, LATE)]
    for part in parts:
        ratio = decoys.band_ratio(world, part.low_us, part.high_us)
        row = decoys.stratum(
            name + part.name, _best(part.matches, scores, True), _best(part.matches, scores, False), ratio, check, seed,
            score_name,
        )  # fmt: skip
        made.rows.append(row)
        _note(row, part.matches, scores, made)


def _uses(matches: Sequence[Match]) -> Ints:
    return np.array([match.use for match in matches], dtype=np.int64)


def _show(matches: Sequence[Match], table: Floats, learned: Floats | None, made: Strata) -> None:
    """Keep what was measured of each target, to be shown with its fragment."""
    fixed = fixed_scores(table)
    for place, match in enumerate(matches):
        if not match.target:
            continue
        values = zip(NAMES, table[place].tolist(), strict=True)
        row: dict[str, float | int | str | None] = {f"match_{name}": round(value, 4) for name, value in values}
        row["identifiers_inside"] = inside = int(table[place][NAMES.index("particulars_inside")])
        if inside:
            made.with_identifiers.add(match.index)
        row["leak_score"] = round(float(fixed[place] if learned is None else learned[place]), 4)
        row["leak_score_by"] = "fixed weights" if learned is None else "weights learned on this case"
        made.measured[match.index] = row


def _placed(
    world: World,
    name: str,
    matches: Sequence[Match],
    table: Floats,
    late: Sequence[Match],
    made: Strata,
    parameters: Parameters,
    *,
    correlated: bool,
) -> None:
    """Family B: q of each target that its own worker may have carried. `late`: matches whose texts came too late."""
    rows = [place for place, match in enumerate(matches) if match.target]
    targets = [matches[place] for place in rows]
    here = [match for match in targets if match.same_worker]
    scores = {match.index: match.bits for match in targets}
    known = [match for match in late if match.same_worker is not None]
    null = len(known), sum(bool(match.same_worker) for match in known)
    ratio = decoys.placement_odds(world, null)
    is_here = np.array([bool(match.same_worker) for match in targets], dtype=np.bool_)
    learned = None
    enough = min(int(is_here.sum()), int((~is_here).sum())) >= MIN_PART
    if parameters.learn_combination and ratio > 0 and enough:
        # What says where a text was served decides who is a target here, and can be no feature.
        learned = learn(table[rows][:, PLACED], is_here, _uses(targets), ratio, parameters.seed)
    if learned is not None:
        scores = {match.index: float(score) for match, score in zip(targets, learned.scores, strict=True)}
    elsewhere = [match for match in targets if not match.same_worker]
    row = decoys.assess_placement(
        world, name, _best(here, scores, True), _best(elsewhere, scores, True), parameters.seed,
        null, "learned" if learned else "bits", correlated=correlated,
    )  # fmt: skip
    made.rows.append(row)
    _note(row, here, scores, made)
    if row.targets >= decoys.MIN_TARGETS:  # enough to judge by: what it does not speak for is not strong
        made.unsupported.update(match.index for match in (elsewhere if row.valid else targets))


def _note(row: decoys.Stratum, matches: Sequence[Match], scores: dict[int, float], made: Strata) -> None:
    for match in matches:
        if not match.target:
            continue
        known = made.measured.setdefault(match.index, {})
        known["decoy_stratum"] = row.name
        if row.competition is None or (row.family == "placement" and not row.valid):
            continue
        score = scores[match.index]
        if not row.valid and row.family == "time-mirrored" and not row.correlated:
            made.least_q[match.index] = row.q_at_least(score)
            known["q_at_least"] = round(made.least_q[match.index], 4)
        if not row.check.valid and row.family == "time-mirrored":
            continue
        expected = row.competition.expected_false(score)
        known["decoys_as_good"] = row.competition.decoys_at(score)
        known["targets_as_good"] = row.competition.targets_at(score)
        known["expected_false"] = None if expected is None else round(expected, 3)
        if row.valid:
            made.q_values[match.index] = row.competition.q_value(score)
            known["false_share_bound"] = round(row.competition.proportion_bound(score), 4)


@dataclass(frozen=True)
class Part:
    """A stratum before it competes: lags in (low, high]."""

    name: str
    matches: list[Match]
    low_us: int
    high_us: int


def cut(world: World, matches: list[Match]) -> list[Part]:
    """Strata by supplier count, lag and kind of text. A cut is made only where both parts have MIN_PART matches."""
    near_edge = decoys.exposure(world)[4]
    parts = [Part("", matches, 0, LATE)]
    parts = [
        small
        for part in parts
        for small in _halves(part, lambda m: m.exclusive, ", exclusive", ", shared", (0, LATE), (0, LATE))
    ]
    parts = [
        small
        for part in parts
        for small in _halves(
            part, lambda m: m.lag <= near_edge, ", short lag", ", long lag", (0, near_edge), (near_edge, LATE)
        )
    ]
    return [
        small
        for part in parts
        for small in _halves(
            part, lambda m: m.code, ", code", ", prose", (part.low_us, part.high_us), (part.low_us, part.high_us)
        )
    ]


def _halves(
    part: Part,
    first: Callable[[Match], bool],
    one: str,
    other: str,
    one_band: tuple[int, int],
    other_band: tuple[int, int],
) -> list[Part]:
    yes = [match for match in part.matches if first(match)]
    no = [match for match in part.matches if not first(match)]
    if min(len(yes), len(no)) < MIN_PART:
        return [part]
    return [Part(part.name + one, yes, *one_band), Part(part.name + other, no, *other_band)]


def _shifted(
    candidates: Sequence[Candidate],
    strengths: Sequence[Strength],
    sources: Sequence[Sequence[Source]],
    check: decoys.Check,
    seed: int,
) -> decoys.Stratum | None:
    """Family C over generated text; None where there is none with a time."""
    short: dict[int, float] = {}
    shifted: dict[int, float] = {}
    for candidate, strength, found in zip(candidates, strengths, sources, strict=True):
        best = leading(list(found))
        lags = [source.lag_us for source in best if source.lag_us is not None]
        if candidate.family != "target" or candidate.token or not lags or any(s.holder.side == 0 for s in best):
            continue
        lag = min(lags)
        if lag > 2 * SHIFT_US:
            continue
        side = short if lag <= SHIFT_US else shifted
        side[candidate.use] = max(side.get(candidate.use, -math.inf), strength.bits)
    if not short and not shifted:
        return None
    return decoys.assess_shifted("generated text, by lag", short, shifted, check, SHIFT_US, seed)
