"""Reference writers of the wrappers, after their formats' descriptions; they share no code with what peels.

Each takes log lines (bytes without a line feed) and returns what the collector's file would hold, as bytes.
"""

from __future__ import annotations

import csv
import io
import json
import random
from collections.abc import Callable, Sequence

SECOND = 1_772_600_767  # 2026-03-04T05:06:07Z
NANO = ".123456789Z"
STAMP = "2026-03-04T05:06:07" + NANO


def compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def docker_records(line: bytes, stream: str, buffer: int = 16 * 1024) -> list[str]:
    """Docker reads into a buffer of 16 KiB; a full one without a line feed is a record without one."""
    raw = line + b"\n"
    records = []
    while b"\n" not in raw[:buffer]:
        records.append(raw[:buffer])
        raw = raw[buffer:]
    records.append(raw)
    # Each byte that is no UTF-8 becomes U+FFFD.
    texts = ["".join(_runes(record)) for record in records]
    return [compact({"log": text, "stream": stream, "time": STAMP}) for text in texts]


def _runes(data: bytes) -> list[str]:
    found = []
    at = 0
    while at < len(data):
        for size in (1, 2, 3, 4):
            try:
                found.append(data[at : at + size].decode())
            except UnicodeDecodeError:
                continue
            at += size
            break
        else:
            found.append("\ufffd")
            at += 1
    return found


def cri_records(line: bytes, stream: str, chance: random.Random) -> list[bytes]:
    cuts = sorted(chance.randrange(len(line) + 1) for _ in range(chance.choice((0, 0, 1, 3))))
    parts = [line[a:b] for a, b in zip([0, *cuts], [*cuts, len(line)], strict=True)]
    tags = ["P"] * (len(parts) - 1) + ["F"]
    return [f"{STAMP} {stream} {tag} ".encode() + part for part, tag in zip(parts, tags, strict=True)]


def interleaved(queues: list[list[bytes]], chance: random.Random) -> list[bytes]:
    """The records of several streams in a random order that keeps each stream's own."""
    left = [list(queue) for queue in queues if queue]
    found = []
    while left:
        queue = chance.choice(left)
        found.append(queue.pop(0))
        left = [one for one in left if one]
    return found


def joined(records: Sequence[bytes | str]) -> bytes:
    return b"".join((record.encode() if isinstance(record, str) else record) + b"\n" for record in records)


def docker(lines: Sequence[bytes]) -> bytes:
    return joined([record for line in lines for record in docker_records(line, "stdout")])


def cri(lines: Sequence[bytes]) -> bytes:
    chance = random.Random(len(lines))
    return joined([record for line in lines for record in cri_records(line, "stdout", chance)])


def journal_entry(line: bytes) -> dict[str, object]:
    text: object
    try:
        text = line.decode()
        if not all(character.isprintable() for character in line.decode()):
            text = list(line)
    except UnicodeDecodeError:
        text = list(line)
    return {
        "__REALTIME_TIMESTAMP": str(SECOND * 1_000_000 + 5),
        "_HOSTNAME": "node-1",
        "_SYSTEMD_UNIT": "engine.service",
        "_PID": "77",
        "MESSAGE": text,
    }


def journal_json(lines: Sequence[bytes]) -> bytes:
    return joined([json.dumps(journal_entry(line)) for line in lines])


def journal_pretty(lines: Sequence[bytes]) -> bytes:
    return joined([json.dumps(journal_entry(line), indent="\t") for line in lines])


def journal_text(lines: Sequence[bytes]) -> bytes:
    return joined([b"Mar 04 05:06:07 node-1 engine[77]: " + line for line in lines])


def syslog(lines: Sequence[bytes]) -> bytes:
    return joined([b'<134>1 2026-03-04T05:06:07.123456Z node-1 engine 77 - [x@1 a="b\\"]c"] ' + line for line in lines])


def cloudwatch_lines(lines: Sequence[bytes]) -> bytes:
    return joined([compact({"timestamp": SECOND * 1000, "message": line.decode()}) for line in lines])


def cloudwatch_document(lines: Sequence[bytes]) -> bytes:
    events = [
        {"timestamp": SECOND * 1000, "message": line.decode() + "\n", "ingestionTime": SECOND * 1000} for line in lines
    ]
    return json.dumps({"events": events, "nextForwardToken": "f/1"}, indent=4).encode() + b"\n"


def cloudwatch_subscription(lines: Sequence[bytes]) -> bytes:
    """Firehose puts one object after the other, without a line feed between."""
    records = [
        {
            "messageType": "DATA_MESSAGE",
            "owner": "1",
            "logGroup": "g",
            "logStream": "s",
            "subscriptionFilters": ["f"],
            "logEvents": [{"id": "1", "timestamp": SECOND * 1000, "message": line.decode()}],
        }
        for line in lines
    ]
    return "".join(map(compact, records)).encode() + b"\n"


