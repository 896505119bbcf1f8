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

from forensics.replay.plan import Leak, Plan
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


@dataclass(frozen=True)
class _Foreign:
    """What is foreign to a tenant. `holders`: keys of the requests that hold each text of `index`; `canaries`: keys of
    sources with their canaries, folded, without those that the tenant's own texts hold."""

    index: Index
    holders: tuple[frozenset[str], ...]
    canaries: tuple[tuple[str, tuple[str, ...]], ...]


class Matcher:
    """Looks for the texts of one leak's requests. What is foreign to a tenant is worked out once."""

    def __init__(self, plan: Plan, leak: Leak, texts: Mapping[str, str]) -> None:
        keys = sorted({key for arm in plan.arms if arm.leak == leak.fragment_id for key in arm.requests})
        self._requests = {key: plan.request(key) for key in keys}
        self._texts, self._leak = texts, leak
        self._foreign: dict[str, _Foreign] = {}

    def hits(self, key: str, response: str) -> list[Hit]:
        """Foreign text in the response to request `key`, by place."""
        return self.of_tenant(self._requests[key].tenant_ref, response)

    def of_tenant(self, tenant: str, response: str) -> list[Hit]:
        """Foreign text in a response to `tenant`; one that no request has may be anybody's."""
        if not response:
            return []
        if tenant not in self._foreign:
            self._foreign[tenant] = self._foreign_to(tenant)
        foreign = self._foreign[tenant]
        found = set()
        if foreign.index.seeds.keys.size:
            spans = foreign.index.spans(*pack([response]))
            for start, end, other in zip(spans.start.tolist(), spans.end.tolist(), spans.other.tolist(), strict=True):
                found.add(Hit(start, end, foreign.holders[other], False))
        text = _folded(response)
        found |= {
            Hit(0, 0, frozenset((key,)), True) for key, marks in foreign.canaries if any(mark in text for mark in marks)
        }
        return sorted(found, key=lambda hit: (hit.start, hit.end, sorted(hit.keys)))

    def _foreign_to(self, tenant: str) -> _Foreign:
        own: set[str] = set()
        held: dict[str, set[str]] = {}
        for key, request in self._requests.items():
            if request.tenant_ref == tenant:
                own.update(request.text_ids)
            else:
                for one in request.text_ids:
                    held.setdefault(one, set()).add(key)
        foreign = sorted(held.keys() - own)
        said = [self._texts[one] for one in sorted(own)]
        index = Index.over(
            *pack([self._texts[one] for one in foreign]),
            MINIMUM,
            own=SeedTable.over(every_gram(*pack(said)).hashes),
        )
        folded = " ".join(map(_folded, said))
        canaries = tuple(
            (key, tuple(mark for mark in map(_folded, marks) if len(mark) >= SHORTEST_CANARY and mark not in folded))
            for key, marks in sorted(self._leak.marks.items())
            if key in self._requests and self._requests[key].tenant_ref != tenant
        )
        return _Foreign(index, tuple(frozenset(held[one]) for one in foreign), canaries)


def covered(hits: list[Hit]) -> int:
    """Code points that the hits cover together."""
    total, last = 0, 0
    for hit in sorted(hits, key=lambda one: (one.start, one.end)):
        total += max(hit.end - max(hit.start, last), 0)
        last = max(last, hit.end)
    return total


def _folded(text: str) -> str:
    return "".join(map(chr, fold(text).units.tolist()))
