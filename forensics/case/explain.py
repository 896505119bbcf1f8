"""Why does a fragment have its verdict, and what would change it? Gathers what the tables say. Judges nothing anew.

Without `reveal` it holds ids, offsets, lengths and figures only. With it, both passages are read from the case and
the look is entered in the custody log.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from forensics.case.differences import Differences, differences
from forensics.case.errors import UsageError
from forensics.case.likelihood import likelihood_sentence
from forensics.case.store import Case

SHORTEST_PREFIX = 4
CONTEXT = 80  # code points shown on either side of a revealed passage
A_COPY = 0.3  # raw identity below which two passages are no copies of each other, and are not compared
OWN_SHARE = 0.8  # share of a run that the own prompt holds above which attribution calls it an echo
Span = tuple[int, int]
GROUNDS = ("parts", "tried", "would_change")  # what attribution wrote beside the figures


@dataclass(frozen=True)
class Passage:
    """Text of one place, with a little around it. Leaked text: show it only where it was asked for."""

    request_id: str
    field: str
    start: int
    end: int
    before: str
    text: str
    after: str


@dataclass(frozen=True)
class Part:
    """A word of the fragment and what it carries. Offsets as those of the fragment; `text` only where revealed."""

    start: int
    end: int
    bits: float
    text: str | None = None


@dataclass(frozen=True)
class Candidate:
    """One appearance of the fragment's text at a possible source."""

    rank: int
    source_request_id: str
    source_tenant_id: str | None
    side: str
    field: str
    start: int
    end: int
    similarity: float
    raw_identity: float
    named: bool
    lag_seconds: float | None
    same_worker: bool | None
    overlapped: bool | None
    worker: str | None
    received_at: Any
    relations: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """Everything the case holds about one fragment. Offsets and lengths are code points, times UTC."""

    fragment_id: str
    recipient_request_id: str
    recipient_tenant_id: str | None
    vantage: str
    field: str
    start: int
    end: int
    kind: str
    worker: str | None
    received_at: Any
    finished_at: Any
    verdict: str
    verdict_basis: str
    machine_verdict: str
    verdict_reason: str
    bits: float
    net_bits: float
    q_value: float | None
    stratum: str
    features: dict[str, Any]
    sources: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    margin: float | None
    exclusions_tried: tuple[str, ...]
    set_aside: tuple[dict[str, Any], ...]
    reviews: tuple[dict[str, Any], ...]
    replays: tuple[dict[str, Any], ...]  # per plan that replayed it: verdict, because, text, arms, cures
    recipient_passage: Passage | None = None
    source_passages: tuple[Passage, ...] = ()
    holders: tuple[str, ...] = ()  # tenants of all candidate sources, sorted
    parts: tuple[Part, ...] = ()  # the words that carry most, in the order of the text
    tried: tuple[dict[str, Any], ...] = ()  # rules the fragment survived: rule, measured, limit, meaning
    decoys: tuple[dict[str, Any], ...] = ()  # the strata it was judged in
    differences: tuple[Differences, ...] = ()  # per named source, or the best one; offsets and counts
    would_change: tuple[str, ...] = ()
    likelihood: str | None = None  # what `replay score` found, in a sentence; None: not scored

    @property
    def runner_up(self) -> Candidate | None:
        """The best candidate that is not named as a source."""
        return next((candidate for candidate in self.candidates if not candidate.named), None)

    @property
    def compared(self) -> tuple[Candidate, ...]:
        """The candidates of `source_passages`, in their order: those that are named, else the best one."""
        return tuple(candidate for candidate in self.candidates if candidate.named) or self.candidates[:1]

    def unlike(self, candidate: Candidate) -> tuple[list[Span], list[Span]] | None:
        """Where the passages of recipient and candidate differ, in each; None where the two are no copies."""
        one = next((found for found in self.differences if found.rank == candidate.rank), None)
        if one is None:
            return None
        return (
            [(edit.start, edit.end) for edit in one.edits],
            [(edit.other_start, edit.other_end) for edit in one.edits],
        )


def find_fragment(case: Case, fragment: str) -> dict[str, Any]:
    """The one fragment whose id is, or uniquely starts with, `fragment`. Raises UsageError otherwise."""
    if len(fragment) < SHORTEST_PREFIX:
        raise UsageError(f"give at least {SHORTEST_PREFIX} characters of the fragment id")
    found = case.arrow("case/fragment", {"fragment": fragment}).to_pylist()
    exact = [row for row in found if row["fragment_id"] == fragment]
    if len(found) > 1 and not exact:
        raise UsageError("several fragments have an id that starts so; give more of it")
    if not found:
        raise UsageError("there is no such fragment; `forensics ask CASE review-queue` lists them")
    row: dict[str, Any] = (exact or found)[0]
    return row


