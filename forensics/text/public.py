"""Is a text public? Fingerprints of licences, stock phrases and filler, and well-known constants.

The shipped list (data/public.npz, made by build_public) holds hashes of common licence texts and filler; it is small
and does not make a text private by absence. More texts can be given by the analyst.
"""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from pathlib import Path

import numpy as np

from forensics.text.fingerprint import Hashes, select

# Digits that stand in prose, code and tests everywhere; matched on folded units, whole or as a prefix of 10 or more.
PUBLIC_TOKENS = (
    "314159265358979323846264338327950288",
    "271828182845904523536028747135266249",
    "141421356237309504880168872420969807",
    "161803398874989484820458683436563811",
    "12345678901234567890",
    "123456789abcdef",
    "0123456789abcdef",
    "9876543210",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "9223372036854775808",
    "4294967296",
    "4294967295",
    "2147483647",
    "2147483648",
    "1000000000000000",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "d41d8cd98f00b204e9800998ecf8427e",
    "da39a3ee5e6b4b0d3255bfef95601890afd80709",
    "0000000000000000",
    "4111111111111111",
    "4242424242424242",
    "6ba7b8109dad11d180b400c04fd430c8",
    # identifiers that documentation uses as examples
    "550e8400e29b41d4a716446655440000",
    "123e4567e89b12d3a456426614174000",
    "de89370400440532013000",
    "gb29nwbk60161331926819",
    "gb82west12345698765432",
    "fr1420041010050500013m02606",
    "akiaiosfodnn7example",
    "378282246310005",
    "5555555555554444",
    "wjalrxutnfemik7mdengbpxrficyexamplekey",
    "eyjhbgcioijiuzi1niisinr5cci6ikpxvcj9",  # the header of most tokens
    "eyjhbgcioijiuzi1niisinr5cci6ikpxvcj9eyjzdwiioiixmjm0nty3odkwiiwibmftzsi6ikpvag4grg9liiwiawf0ijoxnte2mjm5mdiyfq"
    "sflkxwrjsmekkf2qt4fwpmejf36pok6yjvadqssw5c",
    "004bf92f3577b34da6a3ce929d0e0e473600f067aa0ba902b701",
    "0000000300000000c000000000000000",
    "1a1zp1ep5qgefi2dmptftl5slmv7divfna",
    "13800138000",
)
# What stands in tests and tutorials, as hashes and in base64.
_WORDS = (
    "a", "abc", "admin", "foo", "guest", "hello", "hello world", "Hello World", "Hello, World!", "letmein", "password",
    "qwerty", "root", "secret", "test", "user", "1234", "12345", "123456", "12345678", "123456789", "admin:admin",
    "user:password", "username:password",
)  # fmt: skip
# As written: numbers that a public body gave, files of published packages, and the first documents of a year.
_PUBLIC_FORMS = re.compile(
    r"CVE-\d{4}-\d{4,7}|10\.\d{4,9}/\S+|arXiv:\d{4}\.\d{4,5}|(?:doi:|https?://(?:dx\.)?doi\.org/)\S+"
    r"|[a-z][\w.]*(?:-[\w.]+)*-\d+(?:\.\d+)+\.(?:jar|war|whl|gem|crate|tgz|tar\.gz)"
    r"|[A-Z]{1,5}[-/]?(?:19|20)\d\d[-/]0+\d{1,3}",
    re.IGNORECASE,
)
# Domains kept for examples (RFC 2606); what stands under them identifies nobody.
EXAMPLE_DOMAINS = ("examplecom", "exampleorg", "examplenet")
ID_DIGITS = 3  # from which on a path below them could be somebody's
SEQUENCES = ("1234567890", "0123456789", "abcdefghij", "9876543210")


@cache
def public_hashes() -> Hashes:
    """Sorted fingerprints of the shipped public texts."""
    with np.load(Path(__file__).parent / "data" / "public.npz") as data:
        return np.asarray(np.cumsum(data["steps"], dtype=np.int64) + np.int64(data["first"]))


def public_share(text: str) -> float:
    """Share (0..1) of a text's fingerprints that a public text has; 0 for a text too short to have any."""
    buffer = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    found = select(buffer, np.array([0, buffer.size], dtype=np.int64))[0]
    if found.size == 0:
        return 0.0
    known = public_hashes()
    index = np.minimum(np.searchsorted(known, found), known.size - 1)
    return float((known[index] == found).mean())


def is_public_token(units: str) -> bool:
    """Is a folded token (letters and digits only) a well-known constant or a part of one, or a repeated pattern?"""
    if len(set(units)) <= 2 or units.endswith(EXAMPLE_DOMAINS) or any(s in units for s in SEQUENCES):
        return True
    if units in _of_words():
        return True
    if any(domain in units for domain in EXAMPLE_DOMAINS) and sum(unit.isdigit() for unit in units) < ID_DIGITS:
        return True  # a page of theirs that is named, not numbered
    for size in (2, 3, 4):
        if len(units) % size == 0 and units == units[:size] * (len(units) // size):
            return True
    return any(units in token or (len(token) >= 10 and units.startswith(token)) for token in PUBLIC_TOKENS)


def is_public_form(text: str) -> bool:
    """Is an identifier, as it is written, a number that was published (CVE, DOI, arXiv), a file of a published package,
    or one of the first documents of a year (`INV-2026-0001`), which anybody has?"""
    return _PUBLIC_FORMS.fullmatch(text.strip(".,;:()[]\"'")) is not None


@cache
def _of_words() -> frozenset[str]:
    """Folded hashes and base64 of words that stand in every test."""
    made = [
        digest(word.encode()).hexdigest() for word in _WORDS for digest in (hashlib.md5, hashlib.sha1, hashlib.sha256)
    ]
    made += [base64.b64encode(word.encode()).decode().strip("=").lower() for word in _WORDS]
    return frozenset(made)


def is_public_constant(units: str) -> bool:
    """The same for a run of text: nearly all of it is one well-known constant."""
    return units in _of_words() or any(
        units in token or (token in units and len(token) >= 0.6 * len(units)) for token in PUBLIC_TOKENS
    )
