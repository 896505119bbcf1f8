"""Makes data/words.txt: `python -m forensics.replay.build_words FILE...` (plain English texts that everybody has).

Lower-case words of 3 to 12 letters that the files hold most often, in alphabetical order: what stands in for words of
customers. Words of instruction (data/kept.txt, chosen by hand) are left out, since these stay as they are. Run by hand.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path

DATA = Path(__file__).parent / "data"
_WORD = re.compile(r"(?<![\w'-])[a-z]{3,12}(?![\w'-])")
_MOST = 2000  # words of one length
_LEAST = 2  # times that a word occurs


def main(files: list[Path]) -> None:
    """Count and write."""
    kept = set((DATA / "kept.txt").read_text(encoding="utf-8").split())
    counts = Counter(word for file in files for word in _WORD.findall(file.read_text(encoding="utf-8")))
    chosen: list[str] = []
    for length in range(3, 13):
        words = [word for word, count in counts.items() if len(word) == length and count >= _LEAST and word not in kept]
        chosen += sorted(words, key=lambda word: (-counts[word], word))[:_MOST]
    (DATA / "words.txt").write_text("\n".join(sorted(chosen)) + "\n", encoding="utf-8")
    print(f"{len(chosen)} words")


if __name__ == "__main__":
    main([Path(argument) for argument in sys.argv[1:]])
