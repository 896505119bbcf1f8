"""An explanation says what a finding rests on, and what it says of another verdict comes true when it is tried."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from forensics.attribution.parameters import Parameters
from forensics.case.differences import differences, marked
from forensics.case.explain import Explanation, explain

QUESTION = "How are eggs boiled?"
NOTE = "the depot in Halloran Street shipped seventeen crates of printed ledgers to the wrong quay on Tuesday"


def leak(scene: Any, supplied: str = NOTE, shown: str = NOTE, suppliers: int = 1, second: float | None = 60) -> Any:
    scene.traffic()
    for i in range(suppliers):
        scene.call(f"alpha-{i}", f"Please file this: {supplied}.", "Noted.", None if second is None else i)
    scene.call("beta", QUESTION, f"Like so: {shown}. Done.", second, request_id="victim")
    return scene.run()


def explained(scene: Any, fragment: dict[str, Any], *, reveal: bool = False) -> Explanation:
    return explain(scene._cases[-1], fragment["fragment_id"], reveal=reveal)


def changes(found: Explanation, words: str) -> str:
    [line] = [line for line in found.would_change if words in line]
    return line


# --- what it rests on -----------------------------------------------------------------------------------------------


def test_words_carry_the_bits(scene: Any) -> None:
    passage = f"{NOTE}, reference 4471998211750"
    fragment = leak(scene, passage, passage).only()
    found = explained(scene, fragment, reveal=True)
    by_word = {part.text: part.bits for part in found.parts}
    assert by_word["4471998211750"] == max(by_word.values()) > 30  # 13 digits are worth up to 43 bits
    assert by_word["Halloran"] > by_word.get("wrong", 0.0)
    assert by_word.get("the", 0.0) < by_word["depot"] / 2  # a word that everybody uses
    assert sum(by_word.values()) <= fragment["bits"] + 1
    answer = f"Like so: {passage}. Done."
    assert all(answer[part.start : part.end] == part.text for part in found.parts)


def test_signs_that_stand_together_are_one_part(scene: Any) -> None:
    passage = "码头第七号仓库的账簿由林晓梅于昨日移交给北岸的引航员保管"
    found = explained(scene, leak(scene, passage, passage).only(), reveal=True)
    assert found.parts and max(len(part.text or "") for part in found.parts) > 1
    assert all((part.text or "") in passage for part in found.parts)


def test_rules_say_what_they_measured(scene: Any) -> None:
    found = explained(scene, leak(scene, suppliers=2).only())
    tried = {t["rule"]: (t["measured"], t["limit"]) for t in found.tried}
    assert tried["shared"] == (2, 4)
    assert tried["too_weak"] == (pytest.approx(found.net_bits, abs=0.06), 24.0)
    assert tried["public_text"] == (0.0, 0.5)
    assert tried["echo"] == (0.0, 0.8)
    assert found.holders == ("alpha-0", "alpha-1")
    [decoys] = found.decoys
    assert (decoys["stratum"], decoys["valid"]) == ("supplied text", False) and "50 are needed" in decoys["reason"]


def test_a_rule_that_was_off_says_so(scene: Any) -> None:
    leak(scene, suppliers=5)
    fragment = scene.again(Parameters(without_rules=("shared",))).only()
    [shared] = [t for t in explained(scene, fragment).tried if t["rule"] == "shared"]
    assert (shared["measured"], shared["limit"]) == (5, None) and "switched off" in shared["meaning"]


def test_the_own_prompts_share_is_measured(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", f"Please file this: {NOTE}.", "Noted.", 0)
    half = NOTE[: len(NOTE) // 2]
    scene.call("beta", f"What of {half.split(' shipped')[0]}?", f"Like so: {NOTE}. Done.", 60, request_id="victim")
    fragment = scene.run().of("victim")[0]
    [echo] = [t for t in explained(scene, fragment).tried if t["rule"] == "echo"]
    assert 0.0 <= echo["measured"] < 0.8


# --- differences ----------------------------------------------------------------------------------------------------


def test_differences_are_where_they_are(scene: Any) -> None:
    shown = NOTE.replace("crates", "crat3s").replace("Halloran Street", "Halloran  STREET")
    fragment = leak(scene, NOTE, shown).only()
    bare = explained(scene, fragment)
    assert bare.recipient_passage is None and "Halloran" not in json.dumps(asdict(bare), default=str)
    found = explained(scene, fragment, reveal=True)
    assert found.differences == bare.differences
    assert found.recipient_passage is not None
    mine, theirs = found.recipient_passage.text, found.source_passages[0].text
    [one] = found.differences
    seen = [(e.kind, mine[e.start : e.end], theirs[e.other_start : e.other_end]) for e in one.edits]
    assert ("changed", "3", "e") in seen
    assert ("changed", " STREET", "Street") in seen  # the one letter that agrees in between is chance
    assert one.equal == len(mine) - sum(e.end - e.start for e in one.edits)


@pytest.mark.parametrize(
    ("mine", "theirs", "edits"),
    [
        ("", "", []),
        ("same", "same", []),
        ("abc", "", [("added", 0, 3, 0, 0)]),
        ("", "abc", [("missing", 0, 0, 0, 3)]),
        ("a quay B", "a ship B", [("changed", 2, 6, 2, 6)]),
        ("客户林晓梅", "客户王晓梅", [("changed", 2, 3, 2, 3)]),
        ("one two three", "one three", [("added", 5, 9, 5, 5)]),
    ],
)
def test_edits_of_short_passages(mine: str, theirs: str, edits: list[tuple[Any, ...]]) -> None:
    found = differences(1, mine, theirs)
    assert [(e.kind, e.start, e.end, e.other_start, e.other_end) for e in found.edits] == edits


def test_marks_cannot_be_brought_along() -> None:
    pieces = marked("a⟦b⟧c⟪d", [(1, 3)])
    assert "".join(piece for piece, _ in pieces) == "a⟦\\u27e6b⟧\\u27e7c\\u27ead"
    assert [differs for _, differs in pieces] == [False, True, False]
    assert marked("abc", [(1, 1)]) == [("a", False), ("⟦⟧", True), ("bc", False)]


def test_punctuation_at_the_ends_is_no_difference(scene: Any) -> None:
    result = leak(scene, f'("{NOTE}")', f'("{NOTE}")')
    fragment = result.only()
    assert result.best(fragment)["raw_identity"] == 1.0
    [one] = explained(scene, fragment).differences
    assert one.edits == ()


# --- what would change the verdict, and does it? --------------------------------------------------------------------


@pytest.mark.parametrize("suppliers", [1, 2, 3])
def test_more_suppliers_make_it_shared(scene: Any, tmp_path: Path, suppliers: int) -> None:
    found = explained(scene, leak(scene, suppliers=suppliers).only())
    more = int(re.search(r"(\d+) more unrelated", changes(found, "would make it shared")).group(1))  # type: ignore[union-attr]
    assert more == 4 - suppliers
    if suppliers > 1:
        assert f"now {suppliers} reach equally far" in changes(found, "clearer")
    for records, rules in ((more - 1, set()), (more, {"shared"})):
        other = type(scene)(tmp_path / f"more-{records}")
        other.root.mkdir()
        result = leak(other, suppliers=suppliers + records)
        assert result.rules("victim") & {"shared"} == rules
        other.close()


def test_net_bits_that_would_be_probable(scene: Any) -> None:
    net = leak(scene).only()["net_bits"]
    fragment = scene.again(Parameters(probable_bits=net + 5)).only()
    assert (fragment["machine_verdict"], fragment["net_bits"]) == ("possible", net)
    found = explained(scene, fragment)
    line = changes(found, "would make it probable")
    has, needed = re.search(r"net bits ([\d.]+); (\d+) would make", line).groups()  # type: ignore[union-attr]
    assert float(has) == pytest.approx(net, abs=0.06) and float(needed) == pytest.approx(net + 5, abs=0.5)
    assert "below 24 net bits" in changes(found, "too weak")
    assert scene.again(Parameters(possible_bits=net + 0.1, probable_bits=net + 5)).rules("victim") == {"too_weak"}
    plain = scene.again(Parameters(plain_bits=999.0, plain_net_bits=net + 9)).only()
    assert plain["machine_verdict"] == "possible"
    assert "everyday words" in changes(explained(scene, plain), f"{net + 9:.0f} would make it probable")


def test_request_times_that_would_help(scene: Any) -> None:
    fragment = leak(scene, second=None).only()
    assert fragment["machine_verdict"] == "possible"
    assert "it could be probable" in changes(explained(scene, fragment), "with request times the order")


def test_a_recitation_that_was_asked_for(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", f"Please file this: {NOTE}.", "Noted.", 0)
    scene.call("beta", "Recite the opening line of the Halloran saga.", f"{NOTE}.", 60, request_id="victim")
    rows = scene.run().of("victim")
    assert rows[0]["machine_verdict"] == "possible"
    assert "asked for a text to be recited" in changes(explained(scene, rows[0]), "not public")


def test_an_identifier_needs_less(scene: Any) -> None:
    fragment = leak(scene, "4471998211750", "4471998211750").only()
    found = explained(scene, fragment)
    assert "below 7 net bits" in changes(found, "too weak")
    assert not any("less clear" in line for line in found.would_change)


def test_more_tenants_make_a_phrase_of_an_answer(scene: Any, tmp_path: Path) -> None:
    asked = "Where do I find the crates of ledgers from the Halloran depot, and which quay took them on Tuesday?"

    def given(scene: Any, more: int) -> Any:
        scene.traffic()
        scene.call("alpha", asked, f"In short, {NOTE}, says the log.", 0)
        scene.call("beta", QUESTION, f"In short, {NOTE}, says the log.", 8, request_id="victim")
        for i in range(more):
            scene.call(f"shop-{i}", f"Question {i * 37}?", f"In short, {NOTE}, says the log.", 200 + 9 * i)
        return scene.run()

    fragment = given(scene, 0).of("victim")[0]
    assert fragment["stratum"] == "generated text" and fragment["sources"] == ["alpha"]
    line = changes(explained(scene, fragment), "phrase of the model")
    more = int(re.search(r"(\d+) more", line).group(1))  # type: ignore[union-attr]
    other = type(scene)(tmp_path / "more")
    other.root.mkdir()
    result = given(other, more)
    assert result.of("victim") == [] and "model_phrase" in result.rules("victim")
    other.close()


def test_an_undetermined_passage_says_what_is_missing(scene: Any) -> None:
    scene.traffic()
    scene.call(None, f"Please file this: {NOTE}.", "Noted.", 0)
    scene.call("beta", QUESTION, f"Like so: {NOTE}. Done.", 60, request_id="victim")
    fragment = scene.run().only()
    assert fragment["kind"] == "undetermined"
    assert "--tenants" in changes(explained(scene, fragment), "could be named")


def test_people_come_last(scene: Any) -> None:
    probable = explained(scene, leak(scene).only())
    assert "would confirm it" in probable.would_change[0]


# --- on a terminal --------------------------------------------------------------------------------------------------

HOSTILE = (
    "the depot\x1b[31m in Hallo\u202eran Street ⟦shipped⟧ seventeen\u200b crates ⟪of⟫ printed \x07ledgers [red]to[/red] "
    "the wrong quay"
)


@pytest.mark.parametrize("reveal", [False, True])
def test_hostile_text_in_a_narrow_window(
    scene: Any, capsys: Any, monkeypatch: pytest.MonkeyPatch, reveal: bool
) -> None:
    import typer
    from rich.cells import cell_len

    from forensics.cli.explain import explain as verb

    fragment = leak(scene, HOSTILE, HOSTILE.replace("seventeen", "sevent33n")).only()
    scene.close()
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    root = scene._cases[-1].root
    with pytest.raises(typer.Exit) as left:
        verb(root, fragment["fragment_id"], reveal=reveal)
    assert left.value.exit_code == 0
    shown = capsys.readouterr().out
    assert not [c for c in shown if unicodedata.category(c) in ("Cc", "Cf") and c != "\n"]
    assert max(cell_len(line) for line in shown.split("\n")) <= 80
    assert ("ledgers" in shown) == reveal
    if reveal:
        joined = re.sub(r"[│\s]+", " ", shown)
        assert "[red]to[/red]" in joined and "\\u27e6shipped\\u27e7" in joined and "⟦33⟧" in joined and "⟦ee⟧" in joined
    assert "what would change the verdict" in shown and "rules that it survived" in shown
    with pytest.raises(typer.Exit):
        verb(root, fragment["fragment_id"], reveal=reveal, json=True)
    data = json.loads(capsys.readouterr().out)["data"]
    assert data["would_change"] and data["tried"] and data["parts"] and data["decoys"]
    assert [e["kind"] for e in data["differences"][0]["edits"]] == ["changed"]
    assert ("ledgers" in json.dumps(data)) == reveal
