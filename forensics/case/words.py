"""How are figures and values written? `1 file`, `2 files`; an odds ratio that may be infinite; a cell of a table."""

from __future__ import annotations

from datetime import datetime

from forensics.text.safe_text import safe_text


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`number` with `noun` in its right form; `plural` where it is not the noun with an s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def ratio(value: float | None) -> str:
    """Three digits; `infinite`, and `unknown` for None."""
    if value is None:
        return "unknown"
    return "infinite" if value == float("inf") else f"{value:.3g}"


def cell(value: object) -> str:
    """One value as one line of safe text. Times are UTC, lists are joined, nothing is `-`."""
    if value is None:
        return "-"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="milliseconds") + "Z"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list | tuple):
        return ", ".join(cell(item) for item in value) or "-"
    return safe_text(str(value))
