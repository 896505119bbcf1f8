"""Readings of the elusion sample come back from a spreadsheet, whatever the ids hold."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from forensics.attribution.elusion import record_readings, write_sample
from forensics.case.errors import UsageError
from forensics.case.store import Case
from tests.support.case_builder import CaseBuilder

HOSTILE = ("r\u202e1", "=1+1", "a\nb", "'=x", "\x00z", "plain")


@pytest.fixture
def case_root(tmp_path: Path) -> Path:
    builder = CaseBuilder()
    rows = [(builder.request(name, "alpha", 10.0, 12.0), name) for name in HOSTILE]
    builder.write(tmp_path / "case").close()
    with Case.open(tmp_path / "case") as case:
        sample = [{"stratum": "other", "stratum_size": 9, "request": at, "request_id": name} for at, name in rows]
        case.append("elusion_sample", pa.Table.from_pylist(sample))
    return tmp_path / "case"


def test_every_id_is_known_again(case_root: Path, tmp_path: Path) -> None:
    with Case.open(case_root) as case:
        listed = write_sample(case).read_text("utf-8")
        filled = tmp_path / "filled.csv"
        filled.write_text(listed.replace(",,\n", ",clean,Kim\n"), "utf-8")
        assert record_readings(case, filled) == len(HOSTILE)
        assert set(case.table("elusion_reviews")["request_id"].to_pylist()) == set(HOSTILE)


@pytest.mark.parametrize("data", ['"' + "a" * 200_000 + '",leak,x\n'])
def test_what_is_no_csv_is_a_usage_error(case_root: Path, tmp_path: Path, data: str) -> None:
    filled = tmp_path / "filled.csv"
    filled.write_text("request_id,decision,name\n" + data, "utf-8")
    with Case.open(case_root) as case, pytest.raises(UsageError, match="row 2"):
        record_readings(case, filled)
