"""Where the SQL lives and how it is loaded. Does not run anything.

In a wheel the files stand inside the package; in a checkout they stand at the top of the repository.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path

from forensics.case.errors import UsageError


@cache
def query_root() -> Path:
    """The folder that holds the SQL files."""
    shipped = Path(str(files("forensics"))) / "_queries"
    return shipped if shipped.is_dir() else Path(str(files("forensics"))).parent / "queries"


@cache
def load_query(name: str) -> str:
    """The text of query `name`, for example `scope/verdicts`.

    Raises UsageError for a name that is not a shipped query; names never become paths outside the folder.
    """
    if name not in query_names():
        raise UsageError(f"there is no query {name!r}; `forensics ask CASE --list` shows the questions")
    return (query_root() / f"{name}.sql").read_text(encoding="utf-8")


@cache
def query_names() -> tuple[str, ...]:
    """Every shipped query, sorted."""
    root = query_root()
    return tuple(sorted(path.relative_to(root).with_suffix("").as_posix() for path in root.rglob("*.sql")))


@cache
def query_header(name: str) -> dict[str, str]:
    """The header comment of a query as `{key: value}`; keys are question, inputs, grain, parameters, order,
    and for a named question `empty`: what it means that there is no row."""
    header: dict[str, str] = {}
    for line in load_query(name).splitlines():
        if not line.startswith("--"):
            break
        key, colon, value = line[2:].strip().partition(":")
        if colon and key in {"question", "inputs", "grain", "parameters", "order", "empty"}:
            header[key] = value.strip()
    return header
