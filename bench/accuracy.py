"""How much of what leaked is found, and how much is invented? On simulated incidents with ground truth.

For each seed: simulate, run, evaluate; then one table over all seeds with the figures that the project promises: recall
by length of the leak, wrong tenants, false fragments per 10,000 clean responses.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

BANDS = ("<40", "40-79", "80-199", "200+")
PROMISED = {"40-79": 0.80, "80-199": 0.95, "200+": 0.95}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[101, 102, 103])
    parser.add_argument("--requests", type=int, default=11000)
    parser.add_argument("--tenants", type=int, default=80)
    parser.add_argument("--leaks", type=int, default=200)
    parser.add_argument("--ambiguous", type=int, default=10)
    parser.add_argument("--undetermined", type=int, default=10)
    parser.add_argument("--correlated", action="store_true", help="contents follow each other across tenants")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    arguments = parser.parse_args()
    reports = []
    for seed in arguments.seeds:
        print(f"seed {seed} ...", file=sys.stderr, flush=True)
        reports.append(one(seed, arguments))
    total = summed(reports)
    if arguments.json:
        print(json.dumps({"seeds": arguments.seeds, "total": total, "reports": reports}))
    else:
        show(arguments.seeds, reports, total)


def one(seed: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """The evaluation of one simulated incident."""
    with tempfile.TemporaryDirectory() as scratch:
        incident, case = Path(scratch) / "incident", Path(scratch) / "case"
        options = ["--correlated"] if arguments.correlated else []
        for name in ("requests", "tenants", "leaks", "ambiguous", "undetermined"):
            options += [f"--{name}", str(getattr(arguments, name))]
        forensics("simulate", str(incident), "--seed", str(seed), *options)
        tenants = str(incident / "tenants.csv")
        forensics("run", str(incident / "logs"), "--case", str(case), "--tenants", tenants, "--quiet")
        return forensics("evaluate", str(case), str(incident / "truth.jsonl"))


def forensics(*command: str) -> dict[str, Any]:
    """A verb's data."""
    done = subprocess.run([sys.executable, "-m", "forensics", *command, "--json"], check=True, capture_output=True)
    data: dict[str, Any] = json.loads(done.stdout)["data"]
    return data


def summed(reports: list[dict[str, Any]]) -> dict[str, Any]:
    """Counts over all seeds."""
    counts: Counter[str] = Counter()
    for report in reports:
        counts["responses"] += report["responses"]
        counts["leaks"] += report["leaks"]
        counts["false_strong"] += report["false_strong"]
        counts["wrong_tenants"] += report["wrong_tenants"]
        counts["affected_exact"] += report["affected_requests"]["exact"]
        for cell in report["strong_cells"]:
            if cell["kind"] == "all":
                counts[f"leaks {cell['band']}"] += cell["leaks"]
                counts[f"found {cell['band']}"] += cell["found"]
        for cell in report["cells"]:
            if cell["kind"] == "all":
                counts[f"found at any verdict {cell['band']}"] += cell["found"]
    return dict(counts)


def show(seeds: list[int], reports: list[dict[str, Any]], total: dict[str, Any]) -> None:
    """The table for people."""
    print(f"seeds {', '.join(map(str, seeds))}: {total['responses']} responses examined, {total['leaks']} leaks")
    print(
        f"{'characters':12}{'leaks':>8}{'probable+':>11}{'recall':>9}{'any verdict':>13}{'recall':>9}{'promised':>10}"
    )
    for band in (*BANDS, "all"):
        leaks = total.get(f"leaks {band}", 0)
        found, weak = total.get(f"found {band}", 0), total.get(f"found at any verdict {band}", 0)
        promised = f"{PROMISED[band]:.2f}" if band in PROMISED else "-"
        print(f"{band:12}{leaks:8}{found:11}{share(found, leaks):>9}{weak:13}{share(weak, leaks):>9}{promised:>10}")
    per = total["false_strong"] * 10_000 / total["responses"] if total["responses"] else 0.0
    print(f"findings that name a wrong tenant: {total['wrong_tenants']} (promised 0)")
    print(f"false fragments probable or better per 10,000 responses: {per:.2f} (promised 1 at most)")
    print(f"affected requests exactly right: {total['affected_exact']} of {len(reports)} incidents")


def share(part: int, whole: int) -> str:
    """A share, or a dash of nothing."""
    return f"{part / whole:.3f}" if whole else "-"


if __name__ == "__main__":
    main()
