"""Which passages of the case are planted where, to see whether they are found?

A spike is a copy of another tenant's text, of a known class (kind, length, form, side of the source, nearness), set
into a response in which nothing was found. Passages are drawn only where one tenant alone holds them, since text that
several hold is shared by the rules and would count against nobody. Draws with a seed; writes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forensics.attribution.alterations import FORMS, alter
from forensics.attribution.corpus import Corpus, TextBatch
from forensics.attribution.holdings import EARLY, LATE, Ints, World
from forensics.attribution.texts import Texts
from forensics.text.fingerprint import fingerprint
from forensics.text.identifiers import identifiers
from forensics.text.keys import distinct
from forensics.text.scripts import NAMES, count_scripts
from forensics.text.seed_search import SeedTable, probe

LENGTHS = (40, 80, 120, 200, 500, 2000)  # code points of the passage before it is altered
SIDES = ("prompt", "response")
NEAR_US = 1_800_000_000  # a source counts as near when the same worker received it at most this long before
PROMPT_ROLES = frozenset(("system", "user", "tool", "prompt"))
DRAWS = 40  # texts that are tried for one spike
ALTERNATIVES = 4  # passages that are drawn for one spike; the first that one tenant alone holds is planted
REPEATED = 8
HELD_SHARE = 0.5  # share of a passage's seeds that a text must have to hold it
LONGEST_WHOLE = 20_000  # code points of a whole response that is planted
MIN_WHOLE = 80  # and the shortest


@dataclass(frozen=True)
class SpikeClass:
    """What is planted. `length` in code points; 0 for identifiers and whole responses."""

    kind: str  # copy | identifier | whole_response
    length: int
    form: str
    side: str
    near: bool


@dataclass(frozen=True)
class Spike:
    """A planted passage: `[start, end)` in code points of the new text `planted` of the recipient's field."""

    spike_class: SpikeClass
    script: str
    use: int
    request: int
    field: str
    content: int
    source_request: int
    source_unit: int
    start: int
    end: int
    planted: str
    near: bool  # was a source near, as the class wanted where there was one


@dataclass(frozen=True)
class _Passage:
    text: str
    request: int
    unit: int
    near: bool


def classes() -> list[SpikeClass]:
    """All classes: copies by length, form and side; identifiers; whole responses; each near and at any distance.

    The last two have no lengths and forms to be told apart by, and come REPEATED times, to be as well known as those.
    """
    made = [
        SpikeClass("copy", length, form, side, near)
        for near in (True, False)
        for length in LENGTHS
        for form in FORMS
        for side in SIDES
    ]
    for near in (True, False):
        made += REPEATED * [SpikeClass("identifier", 0, "verbatim", "prompt", near)]
        made += REPEATED * [SpikeClass("whole_response", 0, "verbatim", "response", near)]
    return made


def recipients(world: World, affected: frozenset[int]) -> Ints:
    """Rows of Uses: one answer per examinable request with a tenant, times and nothing found in it.

    Where several vantages logged the answer, they must agree on it.
    """
    uses, requests = world.uses, world.requests
    rows = np.flatnonzero((uses.side == 1) & requests.examinable[uses.request] & (requests.unit[uses.request] >= 0))
    known = (requests.finished[uses.request[rows]] < LATE) & (requests.received[uses.request[rows]] > EARLY)
    found: dict[tuple[int, str], int] = {}
    unlike: set[tuple[int, str]] = set()
    for row in rows[known].tolist():
        request, field = int(uses.request[row]), uses.field[row]
        if request in affected or not field.endswith(".content"):
            continue
        if found.setdefault((request, field), row) != row and uses.content[found[request, field]] != uses.content[row]:
            unlike.add((request, field))
    chosen: dict[int, int] = {}  # one field per request
    for key, row in sorted(found.items()):
        if key not in unlike:
            chosen.setdefault(key[0], row)
    return np.array([chosen[request] for request in sorted(chosen)], dtype=np.int64)


