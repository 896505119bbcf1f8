"""Stand-ins for two packages without a CPU build, so that SGLang starts where there is no GPU.

Every submodule of `torchvision` and `sgl_kernel` imports, every name in it is a dummy class, calls do nothing. Loaded
by a `.pth` line in the engine's own environment. Offers no `convert_weight_packed`: SGLang then takes its paths in
plain torch.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
import types
from typing import Any

_NAMES = ("torchvision", "sgl_kernel")


class _Meta(type):
    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _dummy(name)

    def __or__(cls, other: Any) -> Any:
        return cls

    def __ror__(cls, other: Any) -> Any:
        return cls


def _dummy(name: str) -> type:
    return _Meta(
        name, (), {
            "__init__": lambda self, *a, **k: None,
            "__call__": lambda self, *a, **k: a[0] if a and callable(a[0]) else None,
        },
    )  # fmt: skip


class _Module(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "convert_weight_packed":
            raise AttributeError(name)
        found = sys.modules.get(f"{self.__name__}.{name}") or _dummy(name)
        setattr(self, name, found)
        return found


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name.split(".")[0] in _NAMES:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        return None

    def create_module(self, spec: Any) -> types.ModuleType:
        module = _Module(spec.name)
        module.__path__ = []
        module.__version__ = "0.0.0"
        return module

    def exec_module(self, module: types.ModuleType) -> None:
        return None


sys.meta_path.insert(0, _Finder())
