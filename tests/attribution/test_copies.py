"""Whole answers that a second tenant got too: altered, cut short, short; from a cache with another's particulars."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from datasketch import MinHash, MinHashLSH

from forensics.attribution.copies import MOST_HOLDERS, PERMUTATIONS, SKETCH_SEED, _shared, _sketched

# A question and its answer in each script; the answer is too short, or will be too altered, for a long exact run.
ANSWERS = {
    "english": (
        "Draft a reply to Okonkwo about the seventeen ledger crates that Halloran depot sent to Kestrel quay.",
        "Dear Mr Okonkwo, we regret the error. All seventeen crates left our Halloran depot on the morning barge and "
        "reached Kestrel by noon; the carrier will waive storage and return every ledger to you before Thursday.",
    ),
    "german": (
        "Warum fällt die Brandvold Turbine aus, wenn das Vakuum im Kondensator unter die Schwelle sinkt?",
        "Der Brandvold Regler liest das Vakuum; sinkt es im Kondensator zu tief, so nimmt er die Turbine vom Netz, damit "
        "die Schaufeln heil bleiben, und meldet dem Leitstand, welche Schwelle unterschritten war.",
    ),
    "russian": (
        "Почему Вельяминов спрятал опись монастырских колоколов в Торжке перед отъездом в Вологду?",
        "Вельяминов боялся пожара: опись колоколов он сам отнёс в подвал, а ключ увёз в Вологду; в Торжке об этом знал "
        "один звонарь, который потом и нашёл монастырские бумаги под лестницей.",
    ),
    "chinese": (
        "霍兰仓库发往凯斯特码头的十七箱账簿为什么被海关扣留？请给奥孔科先生写一封回信。",
        "奥孔科先生您好，十七箱账簿因报关单缺少公章被海关扣留，霍兰仓库已于今晨补交文件，凯斯特码头预计明日放行，滞留费由承运人承担。",
    ),
}  # fmt: skip
QUESTION = "How are eggs boiled?"


def case(scene: Any, language: str, change: Any, apart: float = 4.0) -> tuple[Any, str]:
    question, answer = ANSWERS[language]
    scene.traffic()
    scene.call("alpha", question, answer, 0, lasts=10)
    victim = scene.call("beta", QUESTION, change(answer), apart, lasts=12)
    return scene.run(), victim


def dropped(answer: str) -> str:
    """Every seventh word, or sign, left out."""
    parts = answer.split(" ") if " " in answer else list(answer)
    return (" " if " " in answer else "").join(part for i, part in enumerate(parts) if i % 7 != 3)


@pytest.mark.parametrize("language", sorted(ANSWERS))
def test_an_altered_copy_is_one_whole_answer_with_its_source(scene: Any, language: str) -> None:
    result, victim = case(scene, language, dropped)
    (row,) = result.fragments
    assert (row["recipient_request_id"], row["kind"], row["sources"]) == (victim, "whole_response", ["alpha"])


@pytest.mark.parametrize("language", sorted(ANSWERS))
def test_a_copy_cut_in_half_is_a_whole_answer(scene: Any, language: str) -> None:
    result, victim = case(scene, language, lambda answer: answer[: len(answer) // 2])
    (row,) = result.fragments
    assert (row["recipient_request_id"], row["kind"], row["sources"]) == (victim, "whole_response", ["alpha"])


def test_a_short_copy_under_the_guarantee(scene: Any) -> None:
    """26 letters: no run of them is looked at."""
    scene.traffic()
    question = "Where did Okonkwo store the Quillfeather crates?"
    scene.call("alpha", question, "Okonkwo: Quillfeather barn.", 0, lasts=10)
    victim = scene.call("beta", QUESTION, "Okonkwo: Quillfeather barn.", 4, lasts=12)
    (row,) = scene.run().fragments
    assert (row["recipient_request_id"], row["kind"], row["sources"]) == (victim, "whole_response", ["alpha"])


def test_a_short_copy_that_fits_both_questions_or_none_is_nothing(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", "Where did Okonkwo store the Quillfeather crates?", "Okonkwo: Quillfeather barn.", 0, lasts=10)
    scene.call("beta", "Who has Quillfeather crates of Okonkwo?", "Okonkwo: Quillfeather barn.", 4, lasts=12)
    scene.call("gamma", "Name a colour.", "Burgundy with a hint of plum", 0, lasts=10)
    scene.call("delta", "Name a shade.", "Burgundy with a hint of plum", 4, lasts=12)
    assert scene.run().fragments == []


CACHED = {
    "english": ("Where is my order?", "Order KX440717 of Quillfeather left the depot this morning and will arrive on Thursday."),
    "german": ("Wo ist meine Bestellung?", "Die Bestellung KX440717 von Quillfeather verlässt heute das Lager und kommt Donnerstag an."),
    "chinese": ("我的订单在哪里？", "夸尔费瑟女士您好，您的订单 KX440717 今天上午已从仓库发出，预计星期四送达。"),
}  # fmt: skip


def asked(question: str, card: str) -> list[dict[str, Any]]:
    return [{"role": "system", "content": f"You answer for the shop. {card}"}, {"role": "user", "content": question}]


@pytest.mark.parametrize("language", sorted(CACHED))
def test_a_cached_answer_with_anothers_particulars_is_a_leak(scene: Any, language: str) -> None:
    """Both ask the same; the cache is the gateway's, so the worker and the hour differ."""
    question, answer = CACHED[language]
    name = "夸尔费瑟女士" if language == "chinese" else "Quillfeather"
    scene.traffic()
    scene.call("alpha", asked(question, f"Customer: {name}, order KX440717."), answer, 0)
    victim = scene.call("beta", asked(question, "Customer: not signed in."), answer, 9000, worker="w7")
    result = scene.run()
    assert {tuple(row["sources"]) for row in result.of(victim)} == {("alpha",)}
    assert {row["recipient_request_id"] for row in result.fragments} == {victim}


