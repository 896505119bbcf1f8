"""Does a response hold text of somebody else's request? Asks the attribution matcher (`text/match`) and the canaries.

Foreign is the text of a request of another tenant, unless the recipient's tenant sent it too. All requests of a leak's
arms are looked for in every arm, also where they were not sent: what turns up of a request that was not there is the
model's memory or habit, or was left behind by an earlier trial. Judges no rates.

Guarantee: a common run of letters and digits of weight MINIMUM (24 letters, 9 Han signs) is found; a canary is found
however it is spaced or cased. Answers of other requests are not looked for, prompts are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from forensics.replay.plan import Leak, Plan, PlannedRequest
from forensics.text.fold import fold
from forensics.text.match import Index, every_gram, pack
from forensics.text.seed_search import SeedTable

MINIMUM = 24
SHORTEST_CANARY = 6  # folded units


@dataclass(frozen=True)
class Hit:
    """Foreign text in a response: `[start, end)` in code points (a canary: 0, 0), `keys` of requests that hold it."""

    start: int
    end: int
    keys: frozenset[str]
    canary: bool


class Matcher:
    """Looks for the texts of one leak's requests. Indexes are made once per tenant that receives."""

    def __init__(self, plan: Plan, leak: Leak, texts: Mapping[str, str]) -> None:
        keys = sorted({key for arm in plan.arms if arm.leak == leak.fragment_id for key in arm.requests})
        self._requests = {key: plan.request(key) for key in keys}
        self._texts, self._leak = texts, leak
        self._indexes: dict[str, tuple[Index, list[frozenset[str]]]] = {}

    def hits(self, key: str, response: str) -> list[Hit]:
        """Foreign text in the response to request `key`, by place."""
        tenant = self._requests[key].tenant_ref
        return self.of_tenant(tenant, response)

    def of_tenant(self, tenant: str, response: str) -> list[Hit]:
        """Foreign text in a response to `tenant`; one that no request has may be anybody's."""
        if not response:
            return []
        index, holders = self._index(tenant)
        found = []
        if index.seeds.keys.size:
            spans = index.spans(*pack([response]))
            for start, end, other in zip(spans.start.tolist(), spans.end.tolist(), spans.other.tolist(), strict=True):
                found.append(Hit(start, end, holders[other], False))
        return sorted({*found, *self._canaries(tenant, response)}, key=lambda h: (h.start, h.end, sorted(h.keys)))

    def _canaries(self, tenant: str, response: str) -> list[Hit]:
        text = _folded(response)
        own = " ".join(_folded(self._texts[one]) for r in self._of(tenant) for one in text_ids(r))
        found = []
        for key, marks in sorted(self._leak.marks.items()):
            if key not in self._requests or self._requests[key].tenant_ref == tenant:
                continue
            folded = [_folded(mark) for mark in marks]
            if any(len(mark) >= SHORTEST_CANARY and mark in text and mark not in own for mark in folded):
                found.append(Hit(0, 0, frozenset((key,)), True))
        return found

    def _index(self, tenant: str) -> tuple[Index, list[frozenset[str]]]:
        if tenant not in self._indexes:
            own = {one for request in self._of(tenant) for one in text_ids(request)}
            held: dict[str, set[str]] = {}
            for key, request in self._requests.items():
                if request.tenant_ref != tenant:
                    for one in text_ids(request):
                        held.setdefault(one, set()).add(key)
            foreign = sorted(held.keys() - own)
            words = SeedTable.over(every_gram(*pack([self._texts[one] for one in sorted(own)])).hashes)
            index = Index.over(*pack([self._texts[one] for one in foreign]), MINIMUM, own=words)
            self._indexes[tenant] = index, [frozenset(held[one]) for one in foreign]
        return self._indexes[tenant]

    def _of(self, tenant: str) -> list[PlannedRequest]:
        return [request for request in self._requests.values() if request.tenant_ref == tenant]


def text_ids(request: PlannedRequest) -> list[str]:
    """The texts of a request, in order."""
    return [request.prompt] if request.prompt is not None else [message.text for message in request.messages]


def covered(hits: list[Hit]) -> int:
    """Code points that the hits cover together."""
    total, last = 0, 0
    for hit in sorted(hits, key=lambda one: (one.start, one.end)):
        total += max(hit.end - max(hit.start, last), 0)
        last = max(last, hit.end)
    return total


def _folded(text: str) -> str:
    return "".join(map(chr, fold(text).units.tolist()))
