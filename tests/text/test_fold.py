"""Folding: what counts as the same letter, and the way back to the raw text.

Expected values are written out from the Unicode tables, or come from `unicodedata` of characters whose folding has not
changed between its versions.
"""

from __future__ import annotations

import string
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.text.fold import fold, weight


def units(text: str) -> str:
    return "".join(map(chr, fold(text).units.tolist()))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Invoice 44-B", "invoice44b"),
        ("STRASSE", "strasse"),
        ("straße", "strasse"),
        ("Æsir", "æsir"),
        ("ŁÓDŹ", "łodz"),
        ("ﬁnance ﬂow", "financeflow"),  # ligatures
        ("½ cup", "12cup"),  # NFKC: 1, fraction slash (a symbol, dropped), 2
        ("x²", "x2"),
        ("№5", "no5"),
        ("Ⅻ", "xii"),
        ("ＡＢＣ１２３", "abc123"),  # full-width
        ("ｶﾞｷﾞ", "カキ"),  # half-width kana; the voicing mark is a mark of its own
        ("\u00e9t\u00e9", "ete"),  # composed
        ("e\u0301te\u0301", "ete"),  # decomposed
        ("ñandú", "nandu"),
        ("Ελλάδα", "ελλαδα"),
        ("ΟΔΟΣ", "οδοσ"),  # final sigma and sigma are one letter
        ("ὁδός", "οδοσ"),
        ("Ёлка", "елка"),
        ("שָׁלוֹם", "שלום"),  # points and cantillation are marks
        ("كِتَاب", "كتاب"),
        ("한글 전자", "한글전자"),
        ("１２３", "123"),
        ("١٢٣٤", "1234"),  # Arabic-Indic
        ("۱۲۳", "123"),  # extended Arabic-Indic
        ("१२३", "123"),  # Devanagari
        ("𝟙𝟚𝟛", "123"),  # mathematical
        ("一二三", "一二三"),  # Han numerals are signs, not digits
        ("pay\u200bment\u200d \ufeffnow", "paymentnow"),  # zero-width
        ("soft\u00adhyphen", "softhyphen"),
        ("\u202eabc\u202c", "abc"),
        ("a_b-c.d/e:f\tg\r\nh", "abcdefgh"),
        ("“quoted” – ‘dash’ — …", "quoteddash"),
        ("🙂🙃👩‍💻", ""),
        ("", ""),
        (" \n\t!?", ""),
        ("\x00\x1b[31m", "31m"),
        ("\ud83d", ""),  # a lone surrogate is no letter
        ("a\udc00b", "ab"),
        ("\ue000x", "x"),  # private use
    ],
)
def test_folding_rules(text: str, expected: str) -> None:
    assert units(text) == expected


@pytest.mark.xfail(strict=True, reason="folding is sign by sign, so that jamo are not composed to syllables")
def test_jamo_are_composed() -> None:
    """`fold` says "Hangul composed": a syllable written as jamo (as some file systems do) equals the syllable."""
    assert units(unicodedata.normalize("NFD", "한글")) == units("한글")


def test_positions_point_at_the_raw_code_points() -> None:
    text = "№ Ä😀ﬁ\u200b9"
    folded = fold(text)
    assert list(zip(map(chr, folded.units.tolist()), folded.positions.tolist(), strict=True)) == [
        ("n", 0),
        ("o", 0),
        ("a", 2),
        ("f", 4),
        ("i", 4),
        ("9", 6),
    ]


def test_spans_cover_whole_code_points() -> None:
    folded = fold("“Ünter den ﬁchten”")
    assert folded.span(0, 5) == (1, 6)  # Ünter
    assert folded.span(9, 10) == (11, 12)  # the second half of the ligature is the whole ligature
    assert folded.span(0, folded.units.size) == (1, 17)


def test_many_expansions_need_more_room_than_the_text() -> None:
    """U+FDFA unfolds to 15 letters; the table keeps 4 of them."""
    folded = fold("ﷺ" * 1000 + "㍿" * 1000)
    assert folded.units.size == 8000
    assert folded.positions[3999] == 999
    assert folded.positions[-1] == 1999


plain = st.text(alphabet=string.ascii_letters + string.digits + string.punctuation + " \n\t", max_size=200)


@given(plain)
def test_ascii_is_lower_case_letters_and_digits(text: str) -> None:
    kept = [(i, c) for i, c in enumerate(text) if c in string.ascii_letters + string.digits]
    folded = fold(text)
    assert units(text) == "".join(c.lower() for _, c in kept)
    assert folded.positions.tolist() == [i for i, _ in kept]


anything = st.text(alphabet=st.characters(), max_size=120)  # surrogates too


@given(anything)
def test_positions_ascend_and_stay_inside(text: str) -> None:
    positions = fold(text).positions
    assert (positions[1:] >= positions[:-1]).all()
    assert positions.size == 0 or (positions[0] >= 0 and positions[-1] < len(text))


@given(anything, anything)
def test_folding_is_sign_by_sign(first: str, second: str) -> None:
    """The units of a text are those of its parts: a copy folds alike wherever it stands."""
    both, one, two = fold(first + second), fold(first), fold(second)
    assert both.units.tolist() == one.units.tolist() + two.units.tolist()
    assert both.positions.tolist() == one.positions.tolist() + [p + len(first) for p in two.positions.tolist()]


@given(st.text(alphabet=st.characters(categories=("Lu", "Ll", "Lt", "Nd")), max_size=60))
def test_case_and_width_do_not_matter(text: str) -> None:
    stable = "".join(c for c in text if ord(c) < 0x100 or 0x370 <= ord(c) < 0x530)
    assert units(stable.swapcase()) == units(stable)


@pytest.mark.parametrize(
    ("sign", "expected"),
    [("a", 1), ("7", 1), ("ж", 1), ("ש", 1), ("ع", 1), ("ก", 1), ("か", 2), ("カ", 2), ("한", 2), ("漢", 3), ("𠀀", 3)],
)
def test_weights(sign: str, expected: int) -> None:
    assert weight(ord(sign)) == expected
    assert sum(weight(int(unit)) for unit in fold(sign * 3 + " !").units) == 3 * expected
