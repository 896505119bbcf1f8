"""What a pickle says, without doing it: an interpreter of its opcodes that knows data and nothing else.

No name is looked up, nothing is imported, called or given a state. A class, a call and an object become an `Inert`; the
few calls that only make data become that data (`isolated.pickle_values`). Protocols 0 to 5. Work and memory are bounded
by `Bounds`, whatever the pickle claims.
"""

from __future__ import annotations

import codecs
import re
import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from forensics.ingest.isolated.pickle_values import DATA, Inert, Numbers

_LONGEST_NUMBER = 400  # digits as text; bytes of a whole number
_NAME = 400
_COST = 64
# A list or a tuple of nothing but small numbers, as token ids are: kept as it is written.
_NUMBERS = re.compile(rb"\(((?:K.|M..|J....){16,}+)([et])", re.S)


class PickleError(ValueError):
    """The bytes are no pickle, or are cut short. `reason` is bad_container or memory."""

    def __init__(self, reason: str = "bad_container") -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Bounds:
    """How much one pickle may take: opcodes, and bytes of memory by estimate."""

    opcodes: int = 400_000_000
    memory: int = 1 << 30


class _Mark:
    __slots__ = ()


_MARK = _Mark()
_KEYS = (str, int, float, bool, bytes, type(None))


class Reader:
    """Reads pickles from `data`, one after the other."""

    def __init__(self, data: Any, bounds: Bounds | None = None) -> None:
        self._data = data
        self._size = len(data)
        self._bounds = bounds or Bounds()
        self.position = 0
        self._cost = self._opcodes = 0
        self._stack: list[Any] = []
        self._marks: list[int] = []
        self._memo: dict[int, Any] = {}

    def load(self) -> Any:
        """The next pickle's value. Raises PickleError, and nothing else but MemoryError."""
        self._stack, self._marks, self._memo = [], [], {}
        try:
            return self._run()
        except (IndexError, KeyError, struct.error, UnicodeError, ValueError, TypeError, OverflowError) as error:
            if isinstance(error, PickleError):
                raise
            raise PickleError from None

    def _run(self) -> Any:
        data, bounds = self._data, self._bounds
        while True:
            opcode = data[self.position]
            self.position += 1
            self._opcodes += 1
            self._cost += _COST
            if self._cost > bounds.memory or self._opcodes > bounds.opcodes:
                raise PickleError("memory")
            if opcode == 46:  # STOP
                return self._pop()
            if opcode == 40 and self._numbers():
                continue
            operation = _OPERATIONS.get(opcode)
            if operation is None:
                raise PickleError
            operation(self)

    def _numbers(self) -> bool:
        run = _NUMBERS.match(self._data, self.position - 1)
        if run is None:
            return False
        target: Any = self._stack[-1] if self._stack else None
        if run.group(2) == b"e" and not isinstance(target, list):
            return False
        self._cost += len(run.group(1))
        numbers = Numbers(run.group(1))
        if run.group(2) == b"t":
            self.push((numbers,))
        else:
            target.append(numbers)
        self.position = run.end()
        return True

    # Bytes of the pickle

    def take(self, size: int) -> bytes:
        """The next `size` bytes."""
        end = self.position + size
        if size < 0 or end > self._size:
            raise PickleError
        self._cost += size
        if self._cost > self._bounds.memory:
            raise PickleError("memory")
        found = bytes(self._data[self.position : end])
        self.position = end
        return found

    def line(self, most: int) -> bytes:
        """The bytes up to the next line end, of which there are `most` at most."""
        end = self._data.find(b"\n", self.position, min(self._size, self.position + most + 1))
        if end < 0:
            raise PickleError
        found = self.take(end - self.position)
        self.position += 1
        return found

    def number(self, size: int) -> int:
        """An unsigned number of `size` bytes."""
        return int.from_bytes(self.take(size), "little")

    # The stack

    def push(self, value: Any) -> None:
        """Put a value on the stack."""
        self._stack.append(value)

    def _pop(self) -> Any:
        value = self._stack.pop()
        if value is _MARK:
            raise PickleError
        return value

    def pop(self) -> Any:
        """Take the topmost value."""
        return self._pop()

    def top(self) -> Any:
        """The topmost value."""
        value = self._stack[-1]
        if value is _MARK:
            raise PickleError
        return value

    def mark(self) -> None:
        """Remember this height of the stack."""
        self._marks.append(len(self._stack))
        self._stack.append(_MARK)

    def since_mark(self) -> list[Any]:
        """Take all above the last mark, and the mark."""
        height = self._marks.pop()
        if height >= len(self._stack) or self._stack[height] is not _MARK:
            raise PickleError
        found = self._stack[height + 1 :]
        del self._stack[height:]
        return found

    def drop(self) -> None:
        """POP: a value or a mark."""
        if self._stack[-1] is _MARK:
            self._marks.pop()
        self._stack.pop()

    # The memo

    def remember(self, index: int) -> None:
        """Keep the topmost value under a number."""
        self._memo[index] = self.top()

    def remember_next(self) -> None:
        """Keep the topmost value under the next number."""
        self._memo[len(self._memo)] = self.top()

    def recall(self, index: int) -> None:
        """Put a kept value on the stack."""
        self.push(self._memo[index])

    # What is made

    def append(self, target: Any, values: list[Any]) -> None:
        """APPEND, APPENDS, ADDITEMS. What an object of a class holds beside its state is not kept."""
        if isinstance(target, list):
            target.extend(values)
        elif not isinstance(target, Inert):
            raise PickleError

    def put(self, target: Any, pairs: list[Any]) -> None:
        """SETITEM, SETITEMS."""
        if len(pairs) % 2:
            raise PickleError
        if isinstance(target, Inert):
            if not isinstance(target.state, dict):
                target.state = {}
            target = target.state
        if not isinstance(target, dict):
            raise PickleError
        for key, value in zip(pairs[::2], pairs[1::2], strict=True):
            # Any other key might be made to take long to hash, and has no place in JSON.
            if isinstance(key, _KEYS):
                target[key] = value

    def call(self, function: Any, arguments: Any) -> None:
        """REDUCE: what a call would make, as far as that is data."""
        name = function.name if isinstance(function, Inert) else ""
        maker = DATA.get(name)
        made = maker(arguments) if maker is not None and isinstance(arguments, tuple) else None
        self.push(Inert(name) if made is None else made)

    def make(self, kind: Any) -> None:
        """NEWOBJ, OBJ, INST: an object of a class."""
        self.push(Inert(kind.name if isinstance(kind, Inert) else ""))

    def build(self) -> None:
        """BUILD: the state of an object. It is kept; no method of the object is asked."""
        state = self._pop()
        target = self.top()
        if not isinstance(target, Inert):
            return
        if isinstance(state, tuple) and len(state) == 2 and all(isinstance(part, dict | None) for part in state):
            state = {**(state[0] or {}), **(state[1] or {})}
        if isinstance(state, dict) and isinstance(target.state, dict):
            state = {**target.state, **state}
        self._cost += _COST * (len(state) if isinstance(state, dict) else 1)
        target.state = state


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")


