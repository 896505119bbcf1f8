"""Why does a fragment have its verdict? Gathers what the tables say about one fragment. Judges nothing anew.

Without `reveal` it holds ids, offsets, lengths and figures only. With it, both passages are read from the case and
the look is entered in the custody log.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson

from forensics.case.errors import UsageError
from forensics.case.store import Case

SHORTEST_PREFIX = 4
CONTEXT = 80  # code points shown on either side of a revealed passage


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
    recipient_passage: Passage | None = None
    source_passages: tuple[Passage, ...] = ()

    @property
    def runner_up(self) -> Candidate | None:
        """The best candidate that is not named as a source."""
        return next((candidate for candidate in self.candidates if not candidate.named), None)


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


def explain(case: Case, fragment: str, *, reveal: bool = False) -> Explanation:
    """All that the case says about `fragment` (an id or its unique beginning).

    `reveal` adds both passages and enters the look in the custody log.
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
    passage: Passage | None = None
    source_passages: tuple[Passage, ...] = ()
    if reveal:
        case.record("reveal", f"fragment {row['fragment_id']}", reason="explain --reveal")
        passage = _passage(case, row, row["recipient_request_id"])
        shown = [a for a in appearances if a["named"]] or appearances[:1]
        source_passages = tuple(_passage(case, a, a["source_request_id"]) for a in shown)
    excluded = case.arrow("case/exclusions_of_field", {"request": row["request"], "field": row["field"]}).to_pylist()
    return Explanation(
        **{
            name: row[name]
            for name in (
                "fragment_id recipient_request_id recipient_tenant_id vantage field start end kind worker received_at "
                "finished_at verdict verdict_basis machine_verdict verdict_reason bits net_bits q_value stratum"
            ).split()
        },
        features=orjson.loads(row["features"]),
        sources=tuple(row["sources"]),
        candidates=candidates,
        margin=_margin(candidates),
        exclusions_tried=tuple(row["exclusions_tried"]),
        set_aside=tuple(excluded),
        reviews=tuple(case.arrow("case/reviews_of_fragment", identity).to_pylist()),
        recipient_passage=passage,
        source_passages=source_passages,
    )


def _margin(candidates: tuple[Candidate, ...]) -> float | None:
    """How much more of the fragment the best named candidate covers than the runner-up (shares, 0..1)."""
    named = [candidate.similarity for candidate in candidates if candidate.named]
    others = [candidate.similarity for candidate in candidates if not candidate.named]
    return max(named) - max(others) if named and others else None


def _passage(case: Case, row: dict[str, Any], request_id: str) -> Passage:
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
