"""Makes data/fold.npz, the table behind `fold`. Run by hand (`python -m forensics.text.build_fold`), never at run time.

The table is shipped rather than computed, because Python's Unicode version differs between releases and a
fingerprint must not.
"""

from __future__ import annotations

import unicodedata
from pathlib import Path

import numpy as np

TARGET = Path(__file__).parent / "data" / "fold.npz"
EXPANSION_BASE = 0x200000
MAX_EXPANSION = 4


def folded(character: str) -> str:
    """The units of one character: NFKC, casefold, base letters, letters and digits only, Hangul composed."""
    text = unicodedata.normalize("NFKC", character).casefold()
    text = unicodedata.normalize("NFKC", text)
    decomposed = unicodedata.normalize("NFKD", text)
    kept = "".join(c for c in decomposed if unicodedata.category(c) not in ("Mn", "Me"))
    composed = unicodedata.normalize("NFC", kept)
    return "".join(c for c in composed if unicodedata.category(c)[0] in "LN" or unicodedata.category(c) == "Mc")


def main() -> None:
    """Write the table: 0 = dropped, below EXPANSION_BASE = one unit, above = row of the expansions."""
    table = np.zeros(0x110000, dtype=np.uint32)
    expansions: list[list[int]] = []
    index: dict[str, int] = {}
    for code in range(0x110000):
        if 0xD800 <= code <= 0xDFFF or unicodedata.category(chr(code)) in ("Cn", "Co", "Cc"):
            continue
        units = folded(chr(code))
        if len(units) == 1:
            table[code] = ord(units)
        elif units:
            units = units[:MAX_EXPANSION]
            if units not in index:
                index[units] = len(expansions)
                expansions.append([ord(u) for u in units] + [0] * (MAX_EXPANSION - len(units)))
            table[code] = EXPANSION_BASE + index[units]
    digit = np.zeros(0x110000, dtype=bool)
    for code in range(0x110000):
        if table[code] and unicodedata.category(chr(code)) == "Nd":
            digit[code] = True
    # Digits of any script fold to ASCII, so that a number is a number.
    for code in np.flatnonzero(digit).tolist():
        table[code] = ord(str(unicodedata.digit(chr(code))))
    TARGET.parent.mkdir(exist_ok=True)
    np.savez_compressed(
        TARGET,
        table=table,
        expansions=np.array(expansions, dtype=np.uint32),
        unicode_version=np.array(unicodedata.unidata_version),
    )


if __name__ == "__main__":
    main()
