"""Pickles as SGLang writes them, and tables in Parquet: for tests, and for the samples.

`python -m tests.support.dumps` writes the binary samples under tests/ingest/formats anew.
"""

from __future__ import annotations

import pickle
import sys
import types
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

_MODULES = {
    "GenerateReqInput": "sglang.srt.managers.io_struct",
    "ServerArgs": "sglang.srt.server_args",
}


@cache
def _class(name: str) -> type:
    """A class under the name that the engine's has, so that the standard pickler writes what the engine's does."""
    path = ""
    for part in _MODULES[name].split("."):
        path = f"{path}.{part}".strip(".")
        sys.modules.setdefault(path, types.ModuleType(path))

    def __init__(self: Any, **fields: Any) -> None:
        self.__dict__.update(fields)

    made = type(name, (), {"__init__": __init__, "__module__": _MODULES[name]})
    setattr(sys.modules[_MODULES[name]], name, made)
    return made


def request_class() -> Any:
    """The class of SGLang's requests."""
    return _class("GenerateReqInput")


def server_class() -> Any:
    """The class of SGLang's settings."""
    return _class("ServerArgs")


def dump_of(calls: Sequence[tuple[str, str, str]], protocol: int = 4) -> bytes:
    """A dump of finished calls: (rid, prompt, answer)."""
    entries = [
        (
            request_class()(rid=rid, text=prompt, input_ids=None, sampling_params={"temperature": 0.0}, stream=False),
            {
                "text": answer,
                "output_ids": [5, 6, 7],
                "meta_info": {
                    "id": rid,
                    "finish_reason": {"type": "stop", "matched": 2},
                    "prompt_tokens": 4,
                    "completion_tokens": 3,
                    "cached_tokens": 0,
                },
            },
            1772600767.25,
            1772600768.5,
        )
        for rid, prompt, answer in calls
    ]
    return pickle.dumps({"server_args": server_class()(model_path="m", port=30000), "requests": entries}, protocol)


def _sglang_samples(folder: Path) -> None:
    request, server = request_class(), server_class()
    finished = {"type": "stop", "matched": 151645}

    def out(rid: str, text: str, ids: list[int], **more: Any) -> dict[str, Any]:
        meta = {"id": rid, "finish_reason": finished, "prompt_tokens": 7, "completion_tokens": len(ids)}
        return {"text": text, "output_ids": ids, "meta_info": {**meta, "cached_tokens": 4, "e2e_latency": 1.5, **more}}

    # 0.4.4 to 0.4.6: a bare list.
    old = [
        (
            request(text="Which river runs through Bremen?", input_ids=None, rid="old-1", stream=False),
            out("old-1", "The Weser.", [11, 12, 13]),
            1772600700.0,
            1772600701.5,
        ),
    ]
    (folder / "bare_list.pkl").write_bytes(pickle.dumps(old, 4))
    # 0.4.9 and later: a dictionary with the server's settings.
    asked = [
        (
            request(
                text="Name a tree.",
                input_ids=None,
                rid="new-1",
                stream=False,
                sampling_params={"max_new_tokens": 16},
                extra_key="tenant-a",
                user="u-7",
            ),
            out("new-1", "Beech", [21, 22], dp_rank=1),
            1772600760.125,
            1772600761.625,
        ),
        (
            request(text=None, input_ids=[9] * 40, rid="new-2", stream=True),
            out("new-2", "end.", [31], completion_tokens=30),
            1772600762.0,
            1772600764.0,
        ),
        (request(text="ping", input_ids=None, rid="HEALTH_CHECK_1", stream=False), {}, 1772600763.0, 1772600763.0),
    ]
    (folder / "2026-03-04_05-06-07.pkl").write_bytes(
        pickle.dumps({"server_args": server(model_path="m"), "requests": asked}, 4)
    )
    # A crash dump of 0.5.12 and later: finished ones, then those in flight with what there was of an answer.
    crash = [
        (
            request(text="Say one.", input_ids=(1, 2, 3), rid="crash-1", stream=False),
            out("crash-1", "One.", [41, 42]),
            1772600800.0,
            1772600801.0,
        ),
        (
            request(text="Count to ten.", input_ids=(4, 5, 6), rid="crash-2", stream=True),
            {"text": "One, two", "output_ids": [51, 52, 53]},
            1772600802.0,
            1772600803.5,
        ),
        (request(text="Wait.", input_ids=None, rid="crash-3", stream=False), {}, 1772600802.5, 1772600803.5),
    ]
    (folder / "crash_dump_2026-03-04_05-06-43.pkl").write_bytes(
        pickle.dumps({"server_args": None, "requests": crash, "launch_command": "python -m sglang.launch_server"}, 5)
    )


def _parquet_samples(folder: Path) -> None:
    import pyarrow as pa
    import pyarrow.feather as feather
    import pyarrow.parquet as pq

    house = pa.table(
        {
            "request_id": ["p-1", "p-2", "p-3"],
            "tenant_id": ["acme", "globex", None],
            "model": pa.array(["m1", "m1", "m2"]).dictionary_encode(),
            "prompt": ["Name a bird.", "Name a fish.", None],
            "response": ["A wren.", "A perch.", "Nobody asked."],
            "received_at": pa.array([1772600767100000, 1772600768200000, None], pa.timestamp("us", "UTC")),
            "prompt_tokens": pa.array([4, 5, None], pa.int64()),
        }
    )
    pq.write_table(house, folder / "house.parquet", row_group_size=2, compression="zstd")
    feather.write_feather(house.slice(0, 1).set_column(0, "request_id", pa.array(["f-1"])), folder / "house.feather")
    spend = pa.table(
        {
            "request_id": ["chatcmpl-s1"],
            "call_type": ["acompletion"],
            "api_key": ["0" * 64],
            "spend": pa.array([0.5], pa.float64()),
            "startTime": pa.array([1772600767100000], pa.timestamp("us")),
            "endTime": pa.array([1772600768200000], pa.timestamp("us")),
            "model": ["gpt-4o"],
            "team_id": ["team-red"],
            "user": ["u-1"],
            "metadata": ['{"user_api_key_alias": "k"}'],
            "messages": ['[{"role": "user", "content": "Name a star."}]'],
            "response": [
                '{"id": "chatcmpl-s1", "choices": [{"index": 0, "finish_reason": "stop", '
                '"message": {"role": "assistant", "content": "Vega."}}]}'
            ],
            "prompt_tokens": pa.array([5], pa.int32()),
            "completion_tokens": pa.array([2], pa.int32()),
            "total_tokens": pa.array([7], pa.int32()),
        }
    )
    pq.write_table(spend, folder / "spend.parquet", compression="snappy")
    pq.write_table(house.slice(0, 0), folder / "no_rows.parquet")


if __name__ == "__main__":
    formats = Path(__file__).parents[1] / "ingest" / "formats"
    for name, write in (("sglang_dump", _sglang_samples), ("parquet_rows", _parquet_samples)):
        (formats / name).mkdir(exist_ok=True)
        write(formats / name)
