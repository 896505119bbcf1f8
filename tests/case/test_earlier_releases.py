"""A case that an earlier release made still opens, and can be asked: its tables get the columns that came later."""

from __future__ import annotations

from pathlib import Path

import duckdb

from forensics.case.ask import ask
from forensics.case.store import Case

OLD = """
DROP VIEW IF EXISTS standing_reviews;
DROP TABLE reviews;
DROP TABLE trials;
CREATE TABLE reviews (fragment_id VARCHAR NOT NULL, decision VARCHAR NOT NULL, reason VARCHAR NOT NULL,
    name VARCHAR NOT NULL, "at" TIMESTAMP NOT NULL);
CREATE TABLE trials (fragment_id VARCHAR NOT NULL, arm VARCHAR NOT NULL, trial INTEGER NOT NULL, seed BIGINT,
    server VARCHAR, hit BOOLEAN, verdict VARCHAR, log_likelihood_ratio DOUBLE);
INSERT INTO reviews VALUES ('F-1', 'accept', 'looked at it', 'R. Eviewer', TIMESTAMP '2026-05-11 06:00:00');
"""


def test_reviews_and_trials_of_an_earlier_release(tmp_path: Path) -> None:
    with Case.create(tmp_path / "case"):
        pass
    with duckdb.connect(str(tmp_path / "case" / "case.duckdb")) as old:
        for statement in OLD.split(";\n"):
            if statement.strip():
                old.execute(statement)
    with Case.open(tmp_path / "case") as case:
        assert [row["decision"] for row in ask(case, "reviews").records()] == ["accept"]
        assert ask(case, "replays").rows == ()
        assert case.table("reviews").to_pylist()[0]["sources"] is None
