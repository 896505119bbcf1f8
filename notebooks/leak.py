# %% [markdown]
# # One leak in depth
#
# Everything that the case holds about one fragment: where it is, whose text it is, how strong that is, what else was
# considered, what happened on the engine, and what would change the verdict. Ids, offsets and counts only; the passages
# themselves are shown by `forensics explain CASE FRAGMENT --reveal`, which logs the look.
#
# `FORENSICS_FRAGMENT=F-...` chooses the fragment; otherwise it is the strongest one whose source is named.

# %%
import os
from collections import Counter

import orjson

from forensics.case.ask import ask
from forensics.case.explain import explain
from forensics.case.notebook import chosen_case, show, show_answer
from forensics.case.store import Case

case = Case.open(chosen_case(), read_only=True)
lines = (case.out / "fragments.jsonl").read_bytes().split(b"\n")
listed = [orjson.loads(line) for line in lines if line]
named = [item for item in listed if item["verdict"] in ("confirmed", "probable") and len(item["sources"]) == 1]
named.sort(key=lambda item: (-item["bits"], item["fragment_id"]))
fragment = os.environ.get("FORENSICS_FRAGMENT") or (named or listed)[0]["fragment_id"]
found = explain(case, fragment)
counts = {"fragments": len(listed), "named": len(named)}

# %% [markdown]
# ## Where it is, and what is said of it

# %%
show(
    ("what", "value"),
    (
        ("fragment", found.fragment_id),
        ("response", found.recipient_request_id),
        ("tenant", found.recipient_tenant_id),
        ("field", found.field),
        ("characters", f"{found.start} to {found.end} ({found.end - found.start} long)"),
        ("received", found.received_at),
        ("worker", found.worker),
        ("kind", found.kind),
        ("verdict", found.verdict),
        ("because", found.verdict_basis),
        ("sources", found.sources),
    ),
    20,
)

# %% [markdown]
# ## How strong it is
# Bits are the rarity of the words under the case's own background, less a charge for the number of places searched. The
# words that carry most stand by their offsets.

# %%
print(
    f"{found.bits:.1f} bits, {found.net_bits:.1f} after the charge; q-value {found.q_value}, stratum {found.stratum}\n"
)
counts["parts"] = show(("start", "end", "bits"), ((part.start, part.end, part.bits) for part in found.parts))
counts["features"] = show(("figure", "value"), sorted(found.features.items()), 30)

# %% [markdown]
# ## Who else could it be
# A source is named only where the others fall behind; the margin is in shares of the passage.

# %%
counts["candidates"] = show(
    ("rank", "request", "tenant", "side", "field", "similarity", "named", "lag_seconds", "same_worker"),
    (
        (
            c.rank,
            c.source_request_id,
            c.source_tenant_id,
            c.side,
            c.field,
            c.similarity,
            c.named,
            c.lag_seconds,
            c.same_worker,
        )
        for c in found.candidates
    ),
)
print(f"margin over the runner-up: {found.margin}\n")
for compared in found.differences:
    kinds = Counter(edit.kind for edit in compared.edits)
    print(
        f"against source {compared.rank}: {compared.equal} of {compared.compared} characters equal,",
        dict(sorted(kinds.items())),
    )

# %% [markdown]
# ## What was ruled out, and what was set aside beside it

# %%
print("tried on this passage:", ", ".join(found.exclusions_tried) or "nothing recorded", "\n")
show(("rule", "measured", "limit"), ((tried["rule"], tried["measured"], tried["limit"]) for tried in found.tried))
counts["set aside"] = show(
    ("start", "end", "rule", "holders"),
    ((row["start"], row["end"], row["rule"], row["holders"]) for row in found.set_aside),
)
show(
    ("stratum", "targets", "decoys", "valid"),
    ((row["stratum"], row["targets"], row["decoys"], row["valid"]) for row in found.decoys),
)

# %% [markdown]
# ## What happened on the engine
# Slots of both requests, who held them before and after, and what ties the two together.

# %%
source = next((c.source_request_id for c in found.candidates if c.named), None)
for request in [found.recipient_request_id, *([source] if source else [])]:
    show_answer(case, "request", {"request": request}, columns=("vantage", "tenant_id", "evidence_name", "line"))
    counts["slots"] = counts.get("slots", 0) + len(show_answer(case, "slot-of-request", {"request": request}).rows)
show(
    ("rank", "relation"),
    ((c.rank, relation) for c in found.candidates for relation in c.relations),
    20,
)
moments = [orjson.loads(line) for line in (case.out / "timeline.jsonl").read_bytes().split(b"\n") if line]
involved = {found.recipient_request_id, source}
counts["moments"] = show(
    ("datetime", "what", "request", "slot"),
    (
        (event["datetime"], event["timestamp_desc"], event["rid"], event["slot"])
        for event in moments
        if event.get("rid") in involved
    ),
    30,
)

# %% [markdown]
# ## Other fragments of the same response, decisions, and what would change the verdict

# %%
show_answer(case, "fragments-of-request", {"request": found.recipient_request_id})
show(("at", "name", "decision"), ((row["at"], row["name"], row["decision"]) for row in found.reviews))
for sentence in found.would_change:
    print("-", sentence)
counts["would change"] = len(found.would_change)
assert ask(case, "numbers").rows, "scope has not run on this case"

# %%
case.close()
