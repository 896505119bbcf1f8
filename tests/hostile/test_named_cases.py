"""The hostile cases that everybody names, through the public command: counts, words and exit codes."""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb


def _accounted(file: dict[str, Any]) -> bool:
    parts = ("record_bytes", "rejected_bytes", "blank_bytes", "structure_bytes")
    return sum(file[part] for part in parts) == file["content_bytes"]


def _line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def test_nine_tenths_junk(forensics: Callable[..., Any], make_record: Callable[..., Any], tmp_path: Path) -> None:
    """Bytes, prose and broken JSON around a hundred records: all records are read, all junk is counted and said."""
    dice = random.Random(90)
    junk = [
        dice.choice(
            (
                bytes(dice.choice([i for i in range(256) if i not in (10, 13, 32, 123)]) for _ in range(60)),
                b"nothing to see here, number %d" % number,
                b'{"request_id": "broken-%d", "request": {"messages": [{"role": ' % number,
            )
        )
        + b"\n"
        for number in range(900)
    ]
    lines = [*junk, *(_line(make_record(number)) for number in range(100))]
    dice.shuffle(lines)
    (tmp_path / "log.jsonl").write_bytes(b"".join(lines))
    done = forensics("ingest", tmp_path / "log.jsonl", "--case", tmp_path / "case", "--json")
    assert done.code == 0, done.stderr
    [file] = done.data["files"]
    assert (file["format"], file["records"], file["requests"], file["rejected"]) == ("house", 100, 100, 900)
    assert sum(file["reasons"].values()) == 900
    assert _accounted(file) and file["content_bytes"] == sum(map(len, lines))
    assert any("900 of 1000 lines were rejected" in warning for warning in done.json["warnings"])
    assert "nothing to see" not in done.stdout + done.stderr
    assert len(forensics("ask", tmp_path / "case", "rejects", "--format", "json").data["rows"]) == 900
    strict = forensics("ingest", tmp_path / "log.jsonl", "--case", tmp_path / "strict", "--json", "--max-rejects", 899)
    assert strict.code == 11 and "--max-rejects 899" in strict.stderr
    assert strict.data["files"][0]["records"] == 100


def test_ten_formats_in_one_file(
    forensics: Callable[..., Any], make_record: Callable[..., Any], tmp_path: Path
) -> None:
    """Line by line, each is read as what it is; the one that is none is refused with its reason."""
    said = [{"index": 0, "message": {"role": "assistant", "content": "At six."}, "finish_reason": "stop"}]
    asked = [{"role": "user", "content": "When does it open?"}]
    at = "2026-05-11T06:00:05Z"
    lines = {
        "house": _line(make_record(1)),
        "openai_pair": _line({"request": {"model": "m", "messages": asked}, "response": {"id": "pair-1", "choices": said}}),
        "sglang_json": b'[2026-05-11 06:00:03] {"event": "request.finished", "rid": "json-1", "obj": {"text": "Ask"}, "out": {"text": "Say"}}\n',
        "sglang_text": b"[2026-05-11 06:00:04] Finish: obj=GenerateReqInput(rid='text-1', text='Ask'), out={'text': 'Say'}\n",
        "sglang_engine": b"[2026-05-11 06:00:05 TP0] Decode batch, #running-req: 3, #token: 70, token usage: 0.01, cuda graph: True, gen throughput (token/s): 12.00, #queue-req: 0\n",
        "batch": _line(
            {"id": "b-1", "custom_id": "i-1", "response": {"status_code": 200, "request_id": "batch-1", "body": {"choices": said}}, "error": None}
        ),
        "bedrock_invocation": _line(
            {
                "schemaType": "ModelInvocationLog",
                "timestamp": at,
                "requestId": "bedrock-1",
                "modelId": "m",
                "operation": "InvokeModel",
                "input": {"inputContentType": "application/json", "inputBodyJson": {"messages": asked}},
                "output": {"outputContentType": "application/json", "outputBodyJson": {"choices": said}},
            }
        ),
        "litellm_spend": _line({"request_id": "spend-1", "call_type": "acompletion", "startTime": at, "endTime": at, "api_key": "k"}),
        "langfuse": _line({"id": "obs-1", "trace_id": "trace-1", "type": "GENERATION", "start_time": at, "completion_start_time": at, "model": "m"}),
        "vllm_log": b"INFO 05-11 06:00:09 [logger.py:40] Received request vllm-1: prompt: 'Ask', params: SamplingParams(n=1), prompt_token_ids: None, lora_request: None.\n",
    }  # fmt: skip
    assert len(lines) == 10
    junk = b"no format at all\n"
    data = b"".join((*lines.values(), b"\n", junk))
    (tmp_path / "mixed.log").write_bytes(data)
    done = forensics("ingest", tmp_path / "mixed.log", "--case", tmp_path / "case", "--json")
    assert done.code == 0, done.stderr
    [file] = done.data["files"]
    assert (file["records"], file["rejected"], file["blank"], file["structure"]) == (10, 1, 1, 0), file
    assert file["rejected_bytes"] == len(junk) and file["blank_bytes"] == 1
    assert _accounted(file) and file["content_bytes"] == len(data)
    with duckdb.connect(str(tmp_path / "case" / "case.duckdb"), read_only=True) as connection:
        found = {row[0] for row in connection.execute("SELECT request_id FROM joined_requests").fetchall()}
    assert found == {
        *("req-1", "pair-1", "json-1", "text-1", "batch-1", "bedrock-1", "spend-1", "obs-1", "vllm-1"),
    }


class _Command:
    """Run by anything that unpickles it."""

    def __init__(self, command: str) -> None:
        self._command = command

    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, (self._command,)


def test_a_pickle_that_would_run_a_command(forensics: Callable[..., Any], tmp_path: Path) -> None:
    """It is refused without leave, read as data with leave, and never run."""
    canary = tmp_path / "canary"
    trap = tmp_path / "dump.pkl"
    trap.write_bytes(pickle.dumps({"requests": [_Command(f"touch {canary}")]}))
    subprocess.run([sys.executable, "-c", f"import pickle; pickle.load(open({str(trap)!r}, 'rb'))"], check=True)
    assert canary.exists(), "the trap is no trap"
    canary.unlink()
    refused = forensics("ingest", trap, "--case", tmp_path / "a", "--json")
    assert refused.code == 11 and refused.data["files"][0]["reasons"] == {"pickle_not_allowed": 1}
    assert "--allow-pickle" in refused.data["files"][0]["format_reason"]
    read = forensics("ingest", trap, "--case", tmp_path / "b", "--json", "--allow-pickle")
    assert read.code == 11 and read.data["files"][0]["reasons"] == {"unreadable_entry": 1}
    assert all(_accounted(done.data["files"][0]) for done in (refused, read))
    assert not canary.exists()
    assert forensics("case", "verify", tmp_path / "b").code == 0
