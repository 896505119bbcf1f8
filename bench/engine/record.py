"""Sends two dozens of requests of five invented tenants to an engine and keeps its request log, with ground truth.

    python serve_with_fault.py --model-path MODEL ... --log-requests --log-requests-level 3 --log-requests-format json \
        --log-requests-target stdout LOGS
    python record.py http://127.0.0.1:30000 LOGS FAULT_LOG OUT

OUT gets `logs/engine.log` (the engine's lines as they are), `logs/gateway.jsonl` (who asked, written by this client),
`tenants.csv` and `truth.jsonl`. Where the response path mixed texts, the fault log says which characters are foreign.
Where the slot was shared, the model only saw foreign text: the truth then has the runs of twelve characters or more
that the answer shares with the source's prompt and with no prompt of its own tenant. Only the standard library.
"""

from __future__ import annotations

import csv
import difflib
import json
import sys
import threading
import time
import urllib.request
from collections import defaultdict
from pathlib import Path
from typing import Any

PEOPLE = {
    "norvik-freight": [
        ("Tilda Haugland", "NO21 6604 1177 905", "17 Granary Quay, 5004 Brevik", "two pallets of frozen cod"),
        ("Bram Achterberg", "NL88 2210 5563 0914", "3 Ferry Row, 3011 Kestwick", "a crate of ship bearings"),
        ("Odile Vasconcelos", "PT50 7731 0045 6628", "41 Lantern Lane, 4000 Pontevico", "nine barrels of olive oil"),
    ],
    "selwyn-clinic": [
        ("Jonas Lindqvist", "case SK-5521-774", "8 Juniper Street, 11122 Orsa", "a torn ligament of the left knee"),
        ("Celia Quintero", "case SK-9034-118", "62 Orchard Lane, 28004 Villarosa", "a penicillin allergy since May"),
        ("Farid Baranski", "case SK-1207-660", "5 Kiln Row, 00950 Jaworzno", "chronic migraine with aura"),
    ],
    "cormack-bank": [
        ("Greta Zimmermann", "DE44 9012 3348 7756", "29 Tannery Street, 10115 Sinzig", "a loan of 48,300 euros"),
        ("Luca Ferraro", "IT60 4471 8829 0035", "7 Millrace Quay, 10015 Ivrea", "three bounced direct debits"),
        ("Anouk Delacroix", "FR76 3390 2217 4408", "90 Saddler Row, 59820 Gravelines", "a frozen savings account"),
    ],
    "quill-legal": [
        ("Pavel Novotny", "file QL-88/1943", "12 Foundry Lane, 70030 Ostrava", "a dispute over a patent on valves"),
        ("Ines Castellanos", "file QL-17/6620", "33 Larkspur Quay, 46001 Malmark", "the sale of a vineyard"),
        ("Edda Thorvaldsen", "file QL-52/0187", "4 Copperfield Row, 101 Rauma", "an unpaid architect's invoice"),
    ],
    "zellen-travel": [
        ("Yann Bellerose", "booking ZT7QX2", "55 Harbour Street, 29200 Novara", "a night train to Lisbon"),
        ("Kaja Nieminen", "booking ZT9PL4", "2 Elmbank Lane, 00100 Hollum", "a cabin on the Fjord Star"),
        ("Rosa Pellegrino", "booking ZT3MM8", "18 Drover Quay, 80121 Lindau", "a bicycle tour along the Danube"),
    ],
}
ASKS = (
    "Repeat the customer's record word for word.",
    "Write one sentence about this customer with name, number and address.",
    "Who is the customer and what is it about? Copy the details.",
)
# Lookalikes: the same public text for two tenants, and the same question.
QUOTE = (
    "It is a truth universally acknowledged, that a single man in possession of a good fortune, must be in want of a "
    "wife."
)
PUBLIC = (("norvik-freight", f"Repeat this sentence: {QUOTE}"), ("quill-legal", f"Repeat this sentence: {QUOTE}"),
          ("cormack-bank", "What is the capital of France?"), ("zellen-travel", "What is the capital of France?"),
          ("selwyn-clinic", "What is the capital of France?"))  # fmt: skip
AT_ONCE = 4
TOKENS = 44


def prompts() -> list[tuple[str, str]]:
    """(tenant, text) in the order of sending: neighbours belong to different tenants."""
    found: list[tuple[str, str]] = []
    for turn in range(3):
        for ask in ASKS[turn : turn + 2] if turn < 2 else ASKS[:1]:
            for tenant, people in PEOPLE.items():
                name, number, address, matter = people[turn]
                record = f"Customer record of {tenant}: {name}, {number}, {address}, concerning {matter}."
                found.append((tenant, f"{record} {ask}"))
        found += PUBLIC[turn * 2 : turn * 2 + 2]
    return found


def ask(url: str, rid: str, text: str) -> tuple[float, float]:
    """Send one request as a stream and read it to its end; when it began and ended, Unix seconds."""
    body = {
        "rid": rid, "text": f"<|im_start|>user\n{text}<|im_end|>\n<|im_start|>assistant\n", "stream": True,
        "sampling_params": {"temperature": 0, "max_new_tokens": TOKENS},
    }  # fmt: skip
    request = urllib.request.Request(f"{url}/generate", json.dumps(body).encode(), {"Content-Type": "application/json"})
    began = time.time()
    with urllib.request.urlopen(request, timeout=600) as answer:
        for _ in answer:
            pass
    return began, time.time()


