"""Does a file that is meant to leave the house hold text that leaked? Does not decide what happens then.

The file is read as its reader would: tags stripped, entities and escapes undone, white space folded. It is blocked
where a whole passage of 12 or more code points occurs in it, or any 24 code points in a row out of a longer one.
Words of our own templates are allowed, so that a log that quotes them blocks nothing. Text of other tenants that did
not leak is `corpus_check`'s.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html.parser import HTMLParser

from forensics.case.store import Case
from forensics.text.safe_text import safe_text

SHORTEST = 12
RUN = 24
# Attributes whose values a reader sees or hears; the rest is layout.
_SHOWN = {"title", "alt", "href", "src", "content", "aria-label", "aria-description"}


@dataclass(frozen=True)
class Passage:
    """Text that must not leave, and the fragment it belongs to. Never printed: its repr holds no text."""

    fragment_id: str
    text: str

    def __repr__(self) -> str:
        return f"Passage({self.fragment_id!r}, {len(self.text)} code points)"


@dataclass(frozen=True)
class Hit:
    """A file that holds a passage. Names the fragment, or a request whose text it is; never the text."""

    path: str
    fragment_id: str
    request_id: str = ""

    @property
    def why(self) -> str:
        """What was found, as words without log text."""
        if self.fragment_id:
            return f"leaked text (fragment {self.fragment_id})"
        return f"text of another tenant (request {safe_text(self.request_id)} holds it)"


def passages(case: Case) -> Iterable[Passage]:
    """Every fragment's own text, and its text where a named source holds it."""
    for batch in case.batches("report/leaked_texts", rows=256):
        columns = (batch.column(name).to_pylist() for name in ("fragment_id", "text", "start", "end"))
        for fragment_id, text, start, end in zip(*columns, strict=True):
            yield Passage(fragment_id, text[start:end])


def check(files: Iterable[tuple[str, bytes]], leaked: Iterable[Passage], allowed: Sequence[str] = ()) -> list[Hit]:
    """The files that hold a passage, each with the first such fragment, sorted by path.

    `files` are (path, bytes); the kind of a file is its suffix. `allowed` are texts of our own.
    """
    own = " ".join(fold(text) for text in allowed)
    texts = {path: fold(visible_text(path, data)) for path, data in files}
    starts: defaultdict[str, set[str]] = defaultdict(set)
    for path, text in texts.items():
        for position in range(len(text) - SHORTEST + 1):
            starts[text[position : position + SHORTEST]].add(path)
    found: dict[str, str] = {}
    for passage in leaked:
        text = fold(passage.text)
        size = RUN if len(text) >= RUN else len(text)
        if size < SHORTEST:
            continue
        for position in range(len(text) - size + 1):
            run = text[position : position + size]
            for path in starts.get(run[:SHORTEST], ()):
                if path not in found and run in texts[path] and run not in own:
                    found[path] = passage.fragment_id
    return [Hit(path, found[path]) for path in sorted(found)]


def fold(text: str) -> str:
    """Text with runs of white space as one blank, in lower case."""
    return " ".join(text.lower().split())


def visible_text(path: str, data: bytes) -> str:
    """What a reader of the file sees."""
    text = data.decode("utf-8", "replace")
    if path.endswith((".html", ".svg")):
        return _markup_text(text)
    if path.endswith(".json"):
        return " ".join(_json_strings(json.loads(text)))
    if path.endswith(".md"):
        # A backslash before punctuation is Markdown's escape; the reader does not see it.
        return _markup_text(re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", text))
    return text


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.hidden += tag == "style"
        self.pieces += [value for name, value in attrs if name in _SHOWN and value]

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag == "style"

    def handle_comment(self, data: str) -> None:
        self.pieces.append(data)

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.pieces.append(data)


def _markup_text(text: str) -> str:
    reader = _Reader()
    reader.feed(text)
    reader.close()
    # Inline tags part no words: a passage is found across them. Block tags come with white space of their own.
    return "".join(reader.pieces)


def _json_strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from (str(key), *_json_strings(item))
    elif isinstance(value, list):
        for item in value:
            yield from _json_strings(item)
