"""The text that traffic is made of: reads a corpus file and sorts it by use. Makes no sentences (`prose.py` does).

A record is one JSON object a line: `id, source, licence, lang, kind, prompt, response`, in a plain or zstd file.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import orjson
import zstandard

_SPACELESS = ("zh", "ja")
# Fewer characters than this make chains that say the same thing over and over.
_SMALLEST = 12_000
_WORD = re.compile(r"[^\W\d_]+(?:['’\-][^\W\d_]+)*[.,!?;:؟،]?")
_SENTENCE_MARKS = re.compile(r"[。！？]")


@dataclass(frozen=True)
class Corpus:
    """Texts by use. `prose` holds token lists per language: words, or characters where words are not spaced."""

    prose: dict[str, tuple[tuple[str, ...], ...]]
    questions: tuple[tuple[str, str], ...]
    code: tuple[tuple[str, str], ...]
    licences: tuple[str, ...]
    system_prompts: tuple[str, ...]


def load(path: Path | None = None) -> Corpus:
    """The corpus in `path`, or the one that ships."""
    source = path if path is not None else Path(str(files("forensics.simulate"))) / "corpus" / "corpus.jsonl.zst"
    data = source.read_bytes()
    if data[:4] == b"\x28\xb5\x2f\xfd":
        data = zstandard.ZstdDecompressor().stream_reader(data).read()
    prose: dict[str, list[tuple[str, ...]]] = {}
    sizes: dict[str, int] = {}
    questions: dict[str, str] = {}
    code: list[tuple[str, str]] = []
    licences: list[str] = []
    system_prompts: list[str] = []
    for line in data.split(b"\n"):
        if not line:
            continue
        record = orjson.loads(line)
        language = record["lang"].replace("_", "-").partition("-")[0]
        kind, prompt, response = record["kind"], record["prompt"], record["response"]
        if kind == "boilerplate":
            licences.append(prompt)
        elif language.startswith("code"):
            body = prompt + "\n" + response
            code.append((language.partition(":")[2], body[:6000]))
        else:
            if kind == "system_prompt" and language == "en" and len(prompt) > 300:
                system_prompts.append(prompt)
            if kind in ("math", "instruction") and language == "en" and len(response) > 80 and len(prompt) < 1200:
                questions.setdefault(prompt, response)
            for text in (prompt, response):
                pieces = _sentences(text, language)
                prose.setdefault(language, []).extend(pieces)
                sizes[language] = sizes.get(language, 0) + sum(len(word) for piece in pieces for word in piece)
    return Corpus(
        {language: tuple(prose[language]) for language in sorted(prose) if sizes[language] >= _SMALLEST},
        tuple(questions.items()),
        tuple(code),
        tuple(licences),
        tuple(system_prompts),
    )


def is_spaceless(language: str) -> bool:
    """Whether the language writes no spaces between words, so that its tokens are characters."""
    return language in _SPACELESS


def _sentences(text: str, language: str) -> list[tuple[str, ...]]:
    """Clean sentences as tokens. Lines of code, markup and tables are left out."""
    found: list[tuple[str, ...]] = []
    fenced = False
    for line in text.split("\n"):
        line = line.strip()
        if line.startswith("```"):
            fenced = not fenced
        if fenced or not line or line[0] in "<{[`|#}" or "://" in line:
            continue
        line = line.lstrip("-*>•0123456789. ")
        if is_spaceless(language):
            for piece in _SENTENCE_MARKS.split(line):
                characters = tuple(c for c in piece if (c.isalpha() and c > "\u2e80") or c in "，、")
                if len(characters) >= 8 and len(characters) > 0.7 * len(piece):
                    found.append((*characters, "。"))
            continue
        sentence: list[str] = []
        for raw in line.split():
            word = raw.strip("\"'()[]*_«»„“”`")
            if not _WORD.fullmatch(word):
                continue
            sentence.append(word)
            if word[-1] in ".!?؟" and len(sentence) > 3:
                found.append(tuple(sentence))
                sentence = []
        if len(sentence) > 5:
            sentence[-1] = sentence[-1].rstrip(",;:") + "."
            found.append(tuple(sentence))
    return found
