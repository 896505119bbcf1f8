"""Can the probe be installed alone: is all of it in its own package, and does it need nothing else?"""

from __future__ import annotations

import ast
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import forensics.probe

FOLDER = Path(forensics.probe.__file__).parent
SETTINGS = tomllib.loads((FOLDER / "pyproject.toml").read_text(encoding="utf-8"))


def test_its_package_holds_all_its_modules() -> None:
    wheel = SETTINGS["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert wheel["only-include"] == sorted(path.name for path in FOLDER.glob("*.py"))
    assert SETTINGS["project"]["version"] == forensics.probe.__version__
    assert SETTINGS["project"]["dependencies"] == []


def test_its_entry_point_is_there() -> None:
    (target,) = SETTINGS["project"]["entry-points"]["sglang.srt.plugins"].values()
    module, _, function = target.partition(":")
    package, _, name = module.partition(".")
    assert SETTINGS["tool"]["hatch"]["build"]["targets"]["wheel"]["sources"] == {"": package}
    assert callable(getattr(import_module(f"forensics.probe.{name}"), function))


def test_it_imports_the_standard_library_only() -> None:
    # orjson where it is found, sglang where it is the host; zmq and msgspec, which come with it, in the recorder alone.
    known = {*sys.stdlib_module_names, "orjson", "sglang"}
    for path in FOLDER.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.level == 0:
                names.append(node.module or "")
            more = {"zmq", "msgspec"} if path.name == "kv_recorder.py" else set()
            assert {name.split(".")[0] for name in names} <= known | more, path.name
