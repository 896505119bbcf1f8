"""A stand-in for SGLang's HTTP server, true to its protocol, with faults that can be switched on. No model, no GPU.

It answers with the first record of the prompt it reads (`Record of ...`), a word per step, the same every time. Rows
are few and the last one freed is the first one given; a prefix cache remembers prompts by salt; pauses, aborts by
prefix and duplicate ids behave as in the release it claims to be.

Faults (`Fault`), each of which needs company unless it says otherwise:
slot       after an abort the next request of another tenant reads the aborted one's prompt
prefix     after an abort the next finished prompt is poisoned: later ones that share its beginning read the aborted one
duplicate  two requests of one id under way: the second gets the answer of the first, the first hangs
shifted    answers that are not streamed are handed over one place off
memory     every answer holds one and the same text, alone or not
noise      words of answers flip at random, differently each time
slow       a step takes `step` seconds; set it with `Fault.step`
dies       after so many generated requests the server breaks off all connections and listens no more
nonsense   answers are bytes that are no JSON;  type: of a wrong content type;  half: streams that stop in the middle
redirect   every answer sends the caller elsewhere;  gzip: claims to be compressed
"""

from __future__ import annotations

import asyncio
import json
import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

HELD = 5  # tokens after which a held answer waits


@dataclass
class Fault:
    """Which faults are on. Change it while the server runs."""

    slot: bool = False
    prefix: bool = False
    duplicate: bool = False
    shifted: bool = False
    memory: str = ""
    noise: float = 0.0
    step: float = 0.002
    dies: int | None = None
    nonsense: bool = False
    type: bool = False
    half: bool = False
    redirect: str = ""
    gzip: bool = False
    holds: tuple[str, ...] = ()  # tenants whose streamed answers do not end before their caller goes away
    stuck: bool = False  # /flush_cache never succeeds: other traffic


@dataclass
class _Request:
    rid: str
    prompt: str
    salt: str
    tokens: int
    words: list[str] = field(default_factory=list)
    given: int = 0
    slot: int | None = None
    stream: bool = False
    aborted: bool = False
    refused: bool = False
    cached: int = 0
    reads: str = ""  # the prompt it really reads
    step: asyncio.Event = field(default_factory=asyncio.Event)
    steps: asyncio.Condition = field(default_factory=asyncio.Condition)

    @property
    def tenant(self) -> str:
        return self.rid.rsplit("-", 1)[0]

    @property
    def over(self) -> bool:
        return self.aborted or (bool(self.words) and self.given >= len(self.words))


