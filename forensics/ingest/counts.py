"""Numbers out of the statistics lines of engines: `name: value` and `value name` lists, read by name, never by place.

A name becomes lower snake case and carries its unit, where the line gives one other than a count: `usage_percent`,
`elapsed_time_ms`. What is no number or plain truth value is left out, so that no text of a log can come through.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

Number = int | float
_NAMED = re.compile(
    r"#?([A-Za-z][\w .#/()-]{0,60}?)\s*[:=]\s*(-?\d{1,18}(?:\.\d{1,20})?(?:e[+-]?\d{1,3})?|True|False|true|false)"
    r"\s*(%|[A-Za-z][\w/.%]{0,20})?[.;]?"
)
_COUNTED = re.compile(r"(-?\d{1,18}(?:\.\d{1,20})?) ([A-Za-z][A-Za-z ]{0,40})")
_OTHER = re.compile(r"[^a-z0-9]+")
_UNITS = {"%": "percent", "ms": "ms", "s": "s", "us": "us", "gb/s": "gb_per_s", "mb": "mb", "mib": "mib"}
_MOST_PARTS = 64


def snake(name: str) -> str:
    """`GPU KV cache usage` as `gpu_kv_cache_usage`."""
    return _OTHER.sub("_", name.lower()).strip("_")


def number(text: str) -> Number | None:
    """The number in `text`, or None; truth values are 1 and 0."""
    if text in ("True", "true"):
        return 1
    if text in ("False", "false"):
        return 0
    try:
        if any(c in text for c in ".eE"):
            value = float(text)
            return value if abs(value) < 1e300 else None
        return int(text) if len(text) < 20 else None
    except ValueError:
        return None


def whole(value: object, most: int = 1 << 53) -> int | None:
    """A count that a JSON field gives as such: a whole number from 0 to below `most`; None for anything else.

    From 2 to the 53rd on, readers of JSON do not agree on what a number is.
    """
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < most:
        return value
    return None


def named(parts: Iterable[str]) -> dict[str, Number]:
    """The counts in `parts`, each `name: value unit` or `value name`."""
    counts: dict[str, Number] = {}
    for n, part in enumerate(parts):
        if n >= _MOST_PARTS:
            break
        part = part.strip()
        match = _NAMED.fullmatch(part)
        if match is not None:
            name, text, unit = match.groups()
            name = snake(name)
            unit = _UNITS.get(unit.lower()) if unit else None
            if unit is not None and not name.endswith(f"_{unit}"):
                name = f"{name}_{unit}"
        else:
            match = _COUNTED.fullmatch(part)
            if match is None:
                continue
            text, name = match.groups()
            name = snake(name)
        value = number(text)
        if name and value is not None:
            counts.setdefault(name, value)
    return counts


def listed(text: str) -> dict[str, Number]:
    """The counts of a comma list."""
    return named(text[:4000].split(","))
