"""`run` hands its settings to the stages that need them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forensics import pipeline
from forensics.case.stage import Summary
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
