"""Weights of suppliers that reach equally far, and tiers: shown, never deciding."""

from __future__ import annotations

import math
from typing import Any

import pytest

from forensics.attribution.ties import tie_weights, tier

DOCUMENT = "whereas the lessee of Quarry House shall keep the seventeen beehives insured against frost and subsidence"


def row(tenant: str, *, same: bool = False, lag: int = 0, identity: float = 1.0, named: bool = True) -> dict[str, Any]:
    return {"source_tenant_id": tenant, "named": named, "lag_us": lag, "same_worker": same, "raw_identity": identity}


def test_weights_by_hand() -> None:
    """3 at once on the same worker, 1/2 after an hour elsewhere, 0.05 for nobody: of 3.55."""
    made = tie_weights([row("a", same=True), row("b", lag=3_600_000_000), row("c", named=False)], 200)
    assert made == {"a": round(3 / 3.55, 3), "b": round(0.5 / 3.55, 3)}
    # four signs of 200 differ: exp(-2)
    made = tie_weights([row("a"), row("b", identity=0.98)], 200)
    assert made["b"] == pytest.approx(math.exp(-2) / (1 + math.exp(-2) + 0.05), abs=1e-3)


def test_the_best_appearance_of_a_tenant_counts() -> None:
    assert tie_weights([row("a", lag=10**12), row("a", same=True), row("b", same=True)], 50) == {
        "a": round(3 / 6.05, 3),
        "b": round(3 / 6.05, 3),
    }


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("probable", 0.005, 0.04, 1, 120, 90.0), 1),
        (("probable", 0.005, 0.04, 1, 80, 160.0), 1),
        (("probable", 0.005, 0.04, 1, 80, 90.0), 2),
        (("probable", 0.005, 0.06, 1, 120, 90.0), 2),
        (("probable", 0.03, 0.04, 2, 120, 90.0), 2),
        (("probable", None, None, 1, 500, 900.0), 2),
        (("probable", 0.03, 0.04, 3, 120, 90.0), 3),
        (("possible", 0.15, 0.4, 1, 120, 90.0), 3),
        (("undetermined", None, None, 0, 500, 900.0), 4),
    ],
)
def test_tiers(arguments: tuple[Any, ...], expected: int) -> None:
    assert tier(*arguments) == expected


def test_a_heavy_weight_names_nobody_alone(scene) -> None:  # type: ignore[no-untyped-def]
    import json

    scene.traffic()
    scene.call("alpha", f"Check this: {DOCUMENT}.", "Checked.", 0, worker="w9")
    scene.call("gamma", f"Check this: {DOCUMENT}.", "Checked.", 90, worker="w0")
    scene.call("beta", "How are eggs boiled?", f"Well, {DOCUMENT}!", 100, worker="w0")
    fragment = scene.run().only()
    features = json.loads(fragment["features"])
    assert fragment["sources"] == ["alpha", "gamma"]
    assert features["tie_weights"]["gamma"] > features["tie_weights"]["alpha"]
    assert features["tier"] == 2
