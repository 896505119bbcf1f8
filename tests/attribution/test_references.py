"""Public texts that an analyst gives: they explain what they hold, by name, and hide nothing beside it."""

from __future__ import annotations

import gzip
import json
import resource
import zipfile
from pathlib import Path
from typing import Any

import pytest

from forensics.case.errors import LimitHit, MissingInput, NothingReadable, UsageError
from forensics.case.references import add, references, remove
from forensics.case.store import Case

TEXTS = {
    "english": (
        "The harbour committee met on the first Monday of each quarter, and its minutes record which berth each lighter "
        "took, what toll was paid in copper, and which of the seven pilots brought her past the Halloran shoal that day."
    ),
    "chinese": "码头委员会每季度首个星期一开会，会议纪要写明每艘驳船停靠的泊位、以铜币缴纳的通行费，以及当天七位引航员中谁带船驶过浅滩。",
    "hebrew": "ועדת הנמל נפגשה ביום שני הראשון של כל רבעון, והפרוטוקול מציין באיזה רציף עגנה כל דוברה וכמה אגרה שולמה בנחושת באותו היום.",
    "polish": "Komisja portowa zbierała się w pierwszy poniedziałek kwartału, a protokół podaje, przy którym nabrzeżu stanęła każda barka.",
    "korean": "항만 위원회는 분기마다 첫째 월요일에 모였고 회의록에는 거룻배마다 댄 선석과 구리로 낸 통행료와 그날의 도선사가 적혀 있다.",
}
SECRET = "Miriam Okonkwo of 17 Kestrel Quay owes the Zimmer brothers four thousand crowns for the brass fittings"


def leak(scene: Any, passage: str) -> Any:
    scene.traffic()
    scene.call("alpha", f"File this: {passage}", "Filed.", 0)
    scene.call("beta", "How are eggs boiled?", f"Like so. {passage} Done.", 60, request_id="victim")
    return scene.run()


def reference(tmp_path: Path, text: str, name: str = "minutes.txt") -> Path:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return path


def case_of(scene: Any) -> Case:
    case: Case = scene._cases[-1]
    return case


@pytest.mark.parametrize("script", sorted(TEXTS))
def test_a_reference_explains_its_text_in_every_script(scene: Any, tmp_path: Path, script: str) -> None:
    before = leak(scene, TEXTS[script])
    assert before.only()["sources"] == ["alpha"]
    assert "public_text" not in before.rules("victim")
    add(case_of(scene), reference(tmp_path, f"Foreword.\n\n{TEXTS[script].upper()}\n\nAfterword."), "harbour minutes")
    after = scene.again()
    assert after.fragments == []
    [row] = [row for row in after.exclusions if row["rule"] == "public_text"]
    assert row["detail"].endswith("of it stands in the reference harbour minutes")
    assert int(row["detail"].partition("%")[0]) >= 50
    remove(case_of(scene), "harbour minutes")
    assert scene.again().fragments == before.fragments  # reversible


def test_an_unrelated_reference_changes_nothing(scene: Any, tmp_path: Path) -> None:
    before = leak(scene, TEXTS["english"])
    add(case_of(scene), reference(tmp_path, TEXTS["polish"] + SECRET[:20]))
    after = scene.again()
    assert after.fragments == before.fragments and after.exclusions == before.exclusions


@pytest.mark.parametrize("order", ["before", "after", "between"])
def test_private_text_copied_with_a_public_one_is_found(scene: Any, tmp_path: Path, order: str) -> None:
    public, more = TEXTS["english"], TEXTS["polish"]
    passage = {"before": f"{SECRET}; {public}", "after": f"{public} {SECRET}", "between": f"{public} {SECRET}; {more}"}
    whole = leak(scene, passage[order]).only()
    add(case_of(scene), reference(tmp_path, f"{public}\n\n{more}"))
    after = scene.again()
    found = after.only()
    answer = f"Like so. {passage[order]} Done."
    start = answer.index(SECRET)
    assert found["sources"] == ["alpha"] and found["machine_verdict"] == "probable"
    # the secret, and no more of the public text than winnowing cannot place
    assert (
        start - 30 <= found["start"] <= start + 2
        and start + len(SECRET) - 2 <= found["end"] <= start + len(SECRET) + 30
    )
    assert found["end"] - found["start"] < whole["end"] - whole["start"]
    assert "public_text" in after.rules("victim")


def test_a_public_phrase_inside_private_text_does_not_cut_it(scene: Any, tmp_path: Path) -> None:
    before = leak(scene, SECRET)
    add(case_of(scene), reference(tmp_path, "the Zimmer brothers four thousand"))
    assert scene.again().fragments == before.fragments


