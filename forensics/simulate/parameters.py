"""What a simulated incident is made of, and what the simulator says about the one it made. Does no work."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

FAULTS = (
    "host_cache_restore",
    "prefix_key_without_tenant",
    "slot_reuse_after_abort",
    "stream_buffer_kept",
    "response_cache_without_tenant",
    "connection_off_by_one",
)
FORMS = ("sglang", "house")
COMPRESSIONS = ("none", "gz", "zst")
SLOT_POLICIES = ("lifo", "fifo")


@dataclass(frozen=True)
class Parameters:
    """One simulated log.

    `leaks` counts the affected responses; `ambiguous` of them carry text that two tenants had supplied, `undetermined`
    of them text whose source is not in the log. Where the traffic offers too few chances, fewer are planted and the
    summary says so. `correlated` lets neighbouring requests of different tenants draw from the same pool of text.
    `long_prompt_chars` is the shortest prompt (characters of all its messages) that a fault of the engine hits.
    `target_bytes` scales the length of the documents so that the raw logs come near that size. `seconds_per_request`
    is the mean time between two arrivals. The deploy that starts the faults and the fix that ends them stand at
    `deploy_share` and `fix_share` of the log's duration. `kinds` are classes or families of `kinds.py`, or `all`: then
    the leaks are of these, by faults that fit, and the traffic holds what they need; without them all leaks are copies.
    """

    seed: int = 1
    tenants: int = 60
    requests: int = 2000
    workers: int = 4
    leaks: int = 40
    faults: tuple[str, ...] = FAULTS
    correlated: bool = False
    ambiguous: int = 0
    undetermined: int = 0
    corpus: Path | None = None
    form: str = "sglang"
    compress: str = "none"
    slots: int = 8
    slot_policy: str = "lifo"
    long_prompt_chars: int = 4000
    target_bytes: int | None = None
    start: str = "2026-05-11T06:00:00"
    seconds_per_request: float = 1.0
    deploy_share: float = 0.25
    fix_share: float = 0.8
    model: str = "glm-5.3"
    kinds: tuple[str, ...] = ()


@dataclass(frozen=True)
class SimulationSummary:
    """What was written. Counts are of the whole log; `missing_leaks` could not be planted for want of a chance."""

    out: Path
    requests: int
    aborted: int
    responses: int
    tenants: int
    leaks: int
    missing_leaks: int
    affected_requests: int
    affected_tenants: int
    by_fault: dict[str, int]
    by_kind: dict[str, int]
    by_length: dict[str, int]
    lookalikes: dict[str, int]
    raw_bytes: int
    files: tuple[str, ...]
    by_class: dict[str, int]
    by_language: dict[str, int]
