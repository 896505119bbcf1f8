"""What stands for the things that a pickle names: inert objects, and the data that a few well-known calls only make.

Knows no opcodes. Nothing here is looked up by a name of the pickle's but in `DATA`, and nothing of the pickle's is run.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_NUMBER = re.compile(rb"K.|M..|J....", re.S)


class Inert:
    """A class, a call or an object that a pickle names: its name, and of an object the state. It does nothing."""

    __slots__ = ("name", "state")

    def __init__(self, name: str) -> None:
        self.name = name
        self.state: Any = None


class Numbers:
    """A run of whole numbers inside a list or a tuple, as the pickle writes them."""

    __slots__ = ("_written",)

    def __init__(self, written: bytes) -> None:
        self._written = written

    def values(self) -> list[int]:
        """The numbers."""
        found = _NUMBER.findall(self._written)
        return [int.from_bytes(one[1:], "little", signed=one[:1] == b"J") for one in found]


def _moment(arguments: tuple[Any, ...]) -> Any:
    """A `datetime`: ten bytes. A zone is an object of its own; without it the moment is a naive one."""
    packed = arguments[0] if arguments else None
    if not isinstance(packed, bytes) or len(packed) != 10:
        return None
    year, month = packed[0] * 256 + packed[1], packed[2] & 0x7F
    micro = int.from_bytes(packed[7:], "big")
    if not (1 <= year <= 9999 and 1 <= month <= 12 and len(arguments) == 1):
        return None
    return f"{year:04d}-{month:02d}-{packed[3]:02d}T{packed[4]:02d}:{packed[5]:02d}:{packed[6]:02d}.{micro:06d}"


def _listed(arguments: tuple[Any, ...]) -> Any:
    if not arguments:
        return []
    return list(arguments[0]) if isinstance(arguments[0], list | tuple) else None


def _encoded(arguments: tuple[Any, ...]) -> Any:
    """`_codecs.encode(text, "latin1")`: how protocols below 3 write bytes."""
    if len(arguments) == 2 and isinstance(arguments[0], str) and arguments[1] in ("latin1", "latin-1"):
        return arguments[0].encode("latin-1", "replace")
    return None


def _packed(arguments: tuple[Any, ...]) -> Any:
    if not arguments:
        return b""
    first = arguments[0]
    if len(arguments) == 2:
        return _encoded(arguments)
    return first if isinstance(first, bytes) else None


def _first_text(arguments: tuple[Any, ...]) -> Any:
    return arguments[0] if arguments and isinstance(arguments[0], str) else None


def _reconstructed(arguments: tuple[Any, ...]) -> Any:
    kind = arguments[0] if arguments else None
    return Inert(kind.name) if isinstance(kind, Inert) else None


DATA: dict[str, Callable[[tuple[Any, ...]], Any]] = {
    "collections.OrderedDict": lambda arguments: {},
    "collections.defaultdict": lambda arguments: {},
    "datetime.datetime": _moment,
    "_codecs.encode": _encoded,
    "decimal.Decimal": _first_text,
}
for _module in ("builtins", "__builtin__"):
    for _name in ("set", "frozenset", "list", "tuple"):
        DATA[f"{_module}.{_name}"] = _listed
    for _name in ("bytes", "bytearray"):
        DATA[f"{_module}.{_name}"] = _packed
for _module in ("copyreg", "copy_reg"):
    DATA[f"{_module}._reconstructor"] = _reconstructed
    DATA[f"{_module}.__newobj__"] = _reconstructed
