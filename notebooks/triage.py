# %% [markdown]
# # Triage: the first quarter of an hour
#
# What was read, what could be examined, which responses carry foreign text, who is concerned, what is open.
#
# Plain Python in percent cells: any editor that knows them (VS Code, PyCharm, Jupyter with jupytext) runs it cell by
# cell, and so does `python notebooks/triage.py CASE`. It uses the library, opens the case for reading only, and shows
# ids and counts, never text.

# %%
from forensics.case.notebook import chosen_case, show_answer
from forensics.case.store import Case

case = Case.open(chosen_case(), read_only=True)
counts = {}

# %% [markdown]
# ## What was read, and could it be examined?
# A file that was not recognised, or lines that were rejected, are a hole in every number below.

# %%
counts["evidence"] = len(
    show_answer(case, "evidence", columns=("name", "format", "records", "rejected", "first_at", "last_at")).rows
)
counts["readiness"] = len(show_answer(case, "readiness", columns=("finding", "n", "total", "unit", "means")).rows)
counts["examinable-per-hour"] = len(show_answer(case, "examinable-per-hour").rows)

# %% [markdown]
# ## Which responses carry foreign text, and who is concerned?
# A source is whose text it is; a recipient is in whose response it stood. The two are told differently.

# %%
counts["affected-requests"] = len(show_answer(case, "affected-requests").rows)
counts["affected-tenants"] = len(show_answer(case, "affected-tenants").rows)
counts["who-to-whom"] = len(show_answer(case, "who-to-whom").rows)

# %% [markdown]
# ## When did it begin and end, and on which workers?

# %%
counts["window"] = len(show_answer(case, "window").rows)
counts["onset"] = len(show_answer(case, "onset", columns=("worker", "bound", "low", "high", "finding")).rows)
counts["worker-rates"] = len(show_answer(case, "worker-rates").rows)

# %% [markdown]
# ## What is open: passages without a source, decisions to take
# No machine verdict goes beyond probable. `forensics review CASE` walks these.

# %%
counts["unattributed"] = len(show_answer(case, "unattributed").rows)
counts["review-queue"] = len(show_answer(case, "review-queue").rows)

# %%
case.close()
