"""What the two tokenisers take for a name or a label; the expected tokens are written by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.text.fold import fold
from forensics.text.labels import Labels, asked, shown
from forensics.text.names import (
    CAPITAL,
    HAN,
    HANDLE,
    KANA,
    LOWER,
    PAIR,
    PLAIN,
    PLAIN_PAIR,
    START,
    Names,
    in_sample,
    names,
)
from forensics.text.seed_search import SeedTable


def pack(*texts: str) -> tuple[np.ndarray, np.ndarray]:
    data = [text.encode("utf-8", "surrogatepass") for text in texts]
    return np.frombuffer(b"".join(data), dtype=np.uint8), np.cumsum([0, *map(len, data)]).astype(np.int64)


def cut(text: str, found: Names | Labels) -> list[str]:
    folded = fold(text)
    pieces = []
    for start, end in zip(found.starts.tolist(), found.ends.tolist(), strict=True):
        low, high = folded.span(start, end)
        pieces.append(text[low:high])
    return pieces


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("we met Marta J. Lindqvist of Orvane-Kestrel here", PAIR, ["Marta J. Lindqvist", "Orvane-Kestrel"]),
        ("we met Marta J. Lindqvist of Orvane-Kestrel", CAPITAL, ["Marta", "Lindqvist", "Orvane", "Kestrel"]),
        ("Hello. Lindqvist came\nKestrel went", START, ["Hello", "Lindqvist", "Kestrel"]),
        ("the zorvexil of it", LOWER, ["zorvexil"]),
        ("unit QX-41b and a4 and 12345", HANDLE, ["QX-41b"]),
        ("подписала Ирина Воронцова вчера", PAIR, ["Ирина Воронцова"]),
        ("נועה אברהמי באה", PLAIN_PAIR, ["נועה אברהמי", "אברהמי באה"]),
        ("نور الخطيب", PLAIN, ["الخطيب"]),
        ("담당자 독고마루 씨", PLAIN, ["담당자", "독고마루"]),
        ("担当はヌクミザワです", KANA, ["ヌクミザワ"]),
        ("「欧阳晓琳」。", HAN, ["欧阳晓琳"]),
        ("联系欧阳晓琳女士办理手续", HAN, []),  # nothing parts it from the sentence
        ("Marta, Lindqvist", PAIR, []),
    ],
)
def test_tokens(text: str, kind: int, expected: list[str]) -> None:
    found = names(*pack(text))
    rows = found.kinds == kind
    part = Names(found.hashes[rows], found.documents[rows], found.starts[rows], found.ends[rows], found.kinds[rows])
    assert cut(text, part) == expected


def test_case_width_and_marks_do_not_change_a_hash() -> None:
    found = names(*pack("so Lindqvíst", "the ＬＩＮＤＱＶＩＳＴ", "a lindqvist"))
    assert np.unique(found.hashes).size == 1
    assert found.documents.tolist() == [0, 1, 2]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text("abXYé ד漢カ.\n-7_", max_size=40), min_size=1, max_size=4), st.integers(1, 3))
def test_what_is_wanted_is_a_part_of_all_and_documents_do_not_touch(texts: list[str], step: int) -> None:
    every = names(*pack(*texts))
    some = names(*pack(*texts), SeedTable.over(every.hashes[::step]))
    wanted = np.isin(every.hashes, every.hashes[::step])
    assert some.hashes.tolist() == every.hashes[wanted].tolist()
    assert some.starts.tolist() == every.starts[wanted].tolist()
    alone = [names(*pack(text)).hashes.tolist() for text in texts]
    assert [h for part in alone for h in part] == every.hashes.tolist()
    for document, text in enumerate(texts):
        here = every.ends[every.documents == document]
        assert here.size == 0 or int(here.max()) <= fold(text).units.size


def test_labels_that_are_shown() -> None:
    text = '{"kunden_nr": "x", "ключ" : 3}\n## Ergebnis\ntext # none "quoted"\n<antwort>a</antwort>'
    found = shown(*pack(text), np.array([False]))
    assert cut(text, found) == ["kunden_nr", "ключ", "Ergebnis", "antwort", "antwort"]
    assert cut("lookup_kunde", shown(*pack("lookup_kunde"), np.array([True]))) == ["lookup_kunde"]


def test_a_prompt_asks_for_them_in_many_ways() -> None:
    answer = '{"kunden_nr": 1, "betrag": 2}\n## Ergebnis\n<antwort>'
    table = SeedTable.over(shown(*pack(answer), np.array([False])).hashes)
    text = 'Keys kunden_nr and `betrag`, heading "## Ergebnis", tag <antwort>; not other_key; {\\"betrag\\": 1}'
    assert sorted(set(cut(text, asked(*pack(text), table)))) == ["Ergebnis", "antwort", "betrag", "kunden_nr"]


@settings(max_examples=100, deadline=None)
@given(st.text('"`#<>/_:\\ \nabé漢', max_size=80))
def test_any_text_has_labels_inside_it(text: str) -> None:
    found = shown(*pack(text), np.array([False]))
    size = fold(text).units.size
    assert bool((found.starts < found.ends).all())
    assert found.ends.size == 0 or int(found.ends.max()) <= size


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from("Marta J. Lindqvist keel-42 A7 x9/b1 漢字港口 シャトー שלום דוד Ünï ﬁle , \n ( ".split(" ")),
        max_size=14,
    )
)
def test_only_the_wanted_tokens_are_given_and_all_of_them(parts):
    buffer, offsets = pack(" ".join(parts), "".join(parts))
    every = names(buffer, offsets)
    wanted = every.hashes[::2]
    found = names(buffer, offsets, SeedTable.over(wanted))
    assert rows_of(found) == {row for row in rows_of(every) if row[4] in set(wanted.tolist())}
    sample = np.uint64(3)
    more = names(buffer, offsets, SeedTable.over(wanted), sample)
    drawn = in_sample(every, sample)
    assert drawn.tolist() == [
        hash_ & 3 == 0 and kind not in (PAIR, PLAIN_PAIR)
        for hash_, kind in zip(every.hashes.tolist(), every.kinds.tolist(), strict=True)
    ]
    sampled = {row for row, taken in zip(listed(every), drawn.tolist(), strict=True) if taken}
    assert rows_of(more) == rows_of(found) | sampled


def listed(found):
    columns = ("documents", "starts", "ends", "kinds", "hashes")
    return list(zip(*(getattr(found, name).tolist() for name in columns), strict=True))


def rows_of(found):
    return set(listed(found))
