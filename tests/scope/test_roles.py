"""Who supplied and who received is never swapped: checked on random cases, in every output that names both."""

from __future__ import annotations

import csv
import json
import random
from collections import defaultdict
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from case_builder import CaseBuilder

from forensics.case.ask import ask
from forensics.case.pseudonyms import load_pseudonyms
from forensics.case.store import Case
from forensics.scope import run as scope
from forensics.timeline import run as timeline

TENANTS = ("alpha", "beta", "gamma", "delta", "epsilon")
Pairs = dict[tuple[str, str], int]


def _case(root: Path, seed: int) -> Pairs:
    """A case in which text goes from one tenant to another, never both ways. Returns fragments by (source, recipient)."""
    dice = random.Random(seed)
    ranks = list(TENANTS)
    dice.shuffle(ranks)
    b = CaseBuilder()
    sources = {
        tenant: b.request(f"{tenant}-source", tenant, 10 * i, 10 * i + 5, prompt=f"secret of {tenant} {i} " * 3)
        for i, tenant in enumerate(ranks)
    }
    pairs: defaultdict[tuple[str, str], int] = defaultdict(int)
    for number in range(8):
        giver, taker = sorted(dice.sample(range(len(ranks)), 2))
        source, recipient = ranks[giver], ranks[taker]
        request = b.request(f"{recipient}-{number}", recipient, 100 + 10 * number, 105 + 10 * number, response="x" * 90)
        b.fragment(f"f{number}", request, 10, 60, [source], [(sources[source], "prompt")])
        pairs[source, recipient] += 1
    with b.write(root) as case:
        timeline.run(case, timeline.Parameters())
        scope.run(case, scope.Parameters())
    return dict(pairs)


def _lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


@pytest.mark.parametrize("seed", range(6))
def test_every_output_has_the_same_direction(tmp_path: Path, seed: int) -> None:
    pairs = _case(tmp_path / "c", seed)
    givers, takers = {s for s, _ in pairs}, {r for _, r in pairs}
    out = tmp_path / "c" / "out"

    fragments = _lines(out / "fragments.jsonl")
    assert {(f["sources"][0], f["recipient_tenant_id"]) for f in fragments} == set(pairs)
    assert all(a["source_tenant_id"] == f["sources"][0] for f in fragments for a in f["appearances"])
    assert all(f["recipient_request_id"].startswith(f["recipient_tenant_id"]) for f in fragments)

    with (out / "affected_requests.csv").open(newline="", encoding="utf-8") as file:
        requests = list(csv.DictReader(file))
    assert {(row["source_tenants"], row["tenant_id"]) for row in requests} == set(pairs)

    tenants = {row["tenant_id"]: row for row in pq.read_table(out / "affected_tenants.parquet").to_pylist()}
    for tenant, row in tenants.items():
        assert row["role"] == ("both" if tenant in givers & takers else "source" if tenant in givers else "recipient")
        assert row["requests_as_recipient"] == sum(n for (_, r), n in pairs.items() if r == tenant)
        assert (row["requests_as_source"] > 0) == (tenant in givers)

    with Case.open(tmp_path / "c", read_only=True) as case:
        codes = load_pseudonyms(case)
        asked = ask(case, "who-to-whom").records()
        assert {(r["source_tenant_id"], r["recipient_tenant_id"]): r["fragments"] for r in asked} == pairs
        for tenant in TENANTS:
            given = ask(case, "tenant-as-source", {"tenant": tenant}).records()
            assert {r["recipient_tenant_id"] for r in given} == {r for s, r in pairs if s == tenant}
            taken = ask(case, "tenant-as-recipient", {"tenant": tenant}).records()
            assert len(taken) == sum(n for (_, r), n in pairs.items() if r == tenant)
        for name in ("fragment-sources",):
            assert {(r["source_tenant_id"], r["recipient_tenant_id"]) for r in ask(case, name).records()} == set(pairs)

    events = _lines(out / "timeline.jsonl")
    told = {(e["peer_tenant_ref"][0], e["tenant_ref"]) for e in events if e["timestamp_desc"] == "Fragment Returned"}
    assert told == {(codes.tenant(s), codes.tenant(r)) for s, r in pairs}

    trace = json.loads((out / "trace.json").read_text())["traceEvents"]
    names = {(e["pid"], e["tid"], e["ts"], e["ts"] + e["dur"]): e["args"]["tenant"] for e in trace if e["ph"] == "X"}

    def tenant_at(event: dict) -> set[str]:
        return {
            t
            for (p, d, low, high), t in names.items()
            if (p, d) == (event["pid"], event["tid"]) and low <= event["ts"] <= high
        }

    starts = {e["id"]: e for e in trace if e["ph"] == "s"}
    arrows = {(s, r) for e in trace if e["ph"] == "f" for s in tenant_at(starts[e["id"]]) for r in tenant_at(e)}
    assert arrows == {(codes.tenant(s), codes.tenant(r)) for s, r in pairs}


def test_the_report_has_it_the_same_way_round(tmp_path: Path) -> None:
    from forensics.report import run as report

    pairs = _case(tmp_path / "c", 1)
    with Case.open(tmp_path / "c") as case:
        report.run(case, report.Parameters(on_block="withhold"))
        codes = load_pseudonyms(case)
    with (tmp_path / "c/report/data/who_to_whom.csv").open(newline="", encoding="utf-8") as file:
        rows = {(row["source"], row["recipient"]): int(row["fragments"]) for row in csv.DictReader(file)}
    assert rows == {(codes.tenant(s), codes.tenant(r)): n for (s, r), n in pairs.items()}
    text = (tmp_path / "c/report/report.md").read_text(encoding="utf-8")
    for (s, r), n in pairs.items():
        assert f"| {codes.tenant(s)} | {codes.tenant(r)} | {n} |" in text
        assert f"| {codes.tenant(r)} | {codes.tenant(s)} |" not in text
