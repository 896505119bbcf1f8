import sys
from collections.abc import Callable
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

from case_builder import CaseBuilder, hostile_case, small_case

from forensics.report import run as report
from forensics.scope import run as scope
from forensics.timeline import run as timeline


def build(builder: CaseBuilder, root: Path, parameters: report.Parameters | None = None) -> Path:
    with builder.write(root) as case:
        timeline.run(case, timeline.Parameters())
        scope.run(case, scope.Parameters())
        report.run(case, parameters or report.Parameters())
    return root


@pytest.fixture
def reported() -> Callable[..., Path]:
    return build


# The finished cases are only read, so one of each serves all tests of the folder.
@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(small_case(), tmp_path_factory.mktemp("small") / "c")


@pytest.fixture(scope="session")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(hostile_case(), tmp_path_factory.mktemp("hostile") / "c")
