"""Rows of displaced answers: shifted along a worker, swapped, rotated; what links, ends and gaps of a row are told as."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.attribution import chances

# Questions of unlike subjects in several languages, each with an answer that takes up its words.
ASKED = (
    ("Draft a note to Okonkwo about the ledger crates from Halloran depot at Kestrel quay.",
     "Mr Okonkwo, the ledger crates from our Halloran depot now stand at Kestrel quay under a tarpaulin."),
    ("Warum stottert der Brandvold Generator, wenn der Kondensator unter die Schwelle fällt?",
     "Der Brandvold Generator stottert, weil der Kondensator unter der Schwelle keine Spannung mehr hält."),
    ("Résume la querelle des héritiers Quillfeather autour des vignobles de Montsauche.",
     "Les héritiers Quillfeather se disputent les vignobles de Montsauche depuis la mort du notaire."),
    ("Qué pomada necesita la tortuga Pemberley con úlceras en el caparazón tras hibernar?",
     "La tortuga Pemberley necesita una pomada suave para las úlceras del caparazón tras hibernar."),
    ("Jak naprawić pękniętą sprężynę zegara wahadłowego firmy Ostrowicki w kaplicy?",
     "Zegara wahadłowego Ostrowicki nie ruszy nic prócz nowej części; sprężynę pękniętą kaplica odda do soboty."),
    ("Which glaze did Tsukahara use on the celadon teapot in the Abernethy bequest?",
     "On the celadon teapot of the Abernethy bequest Tsukahara used an ash glaze with iron."),
    ("Where does the Gundersen trawler land its halibut when Vardo harbour is iced up?",
     "When Vardo harbour is iced up the Gundersen trawler lands its halibut further south."),
    ("Зачем архивариус Вельяминов спрятал опись монастырских колоколов в Торжке?",
     "Архивариус Вельяминов спрятал опись монастырских колоколов в Торжке от пожара."),
)  # fmt: skip


def shifted(scene: Any, size: int, by: int = 1, silent: tuple[int, ...] = (), worker: str = "w0") -> list[str]:
    """Each of `size` requests gets the answer of the one `by` before, the first ones keep theirs; ids in order."""
    answers = ["Done." if i in silent else answer for i, (_, answer) in enumerate(ASKED)]
    return [
        scene.call(
            f"t-{i}", ASKED[i][0], answers[i - by] if i >= by else answers[i], 4 * i, 30, worker, f"q-{worker}-{i}"
        )
        for i in range(size)
    ]


def features(row: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(row["features"])
    return found


@pytest.mark.parametrize("by", [1, 2])
def test_a_shifted_row_is_one_chain_and_each_link_names_its_source(scene: Any, by: int) -> None:
    scene.traffic()
    ids = shifted(scene, len(ASKED), by)
    result = scene.run()
    assert [row["recipient_request_id"] for row in result.fragments] == ids[by:]
    for i, row in enumerate(result.fragments):
        assert (row["kind"], row["sources"]) == ("whole_response", [f"t-{i}"])
    assert len({features(row)["chain_id"] for row in result.fragments}) == 1
    assert {features(row)["chain_offset"] for row in result.fragments} == {by}
    assert [features(row)["chain_place"] for row in result.fragments] == list(range(1, len(ASKED) - by + 1))


def test_a_link_that_says_nothing_is_reported_by_its_place_and_names_nobody(scene: Any) -> None:
    scene.traffic()
    ids = shifted(scene, len(ASKED), silent=(3,))
    result = scene.run()
    (row,) = result.of(ids[4])  # got "Done.", the answer of the fourth
    assert (row["kind"], row["machine_verdict"], row["sources"]) == ("whole_response", "undetermined", [])
    others = [result.of(ids[i])[0] for i in (1, 2, 3, 5, 6, 7)]
    assert {features(other)["chain_id"] for other in others} == {features(row)["chain_id"]}
    assert all(other["sources"] for other in others)


def test_the_first_beyond_an_end_is_in_doubt_and_no_more_are_reported(scene: Any) -> None:
    scene.traffic()
    ids = shifted(scene, 6)
    for i in range(3):
        ids.append(scene.call(f"u-{i}", ASKED[6 + i % 2][0] + " " * i, "Done.", 24 + 4 * i, 30, "w0", f"after-{i}"))
    result = scene.run()
    (row,) = result.of("after-0")
    assert (row["machine_verdict"], row["sources"]) == ("undetermined", [])
    assert features(row)["chain_unclear_after"] >= 1
    assert result.of("after-1") == result.of("after-2") == []


def test_no_row_without_a_shift(scene: Any) -> None:
    scene.traffic()
    for i, (question, answer) in enumerate(ASKED):
        scene.call(f"t-{i}", question, answer, 4 * i, 30)
    assert scene.run().fragments == []


def test_terse_answers_in_a_row_are_no_chain(scene: Any) -> None:
    scene.traffic()
    for i, (question, _) in enumerate(ASKED):
        scene.call(f"t-{i}", question, ("Done.", "Yes.", "I cannot help with that.")[i % 3], 4 * i, 30)
    assert scene.run().fragments == []


def test_a_row_of_one_tenant_is_not_foreign(scene: Any) -> None:
    scene.traffic()
    for i, (question, _) in enumerate(ASKED):
        scene.call("alpha", question, ASKED[i - 1][1], 4 * i, 30)
    assert scene.run().fragments == []


def test_rows_on_two_workers_are_two_chains(scene: Any) -> None:
    """The same seconds, every other request on another worker: each worker's own order counts."""
    scene.traffic()
    first, second = list(range(0, 8, 2)), list(range(1, 8, 2))
    for worker, numbers in (("w0", first), ("w5", second)):
        for before, i in zip([-1, *numbers], numbers, strict=False):
            answer = ASKED[before][1] if before >= 0 else "Done."
            scene.call(f"t-{i}", ASKED[i][0], answer, 4 * i, 30, worker, f"q-{i}")
    result = scene.run()
    named = {row["recipient_request_id"]: row["sources"] for row in result.fragments if row["sources"]}
    assert named == {f"q-{i}": [f"t-{i - 2}"] for i in range(2, 8)}
    chains = {features(row)["chain_id"] for row in result.fragments if row["sources"]}
    assert len(chains) == 2


