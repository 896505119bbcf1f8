"""Expected values are worked out by hand from the request times given here."""

from __future__ import annotations

from pathlib import Path

from case_builder import SECRET, CaseBuilder, at, small_case

from forensics.timeline.run import NO_SLOTS, Parameters, run


def relations(builder: CaseBuilder, root: Path) -> dict[tuple[str, int, str], str]:
    with builder.write(root) as case:
        run(case, Parameters())
        rows = case.table("appearance_relations").to_pylist()
    assert {row["basis"] for row in rows} == {"derived"}
    return {(row["fragment_id"], row["rank"], row["relation"]): row["value"] for row in rows}


def pair(
    source: tuple[float | None, float | None],
    recipient: tuple[float | None, float | None],
    finish_reason: str = "stop",
    workers: tuple[str | None, str | None] = ("w0", "w0"),
) -> CaseBuilder:
    b = CaseBuilder()
    s = b.request("s", "alpha", *source, worker=workers[0], prompt=SECRET, finish_reason=finish_reason)
    r = b.request("r", "beta", *recipient, worker=workers[1], response=SECRET)
    b.fragment("f", r, 0, len(SECRET), ["alpha"], [(s, "prompt")])
    return b


def test_overlap_is_the_time_both_were_in_flight(tmp_path: Path) -> None:
    found = relations(pair((0, 10), (4, 20)), tmp_path / "c")
    assert found["f", 1, "overlapped_us"] == "6000000"
    assert found["f", 1, "received_first"] == "source"
    assert found["f", 1, "same_worker"] == "yes"
    assert ("f", 1, "source_finished_before_us") not in found
    assert ("f", 1, "source_aborted") not in found


def test_a_finished_source_has_a_gap_and_no_overlap(tmp_path: Path) -> None:
    found = relations(pair((0, 10), (12.5, 20), workers=("w0", "w1")), tmp_path / "c")
    assert found["f", 1, "overlapped_us"] == "0"
    assert found["f", 1, "source_finished_before_us"] == "2500000"
    assert found["f", 1, "same_worker"] == "no"


def test_a_source_that_came_later_is_told_apart(tmp_path: Path) -> None:
    found = relations(pair((5, 9), (0, 10), finish_reason="abort"), tmp_path / "c")
    assert found["f", 1, "received_first"] == "recipient"
    assert found["f", 1, "overlapped_us"] == "4000000"
    assert found["f", 1, "source_aborted"] == "yes"


def test_missing_times_and_workers_are_unknown_not_guessed(tmp_path: Path) -> None:
    found = relations(pair((None, 9), (0, 10), workers=(None, "w0")), tmp_path / "c")
    assert found["f", 1, "overlapped_us"] == "unknown"
    assert found["f", 1, "received_first"] == "unknown"
    assert found["f", 1, "same_worker"] == "unknown"


def test_residencies_say_how_sure_they_are(tmp_path: Path) -> None:
    b = CaseBuilder()
    b.request("exact", "a", 0, 10)
    b.request("no worker", "a", 0, 10, worker=None)
    b.request("no finish", "a", 3, None)
    b.request("backwards", "a", 9, 2)
    b.request("seconds", "a", 0, 10, precision="s")
    b.request("no time", "a", None, None)
    with b.write(tmp_path / "c") as case:
        summary = run(case, Parameters())
        rows = {row["request"]: row for row in case.table("residencies").to_pylist()}
        assert case.count("batches") == case.count("batch_members") == 0
    assert {request: row["confidence"] for request, row in rows.items()} == {0: 1.0, 1: 0.5, 2: 0.5, 3: 0.5, 4: 0.9}
    assert rows[1]["worker"] == "unknown"
    assert (rows[2]["start"], rows[2]["end"]) == (at(3), at(3))
    assert (rows[3]["start"], rows[3]["end"]) == (at(2), at(9))
    assert {row["slot"] for row in rows.values()} == {None}
    assert NO_SLOTS in summary.warnings
    assert summary.figures["requests_without_times"] == 1


def test_worker_rates_add_up_to_the_responses(tmp_path: Path) -> None:
    with small_case().write(tmp_path / "c") as case:
        run(case, Parameters(bucket_seconds=100))
        rows = case.table("worker_rates").to_pylist()
    by_bucket = {(row["worker"], (row["bucket"] - at(0)).total_seconds()): row for row in rows}
    # Finish times: w0 at 20, 90.5, 250, 310, 410; w1 at 15, 150, 200. Buckets start at whole hundreds of epoch seconds.
    assert sum(row["responses"] for row in rows) == 8
    assert by_bucket["w0", 0]["responses"] == 2
    assert by_bucket["w0", 0]["affected"] == 1
    assert by_bucket["w1", 100]["affected"] == 1
    assert sum(row["affected"] for row in rows) == 2


def test_bucket_width_follows_the_span(tmp_path: Path) -> None:
    with small_case().write(tmp_path / "c") as case:
        assert run(case, Parameters(most_buckets=120)).figures["bucket_seconds"] == 5  # 395 s in at most 120
        assert run(case, Parameters(most_buckets=10)).figures["bucket_seconds"] == 60
        assert run(case, Parameters(most_buckets=10)).skipped


def test_an_empty_case_has_an_empty_timeline(tmp_path: Path) -> None:
    with CaseBuilder().write(tmp_path / "c") as case:
        summary = run(case, Parameters())
    assert summary.figures["residencies"] == 0
