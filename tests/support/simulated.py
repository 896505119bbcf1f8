"""A simulated incident read back from its files alone, with code that shares nothing with the simulator."""

from __future__ import annotations

import csv
import json
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from forensics.simulate.parameters import Parameters

SMALL = Parameters(
    seed=7, tenants=24, requests=500, workers=3, leaks=30, ambiguous=2, undetermined=4, long_prompt_chars=1500
)


@dataclass
class Exchange:
    """One request as the logs show it. Times are ISO strings, which sort."""

    rid: str
    tenant: str
    prompt: str
    fields: dict[str, str]
    received: str
    finished: str | None


@dataclass
class Incident:
    """A simulation read back."""

    folder: Path
    exchanges: dict[str, Exchange]
    truth: list[dict]
    lookalikes: list[dict]
    organisations: dict[str, str]


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_bytes().split(b"\n") if line]


def read_back(folder: Path) -> Incident:
    exchanges: dict[str, Exchange] = {}
    house = folder / "logs" / "requests.jsonl"
    if house.exists():
        for record in lines(house):
            fields = {}
            for number, choice in enumerate(record.get("response", {}).get("choices", [])):
                message = choice["message"]
                if message["content"] is not None:
                    fields[f"choices[{number}].content"] = message["content"]
                if "reasoning_content" in message:
                    fields[f"choices[{number}].reasoning"] = message["reasoning_content"]
                for place, call in enumerate(message.get("tool_calls", [])):
                    path = f"choices[{number}].tool_calls[{place}].function.arguments"
                    fields[path] = call["function"]["arguments"]
            prompt = "\n".join(m["content"] or "" for m in record["request"]["messages"])
            exchanges[record["request_id"]] = Exchange(
                record["request_id"], record["tenant_id"], prompt, fields,
                record["timestamp"], record.get("finished_at"),
            )  # fmt: skip
    else:
        tenants = {record["request_id"]: record["tenant_id"] for record in lines(folder / "logs" / "gateway.jsonl")}
        for path in sorted((folder / "logs").glob("*.log")):
            for line in path.read_bytes().decode().split("\n"):
                if not line:
                    continue
                record = json.loads(line[line.index("] ") + 2 :])
                rid = record["rid"]
                if record["event"] == "request.received":
                    exchanges[rid] = Exchange(rid, tenants[rid], record["obj"]["text"], {}, record["timestamp"], None)
                else:
                    exchanges[rid].fields["choices[0].content"] = record["out"]["text"]
                    exchanges[rid].finished = record["timestamp"]
    with (folder / "tenants.csv").open(encoding="utf-8", newline="") as file:
        organisations = {row["key"]: row["organisation"] for row in csv.DictReader(file)}
    return Incident(folder, exchanges, lines(folder / "truth.jsonl"), lines(folder / "lookalikes.jsonl"), organisations)


RUN = 32


def runs(text: str) -> set[str]:
    letters = "".join(c.lower() for c in text if c.isalnum())
    return {letters[at : at + RUN] for at in range(len(letters) - RUN + 1)}


def shared_runs(incident: Incident) -> list[str]:
    """Ids of responses that share an unexplained run with another organisation's prompt or response."""
    holders: dict[str, set[str]] = defaultdict(set)
    known: dict[str, set[str]] = {}
    for exchange in incident.exchanges.values():
        own = incident.organisations[exchange.tenant]
        for text in [exchange.prompt, *exchange.fields.values()]:
            if text not in known:
                known[text] = runs(text)
            for run in known[text]:
                holders[run].add(own)
    spans: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for row in incident.truth:
        spans[(row["response_request_id"], row["field"])].append((row["char_start"], row["char_end"]))
    for row in incident.lookalikes:
        spans[(row["request_ids"][0], row["field"])].append((row["char_start"], row["char_end"]))
    bad = []
    for exchange in incident.exchanges.values():
        own = incident.organisations[exchange.tenant]
        for field, text in exchange.fields.items():
            pieces, reached = [], 0
            for start, end in sorted(spans.get((exchange.rid, field), [])):
                pieces.append(text[reached:start])
                reached = max(reached, end)
            pieces.append(text[reached:])
            if any(holders[run] - {own} for piece in pieces for run in runs(piece)):
                bad.append(exchange.rid)
                break
    return bad
