"""Does a response call a tool that its tenant does not offer, and one other tenant alone does?

A model calls what its request offers, so that the name of one called tool says more than a label of a form does
(`structure`): it is enough by itself where it is worth what a copied passage has to be. It is paid for as names are:

    net = bits - log2 V - log2(R U)

with V the labels that the other tenant's prompts hold, R the calls in the case's responses, U its tenants. The verdict
is `possible`. The tenant is named where it was near, or where a word of the name is one that nobody would think of;
else the call is undetermined, since models make up names of ordinary words. Nothing is said where the recipient's
tenant calls the tool more than once (logs that keep no tools do not show what it offers), nor where tools that were
offered only later (decoys) do as well. Arguments are labels and passages like others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from forensics.attribution.candidates import Candidate, Excluded, Holder, prompts_by_request
from forensics.attribution.corpus import Corpus, TextBatch
from forensics.attribution.findings import Evidence, Judged
from forensics.attribution.generated import near
from forensics.attribution.holdings import Ints, World
from forensics.attribution.parameters import Parameters
from forensics.attribution.sources import locate, rank
from forensics.attribution.strength import Strength
from forensics.attribution.structure import (
    BYTES_A_LABEL,
    FEW,
    STRATUM,
    label_bits,
    odd_word,
    of_one_tenant,
    schemas_of,
)
from forensics.attribution.texts import Texts
from forensics.text.fold import holds
from forensics.text.labels import Labels, asked
from forensics.text.runs import total_weight
from forensics.text.seed_search import SeedTable
from forensics.text.tool_calls import called

DECOY_SHARE = 0.2  # decoys that do as well, for each target, above which nothing is said
TRIED = ("own_material", "shared", "too_weak")


@dataclass(frozen=True)
class _Call:
    """One call of a tool that one other tenant alone offers, before it (`target`) or only later."""

    use: int
    content: int
    start: int
    end: int
    holder: Holder
    target: bool
    again: bool  # does the recipient's tenant call it in other responses, too?
    bits: float
    charge: float
    odd: bool

    @property
    def net(self) -> float:
        """Bits less the charge."""
        return self.bits - self.charge


def find_tool_calls(
    corpus: Corpus, texts: Texts, judged: list[Judged], parameters: Parameters
) -> tuple[list[Judged], list[Excluded]]:
    """Fragments of kind `structure` on the names of called tools that lie in no other fragment, and exclusions."""
    world = corpus.world
    if len(world.requests.unit_names) < 2:
        return [], []
    parsed = np.zeros(world.text_bytes.size, dtype=np.bool_)
    fields = world.uses.field.where(lambda name: name.endswith("function.name"))
    parsed[world.uses.content[fields & (world.uses.side == 1)]] = True

    def show(batch: TextBatch) -> tuple[Ints, Labels]:
        keys, buffer, offsets = batch
        return keys, called(buffer, offsets, parsed[keys])

    mine = list(corpus.over(world.is_response, show))
    hashes = np.concatenate([np.zeros(0, dtype=np.int64), *(found.hashes for _, found in mine)])
    if hashes.size == 0:
        return [], []
    table = SeedTable.over(hashes)

    def look(batch: TextBatch) -> tuple[Ints, Labels]:
        keys, buffer, offsets = batch
        return keys, asked(buffer, offsets, table)

    rows = of_one_tenant(world, table, [*mine, *corpus.over(world.is_prompt, look)], parameters)
    contents = np.concatenate([keys[found.documents] for keys, found in mine])
    calls = _measured(world, texts, list(rows.iter_rows(named=True)), table.ids(hashes), contents, judged)
    results: list[Judged] = []
    excluded: list[Excluded] = []
    for batch in texts.batches([{call.content} for call in calls]):
        for call in calls[batch.start : batch.stop]:
            if call.target:
                result = _judge(world, texts, call, calls, parameters)
                if isinstance(result, Judged):
                    results.append(result)
                else:
                    excluded.append(result)
    return results, excluded


def _measured(
    world: World, texts: Texts, rows: list[dict[str, int]], seeds: npt.NDArray[np.int32], contents: Ints,
    judged: list[Judged],
) -> list[_Call]:  # fmt: skip
    """The calls whose tool the own prompts do not hold. `seeds`, `contents`: of all calls in responses."""
    requests, uses = world.requests, world.uses
    taken: dict[int, list[tuple[int, int]]] = {}
    for item in judged:
        taken.setdefault(item.candidate.use, []).append((item.candidate.start, item.candidate.end))
    rows = [
        row
        for row in rows
        if not any(row["start"] < high and low < row["end"] for low, high in taken.get(row["use"], ()))
    ]
    asking = {int(uses.request[row["use"]]) for row in rows}
    prompts, schemas = prompts_by_request(world, asking), schemas_of(world, asking)
    own = [
        [*prompts.get(request, ()), *schemas.get(request, ())]
        for request in (int(uses.request[r["use"]]) for r in rows)
    ]
    sent = world.sent_bytes()
    pairs = math.log2(max(2, seeds.size)) + math.log2(max(2, len(requests.unit_names)))
    found: list[_Call] = []
    for batch in texts.batches([{row["content"], *held} for row, held in zip(rows, own, strict=True)]):
        read = {content: texts.units(content).tobytes() for place in batch for content in own[place]}
        for place in batch:
            row = rows[place]
            start, end = row["start"], row["end"]
            units = texts.units(row["content"])[start:end]
            odd = odd_word(texts, row["content"], start, end)
            if any(holds(read[content], units) for content in own[place]) or (row["holders"] > FEW and not odd):
                continue
            length = end - start
            holder = Holder(
                row["other"], row["holder"], 0, start, end, row["other_start"], row["other_start"] + length, length
            )
            charge = math.log2(max(2.0, float(sent[row["holder"]]) / BYTES_A_LABEL)) + pairs
            callers = _callers(world, contents[seeds == row["seed"]], int(requests.unit[uses.request[row["use"]]]))
            bits = label_bits(texts.folded(row["content"]), start, end)
            found.append(
                _Call(
                    row["use"], row["content"], start, end, holder, bool(row["target"]), callers > 1, bits, charge, odd
                )
            )
    return found


def _callers(world: World, contents: Ints, unit: int) -> int:
    """Requests of the tenant with one of these texts as a response."""
    uses, requests = world.uses, world.requests
    names = set()
    for content in np.unique(contents).tolist():
        rows = np.arange(int(uses.of_content[content]), int(uses.of_content[content + 1]))
        rows = rows[(uses.side[rows] == 1) & (requests.unit[uses.request[rows]] == unit)]
        names |= {requests.request_id[request] for request in uses.request[rows].tolist()}
    return len(names)


def _judge(world: World, texts: Texts, call: _Call, calls: list[_Call], parameters: Parameters) -> Judged | Excluded:
    folded = texts.folded(call.content)

    def dropped(detail: str) -> Excluded:
        low, high = folded.span(call.start, call.end)
        return Excluded(call.use, low, high, "too_weak", detail, 2, round(call.bits, 1))

    if call.net < parameters.possible_bits:
        return dropped(f"the name of a called tool that another tenant offers, net {call.net:.1f} bits")
    as_good = [other.target for other in calls if other.net >= call.net]
    if as_good.count(False) > DECOY_SHARE * as_good.count(True):
        return dropped("tools that were offered only later do as well")
    if call.again:
        return dropped("the recipient's tenant calls it in other responses, too: the log may lack what it offers")
    candidate = Candidate(
        call.use,
        int(world.uses.request[call.use]),
        call.content,
        call.start,
        call.end,
        "target",
        False,
        (call.holder,),
        frozenset({call.holder.unit}),
    )
    source = locate(world, candidate, call.holder)
    if source is None:
        return dropped("no request could have carried it before this response finished")
    ranked = rank([source])
    none = np.zeros(0, dtype=np.uint64)
    evidence = Evidence(
        strength=Strength(call.bits, call.bits, 1, call.bits, none, np.zeros(0), np.zeros(0)),
        charge=call.charge,
        sources=ranked,
        kin_recipient=0.0,
        kin_source={},
        only={},
        share_of_response=total_weight(folded.units[call.start : call.end]) / max(1, total_weight(folded.units)),
        features={"called_tool": True},
    )
    named = call.odd or near(source)
    reason = f"calls a tool that one other tenant alone offers; net {call.net:.0f} bits"
    if not named:
        reason += "; its tenant was not near, and anybody might call a tool so: nobody is named"
    return Judged(
        candidate, evidence, "structure" if named else "undetermined", STRATUM, "possible" if named else "undetermined",
        reason, [call.holder.unit] if named else [], ranked, TRIED, None,
    )  # fmt: skip
