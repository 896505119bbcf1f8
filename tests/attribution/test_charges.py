"""What the search costs: figures by hand for sixteen requests."""

from __future__ import annotations

from math import log2
from types import SimpleNamespace

import numpy as np
import pytest

from forensics.attribution.charges import LENGTHS, Charges, TokenCounts, count_lengths


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


def tokens(in_responses: dict[int, int], in_others: dict[int, int]) -> TokenCounts:
    made = TokenCounts(np.zeros(LENGTHS, dtype=np.int64), np.zeros(LENGTHS, dtype=np.int64))
    for counts, given in ((made.in_responses, in_responses), (made.in_others, in_others)):
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


def test_an_identifier_pays_for_tokens_of_its_length_and_for_the_number_of_lengths():
    charges = Charges(world(), tokens({10: 3, 20: 100}, {10: 28, 20: 5000, 30: 7, 31: 1}))
    assert charges.of_token(10, False) == pytest.approx(log2(4) + log2(32) + log2(4))
    assert charges.of_token(20, False) == pytest.approx(log2(101) + log2(5101) + log2(4))


def test_an_identifier_beside_saves_what_a_passage_saves_and_pays_nothing_less_than_nothing():
    charges = Charges(world(), tokens({10: 300, 11: 1}, {10: 2800}))
    saved = charges.of_text(False) - charges.of_text(True)
    assert saved > 0
    assert charges.of_token(10, True) == pytest.approx(charges.of_token(10, False) - saved)
    assert Charges(world(), tokens({10: 1}, {})).of_token(12, True) == 0.0


def test_lengths_are_counted_and_long_ones_together():
    starts = ints(0, 7, 20, 100)
    counts = count_lengths(starts, starts + ints(8, 8, 64, 400))
    assert counts.size == LENGTHS
    assert {int(length): int(counts[length]) for length in np.flatnonzero(counts)} == {8: 2, 64: 2}