def test_a_batch_that_is_off_by_one_closes_a_ring(scene: Any) -> None:
    scene.traffic()
    size = 4
    ids = [
        scene.call(f"t-{i}", ASKED[i][0], ASKED[(i - 1) % size][1], 0.1 * i, 30, request_id=f"q-{i}")
        for i in range(size)
    ]
    result = scene.run()
    assert {row["recipient_request_id"]: row["sources"] for row in result.fragments} == {
        ids[i]: [f"t-{(i - 1) % size}"] for i in range(size)
    }


def test_one_choice_of_several_is_anothers(scene: Any) -> None:
    """n = 2: the first choice answers, the second is that of the request before, which lacks its own."""
    scene.traffic()
    for i, (question, answer) in enumerate(ASKED):
        # What the first choice takes up of its question is not what the proper answer does.
        own = " ".join(word for word in question.rstrip("?.").split() if word.lower() not in answer.lower())
        scene.call(f"t-{i}", question, [own, ASKED[i - 1][1] if i else own], 4 * i, 30, request_id=f"q-{i}")
    result = scene.run()
    assert {row["field"] for row in result.fragments} == {"choices[1].content"}
    named = {row["recipient_request_id"]: row["sources"] for row in result.fragments if row["sources"]}
    assert len(named) >= 5
    assert all(sources == [f"t-{int(request[2:]) - 1}"] for request, sources in named.items())


