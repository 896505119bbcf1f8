"""What would act if a reader opened a file? Looks at HTML, SVG, Markdown, CSV and plain text as their readers do."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from html.parser import HTMLParser

ELEMENTS = set(
    "script iframe object embed base form link applet frame frameset input button textarea audio video source".split()
)
ADDRESSES = set("href src xlink:href action formaction data poster srcset background ping cite longdesc".split())
VISIBLE_FORMAT = {"\n"}


def unsafe_signs(text: str, allowed: str = "\n") -> list[str]:
    """Control, format, private and surrogate characters: what a terminal obeys, or a reader does not see."""
    return sorted(
        {hex(ord(c)) for c in text if c not in allowed and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")}
    )


class _Watch(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []
        self.pieces: list[str] = []
        self.style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in ELEMENTS:
            self.found.append(f"element {tag}")
        self.style = tag == "style"
        names = dict(attrs)
        if tag == "meta" and (names.get("http-equiv") or "").lower() not in (
            "",
            "content-security-policy",
            "content-type",
        ):
            self.found.append("meta that acts")
        for name, value in attrs:
            value = value or ""
            self.pieces.append(value)
            if name.startswith("on"):
                self.found.append(f"handler {name}")
            if name in ADDRESSES and not re.match(r"#|[\w./-]+$|data:image/(png|svg\+xml);", value):
                self.found.append(f"address in {name}")
            if name == "style" and re.search(r"url|expression|import", value, re.IGNORECASE):
                self.found.append("style that fetches")

    def handle_endtag(self, tag: str) -> None:
        self.style = False

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)
        if self.style and re.search(r"url\s*\(|@import|expression", data, re.IGNORECASE):
            self.found.append("style sheet that fetches")

    def handle_decl(self, decl: str) -> None:
        if decl.lower() != "doctype html":
            self.found.append("another declaration")

    def handle_pi(self, data: str) -> None:
        self.found.append("processing instruction")

    def unknown_decl(self, data: str) -> None:
        self.found.append("unknown declaration")


def in_markup(page: str) -> list[str]:
    """Active parts of HTML or SVG, and signs that hide or turn."""
    watch = _Watch()
    watch.feed(page)
    watch.close()
    return watch.found + [f"sign {sign}" for sign in unsafe_signs(page, "\n\t")]


def text_of(page: str) -> str:
    """All text and attribute values that a page shows."""
    watch = _Watch()
    watch.feed(page)
    watch.close()
    return "".join(watch.pieces)


def in_markdown(text: str) -> tuple[list[str], str]:
    """Active parts of Markdown as an independent program renders it (raw HTML, bare links and tables on), and its text."""
    from markdown_it import MarkdownIt

    page = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough").render(text)
    found = in_markup(page)
    watched = re.findall(r"<(a|img)\b[^>]*(?:href|src)=\"([^\"]*)\"", page)
    found += [f"{tag} to somewhere" for tag, target in watched if not re.match(r"#|[\w./-]+$", target)]
    return found, text_of(page)


def in_cells(data: bytes) -> list[str]:
    """Cells that a spreadsheet would compute, and signs that hide, turn or break a line."""
    text = data.decode("utf-8")
    found = [f"sign {sign}" for sign in unsafe_signs(text)]
    for row in csv.reader(io.StringIO(text, newline="")):
        for cell in row:
            first = cell.lstrip(" \t\r\n\"'`\u2018\u2019\u201c\u201d")[:1]
            if (
                first
                and first in "=+-@＝＋－＠"
                and not cell.startswith("'")
                and not re.fullmatch(r"-?\d+(\.\d+)?(e-?\d+)?", cell)
            ):
                found.append("a formula")
            if "\n" in cell or "\r" in cell:
                found.append("a line break")
    return found
