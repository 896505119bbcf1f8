"""How good is attribution on logs that the simulator did not make? One table over three of them.

By hand: nine small incidents in ten languages with lookalikes (`by_hand.py`). Engine: a recorded run of a real SGLang
with two injected faults (`sample_logs/sglang-cpu`). Corpus: real texts with planted leaks
(`planted_corpus.py`), if `--corpus FILE` is given.

    python bench/outside.py [--corpus FILE] [--keep DIR] [--json]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import by_hand
import planted_corpus
from accuracy import forensics, share

ENGINE = Path(__file__).resolve().parents[1] / "sample_logs" / "sglang-cpu"
COUNTS = ("leaks", "reached", "found", "right_tenant", "wrong_tenant", "right_set")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, help="a corpus file; without it that log is left out")
    parser.add_argument("--seed", type=int, default=1, help="seed of the planting")
    parser.add_argument("--keep", type=Path, help="a folder to keep logs and cases in")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = given.keep or Path(scratch)
        by_hand.main(folder / "by-hand")
        logs = {"by hand": sorted((folder / "by-hand").iterdir())}
        if ENGINE.is_dir():
            logs["engine"] = [ENGINE]
        if given.corpus:
            planted_corpus.build(given.corpus, folder / "corpus", given.seed)
            logs["corpus"] = [folder / "corpus"]
        reports = {
            name: [one(path, folder / "cases" / f"{name.replace(' ', '-')}-{n}") for n, path in enumerate(paths)]
            for name, paths in logs.items()
        }
    if given.json:
        print(json.dumps(reports))
        return
    for name, found in reports.items():
        show(name, found)


def one(incident: Path, case: Path) -> dict[str, Any]:
    """The evaluation of one log."""
    tenants = str(incident / "tenants.csv")
    forensics("run", str(incident / "logs"), "--case", str(case), "--tenants", tenants, "--quiet")
    return forensics("evaluate", str(case), str(incident / "truth.jsonl"))


def show(name: str, reports: list[dict[str, Any]]) -> None:
    """One log's lines: any verdict and sure ones, by class, then what must be nought."""
    print(f"{name}: {len(reports)} logs, {sum(report['responses'] for report in reports)} responses examined")
    for verdict, key in (("any verdict", "classes"), ("probable or better", "strong_classes")):
        print(f"  {verdict:30}{'leaks':>7}{'reached':>9}{'found':>7}{'recall':>8}{'right':>7}{'wrong':>7}{'set':>6}"
              f"{'F1':>7}{'plagdet':>9}")  # fmt: skip
        cells: dict[str, Counter[str]] = {}
        for report in reports:
            for cell in report[key]["classes"] if report[key] else ():
                for into in (cells.setdefault(cell["kind"], Counter()), cells.setdefault("~ all", Counter())):
                    into.update({field: cell[field] for field in COUNTS})
                    into["f1"] += round(1000 * (cell["char_f1"] or 0) * cell["leaks"])
                    into["plagdet"] += round(1000 * (cell["plagdet"] or 0) * cell["leaks"])
        for kind, cell in sorted(cells.items()):
            means = [cell[field] / 1000 / cell["leaks"] for field in ("f1", "plagdet")]
            print(f"  {kind:30}{cell['leaks']:7}{cell['reached']:9}{cell['found']:7}"
                  f"{share(cell['found'], cell['leaks']):>8}{cell['right_tenant']:7}{cell['wrong_tenant']:7}"
                  f"{cell['right_set']:6}{means[0]:7.3f}{means[1]:9.3f}")  # fmt: skip
    total = Counter()
    for report in reports:
        total["findings"] += report["cells"][0]["findings"]
        total["false"] += report["cells"][0]["findings"] - report["cells"][0]["true_findings"]
        total["strong"] += report["strong_cells"][0]["findings"]
        total["false strong"] += report["false_strong"]
        total["wrong"] += report["wrong_tenants"]
        total.update({f"lookalike {label}": count for label, count in report["lookalikes"].items()})
    print(f"  findings {total['findings']}, of them on no leak {total['false']}; probable {total['strong']}, of them "
          f"on no leak {total['false strong']}; naming a wrong tenant {total['wrong']}")  # fmt: skip
    taken = {label: count for label, count in total.items() if label.startswith("lookalike")}
    print(f"  lookalikes taken for leaks at probable: {taken or 'none'}\n")


if __name__ == "__main__":
    main()
