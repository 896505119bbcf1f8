"""What are tenants, requests and workers called in files that leave the house? Decides nothing else about them.

`T-XXXX`, `R-XXXXXX` and `W-XXX`: keyed BLAKE2b of the id, with one key per case in `restricted/pseudonym.key`. The key
is made at first use from digests that only a holder of the evidence can compute, so that two runs on the same evidence
print the same codes, and it is kept when evidence is added. Nobody without the evidence can go from a code to an id
by trying names.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from dataclasses import dataclass, field

from forensics.case.csv_file import csv_bytes
from forensics.case.errors import MissingInput
from forensics.case.store import Case

KEY_FILE = "restricted/pseudonym.key"
MAP_FILE = "restricted/pseudonyms.csv"
# Without I, L, O and U: nothing to misread aloud.
_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_LENGTHS = {"T": 4, "R": 6, "W": 3}


@dataclass(frozen=True)
class Pseudonyms:
    """The codes of one case. Unknown ids have none: asking for one raises KeyError without the id's text."""

    case_ref: str
    tenants: dict[str, str] = field(repr=False)
    requests: dict[str, str] = field(repr=False)
    workers: dict[str, str] = field(repr=False)

    def tenant(self, tenant_id: str | None) -> str:
        """Code of a tenant; `T-unknown` where no evidence names the tenant."""
        return "T-unknown" if tenant_id is None else _known(self.tenants, tenant_id, "tenant")

    def request(self, request_id: str) -> str:
        """Code of a request that takes part in a fragment."""
        return _known(self.requests, request_id, "request")

    def worker(self, worker: str | None) -> str:
        """Code of a worker; `W-unknown` where no evidence names it."""
        return "W-unknown" if worker is None else _known(self.workers, worker, "worker")


def load_pseudonyms(case: Case) -> Pseudonyms:
    """The codes of `case`. Makes the key at first use; needs the evidence to have been read."""
    key = _key(case)
    return Pseudonyms(
        case_ref="C-" + _code(key, "C", "case", 6),
        tenants=assign(key, "T", (row[0] for row in case.rows("scope/pseudonym_tenants"))),
        requests=assign(key, "R", (row[0] for row in case.rows("scope/pseudonym_requests"))),
        workers=assign(key, "W", (row[0] for row in case.rows("scope/pseudonym_workers"))),
    )


def write_map(case: Case, pseudonyms: Pseudonyms) -> None:
    """Write the one file that leads from codes back to ids, in `restricted/`."""
    rows = [
        (code, kind, value)
        for kind, codes in (
            ("tenant", pseudonyms.tenants),
            ("request", pseudonyms.requests),
            ("worker", pseudonyms.workers),
        )
        for value, code in sorted(codes.items())
    ]
    case.write(MAP_FILE, csv_bytes(("code", "kind", "id"), rows))


def assign(key: bytes, prefix: str, values: Iterable[str]) -> dict[str, str]:
    """Distinct codes for distinct `values`. Those that would share a code get longer ones, whatever the order."""
    codes: dict[str, str] = {}
    waiting = sorted(set(values))
    length = _LENGTHS[prefix]
    while waiting:
        by_code: dict[str, list[str]] = {}
        for value in waiting:
            by_code.setdefault(_code(key, prefix, value, length), []).append(value)
        waiting = []
        for code, holders in by_code.items():
            if len(holders) == 1:
                codes[holders[0]] = f"{prefix}-{code}"
            else:
                waiting.extend(holders)
        length += 2
    return codes


def _code(key: bytes, prefix: str, value: str, length: int) -> str:
    # surrogatepass: an id may hold a lone surrogate, and must still get a code of its own.
    data = value.encode("utf-8", "surrogatepass")
    digest = hashlib.blake2b(data, key=key, digest_size=32, person=prefix.encode()).digest()
    number = int.from_bytes(digest, "big")
    return "".join(_ALPHABET[(number >> (5 * i)) & 31] for i in range(length))


def _key(case: Case) -> bytes:
    path = case.root / KEY_FILE
    if path.is_file():
        key = bytes.fromhex(path.read_text(encoding="ascii").strip())
        if len(key) == 32:
            return key
        raise MissingInput(f"{KEY_FILE} is damaged; restore it, or remove it to make new pseudonyms")
    files, records = case.rows("scope/pseudonym_secret")[0]
    key = hashlib.blake2b(f"{files}|{records}".encode(), digest_size=32, person=b"pseudonym-key").digest()
    previous = os.umask(0o077)
    try:
        case.write(KEY_FILE, key.hex().encode() + b"\n")
    finally:
        os.umask(previous)
    return key


def _known(codes: dict[str, str], value: str, kind: str) -> str:
    code = codes.get(value)
    if code is None:
        raise KeyError(f"a {kind} without a pseudonym")
    return code
