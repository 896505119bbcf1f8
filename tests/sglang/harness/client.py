"""Sends the calls of a plan and writes down what a gateway would: who asked, when, and what came back."""

from __future__ import annotations

import http.client
import json
import threading
import time
import urllib.error
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.sglang.harness.server import WORKER, post, switch
from tests.sglang.harness.traffic import Call, Phase

AT_ONCE = 8
GIVE_UP = 600.0  # seconds after which a client stops waiting
HANGING = 6.0  # seconds that a caller whose twin was answered still waits


class Client:
    """Sends calls to the engine at `url`; `records` are the gateway's, by time of arrival once `run` is over.

    by_tokens: prompts that are sent as tokens, which the engine's log then holds, as it does those of chats.
    """

    def __init__(self, url: str, by_tokens: Iterable[str] = ()) -> None:
        self._tokens = {text: _tokens(url, text) for text in by_tokens}
        self._address = urlsplit(url).netloc
        self._url = url
        self._gate = threading.Semaphore(AT_ONCE)
        self._lock = threading.Lock()
        self._open: dict[str, list[http.client.HTTPConnection]] = {}
        self.records: list[dict[str, Any]] = []

    def run(self, phases: list[Phase], turn: Callable[[str], None]) -> None:
        """All phases, step by step. turn: told the name of each phase before it begins."""
        for phase in phases:
            turn(phase.name)
            for number, step in enumerate(phase.steps):
                threads = []
                for call in step:
                    self._gate.acquire()
                    threads.append(threading.Thread(target=self._one, args=(call,), daemon=True))
                    threads[-1].start()
                for thread in threads:
                    thread.join(GIVE_UP + 30)
                if phase.flush and number % 2:
                    flush(self._url)
        self.records.sort(key=lambda record: (record["timestamp"], record["request_id"]))

    def _one(self, call: Call) -> None:
        try:
            time.sleep(call.after)
            began = time.time()
            status, text, reason = self._send(call)
            record = {
                "request_id": call.request_id, "rid": call.rid, "tenant_id": call.tenant, "timestamp": stamp(began),
                "finished_at": stamp(time.time()), "worker": WORKER, "model": "smollm2", "stream": call.stream,
                "status": status,
            }  # fmt: skip
            if record["rid"] == record["request_id"]:
                del record["rid"]
            else:  # an id that two calls share ties none to its engine's record; what was asked does
                record["request"] = {"prompt": call.text}
            if status == 200:
                message = {"role": "assistant", "content": text}
                record["response"] = {"choices": [{"index": 0, "message": message, "finish_reason": reason}]}
            with self._lock:
                self.records.append(record)
        finally:
            self._gate.release()

    def _send(self, call: Call) -> tuple[int, str, str | None]:
        body: dict[str, Any] = {
            "rid": call.rid, "stream": call.stream,
            "sampling_params": {"temperature": 0, "max_new_tokens": call.tokens},
        }  # fmt: skip
        tokens = self._tokens.get(call.text)
        body |= {"input_ids": tokens} if tokens else {"text": call.text}
        if call.salt:
            body["cache_salt"] = call.salt
        connection = http.client.HTTPConnection(self._address, timeout=GIVE_UP)
        with self._lock:
            self._open.setdefault(call.rid, []).append(connection)
        try:
            connection.request("POST", "/generate", json.dumps(body), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            if answer.status != 200:
                return answer.status, "", None
            last: dict[str, Any] = {}
            if call.stream:
                for number, line in enumerate(line for line in answer if line.startswith(b"data: {")):
                    last = json.loads(line[6:])
                    if call.cancel and number + 1 >= call.cancel:
                        return 499, "", None
            else:
                last = json.loads(answer.read())
            self._let_go(call.rid, connection)
            return 200, last["text"], last["meta_info"]["finish_reason"]["type"]
        except (OSError, http.client.HTTPException, json.JSONDecodeError):
            return 504, "", None
        finally:
            with self._lock:
                self._open[call.rid].remove(connection)
            connection.close()

    def _let_go(self, rid: str, own: http.client.HTTPConnection) -> None:
        """A twin of this id that has no answer yet gives up after a while."""

        def give_up() -> None:
            with self._lock:
                twins = [other for other in self._open.get(rid, ()) if other is not own and other.sock is not None]
            for twin in twins:
                try:
                    twin.sock.shutdown(2)
                except (OSError, AttributeError):
                    continue

        with self._lock:
            waiting = len(self._open.get(rid, ())) > 1
        if waiting:
            timer = threading.Timer(HANGING, give_up)
            timer.daemon = True
            timer.start()


def _tokens(url: str, text: str) -> list[int]:
    found: list[int] = json.loads(post(url, "/tokenize", {"model": "smollm2", "prompt": text}))["tokens"]
    return found


def flush(url: str) -> None:
    """Empty the prefix cache as soon as the engine has nothing to do."""
    end = time.monotonic() + GIVE_UP
    while True:
        try:
            post(url, "/flush_cache", {})
            return
        except urllib.error.HTTPError:
            if time.monotonic() > end:
                raise
            time.sleep(1)


def stamp(seconds: float) -> str:
    """ISO time in UTC."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1e6):06d}Z"


def switcher(folder: Path, fault: str) -> Callable[[str], None]:
    """Lets `fault` happen in the phase of that name and nothing in the others."""

    def turn(phase: str) -> None:
        time.sleep(1)
        switch(folder, fault if phase == "fault" else "")

    return turn
