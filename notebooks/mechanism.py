# %% [markdown]
# # Mechanism: how did it happen?
#
# Each hypothesis is a fact about source and recipient (took over its slot, shared its pass, hit its prefix ...). Leaks
# are compared with matched controls: pairs that could have leaked and did not. A hypothesis stands where the fact is
# far more common among leaks than among controls, after correction for the number of hypotheses; else it falls.

# %%
from collections import Counter

from scipy.stats import fisher_exact

from forensics.case.notebook import chosen_case, show, show_answer
from forensics.case.store import Case

case = Case.open(chosen_case(), read_only=True)
counts = {}

# %% [markdown]
# ## When: onset, end, and what the engine did in between

# %%
counts["onset"] = len(show_answer(case, "onset", columns=("worker", "bound", "at", "low", "high", "finding")).rows)
counts["worker-rates"] = len(show_answer(case, "worker-rates").rows)

# %% [markdown]
# ## What the leaks have in common with each other

# %%
counts["factors"] = len(
    show_answer(
        case,
        "factors",
        columns=("factor", "value", "affected", "affected_of", "unaffected", "unaffected_of", "odds_ratio", "p_holm"),
    ).rows
)

# %% [markdown]
# ## Facts that tie source and recipient together
# Counts among leaks and among controls, odds ratio with its exact interval, and the corrected p-value.

# %%
facts = show_answer(
    case,
    "mechanism-facts",
    columns=(
        "level",
        "predicate",
        "status",
        "leaks_with",
        "leaks",
        "controls_with",
        "controls",
        "odds_ratio",
        "low",
        "p_holm",
    ),
    most=30,
)
counts["facts"] = len(facts.rows)

# %% [markdown]
# The case's test compares each leak with its own controls. The plain sums of the four counts ignore that; Fisher's test
# on them must still point the same way:

# %%
again = []
for row in facts.records():
    with_fact, leaks, controls_with, controls = (row[k] for k in ("leaks_with", "leaks", "controls_with", "controls"))
    if leaks and controls and row["p_value"] is not None:
        counted = [[with_fact, leaks - with_fact], [controls_with, controls - controls_with]]
        again.append(
            (row["level"], row["predicate"], row["p_value"], fisher_exact(counted, alternative="greater").pvalue)
        )
counts["recomputed"] = show(("level", "predicate", "in the case", "by Fisher's test on the sums"), again, 30)

# %% [markdown]
# ## The catalogue: what stands, what fell and with which numbers, what these logs cannot test

# %%
catalogue = show_answer(
    case,
    "mechanisms",
    columns=("hypothesis", "status", "rank", "leaks_with", "leaks", "controls_with", "controls", "title"),
    most=40,
)
statuses = Counter(row["status"] for row in catalogue.records())
show(("status", "hypotheses"), sorted(statuses.items()))
counts["mechanisms"] = len(catalogue.rows)
counts["stands"] = statuses["stands"]
show(
    ("hypothesis", "switch on next time"),
    ((row["hypothesis"], row["next_time"]) for row in catalogue.records() if row["status"] == "not_testable"),
    30,
)

# %% [markdown]
# ## Who else was exposed
# Requests that share the faulty slot, pass or prefix with a proven leak and carry no foreign text that can be read.

# %%
counts["exposures"] = len(
    show_answer(case, "exposures", columns=("request_id", "tenant_id", "relation", "shared", "leaks", "supported")).rows
)
show_answer(case, "cache-hits-beyond-own")

# %%
case.close()
