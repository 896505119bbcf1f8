"""A planted string says whose text it is. The canaries, and who sees them, are written here by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from forensics.attribution.canary_list import read_canaries
from forensics.attribution.parameters import Parameters
from forensics.case.errors import MissingInput, UsageError
from forensics.case.explain import explain

CANARY = "Zebu-Kolibri 7Q4M xarvenholt"
HEBREW = "צבר־קורנית שבלולית תשע"
HAN = "翡翠鸬鹚碑帖榫卯"


def parameters(folder: Path, *lines: str, header: str = "canary,tenant_id,label") -> Parameters:
    path = folder / "canaries.csv"
    path.write_text("\n".join((header, *lines)) + "\n", encoding="utf-8")
    return Parameters(canaries=path)


def leak(scene: Any, shown: str, *lines: str, planted: str | None = None) -> Any:
    scene.traffic()
    scene.call("alpha", planted or "What is in the vault?", "Nothing.", 0)
    scene.call("beta", "How are eggs boiled?", f"Boil them. ({shown}) Done.", 60, request_id="victim")
    return scene.run(parameters(scene.root, *(lines or (f"{CANARY},alpha,vault 3",))))


@pytest.mark.parametrize(
    "shown", [CANARY, CANARY.upper(), CANARY.lower().replace(" ", ""), "zebu kolibri 7q4m XarvenHolt"]
)
def test_a_whole_canary_names_its_tenant_though_no_prompt_holds_it(scene: Any, shown: str) -> None:
    fragment = leak(scene, shown).only()
    answer = f"Boil them. ({shown}) Done."
    assert (fragment["kind"], fragment["sources"], fragment["machine_verdict"]) == ("identifier", ["alpha"], "probable")
    assert answer[fragment["start"] : fragment["end"]] == shown
    assert '"canary_label":"vault 3"' in fragment["features"]


@pytest.mark.parametrize(
    ("canary", "shown"),
    [
        (CANARY, CANARY[: len(CANARY) // 2 + 4]),  # its beginning
        (CANARY, CANARY[-17:]),  # its end
        (CANARY, CANARY[4:22]),  # its middle
        (HEBREW, HEBREW[:17]),
        (HAN * 2, HAN * 2),
        ("АРФА-ЛАЗУРИТ-КОЧЕВНИК-42", "арфа лазурит кочевник"),
        ("ＡＧＡＴＥ－７７１５－ＱＵＩＮＣＥ", "agate 7715 quince"),
    ],
)
def test_parts_and_scripts(scene: Any, canary: str, shown: str) -> None:
    fragment = leak(scene, shown, f"{canary},alpha").only()
    assert (fragment["sources"], fragment["stratum"]) == (["alpha"], "canary")


def test_a_part_below_the_minimum_says_nothing(scene: Any) -> None:
    assert leak(scene, "zebukolibri").fragments == []


def test_the_prompt_that_held_it_is_shown(scene: Any) -> None:
    result = leak(scene, CANARY, planted=f"The word of the house is {CANARY}.")
    fragment = result.only()
    best = result.best(fragment)
    assert (fragment["sources"], best["source_tenant_id"], best["named"]) == (["alpha"], "alpha", True)
    assert '"canary_label":"vault 3"' in fragment["features"]


def test_its_own_tenant_may_see_it(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", "Who is there?", f"The word is {CANARY}.", 0)
    assert scene.run(parameters(scene.root, f"{CANARY},alpha,x")).fragments == []


def test_a_sister_account_may_see_it(scene: Any) -> None:
    scene.tenants = "key_kind,key,tenant_id,organisation\ntenant,alpha,alpha,Group\ntenant,beta,beta,Group\n"
    assert leak(scene, CANARY).fragments == []


def test_what_the_recipient_sent_first_is_its_own(scene: Any) -> None:
    scene.traffic()
    scene.call("beta", f"Is {CANARY} a word?", f"Yes, {CANARY} is one.", 60, request_id="victim")
    result = scene.run(parameters(scene.root, f"{CANARY},alpha,x"))
    assert result.fragments == []
    assert result.rules("victim") == {"own_material"}


def test_a_leak_that_is_carried_along_is_an_echo(scene: Any) -> None:
    scene.traffic()
    first = f"Boil them. ({CANARY}) Done."
    scene.call("beta", "How are eggs boiled?", first, 60, request_id="victim")
    history = [
        {"role": "user", "content": "How are eggs boiled?"},
        {"role": "assistant", "content": first},
        {"role": "user", "content": "What was that?"},
    ]
    scene.call("beta", history, f"I said {CANARY}.", 90, request_id="later")
    result = scene.run(parameters(scene.root, f"{CANARY},alpha,x"))
    assert [row["recipient_request_id"] for row in result.fragments] == ["victim"]
    assert result.rules("later") == {"echo"}


def test_a_part_that_two_tenants_canaries_share_names_both(scene: Any) -> None:
    lines = ("HARBOUR-LANTERN-QUOIN-1111-alpha,alpha", "HARBOUR-LANTERN-QUOIN-2222-gamma,gamma")
    assert leak(scene, "harbour lantern quoin", *lines).only()["sources"] == ["alpha", "gamma"]


def test_the_whole_one_of_two_alike_is_told_apart(scene: Any) -> None:
    lines = ("HARBOUR-LANTERN-QUOIN-11118888,alpha", "HARBOUR-LANTERN-QUOIN-22229999,gamma")
    assert leak(scene, "harbour lantern quoin 2222-9999", *lines).only()["sources"] == ["gamma"]


def test_words_of_a_canary_that_everybody_writes_say_nothing(scene: Any) -> None:
    for i in range(4):
        scene.call(f"gamma-{i}", "Please forward the minutes of the meeting.", "Done.", i)
    result = leak(scene, "Please forward the minutes", "please forward the minutes to Zarquon Velb 81,alpha,x")
    assert result.fragments == []


def test_other_canaries_run_the_stage_again_and_the_record_holds_a_digest(scene: Any) -> None:
    leak(scene, CANARY)
    case = scene._cases[-1]
    assert scene.again(Parameters()).summary.skipped  # those that the case holds
    again = scene.again(parameters(scene.root, "Another 77 string here,alpha,x"))
    assert not again.summary.skipped
    assert again.fragments == []
    recorded = next(row["parameters"] for row in case.table("stages").to_pylist() if row["stage"] == "attribution")
    assert "Another" not in recorded
    assert "canaries.csv" not in recorded
    assert '"canaries_sha256":"' in recorded


def test_explain_shows_the_label_and_not_the_value(scene: Any) -> None:
    fragment = leak(scene, CANARY).only()
    found = explain(scene._cases[-1], fragment["fragment_id"])
    assert found.features["canary_label"] == "vault 3"
    assert "olibri" not in str(found)


def test_rejected_lines_are_counted_by_number_without_their_content(tmp_path: Path) -> None:
    lines = (
        f"{CANARY},alpha,good",
        "short,alpha,x",
        "no-tenant-secret-99,,x",
        "",
        "aaaaaaaaaaaaaaaa,alpha,x",
        f'"{CANARY.lower()}",alpha,again',
        "label-holds-it-5512,alpha,see label-holds-it-5512",
        "a,b,c,d",
        "clash-of-two-8812,alpha",
        "Clash of two 8812,gamma",
    )
    path = parameters(tmp_path, *lines).canaries
    assert path is not None
    found = read_canaries(path)
    assert [(c.value, c.tenant_id, c.label, c.line) for c in found.canaries] == [(CANARY, "alpha", "good", 2)]
    assert found.rejected == 8
    (said,) = found.warnings
    for number in (3, 4, 6, 7, 8, 9, 10, 11):
        assert f"line {number} (" in said
    for secret in ("short", "secret", "aaaa", "olibri", "holds-it", "clash"):
        assert secret not in said


def test_files_that_cannot_be_read_say_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(MissingInput):
        read_canaries(tmp_path / "none.csv")
    with pytest.raises(UsageError, match="header"):
        read_canaries(parameters(tmp_path, "x,y", header="key,tenant").canaries or tmp_path)
    (tmp_path / "bad.csv").write_bytes(b"canary,tenant_id\n\xff\xfe,alpha\n")
    with pytest.raises(UsageError, match="UTF-8"):
        read_canaries(tmp_path / "bad.csv")
