"""Has a response the form that another tenant's requests ask for, though its text is the recipient's own?

A response that took over another tenant's schema, template or adapter shows it in labels (JSON keys, tool names,
headings, tags; `text.labels`) that one other tenant's prompts ask for and nobody else's in the whole log, and that
neither the recipient's prompts nor its earlier answers know. Several labels of one tenant are needed, and they must be
most of the labels that the response has. They are paid for as names are (`names`):

    net = sum over labels (bits - log2 V) - log2(R U) - log2 C(m, k)

with V the labels that tenant's prompts hold. Labels of common schemas count nothing. The verdict is `possible`, or
`probable` from OVERWHELMING net bits on; and nothing is reported that labels which were asked for only later (decoys)
do as well. The fragment reaches from the first of the labels to the last: the text between them is the recipient's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from forensics.attribution.candidates import Candidate, Excluded, Holder, prompts_by_request
from forensics.attribution.corpus import Corpus, TextBatch
from forensics.attribution.findings import Evidence, Judged
from forensics.attribution.hits import find_hits
from forensics.attribution.holdings import Ints, World
from forensics.attribution.of_few import of_few
from forensics.attribution.parameters import Parameters
from forensics.attribution.seeds import NO_CONTEXT, NO_KINDS, Rows
from forensics.attribution.sources import locate, rank
from forensics.attribution.strength import ODD_BITS, Strength
from forensics.attribution.texts import Texts
from forensics.text.characters import character_model
from forensics.text.fold import Folded, holds
from forensics.text.labels import Labels, asked, shown
from forensics.text.runs import total_weight
from forensics.text.seed_search import SeedTable
from forensics.text.vocabulary import Spread, TermSets

STRATUM = "structure"
TRIED = ("own_material", "shared", "common_schema", "too_weak")
FEW = 4  # tenants that may hold a label: victims count, since models give labels of ordinary words to many,
MANY = 12  # and that may hold one with a word that nobody would think of (reference: what more hold says nothing)
ODD_WORD_BITS = 20.0  # of such a word, and ODD_BITS a unit: `slack` in `send_slack_message` has 18
MIN_LABELS = 3  # that agree,
MIN_SHARE = 0.5  # and share of the response's labels that they are
LEAST_BITS, OVERWHELMING = 10.0, 80.0
BYTES_A_LABEL = 16.0  # of what a tenant supplied: it holds one label for so many at most
CELLS = 1 << 20
# Keys of common schemas (OpenAI, JSON Schema, REST) and headings of every template, folded.
COMMON = frozenset(
    "name type role content id index object model created choices message messages function arguments tools toolcalls "
    "description parameters properties required items enum format title default additionalproperties anyof oneof allof "
    "status error errors code data result results value values key keys text input inputs output outputs query answer "
    "question response request url uri path method headers body params date time timestamp createdat updatedat version "
    "user username email phone address city country state zip price amount total count quantity currency category tags "
    "labels summary details notes comment comments reason reasoning confidence score language source sources target "
    "start end from to first last min max size length width height color unit units list number string boolean true "
    "false null success failed introduction conclusion overview background example examples references steps "
    "ingredients instructions usage installation license features requirements".split()
)


EXPLAINED = ("public_text", "own_material", "echo", "same_question")


@dataclass(frozen=True)
class _Group:
    """Labels of one tenant in one response field: rows of the hits."""

    use: int
    content: int
    holder: int
    target: bool
    spans: tuple[tuple[int, int], ...]
    others: tuple[tuple[int, int], ...]  # text of the holder, and unit, of each
    bits: float
    net: float
    charge: float


def find_structure(
    corpus: Corpus, texts: Texts, judged: list[Judged], explained: list[Excluded], parameters: Parameters
) -> tuple[list[Judged], list[Excluded]]:
    """Fragments of kind `structure` in responses without other fragments around their labels, and exclusions.

    Labels in a passage that a rule has set aside (`explained`) as public, the recipient's own or the answer to the same
    question are explained with it.
    """
    world = corpus.world
    if len(world.requests.unit_names) < 2:
        return [], []
    hits, labels, sent = _hits(corpus, parameters)
    if hits.is_empty():
        return [], []
    taken: dict[int, list[tuple[int, int]]] = {}
    for item in judged:
        taken.setdefault(item.candidate.use, []).append((item.candidate.start, item.candidate.end))
    apart: dict[int, list[tuple[int, int]]] = {}
    for one in explained:
        if one.rule in EXPLAINED:
            apart.setdefault(one.use, []).append((one.start, one.end))
    rows = [
        (key, part)
        for key, part in hits.group_by(["use", "holder", "target"], maintain_order=True)
        if part["seed"].n_unique() >= MIN_LABELS
    ]
    prompts = prompts_by_request(world, {int(world.uses.request[int(key[0])]) for key, _ in rows})
    schemas = schemas_of(world, {int(world.uses.request[int(key[0])]) for key, _ in rows})
    for request, contents in schemas.items():
        prompts.setdefault(request, []).extend(contents)
    pairs = math.log2(max(2, int(labels.size))) + math.log2(max(2, len(world.requests.unit_names)))
    groups: list[_Group] = []
    excluded: list[Excluded] = []
    needs = []
    for _, part in rows:
        request = int(world.uses.request[int(part["use"][0])])
        needs.append({int(part["content"][0]), *prompts.get(request, ())})
    for batch in texts.batches(needs):
        for i in batch:
            (use, holder, target), part = rows[i]
            found = _group(
                world, texts, int(use), int(holder), bool(target), part, prompts, labels, sent, pairs,
                taken.get(int(use), []), apart.get(int(use), []),
            )  # fmt: skip
            if found is not None:
                groups.append(found)
    results: list[Judged] = []
    for batch in texts.batches([{group.content} for group in groups]):
        for group in groups[batch.start : batch.stop]:
            if group.target:
                result = _judge(world, texts, group, groups)
                if isinstance(result, Judged):
                    results.append(result)
                else:
                    excluded.append(result)
    return results, excluded


def _hits(corpus: Corpus, parameters: Parameters) -> tuple[pl.DataFrame, Ints, Ints]:
    """Labels that one other unit alone asks for; labels of each response text; labels of each unit's prompts."""
    world = corpus.world
    names = np.zeros(world.text_bytes.size, dtype=np.bool_)
    called = world.uses.field.where(lambda name: name.endswith("function.name"))
    names[world.uses.content[called & (world.uses.side == 1)]] = True
    first = world.holdings.unit[np.minimum(world.holdings.of_content[:-1], max(0, world.holdings.unit.size - 1))]

    def show(batch: TextBatch) -> tuple[Ints, Labels]:
        keys, buffer, offsets = batch
        return keys, shown(buffer, offsets, names[keys])

    mine = list(corpus.over(world.is_response, show))
    spread = Spread(CELLS)
    counts = np.zeros(world.text_bytes.size, dtype=np.int64)
    for keys, found in mine:
        ends = np.searchsorted(found.documents, np.arange(keys.size + 1)).astype(np.int64)
        spread.add(TermSets(found.hashes.view(np.uint64), ends), np.arange(keys.size), first[keys])
        counts[keys] = np.diff(ends)
    rare = [spread.groups(found.hashes.view(np.uint64)) <= MANY for _, found in mine]
    kept = [(keys, _taken(found, some)) for (keys, found), some in zip(mine, rare, strict=True)]
    table = SeedTable.over(np.concatenate([np.zeros(0, dtype=np.int64), *(found.hashes for _, found in kept)]))
    if table.keys.size == 0:
        return pl.DataFrame(), counts[world.is_response], np.zeros(1, dtype=np.int64)

    def look(batch: TextBatch) -> tuple[Ints, Labels]:
        keys, buffer, offsets = batch
        return keys, asked(buffer, offsets, table)

    parts = [*kept, *corpus.over(world.is_prompt, look)]
    return of_one_tenant(world, table, parts, parameters), counts[world.is_response], world.sent_bytes()


