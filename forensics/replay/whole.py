"""`replay run` as one call: read the plan, play what is missing, judge everything, enter it in the case.

The case is open only at the start and the end, so that it can be read while trials run.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from forensics.case.errors import UsageError
from forensics.case.manifest import write_manifest
from forensics.case.store import Case
from forensics.case.words import counted
from forensics.replay import judge, results
from forensics.replay.judge import LeakVerdict
from forensics.replay.plan import read_plan
from forensics.replay.records import check_whole, read_responses, read_trials
from forensics.replay.run import Options, Progress, run


@dataclass(frozen=True)
class Replayed:
    """What a run left. `played`: trials of this run; `trials`: of the plan so far; `carried`: trials whose text came
    out of the server after they were over."""

    plan_id: str
    case: Path
    played: int
    trials: int
    carried: int
    verdicts: tuple[LeakVerdict, ...]
    notes: tuple[str, ...]
    warnings: tuple[str, ...]


def replay(path: Path, options: Options, progress: Progress | None = None) -> Replayed:
    """Run the plan at `path` (plan.json or its folder, inside its case). Raises what its parts raise."""
    started = datetime.now(UTC)
    plan, texts = read_plan(path)
    folder = (path if path.is_dir() else path.parent).absolute()
    root = folder.parent.parent
    if folder.name != plan.plan_id or folder.parent.name != "replay":
        raise UsageError(f"{path} does not lie in its case; run the plan where `replay plan` wrote it")
    restricted = root / "restricted" / "replay" / plan.plan_id
    with Case.open(root) as case:
        case.record("replay run", f"plan {plan.plan_id}", plan.texts_sha256, reason=_asked(options))
    done = run(plan, texts, folder, restricted, options, progress)
    trials = read_trials(folder / "trials.jsonl")
    responses = read_responses(restricted / "responses.jsonl")
    check_whole(trials, responses)
    verdicts, judged = judge.judge(plan, texts, trials, responses, done.skipped)
    carried = judge.carried_over(plan, texts, trials, responses)
    with Case.open(root) as case:
        results.record(case, plan, trials, verdicts, judged, done.notes, carried)
        outcome = ", ".join(f"{one.fragment_id} {one.verdict}" for one in verdicts)
        case.record("replay judge", f"plan {plan.plan_id}", reason=f"{counted(len(trials), 'trial')}: {outcome}")
        write_manifest(case, "replay run", started, {})
    return Replayed(
        plan.plan_id, root, done.trials, len(trials), carried, verdicts, done.notes, _warnings(verdicts, carried)
    )


def _asked(options: Options) -> str:
    arms = ", ".join(options.arms) or "all"
    return f"arms: {arms}; trials: {options.trials or 'as planned'}; speed {options.speed:g}; fresh: {options.fresh}"


def _warnings(verdicts: tuple[LeakVerdict, ...], carried: int) -> tuple[str, ...]:
    found = []
    memory = sum(one.verdict == judge.MEMORY for one in verdicts)
    clean = sum(one.verdict == judge.NOT for one in verdicts)
    if memory:
        found.append(f"{counted(memory, 'leak')} came without the requests it would come from: model memory or habit")
    if clean:
        found.append(f"{counted(clean, 'leak')} did not come again, which clears nobody")
    if carried:
        found.append(
            f"after {counted(carried, 'trial')} the server still gave out text of it: the fault outlives requests"
        )
    return tuple(found)
