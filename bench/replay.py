"""How often is a leak reproduced on a real engine that has the fault, and how often on one that has not?

    PYTHONPATH=. python bench/replay.py --engine .engine --leaks 4 --trials 3

For each captured incident (`sample_logs/sglang-FAULT`): a case, a plan of its clearest leaks with surrogate texts, its
arms alone, control and original on SGLang's CPU server with the fault on; then all plans with no fault on, as often as
makes `--off` trials or more. Prints one JSON line per fault and one at the end. Needs `make test-sglang`'s engine.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
import time
from collections import Counter
from pathlib import Path

from forensics.replay.whole import Replayed
from tests.sglang.harness.replays import COMPANY, FAULTS, engine_for, facts, planned, replayed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", type=Path, default=Path(".engine"))
    parser.add_argument("--faults", nargs="*", default=FAULTS, metavar="FAULT")
    parser.add_argument("--leaks", type=int, default=4, help="leaks of each incident")
    parser.add_argument("--trials", type=int, default=3, help="trials per arm with the fault on")
    parser.add_argument("--company", type=int, default=COMPANY, help="requests beside the recipient")
    parser.add_argument("--off", type=int, default=200, help="trials with no fault on, in all, at least; 0: none")
    parser.add_argument("--only-off", action="store_true", help="leave the part with faults out")
    parser.add_argument("--cases", type=Path, help="a folder for the cases; kept and used again")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        cases = given.cases or Path(scratch) / "cases"
        plans = [
            planned(fault, cases / fault, given.engine.resolve(), given.leaks, given.trials, given.company)
            for fault in given.faults
        ]
        folder = Path(scratch) / "engine"
        with engine_for(plans, given.engine.resolve(), folder) as url:
            for plan in () if given.only_off else plans:
                began, before = time.monotonic(), facts(folder, "leak")
                found = replayed(plan, url, folder, on=True)
                print(
                    json.dumps(
                        {
                            "fault": plan.fault,
                            **figures(found),
                            "plugin": facts(folder, "leak") - before,
                            "seconds": round(time.monotonic() - began),
                        }
                    ),
                    flush=True,
                )
            rounds = math.ceil(given.off / sum(len(plan.arms) for plan in plans))
            total: Counter[str] = Counter()
            for plan in plans if given.off else ():
                found = replayed(plan, url, folder, on=False, trials=rounds)
                total["trials"] += found.trials
                total["hits"] += sum(arm.hits + arm.absent for leak in found.verdicts for arm in leak.arms)
                total["elsewhere"] += sum(arm.elsewhere for leak in found.verdicts for arm in leak.arms)
                total["reproduced"] += sum(leak.reproduced for leak in found.verdicts)
                print(json.dumps({"fault": None, "plan_of": plan.fault, **total}), flush=True)


def figures(found: Replayed) -> dict[str, object]:
    """Leaks reproduced in company, and hits of trials per arm."""
    arms: dict[str, list[int]] = {}
    for leak in found.verdicts:
        for arm in leak.arms:
            one = arms.setdefault(arm.name, [0, 0, 0, 0, 0, 0])
            for place, number in enumerate(
                (arm.hits, arm.absent, arm.from_source, arm.elsewhere, arm.failed, arm.trials)
            ):
                one[place] += number
    names = ("hits", "not_sent", "from_source", "elsewhere", "failed", "trials")
    verdicts = [leak.verdict for leak in found.verdicts]
    return {
        "leaks": len(verdicts),
        "reproduced_in_company": sum(one == "reproduced_in_company" for one in verdicts),
        "verdicts": {one: verdicts.count(one) for one in sorted(set(verdicts))},
        "arms": {name: dict(zip(names, one, strict=True)) for name, one in arms.items() if one[-1] or one[-2]},
        "carried_over": found.carried,
    }


if __name__ == "__main__":
    main()
