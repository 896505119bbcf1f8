"""Who may import whom: a stage knows the case and the kernels, never another stage."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "forensics"
STAGES = {"ingest", "attribution", "timeline", "scope", "report", "replay"}

# room -> rooms it may import besides itself. `forensics` itself (the version) is free to all but probe.
ALLOWED = {
    "text": set(),
    "case": {"text"},
    **{stage: {"case", "text"} for stage in STAGES},
    "simulate": {"case"},
    "evaluate": {"case"},
    "probe": set(),
    "pipeline": {"case", *STAGES},
    "cli": {"case", "text", "pipeline", "simulate", "evaluate", *STAGES},
    "__main__": {"cli"},
}
HEAVY = {"duckdb", "polars", "numba", "pyarrow", "datasketch", "scipy", "matplotlib", "jinja2", "rapidfuzz", "numpy"}
MODULES = sorted(PACKAGE.rglob("*.py"))


def _imports(path: Path) -> Iterator[str]:
    package = ("forensics", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module or "") if part)
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _room(path: Path) -> str:
    first = path.relative_to(PACKAGE).parts[0]
    return first.removesuffix(".py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(PACKAGE).as_posix())
def test_imports_follow_the_house(path: Path) -> None:
    room = _room(path)
    if room == "__init__":
        assert not any(name.startswith("forensics.") for name in _imports(path))
        return
    ours = {name.split(".")[1] for name in _imports(path) if name.startswith("forensics.")}
    rooms = {name for name in ours if (PACKAGE / name).is_dir() or (PACKAGE / f"{name}.py").is_file()}
    assert rooms - {room} <= ALLOWED[room]
    if room == "probe":
        # Installed alone it has another name: it may know itself by relative imports only.
        assert ours <= {"probe"} and "from forensics" not in path.read_text(encoding="utf-8")


def test_every_room_has_a_rule() -> None:
    rooms = {_room(path) for path in MODULES} - {"__init__"}
    assert rooms <= ALLOWED.keys()


def test_the_rule_would_catch_a_stage_that_knows_another(tmp_path: Path) -> None:
    bad = PACKAGE / "scope" / "_imaginary.py"
    tree = "from forensics.attribution import run\nfrom ..timeline import run as other\n"
    names = list(_imports_of(tree, bad))
    assert names == ["forensics.attribution.run", "forensics.timeline.run"]


def _imports_of(source: str, path: Path) -> Iterator[str]:
    class Imaginary(type(path)):  # type: ignore[misc]
        def read_text(self, *_: object, **__: object) -> str:
            return source

    yield from _imports(Imaginary(path))


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if _room(path) in {"cli", "pipeline"} or path.name in {"errors.py", "safe_text.py"}],
    ids=lambda path: path.relative_to(PACKAGE).as_posix(),
)
def test_the_command_line_loads_no_engine_at_its_top(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {
        name.split(".")[0]
        for node in top
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""])
    }
    assert not names & HEAVY
