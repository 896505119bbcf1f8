"""How much of what leaked is found, and how much is invented? On simulated incidents with ground truth.

For each seed: simulate, run, evaluate; then one table over all seeds with the figures that the project promises: recall
by length of the leak, wrong tenants, false fragments per 10,000 clean responses. With `--kinds all` the incidents hold
every kind of leak (30,000 requests of 300 tenants, 750 leaks, unless asked otherwise) and there is one line per class,
per language at equal information, and per figure that the project promises. `--keep DIR` keeps incidents and cases.
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
PLAIN_SIZE = {"requests": 11000, "tenants": 80, "leaks": 200, "undetermined": 10}
KINDS_SIZE = {"requests": 30000, "tenants": 300, "leaks": 750, "undetermined": 0}
# Promised for groups of classes, at any verdict: (group, length) -> recall.
PROMISED_GROUPS = {
    ("interleaved, two streams", "300+"): 0.8,
    ("identifier, one holder", "12+"): 0.9,
    ("whole_response", "all"): 0.98,
}
PROMISED = {"40-79": 0.80, "80-199": 0.95, "200+": 0.95}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="+", default=[101, 102, 103])
    parser.add_argument("--requests", type=int)
    parser.add_argument("--tenants", type=int)
    parser.add_argument("--leaks", type=int)
    parser.add_argument("--ambiguous", type=int, default=10)
    parser.add_argument("--undetermined", type=int)
    parser.add_argument("--kinds", help="kinds of leak by commas, or all; none for plain copies alone")
    parser.add_argument("--keep", type=Path, help="a folder to keep incidents and cases in")
    parser.add_argument("--correlated", action="store_true", help="contents follow each other across tenants")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    arguments = parser.parse_args()
    usual = KINDS_SIZE if arguments.kinds else PLAIN_SIZE
    for name, value in usual.items():
        if getattr(arguments, name) is None:
            setattr(arguments, name, value)
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
        folder = (arguments.keep or Path(scratch)) / f"seed-{seed}"
        incident, case = folder / "incident", folder / "case"
        options = ["--correlated"] if arguments.correlated else []
        if arguments.kinds:
            options += ["--kinds", arguments.kinds]
        for name in ("requests", "tenants", "leaks", "ambiguous", "undetermined"):
            options += [f"--{name}", str(getattr(arguments, name))]
        forensics("simulate", str(incident), "--seed", str(seed), *options)
        run = [
            "run",
            str(incident / "logs"),
            "--case",
            str(case),
            "--tenants",
            str(incident / "tenants.csv"),
            "--quiet",
        ]
        canaries = incident / "canaries.csv"
        if canaries.exists() and knows("run", "--canaries"):
            run += ["--canaries", str(canaries)]
        forensics(*run)
        return forensics("evaluate", str(case), str(incident / "truth.jsonl"))


def knows(verb: str, option: str) -> bool:
    """Whether a verb of the toolkit has an option."""
    shown = subprocess.run([sys.executable, "-m", "forensics", verb, "--help"], capture_output=True, text=True)
    return option in shown.stdout


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
        counts["findings_strong"] += report["strong_cells"][0]["findings"]
        counts["lookalikes_shared"] += round((report["shared_share"] or 0) * report["strong_cells"][0]["findings"])
        for name in ("chains", "chains_whole", "sourceless", "sourceless_named"):
            counts[name] += report["classes"][name] if report["classes"] else 0
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
    if total["sourceless"] or any(report["classes"] for report in reports):
        show_classes(reports, total)
    print(f"affected requests exactly right: {total['affected_exact']} of {len(reports)} incidents")


def show_classes(reports: list[dict[str, Any]], total: dict[str, Any]) -> None:
    """One line per class, per language and per promise."""
    heads = (
        f"{'leaks':>8}{'reached':>9}{'found':>7}{'recall':>8}{'right':>7}{'wrong':>7}{'set':>6}{'F1':>7}{'plagdet':>9}"
    )
    for title, name in (("class", "classes"), ("group", "groups"), ("copies by language and bits", "copies")):
        for verdict, key in (("any verdict", "classes"), ("probable or better", "strong_classes")):
            print(f"\n{title + ', ' + verdict:44}{heads}{'promised':>10}")
            for (kind, length), cell in merged(reports, key, name).items():
                promised = PROMISED_GROUPS.get((kind, length))
                shown = f"{promised:.2f}" if promised is not None and name == "groups" else "-"
                print(
                    f"{kind + ('' if length == 'all' else ' ' + length):44}{cell['leaks']:8}{cell['reached']:9}"
                    f"{cell['found']:7}{share(cell['found'], cell['leaks']):>8}{cell['right_tenant']:7}"
                    f"{cell['wrong_tenant']:7}{cell['right_set']:6}{cell['char_f1']:7.3f}{cell['plagdet']:9.3f}{shown:>10}"
                )
    for verdict, key in (("any verdict", "classes"), ("probable or better", "strong_classes")):
        title = f"copies against English at equal bits, {verdict}"
        print(f"\n{title:56}{'leaks':>8}{'recall':>8}{'English':>9}{'gap':>8}")
        for language, (leaks, own, english) in against_english(merged(reports, key, "copies")).items():
            print(f"{language:56}{leaks:8}{own:8.3f}{english:9.3f}{own - english:8.3f}")
    print(f"\nchains of shifted answers found whole: {total['chains_whole']} of {total['chains']}")
    print(
        f"leaks without a source: {total['sourceless']}, with a tenant named: {total['sourceless_named']} (promised 0)"
    )
    print(
        "boilerplate, templates and same-question answers in probable: "
        f"{share(total['lookalikes_shared'], total['findings_strong'])} (promised 0.010 at most)"
    )


def against_english(cells: dict[tuple[str, str], dict[str, Any]]) -> dict[str, tuple[int, float, float]]:
    """Language -> leaks, recall, recall of English on leaks of the same bits; bands that English lacks are left out."""
    english = {
        band: cell["found"] / cell["leaks"] for (name, band), cell in cells.items() if name == "en" and band != "all"
    }
    found: dict[str, tuple[int, float, float]] = {}
    for language in sorted({name for name, _ in cells}):
        mine = [(b, c) for (name, b), c in cells.items() if name == language and b in english]
        leaks = sum(cell["leaks"] for _, cell in mine)
        if leaks:
            own = sum(cell["found"] for _, cell in mine) / leaks
            found[language] = (leaks, own, sum(cell["leaks"] * english[b] for b, cell in mine) / leaks)
    return found


def merged(reports: list[dict[str, Any]], key: str, name: str) -> dict[tuple[str, str], dict[str, Any]]:
    """Cells of all seeds: counts are added, F1 and plagdet averaged over the leaks."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for report in reports:
        for cell in report[key][name] if report[key] else ():
            into = found.setdefault((cell["kind"], cell["band"]), dict.fromkeys(cell, 0))
            for field in ("leaks", "reached", "found", "right_tenant", "wrong_tenant", "right_set"):
                into[field] += cell[field]
            for field in ("char_f1", "plagdet"):
                into[field] += (cell[field] or 0.0) * cell["leaks"]
    for cell in found.values():
        for field in ("char_f1", "plagdet"):
            cell[field] /= cell["leaks"] or 1
    return dict(sorted(found.items()))


def share(part: int, whole: int) -> str:
    """A share, or a dash of nothing."""
    return f"{part / whole:.3f}" if whole else "-"


if __name__ == "__main__":
    main()
