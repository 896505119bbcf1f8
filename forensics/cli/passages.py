"""How do the passages of a fragment look on a terminal? Text of a log: every sign of it passes `safe_text`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

    from forensics.case.explain import Explanation, Passage

NARROWEST = 88  # columns in which two passages stand side by side; in fewer, one under the other


def legend() -> Text:
    """What the marks mean."""
    from rich.text import Text

    from forensics.case.differences import CLOSE, FIRST, LAST, OPEN

    return Text(
        f"Text from the log: untrusted, confidential. {FIRST} {LAST} enclose the passage, {OPEN} {CLOSE} a difference."
    )


def marked_passage(passage: Passage, spans: Sequence[tuple[int, int]], most: int | None = None) -> Text:
    """The passage with its surroundings, and with `spans` of it (offsets in the passage) marked without need of colour.

    Of a passage longer than `most` code points only so many are shown, and how many are not.
    """
    from rich.text import Text

    from forensics.case.differences import FIRST, LAST, marked, plain
    from forensics.text.safe_text import safe_text

    size = len(passage.text) if most is None else min(most, len(passage.text))
    inside = [(start, min(end, size)) for start, end in spans if start < size]
    shown = Text(overflow="fold")
    shown.append(safe_text(plain(passage.before), keep_newlines=True), style="dim")
    shown.append(FIRST, style="bold")
    for piece, differs in marked(passage.text[:size], inside):
        shown.append(safe_text(piece, keep_newlines=True), style="bold reverse" if differs else "bold")
    if size < len(passage.text):
        shown.append(f" ... {len(passage.text) - size:,} more characters", style="italic")
    else:
        shown.append(LAST, style="bold")
        shown.append(safe_text(plain(passage.after), keep_newlines=True), style="dim")
    return shown


def side_by_side(found: Explanation, width: int, most: int) -> RenderableType:
    """The recipient's passage beside that of its best source. The explanation must have been made with `reveal`."""
    from rich.box import ROUNDED
    from rich.table import Table
    from rich.text import Text

    from forensics.text.safe_text import safe_text

    assert found.recipient_passage is not None
    best = next(iter(found.compared), None)
    mine, theirs = (best and found.unlike(best)) or ([], [])
    sides = [("recipient", found.recipient_passage, mine)]
    if best is not None:
        sides.append(("source" if best.named else "best candidate", found.source_passages[0], theirs))
    heads = [
        Text(safe_text(f"{role}: {passage.request_id}, {passage.field}, {passage.start} to {passage.end}"))
        for role, passage, _ in sides
    ]
    bodies = [marked_passage(passage, spans, most) for _, passage, spans in sides]
    grid = Table(box=ROUNDED, expand=True, show_lines=True, show_header=False)
    if width >= NARROWEST:
        for _ in sides:
            grid.add_column(ratio=1, overflow="fold")
        grid.add_row(*heads)
        grid.add_row(*bodies)
    else:
        grid.add_column(overflow="fold")
        for head, body in zip(heads, bodies, strict=True):
            grid.add_row(head)
            grid.add_row(body)
    return grid
