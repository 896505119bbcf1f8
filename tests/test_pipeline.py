"""`run` hands its settings to the stages that need them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from forensics import pipeline
from forensics.case.errors import UsageError
from forensics.case.stage import Summary
from forensics.case.store import Case, Resources
from forensics.cli.options import Rule, rules_off


def test_rules_that_are_switched_off_reach_attribution(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: dict[str, Any] = {}

    def stage(case: Any, name: str, settings: dict[str, Any], progress: Any) -> Summary:
        given[name] = settings
        return Summary(name, {})

    monkeypatch.setattr(pipeline, "_run", stage)
    off = rules_off([Rule.template, Rule.shared, Rule.shared])
    pipeline.run(tmp_path / "case", pipeline.PipelineParameters((), without_rules=off))
    assert given["attribution"]["without_rules"] == ("shared", "template")
    assert not any("without_rules" in settings for name, settings in given.items() if name != "attribution")


def test_a_stage_says_what_it_rests_on_has_not_run_or_is_of_before(tmp_path: Path) -> None:
    logs = [tmp_path / name for name in ("first.jsonl", "second.jsonl")]
    for at, log in enumerate(logs):
        log.write_text(
            "".join(
                json.dumps(
                    {
                        "request_id": f"{at}-{tenant}",
                        "tenant_id": tenant,
                        "ts": f"2026-05-01T00:00:0{at}Z",
                        "prompt": f"What is {tenant}?",
                        "response": f"{tenant} is a letter.",
                    }
                )
                + "\n"
                for tenant in ("alpha", "beta")
            )
        )
    case = tmp_path / "case"

    def told(stage: str, **settings: Any) -> list[str]:
        warnings = pipeline.run_stage(case, stage, settings).warnings
        return [text for text in warnings if "run here" in text or "of before" in text]

    with Case.create(case, Resources()):  # a case whose ingest was interrupted
        pass
    for stage in ("attribution", "timeline", "scope", "report", "controls"):
        with pytest.raises(UsageError, match="run `forensics ingest` first"):
            pipeline.run_stage(case, stage)

    assert told("ingest", evidence=(logs[0],)) == []
    assert told("scope") == [
        "`forensics attribute` has not run here: what scope takes from it is missing",
        "`forensics timeline` has not run here: what scope takes from it is missing",
    ]
    assert told("attribution") == []
    assert told("timeline") == []
    assert told("scope") == []
    assert told("ingest", evidence=(logs[1],)) == []
    before = "attribution is of before ingest ran again: run `forensics attribute` once more"
    assert before in told("timeline")
    assert before in told("scope")  # though the timeline, which stands between, is up to date
    assert told("attribution") == []
    assert told("scope") == ["timeline is of before attribution ran again: run `forensics timeline` once more"]
    assert told("timeline") == []
    assert told("scope") == []
    assert told("scope") == []  # skipped: what was recorded is judged, not what was told
