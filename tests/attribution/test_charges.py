"""What the search costs: figures by hand for sixteen requests."""

from __future__ import annotations

from math import log2
from types import SimpleNamespace

import numpy as np
import pytest

from forensics.attribution.charges import LENGTHS, Charges, TokenCounts, count_tokens, no_tokens, sketch


def ints(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


OTHERS = 14


def world(workers: bool = True) -> SimpleNamespace:
    """Requests with a prompt of 1000 bytes and an answer of 50: two on one worker at a time, each other by itself."""
    number = 2 + OTHERS
    rows = np.arange(number)
    names = ["w", "w", *(f"v{other}" for other in range(OTHERS))]
    return SimpleNamespace(
        text_bytes=np.tile(ints(1000, 50), number),
        is_response=np.tile(np.array([False, True]), number),
        requests=SimpleNamespace(
            request_id=[str(row) for row in rows],
            worker=names if workers else [None] * number,
            received=5 * rows,
            finished=5 * rows + 10,
        ),
        uses=SimpleNamespace(
            request=np.repeat(rows, 2), content=np.arange(2 * number), side=np.tile(ints(0, 1), number)
        ),
    )


def tokens(in_responses: dict[int, int], everywhere: dict[int, int]) -> TokenCounts:
    made = TokenCounts(np.zeros(LENGTHS), np.zeros(LENGTHS))
    for counts, given in ((made.in_responses, in_responses), (made.everywhere, everywhere)):
        for length, number in given.items():
            counts[length] = number
    return made


NOTHING = tokens({}, {})


def test_a_passage_pays_for_bytes_of_responses_times_bytes_of_all_texts():
    assert Charges(world(), NOTHING).of_text(False) == pytest.approx(log2(16 * 50 + 1) + log2(16 * 1050 + 1))


def test_a_source_beside_pays_for_its_own_worker_at_that_time_and_a_bit_for_searching_twice():
    # The answers of the first two requests had the 1050 bytes of both in flight, the others their own.
    beside = 2 * 50 * 2100 + OTHERS * 50 * 1050
    assert Charges(world(), NOTHING).of_text(True) == pytest.approx(log2(beside + 1) + 1)


def test_without_workers_nothing_is_beside():
    charges = Charges(world(workers=False), NOTHING)
    assert charges.of_text(True) == charges.of_text(False)
    assert charges.of_token(10, True) == charges.of_token(10, False)


def test_an_identifier_pays_for_tokens_of_its_length_and_for_the_share_that_have_it():
    charges = Charges(world(), tokens({10: 3, 20: 100}, {10: 31, 20: 5100, 30: 869}))
    assert charges.of_token(10, False) == pytest.approx(log2(4) + log2(32) + log2(6000 / 31))
    assert charges.of_token(20, False) == pytest.approx(log2(101) + log2(5101) + log2(6000 / 5100))


def test_an_identifier_beside_saves_what_a_passage_saves_and_pays_nothing_less_than_nothing():
    charges = Charges(world(), tokens({10: 300, 11: 1}, {10: 3100, 11: 1}))
    saved = charges.of_text(False) - charges.of_text(True)
    assert saved > 0
    assert charges.of_token(10, True) == pytest.approx(charges.of_token(10, False) - saved)
    assert Charges(world(), tokens({10: 1}, {10: 1})).of_token(12, True) == 0.0


def hashes(number: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).integers(-(2**63), 2**63, number, dtype=np.int64)


@pytest.mark.parametrize("number", [1, 40, 3000, 9000, 200_000])
def test_distinct_tokens_are_counted_however_often_they_stand(number):
    once = hashes(number, number)
    often = np.concatenate([once, once[: number // 2], once])
    counts = count_tokens(sketch(often, np.full(often.size, 12)), no_tokens())
    assert counts.in_responses[12] == pytest.approx(number, rel=0.05)
    assert counts.everywhere[12] == counts.in_responses[12]
    assert counts.in_responses.sum() == counts.in_responses[12]


def test_lengths_are_counted_apart_long_ones_together_and_parts_add_up():
    answers = sketch(hashes(100, 1), np.repeat([8, 63, 64, 400], 25))
    both = count_tokens(answers, np.maximum(answers, sketch(hashes(50, 2), np.full(50, 8))))
    assert np.flatnonzero(both.in_responses).tolist() == [8, 63, 64]
    assert both.in_responses[[8, 63, 64]].tolist() == pytest.approx([25, 25, 50], rel=0.03)
    assert both.everywhere[8] == pytest.approx(75, rel=0.03)


def test_a_hash_of_zeros_has_the_highest_rank():
    registers = sketch(np.zeros(1, dtype=np.int64), np.array([10]))
    assert registers[10, 0] == 64 - 12 + 1
    assert np.count_nonzero(registers) == 1