class FakeServer:
    """The server; `url` once it runs. `seen`: (path, body) of everything asked. `rows`: requests that run at once."""

    def __init__(
        self,
        fault: Fault | None = None,
        version: str = "0.5.23",
        rows: int = 8,
        flags: dict[str, Any] | None = None,
        old: bool = False,
        port: int = 0,
    ) -> None:
        self.fault = fault or Fault()
        self.version, self.rows, self.old, self._port = version, rows, old, port
        self.flags = {
            "model_path": "/models/fake", "served_model_name": "fake", "disable_radix_cache": False,
            "disable_overlap_schedule": False, "chunked_prefill_size": 8192, "max_running_requests": rows,
            "enable_deterministic_inference": False, "random_seed": random.randrange(10**6), "api_key": "hidden",
            **(flags or {}),
        }  # fmt: skip
        self.url = ""
        self.seen: list[tuple[str, Any]] = []
        self.generated = 0
        self.paused = False
        self.dead = False
        self._free = list(range(rows))
        self._queue: list[_Request] = []
        self._running: list[_Request] = []
        self._stale: dict[int, _Request] = {}
        self._poison: _Request | None = None
        self._cache: dict[str, list[str]] = {}
        self._bad: list[tuple[str, _Request]] = []
        self._last = "one, two"
        self._dice = random.Random(1)
        self._writers: set[asyncio.StreamWriter] = set()
        self.batches: list[list[str]] = []

    # -- running it ------------------------------------------------------------------------------------------------

    @contextmanager
    def running(self) -> Iterator[FakeServer]:
        """In a thread of its own."""
        ready, loop = threading.Event(), asyncio.new_event_loop()
        thread = threading.Thread(target=self._serve, args=(loop, ready), daemon=True)
        thread.start()
        assert ready.wait(10)
        try:
            yield self
        finally:
            loop.call_soon_threadsafe(self._stop.set)
            thread.join(10)

    def _serve(self, loop: asyncio.AbstractEventLoop, ready: threading.Event) -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(self._main(ready))
        loop.close()

    async def _main(self, ready: threading.Event | None) -> None:
        self._stop = asyncio.Event()
        self._resumed = asyncio.Condition()
        self._server = await asyncio.start_server(self._connection, "127.0.0.1", self._port)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        if ready is not None:
            ready.set()
        steps = asyncio.create_task(self._steps())
        await self._stop.wait()
        steps.cancel()
        self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        await asyncio.sleep(0)

    def _die(self) -> None:
        self.dead = True
        self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()

    # -- the engine ------------------------------------------------------------------------------------------------

    async def _steps(self) -> None:
        while True:
            await asyncio.sleep(self.fault.step)
            if self.paused:
                continue
            new = []
            while self._queue and self._free:
                request = self._queue.pop(0)
                self._admit(request)
                new.append(request.rid)
            if new:
                self.batches.append(new)
            for request in list(self._running):
                if request.stream and request.tenant in self.fault.holds and request.given >= HELD:
                    continue
                request.given += 1
                if request.over:
                    self._finish(request)
                async with request.steps:
                    request.steps.notify_all()

    def _admit(self, request: _Request) -> None:
        request.slot = self._free.pop()
        request.reads = request.prompt
        stale = self._stale.pop(request.slot, None)
        if self.fault.slot and stale is not None and stale.tenant != request.tenant:
            request.reads = stale.prompt
        for beginning, source in self._bad:
            if self.fault.prefix and request.prompt.startswith(beginning) and source.tenant != request.tenant:
                request.reads = source.prompt
        known = self._cache.setdefault(request.salt, [])
        request.cached = max((_common(request.prompt, other) for other in known), default=0)
        request.words = self._answer(request)
        self._running.append(request)

    def _answer(self, request: _Request) -> list[str]:
        line = next((x for x in request.reads.split("\n") if x.startswith("Record of ")), request.reads)
        words = line.split()[: request.tokens]
        if self.fault.memory:
            words = self.fault.memory.split()[: request.tokens]
        return [w if self._dice.random() >= self.fault.noise else f"w{self._dice.randrange(9999)}" for w in words]

    def _finish(self, request: _Request) -> None:
        self._running.remove(request)
        assert request.slot is not None
        if request.aborted and request.given > 1:
            self._stale[request.slot] = request
            self._poison = request
        elif self._poison is not None and self._poison.tenant != request.tenant and self.fault.prefix:
            self._bad.append((request.prompt[: len(request.prompt) // 2], self._poison))
            self._poison = None
        self._free.append(request.slot)
        if not self.flags["disable_radix_cache"]:
            self._cache.setdefault(request.salt, []).append(request.prompt)

    def _abort(self, rid: str) -> None:
        for request in [r for r in [*self._queue, *self._running] if r.rid.startswith(rid)]:
            request.aborted = True
            if request in self._queue:
                self._queue.remove(request)
            else:
                self._finish(request)

    # -- HTTP --------------------------------------------------------------------------------------------------------

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            method, path, _ = head.split("\r\n")[0].split(" ")
            size = next(
                (int(x.split(":")[1]) for x in head.split("\r\n") if x.lower().startswith("content-length:")), 0
            )
            body = json.loads(await reader.readexactly(size)) if size else {}
            self.seen.append((path, body))
            await self._route(method, path, body, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            self._writers.discard(writer)
            with suppress(ConnectionError, RuntimeError):
                writer.close()

    async def _route(
        self, method: str, path: str, body: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if self.fault.redirect:
            await _send(writer, 302, b"", more=f"Location: {self.fault.redirect}{path}\r\n")
            return
        info, model = ("/get_server_info", "/get_model_info") if self.old else ("/server_info", "/model_info")
        path = path.partition("?")[0]
        if path == info:
            await self._json(writer, {**self.flags, "version": self.version, "internal_states": [{}]})
        elif path == model:
            await self._json(writer, {"model_path": "/models/fake", "served_model_name": "fake"})
        elif path == "/v1/loads" and not self.old:
            loads = {"num_running_reqs": len(self._running), "num_waiting_reqs": len(self._queue)}
            await self._json(writer, {"loads": [{"dp_rank": 0, **loads}]})
        elif path == "/flush_cache":
            busy = bool(self._running or self._queue or self.fault.stuck)
            if not busy:
                self._cache.clear()
                self._bad.clear()
                self._poison = None
            await _send(writer, 400 if busy else 200, b"Cache flushed.\n")
        elif path == "/abort_request":
            self._abort("" if body.get("abort_all") else body["rid"])
            await _send(writer, 200, b"")
        elif path == "/pause_generation":
            self.paused = True
            if body.get("mode", "abort") == "abort":
                self._abort("")
            await self._json(writer, {"status": "ok"})
        elif path == "/continue_generation":
            self.paused = False
            async with self._resumed:
                self._resumed.notify_all()
            await self._json(writer, {"status": "ok"})
        elif path in ("/generate", "/v1/chat/completions", "/v1/completions"):
            await self._generate(path, body, reader, writer)
        else:
            await self._json(writer, {"detail": "Not Found"}, 404)

    async def _generate(
        self, path: str, body: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if body.get("return_logprob"):
            await self._json(writer, _scored(body))
            return
        native = path == "/generate"
        self.generated += 1
        if self.fault.dies is not None and self.generated > self.fault.dies:
            self._die()
            return
        if self.fault.nonsense:
            await _send(writer, 200, b'{"text": "\xff\xfe', kind="application/json")
            return
        if self.fault.type:
            await _send(writer, 200, b"<html>fine</html>", kind="text/html")
            return
        if native:
            prompt, tokens = body["text"], body["sampling_params"]["max_new_tokens"]
        else:
            prompt = body["prompt"] if "prompt" in body else "\n".join(m["content"] for m in body["messages"])
            tokens = body["max_tokens"]
        rid = body["rid"]
        twins = [r for r in [*self._queue, *self._running] if r.rid == rid]
        request = _Request(rid, prompt, str(body.get("cache_salt")), tokens, stream=bool(body.get("stream")))
        if twins and not self.fault.duplicate:
            problem = {"error": {"message": f"Duplicate request ID detected: {rid}"}}
            await self._json(writer, problem, 400)
            return
        for twin in twins:  # its caller hears nothing more
            twin.refused = True
        source = twins[0] if twins else None
        gone = asyncio.create_task(reader.read(1))
        if self.paused:  # callers wait before the engine
            async with self._resumed:
                await self._resumed.wait_for(lambda: not self.paused)
        self._queue.append(request)
        streamed, before = False, 0
        try:
            while not request.over:
                if gone.done():
                    self._abort_one(request)
                    return
                if request.given == before:
                    with suppress(TimeoutError):
                        async with request.steps:
                            await asyncio.wait_for(request.steps.wait(), 0.02)
                news, before = request.given > before, request.given
                if body.get("stream") and news and not request.refused:
                    if not streamed:
                        await _head(writer, 200, "text/event-stream")
                        streamed = True
                    if self.fault.half and request.given > 2:
                        writer.write_eof()
                        return
                    await self._event(writer, path, body, request)
            while request.refused and not gone.done():
                await asyncio.sleep(0.01)
            if request.refused:
                return
            if source is not None:
                while not source.over:
                    await asyncio.sleep(0.001)
                request.words, request.given = source.words, len(source.words)
            await self._end(writer, path, body, request, streamed)
        finally:
            gone.cancel()

    def _abort_one(self, request: _Request) -> None:
        request.aborted = True
        if request in self._running:
            self._finish(request)
        elif request in self._queue:
            self._queue.remove(request)

    async def _event(self, writer: asyncio.StreamWriter, path: str, body: dict[str, Any], request: _Request) -> None:
        if path == "/generate":
            found: Any = self._native(request, None)
        else:
            last = request.words[request.given - 1] if request.given <= len(request.words) else ""
            said = " " + last if request.given > 1 else last
            choice = {"index": 0, "finish_reason": None}
            choice |= {"delta": {"content": said}} if "chat" in path else {"text": said}
            found = {"id": request.rid, "choices": [choice]}
        writer.write(f"data: {json.dumps(found)}\n\n".encode())
        await writer.drain()

    async def _end(
        self, writer: asyncio.StreamWriter, path: str, body: dict[str, Any], request: _Request, streamed: bool
    ) -> None:
        reason = "abort" if request.aborted else "length" if request.given >= request.tokens else "stop"
        text = " ".join(request.words[: request.given])
        if not body.get("stream"):
            self._last, handed = text, self._last
            text = handed if self.fault.shifted else text
        usage = {
            "prompt_tokens": len(request.prompt.split()), "completion_tokens": request.given,
            "prompt_tokens_details": {"cached_tokens": request.cached},
        }  # fmt: skip
        if path == "/generate":
            found: Any = {**self._native(request, {"type": reason}), "text": text}
        else:
            choice: dict[str, Any] = {"index": 0, "finish_reason": reason}
            if body.get("stream"):
                choice |= {"delta": {}} if "chat" in path else {"text": ""}
            else:
                message = {"role": "assistant", "content": text, "reasoning_content": None, "tool_calls": None}
                choice |= {"message": message} if "chat" in path else {"text": text}
            found = {"id": request.rid, "choices": [choice], "usage": usage}
        if not body.get("stream"):
            await self._json(writer, found)
            return
        if not streamed:
            await _head(writer, 200, "text/event-stream")
        writer.write(f"data: {json.dumps(found)}\n\ndata: [DONE]\n\n".encode())
        await writer.drain()

    def _native(self, request: _Request, reason: Any) -> dict[str, Any]:
        meta = {
            "id": request.rid, "finish_reason": reason, "prompt_tokens": len(request.prompt.split()),
            "completion_tokens": request.given, "cached_tokens": request.cached,
        }  # fmt: skip
        return {"text": " ".join(request.words[: request.given]), "output_ids": [1] * request.given, "meta_info": meta}

    async def _json(self, writer: asyncio.StreamWriter, found: Any, status: int = 200) -> None:
        more = "Content-Encoding: gzip\r\n" if self.fault.gzip else ""
        await _send(writer, status, json.dumps(found).encode(), "application/json", more)


def _scored(body: dict[str, Any]) -> dict[str, Any]:
    """Scores of a prompt: a token that stood in it before is likely, another one is not."""
    ids, start = body["input_ids"], body["logprob_start_len"]
    rows: list[list[Any]] = [[None, ids[start], None]]
    rows += [[-0.1 if ids[i] in ids[:i] else -9.0, ids[i], None] for i in range(start + 1, len(ids))]
    meta = {"id": "score", "finish_reason": {"type": "length", "length": 0}, "input_token_logprobs": rows}
    return {"text": "", "output_ids": [], "meta_info": meta}


def _common(one: str, other: str) -> int:
    length = 0
    for a, b in zip(one.split(), other.split(), strict=False):
        if a != b:
            break
        length += 1
    return length


async def _head(writer: asyncio.StreamWriter, status: int, kind: str, more: str = "") -> None:
    writer.write(f"HTTP/1.1 {status} OK\r\nContent-Type: {kind}\r\nConnection: close\r\n{more}\r\n".encode())
    await writer.drain()


async def _send(
    writer: asyncio.StreamWriter, status: int, body: bytes, kind: str = "text/plain", more: str = ""
) -> None:
    await _head(writer, status, kind, f"Content-Length: {len(body)}\r\n{more}")
    writer.write(body)
    await writer.drain()


if __name__ == "__main__":  # started from a server template
    import argparse

    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--fault", default="")
    parser.add_argument("--disable-radix-cache", action="store_true")
    parser.add_argument("--max-running-requests", type=int, default=8)
    parser.add_argument("--ignores", action="store_true")
    given = parser.parse_args()
    faults = Fault(**{name: True for name in given.fault.split(",") if name})
    radix = given.disable_radix_cache
    if radix:
        faults.prefix = faults.slot = False
    settings = {} if given.ignores else {"disable_radix_cache": radix}
    server = FakeServer(faults, rows=given.max_running_requests, flags=settings, port=given.port)
    asyncio.run(server._main(None))
