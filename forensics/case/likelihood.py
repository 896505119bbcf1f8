"""What does the scoring of a response say, in a sentence? Reads one row of table `likelihoods`; scores nothing."""

from __future__ import annotations

from typing import Any

from forensics.case.store import Case
from forensics.case.words import counted

_SAYS = {
    "supports": "this speaks for the source",
    "another_fits_better": "this speaks against the source: another tenant's prompt fits better",
    "none": "this speaks neither for nor against the source",
    "not_assessed": "too few to conclude anything from it",
}


def likelihood_sentence(case: Case, fragment: str) -> str | None:
    """The outcome for `fragment`; None where it was not scored."""
    rows = case.arrow("case/likelihood_of_fragment", {"fragment": fragment}).to_pylist()
    return _sentence(rows[0]) if rows else None


def _sentence(row: dict[str, Any]) -> str:
    part = (
        f"the prompt of {row['source_request_id']} explains tokens {row['part_start']} to {row['part_end']} of "
        f"{row['tokens']} better than the recipient's own by {row['total']:.1f} nats ({row['needed']:.1f} are needed)"
        if row["part_end"] > row["part_start"]
        else f"the prompt of {row['source_request_id']} explains no part better than the recipient's own"
    )
    others = counted(row["wrong_sources"], "other tenant's prompt", "other tenants' prompts")
    place = f"rank {row['rank']} among it and {others}"
    margin = "" if row["margin"] is None else f", margin {row['margin']:.1f} nats"
    chance = "" if row["p_value"] is None else f", p {row['p_value']:.3g}"
    return f"{part}; {place}{margin}{chance}: {_SAYS[row['finding']]}"
