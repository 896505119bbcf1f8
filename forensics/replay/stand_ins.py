"""What stands in for a word or a number of a customer? The same one always gets the same, no two the same.

Words of instruction and single letters stay (data/kept.txt). A common English word is replaced by another of its length
(data/words.txt), a word with capitals by an invented one, a sign by a sign of its script, digits by digits: two numbers
that begin alike begin alike afterwards, and only so far. With a tokenizer the stand-in is as many tokens long, after
whatever the word comes after; without, as many characters. Everything follows from the seed.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Protocol

_TRIES = 400
_CONTEXTS = 4  # of a word, that count
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
_WINDOW = {"CJK": 256}  # signs from which one is chosen: a stretch of its block
_LETTER_WINDOW = 32


class Tokens(Protocol):
    """Counts tokens."""

    def count(self, text: str) -> int:
        """How many tokens `text` is."""

    def ids(self, text: str) -> Sequence[int]:
        """Which they are."""

    def endings(self) -> Sequence[str]:
        """Runs of lower-case ASCII letters that are one token each inside a word, in alphabetical order."""

    def signs(self) -> Sequence[str]:
        """Letters beyond ASCII, and runs of such, that are one token each, in order."""

    def spans(self, text: str) -> Sequence[tuple[int, int]]:
        """`[start, end)` of its tokens in code points, those that share a character put together."""

    def words(self) -> Sequence[str]:
        """Lower-case words of ASCII letters that are one token each after a space, in alphabetical order."""


@cache
def _list(name: str) -> tuple[str, ...]:
    return tuple((files("forensics.replay") / "data" / name).read_text(encoding="utf-8").split())


@cache
def _kept() -> frozenset[str]:
    return frozenset(_list("kept.txt"))


@cache
def _words() -> frozenset[str]:
    return frozenset(_list("words.txt"))


@cache
def _common() -> dict[int, tuple[str, ...]]:
    by_length: dict[int, list[str]] = {}
    for word in _list("words.txt"):
        by_length.setdefault(len(word), []).append(word)
    return {length: tuple(words) for length, words in by_length.items()}


def is_kept(word: str) -> bool:
    """Whether a word may stay: a word of instruction, or one letter of ASCII."""
    return word.lower() in _kept() or (len(word) == 1 and word.isascii() and word.isalpha())


class StandIns:
    """Stand-ins of all words, signs and numbers that are given at the start, each with what comes before it."""

    def __init__(self, words: Mapping[str, frozenset[str]], seed: str, tokens: Tokens | None = None) -> None:
        self._contexts = {word: sorted(before)[:_CONTEXTS] for word, before in words.items()}
        self._seed = seed
        self._tokens = tokens
        self._made: dict[str, str] = {}
        self._drawn: tuple[tuple[str, int, int], bytes] = (("", -1, 0), b"")
        self._given: set[str] = set()
        self._costs: dict[str, int] = {}
        self._one_token: dict[tuple[tuple[str, str], ...], list[str]] = {}
        self._parts: tuple[Sequence[str], Sequence[str]] | tuple[()] = ()
        self._pools: dict[tuple[str, int], list[str]] = {}
        self._letters: dict[tuple[str, str], list[str]] = {}
        for letter in (letter for word in sorted(words) for letter in word if not letter.isascii()):
            self._letters.setdefault(_sort(letter), []).append(letter)
        # The order decides who gets a word first; it must not depend on the texts' order.
        for word in sorted(words):
            self._give(word, _TRIES if tokens is None else 4 * _TRIES, None)

    def of(self, word: str) -> str:
        """The stand-in of a word, sign or number. Raises KeyError for one that was not given."""
        return self._made[word]

    def other(self, word: str, attempt: int) -> str:
        """What else could stand in for a sign or a run of signs, never itself; the same for the same attempt."""
        made = self._candidate(word, _TRIES + attempt)
        return made if made != word else self._made[word]

    def redraw(self, word: str, beside: str, shared: int) -> bool:
        """Give `word` another stand-in, which shares exactly `shared` first tokens with the stand-in of `beside`.

        False: none was found, and the old one stays.
        """
        former = self._made.pop(word)
        self._given.discard(former)
        found = self._give(word, 4 * _TRIES, (self._ids(self._made.get(beside, beside)), shared))
        if not found:
            self._made[word] = former
            self._given.add(former)
        return found

    def _ids(self, made: str) -> Sequence[int]:
        return self._tokens.ids(" " + made) if self._tokens is not None else ()

    def _give(self, word: str, tries: int, wanted: tuple[Sequence[int], int] | None) -> bool:
        """Choose a stand-in; `wanted`: tokens, and how many of the first it must share with them. False: none fits."""
        best, distance = "", 1 << 30
        for attempt in range(tries):
            made = self._candidate(word, attempt)
            if made == word or made in self._given or is_kept(made):
                continue
            if wanted is not None and shared_length(self._ids(made), wanted[0]) != wanted[1]:
                continue
            off = self._off(word, made)
            if off < distance:
                best, distance = made, off
            if off == 0:
                break
        if not best:
            if wanted is not None:
                return False
            best = self._unique(word)
        self._made[word] = best
        self._given.add(best)
        return True

    def _off(self, word: str, made: str) -> int:
        if self._tokens is None:
            return abs(len(word) - len(made))
        return sum(abs(self._cost(before + word) - self._cost(before + made)) for before in self._contexts[word])

    def _cost(self, text: str) -> int:
        assert self._tokens is not None
        if text not in self._costs:
            self._costs[text] = self._tokens.count(text)
        return self._costs[text]

    def _pool(self, word: str) -> Sequence[str]:
        """Common words in the case of `word`: as long, or as many tokens after a space."""
        if self._tokens is None:
            return _common().get(max(len(word), 3), ())
        style, cost = _cased(word[:1] + word[-1:], "aa"), self._cost(" " + word)
        if (style, cost) not in self._pools:
            # The vocabulary holds far more words of one token than any list of words, in this case or another.
            for one in sorted({*_list("words.txt"), *self._tokens.words()}):
                cased = _cased(style, one)
                self._pools.setdefault((style, self._cost(" " + cased)), []).append(cased)
            self._pools.setdefault((style, cost), [])
        return self._pools[style, cost]

    def _unique(self, word: str) -> str:
        """When all of a length are taken (there are 26 of one letter): longer ones."""
        for attempt in range(10 * _TRIES):
            made = self._invented(word, attempt, len(word) + 1 + attempt // _TRIES)
            if made not in self._given and made != word:
                return made
        raise AssertionError("no stand-in is left for a word")

    def _candidate(self, word: str, attempt: int) -> str:
        if word.isdigit() and word.isascii():
            return self._digits(word, attempt // 4)
        if not word.isascii():
            if attempt % 2 and (signs := self._signs(word)):
                return signs[self._draw(word, attempt, 0) % len(signs)]
            return "".join(self._letter(word, place, attempt) for place in range(len(word)))
        length = len(word)
        common = word.islower() or word.lower() in _words() or is_kept(word)
        if (attempt < _TRIES // 2) if common else (self._tokens is not None and attempt % 2 == 1):
            pool = self._pool(word)
            if pool:
                return _cased(word, pool[self._draw(word, attempt, 0) % len(pool)])
        if self._tokens is not None:
            if attempt % 2 == 0 and (made := self._compound(word, attempt)):
                return _cased(word, made)
            # As many tokens may need more letters, or fewer.
            length = max(2, length + (0, 1, -1, 2, -2, 3, -3, 4)[attempt // 8 % 8])
        return self._invented(word, attempt, length)

    def _compound(self, word: str, attempt: int) -> str:
        """A word of the vocabulary with endings, as many tokens as `word` is after a space; empty where that is one."""
        assert self._tokens is not None
        if not self._parts:
            self._parts = (self._tokens.words(), self._tokens.endings())
        (words, endings), more = self._parts, self._cost(" " + word) - 1
        if not words or not endings or not 1 <= more <= 4:
            return ""
        made = words[self._draw(word, attempt, 0) % len(words)]
        return made + "".join(endings[self._draw(word, attempt, 1 + place) % len(endings)] for place in range(more))

    def _signs(self, word: str) -> Sequence[str]:
        """Runs of signs of the same scripts and sorts that are one token, where `word` is one."""
        if self._tokens is None or self._cost(word) != 1:
            return ()
        if not self._one_token:
            for one in self._tokens.signs():
                self._one_token.setdefault(tuple(map(_sort, one)), []).append(one)
        return self._one_token.get(tuple(map(_sort, word)), ())

    def _invented(self, word: str, attempt: int, length: int) -> str:
        if word.isdigit():
            return "".join(str(self._draw(word, attempt, place) % 10) for place in range(length))
        first = self._draw(word, attempt, 99) % 2
        letters = [
            (_VOWELS if (place + first) % 2 else _CONSONANTS)[
                self._draw(word, attempt, place) % (5 if (place + first) % 2 else 14)
            ]
            for place in range(length)
        ]
        return _cased(word, "".join(letters))

    def _digits(self, word: str, attempt: int) -> str:
        """Digit by digit, each by a permutation that the digits before it choose: what began alike begins alike."""
        made = ""
        if len(word) == 1:
            # One step along a circle of all ten: none stays what it is, no two become one.
            circle = sorted("0123456789", key=lambda one: self._draw(one, 0, 0))
            return circle[(circle.index(word) + 1 + attempt) % 10]
        for place, digit in enumerate(word):
            order = list("123456789" if place == 0 and digit != "0" else "0123456789")
            if place == 0 and digit == "0":
                made += "0"
                continue
            key = f"{attempt}|{len(word) if attempt else ''}|{word[:place]}"
            order.sort(key=lambda one: hashlib.blake2b(f"{self._seed}|{key}|{one}".encode(), digest_size=8).digest())
            base = "123456789" if place == 0 else "0123456789"
            made += order[base.index(digit)]
        return made

    def _letter(self, word: str, place: int, attempt: int) -> str:
        """A letter of the same script and sort; letters of Latin with marks stay, as do marks above and below letters.

        First from the letters that the plan holds, as often as it holds them, then from the same stretch of the table.
        """
        letter = word[place]
        category = unicodedata.category(letter)
        if letter.isascii() and category[0] == "L":
            pattern = _VOWELS if letter.lower() in _VOWELS else _CONSONANTS
            made = pattern[self._draw(word, attempt, place) % len(pattern)]
            return made.upper() if letter.isupper() else made
        sort = _sort(letter)
        if category[0] not in "LN" or sort[0] == "LATIN":
            return letter
        choice: Sequence[str] = self._letters.get(sort, ())
        if attempt % 4 == 3 or len(choice) < 8:
            window = _WINDOW.get(sort[0], _LETTER_WINDOW)
            low = ord(letter) // window * window
            choice = [chr(code) for code in range(low, low + window) if unicodedata.category(chr(code)) == category]
        return choice[self._draw(word, attempt, place) % len(choice)]

    def _draw(self, word: str, attempt: int, place: int) -> int:
        """A number below 2^24 that these decide; 20 places at the cost of one."""
        key = (word, attempt, place // 20)
        if key != self._drawn[0]:
            data = f"{self._seed}|{word}|{attempt}|{place // 20}".encode("utf-8", "surrogatepass")
            self._drawn = (key, hashlib.blake2b(data, digest_size=60).digest())
        at = 3 * (place % 20)
        return int.from_bytes(self._drawn[1][at : at + 3], "big")


def _sort(sign: str) -> tuple[str, str]:
    return unicodedata.name(sign, "").split(" ")[0], unicodedata.category(sign)


def shared_length(one: Sequence[object], other: Sequence[object]) -> int:
    """How many of the first items are the same."""
    shared = 0
    for first, second in zip(one, other, strict=False):
        if first != second:
            break
        shared += 1
    return shared


def _cased(pattern: str, word: str) -> str:
    """`word` in the case of `pattern`: lower, upper, first letter, or letter by letter."""
    if pattern.islower():
        return word
    if pattern.isupper() and len(pattern) > 1:
        return word.upper()
    if pattern[:1].isupper() and not any(letter.isupper() for letter in pattern[1:]):
        return word[:1].upper() + word[1:]
    return "".join(
        letter.upper() if pattern[min(place, len(pattern) - 1)].isupper() else letter
        for place, letter in enumerate(word)
    )
