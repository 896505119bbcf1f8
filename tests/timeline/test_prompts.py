"""What calls sent and got, as the engine reads it: rows in, bytes out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from case_builder import CaseBuilder

from forensics.case.store import Case
from forensics.timeline import engine
from forensics.timeline.prefixes import MOST_BYTES
from forensics.timeline.prompts import by_texts

Sent = list[tuple[int, bytes, bytes]]


def sent(case: Case, *workers: str, most: int = 99) -> Sent:
    with case.transaction():
        engine.rebuild(case, None, lambda _: None)
        found = list(by_texts(case, workers, most))
        engine.drop(case)
    return found


def case_of(tmp_path: Path) -> CaseBuilder:
    """Two turns of one conversation on w0, one call elsewhere, and one whose engine logged the prompt as rendered."""
    b = CaseBuilder()
    b.request("turn-1", "alpha", 0, 1, prompt="Grüß dich", response="Hallo")
    b.request("elsewhere", "beta", 1, 2, worker="w1", prompt="not here")
    turn = b.request("turn-2", "alpha", 2, 3, prompt="And then?", response="Nothing.")
    # The second turn carries the first again, by the same two contents: a prompt in three messages.
    for use in b.uses:
        if use["request"] == turn and use["side"] == "prompt":
            use["ordinal"], use["field"] = 2, "messages[2].content"
    for ordinal, (content, role) in enumerate(((0, "user"), (1, "assistant"))):
        b.uses.append(
            {
                "request": turn, "key": turn, "side": "prompt", "field": f"messages[{ordinal}].content", "role": role,
                "ordinal": ordinal, "content": content,
            }
        )  # fmt: skip
    rendered = b.request("rendered", "alpha", 4, 5, prompt="<|user|>hi", response="ho")
    for use in b.uses:
        if use["request"] == rendered and use["side"] == "prompt":
            use["field"], use["role"] = "text", "prompt"
    return b


@pytest.mark.parametrize("most", [0, 8, 12, 16, 30, 999])
def test_messages_come_in_order_with_their_roles_and_repeated_texts_whole(tmp_path: Path, most: int) -> None:
    """However many calls are read at a time, and however much is kept for later ones."""
    with case_of(tmp_path).write(tmp_path / "c") as case:
        assert sent(case, "w0", most=most) == [
            (0, "user\nGrüß dich\n".encode(), b"assistant\nHallo"),
            (2, "user\nGrüß dich\nassistant\nHallo\nuser\nAnd then?\n".encode(), b"assistant\nNothing."),
            (3, b"<|user|>hi", b"ho"),
        ]


def test_a_text_that_a_later_call_carries_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    read = Case.arrow

    def spy(case: Case, name: str, parameters: Any = None, held: Any = None) -> Any:
        asked.extend(parameters["contents"] if name == "timeline/prefix_texts" else ())
        return read(case, name, parameters, held)

    monkeypatch.setattr(Case, "arrow", spy)
    for most, again in ((16, 0), (4, 2)):  # the two texts of the first turn hold 10 and 5 bytes
        asked.clear()
        with case_of(tmp_path / str(most)).write(tmp_path / f"c{most}") as case:
            sent(case, "w0", most=most)
        assert len(asked) - len(set(asked)) == again


@pytest.mark.parametrize("most", [0, 30, 999])
def test_only_calls_of_the_workers_however_many_at_a_time(tmp_path: Path, most: int) -> None:
    with case_of(tmp_path).write(tmp_path / "c") as case:
        assert [request for request, _, _ in sent(case, "w0", most=most)] == [0, 2, 3]
        assert [request for request, _, _ in sent(case, "w1", "w0", most=most)] == [0, 1, 2, 3]
        assert sent(case, most=most) == []


def test_a_prompt_is_cut_at_the_most_bytes_and_one_that_is_not_whole_is_left_out(tmp_path: Path) -> None:
    b = CaseBuilder()
    b.request("long", "alpha", 0, 1, prompt="ü" * MOST_BYTES, response="r" * (MOST_BYTES + 5))
    part = b.request("part", "alpha", 2, 3)
    b.requests[part]["prompt_state"] = "truncated"
    with b.write(tmp_path / "c") as case:
        [(request, prompt, answer)] = sent(case, "w0")
    assert (request, len(prompt), len(answer)) == (0, MOST_BYTES, MOST_BYTES)
    assert prompt == ("user\n" + "ü" * MOST_BYTES).encode()[:MOST_BYTES] and answer.startswith(b"assistant\nrr")
