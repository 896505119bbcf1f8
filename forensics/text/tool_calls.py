"""Which tools does a raw answer call? Names of tools in the call markup of models that was not parsed.

Where an engine's parser is off, or its raw output is logged, a call stands in the text of the answer in the model's own
markup: GLM and Hermes (`<tool_call>`, Qwen too), Llama and Qwen Coder (`<function=`), `<invoke name=`, Kimi
(`<|tool_call_begin|>`), DeepSeek (`<｜tool▁call▁begin｜>`). Arguments are not looked at. Does not say who offers
a tool.
"""

from __future__ import annotations

import re

import numpy as np
import numpy.typing as npt

from forensics.text.fold import Ints, fold_bytes
from forensics.text.labels import MOST_BYTES, Labels, shown

_NAME = rb"([^\s\"'<>{}()\[\]:|]{1,%d})" % MOST_BYTES
_DEEPSEEK = "<｜tool▁call▁begin｜>".encode()
_CALL = re.compile(
    rb"<tool_call>\s*(?:\{\s*\"name\"\s*:\s*\"" + _NAME + rb"\"|" + _NAME + rb"\s*(?=<|\s|$))"
    rb"|<function=" + _NAME + rb">"
    rb"|<invoke name=\"" + _NAME + rb"\""
    rb"|<\|tool_call_begin\|>\s*(?:functions\.)?" + _NAME + rb":\d"
    rb"|" + _DEEPSEEK + rb"(?:function" + "<｜tool▁sep｜>".encode() + rb")?" + _NAME + rb"(?=[\s<])"
)  # fmt: skip
_SIGNS = (b"<tool_call>", b"<function=", b"<invoke name=", b"<|tool_call_begin|>", _DEEPSEEK)


def called(buffer: npt.NDArray[np.uint8], offsets: Ints, whole: npt.NDArray[np.bool_]) -> Labels:
    """Names of the tools that documents `buffer[offsets[i]:offsets[i + 1]]` (UTF-8) call, in their order.

    Documents that are `whole` are one name each (a call that was parsed). Hashes are those of `labels`; `starts` and
    `ends` are units.
    """
    names: list[bytes] = []
    documents: list[int] = []
    before: list[int] = []
    data = buffer.tobytes()
    # Most logs have no such markup, and this says so at once.
    marked = any(sign in data for sign in _SIGNS)
    for document in range(offsets.size - 1) if marked or bool(whole.any()) else ():
        low, high = int(offsets[document]), int(offsets[document + 1])
        if whole[document]:
            found = [(low, min(high, low + MOST_BYTES))]
        else:
            found = [
                next(match.span(place) for place in range(1, 1 + _CALL.groups) if match.group(place) is not None)
                for match in (_CALL.finditer(data, low, high) if marked else ())
            ]
        place, units = low, 0
        for start, end in found:
            # What stands between the calls is folded once, or an answer of many calls would take their square.
            place, units = start, units + fold_bytes(buffer[place:start]).units.size
            names.append(data[start:end])
            documents.append(document)
            before.append(units)
    ends = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum([len(name) for name in names], dtype=np.int64)])
    every = np.frombuffer(b"".join(names), dtype=np.uint8)
    found_labels = shown(every, ends, np.ones(len(names), dtype=np.bool_))
    rows = found_labels.documents
    shift = np.array(before, dtype=np.int32)[rows] if names else np.zeros(0, dtype=np.int32)
    return Labels(
        found_labels.hashes,
        np.array(documents, dtype=np.int32)[rows] if names else found_labels.documents,
        found_labels.starts + shift,
        found_labels.ends + shift,
    )
