"""Public texts: licences that everybody has, constants, repeated patterns; private text is not public."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from forensics.text.public import is_public_token, public_share

LICENCE = Path(__file__).resolve().parents[2] / "LICENSE"


def test_a_licence_is_public_wherever_it_is_cut() -> None:
    text = LICENCE.read_text(encoding="utf-8")
    for start in range(0, len(text) - 400, 371):
        assert public_share(text[start : start + 400]) > 0.9, start
        assert public_share("  ".join(text[start : start + 400].upper().split())) > 0.9, start


def test_the_mit_licence_is_public() -> None:
    text = (
        "Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated "
        'documentation files (the "Software"), to deal in the Software without restriction, including without '
        "limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies"
    )
    assert public_share(text) > 0.9


def test_private_text_is_not_public() -> None:
    text = (
        "Maria Okonkwo of 12 Elm Row disputes invoice 4471-A over 912.40; the depot in Halloran Street had shipped "
        "seventeen crates of printed ledgers to the wrong quay, and the carrier wants storage paid until Friday."
    )
    assert public_share(text) == 0.0


def test_half_a_licence_is_half_public() -> None:
    licence = LICENCE.read_text(encoding="utf-8")[2000:2800]
    private = "".join(random.Random(4).choices("abcdefghijklmnopqrstuvwxyz", k=len(licence)))
    assert 0.3 < public_share(licence + private) < 0.7


@pytest.mark.parametrize("text", ["", "short", "…", "15 letters only"])
def test_too_short_to_tell(text: str) -> None:
    assert public_share(text) == 0.0


@pytest.mark.parametrize(
    "token",
    [
        "31415926535",  # a part of pi
        "2718281828",
        "0123456789",
        "1234567890",
        "00000000000",
        "aaaaaaaaaaa",
        "abababababab",
        "123123123123",
        "4111111111111111",
        "d41d8cd98f00b204e9800998ecf8427e",
        "18446744073709551616",
        "31415926535897932384626433832795028841971693",  # pi, longer than the list has it
    ],
)
def test_constants_and_patterns_are_public(token: str) -> None:
    assert is_public_token(token)


@pytest.mark.parametrize(
    "token",
    [
        "de89370400440532013000",
        "89370400440532013000",  # without its country
        "gb29nwbk60161331926819",
        "60161331926819",
        "550e8400e29b41d4a716446655440000",
        "123e4567e89b12d3a456426614174000",
        "mokonkwoexamplecom",  # names that RFC 2606 keeps for examples
        "mokonkwoledgersexampleorg",
        "kestrelquayexamplenet",
    ],
)
def test_identifiers_of_documentation_are_public(token: str) -> None:
    assert is_public_token(token)


@pytest.mark.parametrize(
    "token",
    [
        "447199821175",
        "gb71qrvt50382264917530",
        "de27100777770209299700",
        "3f2b8c1e77aa4d019c550e8812ab44cd",
        "mokonkwoelmrowexample",
        "9f86d081884c7d65",
        "skzx81qlm02pvt",
        "abcabcabd",
    ],
)
def test_identifiers_are_not(token: str) -> None:
    assert not is_public_token(token)
