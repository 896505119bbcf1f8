"""The fingerprint kernel against a twin in plain Python, and its guarantee as properties.

The twin is written from the module's description: a polynomial hash mod 2^64, the MurmurHash3 finaliser, the shortest
suffix of weight GRAM as a gram, the rightmost minimum of every full window.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.text.fingerprint import (
    GRAM,
    GUARANTEE,
    GUARANTEE_UNITS_ALPHABETIC,
    NUMBERS,
    WINDOW,
    Fingerprints,
    context_run,
    contexts,
    fingerprint,
)
from forensics.text.fold import fold
from forensics.text.seed_search import SeedFilter, SeedTable, probe, sift

MASK = (1 << 64) - 1
BASE = 0x9E3779B97F4A7C15

ALPHABETS = {
    "latin": "abcdefghijklmnopqrstuvwxyz",
    "digits": "0123456789",
    "code": "abcdefxyz_(){}=;.<>\n 0123456789",
    "han": "订单号码客户合同发票银行账款项目会议记录数据分析系统网络安全管理服务技术支持",
    "kana": "あいうえおかきくけこさしすせそタチツテトナニヌネノハヒフヘホ",
    "hangul": "한국전자계약서고객번호은행송금청구서회의기록자료분석",
    "hebrew": "אבגדהוזחטיכלמנסעפצקרשת",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "mixed": "abc123订单あかХжשא한국ﬁ½ ",
    "emoji": "🙂🚀👩‍💻é ß abcdefgh",
}
scripts = st.sampled_from(sorted(ALPHABETS))


def weight_of_unit(code: int) -> int:
    if 0x3040 <= code <= 0x30FF or 0xAC00 <= code <= 0xD7AF:
        return 2
    if 0x3400 <= code <= 0x4DBF or 0x4E00 <= code <= 0x9FFF or 0x20000 <= code <= 0x3FFFF:
        return 3
    return 1


def finalise(value: int) -> int:
    value ^= value >> 33
    value = value * 0xFF51AFD7ED558CCD & MASK
    value ^= value >> 33
    value = value * 0xC4CEB9FE1A85EC53 & MASK
    return value ^ value >> 33


def grams(units: list[int]) -> list[tuple[int, int, int]]:
    """(first unit, last unit, hash) of the gram that ends at each unit, where there is one."""
    found = []
    for last in range(len(units)):
        heavy, first = 0, last + 1
        while heavy < GRAM and first > 0:
            first -= 1
            heavy += weight_of_unit(units[first])
        if heavy >= GRAM:
            value = 0
            for unit in units[first : last + 1]:
                value = (value * BASE + unit) & MASK
            found.append((first, last, finalise(value)))
    return found


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def selected(text: str) -> list[tuple[int, int, int]]:
    """(hash, position, kind) of the twin's fingerprints, in order."""
    units = fold(text).units.tolist()
    totals = np.cumsum([weight_of_unit(u) for u in units]).tolist()
    found = grams(units)
    chosen: list[tuple[int, int, int]] = []
    for i, (_, last, _) in enumerate(found):
        full = totals[last] - totals[found[0][1]] >= WINDOW - 1
        if not full and i + 1 < len(found):
            continue
        if not full and chosen:
            continue
        window = [g for g in found[: i + 1] if totals[last] - totals[g[1]] <= WINDOW - 1]
        least = min(g[2] for g in window)
        best = [g for g in window if g[2] == least][-1]
        if best not in chosen[-1:]:
            chosen.append(best)
    rows = []
    for first, last, value in chosen:
        digits = sum(48 <= u <= 57 for u in units[max(0, first - 16) : last + 17])
        rows.append((signed(value), last, weight_of_unit(units[last]) + (NUMBERS if digits >= 3 else 0)))
    return rows


