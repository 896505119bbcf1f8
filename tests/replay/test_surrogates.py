"""Surrogates: as long, of the same shape, nothing of the original, shared where it was shared, with canaries."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.case.errors import MissingInput, UsageError
from forensics.replay.canaries import Original
from forensics.replay.segments import GRAM, segments, word_grams
from forensics.replay.stand_ins import StandIns, is_kept, shared_length
from forensics.replay.surrogates import LIMIT, TokenizerFile, surrogates

SYSTEM = (
    "<|im_start|>system\nYou work for the harbour office of {name}. Answer from the records that you are given and from "
    "nothing else. Do not explain.<|im_end|>\n<|im_start|>user\n"
)
RECORD = "Record of {name}: file {number}, 31 Copperfield Row, about {matter}."
ASK = "\nCopy the first record exactly as it stands.<|im_end|>\n<|im_start|>assistant\nRecord"


def prompt(office: str, *records: tuple[str, str, str]) -> str:
    lines = [RECORD.format(name=name, number=number, matter=matter) for name, number, matter in records]
    return SYSTEM.format(name=office) + "\n".join(lines) + ASK


NORVIK = prompt("Norvik", ("Goran Solberg", "CO-4818-453", "a crate of tiles"), ("Ilse Grunwald", "CO-4866-290", "tea"))
QUILL = prompt("Quill", ("Piet Kowalczyk", "QU-7448-762", "a contested will"), ("Mara Okonkwo", "QU-9983-337", "tea"))
NORVIK_AGAIN = prompt("Norvik", ("Goran Solberg", "CO-4818-453", "a crate of tiles"), ("Nils Ashdown", "CO-1-1", "oil"))
JSON = '{"customer": {"iban": "NO21 6604 1177 905", "notes": ["überfällig", 3, 0.5]},\n  "状態": "未払い"}'
TEXTS = {"t0001": NORVIK, "t0002": QUILL, "t0003": NORVIK_AGAIN, "t0004": JSON}


def originals(**other: Any) -> list[Original]:
    owners = {"t0001": "n", "t0002": "q", "t0003": "n", "t0004": "z"}
    return [Original(key, text, frozenset([owners[key]]), other.get(key, ())) for key, text in TEXTS.items()]


@pytest.fixture(scope="module")
def small_tokenizer(tmp_path_factory: pytest.TempPathFactory) -> TokenizerFile:
    """A byte-level BPE tokenizer of a few hundred tokens, learned from other English."""
    tokenizers = pytest.importorskip("tokenizers", reason="the extra `replay` is not installed")
    from forensics.replay.stand_ins import _list

    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=1500,
        special_tokens=["<|im_start|>", "<|im_end|>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator([" ".join((*_list("words.txt"), *_list("kept.txt")))] * 3, trainer)
    path = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
    made.save(str(path))
    return TokenizerFile(path)


@given(st.text(max_size=300))
@settings(max_examples=200, deadline=None)
def test_segments_leave_nothing_out(text: str) -> None:
    assert "".join(piece.text for piece in segments(text)) == text


@pytest.mark.parametrize("text", [NORVIK, QUILL, JSON])
def test_the_shape_stays(text: str) -> None:
    key = next(key for key, one in TEXTS.items() if one == text)
    # A canary is letters, a hyphen and digits in place of something else: without it the shape is the same.
    made = surrogates([Original(key, text, frozenset(["a", "b"]))], 1).texts[key]
    kinds = [(piece.kind, piece.text if piece.kind in ("mark", "space", "other") else "") for piece in segments(text)]
    assert [
        (piece.kind, piece.text if piece.kind in ("mark", "space", "other") else "") for piece in segments(made)
    ] == kinds
    digits = [len(piece.text) for piece in segments(text) if piece.kind == "number"]
    assert [len(piece.text) for piece in segments(made) if piece.kind == "number"] == digits
    assert len(made) == len(text)


def test_no_eight_words_of_an_original_are_left() -> None:
    made = surrogates(originals(), 1)
    forbidden = {gram for text in TEXTS.values() for gram in word_grams(text)}
    assert forbidden
    assert not [gram for text in made.texts.values() for gram in word_grams(text) if gram in forbidden]


def test_words_of_instruction_alone_do_not_make_eight_in_a_row() -> None:
    text = "Repeat the first record exactly as it is and do not add a word to it or after it"
    assert all(is_kept(word) for word in text.split())
    made = surrogates([Original("t0001", text, frozenset(["a"]))], 1).texts["t0001"]
    assert not set(word_grams(made)) & set(word_grams(text))


def test_nothing_particular_is_left() -> None:
    made = surrogates(originals(), 1)
    particular = (
        "Norvik Quill Goran Solberg Kowalczyk Copperfield 4818 7448 CO QU harbour tiles überfällig 6604 状態".split()
    )
    for text in made.texts.values():
        words = {piece.text for piece in segments(text)}
        # Another word's stand-in may be one of these by chance, its own never is.
        assert len(words & set(particular)) == 0


@pytest.mark.parametrize("with_tokenizer", [False, True])
def test_what_began_alike_begins_alike_and_parts_where_it_parted(with_tokenizer: bool, request: Any) -> None:
    tokens = request.getfixturevalue("small_tokenizer") if with_tokenizer else None
    made = surrogates(originals(), 1, tokens)

    def cut(text: str) -> list[Any]:
        return list(tokens.ids(text)) if tokens else [piece.text for piece in segments(text)]

    for one, other in (("t0001", "t0003"), ("t0001", "t0002")):
        before = shared_length(cut(TEXTS[one]), cut(TEXTS[other]))
        assert before > 10
        assert shared_length(cut(made.texts[one]), cut(made.texts[other])) == before
    assert made.prefixes_off == 0


def test_token_lengths_stay_within_one_in_a_hundred(small_tokenizer: TokenizerFile) -> None:
    made = surrogates(originals(), 1, small_tokenizer)
    for key, (before, after) in made.lengths.items():
        assert before == small_tokenizer.count(TEXTS[key])
        assert after == small_tokenizer.count(made.texts[key])
        assert abs(after - before) <= LIMIT * before or key == "t0004"  # 50 tokens: one would be 2 %
    assert made.worst == max(abs(after - before) / before for before, after in made.lengths.values())


def test_each_own_text_has_a_canary_that_no_other_tenant_has() -> None:
    start = NORVIK.index("Goran")
    made = surrogates(originals(t0001=((start, start + 40),)), 1)
    for key, owner in (("t0001", "n"), ("t0002", "q")):
        assert made.canaries[key]
        for canary in made.canaries[key]:
            holders = {other for other, text in made.texts.items() if canary in text}
            assert {"t0001": "n", "t0002": "q", "t0003": "n", "t0004": "z"}[key] == owner
            assert holders <= ({"t0001", "t0003"} if owner == "n" else {"t0002"})
            assert not any(canary in text for text in TEXTS.values())
    # One of them stands where the leak came from, in place of something as long.
    place = made.texts["t0001"].index(made.canaries["t0001"][0])
    assert start <= place < start + 40
    everything = [canary for found in made.canaries.values() for canary in found]
    assert len(set(everything)) >= 3


def test_what_two_tenants_share_carries_no_canary() -> None:
    shared = Original("t0001", NORVIK, frozenset(["a", "b"]))
    assert surrogates([shared], 1).canaries["t0001"] == ()


def test_everything_follows_from_the_seed() -> None:
    one = surrogates(originals(), 1)
    assert surrogates(originals()[::-1], 1) == one
    assert surrogates(originals(), 2).texts != one.texts


@given(
    st.lists(st.text("ab ABé漢字я.1\n-{}", max_size=60), min_size=1, max_size=5, unique=True),
    st.integers(0, 3),
)
@settings(max_examples=60, deadline=None)
def test_different_texts_stay_different_and_equal_pieces_equal(texts: list[str], seed: int) -> None:
    given_ = [Original(f"t{number:04d}", text, frozenset(["a", "b"])) for number, text in enumerate(texts)]
    made = surrogates(given_, seed).texts
    assert len(set(made.values())) == len(texts)
    for one in given_:
        assert made[one.text_id].count("\n") == one.text.count("\n")
        for other in given_:
            shared = shared_length(segments(one.text), segments(other.text))
            pieces = [piece.text for piece in segments(made[one.text_id])][:shared]
            assert pieces == [piece.text for piece in segments(made[other.text_id])][:shared]


@given(st.lists(st.text("0123456789", min_size=2, max_size=6), min_size=2, max_size=20, unique=True))
@settings(max_examples=100, deadline=None)
def test_numbers_that_begin_alike_begin_alike(numbers: list[str]) -> None:
    made = StandIns({number: frozenset([" "]) for number in numbers}, "1")
    assert len({made.of(number) for number in numbers}) == len(numbers)
    for one in numbers:
        for other in numbers:
            if len(one) == len(other) and made.of(one)[0] != one[0] and made.of(other)[0] != other[0]:
                assert shared_length(made.of(one), made.of(other)) == shared_length(one, other)


def test_a_tokenizer_that_is_none_is_refused(tmp_path: Any) -> None:
    with pytest.raises(MissingInput):
        TokenizerFile(tmp_path / "absent.json")
    pytest.importorskip("tokenizers")
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(UsageError, match=r"no tokenizer\.json"):
        TokenizerFile(tmp_path / "bad.json")


def test_grams_are_of_eight_words() -> None:
    assert GRAM == 8
    assert list(word_grams("a b c d e f g h")) == [tuple("abcdefgh")]


JAPANESE = (
    "渡辺彩花様の口座から返金をお願いします。画像を追加して最適化され、状況を知識として管理する。担当者は佐藤です。"
)
MIXED = "Résumé des développés: " + JAPANESE + " интерпретация данных, überfällig seit März; naïve façade."


def test_lengths_hold_in_scripts_without_spaces_too(small_tokenizer: TokenizerFile) -> None:
    texts = [JAPANESE * 3, MIXED * 4]
    made = surrogates(
        [Original(f"t{number:04d}", text, frozenset([str(number)])) for number, text in enumerate(texts)],
        1,
        small_tokenizer,
    )
    for number, text in enumerate(texts):
        before, after = small_tokenizer.count(text), small_tokenizer.count(made.texts[f"t{number:04d}"])
        assert abs(after - before) <= LIMIT * before
        assert not {"渡辺", "口座", "佐藤", "данных", "März"} & set(re.findall(r"\w\w+", made.texts[f"t{number:04d}"]))
