"""Addresses, answers and servers: what is refused, what is read, in the words of the releases."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forensics.case.errors import MissingInput, UsageError
from forensics.replay import bodies
from forensics.replay.address import address
from forensics.replay.client import Client, Gone
from forensics.replay.facts import Facts
from forensics.replay.replies import Nonsense, Reply, take
from forensics.replay.run import Options
from forensics.replay.servers import command, differences, settings, unmet
from forensics.replay.whole import replay
from tests.support.fake_sglang_server import FakeServer
from tests.support.replay_plans import ARMS, RADIX_OFF, RECIPIENT, SOURCE, chat, in_case, plan, request


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer().running() as running:
        yield running


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.8:30000", "http://192.0.2.1", "https://[2001:db8::1]:443", "http://0.0.0.0:30000",
        "http://169.254.1.1:80",
    ],
)  # fmt: skip
def test_another_machine_is_refused_unless_it_is_allowed(url: str) -> None:
    with pytest.raises(UsageError, match="allow-remote"):
        address(url)
    assert address(url, allow_remote=True).base == address(url, allow_remote=True).shown


def test_a_name_is_looked_up_once_and_all_its_addresses_count(monkeypatch: pytest.MonkeyPatch) -> None:
    def found(*addresses: str) -> Any:
        return lambda *_, **__: [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, 80)) for one in addresses]

    monkeypatch.setattr(socket, "getaddrinfo", found("127.0.0.1"))
    one = address("http://engine.example:8000/prefix/")
    assert (one.base, one.host) == ("http://127.0.0.1:8000/prefix", "engine.example:8000")
    monkeypatch.setattr(socket, "getaddrinfo", found("127.0.0.1", "198.51.100.7"))
    with pytest.raises(UsageError, match="allow-remote"):
        address("http://engine.example:8000")


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1",
        "127.0.0.1:30000",
        "http://",
        "http://u:p@127.0.0.1",
        "http://127.0.0.1/?a=b",
        "http://127.0.0.1:x",
    ],
)
def test_what_is_no_url_of_a_server(url: str) -> None:
    with pytest.raises(UsageError, match="--server"):
        address(url)


def test_a_name_that_nobody_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(MissingInput, match="resolved"):
        address("http://engine.example")


def test_the_environments_proxy_is_not_used(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")

    async def ask() -> Facts:
        async with Client(address(server.url)) as client:
            return await client.facts()

    facts = asyncio.run(ask())
    assert facts.version == "0.5.23" and "api_key" not in facts.flags and facts.release == (0, 5, 23)


def test_nobody_there() -> None:
    async def ask() -> None:
        async with Client(address("http://127.0.0.1:9")) as client:
            assert not await client.alive()
            with pytest.raises(Gone):
                await client.exchange("/generate", {}, Reply())

    asyncio.run(ask())


def test_scores_are_those_of_the_tokens_asked_for(server: FakeServer) -> None:
    async def ask() -> None:
        async with Client(address(server.url)) as client:
            assert await client.score([5, 6, 7, 5, 8], 3) == [(-0.1, 5), (-9.0, 8)]
            with pytest.raises(ValueError, match="token 1"):
                await client.score([1, 2], 0)

    asyncio.run(ask())
    body = server.seen[-1][1]
    assert body["logprob_start_len"] == 2 and body["sampling_params"]["max_new_tokens"] == 0


def test_an_empty_id_is_never_aborted() -> None:
    async def ask() -> None:
        async with Client(address("http://127.0.0.1:9")) as client:
            await client.abort("")

    with pytest.raises(ValueError, match="every request"):
        asyncio.run(ask())


@pytest.mark.parametrize(
    ("found", "text", "finish"),
    [
        ({"text": "a", "meta_info": {"finish_reason": {"type": "stop"}, "cached_tokens": 3}}, "a", "stop"),
        ({"text": "a", "meta_info": {"finish_reason": "length"}}, "a", "length"),
        ([{"text": "a", "meta_info": {}}, {"text": "b", "meta_info": {"finish_reason": {"type": "stop"}}}], "a\nb", "stop"),
        ({"choices": [{"index": 0, "text": "a", "finish_reason": "stop"}]}, "a", "stop"),
        (
            {"choices": [{"message": {"reasoning_content": "r", "content": None, "tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]}, "finish_reason": "tool_calls"}]},
            "rf{}", "tool_calls",
        ),
    ],
)  # fmt: skip
def test_answers_are_read(found: Any, text: str, finish: str) -> None:
    reply = Reply()
    take(found, reply)
    assert (reply.text, reply.finish, reply.error) == (text, finish, "")


@pytest.mark.parametrize(
    "found", [5, "text", {}, {"text": 4}, {"choices": {}}, {"choices": [3]}, [3], {"text": "", "meta_info": []}]
)
def test_what_is_no_answer(found: Any) -> None:
    with pytest.raises(Nonsense):
        take(found, Reply())


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                "text meta_info choices error index delta message finish_reason type usage content tool_calls function "
                "name arguments prompt_tokens prompt_tokens_details cached_tokens completion_tokens".split()
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)


@given(_JSON, st.booleans(), st.booleans())
def test_whatever_a_server_sends_is_an_answer_or_nonsense(found: Any, piece: bool, incremental: bool) -> None:
    reply = Reply()
    try:
        take(found, reply, piece=piece, incremental=incremental)
    except Nonsense as error:
        assert str(error) == "nonsense"
    assert isinstance(reply.text, str)
    assert all(isinstance(n, int | None) for n in (reply.prompt_tokens, reply.completion_tokens, reply.cached_tokens))


def test_streams_are_whole_or_piece_by_piece() -> None:
    whole, pieces, chosen = Reply(), Reply(), Reply()
    for text in ("a", "ab", "abc"):
        take({"text": text, "meta_info": {}}, whole, piece=True)
    for text in "abc":
        take({"text": text, "meta_info": {}}, pieces, piece=True, incremental=True)
        take({"choices": [{"index": 0, "delta": {"content": text}}]}, chosen, piece=True)
    take({"error": {"message": "x"}}, chosen, piece=True)
    assert whole.text == pieces.text == chosen.text == "abc" and chosen.error == "error in the stream"


def test_bodies_are_those_of_the_release() -> None:
    texts = {"t0002": "hello"}
    salted = request(RECIPIENT, cache_salt="ab", extra_key="c", sampling={"temperature": 0.7, "min_new_tokens": 2})

    def body(version: str, one: Any = salted) -> dict[str, Any]:
        return bodies.body(one, texts, "id-1", 9, Facts(version, "m", {}))[1]

    assert body("0.5.23")["cache_salt"] == "ab" and body("0.5.23")["extra_key"] == "c"
    assert body("0.5.15")["extra_key"] == "abc" and "cache_salt" not in body("0.5.15")
    assert not {"extra_key", "cache_salt"} & body("0.4.6").keys()
    assert body("0.5.23")["sampling_params"] == {
        "temperature": 0.7,
        "min_new_tokens": 2,
        "sampling_seed": 9,
        "max_new_tokens": 12,
    }
    assert "sampling_seed" not in body("0.4.9")["sampling_params"]
    path, found = bodies.body(
        chat(RECIPIENT, cache_salt="ab", sampling={"temperature": 1}), texts, "i", 9, Facts("0.5.6", "m", {})
    )
    assert path == "/v1/chat/completions" and found["seed"] == 9 and found["cache_salt"] == "ab"
    assert (
        found["messages"] == [{"role": "user", "content": "hello"}]
        and found["max_tokens"] == 12
        and found["model"] == "m"
    )


def test_ids_are_new_for_each_trial_and_none_begins_another() -> None:
    made = plan()
    ids = [one for a in made.arms for t in range(4) for one in bodies.request_ids(made, a, t).values()]
    assert len(set(ids)) == len(ids)
    assert not [(a, b) for a in ids for b in ids if a != b and b.startswith(a)]
    assert not {one.rid for one in made.requests} & set(ids)


def test_flags_and_what_a_server_says() -> None:
    facts = Facts(
        "0.5.23", "m", {"disable_radix_cache": False, "chunked_prefill_size": None, "max_running_requests": 2}
    )
    assert settings(("--disable-radix-cache", "--page-size", "1", "--x=3")) == {
        "disable_radix_cache": True,
        "page_size": "1",
        "x": "3",
    }
    assert unmet(facts, ("--disable-radix-cache",)) == ("--disable-radix-cache",)
    assert unmet(facts, ("--chunked-prefill-size", "-1", "--max-running-requests", "2")) == ()
    assert unmet(facts, ("--unheard-of",)) == ("--unheard-of",)
    from forensics.replay.plan import Engine

    other = plan(engine=Engine("sglang", "0.5.20", {"max_running_requests": "8", "disable_radix_cache": "false"}))
    assert differences(facts, other) == (
        "the incident's engine was release 0.5.20, this server is 0.5.23",
        "max_running_requests differs from the incident's engine",
    )


@pytest.mark.parametrize(
    "template", ["serve", "serve --port {port}", "serve {port} '{flags}", "serve {port} x={flags}"]
)
def test_a_template_without_its_places(template: str) -> None:
    with pytest.raises(UsageError, match="--server-template"):
        command(template, ("--a",), 1)


def test_a_template_is_run_without_a_shell() -> None:
    assert command("serve --port {port} {flags} '; rm -rf $HOME'", ("--a", "b c"), 7) == [
        "serve", "--port", "7", "--a", "b c", "; rm -rf $HOME",
    ]  # fmt: skip


TEMPLATE = f"{sys.executable} -m tests.support.fake_sglang_server --fault slot --port {{port}} {{flags}}"


def test_servers_of_our_own_are_started_for_their_arms_and_stopped(tmp_path: Path) -> None:
    requests = (
        request(SOURCE, stream=True, abort_ms=8, abort_tokens=3, max_new_tokens=13),
        request(RECIPIENT, at_ms=60, after=(SOURCE,)),
        *plan().requests[2:],
    )
    path = in_case(tmp_path / "case", plan(requests, (*ARMS, RADIX_OFF), trials=3))
    found = replay(path, Options(template=TEMPLATE, trials=3, seconds=5.0))
    arms = {one.name: one for one in found.verdicts[0].arms}
    assert arms["radix_off"].trials == 3 and arms["radix_off"].hits == 0 and arms["original"].trials == 3
    logs = sorted(one.name for one in (tmp_path / "case").glob("restricted/replay/*/server-*.log"))
    assert logs == ["server-0.log", "server-1.log"]


def test_a_server_that_does_not_keep_its_flags_is_not_used(tmp_path: Path) -> None:
    path = in_case(tmp_path / "case", plan(arms=(RADIX_OFF,)))
    found = replay(path, Options(template=f"{TEMPLATE} --ignores", seconds=5.0))
    (reason,) = {one.skipped for one in found.verdicts[0].arms}
    assert reason == "the server that was started does not have --disable-radix-cache by its own word"
    found = replay(path, Options(template="/bin/false {port} {flags}", seconds=5.0))
    assert "did not start" in str(found.verdicts[0].arms[0].skipped)
    found = replay(path, Options(template="/no/such {port} {flags}", seconds=5.0))
    assert "cannot be run" in str(found.verdicts[0].arms[0].skipped)