def pack(documents: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    return (
        np.frombuffer(b"".join(documents), dtype=np.uint8),
        np.cumsum([0, *map(len, documents)]).astype(np.int64),
    )


def of(*documents: str) -> Fingerprints:
    return fingerprint(*pack([document.encode("utf-8", "surrogatepass") for document in documents]))


def rows(found: Fingerprints, document: int) -> list[tuple[int, ...]]:
    mine = found.documents == document
    columns = (found.hashes, found.positions, found.kinds, found.before, found.after)
    return list(zip(*(column[mine].tolist() for column in columns), strict=True))


def random_text(script: str, size: int, seed: int) -> str:
    letters = ALPHABETS[script]
    return "".join(random.Random(seed).choices(letters, k=size))


def run_of_weight(script: str, least: int, seed: int) -> str:
    """A random run of the script, no longer than it needs to be for the weight."""
    source = random_text(script, 400, seed)
    size = next(n for n in range(len(source)) if sum(map(weight_of_unit, fold(source[:n]).units.tolist())) >= least)
    return source[:size]


texts = st.builds(random_text, scripts, st.integers(0, 180), st.integers(0, 1 << 30))


def test_the_guaranteed_lengths_are_as_documented() -> None:
    assert (GUARANTEE_UNITS_ALPHABETIC, GUARANTEE) == (32, 34)


@settings(deadline=None, max_examples=150)
@given(st.lists(texts, min_size=1, max_size=4))
def test_kernel_and_twin_agree_bit_for_bit(documents: list[str]) -> None:
    found = of(*documents)
    for number, document in enumerate(documents):
        assert [row[:3] for row in rows(found, number)] == selected(document)


@settings(deadline=None, max_examples=80)
@given(st.text(alphabet=st.characters(), max_size=120))
def test_kernel_and_twin_agree_on_any_characters(text: str) -> None:
    """Lone surrogates too: JSON can carry them."""
    assert [row[:3] for row in rows(of(text), 0)] == selected(text)


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 4), st.integers(0, 120))
def test_periodic_texts_take_the_rightmost_minimum(period: int, size: int) -> None:
    text = ("abcd"[:period] * 40)[:size]
    assert [row[:3] for row in rows(of(text), 0)] == selected(text)


def decoded(data: bytes) -> str:
    """UTF-8 with one U+FFFD for each byte that is not part of a well-formed sequence."""
    text, i = "", 0
    while i < len(data):
        for size in (1, 2, 3, 4):
            try:
                text += data[i : i + size].decode("utf-8", "surrogatepass")
            except UnicodeDecodeError:
                continue
            i += size
            break
        else:
            text += "\ufffd"
            i += 1
    return text


@settings(deadline=None, max_examples=60)
@given(texts, st.lists(st.integers(0x80, 0xBF), max_size=5), st.integers(0, 1000))
def test_stray_continuation_bytes_change_nothing(text: str, stray: list[int], place: int) -> None:
    """A continuation byte without a lead is U+FFFD, which is no letter."""
    cut = place % (len(text) + 1)
    data = text[:cut].encode() + bytes(stray) + text[cut:].encode()
    assert [row[:3] for row in rows(fingerprint(*pack([data])), 0)] == selected(text)


@settings(deadline=None, max_examples=60)
@given(texts, st.integers(0, 3))
def test_a_text_cut_in_the_middle_of_a_character(text: str, cut: int) -> None:
    data = text.encode()
    data = data[: len(data) - cut]
    assert [row[:3] for row in rows(fingerprint(*pack([data])), 0)] == selected(decoded(data))


SWALLOWS = pytest.mark.xfail(strict=True, reason="a lead byte takes the bytes after it with it, whatever they are")


@pytest.mark.parametrize(
    "lead",
    [
        b"\xc0",
        b"\xf5",
        b"\xff",
        b"\x80",
        pytest.param(b"\xc3", marks=SWALLOWS),
        pytest.param(b"\xe4\xb8", marks=SWALLOWS),
        pytest.param(b"\xf0\x9f\x98", marks=SWALLOWS),
    ],
)
def test_malformed_bytes_are_dropped_one_at_a_time(lead: bytes) -> None:
    """Said by `decode`: what is not UTF-8 comes back as U+FFFD, one byte at a time; the letter after it stands."""
    secret = b"exactlysixteenab"  # one gram: losing a letter loses the fingerprint
    assert [row[:3] for row in rows(fingerprint(*pack([lead + secret])), 0)] == selected(secret.decode())


@settings(deadline=None, max_examples=100)
@given(st.binary(max_size=200))
def test_no_bytes_are_out_of_reach(data: bytes) -> None:
    """Whatever the bytes, positions stay inside and every hash is a gram of the units."""
    found = fingerprint(*pack([data, b"", data]))
    assert rows(found, 0) == rows(found, 2)
    assert rows(found, 1) == []
    assert all(0 <= position < 2 * len(data) for position in found.positions.tolist())


