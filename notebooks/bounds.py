# %% [markdown]
# # Bounds: how many could there be?
#
# Three things stand between what was found and what is: what could not be examined, what the detector misses, and what
# it takes for a leak that is none. Each has a number, and each number has a method.

# %%
from scipy.stats import binomtest

from forensics.case.ask import ask
from forensics.case.notebook import chosen_case, show, show_answer
from forensics.case.store import Case

case = Case.open(chosen_case(), read_only=True)
counts = {}
numbers = {row["name"]: row for row in ask(case, "numbers").records()}


def figures(*beginnings: str) -> int:
    """Print the figures whose names begin so."""
    chosen = [row for name, row in sorted(numbers.items()) if name.startswith(beginnings)]
    columns = ("name", "value", "n", "total", "low", "high", "method")
    return show(columns, ([row[column] for column in columns] for row in chosen), 40)


# %% [markdown]
# ## What could not be examined
# A response is examinable where it and its possible sources are present in full. The rest is not clean: nobody looked.

# %%
counts["coverage"] = figures("requests", "examined", "not_examinable")
counts["per tenant"] = len(show_answer(case, "examinable-per-tenant").rows)
counts["per hour"] = len(show_answer(case, "examinable-per-hour").rows)

# %% [markdown]
# ## What was found
# Confirmed, probable or better, possible or better; the lower bound says what it rests on.

# %%
counts["found"] = figures("responses.", "lower_bound")

# %% [markdown]
# ## Rates with their intervals
# Exact binomial intervals (Clopper and Pearson). Zero of n is not zero: the upper limit is about 3/n.

# %%
counts["rates"] = figures("rate.")
again = []
for name, row in sorted(numbers.items()):
    if name.startswith("rate.") and row["total"]:
        hits, total = row["n"], row["total"]
        test = binomtest(hits, total) if hits else binomtest(0, total, alternative="less")
        exact = test.proportion_ci(0.95, method="exact")
        again.append((name, hits, total, row["low"], exact.low if hits else 0.0, row["high"], exact.high))
counts["recomputed"] = show(("rate", "n", "total", "low", "low again", "high", "high again"), again)
assert all(abs(low - low2) < 1e-12 and abs(high - high2) < 1e-12 for *_, low, low2, high, high2 in again)

# %% [markdown]
# ## False alarms: decoys
# Texts that cannot be sources compete with those that can. A q-value is printed only where their check holds.

# %%
counts["decoys"] = len(
    show_answer(
        case, "decoys", columns=("stratum", "targets", "decoys", "valid", "accepted", "false_share_bound", "reason")
    ).rows
)

# %% [markdown]
# ## Misses: planted leaks
# `forensics controls CASE` plants copies of other customers' text in a copy of the case and counts what is found again.
# The upper bound of affected responses divides what was found by the lower limit of recall, class by class, and takes
# what could not be examined to be affected as often as the rest.

# %%
counts["controls"] = len(show_answer(case, "controls", most=20).rows)
counts["bounds"] = figures("upper_bound", "recall", "missed", "capture")
if not counts["controls"]:
    print("controls have not been run on this case: no upper bound. Run `forensics controls CASE`.")

# %%
case.close()
