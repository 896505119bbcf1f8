"""The kernel against a plain search by substrings of the folded text."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.text.fold import fold
from forensics.text.patterns import MIN_UNITS, PART, Patterns, search


def pack(texts: list[str]) -> tuple[np.ndarray, np.ndarray]:
    data = [text.encode("utf-8", "surrogatepass") for text in texts]
    offsets = np.cumsum([0, *map(len, data)]).astype(np.int64)
    return np.frombuffer(b"".join(data), dtype=np.uint8), offsets


def found(texts: list[str], patterns: list[str]) -> set[tuple[int, int, int, int, int]]:
    matches = search(*pack(texts), Patterns.over(patterns))
    columns = (matches.documents, matches.starts, matches.ends, matches.patterns, matches.parts)
    return set(zip(*(column.tolist() for column in columns), strict=True))


def twin(texts: list[str], patterns: list[str]) -> set[tuple[int, int, int, int, int]]:
    """Every maximal common run of PART units or more, or of a whole pattern of at least MIN_UNITS."""
    result = set()
    for d, text in enumerate(texts):
        t = fold(text).units.tolist()
        for p, pattern in enumerate(patterns):
            q = fold(pattern).units.tolist()
            if len(q) < MIN_UNITS:
                continue
            for i in range(len(t)):
                for j in range(len(q)):
                    if t[i] != q[j] or (i and j and t[i - 1] == q[j - 1]):
                        continue
                    n = 0
                    while i + n < len(t) and j + n < len(q) and t[i + n] == q[j + n]:
                        n += 1
                    if n >= min(PART, len(q)):
                        result.add((d, i, i + n, p, j))
    return result


def test_case_spaces_and_width_do_not_matter() -> None:
    assert found(["xx ＺＡ８１-qlm02 pvtw yy"], ["za81 QLM02pvtw"]) == {(0, 2, 15, 0, 0)}


def test_a_part_is_found_from_its_minimum_on() -> None:
    pattern = "kestrel7731quoinharbour"
    assert found([f"a {pattern[5 : 5 + PART]} b"], [pattern]) == {(0, 1, 1 + PART, 0, 5)}
    assert found([f"a {pattern[5 : 4 + PART]} b"], [pattern]) == set()


def test_nothing_to_look_for() -> None:
    assert found(["some text"], []) == set()
    assert found(["some text"], ["short"]) == set()
    assert found(["", "ab"], ["long enough to be one"]) == set()


def test_repetition_is_bounded() -> None:
    assert len(found(["ab" * 5000], ["ab" * 12])) <= 5000


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_the_twin_agrees(data: st.DataObject) -> None:
    letters = st.text("abдשﬀ翠 -", min_size=0, max_size=40)
    patterns = data.draw(st.lists(letters, min_size=1, max_size=4))
    texts = []
    for _ in range(data.draw(st.integers(1, 3))):
        source = data.draw(st.sampled_from(patterns))
        low = data.draw(st.integers(0, max(0, len(source) - 1)))
        texts.append(data.draw(letters) + source[low:] + data.draw(letters))
    wanted, got = twin(texts, patterns), found(texts, patterns)
    assert got <= wanted
    # A run inside another of the same pattern on the same place may be left out.
    for d, start, end, p, j in wanted - got:
        assert any(x[0] == d and x[3] == p and x[1] < end and start < x[2] for x in got), (d, start, end, p, j)
