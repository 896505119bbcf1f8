"""Is somebody called by name in a text: by an account, an organisation or a contact, as whole words?

A name is the words of its writing, whatever their case; a number counts as no name, and neither does one of which every
word is a word of our own. Does not say whose text it is (`corpus_check`), nor find a name that is written otherwise.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from itertools import islice

SHORTEST_NAME = 4  # letters of the shortest name that is looked for
_WORD = re.compile(r"\w+")

Words = tuple[str, ...]


def words_of(name: str) -> Words:
    """The words of a name, case folded."""
    return tuple(map(str.casefold, _WORD.findall(name)))


class Names:
    """The names of tenants, to be looked for in texts."""

    def __init__(self, rows: Iterable[tuple[str, str]], own: Sequence[str]) -> None:
        """`rows`: tenant and name. `own`: texts of our own."""
        common = {word for text in own for word in words_of(text)}
        self._tenants: defaultdict[Words, set[str]] = defaultdict(set)
        for tenant, name in rows:
            words = words_of(name)
            letters = sum(map(len, words))
            # A short number would be met in every date and count; long ones are identifiers.
            if letters >= SHORTEST_NAME and not set(words) <= common and not "".join(words).isdigit():
                self._tenants[words].add(tenant)
        # Each name under the word of it that the fewest have: thousands may begin alike, `security` at a firm each.
        names_with = Counter(word for words in self._tenants for word in set(words))
        self._telling: defaultdict[str, list[Words]] = defaultdict(list)
        for words in sorted(self._tenants):
            self._telling[min(words, key=lambda word: (names_with[word], -len(word)))].append(words)

    def first(self, text: str, tenant: str | None, mine: Sequence[Words]) -> int | None:
        """Code point at which somebody else than `tenant` is first called by a name that is no part of one of `mine`;
        None where nobody is."""
        # A word holds no space, and without their repetitions the words of a text are few.
        held = set(map(str.casefold, set(_WORD.findall(" ".join(set(text.split()))))))
        wanted = {
            words
            for word in held & self._telling.keys()
            for words in self._telling[word]
            if held.issuperset(words) and not self._passes(words, tenant, mine)
        }
        said = words_of(text) if wanted else ()
        places = [place for words in wanted if (place := _place(words, said)) is not None]
        return next(islice(_WORD.finditer(text), min(places), None)).start() if places else None

    def _passes(self, words: Words, tenant: str | None, mine: Sequence[Words]) -> bool:
        return tenant in self._tenants[words] or any(_place(words, name) is not None for name in mine)


def _place(words: Words, said: Words) -> int | None:
    """Where in what is said the words first stand in a row."""
    place = -1
    with suppress(ValueError):
        while True:
            place = said.index(words[0], place + 1)
            if said[place : place + len(words)] == words:
                return place
    return None
