"""Program text that looks like the corpus's but is new: other names, other numbers. Does not have to run."""

from __future__ import annotations

import re
from collections.abc import Sequence

from forensics.simulate.corpus import Corpus
from forensics.simulate.dice import Dice
from forensics.simulate.prose import Prose

_NAME = re.compile(r"\b[A-Za-z_]\w{4,}\b")
_NUMBER = re.compile(r"\b\d{1,18}\b")
_KEPT = frozenset(
    "print return import class function public private static const double float string while break continue lambda "
    "yield raise except finally async await range append except struct package public protected void boolean "
    "String Integer System Array require module".split()
)


class CodeWriter:
    """Makes snippets in the languages of the corpus."""

    def __init__(self, corpus: Corpus, prose: Prose) -> None:
        self._prose = prose
        self._by_language: dict[str, list[str]] = {}
        for language, text in corpus.code:
            self._by_language.setdefault(language, []).append(text)
        self._languages = sorted(self._by_language)

    def snippet(self, topic: Sequence[str], dice: Dice, language: str | None = None) -> tuple[str, str]:
        """(language, text) of a new snippet of a few hundred to two thousand characters."""
        if not self._languages:
            return "text", self._prose.passage("en", topic, 3, dice)
        language = language or dice.pick(self._languages)
        lines = dice.pick(self._by_language[language]).split("\n")
        length = dice.between(12, 45)
        start = dice.between(0, max(0, len(lines) - length))
        text = "\n".join(lines[start : start + length])
        content = self._prose.chain("en").content
        names: dict[str, str] = {}

        def rename(match: re.Match[str]) -> str:
            name = match.group()
            if name in _KEPT:
                return name
            if name not in names:
                words = [dice.pick(topic if dice.chance(0.4) and topic else content), dice.pick(content)]
                joined = "_".join(re.sub(r"\W", "", word).lower() for word in words)
                names[name] = joined if name.islower() else joined.title().replace("_", "")
            return names[name]

        text = _NAME.sub(rename, text)
        text = _NUMBER.sub(lambda match: str(dice.between(2, 10 ** len(match.group()))), text)
        return language, self._prose.renew(text, "en", dice)
