"""Starts and stops the engine: SGLang's own HTTP server, with probe, request log, KV events and traces on."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

RECORDER = Path(__file__).resolve().parents[3] / "forensics" / "probe" / "kv_recorder.py"
WORKER = "engine-0"
BOOT_SECONDS = 1200
_FLAGS = (
    "--device cpu --attention-backend torch_native --sampling-backend pytorch --dtype float32 --mem-fraction-static 0.3 "
    "--max-total-tokens 16384 --max-running-requests 8 --context-length 4096 --chunked-prefill-size 2048 "
    "--disable-overlap-schedule --disable-cuda-graph --skip-server-warmup --sleep-on-idle --random-seed 1 --decode-log-interval 10 "
    "--log-requests --log-requests-level 3 --log-requests-format json --enable-request-time-stats-logging --enable-metrics"
).split()


@contextmanager
def serving(engine: Path, folder: Path, pairs: str = "", traces: str = "") -> Iterator[str]:
    """The URL of a running server. Its logs go to `folder`: `requests/` `server.log` `probe/` `kv/` `faults.jsonl`.

    engine: what install.py made. pairs: see CrossSalt. traces: where to send OpenTelemetry spans, host:port.
    """
    folder.mkdir(parents=True)
    port, events = free_port(), f"tcp://127.0.0.1:{free_port()}"
    command = [*words(engine), "--port", str(port), "--log-requests-target", str(folder / "requests")]
    command += ["--kv-events-config", json.dumps({"publisher": "zmq", "endpoint": events, "bind": True, "topic": "kv"})]
    if traces:
        command += ["--enable-trace", "--otlp-traces-endpoint", f"http://{traces}/v1/traces"]
    environment = {**os.environ, **variables(folder, pairs)}
    url = f"http://127.0.0.1:{port}"
    recorder = subprocess.Popen([command[0], str(RECORDER), str(folder / "kv"), events])  # first: from the very start
    with (folder / "server.log").open("wb") as log:
        server = subprocess.Popen(command, env=environment, stdout=log, stderr=log, start_new_session=True)
        try:
            _wait(server, url, folder)
            yield url
        finally:
            _stop(server)
            recorder.terminate()
            recorder.wait(10)


def words(engine: Path) -> list[str]:
    """The command of the server, without its port."""
    return [
        str(engine / "venv" / "bin" / "python"), "-m", "sglang.launch_server", "--model-path", str(engine / "model"),
        "--served-model-name", "smollm2", "--host", "127.0.0.1", *_FLAGS,
    ]  # fmt: skip


def variables(folder: Path, pairs: str) -> dict[str, str]:
    """What the server and its plugins find in the environment. Their files go to `folder`."""
    return {
        "SGLANG_USE_CPU_ENGINE": "1", "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false",
        # One thread: two that wait for each other on a busy machine are a hundred times slower.
        "OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "PASSIVE", "SGLANG_ENABLE_HEALTH_ENDPOINT_GENERATION": "false",
        "SGLANG_LOG_MS": "1", "SGLANG_LOG_FORWARD_ITERS": "1", "TZ": "UTC",
        "SGLANG_LOG_SCHEDULER_STATUS_TARGET": "stdout", "SGLANG_LOG_SCHEDULER_STATUS_INTERVAL": "1",
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf", "NO_PROXY": "127.0.0.1",
        "SLOT_PROBE_DIR": str(folder / "probe"),
        "FAULT_LOG": str(folder / "faults.jsonl"), "FAULT_SWITCH": str(folder / "switch"),
        "FAULT_PAIRS": pairs,
    }  # fmt: skip


def switch(folder: Path, fault: str) -> None:
    """Let this fault happen from now on, or none (an empty name)."""
    (folder / "switch").write_text(fault, encoding="utf-8")


def post(url: str, path: str, body: dict[str, object], seconds: float = 120) -> bytes:
    """The answer to a JSON request."""
    request = urllib.request.Request(url + path, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=seconds) as answer:
        return bytes(answer.read())


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _wait(server: subprocess.Popen[bytes], url: str, folder: Path) -> None:
    end = time.monotonic() + BOOT_SECONDS
    while time.monotonic() < end:
        if server.poll() is not None:
            raise RuntimeError(f"the engine ended with status {server.returncode}; see {folder / 'server.log'}")
        try:
            # /health would generate a token first.
            with urllib.request.urlopen(url + "/model_info", timeout=5):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(1)
    raise RuntimeError(f"the engine was not ready after {BOOT_SECONDS} s; see {folder / 'server.log'}")


def _stop(server: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGINT, signal.SIGKILL):
        try:
            os.killpg(server.pid, number)
        except ProcessLookupError:
            return
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            continue