def insights(lines: Sequence[bytes]) -> bytes:
    rows = [
        [
            {"field": "@timestamp", "value": "2026-03-04 05:06:07.089"},
            {"field": "@message", "value": line.decode()},
            {"field": "@ptr", "value": "x"},
        ]
        for line in lines
    ]
    return json.dumps({"results": rows, "statistics": {}, "status": "Complete"}, indent=4).encode()


def loki_response(lines: Sequence[bytes]) -> bytes:
    """Newest first, as a query answers."""
    values = [[str(SECOND * 10**9 + number), line.decode()] for number, line in enumerate(lines)]
    stream = {"stream": {"pod": "llm-0", "container": "engine"}, "values": values[::-1]}
    return compact({"status": "success", "data": {"resultType": "streams", "result": [stream]}}).encode() + b"\n"


def loki_push(lines: Sequence[bytes]) -> bytes:
    values = [[str(SECOND * 10**9 + number), line.decode(), {"k": "v"}] for number, line in enumerate(lines)]
    return json.dumps({"streams": [{"stream": {"instance": "i"}, "values": values}]}, indent=2).encode()


def logcli(lines: Sequence[bytes]) -> bytes:
    return joined([compact({"labels": {"pod": "p"}, "line": line.decode(), "timestamp": STAMP}) for line in lines])


def elastic_hits(lines: Sequence[bytes]) -> bytes:
    return joined(
        [
            compact(
                {
                    "_index": "logs",
                    "_id": str(n),
                    "_score": 1,
                    "_source": {"@timestamp": STAMP, "message": line.decode()},
                }
            )
            for n, line in enumerate(lines)
        ]
    )


def elastic_response(lines: Sequence[bytes]) -> bytes:
    hits = [
        {
            "_index": "l",
            "_id": str(n),
            "_source": {"@timestamp": STAMP, "event": {"original": line.decode()}, "message": "m"},
        }
        for n, line in enumerate(lines)
    ]
    return json.dumps({"took": 1, "hits": {"total": {"value": 1}, "hits": hits}}, indent=2).encode()


def elastic_bulk(lines: Sequence[bytes]) -> bytes:
    return joined(
        [
            record
            for line in lines
            for record in (
                compact({"index": {"_index": "logs"}}),
                compact({"@timestamp": STAMP, "message": line.decode(), "host": {"name": "h"}}),
            )
        ]
    )


def fluent(lines: Sequence[bytes]) -> bytes:
    return joined(
        [
            compact(
                {
                    "log": line.decode(),
                    "logtag": "F",
                    "stream": "stdout",
                    "time": STAMP,
                    "kubernetes": {"pod_name": "p"},
                }
            )
            for line in lines
        ]
    )


def gcp(lines: Sequence[bytes]) -> bytes:
    entries = [
        {"textPayload": line.decode(), "timestamp": STAMP, "insertId": str(n), "logName": "projects/p/logs/stdout"}
        for n, line in enumerate(lines)
    ]
    return json.dumps(entries, indent=2).encode() + b"\n"


def stamped(lines: Sequence[bytes]) -> bytes:
    return joined([STAMP.encode() + b" " + line for line in lines])


def compose(lines: Sequence[bytes]) -> bytes:
    return joined([b"engine-1  | " + line for line in lines])


def table(lines: Sequence[bytes], delimiter: str = ",", ending: str = "\r\n") -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=ending)
    writer.writerow(["@timestamp", "@message"])
    for line in lines:
        writer.writerow([STAMP, line.decode()])
    return out.getvalue().encode()


Writer = Callable[[Sequence[bytes]], bytes]

# What each writer's file must be peeled by. Those that write texts take no bytes that are no UTF-8.
LINES: dict[str, tuple[Writer, tuple[str, ...]]] = {
    "docker": (docker, ("docker_json",)),
    "cri": (cri, ("kubernetes_cri",)),
    "journal_json": (journal_json, ("journald_json",)),
    "journal_text": (journal_text, ("journald_text",)),
    "syslog": (syslog, ("syslog",)),
    "cloudwatch_lines": (cloudwatch_lines, ("cloudwatch",)),
    "cloudwatch_subscription": (cloudwatch_subscription, ("cloudwatch",)),
    "loki_response": (loki_response, ("loki",)),
    "logcli": (logcli, ("loki",)),
    "elastic_hits": (elastic_hits, ("elastic",)),
    "elastic_bulk": (elastic_bulk, ("elastic",)),
    "fluent": (fluent, ("fluent",)),
    "stamped": (stamped, ("stamped",)),
    "compose": (compose, ("stamped",)),
    "table": (table, ("csv_rows", "cloudwatch")),
}
DOCUMENTS: dict[str, tuple[Writer, tuple[str, ...]]] = {
    "journal_pretty": (journal_pretty, ("journald_json",)),
    "cloudwatch_document": (cloudwatch_document, ("cloudwatch",)),
    "insights": (insights, ("cloudwatch",)),
    "loki_push": (loki_push, ("loki",)),
    "elastic_response": (elastic_response, ("elastic",)),
    "gcp": (gcp, ("gcp_logging",)),
}
BYTES = ("cri", "journal_json", "journal_pretty", "journal_text", "syslog", "stamped", "compose")
