"""The matcher against brute force on folded text, its guarantee in several scripts, and hostile texts."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.text.fingerprint import GRAM
from forensics.text.fold import fold
from forensics.text.match import MINIMUM, Index, Spans, containment, every_gram, find, marked, pack, weights
from forensics.text.seed_search import SeedTable

ALPHABETS = {
    "latin": "abcdefghijklmnopqrstuvwxyz",
    "polish": "aąbcćdeęfghijklłmnńoóprsśtuwyzźż",
    "han": "订单号码客户合同发票银行账款项目会议记录数据分析系统网络安全管理服务技术支持",
    "kana": "あいうえおかきくけこさしすせそタチツテトナニヌネノハヒフヘホ",
    "hangul": "한국전자계약서고객번호은행송금청구회의기록자료분석",
    "hebrew": "אבגדהוזחטיכלמנסעפצקרשת",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
}
UNITS = {"han": 12, "kana": 17, "hangul": 17}  # units that weigh MINIMUM + 2 or more


def rows(found: Spans) -> list[tuple[int, int, int, int, int, int]]:
    columns = (found.document, found.start, found.end, found.other, found.other_start, found.other_end)
    return list(zip(*(column.tolist() for column in columns), strict=True))


def brute(text: str, other: str, minimum: int) -> set[tuple[int, int, int, int]]:
    """Maximal equal runs of plain lower-case letters, by looking at every pair of places."""
    found = set()
    for i in range(len(text)):
        for j in range(len(other)):
            if i and j and text[i - 1] == other[j - 1]:
                continue
            n = 0
            while i + n < len(text) and j + n < len(other) and text[i + n] == other[j + n]:
                n += 1
            if n >= minimum:
                found.add((i, i + n, j, j + n))
    return found


@settings(max_examples=60, deadline=None)
@given(st.text("ab", max_size=60), st.text("ab", max_size=60), st.integers(2, 12))
def test_equal_to_brute_force(text: str, other: str, minimum: int) -> None:
    found = {(s, e, a, b) for _, s, e, _, a, b in rows(find([text], [other], minimum))}
    assert found == brute(text, other, minimum)


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(sorted(ALPHABETS)), st.integers(0, 2**32), st.integers(0, 30))
def test_every_run_of_the_stated_weight_is_found(script: str, seed: int, extra: int) -> None:
    draw = random.Random(seed)
    letters = ALPHABETS[script]
    secret = "".join(draw.choices(letters, k=UNITS.get(script, MINIMUM) + extra))
    file = "".join(draw.choices(letters, k=40)) + secret + "".join(draw.choices(letters, k=40))
    holder = "".join(draw.choices(letters, k=draw.randrange(200))) + secret + "".join(draw.choices(letters, k=9))
    found = rows(find([holder], [file]))
    assert any(holder[s:e].find(secret) >= 0 and file[a:b].find(secret) >= 0 for _, s, e, _, a, b in found)


def test_a_unit_less_is_not() -> None:
    secret = "qwertyuiopasdfghjklzxcvbnmqazwsx"
    assert len(secret) == MINIMUM
    assert rows(find([f"x {secret} y"], [f"A{secret}B"])) == [(0, 2, 34, 0, 1, 33)]
    assert rows(find([f"x {secret[:-1]} y"], [f"A{secret}B"])) == []


def test_dress_makes_no_difference_and_offsets_are_as_written() -> None:
    secret = "Kestrel Quay ledger seventeen, opened on Tuesday"
    dressed = "Ｋｅｓｔｒｅｌ\u200b QUAY\n«ledger» seven\u00adteen; opened—on   tuesday"
    [(document, start, end, other, a, b)] = rows(find(["nothing", f"... {dressed}!"], ["zzz", f"{secret}."]))
    assert (document, other) == (1, 1)
    assert (start, end) == (4, 4 + len(dressed)) and (a, b) == (0, len(secret))


def test_many_files_and_batches_give_the_same_as_one_by_one() -> None:
    draw = random.Random(5)
    pool = ["".join(draw.choices("abcdefghij ", k=80)) for _ in range(12)]
    files = [pool[i] + pool[(i * 5 + 1) % 12] for i in range(8)]
    texts = [pool[i] + "zz" + pool[(i + 3) % 12] for i in range(12)]
    index = Index.over(*pack(files))
    together = rows(index.spans(*pack(texts)))
    apart = [(i, *row[1:]) for i, text in enumerate(texts) for row in rows(index.spans(*pack([text])))]
    assert together == sorted(apart, key=lambda r: (r[0], r[1], r[3], r[4])) and len(together) > 12


def test_a_gram_in_many_files_names_all_of_them() -> None:
    secret = "the ledger of kestrel quay was moved to the north shed"
    index = Index.over(*pack([f"{secret} {i}" for i in range(600)]))
    ids, documents, _ = index.hits(*pack([secret]))
    assert set(documents.tolist()) == {0}
    assert set(index.places(np.unique(ids)).documents.tolist()) == set(range(600))


def test_own_words_do_not_count_but_hide_nothing() -> None:
    own = "Some responses that our service generated for your account hold text that is not yours."
    secret = "patient Miriam Okonkwo, admitted to ward nine with a fracture"
    table = SeedTable.over(every_gram(*pack([own])).hashes)
    index = Index.over(*pack([f"{own} On 3 May. {secret} {own}"]), own=table)
    assert rows(index.spans(*pack([f"we got a letter: {own} On 3 May."]))) == []
    [(_, start, end, _, _, _)] = rows(index.spans(*pack([f"note: {secret}. Bye"])))
    assert (start, end) == (6, 6 + len(secret))
    assert rows(index.spans(*pack([f"{own} {secret[:20]}"]))) == []  # too little of it is not our own


@pytest.mark.parametrize("text", ["", "a", "\ud800" * 50, "\x00" * 100, "💥" * 64, "a" * 31, "ﷺ" * 3], ids=range(7))
def test_odd_texts_match_nothing_of_others_and_break_nothing(text: str) -> None:
    assert rows(find([text], ["a plain sentence about a harbour and its long stone pier"])) == []
    assert rows(find(["a plain sentence about a harbour and its long stone pier"], [text])) == []


def test_repetition_on_both_sides_stays_bounded() -> None:
    index = Index.over(*pack(["ab" * 3000]))
    found = index.spans(*pack(["ab" * 3000]))
    assert found.start.size < 6000  # not one for each pair of places
    covered = np.zeros(6000, dtype=np.bool_)
    for start, end in zip(found.start.tolist(), found.end.tolist(), strict=True):
        covered[start:end] = True
    assert covered.all()


def test_marks_reach_back_to_the_start_of_each_gram() -> None:
    units = fold("abc订单号码客户def").units
    assert weights(units).tolist() == [1, 1, 1, 3, 3, 3, 3, 3, 3, 1, 1, 1]
    assert marked(units, np.array([8], dtype=np.int32)).nonzero()[0].tolist() == [3, 4, 5, 6, 7, 8]
    assert marked(units, np.array([], dtype=np.int32)).sum() == 0


def test_containment_is_of_the_smaller_set() -> None:
    one, other = np.array([3, 1, 1, 2]), np.array([2, 3, 4, 5, 6, 7])
    assert containment(one, other) == containment(other, one) == pytest.approx(2 / 3)
    assert containment(one, np.zeros(0, dtype=np.int64)) == 0.0


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(ALPHABETS)), st.integers(0, 2**32), st.integers(8, 40))
def test_grams_outside_own_words_are_those_of_a_count_letter_by_letter(script: str, seed: int, minimum: int) -> None:
    draw = random.Random(seed)
    pool = ["".join(draw.choices(ALPHABETS[script] + ALPHABETS["latin"], k=30)) for _ in range(4)]
    own = SeedTable.over(every_gram(*pack(pool[:2])).hashes)
    texts = ["".join(piece[draw.randrange(20) :] for piece in draw.choices(pool, k=5)) for _ in range(3)] + ["", "abc"]
    buffer, offsets = pack(texts)
    index = Index.over(buffer, offsets, minimum, own)
    heavy = [weights(fold(text).units).tolist() for text in texts]
    theirs = every_gram(buffer, offsets)
    inside = [[False] * len(of) for of in heavy]
    for value, document, last in zip(
        *(c.tolist() for c in (theirs.hashes, theirs.documents, theirs.positions)), strict=True
    ):
        if value in own.keys.tolist():
            for unit in range(start_of(heavy[document], last, GRAM), last + 1):
                inside[document][unit] = True
    expected = []
    every = every_gram(buffer, offsets, minimum)
    for value, document, last in zip(
        *(c.tolist() for c in (every.hashes, every.documents, every.positions)), strict=True
    ):
        units = range(start_of(heavy[document], last, minimum), last + 1)
        ours = sum(heavy[document][unit] for unit in units if inside[document][unit])
        if 2 * ours < sum(heavy[document][unit] for unit in units):
            expected.append((value, document, last))
    assert index.seeds.keys.tolist() == sorted({value for value, _, _ in expected})
    some = np.arange(index.seeds.keys.size)[::2]
    stand = index.places(some)
    for number, gram in enumerate(some.tolist()):
        part = slice(stand.first[number], stand.first[number + 1])
        places = list(zip(stand.documents[part].tolist(), stand.positions[part].tolist(), strict=True))
        assert places == [(d, p) for value, d, p in expected if value == int(index.seeds.keys[gram])]


def start_of(heavy: list[int], last: int, minimum: int) -> int:
    """First unit of the shortest run up to `last` that weighs `minimum`."""
    start = last
    while sum(heavy[start : last + 1]) < minimum:
        start -= 1
    return start
