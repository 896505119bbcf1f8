"""Every question that a case must answer, asked of one case. Raises AssertionError where one is without an answer."""

from __future__ import annotations

from pathlib import Path

from forensics.case.acceptance import Asked, acceptance
from forensics.case.ask import NO_ROW, Answer, ask, questions
from forensics.case.store import Case

READERS = ["incident responders"] * 16 + ["compliance and privacy"] * 12 + ["postmortem authors"] * 8
PARAMETERS = {question.name: question.parameters for question in questions()}


def walk(root: Path) -> dict[str, Answer]:
    """The answers by name of question."""
    listed = acceptance()
    assert [asked.reader for asked in listed] == READERS
    answers: dict[str, Answer] = {}
    with Case.open(root, read_only=True) as case:
        rows = ask(case, "whom-to-tell").records()
        roles = {
            role: next(r["tenant_id"] for r in rows if r["role"] in (role, "both")) for role in ("source", "recipient")
        }
        for asked in listed:
            assert asked.queries or asked.files, asked.number
            for name in asked.queries:
                given = {key: roles[asked.parameters[key]] for key in PARAMETERS[name]}
                answers[name] = ask(case, name, given)
                _answered(asked, answers[name])
    for asked in listed:
        for pattern in asked.files:
            found = [path for path in root.glob(pattern) if path.stat().st_size > 0]
            assert found, (asked.number, pattern)
    return answers


def _answered(asked: Asked, answer: Answer) -> None:
    shown = answer.printed()
    assert shown.rows, asked.number
    if not answer.rows:
        assert len(answer.note) > 20 and NO_ROW not in answer.note, (asked.number, answer.question.name)
    # A row that knows nothing must say so: no row of an answer is empty.
    assert all(any(value is not None for value in row) for row in shown.rows), (asked.number, answer.question.name)
