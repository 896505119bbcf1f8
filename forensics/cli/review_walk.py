"""`forensics review` on a terminal: fragment after fragment, a decision, a reason, a name. Decides nothing itself.

Without --reveal no text of a log is shown, only where and how strong a fragment is. With it, each look is logged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from forensics.case.errors import UsageError
from forensics.case.review import DECISIONS, Sitting, Waiting
from forensics.text.safe_text import safe_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from forensics.case.explain import Explanation

MOST_SHOWN = 1000  # code points of a passage; `explain` shows all
SAME = "="  # the reason given last
CHOICES = "[a]ccept  [r]eject  [u]nsure  [s]kip  [b]ack  [q]uit  [?] help"
HELP = (
    "accept: this is another customer's text. A probable fragment becomes confirmed; a weaker one stays what it is.\n"
    "reject: it is not. The fragment is set aside.   unsure: looked at, not settled; the verdict stays the machine's.\n"
    "skip: leave it waiting.   back: to the one before, also to decide again; the last decision counts.\n"
    "quit: stop here. Decisions are recorded as they are made."
)


def walk(
    sitting: Sitting, console: Console, *, reveal: bool, name: str, ask: Callable[[str], str] | None = None
) -> None:
    """Walk the fragments until the end, `quit` or the end of input. `ask` reads an answer to a prompt."""
    ask = ask or _input
    reason = ""
    shown: Waiting | None = None
    try:
        while (current := sitting.current) is not None:
            if current is not shown:
                _show(sitting, current, console, reveal=reveal)
                shown = current
            answer = _choice(console, ask)
            if answer == "quit":
                return
            if answer == "skip":
                sitting.forward()
            elif answer == "back":
                if not sitting.back():
                    _say(console, "this is the first one")
            else:
                given = ask(f"reason ({SAME} for the last one): " if reason else "reason: ").strip()
                given = reason if given == SAME else given
                if not given:
                    _say(console, "not recorded: a decision needs a reason")
                    continue
                name = name.strip() or ask("your name: ").strip()
                try:
                    made = sitting.decide(answer, given, name)
                except UsageError as error:
                    _say(console, f"not recorded: {error}")
                    continue
                reason = given
                _say(console, f"recorded: {made.decision} for {made.fragment_id}")
        _say(console, "that was the last one")
    except EOFError:
        _say(console, "end of input")


def _input(prompt: str) -> str:
    return input(prompt)


def _choice(console: Console, ask: Callable[[str], str]) -> str:
    words = (*DECISIONS, "skip", "back", "quit")
    while True:
        answer = ask(f"{CHOICES} > ").strip().lower()
        if answer in ("?", "h", "help"):
            _say(console, HELP)
            continue
        found = [word for word in words if answer and word.startswith(answer)]
        if len(found) == 1:
            return found[0]
        _say(console, "one of the letters in brackets, please")


def _say(console: Console, line: str) -> None:
    from rich.text import Text

    console.print(Text(safe_text(line, keep_newlines=True)))


def _show(sitting: Sitting, current: Waiting, console: Console, *, reveal: bool) -> None:
    from forensics.case.explain import explain

    found = explain(sitting.case, current.fragment_id, reveal=reveal, asked="review --reveal")
    console.print()
    for renderable in _facts(sitting, current, found):
        console.print(renderable, crop=False)
    if reveal:
        from forensics.cli.passages import legend, side_by_side

        console.print(legend())
        console.print(side_by_side(found, console.width, MOST_SHOWN), crop=False)


def _facts(sitting: Sitting, current: Waiting, found: Explanation) -> Iterable[RenderableType]:
    from forensics.case.words import cell
    from forensics.cli.render import box

    runner_up = found.runner_up
    sources = ", ".join(found.sources) or "none: nobody is named"
    if len(found.sources) > 1:
        sources += " (cannot be told apart)"
    decided = sitting.decision(found.fragment_id)
    earlier = [f"decided before: {current.earlier}. Please decide again"] if current.earlier else []
    earlier += [f"recorded in this sitting: {decided.decision}: {decided.reason}"] if decided else []
    earlier += [f"{cell(row['at'])} {row['decision']} by {row['name']}: {row['reason']}" for row in found.reviews]
    compared = found.differences[0] if found.differences else None
    equal = f"{compared.equal} of {compared.compared} characters equal to the source's" if compared else "no copy"
    yield box(
        f"{sitting.place + 1} of {len(sitting.fragments)}: fragment {found.fragment_id}",
        (
            (found.verdict, (found.verdict_reason, f"kind {found.kind}; verdict from: {found.verdict_basis}")),
            (
                "where",
                (
                    f"response {found.recipient_request_id} of tenant {cell(found.recipient_tenant_id)}, {found.field}",
                    f"characters {found.start} to {found.end} ({found.end - found.start} long), received "
                    f"{cell(found.received_at)}",
                ),
            ),
            (
                "sources",
                (
                    sources,
                    f"runner-up: {runner_up.source_request_id} of {cell(runner_up.source_tenant_id)}"
                    if runner_up
                    else "no runner-up",
                ),
            ),
            (
                "strength",
                (
                    f"{found.bits:.1f} bits, {found.net_bits:.1f} after the charge; q-value {cell(found.q_value)}",
                    equal,
                    f"ruled out first: {', '.join(found.exclusions_tried) or 'nothing recorded'}",
                ),
            ),
            *((("decisions", tuple(earlier)),) if earlier else ()),
        ),
    )
