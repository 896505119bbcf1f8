"""Who held which text, from when? The requests and uses of a case as arrays that the kernels can walk.

Times are UTC microseconds. An unknown prompt time counts as "always earlier" (EARLY): a text whose time is unknown
may have been there before. An unknown finish is taken as the latest it can reasonably be: received plus the longest
stay seen in the case (an hour where none was seen).
Isolation units are dense numbers in sorted order; requests without a tenant have unit -1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from forensics.case.store import Case

EARLY = -(1 << 62)
LATE = 1 << 62
UNKNOWN_STAY = 3_600_000_000
ROWS = 1 << 18  # uses read at a time

Ints = npt.NDArray[np.int64]


class Names:
    """Many strings of which few are different: a number each. Read like a list."""

    def __init__(self) -> None:
        self.names: list[str | None] = []
        self._numbers: dict[str | None, int] = {}
        self._parts: list[npt.NDArray[np.int32]] = []
        self._codes: npt.NDArray[np.int32] | None = None

    @classmethod
    def of(cls, column: pa.Array) -> Names:
        """Of one Arrow column."""
        made = cls()
        made.add(column)
        return made

    def add(self, column: pa.Array) -> None:
        """Append an Arrow column."""
        coded = column.dictionary_encode(null_encoding="encode")
        numbers = np.empty(len(coded.dictionary), dtype=np.int32)
        for place, name in enumerate(coded.dictionary.to_pylist()):
            if name not in self._numbers:
                self._numbers[name] = len(self.names)
                self.names.append(name)
            numbers[place] = self._numbers[name]
        self._parts.append(numbers[coded.indices.to_numpy()])

    @property
    def codes(self) -> npt.NDArray[np.int32]:
        """Index into `names` of every entry."""
        if self._codes is None:
            self._codes = np.concatenate([np.empty(0, dtype=np.int32), *self._parts])
            self._parts = []
        return self._codes

    def where(self, test: Callable[[str], bool]) -> npt.NDArray[np.bool_]:
        """By entry: does its name pass? Each name is tested once."""
        fits = [name is not None and test(name) for name in self.names]
        return np.array([*fits, False], dtype=np.bool_)[self.codes]

    def __getitem__(self, place: int) -> str | None:
        found: str | None = self.names[int(self.codes[place])]
        return found

    def __len__(self) -> int:
        return int(self.codes.size)

    def __iter__(self) -> Iterator[str | None]:
        names = self.names
        return (names[code] for code in self.codes.tolist())


class Strings:
    """Many different strings, kept as Arrow keeps them. Read like a list."""

    def __init__(self, column: pa.Array) -> None:
        self._column = column

    def __getitem__(self, place: int) -> str:
        found: str = self._column[int(place)].as_py()
        return found

    def __len__(self) -> int:
        return len(self._column)

    def __iter__(self) -> Iterator[str]:
        return (self[place] for place in range(len(self)))


class Fields(Names):
    """Names without a gap."""

    def __getitem__(self, place: int) -> str:
        return self.names[int(self.codes[place])] or ""


@dataclass(frozen=True)
class Requests:
    """One entry per request, indexed by its key (dense from 0)."""

    request_id: Strings
    tenant_id: Names
    unit: Ints
    unit_names: list[str]
    worker: Names
    received: Ints  # EARLY where unknown
    finished: Ints  # LATE where nothing is known
    examinable: npt.NDArray[np.bool_]
    full: npt.NDArray[np.bool_]  # response text in full


@dataclass(frozen=True)
class Uses:
    """Every use of a text, sorted by content; `side` 0 prompt, 1 response."""

    content: Ints
    request: Ints
    side: npt.NDArray[np.int8]
    field: Fields
    role: Names
    ordinal: npt.NDArray[np.int32]
    vantage: Fields
    of_content: Ints  # row range of content c: of_content[c] .. of_content[c + 1]


@dataclass(frozen=True)
class Holdings:
    """Per content and unit: first supplied in a prompt, first generation started and finished (LATE where never)."""

    unit: Ints
    supplied: Ints
    started: Ints
    finished: Ints
    of_content: Ints


@dataclass(frozen=True)
class World:
    """All of the above and the size of each text."""

    requests: Requests
    uses: Uses
    holdings: Holdings
    text_bytes: Ints
    is_response: npt.NDArray[np.bool_]
    is_prompt: npt.NDArray[np.bool_]

    def sent_bytes(self) -> Ints:
        """Bytes that each unit supplied; the last place is that of no unit."""
        content = np.repeat(np.arange(self.text_bytes.size), np.diff(self.holdings.of_content))
        total = np.zeros(len(self.requests.unit_names) + 1, dtype=np.int64)
        supplied = self.holdings.supplied < LATE
        np.add.at(total, self.holdings.unit[supplied], self.text_bytes[content[supplied]])
        return total


def load_world(case: Case) -> World:
    """Read requests and uses of a case. Memory: about 100 bytes a use."""
    requests = _requests(case)
    sizes = pl.DataFrame(case.arrow("attribution/sizes"))
    contents = sizes.height
    uses = _uses(case, contents)
    content, request, side = uses.content, uses.request, uses.side
    is_response = np.zeros(contents, dtype=np.bool_)
    is_prompt = np.zeros(contents, dtype=np.bool_)
    is_response[content[side == 1]] = True
    is_prompt[content[side == 0]] = True
    holdings = _holdings(content, request, side, requests, contents)
    return World(requests, uses, holdings, sizes["bytes"].to_numpy().astype(np.int64), is_response, is_prompt)


def _uses(case: Case, contents: int) -> Uses:
    numbers: dict[str, list[npt.NDArray[np.int64]]] = {"content": [], "request": [], "ordinal": []}
    fields, roles, vantages, sides = Fields(), Names(), Fields(), Names()
    names = {"field": fields, "role": roles, "vantage": vantages, "side": sides}
    for batch in case.batches("attribution/uses", rows=ROWS):
        for name, parts in numbers.items():
            parts.append(batch[name].to_numpy(zero_copy_only=False))
        for name, coded in names.items():
            coded.add(batch[name])
    none = np.zeros(0, dtype=np.int64)
    content = np.concatenate([none, *numbers.pop("content")]).astype(np.int64, copy=False)
    request = np.concatenate([none, *numbers.pop("request")]).astype(np.int64, copy=False)
    return Uses(
        content,
        request,
        sides.where(lambda side: side == "response").astype(np.int8),
        fields,
        roles,
        np.concatenate([none, *numbers.pop("ordinal")]).astype(np.int32),
        vantages,
        np.searchsorted(content, np.arange(contents + 1)).astype(np.int64),
    )


def _requests(case: Case) -> Requests:
    arrow = case.arrow("attribution/requests").combine_chunks()
    table = pl.DataFrame(arrow)
    units = Names.of(_column(arrow, "isolation_unit"))
    names = sorted(name for name in units.names if name is not None)
    places = {name: code for code, name in enumerate(names)}
    unit = np.array([places.get(name or "", -1) for name in units.names] or [-1], dtype=np.int64)[units.codes]
    received = table["received_us"]
    longest = (table["finished_us"] - received).max()
    stay = longest if isinstance(longest, int) and longest > 0 else UNKNOWN_STAY
    finished = table["finished_us"].fill_null(received + stay)
    return Requests(
        Strings(_column(arrow, "request_id")),
        Names.of(_column(arrow, "tenant_id")),
        unit,
        names,
        Names.of(_column(arrow, "worker")),
        received.fill_null(finished).fill_null(EARLY).to_numpy().astype(np.int64),
        finished.fill_null(LATE).to_numpy().astype(np.int64),
        table["examinable"].to_numpy().astype(np.bool_),
        (table["response_state"] == "full").to_numpy().astype(np.bool_),
    )


def _column(table: pa.Table, name: str) -> pa.Array:
    """A column in one piece."""
    column = table[name].combine_chunks()
    return pa.concat_arrays(column.chunks) if isinstance(column, pa.ChunkedArray) else column


def _holdings(content: Ints, request: Ints, side: npt.NDArray[np.int8], requests: Requests, contents: int) -> Holdings:
    frame = pl.DataFrame(
        {
            "content": content,
            "unit": requests.unit[request],
            "supplied": np.where(side == 0, requests.received[request], LATE),
            "started": np.where(side == 1, requests.received[request], LATE),
            "finished": np.where(side == 1, requests.finished[request], LATE),
        }
    )
    held = (
        frame.lazy()
        .group_by("content", "unit")
        .agg(pl.col("supplied", "started", "finished").min())
        .sort("content", "unit")
        .collect()
    )
    return Holdings(
        held["unit"].to_numpy().astype(np.int64),
        held["supplied"].to_numpy().astype(np.int64),
        held["started"].to_numpy().astype(np.int64),
        held["finished"].to_numpy().astype(np.int64),
        np.searchsorted(held["content"].to_numpy(), np.arange(contents + 1)).astype(np.int64),
    )
