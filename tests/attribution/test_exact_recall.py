"""Is every common substring of the guaranteed length found? Against a suffix array over the raw texts."""

from __future__ import annotations

import random

import numpy as np
import pytest

from forensics.text.fingerprint import GUARANTEE_UNITS_ALPHABETIC, select
from forensics.text.fold import fold
from forensics.text.runs import runs
from forensics.text.seed_search import SeedFilter, SeedTable, sift

ORACLE = "pydivsufsort"
LETTERS = "etaoinshrdlu"


def texts(seed: int) -> tuple[list[str], list[str]]:
    """Answers and prompts of letters alone (units are letters), with copies of lengths around the guarantee."""
    dice = random.Random(seed)
    prompts = ["".join(dice.choices(LETTERS, k=dice.randint(0, 300))) for _ in range(12)]
    answers = []
    for _ in range(12):
        parts = []
        for _ in range(3):
            parts.append("".join(dice.choices(LETTERS, k=dice.randint(0, 40))))
            source = dice.choice(prompts)
            low = dice.randint(0, len(source))
            parts.append(source[low : low + dice.randint(20, 60)])
        answers.append("".join(parts))
    return answers, prompts


def maximal(answer: str, prompt: str, shortest: int) -> set[tuple[int, int, int]]:
    """Maximal common substrings (start, end, start in the prompt) of a length, by suffix array and LCP."""
    oracle = pytest.importorskip(ORACLE)
    data = (answer + "\x00" + prompt + "\x01").encode()
    order = oracle.divsufsort(data).tolist()
    shared = oracle.kasai(data, np.array(order, dtype=np.int32)).tolist()
    found = set()
    for i in range(len(order)):
        least = len(data)
        for j in range(i + 1, len(order)):
            least = min(least, shared[j - 1])
            if least < shortest:
                break
            mine, theirs = sorted((order[i], order[j]))
            if mine < len(answer) < theirs and not (mine > 0 and data[mine - 1] == data[theirs - 1]):
                found.add((mine, mine + least, theirs - len(answer) - 1))
    return found


def packed(documents: list[str]) -> tuple[np.ndarray, np.ndarray]:
    data = [document.encode() for document in documents]
    return np.frombuffer(b"".join(data), dtype=np.uint8), np.cumsum([0, *map(len, data)]).astype(np.int64)


@pytest.mark.parametrize("seed", range(4))
def test_exact_recall_is_one_above_the_guarantee(seed: int) -> None:
    answers, prompts = texts(seed)
    hashes, of_answer, place = select(*packed(answers))
    table = SeedTable.over(hashes)
    seeds = SeedFilter.empty(hashes.size, 0, 1 << 16)
    seeds.put(hashes)
    found, of_prompt, other = sift(*packed(prompts), seeds)
    known = np.flatnonzero(table.ids(found) >= 0)
    expected = 0
    for a, answer in enumerate(answers):
        for p, prompt in enumerate(prompts):
            pairs = [
                (place[i], other[j])
                for i in np.flatnonzero(of_answer == a)
                for j in known[of_prompt[known] == p]
                if hashes[i] == found[j]
            ]
            first, second = (np.array([pair[side] for pair in pairs], dtype=np.int64) for side in (0, 1))
            spans = {(r.start, r.end) for r in runs(fold(answer).units, fold(prompt).units, first, second)}
            oracle = maximal(answer, prompt, GUARANTEE_UNITS_ALPHABETIC)
            expected += len(oracle)
            for start, end, _ in oracle:
                assert any(low <= start and end <= high for low, high in spans), (start, end)
    assert expected >= 8