def test_identifiers_of_a_reference_are_public(scene: Any, tmp_path: Path) -> None:
    assert leak(scene, "4471998211750").only()["kind"] == "identifier"
    add(case_of(scene), reference(tmp_path, "Test accounts: 4471-9982-1175-0, 99182736455."))
    after = scene.again()
    assert after.fragments == [] and after.rules("victim") == {"public_text"}


def test_attribution_runs_again_only_where_references_changed(scene: Any, tmp_path: Path) -> None:
    leak(scene, SECRET)
    assert scene.again().summary.skipped
    add(case_of(scene), reference(tmp_path, TEXTS["polish"]))
    assert not scene.again().summary.skipped
    assert scene.again().summary.skipped


def test_every_form_of_file_gives_the_same_texts(tmp_path: Path) -> None:
    lines = [json.dumps({"id": i, "body": {"text": text}}) for i, text in enumerate(TEXTS.values())]
    packed = "\n".join([*lines, "{broken", json.dumps({"body": {"text": None}})]) + "\n"
    plain = tmp_path / "a.jsonl"
    plain.write_text(packed, encoding="utf-8")
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(packed.encode()))
    import zstandard

    (tmp_path / "a.ndjson.zst").write_bytes(zstandard.ZstdCompressor().compress(packed.encode()))
    with zipfile.ZipFile(tmp_path / "a.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../../etc/a.jsonl", packed)
    folder = tmp_path / "folder"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.ndjson").write_text(packed, encoding="utf-8")
    (folder / "link.jsonl").symlink_to(plain)
    seen = []
    for path in (plain, tmp_path / "a.jsonl.gz", tmp_path / "a.ndjson.zst", tmp_path / "a.zip", folder):
        with Case.create(tmp_path / f"case-{len(seen)}") as case:
            made = add(case, path, "r", "body.text")
            hashes = sorted(case.table("reference_fingerprints")["hash"].to_pylist())
            seen.append((made.texts, made.code_points, made.rejected, made.grams, hashes))
    assert seen[0][:3] == (len(TEXTS), sum(map(len, TEXTS.values())), 2)
    assert all(item == seen[0] for item in seen) and len(seen[0][4]) > 50


def test_names_and_contents_are_known_once(tmp_path: Path) -> None:
    path = reference(tmp_path, TEXTS["english"])
    with Case.create(tmp_path / "case") as case:
        add(case, path)
        with pytest.raises(UsageError):
            add(case, path, "another name")
        with pytest.raises(UsageError):
            add(case, reference(tmp_path, "x", "y.txt"), "minutes.txt")
        with pytest.raises(UsageError):
            remove(case, "nothing")
        assert [r.name for r in references(case)] == ["minutes.txt"]
        remove(case, "minutes.txt")
        assert references(case) == [] and case.count("reference_fingerprints") == 0


@pytest.mark.parametrize("data", [b"", b"\n\n", b"\x00\x01" * 900, b"...!!!"], ids=range(4))
def test_a_file_without_text_adds_nothing(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "odd.txt"
    path.write_bytes(data)
    with Case.create(tmp_path / "case") as case:
        with pytest.raises(NothingReadable):
            add(case, path)
        assert references(case) == [] and case.count("reference_fingerprints") == 0
        with pytest.raises(MissingInput):
            add(case, tmp_path / "absent")


def test_a_bomb_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    import zstandard

    path = tmp_path / "bomb.txt.zst"
    path.write_bytes(zstandard.ZstdCompressor().compress(b"a b c d " * (1 << 24)))  # 128 MiB out of some 12 KiB
    with Case.create(tmp_path / "case") as case:
        with pytest.raises(LimitHit):
            add(case, path)
        assert references(case) == [] and case.count("reference_fingerprints") == 0


def test_damaged_gzip_is_a_usage_error(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(TEXTS["english"].encode())[:-20])
    with Case.create(tmp_path / "case") as case, pytest.raises(UsageError):
        add(case, path)


def test_memory_does_not_follow_the_file(tmp_path: Path) -> None:
    path = tmp_path / "large.txt"
    with path.open("w", encoding="utf-8") as file:
        for i in range(400_000):
            file.write(f"Line {i} of the register names berth {i * 7919 % 1009} and toll {i * 31 % 977}.\n")
    with Case.create(tmp_path / "case") as case:
        add(case, reference(tmp_path, TEXTS["english"]))  # compiles the kernels
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        made = add(case, path)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert made.code_points == path.stat().st_size > 20 << 20
    assert grown < 400 << 10  # KiB
