"""Reads an HTML page as a browser would and asserts that nothing in it is active or comes from outside."""

from __future__ import annotations

import re
from html.parser import HTMLParser

CSP = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def assert_inert(text: str) -> Page:
    page = Page(text)
    allowed = set(
        "html head meta title style body header main nav a h1 h2 h3 p span ul li strong em code table thead tbody tr th td div "
        "figure figcaption details summary svg defs g path use clippath rect text tspan".split()
    )
    assert {tag for tag, _ in page.tags} <= allowed
    for _, attributes in page.tags:
        for name, value in attributes.items():
            assert not name.startswith("on"), name
            if name in ("href", "xlink:href", "src"):
                assert value is not None and value.startswith("#")
            assert "url(" not in (value or "") or "url(#" in (value or "")
    policies = [
        a["content"] for tag, a in page.tags if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policies == [CSP]
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", text)
    return page
