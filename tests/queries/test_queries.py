"""Every query has its header, and is accepted by the database with the parameters it declares."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from forensics.case.queries import load_query, query_header, query_names, query_root
from forensics.case.store import Case

KEYS = ["question", "inputs", "grain", "parameters", "order"]
NAMES = query_names()


@pytest.mark.parametrize("name", NAMES)
def test_header(name: str) -> None:
    lines = load_query(name).split("\n")
    found = [line[2:].strip().partition(":")[0] for line in lines[:5] if line.startswith("--")]
    assert found == KEYS
    header = query_header(name)
    assert all(header[key] for key in KEYS)
    assert header["question"].rstrip().endswith("?") or header["question"].startswith("(effect)")


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_declared(name: str) -> None:
    body = "\n".join(line.partition("--")[0] for line in load_query(name).split("\n"))
    used = set(re.findall(r"\$([a-z_]+)", body))
    declared = query_header(name)["parameters"]
    assert all(re.search(rf"\b{parameter}\b", declared) for parameter in used)
    if not used:
        assert declared.startswith("none")


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Case]:
    with Case.create(tmp_path_factory.mktemp("queries") / "case") as case:
        yield case


@pytest.mark.parametrize("name", NAMES)
def test_the_database_accepts_it(name: str, case: Case) -> None:
    import duckdb

    if name.startswith("schema/"):
        pytest.skip("made when a case is made, or run by every stage")
    for statement in duckdb.extract_statements(load_query(name)):
        parameters = dict.fromkeys(statement.named_parameters)
        try:
            with case.transaction():
                case._connection.execute(f"EXPLAIN {statement.query}", parameters).fetchall()
        except duckdb.CatalogException as error:
            # A stage may join with a table that it holds in memory; the header says so.
            missing = re.search(r"Table with name (\w+) does not exist", str(error))
            assert missing and re.search(rf"\b{missing.group(1)}\b", query_header(name)["inputs"])


def test_no_query_is_nameless() -> None:
    assert NAMES
    assert all(re.fullmatch(r"[a-z_]+/[a-z0-9_]+", name) for name in NAMES)
    assert len(NAMES) == len(list(Path(query_root()).rglob("*.sql")))


def test_every_query_is_used() -> None:
    """A query that no module names is dead: it is a question, an audit, or somebody's work."""
    package = Path(__file__).parent.parent.parent / "forensics"
    source = "\n".join(path.read_text(encoding="utf-8") for path in package.rglob("*.py"))
    heads = tuple(re.findall(r'f"([a-z_]+/[a-z_]+)\{', source))  # families of queries, e.g. one per table
    by_name = ("ask/", "audits/", *heads)
    unused = [n for n in NAMES if not n.startswith(by_name) and not re.search(rf'["/]{n.split("/")[-1]}"', source)]
    assert unused == []