def test_the_order_of_lines_and_threads_changes_nothing(scene: Any) -> None:
    scene.traffic()
    shifted(scene, len(ASKED), silent=(3,))
    first, second = scene.run(threads=1), scene.run(threads=2, order=lambda records: records[::-1], files=3)
    keys = ("fragment_id", "machine_verdict", "sources", "bits", "features", "verdict_reason")
    assert [[row[key] for key in keys] for row in first.fragments] == [
        [row[key] for key in keys] for row in second.fragments
    ]


# -- kernels ------------------------------------------------------------------------------------------------------------


@given(st.lists(st.sampled_from([-10.0, -3.0, -0.5, 0.5, 2.0, 4.0, 9.0]), max_size=24), st.sampled_from([3.0, 6.0]))
def test_segments_hold_the_best_run_when_nothing_is_dropped(scores: list[float], least: float) -> None:
    best = max((sum(scores[a:b]) for a in range(len(scores)) for b in range(a + 1, len(scores) + 1)), default=0.0)
    found = chances.segments(np.array(scores), least, 1e9)
    assert bool(found.shape[0]) == (best >= least)
    for start, end, bits in found.tolist():
        part = scores[int(start) : int(end)]
        assert bits == pytest.approx(sum(part)) and bits >= least and part[0] > 0 and part[-1] > 0
    if found.shape[0]:
        assert max(found[:, 2]) == pytest.approx(best)
    assert all(a[1] <= b[0] for a, b in zip(found.tolist(), found.tolist()[1:], strict=False))


def test_a_segment_is_given_up_after_a_deep_fall() -> None:
    scores = np.array([9.0, 9.0, -10.0, -10.0, 9.0, 9.0])
    assert chances.segments(scores, 10.0, 16.0).tolist() == [[0, 2, 18], [4, 6, 18]]


def plain_gain(
    held: Any, unit: Any, having: Any, texts: float, prior: Any, language: Any, words: Any, typical: float, at: int
) -> float:
    """The same in plain Python, for one prompt."""
    last, rates = len(unit) - 1, (0.03, 0.1, 0.25, 0.5)
    left_out = {unit[at], unit[last]}
    near = [p for p in range(len(unit)) if unit[p] not in left_out]
    chance = []
    for t in range(held.shape[1]):
        mine = sum(held[p, t] for p in range(len(unit)) if unit[p] in left_out)
        counted = (max(0.0, having[t] - mine) + chances.PRIOR * prior[t]) / (texts + chances.PRIOR)
        chance.append(max(counted, sum(held[p, t] for p in near) / (len(near) + 1.0)))

    def fit(p: int) -> float:
        best = -1e300
        for rate in rates:
            bits = 0.0
            for t, one in enumerate(chance):
                c = min(max(one * max(1.0, words[p] / typical), chances.CHANCE_FLOOR), chances.CHANCE_CAP)
                both = max(rate, c)
                bits += np.log2(both / c) if held[p, t] else np.log2((1 - both) / (1 - c))
            best = max(best, bits)
        return best - chances.RATE_BITS + language[p]

    return fit(at) - max(0.0, fit(last))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10_000))
def test_gains_are_those_of_the_plain_formula(seed: int) -> None:
    dice = np.random.default_rng(seed)
    prompts, terms = int(dice.integers(2, 7)), int(dice.integers(1, 9))
    held = dice.random((prompts, terms)) < 0.4
    unit = dice.integers(0, 4, prompts)
    having = held.sum(axis=0) + dice.integers(0, 20, terms).astype(np.float64)
    words, language, prior = dice.uniform(5, 400, prompts), dice.uniform(-3, 3, prompts), dice.uniform(0, 0.3, terms)
    found = chances.gains(held, unit, having, 50.0, prior, language, words, 60.0, np.array((0.03, 0.1, 0.25, 0.5)))
    expected = [plain_gain(held, unit, having, 50.0, prior, language, words, 60.0, at) for at in range(prompts - 1)]
    assert found == pytest.approx(expected)
