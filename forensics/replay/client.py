"""How does one talk to an SGLang server? Its endpoints over HTTP, of the releases 0.4 to 0.5, asynchronously.

Sends and reads; knows nothing of scenes or trials. Whatever comes back is untrusted: sizes are bounded, compressed
answers are refused, redirects are not followed, proxies and cookies of the environment are not used, tool calls are
read as text and never run. Errors are short words of our own, never the server's text.

Field names and endpoints: docs/replay.md lists what was read in which release.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from forensics.case.errors import MissingInput, UsageError
from forensics.replay.address import Address
from forensics.replay.facts import FLAGS, VERSION, Facts
from forensics.replay.replies import Nonsense, Reply, take

if TYPE_CHECKING:
    import httpx

MOST_BYTES = 32 << 20  # of one answer
CONTROL_SECONDS = 60.0  # for an answer to anything that generates nothing


class Gone(Exception):
    """The server does not answer any more, or never did."""


class Client:
    """A connection to one server, with the key of FORENSICS_REPLAY_KEY. Use as an asynchronous context manager."""

    def __init__(self, address: Address, seconds: float = 120.0) -> None:
        httpx = _httpx()
        self.address = address
        headers = {"Host": address.host, "Accept-Encoding": "identity"}
        key = os.environ.get("FORENSICS_REPLAY_KEY")
        if key:
            headers["Authorization"] = f"Bearer {key}"
        self._client = httpx.AsyncClient(
            base_url=address.base,
            headers=headers,
            timeout=httpx.Timeout(seconds, connect=10.0),
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
            follow_redirects=False,
            trust_env=False,
        )

    async def __aenter__(self) -> Client:
        await self._client.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.__aexit__()

    # -- asking about and steering the server -----------------------------------------------------------------

    async def facts(self) -> Facts:
        """What the server is. Raises Gone, Nonsense."""
        info = await self._either("/server_info", "/get_server_info")
        model = await self._either("/model_info", "/get_model_info")
        flags = {name: info[name] for name in sorted(FLAGS & info.keys()) if _plain(info[name])}
        version = info.get("version")
        name = info.get("served_model_name") or model.get("served_model_name") or model.get("model_path")
        return Facts(
            version if isinstance(version, str) and VERSION.match(version) else None,
            name if isinstance(name, str) else None,
            flags,
        )

    async def alive(self) -> bool:
        """Whether anything of SGLang answers there."""
        try:
            await self._either("/model_info", "/get_model_info")
        except (Gone, Nonsense):
            return False
        return True

    async def flush(self, seconds: float = CONTROL_SECONDS) -> bool:
        """Empty the prefix cache. SGLang refuses while anything runs: False where it still did after `seconds`."""
        end = time.monotonic() + seconds
        while True:
            status, _ = await self._ask("POST", "/flush_cache", {})
            if status == 200:
                return True
            if status not in (400, 409, 503):
                raise Nonsense("the server does not know /flush_cache")
            if time.monotonic() > end:
                return False
            await asyncio.sleep(0.1)

    async def running(self) -> int | None:
        """How many requests the server has, running or waiting; None where it does not tell."""
        for path, names in (
            ("/v1/loads?include=core", ("num_running_reqs", "num_waiting_reqs")),
            ("/get_load", ("num_reqs",)),
        ):
            with suppress(Nonsense, ValueError, TypeError, AttributeError, KeyError):
                status, body = await self._ask("GET", path)
                if status == 200:
                    found = json.loads(body)
                    rows = found["loads"] if isinstance(found, dict) else found
                    return sum(int(row[name]) for row in rows for name in names)
        return None

    async def pause(self) -> None:
        """Stop between two forward passes and keep what runs. Never the default mode, which aborts everything."""
        await self._order("/pause_generation", {"mode": "in_place"})

    async def resume(self) -> None:
        """Go on after a pause; without one it changes nothing."""
        await self._order("/continue_generation", {})

    async def abort(self, rid: str) -> None:
        """Abort one of our requests. SGLang matches by prefix: ids of one run are of one length, and never empty."""
        if not rid:
            raise ValueError("an empty id would abort every request of the server")
        await self._order("/abort_request", {"rid": rid, "abort_all": False})

    # -- generating ----------------------------------------------------------------------------------------------

    async def exchange(self, path: str, body: Mapping[str, Any], reply: Reply, *, incremental: bool = False) -> None:
        """Send one request and fill `reply` as its answer comes, so that a caller that goes away has what came.

        Where the server breaks off or sends nonsense, `reply.error` says so in a word; only Gone is raised, where
        no connection could be made.
        """
        httpx = _httpx()
        began = time.monotonic()
        try:
            more = {**self._tls(), "trace": _told_of(reply)}
            async with self._client.stream("POST", path, json=dict(body), extensions=more) as answer:
                reply.status = answer.status_code
                _check_head(answer)
                kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
                if answer.status_code != 200:
                    reply.error = _refusal(await _whole(answer))
                elif kind == "text/event-stream":
                    await self._stream(answer, reply, began, incremental)
                elif kind == "application/json":
                    take(json.loads(await _whole(answer)), reply)
                    reply.first_ms = 1000 * (time.monotonic() - began)
                    if not reply.error and reply.finish is None:
                        reply.error = "unfinished"
                else:
                    reply.error = "content-type"
        except Nonsense as error:
            reply.error = str(error)
        except (ValueError, RecursionError):  # bytes that are no JSON, or no text
            reply.error = "nonsense"
        except httpx.ConnectError:
            raise Gone from None
        except httpx.TimeoutException:
            reply.error = "timeout"
        except httpx.HTTPError:
            reply.error = "broken off"
        finally:
            reply.sent.set()

    async def score(self, ids: list[int], start: int) -> list[tuple[float | None, int]]:
        """Log-probability and token id of `ids[start:]`, each given all before it. `start` is 1 or more.

        Raises Gone, Nonsense.
        """
        if not 1 <= start < len(ids):
            raise ValueError("scoring begins at token 1 or later")
        body = {
            "input_ids": ids,
            "sampling_params": {"max_new_tokens": 0, "temperature": 0},
            "return_logprob": True,
            "logprob_start_len": start - 1,
        }
        status, data = await self._ask("POST", "/generate", body)
        try:
            rows: Any = json.loads(data)["meta_info"]["input_token_logprobs"] if status == 200 else None
            # The first entry has no score: it is the token before.
            found = [(None if row[0] is None else float(row[0]), int(row[1])) for row in rows[1:]]
        except (ValueError, KeyError, TypeError, IndexError):
            raise Nonsense("the server does not score prompts as SGLang does") from None
        if [token for _, token in found] != ids[start:]:
            raise Nonsense("the server scored other tokens than were sent")
        return found

    async def tokenize(self, text: str, *, whole: bool = False) -> list[int]:
        """Token ids of a text, by the server's tokenizer; `whole`: with those that it puts around a prompt.

        Raises Gone, Nonsense.
        """
        return await self._tokens({"prompt": text, "add_special_tokens": whole})

    async def tokenize_chat(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """Token ids of a chat prompt, by the server's template and tokenizer. Raises Gone, Nonsense."""
        return await self._tokens({"messages": list(messages)})

    # -- below -----------------------------------------------------------------------------------------------------

    async def _tokens(self, body: Mapping[str, Any]) -> list[int]:
        status, data = await self._ask("POST", "/tokenize", body)
        try:
            tokens: Any = json.loads(data)["tokens"] if status == 200 else None
            return [int(token) for token in tokens]
        except (ValueError, KeyError, TypeError):
            raise Nonsense("the server does not tokenize prompts of this kind (/tokenize)") from None

    async def _stream(self, answer: httpx.Response, reply: Reply, began: float, incremental: bool) -> None:
        import httpx_sse

        ended = False
        async for event in httpx_sse.EventSource(_Bounded(answer)).aiter_sse():  # type: ignore[arg-type]
            if event.data.strip() == "[DONE]":
                ended = True
                break
            take(json.loads(event.data), reply, piece=True, incremental=incremental)
            reply.pieces += 1
            reply.count()
            if reply.first_ms is None and reply.texts:
                reply.first_ms = 1000 * (time.monotonic() - began)
            if reply.error:
                return
        if reply.finish is None:
            reply.error = "half a stream" if not ended else "unfinished"

    async def _either(self, new: str, old: str) -> dict[str, Any]:
        """The answer of an endpoint that had another name before."""
        for path in (new, old):
            status, body = await self._ask("GET", path)
            if status == 404:
                continue
            if status in (401, 403):
                raise UsageError("the server wants a key: set FORENSICS_REPLAY_KEY")
            try:
                found = json.loads(body) if status == 200 else None
            except (ValueError, RecursionError):
                found = None
            if isinstance(found, dict):
                return found
            break
        raise Nonsense(f"the server does not answer {new} as SGLang does")

    async def _order(self, path: str, body: Mapping[str, Any]) -> None:
        status, _ = await self._ask("POST", path, body)
        if status != 200:
            raise Nonsense(f"the server refused {path} (status {status})")

    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> tuple[int, bytes]:
        httpx = _httpx()
        more: dict[str, Any] = {} if body is None else {"json": dict(body)}
        try:
            async with self._client.stream(method, path, extensions=self._tls(), **more) as answer:
                if answer.is_redirect:
                    raise Nonsense("the server redirects; redirects are not followed")
                _check_head(answer)
                return answer.status_code, await _whole(answer)
        except (httpx.HTTPError, httpx.InvalidURL):
            raise Gone from None

    def _tls(self) -> dict[str, Any]:
        return {"sni_hostname": self.address.name} if self.address.base.startswith("https") else {}


