"""A page as a real browser sees it: what it writes to the console, what it asks the network for, what axe-core finds.

Needs Chromium and the dev extra (playwright, axe-playwright-python); a test that calls it is skipped with the reason
where either is absent.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

CHROMIUM = next(
    (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
)


@dataclass(frozen=True)
class Seen:
    """`console`: warnings and errors; `requests`: addresses other than the page itself; `overflow`: pixels that the
    page is wider than its window; `faults`: rule and impact of each serious or critical one of axe-core."""

    console: tuple[str, ...]
    requests: tuple[str, ...]
    overflow: int
    faults: tuple[tuple[str, str, int], ...]


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser, or the test is skipped."""
    if CHROMIUM is None:
        pytest.skip("no Chromium is installed")
    api = pytest.importorskip("playwright.sync_api", reason="the dev extra is not installed (playwright)")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM)
        try:
            yield browser
        finally:
            browser.close()


def look(browser: Any, path: Path, width: int = 1280, scheme: str = "light", *, scripts: bool = True) -> Seen:
    """Open the file and look. `scripts=False` opens it as a reader without scripts would, and runs no axe-core."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="the dev extra is not installed (axe)")
    # The page's own policy forbids every script; the checker is let in past it.
    context = browser.new_context(
        viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=scripts, java_script_enabled=scripts
    )
    page = context.new_page()
    console: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: console.append(message.text) if message.type in ("error", "warning") else None)
    page.on("pageerror", lambda error: console.append(str(error)))
    page.on("request", lambda request: requests.append(request.url))
    address = path.absolute().as_uri()
    page.goto(address)
    overflow, faults = 0, []
    if scripts:
        overflow = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        for found in axe.Axe().run(page).response["violations"]:
            if found["impact"] in ("serious", "critical"):
                faults.append((found["id"], found["impact"], len(found["nodes"])))
    context.close()
    return Seen(tuple(console), tuple(url for url in requests if url != address), overflow, tuple(faults))
