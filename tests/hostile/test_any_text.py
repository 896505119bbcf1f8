"""Any text at all through each form: inert, and still there. The corpus of tricks is among the examples."""

from __future__ import annotations

import csv
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forensics.case.csv_file import csv_bytes, csv_cell, csv_value
from forensics.text.safe_text import safe_text
from tests.hostile.active import in_cells, in_markdown, in_markup, text_of, unsafe_signs
from tests.hostile.payloads import payloads


@settings(deadline=None)
@given(st.text(max_size=60) | st.sampled_from(list(payloads("http://127.0.0.1:1").values())))
def test_any_text_in_every_form(text: str) -> None:
    from forensics.report.render import environment, html_value

    shown = safe_text(text)
    data = csv_bytes(("a",), [(text,)])
    assert in_cells(data) == []
    [[_], cell] = list(csv.reader(data.decode().split("\n")[:-1])) if text else [["a"], [""]]
    assert csv_value(csv_cell(text)) == shown and (not text or cell == [csv_cell(text)])
    page = environment("html").from_string('<p title="{{ v }}">{{ v }}</p>').render(v=text)
    assert in_markup(page) == [] and text_of(page) == shown * 2
    assert str(html_value(text)) == shown
    for template in ("{{ v }}\n", "- {{ v }}\n", "x {{ v }} y\n", "{{ v | code }}\n", "| a |\n|---|\n| {{ v }} |\n"):
        active, back = in_markdown(environment("md").from_string(template).render(v=text))
        assert active == []
        assert "".join(shown.split()) in "".join(back.split())
    assert unsafe_signs(shown) == []


@settings(deadline=None)
@given(st.text(max_size=40))
def test_any_text_on_the_terminal(text: str) -> None:
    import io

    from rich.console import Console

    from forensics.case.words import cell
    from forensics.cli.render import box, table
    from forensics.cli.render import text as sentence

    stream = io.StringIO()
    console = Console(file=stream, width=200, markup=False, emoji=False, highlight=False)
    for renderable in (table((text,), [(text,)], title=text), box(text, ((text, (text,)),)), sentence(text)):
        console.print(renderable, crop=False)
    assert unsafe_signs(stream.getvalue()) == []
    assert unsafe_signs(cell(text)) == []
    assert "".join(safe_text(text).split()) in "".join(stream.getvalue().split())


@pytest.mark.parametrize("sign", ["W", "a1", "= ", "\\\\", "<", "&", "%4", "ab ", "wide ", "*", "\n"])
def test_long_runs_cost_the_egress_check_no_more_than_their_length(sign: str) -> None:
    """200,000 signs take a moment; where the cost is the square of the length, minutes."""
    from forensics.report.decoded import unfold

    before = time.process_time()
    for suffix in ("md", "html"):
        unfold(f"letter.{suffix}", (sign * (200_000 // len(sign))).encode())
    assert time.process_time() - before < 20
