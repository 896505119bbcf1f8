"""Rarity, not length: a few rare signs count, pages of what everybody has do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from forensics.attribution import seeds
from forensics.attribution.charges import count_tokens, no_tokens

QUESTION = "How are eggs boiled?"
LICENCE = (Path(__file__).resolve().parents[2] / "LICENSE").read_text(encoding="utf-8")


def leak(scene: Any, prompt: str, answer: str) -> Any:
    scene.traffic()
    scene.call("alpha", prompt, "Noted.", 0)
    scene.call("beta", QUESTION, answer, 60, request_id="victim")
    return scene.run()


@pytest.mark.parametrize(
    ("supplied", "shown"),
    [
        ("4471998211750", "4471998211750"),
        ("4471-9982-1175-0", "4471 9982 1175 0"),
        ("4471 9982 1175 0", "4471998211750"),
        ("m.okonkwo@elm-row-press.example", "m.okonkwo@elm-row-press.example"),
        ("sk-Zx81qLm02PvTw9Rb", "sk-Zx81qLm02PvTw9Rb"),
        ("DE27100777770209299700", "DE27 1007 7777 0209 2997 00"),
        ("GB71 QRVT 5038 2264 9175 30", "GB71 QRVT 5038 2264 9175 30"),
        ("3f2b8c1e-77aa-4d01-9c55-0e8812ab44cd", "3F2B8C1E-77AA-4D01-9C55-0E8812AB44CD"),
        ("٤٤٧١٩٩٨٢١١٧٥٠", "4471998211750"),
    ],
)
def test_identifiers_are_found(scene: Any, supplied: str, shown: str) -> None:
    answer = f"Boil them. ({shown}) Done."
    fragment = leak(scene, f"Please file under {supplied} today.", answer).only()
    assert fragment["recipient_request_id"] == "victim"
    assert fragment["sources"] == ["alpha"]
    assert fragment["machine_verdict"] == "probable"
    # at least the tail of the identifier; an IBAN's country may stand before the token
    at = answer.index(shown)
    assert at <= fragment["start"] < fragment["end"] <= at + len(shown)
    assert fragment["end"] - fragment["start"] >= 12


@pytest.mark.parametrize(
    "shown",
    [
        "お客様番号4471998211750です",
        "客户号4471998211750的合同",
        "계좌 4471998211750으로 보내세요",  # particles touch the number
        "העברה ל-4471998211750 היום",  # prefixes too
    ],
)
def test_identifiers_are_found_in_other_languages(scene: Any, shown: str) -> None:
    fragment = leak(scene, "Please file under 4471998211750 today.", f"OK. {shown}. Done.").only()
    assert (fragment["sources"], fragment["kind"]) == (["alpha"], "identifier")


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-04T10:00:00Z",
        "04.03.2026",
        "2026-03-04 10:15:00",
        "3.14159265358979",
        "18446744073709551615",
        "4111 1111 1111 1111",
        "0123456789",
        "000000000000",
        "123123123123",
        "d41d8cd98f00b204",
        "v1.2.3",
    ],
)
def test_dates_and_constants_are_not(scene: Any, text: str) -> None:
    assert leak(scene, f"Please use {text} today.", f"Boil them. ({text}) Done.").fragments == []


def test_a_number_that_the_recipient_sent_itself_is_not(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", "File under 4471998211750.", "Noted.", 0)
    scene.call("beta", "My number is 4471-9982-1175-0.", "Your number 4471998211750 is on file.", 60)
    assert scene.run().fragments == []


def test_a_number_that_many_supply_is_shared(scene: Any) -> None:
    scene.traffic()
    for i in range(5):
        scene.call(f"shop-{i}", "Pay to 4471998211750 please.", "Paid.", 5 * i)
    victim = scene.call("beta", QUESTION, "Boil them. (4471998211750) Done.", 60)
    result = scene.run()
    assert result.fragments == []
    assert result.rules(victim) == {"shared"}


def test_licence_text_is_public(scene: Any) -> None:
    passage = LICENCE[3000:3900]
    result = leak(scene, f"Read this:\n{passage}\nand say yes.", f"Here:\n{passage}\nDone.")
    assert result.fragments == []
    assert result.rules("victim") == {"public_text"}


def test_private_text_next_to_a_licence_is_found(scene: Any) -> None:
    passage = LICENCE[3000:3600]
    secret = "the depot in Halloran Street shipped seventeen crates of printed ledgers to the wrong quay on Tuesday"
    answer = f"Well, {secret}! Licence:\n{passage}"
    result = leak(scene, f"Read this:\n{passage}\nNote: {secret}.", answer)
    fragment = result.only()
    assert (fragment["start"], fragment["end"]) == (6, 6 + len(secret))
    assert fragment["sources"] == ["alpha"]


@pytest.mark.parametrize(
    "text",
    [
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",  # SHA-256 of nothing
        "da39a3ee5e6b4b0d3255bfef95601890afd80709",  # SHA-1 of nothing
        "d41d8cd98f00b204e9800998ecf8427e",  # MD5 of nothing
        "3.14159265358979323846264338327950288",
        "6ba7b810-9dad-11d1-80b4-00c04fd430c8",  # the DNS name space of UUIDs
    ],
)
def test_long_constants_are_not(scene: Any, text: str) -> None:
    assert leak(scene, f"Please use {text} today.", f"Boil them. ({text}) Done.").fragments == []


@pytest.mark.parametrize(
    ("supplied", "shown"),
    [
        ("DE89370400440532013000", "DE89 3704 0044 0532 0130 00"),
        ("GB29 NWBK 6016 1331 9268 19", "GB29 NWBK 6016 1331 9268 19"),
        ("550e8400-e29b-41d4-a716-446655440000", "550E8400-E29B-41D4-A716-446655440000"),
        ("123e4567-e89b-12d3-a456-426614174000", "123e4567-e89b-12d3-a456-426614174000"),
        ("m.okonkwo@example.com", "m.okonkwo@example.com"),
        ("m.okonkwo@ledgers.example.org", "m.okonkwo@ledgers.example.org"),
        ("kestrel.quay@example.net", "kestrel.quay@example.net"),
    ],
)
def test_identifiers_of_documentation_are_not(scene: Any, supplied: str, shown: str) -> None:
    """They would be found if they were private: test_identifiers_are_found has others of the same form."""
    result = leak(scene, f"Please file under {supplied} today.", f"Boil them. ({shown}) Done.")
    assert result.fragments == []
    assert result.rules("victim") == {"public_text"}


@pytest.mark.parametrize(
    "text",
    [
        "have a nice day",
        "the quick brown fox jumps over the lazy dog",
        "lorem ipsum dolor sit amet, consectetur adipiscing elit",
    ],
)
def test_ordinary_words_are_too_weak(scene: Any, text: str) -> None:
    assert leak(scene, f"I say: {text}.", f"Boil them. Now {text}!").fragments == []


@pytest.mark.parametrize(
    "text",
    [
        "Please let me know if you have any questions",
        "thank you very much for your help and have a nice day",
        "import numpy as np\nimport pandas as pd\nimport matplotlib.pyplot as plt",
        "once upon a time there was a little girl who lived in a small house",
    ],
)
def test_stock_phrases_name_nobody(scene: Any, text: str) -> None:
    assert [row["sources"] for row in leak(scene, f"I say: {text}.", f"Boil them. Now {text}!").fragments] == []


def test_twelve_requests(scene: Any) -> None:
    """One unseen account number of 17 signs leaks and is found; 400 characters of a licence are not."""
    passage = LICENCE[5000:5400]
    answer = "Boil them for seven minutes. Reference 40718-22951-630-4172, thank you."
    scene.traffic(tenants=6)
    scene.call("alpha", "Close account 40718229516304172 by Friday.", "It is closed.", 0)
    scene.call("gamma", f"What does this mean?\n{passage}", "It is a licence.", 20)
    scene.call("delta", "Show me a licence clause.", f"Certainly:\n{passage}", 40)
    scene.call("delta", "Thanks.", "You are welcome.", 60)
    victim = scene.call("beta", QUESTION, answer, 80)
    scene.call("beta", "Thanks.", "You are welcome.", 100)
    assert len(scene.records) == 12
    fragment = scene.run().only()
    number = "40718-22951-630-4172"
    assert fragment["recipient_request_id"] == victim
    assert (fragment["start"], fragment["end"]) == (answer.index(number), answer.index(number) + len(number))
    assert (fragment["kind"], fragment["sources"]) == ("identifier", ["alpha"])
    assert fragment["machine_verdict"] == "probable"


@pytest.mark.parametrize(
    ("supplied", "answer"),
    [
        ("ES28 3145 1223 7218 3986 today", "Boil [7, ES28 3145 1223 7218 3986 2] of them."),
        ("7 4471 9982 1175 3048 of today", "Boil them (4471 9982 1175 3048 11)."),
        ("+99 256 66716871 today", "Boil them.\n+99 256 66716871 2, 6, 26"),
    ],
)
def test_groups_beside_another_number_are_found(scene: Any, supplied: str, answer: str) -> None:
    found = leak(scene, f"Please file under {supplied}.", answer).only()
    assert (found["kind"], found["sources"], found["machine_verdict"]) == ("identifier", ["alpha"], "probable")
    printed = answer[found["start"] : found["end"]]
    assert printed in answer
    assert sum(sign.isdigit() for sign in printed) >= 13
    assert not printed.endswith((" 2", " 11"))


def test_groups_of_a_constant_beside_another_number_are_none(scene: Any) -> None:
    supplied = "Please use 7 4111 1111 1111 1111 today."
    assert leak(scene, supplied, "Boil them. (4111 1111 1111 1111 5) Done.").fragments == []


def test_groups_of_a_run_pay_for_the_choice_among_them(scene: Any) -> None:
    """The same number, once alone and once beside another: two bits for four chances instead of one."""
    scene.traffic()
    scene.call("alpha", "Please file under 4471 9982 1175 3048 today.", "Noted.", 0)
    scene.call("beta", QUESTION, "Boil them (4471 9982 1175 3048).", 60, request_id="alone")
    scene.call("gamma", QUESTION, "Boil them (4471 9982 1175 3048 11).", 120, request_id="beside")
    alone, beside = sorted(scene.run().fragments, key=lambda row: row["recipient_request_id"])
    assert (alone["recipient_request_id"], beside["recipient_request_id"]) == ("alone", "beside")
    assert alone["sources"] == beside["sources"] == ["alpha"]
    charges = [row["bits"] - row["net_bits"] for row in (alone, beside)]
    assert charges[1] - charges[0] == pytest.approx(2.0, abs=0.02)


@pytest.mark.parametrize(
    "text",
    [
        "CVE-2021-44228",
        "10.1038/s41586-021-03819-2",
        "log4j-core-2.17.1.jar",
        "INV-2026-0001",
        "ORD-2026-00123",
        "5f4dcc3b5aa765d61d8327deb882cf99",  # MD5 of "password"
        "aGVsbG8gd29ybGQ",
        "00000003-0000-0000-c000-000000000000",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ"
        ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c",
    ],
)
def test_what_was_published_or_anybody_can_compute_identifies_nobody(scene: Any, text: str) -> None:
    assert leak(scene, f"Please look at {text} today.", f"Boil them. ({text}) Done.").fragments == []


@pytest.mark.parametrize("text", ["INV-2026-48213", "acme-ledger-77410.pdf", "9f86d081884c7d659a2feaa0c55ad015"])
def test_what_looks_alike_and_is_nobodys_else_is_found(scene: Any, text: str) -> None:
    found = leak(scene, f"Please look at {text} today.", f"Boil them. ({text}) Done.")
    assert found.only()["sources"] == ["alpha"]


@pytest.mark.parametrize(
    ("url", "flagged"),
    [
        ("https://api.example.com/data/items", False),
        ("https://example.org/v1/data", False),
        ("https://api.example.com/customers/9817-4402-5513", True),
    ],
)
def test_pages_of_example_domains_identify_nobody_unless_they_are_numbered(scene: Any, url: str, flagged: bool) -> None:
    assert bool(leak(scene, f"Please fetch {url} today.", f"Boil them. ({url}) Done.").fragments) == flagged


def test_groups_of_a_run_are_no_tokens_that_others_pay_for() -> None:
    text = b"7 4471 9982 1175 3048 11"
    batch = np.array([0]), np.frombuffer(text, dtype=np.uint8), np.array([0, len(text)], dtype=np.int64)
    rows, registers = seeds._counted(batch)
    assert sorted((rows[:, 2] - (rows[:, 1] & 0x7FFFFFFF)).tolist()) == [16, 17, 18, 19]
    counts = count_tokens(registers, no_tokens())
    assert np.flatnonzero(np.round(counts.everywhere)).tolist() == [19]
