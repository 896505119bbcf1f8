"""Makes data/public.npz: `python -m forensics.text.build_public FILE...` (plain texts that everybody has).

Two hashes per text position would be needed for any phase; winnowing makes the selection the same in every copy, so
the winnowed fingerprints of the whole texts are enough for runs of the guaranteed length. Run by hand.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from forensics.text.fingerprint import fingerprint

TARGET = Path(__file__).parent / "data" / "public.npz"


def main(files: list[Path]) -> None:
    """Fingerprint the files and write the sorted hashes as steps (small numbers compress)."""
    data = [file.read_text(encoding="utf-8", errors="replace").encode() for file in files]
    buffer = np.frombuffer(b"".join(data), dtype=np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(part) for part in data])]).astype(np.int64)
    hashes = np.unique(fingerprint(buffer, offsets).hashes)
    steps = np.diff(hashes.view(np.uint64), prepend=hashes.view(np.uint64)[:1]).view(np.int64)
    np.savez_compressed(TARGET, first=hashes[0], steps=steps, names=np.array(sorted(file.name for file in files)))
    print(f"{hashes.size} hashes, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