def _of_lines(reader: Reader) -> Inert:
    return Inert(f"{_text(reader.line(_NAME))}.{_text(reader.line(_NAME))}")


def _stack_global(reader: Reader) -> None:
    name, module = reader.pop(), reader.pop()
    if not isinstance(name, str) or not isinstance(module, str):
        raise PickleError
    reader.push(Inert(f"{module[:_NAME]}.{name[:_NAME]}"))


def _whole(reader: Reader, size: int) -> int | None:
    data = reader.take(size)
    return int.from_bytes(data, "little", signed=True) if size <= _LONGEST_NUMBER else None


def _int_line(reader: Reader) -> int | bool:
    line = reader.line(_LONGEST_NUMBER)
    return line == b"01" if line in (b"00", b"01") else int(line)


def _string(reader: Reader) -> str:
    line = reader.line(1 << 30).strip()
    if len(line) < 2 or line[:1] != line[-1:] or line[:1] not in (b'"', b"'"):
        raise PickleError
    return _python2(codecs.escape_decode(line[1:-1])[0])


def _python2(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _instance(reader: Reader) -> None:
    kind = _of_lines(reader)
    reader.since_mark()
    reader.make(kind)


def _object(reader: Reader) -> None:
    kind, *_ = reader.since_mark()
    reader.make(kind)


def _new_object(reader: Reader, *, keywords: bool = False) -> None:
    named = reader.pop() if keywords else None
    _, kind = reader.pop(), reader.pop()
    reader.make(kind)
    if isinstance(named, dict):
        reader.top().state = dict(named)


def _reduce(reader: Reader) -> None:
    arguments, function = reader.pop(), reader.pop()
    reader.call(function, arguments)


def _tuple(reader: Reader, size: int) -> None:
    values = [reader.pop() for _ in range(size)]
    reader.push(tuple(reversed(values)))


def _dict(reader: Reader) -> None:
    pairs = reader.since_mark()
    made: dict[Any, Any] = {}
    reader.put(made, pairs)
    reader.push(made)


def _set_item(reader: Reader) -> None:
    value, key = reader.pop(), reader.pop()
    reader.put(reader.top(), [key, value])


def _append_one(reader: Reader) -> None:
    value = reader.pop()
    reader.append(reader.top(), [value])


def _set_items(reader: Reader) -> None:
    pairs = reader.since_mark()
    reader.put(reader.top(), pairs)


def _append_all(reader: Reader) -> None:
    values = reader.since_mark()
    reader.append(reader.top(), values)


def _persistent(reader: Reader) -> None:
    reader.pop()
    reader.push(Inert("persistent"))


def _persistent_line(reader: Reader) -> None:
    reader.line(_NAME)
    reader.push(Inert("persistent"))


def _operations() -> dict[int, Callable[[Reader], None]]:
    made: dict[str, Callable[[Reader], None]] = {
        # Numbers and constants
        "N": lambda r: r.push(None),
        "\x88": lambda r: r.push(True),
        "\x89": lambda r: r.push(False),
        "K": lambda r: r.push(r.number(1)),
        "M": lambda r: r.push(r.number(2)),
        "J": lambda r: r.push(int.from_bytes(r.take(4), "little", signed=True)),
        "I": lambda r: r.push(_int_line(r)),
        "L": lambda r: r.push(int(r.line(_LONGEST_NUMBER).rstrip(b"L"))),
        "\x8a": lambda r: r.push(_whole(r, r.number(1))),
        "\x8b": lambda r: r.push(_whole(r, int.from_bytes(r.take(4), "little", signed=True))),
        "F": lambda r: r.push(float(r.line(_LONGEST_NUMBER))),
        "G": lambda r: r.push(struct.unpack(">d", r.take(8))[0]),
        # Texts and bytes
        "S": lambda r: r.push(_string(r)),
        "T": lambda r: r.push(_python2(r.take(r.number(4)))),
        "U": lambda r: r.push(_python2(r.take(r.number(1)))),
        "V": lambda r: r.push(r.line(1 << 30).decode("raw-unicode-escape")),
        "X": lambda r: r.push(_text(r.take(r.number(4)))),
        "\x8c": lambda r: r.push(_text(r.take(r.number(1)))),
        "\x8d": lambda r: r.push(_text(r.take(r.number(8)))),
        "B": lambda r: r.push(r.take(r.number(4))),
        "C": lambda r: r.push(r.take(r.number(1))),
        "\x8e": lambda r: r.push(r.take(r.number(8))),
        "\x96": lambda r: r.push(r.take(r.number(8))),
        # Holders
        "]": lambda r: r.push([]),
        "}": lambda r: r.push({}),
        ")": lambda r: r.push(()),
        "\x8f": lambda r: r.push([]),
        "l": lambda r: r.push(r.since_mark()),
        "d": _dict,
        "t": lambda r: r.push(tuple(r.since_mark())),
        "\x91": lambda r: r.push(r.since_mark()),
        "\x85": lambda r: _tuple(r, 1),
        "\x86": lambda r: _tuple(r, 2),
        "\x87": lambda r: _tuple(r, 3),
        "a": _append_one,
        "e": _append_all,
        "\x90": _append_all,
        "s": _set_item,
        "u": _set_items,
        # The stack and the memo
        "(": lambda r: r.mark(),
        "0": lambda r: r.drop(),
        "1": lambda r: void(r.since_mark()),
        "2": lambda r: r.push(r.top()),
        "p": lambda r: r.remember(int(r.line(20))),
        "q": lambda r: r.remember(r.number(1)),
        "r": lambda r: r.remember(r.number(4)),
        "\x94": lambda r: r.remember_next(),
        "g": lambda r: r.recall(int(r.line(20))),
        "h": lambda r: r.recall(r.number(1)),
        "j": lambda r: r.recall(r.number(4)),
        # Names, calls and objects: said, never done
        "c": lambda r: r.push(_of_lines(r)),
        "\x93": _stack_global,
        "R": _reduce,
        "b": lambda r: r.build(),
        "i": _instance,
        "o": _object,
        "\x81": lambda r: _new_object(r),
        "\x92": lambda r: _new_object(r, keywords=True),
        "P": _persistent_line,
        "Q": _persistent,
        "\x82": lambda r: r.push(Inert(f"extension {r.number(1)}")),
        "\x83": lambda r: r.push(Inert(f"extension {r.number(2)}")),
        "\x84": lambda r: r.push(Inert(f"extension {r.number(4)}")),
        "\x97": lambda r: r.push(Inert("buffer")),
        "\x98": lambda r: None,
        # The form itself
        "\x80": lambda r: void(r.number(1)),
        "\x95": lambda r: void(r.number(8)),
    }
    return {ord(code): operation for code, operation in made.items()}


def void(value: object) -> None:
    """Nothing, whatever was read."""


_OPERATIONS = _operations()