def of_one_tenant(
    world: World, table: SeedTable, parts: list[tuple[Ints, Labels]], parameters: Parameters
) -> pl.DataFrame:
    """Labels of responses that one other unit alone asks for, before the response finished (`target`) or only later.

    `parts`: labels of `table` in responses and prompts, each with the contents they were read in. Columns: `use,
    content, start, end` (units of the response), `other, other_start` (the last text of the `holder` unit that has it),
    `holders` (units that hold it at all, MANY at most), `seed`.
    """
    content = np.concatenate([k[f.documents].astype(np.int32) for k, f in parts])
    start = np.concatenate([f.starts for _, f in parts])
    end = np.concatenate([f.ends for _, f in parts])
    seed = np.concatenate([table.ids(f.hashes) for _, f in parts])
    order = np.argsort(seed, kind="stable")
    rows = Rows(seed[order], content[order], start[order], end[order], NO_CONTEXT, NO_CONTEXT, NO_KINDS)
    hits = find_hits(world, [rows], parameters.shared_limit, parameters.phrase_limit)
    shown_rows = pl.DataFrame({"content": content, "start": start, "end": end, "seed": seed}).unique()
    single = (
        of_few(hits, world, MANY)
        .filter(pl.col("holder").n_unique().over("use", "start", "end") == 1)
        .sort("other", "other_start")
        .group_by("use", "content", "start", "end", "holder", "target", maintain_order=True)
        .agg(pl.col("other").last(), pl.col("other_start").last(), pl.col("holders").max())
        .join(shown_rows, on=["content", "start", "end"], how="inner")
        .sort("use", "holder", "target", "start", "end")
    )
    return single


def _taken(found: Labels, rows: npt.NDArray[np.bool_]) -> Labels:
    return Labels(found.hashes[rows], found.documents[rows], found.starts[rows], found.ends[rows])


def schemas_of(world: World, requests: set[int]) -> dict[int, list[int]]:
    """Tool schemas of the given requests, which `prompts_by_request` leaves out."""
    found: dict[int, list[int]] = {}
    tools = world.uses.field.where(lambda name: name.startswith("tools["))
    for row in np.flatnonzero(tools & (world.uses.side == 0)).tolist():
        request = int(world.uses.request[row])
        if request in requests:
            found.setdefault(request, []).append(int(world.uses.content[row]))
    return found


