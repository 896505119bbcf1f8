"""Triage of a case, cell by cell: what was examined, what was found, who is concerned, what is open.

A notebook in percent cells: any editor that knows them runs it cell by cell, and so does plain Python:
`python notebooks/triage.py CASE`. It uses the library, never the shell, and shows ids and counts, never text.
"""

# %% The case
from __future__ import annotations

import sys
from pathlib import Path

from forensics.case.ask import Answer, ask
from forensics.case.store import Case
from forensics.text.safe_text import safe_text


def show(answer: Answer, rows: int = 10) -> None:
    """The first rows of an answer."""
    print("\t".join(answer.columns))
    for row in answer.rows[:rows]:
        print("\t".join(safe_text(str(value)) for value in row))
    print(f"({len(answer.rows)} rows)\n")


def triage(root: Path) -> dict[str, int]:
    """Print the story of a case; returns the number of rows behind each cell."""
    counts: dict[str, int] = {}
    with Case.open(root, read_only=True) as case:
        # %% What was read, and could it be examined?
        for name in ("evidence", "examinable-per-hour"):
            answer = ask(case, name, {})
            counts[name] = len(answer.rows)
            show(answer)
        # %% Which responses carry foreign text, and who is concerned?
        for name in ("affected-requests", "affected-tenants", "who-to-whom"):
            answer = ask(case, name, {})
            counts[name] = len(answer.rows)
            show(answer)
        # %% When did it begin and end, and on which workers?
        for name in ("window", "worker-rates"):
            answer = ask(case, name, {})
            counts[name] = len(answer.rows)
            show(answer)
        # %% What is open: passages without a source, decisions to take
        for name in ("unattributed", "review-queue"):
            answer = ask(case, name, {})
            counts[name] = len(answer.rows)
            show(answer)
    return counts


# %%
if __name__ == "__main__":
    triage(Path(sys.argv[1] if len(sys.argv) > 1 else "demo-case"))
