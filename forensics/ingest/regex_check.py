"""Can a regular expression be trusted with hostile lines? Tries it on lines made to mislead it; proves nothing.

Python's `re` backtracks: a pattern such as `(a+)+b` takes for ever on `aaaa...c`. A pattern whose time grows faster
than the line is refused; possessive quantifiers (`[^"]*+`) and negated classes instead of `.*` cure most.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

LONGEST = 20_000  # code points of the longest line tried
_MOST_NS = 100_000_000  # per line; a linear pattern needs under a thousandth of a second
_SEEDS = ("a", "0", " ", "-", ".", '"', "\\", "=", ":", "/", ",", "a ", "a=", "0.", '"a"', "[a]", "{", "Aa0", "\t", "é")
_LITERAL = re.compile(r"[\w ]{1,24}|[^\w\s\\()\[\]{}?*+|^$]")


def is_slow(pattern: re.Pattern[str], examples: tuple[str, ...] = ()) -> bool:
    """Whether some line made the pattern slow."""
    return any(_grows(pattern, *parts) for parts in _hostile(pattern, examples))


def _hostile(pattern: re.Pattern[str], examples: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """(head, pump, tail): lines are the head, the pump many times, the tail."""
    seeds = [*_SEEDS, *dict.fromkeys(_LITERAL.findall(pattern.pattern))][:80]
    for seed in seeds:
        yield "", seed, "\x00"
    for example in examples:
        match = pattern.match(example)
        ends = {0, len(example)}
        if match is not None:
            for group in range(1, len(match.regs)):
                start, end = match.span(group)
                ends |= {start, end} if start >= 0 else set()
        for at in sorted(ends):
            for pump in {example[at : at + 1], example[max(0, at - 1) : at], *seeds[:12], example} - {""}:
                yield example[:at], pump, "\x00"
                yield example[:at], pump, example[at:] + "\x00"


def _grows(pattern: re.Pattern[str], head: str, pump: str, tail: str) -> bool:
    length = 8
    while length <= LONGEST:
        line = head + (pump * (length // len(pump) + 1))[:length] + tail
        began = time.thread_time_ns()
        pattern.match(line)
        if time.thread_time_ns() - began > _MOST_NS:
            return True
        # Small steps first: what doubles with every code point must not get far.
        length = length + 2 if length < 48 else length * 3
    return False