def _group(
    world: World, texts: Texts, use: int, holder: int, target: bool, part: pl.DataFrame, prompts: dict[int, list[int]],
    labels: Ints, sent: Ints, pairs: float, taken: list[tuple[int, int]],
    explained: list[tuple[int, int]],
) -> _Group | None:  # fmt: skip
    content = int(part["content"][0])
    folded = texts.folded(content)
    own = [texts.units(key).tobytes() for key in prompts.get(int(world.uses.request[use]), ())]
    price = math.log2(max(2.0, float(sent[holder]) / BYTES_A_LABEL))
    worth: dict[int, float] = {}
    spans, others = [], []
    columns = ("start", "end", "other", "other_start", "seed", "holders")
    for start, end, other, other_start, seed, count in part.select(columns).iter_rows():
        units = folded.units[start:end]
        if any(start < high and low < end for low, high in taken) or "".join(map(chr, units.tolist())) in COMMON:
            continue
        first, last = folded.span(start, end)
        if any(low <= first and last <= high for low, high in explained):
            continue
        if any(holds(text, units) for text in own) or (count > FEW and not odd_word(texts, content, start, end)):
            continue
        spans.append((start, end))
        others.append((other, other_start))
        worth[seed] = max(worth.get(seed, 0.0), label_bits(folded, start, end))
    every = _distinct_labels(texts, content, world, use)
    if len(worth) < MIN_LABELS or len(worth) < MIN_SHARE * every:
        return None
    bits = sum(max(value, 0.0) for value in worth.values())
    paying = [value for value in worth.values() if value > price]
    charge = len(paying) * price + pairs + math.log2(math.comb(max(every, len(paying)), len(paying)))
    return _Group(use, content, holder, target, tuple(spans), tuple(others), bits, sum(paying) - charge, charge)


def _distinct_labels(texts: Texts, content: int, world: World, use: int) -> int:
    """Distinct labels of a response."""
    data = np.frombuffer(texts.raw(content).encode("utf-8", "replace"), dtype=np.uint8)
    whole = np.array([world.uses.field[use].endswith("function.name")])
    return int(np.unique(shown(data, np.array([0, data.size], dtype=np.int64), whole).hashes).size)


def label_bits(folded: Folded, start: int, end: int) -> float:
    return float(character_model().bits(folded.units[start:end]).sum())


def odd_word(texts: Texts, content: int, start: int, end: int) -> bool:
    """Has the label a word that nobody would think of?"""
    folded, found = texts.folded(content), texts.words(content)
    inside = found.within(start, end)
    for low, high in zip(found.starts[inside].tolist(), found.ends[inside].tolist(), strict=True):
        if label_bits(folded, low, high) >= max(ODD_WORD_BITS, ODD_BITS * (high - low)):
            return True
    return False


def _judge(world: World, texts: Texts, group: _Group, groups: list[_Group]) -> Judged | Excluded:
    folded = texts.folded(group.content)
    start, end = group.spans[0][0], max(high for _, high in group.spans)

    def dropped(detail: str) -> Excluded:
        low, high = folded.span(start, end)
        return Excluded(group.use, low, high, "too_weak", detail, 2, round(group.bits, 1))

    if group.net < LEAST_BITS:
        return dropped(f"{len(group.spans)} labels of another tenant's, net {group.net:.1f} bits")
    if sum(1 for other in groups if not other.target and other.net >= group.net) * 5 > sum(
        1 for other in groups if other.target and other.net >= group.net
    ):
        return dropped("labels that were asked for only later do as well")
    request = int(world.uses.request[group.use])
    length = end - start
    holders = []
    for other in sorted({key for key, _ in group.others}):
        at = min(unit for key, unit in group.others if key == other)
        reach = max(unit for key, unit in group.others if key == other) + 1
        holders.append(Holder(other, group.holder, 0, start, end, at, reach, min(length, reach - at)))
    candidate = Candidate(
        group.use, request, group.content, start, end, "target", True, tuple(holders), frozenset({group.holder})
    )
    ranked = rank([source for source in (locate(world, candidate, holder) for holder in holders) if source is not None])
    if not ranked:
        return dropped("no request could have carried it before this response finished")
    none = np.zeros(0, dtype=np.uint64)
    evidence = Evidence(
        strength=Strength(group.bits, group.bits, len(group.spans), group.bits, none, np.zeros(0), np.zeros(0)),
        charge=group.bits - group.net,
        sources=ranked,
        kin_recipient=0.0,
        kin_source={},
        only={},
        share_of_response=total_weight(folded.units[start:end]) / max(1, total_weight(folded.units)),
        features={"labels": len(group.spans)},
    )
    strong = group.net >= OVERWHELMING
    return Judged(
        candidate, evidence, "structure", STRATUM, "probable" if strong else "possible",
        f"{len(group.spans)} labels (keys, headings, names of tools) that one other tenant alone asks for; net "
        f"{group.net:.0f} bits; the text between them may be the recipient's own",
        [group.holder], ranked, TRIED, None,
    )  # fmt: skip
