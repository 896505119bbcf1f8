"""Identifier tokens: what is one, what is not, and one hash whatever the separators. Expected tokens are written out."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.text.fold import fold, fold_table
from forensics.text.identifiers import _STOP, _kinds, _scan, identifiers


def scan(*texts: str) -> list[list[tuple[str, int]]]:
    """(folded token, hash) per text, in the order found."""
    data = [text.encode() for text in texts]
    offsets = np.cumsum([0, *map(len, data)]).astype(np.int64)
    found = identifiers(np.frombuffer(b"".join(data), dtype=np.uint8), offsets)
    tokens: list[list[tuple[str, int]]] = [[] for _ in texts]
    for value, document, start, end in zip(
        found.hashes.tolist(), found.documents.tolist(), found.starts.tolist(), found.ends.tolist(), strict=True
    ):
        units = fold(texts[document]).units[start:end]
        tokens[document].append(("".join(map(chr, units.tolist())), value))
    return tokens


def spelled(text: str) -> list[str]:
    return sorted(token for token, _ in scan(text)[0])


@pytest.mark.parametrize(
    ("text", "token"),
    [
        ("account 4471-9982-1175 is closed", "447199821175"),
        ("account 4471 9982 1175 is closed", "447199821175"),
        ("account 447199821175.", "447199821175"),
        ("IBAN GB29 NWBK 6016 1331 9268 19", "60161331926819"),
        ("IBAN DE89370400440532013000 please", "de89370400440532013000"),
        ("write to m.okonkwo@elm-row.example soon", "mokonkwoelmrowexample"),
        ("key sk-Zx81qLm02PvT", "skzx81qlm02pvt"),
        ("sha 9f86d081884c7d659a2feaa0c55ad015", "9f86d081884c7d659a2feaa0c55ad015"),
        ("phone +49 30 901820 17", "493090182017"),
        ("uuid 3f2b8c1e-77aa-4d01-9c55-0e8812ab44cd", "3f2b8c1e77aa4d019c550e8812ab44cd"),
        ("path /srv/tenants/okonkwo/ledger.db", "srvtenantsokonkwoledgerdb"),
        ("客户号A4471998211的合同", "a4471998211"),
        ("お客様番号4471998211です", "4471998211"),
        ("账号：４４７１９９８２１１。", "4471998211"),
        ("رقم ٤٤٧١٩٩٨٢١١", "4471998211"),
        ("ref:INV-2231-88X1", "inv223188x1"),
    ],
)
def test_tokens_that_identify(text: str, token: str) -> None:
    assert token in spelled(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nothing but plain words in a sentence",
        "short 1234567",
        "A1-B2",  # too short
        "on 2026-03-04 and 04.03.2026 and 12/31/2025",
        "at 2026-03-04T10:00:00Z sharp",
        "2026-03-04 10:00:00",
        "20260304",
        "well-known state-of-the-art",
        "客户订单号码合同发票银行账款项目会议记录",
        "한국전자계약서고객번호은행송금청구서",
        "42",
        "v1.2.3",
        "x" * 600 + "123",
    ],
)
def test_what_is_no_token(text: str) -> None:
    assert spelled(text) == []


def test_separators_do_not_matter() -> None:
    forms = [
        "4471-9982-1175",
        "4471 9982 1175",
        "447199821175",
        "4471.9982.1175",
        "4471_9982_1175",
        "４４７１９９８２１１７５",
    ]
    hashes = [
        {value for token, value in found if token == "447199821175"}
        for found in scan(*(f"no. {f}, paid" for f in forms))
    ]
    assert all(len(one) == 1 for one in hashes)
    assert len(set.union(*hashes)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "(4471998211750)",
        "お客様番号4471998211750です",
        "客户号4471998211750的合同",
        "no.: 4471998211750,",
        "id=4471998211750",
        "계좌 4471998211750으로 보내세요",  # Korean particles touch the number
        "계좌4471998211750",
        "העברה ל-4471998211750 היום",  # Hebrew prefixes too, by a hyphen
        "Konto-4471998211750",
        "4471998211750'e gönder",  # Turkish
        "4471\u00a09982\u00a011750",
        "4471\u202f9982\u202f11750",  # narrow space, as models write numbers
        "4471\u20119982\u201111750",  # non-breaking hyphen, as models write numbers
        "4471\u20139982\u201311750",
        "4471－9982－11750",  # full-width
        "4471\u200b9982\u200b11750",
    ],
)
def test_a_number_is_the_same_in_any_language(text: str) -> None:
    assert "4471998211750" in spelled(text)


def test_case_does_not_matter() -> None:
    upper, lower = scan("key SK-ZX81QLM02PVT.", "key sk-zx81qlm02pvt.")
    assert upper == lower != []


def test_parts_are_tokens_too() -> None:
    """A copy may carry the prefix or not."""
    with_prefix, without = scan("ref:INV-2231-88X1", "INV-2231-88X1")
    assert without[0] in with_prefix
    assert spelled("https://ledger.example/api?id=77819922431") == sorted(
        ["httpsledgerexampleapiid77819922431", "77819922431"]
    )


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (
            "[7, ES28 3145 1223 7218 3986 2]",
            "es2831451223721839862 es283145122372183986 2831451223721839862 31451223721839862 3145122372183986",
        ),
        ("7 4471 9982 1175 1, 3", "74471998211751 7447199821175 4471998211751 447199821175"),
        ("+99 256 6671687 2, 6", "9925666716872 992566671687 25666716872 2566671687"),
        ("2026-03-04 4471 99821175", "447199821175 99821175"),  # what begins with a date is none
        ("1 2 3 4 5 6 7 8 9", "123456789 12345678 23456789"),
        ("12 34 56 78 see 99 88 77 66 55", "12345678 9988776655 99887766 88776655"),
        ("4471 9982 A1", "44719982"),
        ("4471 9982 1175 and 12 3", "447199821175 44719982 99821175"),  # nothing stays from the run before
    ],
)
def test_groups_are_found_beside_another_number(text: str, tokens: str) -> None:
    assert spelled(text) == sorted(tokens.split())


def test_an_identifier_beside_a_number_is_the_one_that_was_sent() -> None:
    sent, given = scan("account ES28 3145 1223 7218 3986.", "* [7, ES28 3145 1223 7218 3986 2]")
    assert set(sent) & set(given)


def test_different_tokens_have_different_hashes() -> None:
    found = scan(*(f"no. {1000000000 + 7 * k}." for k in range(2000)))
    assert len({one[0][1] for one in found}) == 2000


@settings(deadline=None)
@given(
    st.text(alphabet="0123456789", min_size=10, max_size=30).filter(lambda t: not t.startswith(("19", "20"))),
    st.lists(st.sampled_from(["", "-", " ", ".", "_"]), min_size=30, max_size=30),
    st.sampled_from(["", "客", "см. ", "(", "no "]),
)
def test_a_number_is_found_whatever_joins_it(digits: str, joints: list[str], lead: str) -> None:
    joined = digits[0] + "".join(joint + digit for joint, digit in zip(joints, digits[1:], strict=False))
    assert digits in spelled(lead + joined + "; end")


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=80), st.text(max_size=80))
def test_spans_are_inside_and_documents_apart(first: str, second: str) -> None:
    alone, together = scan(first)[0] + scan(second)[0], scan(first, second)
    assert together[0] + together[1] == alone
    assert all(8 <= len(token) <= 512 for token, _ in alone)


@settings(deadline=None, max_examples=300)
@given(st.text(alphabet="abcé ж客1234567890@.-:/, \u200b\u2010½", max_size=60))
def test_passing_over_words_changes_nothing(text: str) -> None:
    """The same scan with every ASCII character a reason to look closely."""
    data = text.encode()
    buffer, offsets = np.frombuffer(data, dtype=np.uint8), np.array([0, len(data)], dtype=np.int64)
    table = fold_table()
    slow = _scan(buffer, offsets, table.table, table.expansions, _kinds(), np.full(128, _STOP, dtype=np.uint8))
    found = identifiers(buffer, offsets)
    assert [part.tolist() for part in slow] == [
        part.tolist() for part in (found.hashes, found.documents, found.starts, found.ends, found.nested)
    ]