def explain(case: Case, fragment: str, *, reveal: bool = False, asked: str = "explain --reveal") -> Explanation:
    """All that the case says about `fragment` (an id or its unique beginning).

    `reveal` adds both passages and enters the look in the custody log, with `asked` for what was called.
    """
    row = find_fragment(case, fragment)
    identity = {"fragment": row["fragment_id"]}
    relations = case.rows("case/relations_of_fragment", identity)
    appearances = case.arrow("case/appearances_of_fragment", identity).to_pylist()
    candidates = tuple(
        Candidate(
            **{key: value for key, value in a.items() if key not in {"lag_us", "content"}},
            lag_seconds=None if a["lag_us"] is None else a["lag_us"] / 1e6,
            relations=tuple(
                f"{name}: {value} ({basis})" for rank, name, value, basis in relations if rank == a["rank"]
            ),
        )
        for a in appearances
    )
    shown = [a for a in appearances if a["named"]] or appearances[:1]
    passage = _passage(case, row, row["recipient_request_id"])
    source_passages = tuple(_passage(case, a, a["source_request_id"]) for a in shown)
    found = orjson.loads(row["features"])
    if reveal:
        case.record("reveal", f"fragment {row['fragment_id']}", reason=asked)
    replays = [
        {**{name: value for name, value in one.items() if name != "figures"}, **orjson.loads(one["figures"])}
        for one in case.arrow("case/replays_of_fragment", identity).to_pylist()
    ]
    excluded = case.arrow("case/exclusions_of_field", {"request": row["request"], "field": row["field"]}).to_pylist()
    return Explanation(
        **{
            name: row[name]
            for name in (
                "fragment_id recipient_request_id recipient_tenant_id vantage field start end kind worker received_at "
                "finished_at verdict verdict_basis machine_verdict verdict_reason bits net_bits q_value stratum"
            ).split()
        },
        features={name: value for name, value in found.items() if name not in GROUNDS},
        sources=tuple(row["sources"]),
        candidates=candidates,
        margin=_margin(candidates),
        exclusions_tried=tuple(row["exclusions_tried"]),
        set_aside=tuple(excluded),
        reviews=tuple(case.arrow("case/reviews_of_fragment", identity).to_pylist()),
        replays=tuple(replays),
        recipient_passage=passage if reveal else None,
        source_passages=source_passages if reveal else (),
        holders=tuple(sorted({c.source_tenant_id for c in candidates if c.source_tenant_id is not None})),
        parts=tuple(_part(part, passage, reveal=reveal) for part in found.get("parts", ())),
        tried=tuple(_measured(case, row, passage.text, tried) for tried in found.get("tried", ())),
        decoys=tuple(case.arrow("case/decoys_of_stratum", {"stratum": row["stratum"]}).to_pylist()),
        differences=tuple(
            differences(a["rank"], passage.text, source.text)
            for a, source in zip(shown, source_passages, strict=True)
            if a["raw_identity"] >= A_COPY
        ),
        would_change=(*_by_people(row, replays), *found.get("would_change", ())),
        likelihood=likelihood_sentence(case, row["fragment_id"]),
    )


def _part(part: list[float], passage: Passage, *, reveal: bool) -> Part:
    start, end = int(part[0]), int(part[1])
    text = passage.text[start - passage.start : end - passage.start] if reveal else None
    return Part(start, end, part[2], text)


def _measured(case: Case, row: dict[str, Any], passage: str, tried: dict[str, Any]) -> dict[str, Any]:
    """A rule that was tried; for `echo`, with how much of the passage the request's own prompt holds (in runs of ten
    letters or more), which is measured here."""
    if tried["rule"] != "echo":
        return tried
    from forensics.text.fold import fold
    from forensics.text.runs import covered

    units = fold(passage).units
    own = [fold(text).units for _, text in case.rows("case/own_prompt", {"request": row["request"]})]
    share = float(covered(units, own).mean()) if units.size else 0.0
    return {**tried, "measured": round(share, 3), "limit": OWN_SHARE}


def _by_people(row: dict[str, Any], replays: list[dict[str, Any]]) -> list[str]:
    """What a decision or a trial would do to the verdict, by the rules of scope."""
    memory = any(one["verdict"] == "model_memory" for one in replays)
    if row["verdict"] == "confirmed":
        return ["weaker: a person's rejection (forensics review) would set it aside"]
    if row["verdict"] == "excluded":
        return ["stronger: a later acceptance (forensics review) would bring it back"]
    if row["machine_verdict"] == "probable" and memory:
        return [
            "stronger: only a person's acceptance (forensics review) would confirm it: in a replay the text came "
            "without the requests that it would come from (model memory or habit), so no replay lifts it",
            "weaker: a person's rejection would set it aside",
        ]
    if row["machine_verdict"] == "probable":
        return [
            "stronger: a person's acceptance (forensics review), or a replay that reproduces it, would confirm it",
            "weaker: a person's rejection would set it aside",
        ]
    return [
        "weaker: a person's rejection (forensics review) would set it aside; an acceptance lifts nothing weaker than "
        "probable"
    ]


def _margin(candidates: tuple[Candidate, ...]) -> float | None:
    """How much more of the fragment the best named candidate covers than the runner-up (shares, 0..1)."""
    named = [candidate.similarity for candidate in candidates if candidate.named]
    others = [candidate.similarity for candidate in candidates if not candidate.named]
    return max(named) - max(others) if named and others else None


def _passage(case: Case, row: dict[str, Any], request_id: str) -> Passage:
    """Read in any case, for lengths and differences; shown only where it was asked for."""
    text = case.rows("case/content_text", {"content": row["content"]})[0][0]
    start, end = row["start"], row["end"]
    return Passage(
        request_id,
        row["field"],
        start,
        end,
        text[max(0, start - CONTEXT) : start],
        text[start:end],
        text[end : end + CONTEXT],
    )