class Planter:
    """Draws spikes for rounds. `rows` are the uses that may receive one; `seed` decides the order of the classes."""

    def __init__(self, corpus: Corpus, texts: Texts, rows: Ints, seed: int) -> None:
        every = classes()
        self._kinds = [every[place] for place in np.random.default_rng(seed).permutation(len(every)).tolist()]
        self._world = corpus.world
        self._corpus = corpus
        self._texts = texts
        self._rows = rows
        world = self._world
        uses = world.uses
        prompt = np.array([role in PROMPT_ROLES for role in uses.role], dtype=np.bool_)
        known = (world.requests.unit[uses.request] >= 0) & (world.requests.received[uses.request] > EARLY)
        sides = {"prompt": (uses.side == 0) & prompt & known, "response": (uses.side == 1) & known}
        names = sorted({name for name in world.requests.worker if name})
        codes = {name: code for code, name in enumerate(names)}
        self._worker = np.array([codes.get(name or "", -1) for name in world.requests.worker], dtype=np.int64)
        self._sources: dict[str, Ints] = {}
        self._times: dict[str, Ints] = {}
        for side, mask in sides.items():
            found = np.flatnonzero(mask)
            # A prompt may leak from when it arrives, an answer once it is there.
            when = world.requests.received if side == "prompt" else world.requests.finished
            order = np.argsort(when[uses.request[found]], kind="stable")
            self._sources[side] = found[order]
            self._times[side] = when[uses.request[found[order]]]

    def draw(self, count: int, seed: int, first_class: int) -> tuple[list[Spike], int]:
        """Up to `count` spikes, each into another response, classes in turn from `first_class` on.

        Also: how many spikes could not be drawn (no text of that length, none that one tenant alone holds).
        """
        dice = np.random.default_rng(seed)
        chosen = np.sort(dice.choice(self._rows, size=min(count, self._rows.size), replace=False))
        chosen = dice.permutation(chosen)
        drawn: list[tuple[int, SpikeClass, list[_Passage]]] = []
        for place, row in enumerate(chosen.tolist()):
            spike_class = self._kinds[(first_class + place) % len(self._kinds)]
            passages: list[_Passage] = []
            for _ in range(DRAWS):
                made = self._passage(row, spike_class, dice)
                if made is not None:
                    passages.append(made)
                if len(passages) == ALTERNATIVES:
                    break
            drawn.append((row, spike_class, passages))
            self._texts.forget()
        alone = self._held_by_one([p for _, _, passages in drawn for p in passages], drawn)
        spikes: list[Spike] = []
        place = 0
        for row, spike_class, passages in drawn:
            keep = [p for i, p in enumerate(passages) if alone[place + i]]
            place += len(passages)
            if keep:
                spikes.append(self._set(row, spike_class, keep[0], dice))
        return spikes, len(drawn) - len(spikes)

    def _passage(self, row: int, wanted: SpikeClass, dice: np.random.Generator) -> _Passage | None:
        world, requests = self._world, self._world.requests
        recipient = int(world.uses.request[row])
        stop = int(requests.finished[recipient])
        sources, times = self._sources[wanted.side], self._times[wanted.side]
        upto = int(np.searchsorted(times, stop, side="left"))
        since = int(np.searchsorted(times, stop - NEAR_US, side="left")) if wanted.near else 0
        if upto == since:
            return None
        if wanted.near and self._worker[recipient] >= 0:
            window = sources[since:upto]
            same = window[self._worker[world.uses.request[window]] == self._worker[recipient]]
            if same.size == 0:
                return None
            use = int(same[dice.integers(0, same.size)])
        else:
            use = int(sources[dice.integers(since, upto)])
        request = int(world.uses.request[use])
        unit = int(requests.unit[request])
        if unit == int(requests.unit[recipient]):
            return None
        near = self._worker[request] == self._worker[recipient] and stop - int(requests.received[request]) <= NEAR_US
        text = self._cut(int(world.uses.content[use]), wanted, dice)
        return None if text is None else _Passage(text, request, unit, bool(near))

    def _cut(self, content: int, wanted: SpikeClass, dice: np.random.Generator) -> str | None:
        text = self._texts.raw(content)
        if wanted.kind == "whole_response":
            return text.strip() if MIN_WHOLE <= len(text.strip()) <= LONGEST_WHOLE else None
        if wanted.kind == "identifier":
            data = np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8)
            found = identifiers(data, np.array([0, data.size], dtype=np.int64))
            whole = np.flatnonzero(~found.nested)
            if whole.size == 0:
                return None
            pick = int(whole[dice.integers(0, whole.size)])
            low, high = self._texts.folded(content).span(int(found.starts[pick]), int(found.ends[pick]))
            return text[low:high]
        if len(text) < wanted.length + 2:
            return None
        start = int(dice.integers(0, len(text) - wanted.length + 1))
        passage = text[start : start + wanted.length].strip()
        # Half of the copies are cut as they come, half at blanks: leaks end in the middle of words, too.
        if dice.random() < 0.5 and passage.count(" ") > 2:
            passage = passage[passage.index(" ") + 1 : passage.rindex(" ")].strip()
        return passage if sum(sign.isalnum() for sign in passage) >= wanted.length // 2 else None

    def _held_by_one(
        self, passages: list[_Passage], drawn: list[tuple[int, SpikeClass, list[_Passage]]]
    ) -> npt.NDArray[np.bool_]:
        """Which passages stand in the texts of their source's unit alone? One pass over all texts."""
        if not passages:
            return np.zeros(0, dtype=np.bool_)
        parts = [np.frombuffer(p.text.encode("utf-8", "replace"), dtype=np.uint8) for p in passages]
        offsets = np.concatenate([[0], np.cumsum([part.size for part in parts])]).astype(np.int64)
        buffer = np.concatenate(parts)
        grams, tokens = fingerprint(buffer, offsets), identifiers(buffer, offsets)
        gram_table, token_table = SeedTable.over(grams.hashes), SeedTable.over(tokens.hashes)

        def search(batch: TextBatch) -> tuple[Ints, Ints, Ints, Ints]:
            keys, data, ends = batch
            found = probe(data, ends, gram_table)
            theirs = identifiers(data, ends)
            ids = token_table.ids(theirs.hashes)
            kept = np.flatnonzero(ids >= 0)
            grams_at = (found.ids.astype(np.int64), keys[found.documents])
            return *grams_at, ids[kept].astype(np.int64), keys[theirs.documents[kept]]

        gram_at: list[tuple[Ints, Ints]] = []
        token_at: list[tuple[Ints, Ints]] = []
        everything = np.ones(self._world.text_bytes.size, dtype=np.bool_)
        for gram_ids, gram_keys, token_ids, token_keys in self._corpus.over(everything, search):
            gram_at.append((gram_ids, gram_keys))
            token_at.append((token_ids, token_keys))
        gram_holders = _by_seed(gram_at, gram_table.keys.size)
        token_holders = _by_seed(token_at, token_table.keys.size)
        kinds = [spike_class.kind for _, spike_class, found in drawn for _ in found]
        out = np.zeros(len(passages), dtype=np.bool_)
        for i, passage in enumerate(passages):
            if kinds[i] == "identifier":
                seeds = distinct(token_table.ids(tokens.hashes[tokens.documents == i]))
                holders = token_holders
            else:
                seeds = distinct(gram_table.ids(grams.hashes[grams.documents == i]))
                holders = gram_holders
            if seeds.size == 0:
                continue
            contents, counts = np.unique(np.concatenate([holders[seed] for seed in seeds.tolist()]), return_counts=True)
            units = self._units(contents[counts >= HELD_SHARE * seeds.size])
            out[i] = units == {passage.unit}
        return out

    def _units(self, contents: Ints) -> set[int]:
        holdings = self._world.holdings
        return {
            int(unit)
            for content in contents.tolist()
            for unit in holdings.unit[holdings.of_content[content] : holdings.of_content[content + 1]].tolist()
        }

    def _set(self, row: int, spike_class: SpikeClass, passage: _Passage, dice: np.random.Generator) -> Spike:
        world = self._world
        content = int(world.uses.content[row])
        own = self._texts.raw(content)
        text = alter(passage.text, spike_class.form, dice)
        if spike_class.kind == "whole_response":
            planted, start = text, 0
        else:
            places = [0, len(own), *(at for at, sign in enumerate(own) if sign in " \n")]
            at = places[int(dice.integers(0, len(places)))]
            left, right = own[:at].rstrip(), own[at:].lstrip()
            head = left + " " if left else ""
            planted, start = head + text + (" " + right if right else ""), len(head)
        counts = _script_counts(text)
        return Spike(
            spike_class, NAMES[int(counts[1:].argmax()) + 1] if counts[1:].any() else NAMES[0], row,
            int(world.uses.request[row]), world.uses.field[row], content, passage.request, passage.unit, start,
            start + len(text), planted, passage.near,
        )  # fmt: skip


def _by_seed(found: list[tuple[Ints, Ints]], seeds: int) -> list[Ints]:
    """Contents with each seed, each once."""
    none = np.zeros(0, dtype=np.int64)
    ids = np.concatenate([none, *(part[0] for part in found)])
    keys = np.concatenate([none, *(part[1] for part in found)])
    order = np.lexsort((keys, ids))
    ids, keys = ids[order], keys[order]
    edges = np.searchsorted(ids, np.arange(seeds + 1))
    return [distinct(keys[edges[i] : edges[i + 1]]) for i in range(seeds)]


def _script_counts(text: str) -> npt.NDArray[np.int32]:
    data = np.frombuffer(text.encode("utf-8", "replace"), dtype=np.uint8)
    counts: npt.NDArray[np.int32] = count_scripts(data, np.array([0, data.size], dtype=np.int64))[0]
    return counts


def rounds(planter: Planter, count: int, per_round: int, seed: int) -> Iterator[tuple[list[Spike], int]]:
    """Spikes of each round, and how many could not be drawn. The classes go on where the round before stopped."""
    for number in range(count):
        yield planter.draw(per_round, seed * 1000 + number, number * per_round)
