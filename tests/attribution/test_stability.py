"""The same evidence gives the same result: rerun, in another order, in other files, on other threads."""

from __future__ import annotations

from typing import Any

import pytest

from forensics.attribution.parameters import Parameters

SECRET = "the depot in Halloran Street shipped seventeen crates of printed ledgers to the wrong quay on Tuesday"
SECOND_SECRET = "霍兰街仓库周二把十七箱账簿错运到三号码头承运人要求先付清仓储费再放货"


def incident(scene: Any) -> None:
    """Leaks of several kinds, a set of two suppliers, shared text, a tie."""
    scene.traffic(tenants=6)
    scene.call("alpha", f"Note: {SECRET}.", "Noted.", 0)
    scene.call("delta", f"Aside ({SECRET}) ok", "Noted.", 0)
    scene.call("gamma", f"注：{SECOND_SECRET}。", "好的。", 5)
    scene.call("gamma", "File 4471998211750 now.", "Filed.", 6)
    scene.call("beta", "How are eggs boiled?", f"Well, {SECRET}!", 60)
    scene.call("beta", "How are eggs fried?", f"Hm. {SECOND_SECRET}。", 70)
    scene.call("epsilon", "Name three rivers.", f"Rhine. {SECRET[:70]} and 4471 9982 1175 0.", 80)
    for i in range(5):
        scene.call(f"shop-{i}", "The notice says: closed for stocktaking until the ninth of Brumaire.", "Yes.", 90 + i)
    scene.call("epsilon", "Why closed?", "Closed for stocktaking until the ninth of Brumaire, it says.", 120)


def told(result: Any, ties: bool = True) -> dict[str, list[tuple[Any, ...]]]:
    """Everything a reader sees, without the keys that the order of reading gives.

    `ties=False` leaves out what depends on which of several equally good sources stands first.
    """
    keys = {"request", "content"} if ties else {"request", "content", "rank", "features"}
    return {
        name: sorted(tuple(str(v) for k, v in sorted(row.items()) if k not in keys) for row in rows)
        for name, rows in (
            ("fragments", result.fragments),
            ("appearances", result.appearances),
            ("exclusions", result.exclusions),
            ("strata", result.strata),
        )
    }


def test_the_incident_has_what_the_other_tests_compare(scene: Any) -> None:
    incident(scene)
    result = scene.run()
    assert sorted(tuple(row["sources"]) for row in result.fragments) == [
        ("alpha", "delta"),
        ("alpha", "delta"),
        ("gamma",),
        ("gamma",),
    ]
    assert "shared" in {row["rule"] for row in result.exclusions}


def test_a_rerun_is_skipped_and_other_parameters_are_not(scene: Any) -> None:
    incident(scene)
    first = scene.run()
    again = scene.again()
    assert (first.summary.skipped, again.summary.skipped) == (False, True)
    assert told(again) == told(first)
    assert again.summary.figures == first.summary.figures
    assert again.summary.warnings == first.summary.warnings
    other = scene.again(Parameters(shared_limit=2))
    assert not other.summary.skipped
    assert told(other) != told(first)
    back = scene.again()
    assert not back.summary.skipped
    assert told(back) == told(first)


@pytest.mark.parametrize("files", [1, 3])
def test_the_order_of_the_evidence_does_not_matter(scene: Any, files: int) -> None:
    incident(scene)
    straight = told(scene.run(), ties=False)
    turned = told(scene.run(order=lambda records: records[::-1], files=files), ties=False)
    assert turned == straight
    shuffled = told(scene.run(order=lambda records: records[5:] + records[:5][::-1], files=files), ties=False)
    assert shuffled == straight


def test_the_order_of_the_evidence_does_not_choose_between_ties(scene: Any) -> None:
    incident(scene)
    assert told(scene.run(order=lambda records: records[::-1])) == told(scene.run())


def test_evidence_that_comes_later_counts_for_what_was_judged_before(scene: Any) -> None:
    """Why new evidence makes the whole stage run again: an old fragment may have a second supplier now."""
    incident(scene)
    later = [record for record in scene.records if record.get("tenant_id") == "delta"]
    scene.records = [record for record in scene.records if record.get("tenant_id") != "delta"]
    before = scene.run()
    assert {tuple(row["sources"]) for row in before.fragments} == {("alpha",), ("gamma",)}
    after = scene.add(later)
    assert {tuple(row["sources"]) for row in after.fragments} == {("alpha", "delta"), ("gamma",)}
    assert told(after, ties=False) == told(scene.run(), ties=False)


def test_the_number_of_threads_does_not_matter(scene: Any) -> None:
    incident(scene)
    # enough text for several batches, so that threads have something to share
    for i in range(300):
        words = " ".join(f"{k * 7919 % 10007}-{(k + i) % 89}" for k in range(i * 40, i * 40 + 2500))
        scene.call(f"bulk-{i % 9}", f"Sum up: {words}", f"Row {i} is in good order.", 1000 + i)
    one, three = told(scene.run(threads=1)), told(scene.run(threads=3))
    assert one == three
    assert len(one["fragments"]) >= 4


def test_fragment_ids_are_unique_and_tied_to_what_they_name(scene: Any) -> None:
    incident(scene)
    before = scene.run()
    ids = {row["fragment_id"] for row in before.fragments}
    assert len(ids) == len(before.fragments)
    scene.call("zeta", "Unrelated.", "Quite unrelated.", 300)
    assert {row["fragment_id"] for row in scene.run().fragments} == ids


def test_offsets_and_tables_agree(scene: Any) -> None:
    """Every appearance belongs to a fragment; ranks run from 1; what is named stands in the sources."""
    incident(scene)
    result = scene.run()
    for fragment in result.fragments:
        rows = [row for row in result.appearances if row["fragment_id"] == fragment["fragment_id"]]
        assert [row["rank"] for row in rows] == list(range(1, len(rows) + 1))
        assert {row["source_tenant_id"] for row in rows if row["named"]} == set(fragment["sources"])
        assert all(0 <= row["start"] < row["end"] for row in rows)
        assert fragment["bits"] > 0
        assert fragment["recipient_tenant_id"] not in fragment["sources"]
    assert {row["fragment_id"] for row in result.appearances} <= {row["fragment_id"] for row in result.fragments}
