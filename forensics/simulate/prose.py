"""Fluent text without end, in several languages, of which no long run ever occurs twice. Knows no tenants or requests.

A sentence is a walk over the corpus: the next word mostly follows the last two words, sometimes only the last one.
Words of the topic replace some content words, so that a prompt and its answer are about the same thing. What would
repeat a run of letters that was written before is changed word by word (`novelty.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from forensics.simulate.corpus import Corpus, is_spaceless
from forensics.simulate.dice import Dice
from forensics.simulate.novelty import Novelty

_BATCH = 1500
_LONGEST_WORDS = 26
_LONGEST_CHARACTERS = 60


class Chain:
    """Word walks over one language's sentences, many at a time."""

    def __init__(self, language: str, sentences: Sequence[tuple[str, ...]], seed: int) -> None:
        self.language = language
        self.spaceless = is_spaceless(language)
        self._random = np.random.default_rng([seed, *language.encode()])
        words = {word: 0 for sentence in sentences for word in sentence}
        for position, word in enumerate(words):
            words[word] = position
        self.words = list(words)
        edges: dict[tuple[int, int], list[int]] = {}
        starts: list[tuple[int, int]] = []
        for sentence in sentences:
            ids = [words[word] for word in sentence]
            starts.append((ids[0], ids[1]))
            for first, second, third in zip(ids, ids[1:], [*ids[2:], -1], strict=False):
                followers = edges.setdefault((first, second), [])
                if third >= 0:
                    followers.append(third)
        ordered = sorted(edges)
        number = {edge: position for position, edge in enumerate(ordered)}
        self._target = np.array([second for _, second in ordered], dtype=np.int32)
        self._source = np.array([first for first, _ in ordered], dtype=np.int32)
        firsts = np.searchsorted(self._source, np.arange(len(self.words) + 1))
        self._out, self._degree = firsts[:-1], np.diff(firsts)
        counts = np.array([len(edges[edge]) for edge in ordered])
        self._next_count = counts
        self._next_start = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self._next = np.array(
            [number[(edge[1], third)] for edge in ordered for third in edges[edge]] or [0], dtype=np.int64
        )
        self._starts = np.array([number[start] for start in starts], dtype=np.int64)
        self._ends = np.array([word[-1] in ".!?؟。" for word in self.words])
        self._buffer: list[list[str]] = []
        shortest = {"zh": 1, "ja": 1, "ko": 2, "he": 4, "ar": 4, "fa": 4}.get(language, 6)
        self.content = sorted(
            {word.rstrip(".,!?;:؟،") for word in self.words if len(word) >= shortest and word[-1].isalpha()}
        )

    def sentence(self) -> list[str]:
        """The next sentence as a fresh list of tokens."""
        if not self._buffer:
            self._fill()
        return self._buffer.pop()

    def _fill(self) -> None:
        steps = _LONGEST_CHARACTERS if self.spaceless else _LONGEST_WORDS
        edge = self._starts[self._random.integers(0, len(self._starts), _BATCH)]
        walk = np.empty((_BATCH, steps), dtype=np.int32)
        walk[:, 0], walk[:, 1] = self._source[edge], self._target[edge]
        for step in range(2, steps):
            loose = self._random.random(_BATCH) < 0.3
            throw = self._random.random(_BATCH)
            word = self._target[edge]
            count = self._next_count[edge]
            close = self._next[
                np.minimum(self._next_start[edge] + (throw * count).astype(np.int64), len(self._next) - 1)
            ]
            degree = self._degree[word]
            far = np.minimum(self._out[word] + (throw * degree).astype(np.int64), len(self._target) - 1)
            # A word that only ever ended a sentence starts a new walk; the text is cut at that word anyway.
            again = self._starts[self._random.integers(0, len(self._starts), _BATCH)]
            edge = np.where((count > 0) & ~loose, close, np.where(degree > 0, far, again))
            walk[:, step] = self._target[edge]
        ended = self._ends[walk]
        ended[:, :4] = False
        lengths = np.where(ended.any(axis=1), ended.argmax(axis=1) + 1, steps)
        words = self.words
        for row, length in zip(walk.tolist(), lengths.tolist(), strict=True):
            tokens = [words[token] for token in row[:length]]
            if not ended[0, 0] and tokens[-1][-1] not in ".!?؟。":
                tokens[-1] = tokens[-1].rstrip(",;:،、，") + ("。" if self.spaceless else ".")
            self._buffer.append(tokens)


class Prose:
    """Passages of new text. `languages` are the ones the corpus has enough text for."""

    def __init__(self, corpus: Corpus, seed: int, novelty: Novelty) -> None:
        self._corpus = corpus
        self._seed = seed
        self._chains: dict[str, Chain] = {}
        self.novelty = novelty
        self.languages = tuple(corpus.prose)

    def chain(self, language: str) -> Chain:
        """The walks of one language, built when first asked for."""
        if language not in self._chains:
            self._chains[language] = Chain(language, self._corpus.prose[language], self._seed)
        return self._chains[language]

    def topic(self, language: str, dice: Dice, words: int = 24) -> tuple[str, ...]:
        """Content words that a text and the answers about it share."""
        content = self.chain(language).content
        if is_spaceless(language):
            return tuple(dice.pick(content) + dice.pick(content) for _ in range(words))
        return tuple(dice.pick(content) for _ in range(words))

    def sentence(self, language: str, topic: Sequence[str], dice: Dice) -> str:
        """One sentence, not yet checked for novelty."""
        chain = self.chain(language)
        tokens = chain.sentence()
        if chain.spaceless:
            for _ in range(max(1, len(tokens) // 12)):
                if topic and len(tokens) > 6:
                    tokens[dice.between(1, len(tokens) - 3)] = dice.pick(topic)
            return "".join(tokens)
        shortest = 3 if chain.language in ("ko", "he", "ar", "fa") else 6
        throw = dice.random
        for position in range(1, len(tokens)):
            word = tokens[position]
            if len(word) >= shortest and throw() < 0.25 and topic:
                mark = word[-1] if not word[-1].isalpha() else ""
                tokens[position] = dice.pick(topic) + mark
        if not tokens[0][0].isupper():
            tokens[0] = tokens[0][0].upper() + tokens[0][1:]
        return " ".join(tokens)

    def passage(self, language: str, topic: Sequence[str], sentences: int, dice: Dice) -> str:
        """A paragraph of new text: no run of it was written before."""
        joint = "" if is_spaceless(language) else " "
        text = joint.join(self.sentence(language, topic, dice) for _ in range(sentences))
        return self.renew(text, language, dice)

    def renew(self, text: str, language: str, dice: Dice) -> str:
        """`text` with words changed wherever it repeats something, and remembered from now on."""
        content = self.chain(language).content
        for _ in range(6):
            place = self.novelty.repeated(text, language)
            if place is None:
                break
            for at in reversed(place):
                if at >= len(text):  # the word there went with its neighbour
                    continue
                text = _replace(text, at, dice.pick(content), is_spaceless(language))
        self.novelty.remember(text, language)
        return text


def _replace(text: str, at: int, word: str, spaceless: bool) -> str:
    """Replace the word around position `at`, keeping what closes it."""
    if spaceless:
        return text[:at] + word + text[at + 1 :]
    start, end = at, at + 1
    while start > 0 and text[start - 1].isalnum():
        start -= 1
    while end < len(text) and text[end].isalnum():
        end += 1
    return text[:start] + word + text[end:]
