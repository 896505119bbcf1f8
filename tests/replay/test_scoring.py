"""Scoring against a server that speaks the protocol and has a model of its own: a word is likely where the prompt has it."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("httpx", reason="the extra `replay` is not installed")
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))

import pyarrow as pa
from case_builder import CaseBuilder

from forensics.case.errors import MissingInput, UsageError
from forensics.case.explain import explain
from forensics.case.store import Case
from forensics.replay.address import address
from forensics.replay.client import Client
from forensics.replay.replies import Nonsense
from forensics.replay.scoring import Parameters, score

SECRET = "Goran Solberg file CO 4818 at Copperfield Row about a crate of tiles"


class Model(BaseHTTPRequestHandler):
    """Tokens are words. A word that stands in the prompt costs 0.25 nats, any other 5."""

    words: dict[str, int]
    asked: list[tuple[str, Any]]

    def log_message(self, *_: object) -> None:
        pass

    def do_GET(self) -> None:
        self._send({"version": "0.5.23", "model_path": "toy", "served_model_name": "toy"})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked.append((self.path, body))
        if self.path == "/tokenize":
            text = body["prompt"] if "prompt" in body else " ".join(one["content"] for one in body["messages"])
            self._send({"tokens": [self.words.setdefault(word, len(self.words)) for word in text.split()]})
        elif self.path == "/generate":
            ids, first = body["input_ids"], body["logprob_start_len"]
            prompt = set(ids[: first + 1])
            rows = [[None, ids[first], None]]
            rows += [[-0.25 if token in prompt else -5.0, token, None] for token in ids[first + 1 :]]
            self._send({"text": "", "meta_info": {"input_token_logprobs": rows}})
        else:
            self._send({})

    def _send(self, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


@pytest.fixture
def server() -> Iterator[tuple[str, list[tuple[str, Any]]]]:
    model = type("Handler", (Model,), {"words": {}, "asked": []})
    with ThreadingHTTPServer(("127.0.0.1", 0), model) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}", model.asked
        running.shutdown()
        thread.join()


def written(root: Path, others: int, output: list[int] | None = None) -> Case:
    builder = CaseBuilder()
    source = builder.request("s", "one", 0, 5, prompt=f"Repeat the record: {SECRET} now")
    response = f"Well then it is {SECRET} as they say"
    victim = builder.request("v", "two", 6, 9, prompt="Well then as they say it is fine", response=response)
    for number in range(others):
        builder.request(f"o{number}", f"t{number}", 10 + number, 11 + number, prompt=f"Repeat the record: {number} now")
    start = response.index(SECRET)
    builder.fragment("F-leak", victim, start, start + len(SECRET), ["one"], [(source, "prompt")])
    case = builder.write(root)
    if output is not None:
        rows = {
            "record_settings": [{"record": 0, "sampling": None, "output_ids": output}],
            "request_settings": [{"key": victim, "sampling": None, "output": 0}],
        }
        for table, made in rows.items():
            case.append(table, pa.Table.from_pylist(made, schema=case.table(table).schema))
    return case


def test_the_true_source_is_told_from_the_recipients_own_words(tmp_path: Path, server: Any) -> None:
    url, asked = server
    with written(tmp_path / "case", 99) as case:
        (found,) = score(case, Parameters(reason="asked"), address(url))
        result = json.loads((case.root / "out" / "likelihood.json").read_bytes())
        log = (case.root / "custody.jsonl").read_text(encoding="utf-8")
        said = explain(case, "F-leak").likelihood
    assert said is not None
    assert said.startswith("the prompt of s explains tokens 4 to 17 of ")
    assert said.endswith("p 0.01: this speaks for the source")
    assert found.likelihood is not None
    assert (found.likelihood.finding, found.basis, found.likelihood.rank) == ("supports", "text", 1)
    # Four words of its own, then the thirteen of the record, three of which (a, of, it ...) any prompt could hold.
    assert (found.likelihood.part.start, found.likelihood.part.end) == (4, 4 + len(SECRET.split()))
    assert found.likelihood.part.total == pytest.approx(4.75 * len(SECRET.split()))
    assert found.likelihood.p_value == pytest.approx(0.01)
    (row,) = result["fragments"]
    assert (row["source_request_id"], row["finding"], row["model"]) == ("s", "supports", "toy")
    assert SECRET not in json.dumps(result)
    assert "asked" in log and "F-leak" in log and "Solberg" not in log
    generated = [body for path, body in asked if path == "/generate"]
    assert all(body["sampling_params"]["max_new_tokens"] == 0 for body in generated)
    assert asked[-1][0] == "/flush_cache"


def test_with_few_others_nothing_is_concluded(tmp_path: Path, server: Any) -> None:
    with written(tmp_path / "case", 20) as case:
        (found,) = score(case, Parameters(reason="asked"), address(server[0]))
    assert found.likelihood is not None
    assert (found.likelihood.finding, found.likelihood.p_value, found.likelihood.wrong) == ("not_assessed", None, 20)
    assert found.likelihood.margin == pytest.approx(found.likelihood.part.total)


def test_logged_tokens_are_scored_and_not_the_text(tmp_path: Path, server: Any) -> None:
    url, asked = server
    with written(tmp_path / "case", 3, output=[900, 901, 902]) as case:
        (found,) = score(case, Parameters(reason="asked"), address(url))
    assert found.basis == "logged"
    assert found.likelihood is not None
    assert found.likelihood.tokens == 3
    assert all(body["input_ids"][-3:] == [900, 901, 902] for path, body in asked if path == "/generate")


def test_scoring_again_replaces_what_was_there(tmp_path: Path, server: Any) -> None:
    with written(tmp_path / "case", 3) as case:
        for _ in range(2):
            score(case, Parameters(reason="asked"), address(server[0]))
        assert case.count("likelihoods") == 1


def test_originals_need_a_reason_and_a_server(tmp_path: Path) -> None:
    with written(tmp_path / "case", 1) as case:
        with pytest.raises(UsageError, match="--reason"):
            score(case, Parameters(), address("http://127.0.0.1:9"))
        with pytest.raises(MissingInput, match="no server answers"):
            score(case, Parameters(reason="asked"), address("http://127.0.0.1:9"))


def test_no_text_stays_in_the_servers_cache_whatever_comes(
    tmp_path: Path, server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def nonsense(*_: Any) -> None:
        raise Nonsense("nonsense")

    monkeypatch.setattr(Client, "score", nonsense)
    url, asked = server
    with written(tmp_path / "case", 1) as case, pytest.raises(UsageError, match="can score"):
        score(case, Parameters(reason="asked"), address(url))
    assert asked[-1][0] == "/flush_cache"
