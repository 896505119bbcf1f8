"""The other tools of `peers.py`, each as a function from requests to findings, called as their own pages say.

A finding is a passage of an answer, in code points of it, with the tenant it comes from. What a tool costs is measured
by who calls it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numba
import numpy as np

from forensics.evaluate.records import Finding

FIELD = "choices[0].content"
PIECE, STEP, SCORE = 200, 100, 80.0
SHINGLE, PERMUTATIONS, JACCARD = 5, 128, 0.5


class Document(NamedTuple):
    """One request."""

    request: str
    tenant: str
    prompt: str
    answer: str


Peer = Callable[[list[Document], argparse.Namespace], list[Finding]]


class Missing(Exception):
    """What a peer needs is not on this machine; the message says what."""


def finding(document: Document, start: int, end: int, tenants: set[str]) -> Finding:
    return Finding(document.request, FIELD, start, end, frozenset(tenants), "verbatim", "possible", document.tenant)


def suffix_array(documents: list[Document], arguments: argparse.Namespace) -> list[Finding]:
    """Every run of `--shortest` letters or more of an answer that another tenant's text holds, by suffix array."""
    from pydivsufsort import divsufsort, kasai

    # One string of all texts, each ended by a sign that stands in none (so that no match runs over an end).
    texts = [text for document in documents for text in (document.prompt, document.answer)]
    data = "\0".join(texts).encode("latin-1", "replace") + b"\0"
    order = divsufsort(data)
    shared = kasai(data, order)
    sizes = np.array([len(text) + 1 for text in texts], dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    text_of = np.repeat(np.arange(len(texts)), sizes)[order]
    tenants = sorted({document.tenant for document in documents})
    number = {tenant: place for place, tenant in enumerate(tenants)}
    tenant_of = np.array([number[document.tenant] for document in documents for _ in range(2)], dtype=np.int64)
    ends = starts[text_of + 1] - 1 - order  # letters up to the end of the text
    length = np.minimum(shared, np.minimum(ends, np.append(ends[1:], 0)))  # with the next suffix
    marks = _foreign(order, length, text_of, tenant_of[text_of], len(data), arguments.shortest)
    found = []
    for place, document in enumerate(documents):
        low = int(starts[2 * place + 1])
        part = marks[low : low + len(document.answer)]
        hits = np.flatnonzero(part >= 0)
        if hits.size == 0:
            continue
        for run in np.split(hits, np.flatnonzero(np.diff(hits) > 1) + 1):
            held = Counter(part[run].tolist()).most_common(1)[0][0]
            found.append(finding(document, int(run[0]), int(run[-1]) + arguments.shortest, {tenants[held]}))
    return found


@numba.njit(cache=True)
def _foreign(order: Any, length: Any, text_of: Any, tenant_of: Any, size: int, shortest: int) -> Any:
    """By place of the string: a tenant that holds the `shortest` letters from there too, if an answer's and foreign."""
    marks = np.full(size, -1, dtype=np.int64)
    low = 0
    while low < order.size:
        high = low
        while high + 1 < order.size and length[high] >= shortest:
            high += 1
        if high > low:  # suffixes low to high begin alike
            for i in range(low, high + 1):
                if text_of[i] % 2 == 0:
                    continue
                for j in range(low, high + 1):
                    if tenant_of[j] != tenant_of[i] and text_of[j] % 2 == 0:
                        marks[order[i]] = tenant_of[j]
                        break
        low = high + 1
    return marks


def datasketch(documents: list[Document], arguments: argparse.Namespace) -> list[Finding]:
    from datasketch import MinHash, MinHashLSH

    lsh = MinHashLSH(threshold=JACCARD, num_perm=PERMUTATIONS)
    sets = [[s.encode() for s in shingles(d.prompt)] or [b""] for d in documents]
    for number, sketch in enumerate(MinHash.bulk(sets, num_perm=PERMUTATIONS)):
        lsh.insert(str(number), sketch)
    found = []
    asked = MinHash.bulk([[s.encode() for s in shingles(d.answer)] or [b""] for d in documents], num_perm=PERMUTATIONS)
    for document, sketch in zip(documents, asked, strict=True):
        tenants = {documents[int(n)].tenant for n in lsh.query(sketch)} - {document.tenant}
        if tenants:
            found.append(finding(document, 0, len(document.answer), tenants))
    return found


def rensa(documents: list[Document], arguments: argparse.Namespace) -> list[Finding]:
    from rensa import RMinHash, RMinHashLSH

    lsh = RMinHashLSH(threshold=JACCARD, num_perm=PERMUTATIONS, num_bands=32)

    def sketch(text: str) -> Any:
        made = RMinHash(num_perm=PERMUTATIONS, seed=1)
        made.update(shingles(text))
        return made

    for number, document in enumerate(documents):
        lsh.insert(number, sketch(document.prompt))
    found = []
    for document in documents:
        mine = sketch(document.answer)
        tenants = {documents[n].tenant for n in lsh.query(mine)} - {document.tenant}
        if tenants:
            found.append(finding(document, 0, len(document.answer), tenants))
    return found


def shingles(text: str) -> list[str]:
    words = text.split()
    return [" ".join(words[i : i + SHINGLE]) for i in range(max(1, len(words) - SHINGLE + 1))]


def rapidfuzz(documents: list[Document], arguments: argparse.Namespace) -> list[Finding]:
    from rapidfuzz.fuzz import partial_ratio_alignment

    found = []
    for document in documents:
        for start in range(0, max(1, len(document.answer) - PIECE + STEP), STEP):
            piece = document.answer[start : start + PIECE]
            best, tenants = SCORE, set()
            for other in documents:
                if other.tenant == document.tenant:
                    continue
                match = partial_ratio_alignment(piece, other.prompt, score_cutoff=best)
                if match is not None and match.score >= best:
                    tenants = {other.tenant} if match.score > best else tenants | {other.tenant}
                    best = match.score
            if tenants:
                found.append(finding(document, start, start + len(piece), tenants))
    return merged(found)


def copydetect(documents: list[Document], arguments: argparse.Namespace) -> list[Finding]:
    from io import StringIO

    from copydetect import CodeFingerprint, compare_files

    k, window = 16, 17

    def printed(text: str) -> Any:
        return CodeFingerprint("text.txt", k, window, filter=False, fp=StringIO(text))

    prompts = [printed(d.prompt) for d in documents]
    found = []
    for document in documents:
        mine = printed(document.answer)
        for other, theirs in zip(documents, prompts, strict=True):
            if other.tenant == document.tenant:
                continue
            tokens, _, slices = compare_files(mine, theirs)
            # A copy comes as slices with a letter between them: a gap within the window is no end of it.
            for low, high in joined(np.asarray(slices[0]).T.tolist(), window) if tokens else ():
                if high - low >= arguments.shortest:
                    found.append(finding(document, low, high, {other.tenant}))
    return merged(found)


def joined(spans: list[list[float]], gap: int) -> list[tuple[int, int]]:
    """Spans in order; those no further apart than `gap` are one."""
    result: list[tuple[int, int]] = []
    for start, end in sorted((int(start), int(end)) for start, end in spans):
        if result and start <= result[-1][1] + gap:
            result[-1] = result[-1][0], max(result[-1][1], end)
        else:
            result.append((start, end))
    return result


def merged(found: list[Finding]) -> list[Finding]:
    """Findings that overlap become one; the tenant with most of them is named."""
    result: list[Finding] = []
    votes: list[Counter[str]] = []
    for item in sorted(found, key=lambda f: (f.request_id, f.start)):
        last = result[-1] if result else None
        if last is not None and last.request_id == item.request_id and item.start <= last.end:
            votes[-1].update(item.sources)
            end = max(last.end, item.end)
            result[-1] = replace(last, end=end)
        else:
            result.append(item)
            votes.append(Counter(item.sources))
    return [replace(r, sources=frozenset([v.most_common(1)[0][0]])) for r, v in zip(result, votes, strict=True)]