def test_a_cached_answer_without_particulars_is_none(scene: Any) -> None:
    answer = "Orders leave the depot within two working days and are delivered on the next Thursday thereafter."
    scene.traffic()
    scene.call("alpha", asked("Where is my order?", "Customer: Quillfeather, order KX440717."), answer, 0)
    scene.call("beta", asked("Where is my order?", "Customer: not signed in."), answer, 9000, worker="w7")
    assert scene.run().fragments == []


def test_the_customer_that_asks_again_got_its_own(scene: Any) -> None:
    question, answer = CACHED["english"]
    scene.traffic()
    scene.call("alpha", asked(question, "Customer: Quillfeather, order KX440717."), answer, 0)
    scene.call("alpha", asked(question, "Customer: not signed in."), answer, 9000, worker="w7")
    assert scene.run().fragments == []


def test_what_is_proposed_does_not_grow_with_what_many_hold() -> None:
    """A token of more than MOST_HOLDERS texts proposes nothing; two texts that share rare ones are proposed."""
    crowd = [(content, token) for content in range(50) for token in (1, 2, 3)]
    pair = [(content, token) for content in (7, 31) for token in (100, 101, 102, 103)]
    contents, tokens = (np.array(column) for column in zip(*(crowd + pair), strict=True))
    kept, left = _shared(contents, tokens)
    assert set(kept.tolist()) == {7, 31} and set(left.tolist()) == {100, 101, 102, 103}
    assert _sketched(kept, left) == {(7, 31)}
    few = [(content, token) for content in range(MOST_HOLDERS) for token in (1, 2)]
    contents, tokens = (np.array(column) for column in zip(*few, strict=True))
    assert len(_sketched(*_shared(contents, tokens))) == MOST_HOLDERS * (MOST_HOLDERS - 1) // 2


def test_what_is_proposed_is_what_an_index_of_the_library_would() -> None:
    random = np.random.default_rng(5)
    rows = {(content, int(token)) for content in range(60) for token in random.integers(0, 90, 8)}
    rows |= {(content + 1, token) for content, token in rows if content % 5 == 0 and token % 4}
    contents, tokens = (np.array(column) for column in zip(*sorted(rows), strict=True))
    index = MinHashLSH(num_perm=PERMUTATIONS, params=(PERMUTATIONS // 2, 2))
    expected = set()
    for content in range(61):
        sketch = MinHash(num_perm=PERMUTATIONS, seed=SKETCH_SEED, hashfunc=int, scheme="affine32")
        sketch.update_batch(tokens[contents == content].tolist())
        expected |= {(other, content) for other in index.query(sketch)}
        index.insert(content, sketch)
    assert 30 < len(expected) < 1500
    assert _sketched(contents, tokens) == expected
    assert _sketched(contents[:0], tokens[:0]) == set()