@settings(deadline=None, max_examples=60)
@given(st.lists(texts, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_documents_does_not_matter(documents: list[str], shuffler: random.Random) -> None:
    order = list(range(len(documents)))
    shuffler.shuffle(order)
    straight, mixed = of(*documents), of(*(documents[i] for i in order))
    for place, i in enumerate(order):
        assert rows(straight, i) == rows(mixed, place) == rows(of(documents[i]), 0)
    assert (np.diff(straight.documents) >= 0).all()


def test_a_slice_of_a_buffer_is_a_document() -> None:
    """Offsets need not begin at 0 (a batch is a slice of a column)."""
    text = random_text("latin", 90, 1).encode()
    buffer = np.frombuffer(b"x" * 50 + text + b"y" * 50, dtype=np.uint8)
    found = fingerprint(buffer, np.array([50, 50 + len(text)], dtype=np.int64))
    assert [row[:3] for row in rows(found, 0)] == selected(text.decode())


@pytest.mark.parametrize(("size", "expected"), [(0, 0), (15, 0), (16, 1), (31, 1)])
def test_short_texts(size: int, expected: int) -> None:
    assert of(random_text("latin", size, 3)).hashes.size == expected


# -- the guarantee ----------------------------------------------------------------------------------------------------


def inside(found: Fingerprints, document: int, start: int, end: int) -> set[tuple[int, int]]:
    """(hash, place in the run) of the fingerprints whose whole gram lies in the units `[start, end)` of a document."""
    mine = np.flatnonzero(found.documents == document)
    return {(int(found.hashes[i]), int(found.positions[i]) - start) for i in mine if start <= found.positions[i] < end}


@settings(deadline=None, max_examples=400)
@given(
    scripts,
    scripts,
    scripts,
    st.integers(0, 60),
    st.integers(0, 60),
    st.integers(0, 60),
    st.integers(0, 60),
    st.integers(0, 1 << 30),
)
def test_a_run_of_guaranteed_weight_shares_a_fingerprint(
    script: str, left: str, right: str, a: int, b: int, c: int, d: int, seed: int
) -> None:
    alphabetic = script in ("latin", "digits", "hebrew", "arabic")
    run = run_of_weight(script, GUARANTEE_UNITS_ALPHABETIC if alphabetic else GUARANTEE, seed)
    first = random_text(left, a, seed + 1), random_text(left, b, seed + 2)
    second = random_text(right, c, seed + 3), random_text(right, d, seed + 4)
    found = of(first[0] + run + first[1], second[0] + run + second[1])
    size = fold(run).units.size
    low, other = fold(first[0]).units.size, fold(second[0]).units.size
    shared = inside(found, 0, low, low + size) & inside(found, 1, other, other + size)
    units = fold(run).units.tolist()
    own = {(signed(value), last) for _, last, value in grams(units)}
    assert shared & own, "no fingerprint whose gram lies inside the shared run"


@pytest.mark.parametrize("script", ["latin", "han", "kana", "hangul", "hebrew", "arabic", "code"])
def test_every_position_of_a_long_text(script: str) -> None:
    """The same run slid through a text, unit by unit."""
    run = run_of_weight(script, GUARANTEE, 5)
    size = fold(run).units.size
    filler = random_text(script, 80, 6)
    answer = fold(random_text(script, 40, 7)).units.size
    documents = [filler[:i] + run + filler[i:] for i in range(0, 80)]
    found = of(*documents, random_text(script, 40, 7) + run + random_text(script, 40, 8))
    copy = inside(found, 80, answer, answer + size)
    for i in range(80):
        low = fold(filler[:i]).units.size
        assert inside(found, i, low, low + size) & copy


@settings(deadline=None, max_examples=150)
@given(scripts, st.integers(0, 90), st.integers(0, 90), st.integers(0, 1 << 30))
def test_probe_finds_every_fingerprint_of_a_copied_text(script: str, before: int, after: int, seed: int) -> None:
    """One side's fingerprints are found in the other text at any position, whatever surrounds the copy there."""
    copied = random_text(script, 70, seed)
    head = random_text(script, before, seed + 1)
    host = head + copied + random_text(script, after, seed + 2)
    mine = of(copied)
    table = SeedTable.over(mine.hashes)
    found = probe(*pack([host.encode(), b"", copied.encode()]), table)
    places = {
        (int(table.keys[i]), p)
        for i, d, p in zip(found.ids, found.documents, found.positions.tolist(), strict=True)
        if d == 0
    }
    shift = fold(head).units.size
    assert {(h, p + shift) for h, p in zip(mine.hashes.tolist(), mine.positions.tolist(), strict=True)} <= places
    # and it finds exactly the grams of the host that are sought, no others
    sought = set(mine.hashes.tolist())
    assert places == {
        (signed(value), last) for _, last, value in grams(fold(host).units.tolist()) if signed(value) in sought
    }
    kinds = {
        (int(table.keys[i]), p): int(k)
        for i, d, p, k in zip(found.ids, found.documents, found.positions.tolist(), found.kinds, strict=True)
        if d == 2
    }
    for h, p, k in zip(mine.hashes.tolist(), mine.positions.tolist(), mine.kinds.tolist(), strict=True):
        assert kinds[h, p] == k


@settings(deadline=None, max_examples=150)
@given(scripts, st.integers(34, 80), st.integers(0, 1 << 30))
def test_context_run_never_counts_too_few(script: str, size: int, seed: int) -> None:
    run = random_text(script, size, seed)
    pairs = [(random_text(script, 20, seed + k), random_text(script, 20, seed + k + 1)) for k in (1, 3)]
    one, two = pairs[0][0] + run + pairs[0][1], pairs[1][0] + run + pairs[1][1]
    found = of(one, two)
    units = [fold(one).units.tolist(), fold(two).units.tolist()]
    starts = [{last: first for first, last, _ in grams(u)} for u in units]
    by_hash = {int(found.hashes[i]): i for i in np.flatnonzero(found.documents == 0)}
    for j in np.flatnonzero(found.documents == 1):
        i = by_hash.get(int(found.hashes[j]))
        if i is None:
            continue
        p, q = int(found.positions[i]), int(found.positions[j])
        after = 0
        while (
            p + after + 1 < len(units[0])
            and q + after + 1 < len(units[1])
            and units[0][p + after + 1] == units[1][q + after + 1]
        ):
            after += 1
        a, b = starts[0][p], starts[1][q]
        before = 0
        while a > before and b > before and units[0][a - before - 1] == units[1][b - before - 1]:
            before += 1
        assert context_run(found.after[i], found.after[j]) >= min(after, 16)
        assert context_run(found.before[i], found.before[j]) >= min(before, 16)


def test_context_run_tells_different_surroundings_apart() -> None:
    """It may count too many, by chance 1 in 16 a unit, so over many it must be near 1/15 on average."""
    gram = "exactlysixteenab"
    documents = [(random_text("latin", 20, k) + gram + random_text("latin", 20, -k - 1)).encode() for k in range(400)]
    found = probe(*pack(documents), SeedTable.over(of(gram).hashes))
    assert found.documents.tolist() == list(range(400))
    counted = [context_run(one, two) for one, two in zip(found.after[:-1], found.after[1:], strict=True)]
    assert np.mean(counted) < 0.5
    assert context_run(np.uint64(0x1234), np.uint64(0x5234)) == 3
    assert context_run(np.uint64(7), np.uint64(7)) == 16


@settings(deadline=None, max_examples=60)
@given(
    st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=300),
    st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=300),
)
def test_seed_table_is_a_dictionary(known: list[int], asked: list[int]) -> None:
    table = SeedTable.over(np.array(known, dtype=np.int64))
    keys = sorted(set(known))
    assert table.keys.tolist() == keys
    expected = {key: i for i, key in enumerate(keys)}
    wanted = [*known, *asked]
    assert table.ids(np.array(wanted, dtype=np.int64)).tolist() == [expected.get(key, -1) for key in wanted]


