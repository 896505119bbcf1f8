"""What the lines of a vLLM text log say: prefixes, messages, ids. Remembers nothing from line to line.

A message is read by its words, never by the source file in its prefix, which moves from release to release.
"""

from __future__ import annotations

import json
import re
from typing import Any

from forensics.ingest import counts
from forensics.ingest.python_repr import ReprError, parse_value
from forensics.ingest.record import EngineEvent, FileContext, Text

# `(EngineCore_DP0 pid=42) ` stands first since about 0.10.2; Ray and multi-process workers add a rank or an address.
PROCESS = rb"\(([A-Za-z_]\w{0,60})(?: \w{1,20}=\d{1,9})? pid=\d{1,10}(?:, ip=[\w.:]{1,60})?\) "
PREFIX = re.compile(
    rb"(?:" + PROCESS + rb")?(?:DEBUG|INFO|WARNING|ERROR|CRITICAL|TRACE) (\d\d-\d\d \d\d:\d\d:\d\d) "
    rb"\[?[\w./<>-]{1,200}:\d{1,7}\] ?"
)
# Lines of the web server, of workers' own output, and of a message without any prefix.
OTHER = re.compile(rb"(?:INFO|WARNING|ERROR|DEBUG): {1,8}\S|" + PROCESS)
MESSAGE = re.compile(
    rb"Received request \S{1,512}: p(?:rompt|arams): |Request \S{1,512} (?:details: prompt|JSON body): |"
    rb"Generated response \S{1,512}(?: \(streaming (?:delta|complete)\))?(?:: output: | details: output_token_ids: )|"
    rb"(?:Added|Finished) request \S{1,512}\.$|Aborted request(?:\(s\))? \S{1,65536}\.$|"
    rb"(?:Engine \d+: |\d+ Engines Aggregated: )?(?:Avg prompt throughput: |Iteration\(\d+\): )|"
    rb"Prefix cache hit rate: GPU: "
)
RECEIVED = re.compile(r"Received request (\S{1,512}?): (?=p(?:rompt|arams): )")
DETAILS = re.compile(r"Request (\S{1,512}?) details: (?=prompt: )")
BODY = re.compile(r"Request (\S{1,512}?) JSON body: (?=\{)")
GENERATED = re.compile(r"Generated response (\S{1,512}?)( \(streaming delta\)| \(streaming complete\))?: (?=output: )")
TOKEN_IDS = re.compile(r"Generated response \S{1,512}?(?: \(streaming (?:delta|complete)\))? details: ")
ENDED = re.compile(r"(Added|Finished|Aborted) request(?:\(s\))? (\S+)\.$")
STATISTICS = re.compile(
    r"(?:Engine (\d{1,6}): |(\d{1,6}) Engines Aggregated: )?"
    r"(?:Iteration\((\d{1,18})\): |(?=Avg prompt throughput: )|Prefix cache hit rate: (?=GPU: ))(.*)",
    re.S,
)
PREEMPTED = re.compile(r"Sequence group (\S{1,512}) is preempted by ")
LOG_LIMIT = re.compile(r"""['"]?max_log_len['"]?\s{0,2}[=:]\s{0,2}(\d{1,9})\b""")
MARKER = re.compile(r"<streaming_complete: (\d{1,9}) tokens>")
RANK = re.compile(r"_DP(\d{1,5})")
_NAME = re.compile(r"([a-z_]+(?: shape)?): ")
_EXTERNAL = re.compile(r"(?:chatcmpl-|cmpl-|resp_|embd-|score-|pool-)(.+)", re.S)
_PROMPT_NUMBER = re.compile(r"(cmpl-.+)-(\d{1,6})", re.S)
_TOOL_CALLS = "[tool_calls: "
_TOOL_NAME = re.compile(r"([\w.:/-]{1,256})\(")
_DECODER = json.JSONDecoder(strict=False)


