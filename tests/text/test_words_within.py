"""The words between two places are those that a look at every word would give, in every script."""

from __future__ import annotations

import pytest

from forensics.text.words import words

TEXTS = (
    "Mrs Dwerryhouse of 14 Quernstone Lane, 48,211 pounds",
    "霍兰街 depot 仓库周二把 17 箱账簿 ﷺ ok",
    "カタカナ語と漢字 and e\u0301le\u0300ve ß ﬁ ½",
    "המחסן ברחוב שלום-עליכם أرسل المستودع",
    "",
)


@pytest.mark.parametrize("text", TEXTS)
def test_the_same_as_a_look_at_every_word(text: str) -> None:
    found = words(text)
    size = int(found.ends.max(initial=0)) + 2
    for start in range(size):
        for end in range(start, size):
            every = [i for i in range(found.hashes.size) if found.starts[i] >= start and found.ends[i] <= end]
            part = found.within(start, end)
            assert list(range(part.start, part.stop)) == every