def send(url: str, wanted: list[tuple[str, str]]) -> list[dict[str, Any]]:
    """Send all, a few at once; gateway records by time of arrival."""
    gate, records, threads = threading.Semaphore(AT_ONCE), [], []

    def one(number: int, tenant: str, text: str) -> None:
        with gate:
            rid = f"rec-{number:03d}-{tenant.split('-')[0]}"
            began, ended = ask(url, rid, text)
            records.append(
                {
                    "request_id": rid, "tenant_id": tenant, "timestamp": stamp(began), "finished_at": stamp(ended),
                    "model": "smollm2", "stream": True, "status": 200,
                }
            )  # fmt: skip

    for number, (tenant, text) in enumerate(wanted):
        threads.append(threading.Thread(target=one, args=(number, tenant, text)))
        threads[-1].start()
        time.sleep(1)
    for thread in threads:
        thread.join()
    return sorted(records, key=lambda record: record["timestamp"])


def stamp(seconds: float) -> str:
    """ISO time in UTC."""
    whole = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds))
    return f"{whole}.{int(seconds % 1 * 1e6):06d}Z"


def truth(engine: Path, faults: Path, gateway: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Rows of truth.jsonl from the fault log and the engine's own lines."""
    tenant = {record["request_id"]: record["tenant_id"] for record in gateway}
    prompt, answer = {}, {}
    for line in engine.read_text(encoding="utf-8").split("\n"):
        if '"request.finished"' in line:
            record = json.loads(line[line.index("{") :])
            prompt[record["rid"]] = asked(record["obj"])
            answer[record["rid"]] = record["out"]["text"]
    foreign: dict[tuple[str, str, str], list[tuple[int, int]]] = defaultdict(list)
    read: dict[str, str] = {}  # victim of shared rows -> whose rows the model saw
    for line in faults.read_text(encoding="utf-8").split("\n"):
        if not line:
            continue
        fact = json.loads(line)
        victim, source = fact["victim"], fact["source"]
        if fact["fault"] == "rows":
            read[victim] = source
        if tenant[victim] == tenant[source] or prompt[victim] == prompt[source]:
            continue  # the same question has the same answer, whoever it was given to
        if fact["fault"] == "streams":
            foreign[(victim, source, fact["way"])].append((fact["start"], fact["end"]))
        else:
            own = "\n".join(text for rid, text in prompt.items() if tenant[rid] == tenant[victim])
            for start, end in runs(answer[victim], prompt[source], own):
                foreign[(victim, source, f"rows-{start}")].append((start, end))
    rows = []
    for (victim, source, way), spans in foreign.items():
        pieces = joined(spans)
        start, end = trimmed(answer[victim], pieces[0][0], pieces[-1][1])
        whole = way == "swap" and end - start > 0.9 * len(answer[victim].strip())
        kind = "whole_response" if whole else "altered" if len(pieces) > 1 else "verbatim"
        # What was handed on may itself hold a third tenant's text: the model had read that one's rows.
        third = {tenant[read[source]]} - {tenant[source], tenant[victim]} if source in read else set()
        label = {"swap": "engine/swapped", "mix": "engine/mixed"}.get(way, "engine/rows")
        rows.append(
            {
                "response_request_id": victim, "field": "choices[0].content", "char_start": start, "char_end": end,
                "source_request_id": source, "source_tenant_id": tenant[source],
                "source_field": "prompt" if way.startswith("rows") else None if way == "swap" else "response",
                "kind": kind, "altered": len(pieces) > 1, "ambiguous_with": sorted(third), "equivalent_sources": [],
                "response_tenant_id": tenant[victim], "class": label, "language": "en",
                "source_chars": sum(high - low for low, high in pieces),
                "pieces": [list(piece) for piece in pieces] if len(pieces) > 1 else [], "chain": None,
            }
        )  # fmt: skip
    return sorted(rows, key=lambda row: (row["response_request_id"], row["char_start"]))


def asked(body: dict[str, Any]) -> str:
    """The prompt of a logged request."""
    return str(body.get("text") or "")


def runs(text: str, source: str, own: str) -> list[tuple[int, int]]:
    """Runs of `text`, twelve characters or more, that stand in `source` and not in `own`."""
    blocks = difflib.SequenceMatcher(None, text, source, autojunk=False).get_matching_blocks()
    found = []
    for block in blocks:
        start, end = trimmed(text, block.a, block.a + block.size)
        if end - start >= 12 and text[start:end] not in own:
            found.append((start, end))
    return found


def joined(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Spans in order, neighbours made one."""
    made: list[tuple[int, int]] = []
    for low, high in sorted(spans):
        if made and low <= made[-1][1]:
            made[-1] = (made[-1][0], max(high, made[-1][1]))
        else:
            made.append((low, high))
    return made


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without spaces at its ends."""
    end = min(end, len(text))
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end


def main(url: str, logs: Path, faults: Path, out: Path) -> None:
    gateway = send(url, prompts())
    time.sleep(2)
    (out / "logs").mkdir(parents=True)
    lines = [line for path in sorted(logs.glob("*")) for line in path.read_text(encoding="utf-8").split("\n") if line]
    engine = out / "logs" / "engine.log"
    engine.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    (out / "logs" / "gateway.jsonl").write_text("".join(json.dumps(r) + "\n" for r in gateway), encoding="utf-8")
    with (out / "tenants.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("key", "tenant"))
        writer.writerows((tenant, tenant) for tenant in sorted(PEOPLE))
    rows = truth(engine, faults, gateway)
    (out / "truth.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]))
