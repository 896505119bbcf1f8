"""The report in a real browser: no console error, no request, no serious accessibility fault, at three widths."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import chromium, look


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def with_slots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A case whose slots are known, with a mechanism that stands and others that fall."""
    from served import served

    from forensics.report import run as report
    from forensics.scope import run as scope
    from forensics.timeline import mechanisms

    root = tmp_path_factory.mktemp("slots") / "c"
    incident = served(1, calls=200)
    incident.leaks = [
        (c.former, c.number)
        for c in incident.calls
        if c.former is not None and incident.calls[c.former].tenant != c.tenant and incident.calls[c.former].aborted
    ][:12]
    with incident.write(root) as case:
        incident.fill(case)
        mechanisms.fill(case, mechanisms.Settings())
        scope.run(case, scope.Parameters())
        report.run(case, report.Parameters(on_block="withhold"))
    return root


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (768, "dark"), (360, "light"), (360, "dark")])
def test_it_opens_without_faults(browser: Any, with_slots: Path, width: int, scheme: str) -> None:
    seen = look(browser, with_slots / "report/report.html", width, scheme)
    assert seen.console == () and seen.requests == ()
    assert seen.overflow == 0  # wide tables scroll in themselves
    assert seen.faults == ()


@pytest.mark.parametrize("which", ["small", "hostile"])
def test_hostile_and_small_cases_open_the_same(browser: Any, which: str, request: pytest.FixtureRequest) -> None:
    seen = look(browser, request.getfixturevalue(which) / "report/report.html")
    assert (seen.console, seen.requests, seen.faults) == ((), (), ())


def test_it_needs_no_script(browser: Any, with_slots: Path) -> None:
    seen = look(browser, with_slots / "report/report.html", scripts=False)
    assert (seen.console, seen.requests) == ((), ())


def test_the_checker_finds_faults(browser: Any, tmp_path: Path) -> None:
    page = tmp_path / "bad.html"
    page.write_text('<html><body><img src="x.png"><p style="color:#ccc;background:#fff">faint</p></body></html>')
    seen = look(browser, page)
    assert {rule for rule, _, _ in seen.faults} >= {"image-alt", "color-contrast", "html-has-lang"}
    assert seen.requests and seen.console
