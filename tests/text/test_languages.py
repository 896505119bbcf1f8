"""Function words vote for languages; the best passage of another language is found with its place."""

from __future__ import annotations

import numpy as np
import pytest

from forensics.text.fold import fold
from forensics.text.languages import LANGUAGES, asks_language, switches, votes_of

ENGLISH = "the cat that was in the house had not been seen by any of them since they came back from the sea "
OTHERS = {
    "german": "und der Hund ist nicht mit uns auf die Wiese, weil er noch bei dem Nachbarn war",
    "swedish": "och hunden var inte med oss på ängen eftersom han ännu var hos den som bor vid sjön",
    "turkish": "ve bu köpek bizim ile değil çünkü o daha sonra bir komşu için olan bahçede kadar gibi çok",
    "russian": "и собака не была с нами на лугу так как она ещё у того который был там до нас",
}  # fmt: skip


def one(text: str) -> tuple[str, str, int, int, int]:
    data = text.encode()
    found = switches(np.frombuffer(data, dtype=np.uint8), np.array([0, len(data)], dtype=np.int64))
    name = LANGUAGES[found.language[0]] if found.language[0] >= 0 else ""
    return LANGUAGES[found.main[0]], name, int(found.start[0]), int(found.end[0]), int(found.votes[0])


@pytest.mark.parametrize("language", sorted(OTHERS))
def test_the_place_of_the_passage(language: str) -> None:
    before, passage = fold(ENGLISH).units.size, fold(OTHERS[language]).units.size
    main, name, start, end, votes = one(ENGLISH + OTHERS[language] + ". " + ENGLISH)
    assert (main, name) == ("english", language)
    assert before <= start < end <= before + passage and end - start >= 0.6 * passage
    assert votes >= 5


def test_one_language_has_no_passage() -> None:
    assert one(ENGLISH * 3)[4] < 4  # a word or two that another language has, too


def test_documents_are_apart() -> None:
    parts = [ENGLISH.encode(), b"", (ENGLISH + OTHERS["german"]).encode()]
    offsets = np.cumsum([0, *(len(part) for part in parts)]).astype(np.int64)
    found = switches(np.frombuffer(b"".join(parts), dtype=np.uint8), offsets)
    assert found.language[:2].tolist() == [-1, -1]
    assert LANGUAGES[found.language[2]] == "german"


def test_votes_leave_out_what_the_main_language_has() -> None:
    german, english = LANGUAGES.index("german"), LANGUAGES.index("english")
    assert votes_of("die war hat man", german, english) == 0  # English words, too
    assert votes_of("der Hund und nicht die Katze", german, english) == 3
    assert votes_of("", german, english) == votes_of("x y z 12", german, english) == 0


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("Schreib auf Englisch an den Vermieter.", True),
        ("Napisz po angielsku: dziękuję trenerowi.", True),
        ("اكتب بالإنجليزية رسالة إلى المورد", True),
        ("Réponds en français, s'il te plaît.", True),
        ("Contesta en inglés.", True),
        ("ドイツ語で答えてください。", True),
        ("用英语写一封信。", True),
        ("תכתוב באנגלית", True),
        ("Напиши по-английски.", True),
        ("Translate it into Polish.", True),
        ("Which coffee machines last longest?", False),
        ("Is it worth a cooking lesson?", False),  # "ingles", if spaces did not count
        ("Polish it for me.", False),
        ("What did Friedrich Engels write in 1844?", False),
        ("What is the capital of Germany?", False),
        ("Answer in English. " + "It is about eels in ponds. " * 8, False),  # not at the end
        ("", False),
    ],
)
def test_questions_that_ask_for_an_answer_in_a_language(question: str, asks: bool) -> None:
    assert asks_language(question) == asks
