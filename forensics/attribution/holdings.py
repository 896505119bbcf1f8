"""Who held which text, from when? The requests and uses of a case as arrays that the kernels can walk.

Times are UTC microseconds. An unknown prompt time counts as "always earlier" (EARLY): a text whose time is unknown
may have been there before. An unknown finish is taken as the latest it can reasonably be: received plus the longest
stay seen in the case (an hour where none was seen).
Isolation units are dense numbers in sorted order; requests without a tenant have unit -1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from forensics.case.store import Case

EARLY = -(1 << 62)
LATE = 1 << 62
UNKNOWN_STAY = 3_600_000_000

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Requests:
    """One entry per request, indexed by its key (dense from 0)."""

    request_id: list[str]
    tenant_id: list[str | None]
    unit: Ints
    unit_names: list[str]
    worker: list[str | None]
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
    field: list[str]
    role: list[str]
    ordinal: Ints
    vantage: list[str]
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


def load_world(case: Case) -> World:
    """Read requests and uses of a case. Memory: about 100 bytes a use."""
    requests = _requests(case)
    sizes = pl.DataFrame(case.arrow("attribution/sizes"))
    contents = sizes.height
    table = pl.DataFrame(case.arrow("attribution/uses"))
    content = table["content"].to_numpy().astype(np.int64)
    request = table["request"].to_numpy().astype(np.int64)
    side = (table["side"] == "response").to_numpy().astype(np.int8)
    of_content = np.searchsorted(content, np.arange(contents + 1)).astype(np.int64)
    uses = Uses(
        content,
        request,
        side,
        table["field"].to_list(),
        table["role"].to_list(),
        table["ordinal"].to_numpy().astype(np.int64),
        table["vantage"].to_list(),
        of_content,
    )
    is_response = np.zeros(contents, dtype=np.bool_)
    is_prompt = np.zeros(contents, dtype=np.bool_)
    is_response[content[side == 1]] = True
    is_prompt[content[side == 0]] = True
    holdings = _holdings(content, request, side, requests, contents)
    return World(requests, uses, holdings, sizes["bytes"].to_numpy().astype(np.int64), is_response, is_prompt)


def _requests(case: Case) -> Requests:
    table = pl.DataFrame(case.arrow("attribution/requests"))
    names = sorted(set(table["isolation_unit"].drop_nulls().to_list()))
    codes = {name: code for code, name in enumerate(names)}
    unit = np.array(
        [codes[name] if name is not None else -1 for name in table["isolation_unit"].to_list()], dtype=np.int64
    )
    received = table["received_us"]
    longest = (table["finished_us"] - received).max()
    stay = longest if isinstance(longest, int) and longest > 0 else UNKNOWN_STAY
    finished = table["finished_us"].fill_null(received + stay)
    return Requests(
        table["request_id"].to_list(),
        table["tenant_id"].to_list(),
        unit,
        names,
        table["worker"].to_list(),
        received.fill_null(finished).fill_null(EARLY).to_numpy().astype(np.int64),
        finished.fill_null(LATE).to_numpy().astype(np.int64),
        table["examinable"].to_numpy().astype(np.bool_),
        (table["response_state"] == "full").to_numpy().astype(np.bool_),
    )


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
