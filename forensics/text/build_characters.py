"""Makes data/characters.npz from a corpus file: `python -m forensics.text.build_characters CORPUS.jsonl.zst`.

The corpus has one JSON object a line with `prompt` and `response`. Rare pairs are pruned: they cost space and would
make the model remember single passages. Run by hand, never at run time.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt
import orjson
import zstandard

from forensics.text.characters import ORDER, keys
from forensics.text.fold import fold
from forensics.text.symbols import BOUNDARY, boundaries

TARGET = Path(__file__).parent / "data" / "characters.npz"
MINIMUM = (1, 1, 3, 6, 10, 16)  # smallest count kept, by order


def symbols_of(text: str) -> npt.NDArray[np.uint32]:
    """Units with a boundary symbol wherever something was dropped."""
    folded = fold(text)
    gaps = np.flatnonzero(boundaries(folded))
    return np.insert(folded.units, gaps, BOUNDARY)


def main(corpus: Path) -> None:
    """Count and write."""
    data = zstandard.ZstdDecompressor().stream_reader(corpus.read_bytes()).read()
    seen: set[str] = set()
    parts: list[npt.NDArray[np.uint32]] = []
    for line in data.split(b"\n"):
        if line.strip():
            record = orjson.loads(line)
            for text in (record["prompt"], record["response"]):
                if text and text not in seen:
                    seen.add(text)
                    parts.append(symbols_of(text[:20000]))
    symbols = np.concatenate(parts)
    context_keys, context_counts, context_kinds, pair_keys, pair_counts = [], [], [], [], []
    for order in range(ORDER + 1):
        contexts, pairs = keys(symbols, order)
        unique_pairs, first, counts = np.unique(pairs, return_index=True, return_counts=True)
        kept = counts >= MINIMUM[order]
        unique_pairs, first, counts = unique_pairs[kept], first[kept], counts[kept]
        # A context's total and kinds come from its kept pairs, so that probabilities stay consistent.
        of_context = contexts[first]
        unique_contexts, inverse = np.unique(of_context, return_inverse=True)
        context_keys.append(unique_contexts)
        context_counts.append(np.bincount(inverse, weights=counts).astype(np.uint32))
        context_kinds.append(np.bincount(inverse).astype(np.uint32))
        pair_keys.append(unique_pairs)
        pair_counts.append(counts.astype(np.uint32))
    c_keys, c_index = np.unique(np.concatenate(context_keys), return_index=True)
    p_keys, p_index = np.unique(np.concatenate(pair_keys), return_index=True)
    # Sorted keys are stored as steps: small numbers compress.
    np.savez_compressed(
        TARGET,
        context_steps=np.diff(c_keys, prepend=np.uint32(0)),
        context_counts=np.concatenate(context_counts)[c_index],
        context_kinds=np.minimum(np.concatenate(context_kinds)[c_index], 65535).astype(np.uint16),
        pair_steps=np.diff(p_keys, prepend=np.uint32(0)),
        pair_counts=np.concatenate(pair_counts)[p_index],
    )
    print(f"{symbols.size} symbols, {c_keys.size} contexts, {p_keys.size} pairs, {TARGET.stat().st_size} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
