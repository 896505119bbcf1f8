"""Do the check digits of a number hold? Cards, accounts and national numbers whose rules are public. Finds no numbers.

Each function takes the bare signs (no spaces, dashes or dots, upper case) and says whether a number of that kind may
look like this: length, check digits, and values that are never given out. That a number exists is more than they know.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

# Length of an IBAN by country (ISO 13616 registry), for the countries that have one.
_IBAN = dict(
    part.split(":")
    for part in (
        "AD:24 AE:23 AL:28 AT:20 AZ:28 BA:20 BE:16 BG:22 BH:22 BR:29 BY:28 CH:21 CR:22 CY:28 CZ:24 DE:22 DK:18 DO:28 "
        "EE:20 EG:29 ES:24 FI:18 FO:18 FR:27 GB:22 GE:22 GI:23 GL:18 GR:27 GT:28 HR:21 HU:28 IE:22 IL:23 IQ:23 IS:26 "
        "IT:27 JO:30 KW:30 KZ:20 LB:28 LC:32 LI:21 LT:20 LU:20 LV:21 MC:27 MD:24 ME:22 MK:19 MR:27 MT:31 MU:30 NL:18 "
        "NO:15 PK:24 PL:28 PS:29 PT:25 QA:29 RO:24 RS:22 SA:24 SC:31 SE:24 SI:19 SK:24 SM:27 ST:25 SV:28 TL:23 TN:24 "
        "TR:26 UA:29 VA:22 VG:24 XK:20"
    ).split()
)
_CARD_LENGTHS = {"34": (15,), "37": (15,), "4": (13, 16, 19), "6011": (16, 19), "65": (16, 19), "62": (16, 17, 18, 19)}
_CARD_LENGTHS |= {str(start): (16,) for start in (*range(51, 56), *range(2221, 2721))}
_CARD_LENGTHS |= {str(start): (16, 17, 18, 19) for start in range(3528, 3590)}
_CARD_LENGTHS |= {str(start): (14,) for start in (*range(300, 306), 36, 38)}
# Tables of the Verhoeff scheme: multiplication in the dihedral group of order ten, and the permutation.
_DIHEDRAL = (
    "0123456789 1234067895 2340178956 3401289567 4012395678 5987604321 6598710432 7659821043 8765932104 9876543210"
).split()
_PERMUTED = "0123456789 1576283094 5803796142 8916043527 9453126870 4286573901 2793806415 7046913258".split()


def luhn(number: str) -> bool:
    """The checksum of ISO/IEC 7812."""
    total = 0
    for place, digit in enumerate(reversed(number)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 * (value > 9)
    return total % 10 == 0


def card(number: str) -> bool:
    """A payment card of one of the large networks: prefix, length, checksum."""
    lengths = next((_CARD_LENGTHS[number[:n]] for n in (4, 3, 2, 1) if number[:n] in _CARD_LENGTHS), ())
    return len(number) in lengths and len(set(number)) > 1 and luhn(number)


def iban(number: str) -> bool:
    """An international bank account number: length of its country, ISO 7064 mod 97-10."""
    if str(len(number)) != _IBAN.get(number[:2]):
        return False
    moved = number[4:] + number[:4]
    return int("".join(str(int(sign, 36)) for sign in moved)) % 97 == 1


def us_ssn(number: str) -> bool:
    """A US social security number: no check digit, only ranges that were never given out."""
    area, group, serial = number[:3], number[3:5], number[5:]
    return len(number) == 9 and area not in ("000", "666") and area < "900" and group != "00" and serial != "0000"


def uk_nhs(number: str) -> bool:
    """An NHS number: mod 11."""
    return len(number) == 10 and _weighted(number, range(10, 1, -1), 11) == 0


def cn_resident(number: str) -> bool:
    """A Chinese resident identity number (GB 11643): date of birth and ISO 7064 mod 11-2."""
    if len(number) != 18 or not _is_date(number[6:14]):
        return False
    total = sum(int(digit) * pow(2, 17 - place, 11) for place, digit in enumerate(number[:17]))
    return "10X98765432"[total % 11] == number[17]


def jp_my_number(number: str) -> bool:
    """A Japanese individual number: mod 11 over the first eleven digits."""
    if len(number) != 12:
        return False
    weights = [n + 1 if n <= 6 else n - 5 for n in range(1, 12)]
    remainder = sum(int(digit) * weight for digit, weight in zip(reversed(number[:11]), weights, strict=True)) % 11
    return int(number[11]) == (0 if remainder <= 1 else 11 - remainder)


def de_tax(number: str) -> bool:
    """A German tax identification number: ISO 7064 mod 11,10; one digit twice or thrice among the first ten."""
    if len(number) != 11 or number[0] == "0":
        return False
    counts = sorted((number[:10].count(digit) for digit in set(number[:10])), reverse=True)
    if counts[0] not in (2, 3) or (len(counts) > 1 and counts[1] > 1):
        return False
    product = 10
    for digit in number[:10]:
        total = (int(digit) + product) % 10 or 10
        product = 2 * total % 11
    return (11 - product) % 10 == int(number[10])


def in_aadhaar(number: str) -> bool:
    """An Indian Aadhaar number: Verhoeff, and no number starts with 0 or 1."""
    if len(number) != 12 or number[0] in "01":
        return False
    check = 0
    for place, digit in enumerate(reversed(number)):
        check = int(_DIHEDRAL[check][int(_PERMUTED[place % 8][int(digit)])])
    return check == 0


def br_cpf(number: str) -> bool:
    """A Brazilian CPF: two check digits, not all signs equal."""
    if len(number) != 11 or len(set(number)) == 1:
        return False
    for size in (9, 10):
        digits = number[:size]
        total = sum(int(digit) * weight for digit, weight in zip(digits, range(size + 1, 1, -1), strict=True))
        if total * 10 % 11 % 10 != int(number[size]):
            return False
    return True


def es_dni(number: str) -> bool:
    """A Spanish DNI or NIE: the letter is the number mod 23."""
    start = {"X": "0", "Y": "1", "Z": "2"}.get(number[0], number[0])
    return len(number) == 9 and "TRWAGMYFPDXBNJZSQVHLCKE"[int(start + number[1:8]) % 23] == number[8]


def fr_nir(number: str) -> bool:
    """A French social security number: sex, month, key mod 97."""
    return len(number) == 15 and number[0] in "12" and int(number[13:]) == 97 - int(number[:13]) % 97


def _weighted(number: str, weights: Sequence[int], modulus: int) -> int:
    """Weighted sum of the digits but the last, plus the last, modulo `modulus`."""
    total = sum(int(digit) * weight for digit, weight in zip(number, weights, strict=False))
    return (total + int(number[-1])) % modulus


def _is_date(digits: str) -> bool:
    try:
        date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    except ValueError:
        return False
    return digits[:4] >= "1880"