class _Bounded:
    """A response whose text is no longer than MOST_BYTES, for the reader of events."""

    def __init__(self, answer: httpx.Response) -> None:
        self.headers = answer.headers
        self._answer = answer

    async def aiter_text(self) -> AsyncIterator[str]:
        read = 0
        async for piece in self._answer.aiter_text():
            read += len(piece)
            if read > MOST_BYTES:
                raise Nonsense("too long")
            yield piece


async def _whole(answer: httpx.Response) -> bytes:
    pieces = bytearray()
    async for piece in answer.aiter_bytes():
        pieces += piece
        if len(pieces) > MOST_BYTES:
            raise Nonsense("too long")
    return bytes(pieces)


def _check_head(answer: httpx.Response) -> None:
    if answer.headers.get("content-encoding", "identity").strip().lower() not in ("", "identity"):
        raise Nonsense("compressed")


def _refusal(body: bytes) -> str:
    """Why a request was refused, in a word of ours."""
    return "duplicate id" if b"uplicate request ID" in body else "refused"


def _told_of(reply: Reply) -> Callable[[str, Any], Awaitable[None]]:
    """Told by httpx of each step of a request; notes when all of it was sent."""

    async def told(event: str, _: Any) -> None:
        if event.endswith("send_request_body.complete"):
            reply.sent.set()

    return told


def _plain(value: Any) -> bool:
    return value is None or isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= 200)


def _httpx() -> Any:
    try:
        import httpx
    except ImportError:
        raise MissingInput(
            "a replay needs the packages httpx and httpx-sse: pip install 'leak-forensics[replay]'"
        ) from None
    return httpx