def test_seed_table_with_colliding_slots() -> None:
    """Keys that differ in their high bits only fall into one slot."""
    keys = [(k << 40) + 5 for k in range(600)]
    table = SeedTable.over(np.array(keys, dtype=np.int64))
    assert table.ids(np.array(keys, dtype=np.int64)).tolist() == list(range(600))
    assert table.ids(np.array([(601 << 40) + 5, 6], dtype=np.int64)).tolist() == [-1, -1]


@settings(deadline=None, max_examples=60)
@given(scripts, st.integers(0, 60), st.integers(0, 1 << 30), st.sampled_from([0, 3, 6]), st.sampled_from([0, 1 << 20]))
def test_sift_passes_every_gram_that_was_put_in(script: str, head: int, seed: int, bits: int, room: int) -> None:
    """Through the filter come all that `probe` finds, whatever its parts and its size; with the same surroundings."""
    copied = random_text(script, 70, seed)
    documents = [(random_text(script, head, seed + 1) + copied).encode(), b"", copied.encode() * 2]
    mine = of(copied)
    table = SeedTable.over(mine.hashes)
    exact = probe(*pack(documents), table)
    seeds = SeedFilter.empty(room, bits, 1 << 20)
    for part in range(1 << bits):
        seeds.put(mine.hashes[mine.hashes & ((1 << bits) - 1) == part])
    assert seeds.holds(mine.hashes).all()
    hashes, numbers, positions = sift(*pack(documents), seeds)
    kept = np.flatnonzero(table.ids(hashes) >= 0)
    assert hashes[kept].tolist() == table.keys[exact.ids].tolist()
    assert numbers[kept].tolist() == exact.documents.tolist()
    assert positions[kept].tolist() == exact.positions.tolist()
    around = contexts(*pack(documents), numbers[kept], positions[kept])
    assert [part.tolist() for part in around] == [part.tolist() for part in (exact.before, exact.after, exact.kinds)]


def test_the_filter_lets_few_others_through() -> None:
    random_hashes = np.random.default_rng(3).integers(-(1 << 63), (1 << 63) - 1, 200_000, dtype=np.int64)
    seeds = SeedFilter.empty(100_000, 4, 1 << 20)
    seeds.put(random_hashes[:100_000])
    assert seeds.words.nbytes <= 200_000
    assert seeds.holds(random_hashes[100_000:]).mean() < 0.02
