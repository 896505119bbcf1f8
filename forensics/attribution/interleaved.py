"""Which responses are mixed, piece by piece, with the stream of another request that was in flight?

No seed survives where two streams alternate every few letters, so this search is local: a response is compared only
with texts of other tenants' requests that were in flight at the same time on the same worker (or anywhere, where the
worker is not known), at most NEIGHBOURS of them. A response is looked at when in some stretch of it hardly two
neighbouring words have ever been written by another tenant's responses (`text.sequences`). The stretch is aligned with
the likeliest part of each such text (`text.streams`): the pieces of a stream, put together, are its text without holes.
The same statistic over texts that were not in flight (CONTROLS) is what chance can do; a stream must beat it clearly.

What is found is a candidate of kind `altered` with one span from the first piece to the last, and the pieces in it.
What it is worth is measured on the stretch of the other text that the pieces make up, since the words of the response
are broken. The recipient's own prompt explains a passage that it aligns with about as well.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from forensics.attribution.candidates import Alteration, Candidate, Excluded, Holder, prompts_by_request
from forensics.attribution.corpus import Corpus, TextBatch
from forensics.attribution.elsewhere import WHOLE, Other, others
from forensics.attribution.holdings import Ints, World
from forensics.attribution.in_flight import Elsewhere, TextsOf, in_flight
from forensics.attribution.parameters import Parameters
from forensics.attribution.texts import Texts
from forensics.text.fold import Units
from forensics.text.runs import covered, total_weight
from forensics.text.screen import Screen
from forensics.text.sequences import SPAN, Orders, neighbours
from forensics.text.streams import Stream, best_score, best_stream
from forensics.text.vocabulary import TermSets

NOVEL = 0.45  # share of new pairs of words in a stretch that makes it worth a look
STRETCHES = 16  # stretches of a response that are looked at, the newest first
MIN_PAIRS = 30  # pairs of words below which a response is not looked at
MIN_UNITS = 40  # units of a text that is compared
STANDS_OUT = 1.25  # times a text's average of common grams that its likeliest part must have
MIN_SCORE = 240  # of an alignment; unlike texts reach 220 (1 in 300 pairs of real length)
OVER_CONTROLS = 1.4  # times the best score among texts not in flight
MIN_WEIGHT = 60  # weight of the pieces
MIN_PIECES = 5  # fewer are an altered copy, which seeds find
DENSE = 0.85  # share of the stretch of the other text that the pieces must be; less is a text in other words
PIECE_UNITS = 24  # longest mean piece; longer ones are runs
OWN_SCORE = 0.7  # share of the score that the own prompt must reach to explain a passage
ECHO = 0.8  # share of the passage that the own prompt must hold as it stands
SAME = 0.5  # share of the matched units that two texts must have in common to be the same stream
PAIR_BYTES = 2  # that the pairs of words of a byte of text take
MEMORY_SHARE = 8  # of the memory setting may they take
PENDING_BYTES = 32 << 20  # units of texts that wait to be compared
AROUND = 1200  # units around the likeliest part that are aligned in full
# Bits paid for a piece: that it ends, and how much is leapt over (log2 besides).
PIECE_BITS = 1.0


@dataclass(frozen=True)
class _Suspect:
    use: int
    content: int
    novelty: float  # of its strangest stretch
    first_pairs: tuple[int, ...]  # of the stretches that are looked at


@dataclass(frozen=True)
class _Look:
    """A response, the texts in flight beside it (content, unit, side), and contents that were not in flight."""

    suspect: _Suspect
    theirs: list[tuple[int, int, int]]
    controls: list[int]


_Hint = tuple[int, int, int, int, int]  # score, where in the text, content, unit, side


@dataclass(frozen=True)
class _Found:
    content: int
    unit: int
    side: int
    stream: Stream


def find_interleaved(
    corpus: Corpus, texts: Texts, parameters: Parameters
) -> tuple[list[Candidate], list[Excluded], tuple[str, ...]]:
    """Candidates, by use and start; what is explained; and a warning where not everything was looked at."""
    world = corpus.world
    near = in_flight(world)
    if not (near[:, 0] >= 0).any():
        return [], [], ()
    suspects = _suspects(corpus, near)
    texts_of = TextsOf(world)
    elsewhere = Elsewhere(world)
    left = spent = 0
    chosen: list[_Look] = []
    prompts = prompts_by_request(world, {int(world.uses.request[s.use]) for s in suspects})
    for place, suspect in enumerate(suspects):
        request = int(world.uses.request[suspect.use])
        theirs = texts_of.of(near[request], request)
        controls = elsewhere.of(suspect.use, near[request])
        contents = {content for content, _, _ in theirs}
        spent += int(world.text_bytes[list(contents)].sum()) if contents else 0
        if spent > parameters.interleaved_bytes:
            left = len(suspects) - place
            break
        chosen.append(_Look(suspect, theirs, controls))
    # In the order of time, since responses that were in flight together are compared with the same texts.
    chosen.sort(key=lambda one: (int(world.requests.received[world.uses.request[one.suspect.use]]), one.suspect.use))
    needs = [{one.suspect.content, *(content for content, _, _ in one.theirs)} for one in chosen]
    candidates: list[Candidate] = []
    echoed: list[Excluded] = []
    for batch in texts.batches(needs):
        for look, streams in _screened(texts, chosen[batch.start : batch.stop]):
            own = prompts.get(int(world.uses.request[look.suspect.use]), [])
            results, explained = _found(texts, look, own, streams)
            candidates.extend(_candidates(world, look.suspect, results))
            echoed.extend(explained)
    candidates, excluded = _with_others(corpus, texts, candidates, parameters)
    excluded += echoed
    candidates.sort(key=lambda c: (c.use, c.start, c.end, c.holders[0].unit))
    warnings = (
        f"{left} responses with unusual word order were not compared with the requests in flight: more text than is "
        "read for that",
    )  # fmt: skip
    return candidates, excluded, warnings if left else ()


def _with_others(
    corpus: Corpus, texts: Texts, candidates: list[Candidate], parameters: Parameters
) -> tuple[list[Candidate], list[Excluded]]:
    """Candidates with everybody who holds the passage, in flight or not; without own and shared text."""
    world = corpus.world
    passages = [(one.holders[0].content, one.holders[0].other_start, one.holders[0].other_end) for one in candidates]
    kept: list[Candidate] = []
    explained: list[tuple[Candidate, str, str, int]] = []
    for candidate, found in zip(candidates, others(corpus, passages), strict=True):
        recipient = int(world.requests.unit[candidate.request])
        more, own = _holders(world, candidate, found)
        holders = (*candidate.holders, *more)
        suppliers = {holder.unit for holder in holders if holder.side == 0}
        units = frozenset(holder.unit for holder in holders)
        if own:
            explained.append((candidate, "own_material", "a stream of what this tenant had before", len(units)))
        elif len(suppliers) >= parameters.shared_limit:
            explained.append((candidate, "shared", "supplied by several unrelated tenants", len(units)))
        else:
            carriers = units - {recipient} if suppliers else candidate.carriers
            kept.append(replace(candidate, holders=holders, carriers=carriers, crowd=len(units)))
    excluded = []
    for batch in texts.batches([{candidate.content} for candidate, *_ in explained]):
        for candidate, rule, detail, count in explained[batch.start : batch.stop]:
            low, high = texts.folded(candidate.content).span(candidate.start, candidate.end)
            excluded.append(Excluded(candidate.use, low, high, rule, detail, count))
    return kept, excluded


def _holders(world: World, candidate: Candidate, found: list[Other]) -> tuple[list[Holder], bool]:
    """Further holders of the candidate's passage, and whether the recipient's tenant had it itself before."""
    holdings = world.holdings
    best = candidate.holders[0]
    recipient, stop = int(world.requests.unit[candidate.request]), int(world.requests.finished[candidate.request])
    known = {(holder.content, holder.unit) for holder in candidate.holders}
    low, high = int(holdings.of_content[best.content]), int(holdings.of_content[best.content + 1])
    since = min(int(min(holdings.supplied[row], holdings.started[row])) for row in range(low, high))
    more: list[Holder] = []
    own = False
    for other in found:
        if other.content == candidate.content:
            continue
        reach = best.matched if other.share >= WHOLE else int(other.share * best.matched)
        for row in range(int(holdings.of_content[other.content]), int(holdings.of_content[other.content + 1])):
            unit, supplied = int(holdings.unit[row]), int(holdings.supplied[row])
            started, finished = int(holdings.started[row]), int(holdings.finished[row])
            if unit == recipient:
                # What it sent; or was given before the other text was there.
                own |= supplied <= stop or finished <= since
                continue
            side = 0 if supplied < stop and supplied <= finished else 1
            if (other.content, unit) not in known and (side == 0 or started < stop):
                more.append(
                    Holder(
                        other.content, unit, side, candidate.start, candidate.start + reach, other.start, other.end,
                        reach,
                    )
                )  # fmt: skip
    return more, own


def _screened(texts: Texts, looks: Sequence[_Look]) -> Iterator[tuple[_Look, list[_Hint]]]:
    """What may run through each response, in their order. Texts are folded here, and compared on all threads."""
    threads = texts.corpus.case.resources.threads
    with ThreadPoolExecutor(threads) as pool:
        waiting: deque[tuple[_Look, Screen, int, Future[list[tuple[int, int]]]]] = deque()
        held = 0
        for look in looks:
            screen = _screen(texts, look.suspect)
            seconds = [texts.units(content) for content, _, _ in look.theirs]
            size = sum(second.nbytes for second in seconds)
            waiting.append((look, screen, size, pool.submit(_scores, screen, seconds)))
            held += size
            while len(waiting) > threads or (held > PENDING_BYTES and len(waiting) > 1):
                held -= waiting[0][2]
                yield _hints(texts, *waiting.popleft())
        while waiting:
            yield _hints(texts, *waiting.popleft())


def _hints(
    texts: Texts, look: _Look, screen: Screen, _: int, scores: Future[list[tuple[int, int]]]
) -> tuple[_Look, list[_Hint]]:
    """The texts that score well and better than chance."""
    found = [
        (score, low, *one) for (score, low), one in zip(scores.result(), look.theirs, strict=True) if score >= MIN_SCORE
    ]
    if not found:
        return look, []
    chance = max((score for score, _ in _scores(screen, [texts.units(c) for c in look.controls])), default=0)
    return look, sorted((s for s in found if s[0] >= OVER_CONTROLS * chance), key=lambda s: (-s[0], s[2:]))


def _found(texts: Texts, look: _Look, own: list[int], hints: list[_Hint]) -> tuple[list[_Found], list[Excluded]]:
    """Streams of requests in flight in one response; and what its own prompt explains."""
    if not hints:
        return [], []
    use, content = look.suspect.use, look.suspect.content
    whole, prompts = texts.units(content), [texts.units(one) for one in own]
    results: list[_Found] = []
    echoed: dict[tuple[int, int], Excluded] = {}
    for _, low, other, unit, side in hints:
        there = texts.units(other)
        first = max(0, low - AROUND)
        stream = best_stream(whole, there[first : low + AROUND])
        if stream is None or not _is_stream(whole, stream):
            continue
        stream = _moved(stream, first)
        # The pieces alone: what stands between them may well be the recipient's own.
        pieces = np.concatenate([whole[low:high] for low, high, _ in stream.pieces])
        theirs_all = best_score(pieces, there[stream.other_start : stream.other_end])
        # A question about a mixed text holds both streams, in pieces like the answer that quotes it.
        quoted = covered(whole[stream.start : stream.end], prompts).mean() >= ECHO
        if quoted or any(best_score(pieces, prompt) >= OWN_SCORE * theirs_all for prompt in prompts):
            low, high = texts.folded(content).span(stream.start, stream.end)
            echoed[low, high] = Excluded(use, low, high, "echo", "a stream of this request's own prompt", 1)
            continue
        results.append(_Found(other, unit, side, stream))
    return results, [echoed[span] for span in sorted(echoed)]


def _screen(texts: Texts, suspect: _Suspect) -> Screen:
    """For the stretches of a response that are looked at. Its strangest one need not be the mixed one: lists of names
    and numbers are all new order, too."""
    whole, found = texts.units(suspect.content), texts.words(suspect.content)
    ends = [min(first + SPAN, found.starts.size - 1) for first in suspect.first_pairs]
    return Screen(
        [
            whole[int(found.starts[first]) : int(found.ends[last])]
            for first, last in zip(suspect.first_pairs, ends, strict=True)
        ]
    )


def _scores(screen: Screen, seconds: Sequence[Units]) -> list[tuple[int, int]]:
    """Best score of a stretch of the response with each text, and where in the text."""
    return [screen.best(text, STANDS_OUT) if text.size >= MIN_UNITS else (0, 0) for text in seconds]


def _is_stream(units: Units, stream: Stream) -> bool:
    """Many short pieces that together are long enough?"""
    return (
        len(stream.pieces) >= MIN_PIECES
        and stream.matched <= PIECE_UNITS * len(stream.pieces)
        and stream.matched >= DENSE * (stream.other_end - stream.other_start)
        and sum(total_weight(units[low:high]) for low, high, _ in stream.pieces) >= MIN_WEIGHT
    )


def _moved(stream: Stream, by: int) -> Stream:
    pieces = tuple((low, high, there + by) for low, high, there in stream.pieces)
    return Stream(stream.score, stream.start, stream.end, stream.other_start + by, stream.other_end + by, pieces)


def _candidates(world: World, suspect: _Suspect, results: list[_Found]) -> list[Candidate]:
    """One candidate a stream; texts that hold the same stream are its holders together."""
    groups: list[list[_Found]] = []
    for result in results:
        mine = _units_of(result.stream)
        for group in groups:
            first = _units_of(group[0].stream)
            if len(mine & first) >= SAME * min(len(mine), len(first)):
                group.append(result)
                break
        else:
            groups.append([result])
    request = int(world.uses.request[suspect.use])
    made = []
    for group in groups:
        stream = group[0].stream
        freedom = 0.0
        inserted = 0
        for left, right in pairwise(stream.pieces):
            hole = right[2] - (left[2] + left[1] - left[0])
            freedom += PIECE_BITS + math.log2(1 + right[0] - left[1]) + (4.0 + math.log2(1 + hole) if hole else 0.0)
            inserted += right[0] - left[1]
        holders = tuple(
            Holder(
                f.content, f.unit, f.side, stream.start, stream.start + f.stream.matched, f.stream.other_start,
                f.stream.other_end, f.stream.matched,
            )
            for f in group
        )  # fmt: skip
        dropped = stream.other_end - stream.other_start - stream.matched
        blocks = tuple((low, high) for low, high, _ in stream.pieces)
        made.append(
            Candidate(
                suspect.use, request, suspect.content, stream.start, stream.end, "target", False, holders,
                frozenset(f.unit for f in group),
                alteration=Alteration(blocks, freedom, 0, inserted, dropped, pieces=True),
            )
        )  # fmt: skip
    return made


def _units_of(stream: Stream) -> set[int]:
    return {unit for low, high, _ in stream.pieces for unit in range(low, high)}


def _suspects(corpus: Corpus, near: Ints) -> list[_Suspect]:
    """Responses with a stretch of new word order and something in flight beside them, the newest order first."""
    world = corpus.world
    uses = world.uses
    rows = np.flatnonzero((uses.side == 1) & (near[uses.request, 0] >= 0))
    unit = np.full(world.text_bytes.size, 0, dtype=np.int64)
    answers = np.flatnonzero((uses.side == 1) & (world.requests.unit[uses.request] >= 0))
    unit[uses.content[answers]] = world.requests.unit[uses.request[answers]]
    orders = Orders()

    def read(batch: TextBatch) -> tuple[Ints, TermSets]:
        return batch[0], neighbours(batch[1], batch[2])

    # Kept for the second look where the memory setting allows it.
    most = corpus.case.resources.memory_bytes // MEMORY_SHARE
    keep = int(world.text_bytes[world.is_response].sum()) * PAIR_BYTES <= most
    kept = []
    for keys, sets in corpus.over(world.is_response, read):
        orders.add(sets, unit[keys])
        if keep:
            kept.append((keys, sets))
    pairs = np.zeros(world.text_bytes.size, dtype=np.int64)
    found: dict[int, list[tuple[float, int]]] = {}
    for keys, sets in kept if keep else corpus.over(world.is_response, read):
        pairs[keys] = np.diff(sets.offsets)
        documents, shares, firsts = orders.stretches(sets, unit[keys], NOVEL)
        for content, share, first in zip(keys[documents].tolist(), shares.tolist(), firsts.tolist(), strict=True):
            found.setdefault(content, []).append((-share, first))
    suspects = []
    for row in rows.tolist():
        content = int(uses.content[row])
        if content in found and pairs[content] >= MIN_PAIRS:
            strangest = sorted(found[content])[:STRETCHES]
            suspects.append(_Suspect(row, content, -strangest[0][0], tuple(first for _, first in strangest)))
    return sorted(suspects, key=lambda suspect: (-suspect.novelty, suspect.use))
