"""Does the learned combination find short leaks that bits alone do not, and do the error rates hold?

On logs in which tenants often quote the same rare document by accident (tests/support/quoted.py), with ground truth.
For each seed: matches accepted at a printed q, true leaks among them, the true share of false ones and its printed 95
% bound; by bits alone and by the learned combination; with independent and with serially correlated content, and
without leaks.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from support.quoted import Quoted, write_log

from forensics.attribution.parameters import Parameters
from forensics.attribution.run import run as attribute
from forensics.case.store import Case, Resources
from forensics.ingest.run import Parameters as IngestParameters
from forensics.ingest.run import run as ingest

LEVELS = (0.01, 0.05, 0.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[201, 202, 203])
    parser.add_argument("--requests", type=int, default=4800)
    parser.add_argument("--shared", type=int, default=1400)
    parser.add_argument("--leaks", type=int, default=200)
    arguments = parser.parse_args()
    print(
        f"{'log':24}{'score':10}{'seed':>6}  " + "".join(f"{f'q<={q}: leaks/accepted FDP (bound)':>40}" for q in LEVELS)
    )
    for log, options in (
        ("independent", {}),
        ("correlated", {"correlated": True}),
        ("independent, clean", {"leaks": 0}),
    ):
        for learned in (False, True):
            for seed in arguments.seeds:
                sizes = {
                    "requests": arguments.requests,
                    "shared": arguments.shared,
                    "leaks": arguments.leaks,
                    **options,
                }
                cells = one(seed, learned, sizes)
                print(f"{log:24}{'learned' if learned else 'bits':10}{seed:6}  " + "".join(f"{c:>40}" for c in cells))


def one(seed: int, learned: bool, sizes: dict[str, Any]) -> list[str]:
    """One log: a cell per level of q."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        made = write_log(folder / "logs", seed, **sizes)
        with Case.create(folder / "case", Resources(threads=1)) as case:
            ingest(case, IngestParameters((folder / "logs",), workers=1))
            attribute(case, Parameters(learn_combination=learned))
            rows = case.table("fragments").to_pylist()
    return [cell(rows, made, level) for level in LEVELS]


def cell(rows: list[dict[str, Any]], made: Quoted, level: float) -> str:
    """Leaks among the accepted, the true share of false ones, and its printed bound: false ones at most, by stratum."""
    accepted = [row for row in rows if row["q_value"] is not None and row["q_value"] <= level]
    if not accepted:
        return "0/0"
    true = sum(leak(row, made) for row in accepted)
    return f"{true}/{len(accepted)} {1 - true / len(accepted):.3f} ({bound(accepted):.3f})"


def bound(accepted: list[dict[str, Any]]) -> float:
    """The sum of the strata's bounds of false ones over all accepted."""
    weakest: dict[str, tuple[int, float]] = {}
    for row in accepted:
        known = json.loads(row["features"])
        stratum, rank = known["decoy_stratum"], known["targets_as_good"]
        if rank > weakest.get(stratum, (0, 0.0))[0]:
            weakest[stratum] = (rank, rank * known["false_share_bound"])
    return min(1.0, sum(false for _, false in weakest.values()) / len(accepted))


def leak(row: dict[str, Any], made: Quoted) -> bool:
    """Does the fragment lie on a planted leak?"""
    what = made.planted.get(row["recipient_request_id"])
    return what is not None and what[0] == "leak" and row["start"] < what[2] and row["end"] > what[1]


if __name__ == "__main__":
    main()
