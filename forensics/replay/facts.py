"""What does a server say of itself, and what can its release do? Picks it out of answers; asks nobody."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")
PAUSES = (0, 5, 6)  # since then a pause has modes; before, it aborted everything
SALTS = (0, 5, 16)  # 0.5.18 has a field for the salt in /generate, 0.5.15 has none
KEYS = (0, 5, 3)  # since then there is an extra_key
SEEDS = (0, 5, 3)
# Settings that decide what a trial is worth. Nothing else of a server's answer is kept: it holds keys and paths.
FLAGS = frozenset(
    "model_path served_model_name tokenizer_path dtype quantization kv_cache_dtype device tp_size dp_size pp_size "
    "disable_radix_cache disable_overlap_schedule disable_cuda_graph chunked_prefill_size max_running_requests "
    "schedule_policy page_size enable_deterministic_inference enable_hierarchical_cache speculative_algorithm "
    "disaggregation_mode attention_backend sampling_backend random_seed max_total_tokens context_length "
    "enable_mixed_chunk incremental_streaming_output stream_output tokenizer_worker_num mem_fraction_static".split()
)


@dataclass(frozen=True)
class Facts:
    """What a server says of itself. `version` is None where it does not tell; `flags` are those of FLAGS."""

    version: str | None
    model: str | None
    flags: dict[str, Any]

    @property
    def release(self) -> tuple[int, ...] | None:
        """The version as three numbers."""
        found = VERSION.match(self.version or "")
        return tuple(int(part) for part in found.groups()) if found else None

    def since(self, release: tuple[int, ...]) -> bool:
        """Whether the server is of this release or a later one; an unknown one counts as the newest."""
        return self.release is None or self.release >= release

    @property
    def pauses(self) -> bool:
        """Whether it can stop between two forward passes without aborting what runs."""
        return self.since(PAUSES)

    @property
    def incremental(self) -> bool:
        """Whether a stream of /generate carries only what is new."""
        return bool(self.flags.get("incremental_streaming_output") or self.flags.get("stream_output"))
