"""How are figures written in a sentence? `1 file`, `2 files`; an odds ratio that may be infinite."""

from __future__ import annotations


def counted(number: int, noun: str, plural: str | None = None) -> str:
    """`number` with `noun` in its right form; `plural` where it is not the noun with an s."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


def ratio(value: float | None) -> str:
    """Three digits; `infinite`, and `unknown` for None."""
    if value is None:
        return "unknown"
    return "infinite" if value == float("inf") else f"{value:.3g}"