def fields(text: str, position: int) -> tuple[dict[str, Any], bool]:
    """`name: value, name: value` from `position`, and whether the list was read to its end."""
    found: dict[str, Any] = {}
    end = len(text)
    try:
        while position < end:
            name = _NAME.match(text, position)
            if name is None:
                return found, False
            value, position = parse_value(text, name.end())
            found[name.group(1)] = value
            if text.startswith(", ", position):
                position += 2
            elif position < end:
                return found, False
    except (ReprError, RecursionError):
        return found, False
    return found, True


def external_ids(request_id: str) -> dict[str, str]:
    """The ids by which a client or gateway may know an engine's request: the response's, and the header's."""
    ids: dict[str, str] = {}
    numbered = _PROMPT_NUMBER.fullmatch(request_id)
    whole = numbered.group(1) if numbered else request_id
    if numbered:
        ids["response_id"] = whole
    external = _EXTERNAL.fullmatch(whole)
    if external:
        ids["x-request-id"] = external.group(1)
    return ids


def prompt_number(request_id: str) -> int:
    """The place of a completion request's prompt among those of its call."""
    numbered = _PROMPT_NUMBER.fullmatch(request_id)
    return int(numbered.group(2)) if numbered else 0


def spellings(engine_id: str) -> list[str]:
    """What the front end may call the request that the engine calls `engine_id`, the likeliest first.

    Since 0.14 the engine adds `-` and eight hex digits; the children of n > 1 have their number before it.
    """
    whole = re.sub(r"_parallel_sample_\d{1,6}$", "", engine_id)
    parent = re.sub(r"^\d{1,6}_", "", whole)
    found = [engine_id, whole, parent]
    found += [re.sub(r"-[0-9a-f]{8}$", "", name) for name in (whole, parent)]
    return list(dict.fromkeys(found))


def answer(text: str, choice: int, texts: list[Text]) -> None:
    """Append the texts of one printed answer. Tool calls are printed as `[tool_calls: name(arguments), ...]`."""
    if text.startswith(_TOOL_CALLS) and text.endswith(")]"):
        calls = _tool_calls(text)
        for j, (name, arguments) in enumerate(calls):
            path = f"choices[{choice}].tool_calls[{j}].function"
            texts.append(("response", f"{path}.name", "response", name))
            if arguments:
                texts.append(("response", f"{path}.arguments", "response", arguments))
        if calls:
            return
    if text:
        texts.append(("response", f"choices[{choice}].content", "response", text))


def _tool_calls(text: str) -> list[tuple[str, str]]:
    """Names and arguments; nothing where the text is not wholly such a list, since an answer may look like one."""
    position = len(_TOOL_CALLS)
    calls: list[tuple[str, str]] = []
    while True:
        name = _TOOL_NAME.match(text, position)
        if name is None:
            return []
        start = name.end()
        if text.startswith(")", start):
            stop = start
        else:
            try:
                _, stop = _DECODER.raw_decode(text, start)
            except (ValueError, RecursionError):
                return []
        calls.append((name.group(1), text[start:stop]))
        if text[stop:] == ")]":
            return calls
        if not text.startswith("), ", stop):
            return []
        position = stop + 3


def statistics(message: str, at: int | None, rank: int | None, context: FileContext) -> EngineEvent | None:
    """The event of a line of averages or of one iteration, or None."""
    match = STATISTICS.match(message)
    if match is None:
        return None
    engine, engines, iteration, rest = match.groups()
    kind = "iteration" if iteration is not None else "batch_counts"
    if message.startswith("Prefix cache hit rate"):
        kind = "prefix_cache"
    event = EngineEvent(kind, at, context.worker or context.source, counts=counts.listed(rest.removesuffix(".")))
    event.iteration = int(iteration) if iteration is not None else None
    if engine is not None:
        event.attributes["engine"] = int(engine)
    if engines is not None:
        event.attributes["engines"] = int(engines)
    if rank is not None:
        event.attributes["dp_rank"] = rank
    return event
