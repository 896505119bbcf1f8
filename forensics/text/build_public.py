"""Makes data/public.npz: `python -m forensics.text.build_public FILE...` (plain texts that everybody has).

Of the files, the winnowed fingerprints; of the stock phrases (data/stock_phrases.txt, one a line, written for this
purpose) every gram, since a phrase is too short for a selection to be the same wherever it stands. Run by hand.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

from forensics.text.fingerprint import GRAM, _powers, _winnow, fingerprint
from forensics.text.fold import fold_table

TARGET = Path(__file__).parent / "data" / "public.npz"


def main(files: list[Path]) -> None:
    """Fingerprint the files and write the sorted hashes as steps (small numbers compress)."""
    found = [_selected([file.read_text(encoding="utf-8", errors="replace").encode() for file in files])]
    phrases = (TARGET.parent / "stock_phrases.txt").read_text(encoding="utf-8").split("\n")
    buffer, offsets = _packed([phrase.encode() for phrase in phrases])
    table = fold_table()
    found.append(_winnow(buffer, offsets, table.table, table.expansions, GRAM, 1, _powers(GRAM))[0])
    hashes = np.unique(np.concatenate(found))
    steps = np.diff(hashes.view(np.uint64), prepend=hashes.view(np.uint64)[:1]).view(np.int64)
    np.savez_compressed(TARGET, first=hashes[0], steps=steps, names=np.array(sorted(file.name for file in files)))
    print(f"{hashes.size} hashes, {TARGET.stat().st_size} bytes")


def _packed(data: list[bytes]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    buffer = np.frombuffer(b"".join(data), dtype=np.uint8)
    return buffer, np.concatenate([[0], np.cumsum([len(part) for part in data])]).astype(np.int64)


def _selected(data: list[bytes]) -> npt.NDArray[np.int64]:
    return fingerprint(*_packed(data)).hashes


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
