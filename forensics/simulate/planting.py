"""Leaks of all kinds: what each class hands from one request to another. Replaces `Faults` when kinds are asked for.

As there, nobody draws a pair of requests: at a finish, what the engine holds at that moment (host pages, the row's
former owner, answers in flight, the connection's last answer) is looked through for what a due wish needs.
"""

from __future__ import annotations

from collections.abc import Sequence

from forensics.simulate import alter
from forensics.simulate.cuts import to_words
from forensics.simulate.dice import Dice
from forensics.simulate.engine import Worker
from forensics.simulate.exchanges import Exchanges
from forensics.simulate.extras import Extras
from forensics.simulate.faults import RACE_SECONDS, LostPage, Plan
from forensics.simulate.kinds import KIND_OF, Wish, chosen, wishes
from forensics.simulate.parameters import Parameters
from forensics.simulate.prose import Prose
from forensics.simulate.requests import Choice, Planted, Request
from forensics.simulate.sources import Passage, answers, prompts

_AT_ONCE = 10  # due wishes that one response may try
_COPIES = ("verbatim", "altered", "multi_source", "identifier", "canary")  # these look through passages
_PATIENCE = 600  # tries after which a wish takes any language


class KindFaults(Exchanges):
    """Hooks of the engine for an incident with many kinds of leak."""

    def __init__(
        self, parameters: Parameters, window: tuple[float, float], dice: Dice, extras: Extras, prose: Prose
    ) -> None:
        super().__init__(parameters, window, dice, extras)
        self._prose = prose
        weights = chosen(parameters.kinds)
        joint = min(parameters.ambiguous, parameters.leaks)
        self.wishes = wishes(parameters.leaks - joint, weights, *window, dice)
        if joint:
            self.wishes += wishes(joint, {"verbatim/joint": 1}, *window, dice)
            self.wishes.sort(key=lambda wish: wish.due)

    def _plan(self) -> list[Plan]:
        return []  # wishes take the place of plans

    # -- hooks ------------------------------------------------------------------------------------------------

    def admitted(self, worker: Worker, request: Request, now: float) -> None:
        """Keep who has just hung up on this worker."""
        former = request.previous_in_slot
        if former is not None and former.aborted and former not in self._aborted[worker.number]:
            self._aborted[worker.number].append(former)

    def finished(self, worker: Worker, request: Request, now: float) -> None:
        """Leak what is due, if the engine's state offers it."""
        self._natural[request.rid] = request.choices[0]
        lane = (worker.number, request.connection)
        start, end = self._window
        if request.rid in self._swaps:
            self._swap_back(request)
        elif lane in self._chains:
            self._next_in_chain(worker, request, lane)
        elif self.wishes and request.rid not in self._reserved and start <= request.received and now < end:
            self._grant(worker, request, now)
        if request.planted:
            return
        self._own_delivered.add(request.rid)
        self._recent[worker.number].append(request)
        if request.shape:
            self._shaped[request.shape].append(request)
        for message in request.messages:
            if message.joint:
                self._joint.setdefault(worker.number, []).append((request, message))

    def _grant(self, worker: Worker, request: Request, now: float) -> None:
        long = request.prompt_chars >= self._parameters.long_prompt_chars
        due = []
        for wish in self.wishes:
            if wish.due > now:
                break
            shaped = wish.family == "structure" or wish.label == "whole_response/semantic_cache"
            if request.shape != "" if shaped else long:
                due.append(wish)
        passages: list[Passage] | None = None
        for wish in self._dice.sample(due, min(_AT_ONCE, len(due))):
            if passages is None and wish.family in _COPIES:
                passages = self._passages(worker, request)
            if self._try_wish(wish, worker, request, passages or []):
                self.wishes.remove(wish)
                return
            wish.tries += 1
            if wish.tries == _PATIENCE and wish.variant not in ("points_removed", "full_width"):
                wish.language = ""

    def _try_wish(self, wish: Wish, worker: Worker, request: Request, passages: list[Passage]) -> bool:
        if wish.family == "whole_response":
            return self._whole(wish, worker, request)
        if wish.family == "structure":
            return self._structure(wish, request)
        if wish.family == "undetermined":
            return self._lost(wish, worker, request)
        if wish.family == "interleaved":
            return self._interleaved(wish, worker, request)
        if wish.label == "verbatim/joint":
            return self._joint_copy(wish, worker, request)
        if wish.family == "multi_source":
            return self._multi(wish, request, passages)
        if wish.family in ("identifier", "canary"):
            return self._particular(wish, request, [p for p in passages if p.details])
        if wish.language:
            passages = [passage for passage in passages if passage.language == wish.language]
        return any(self._copy(wish, request, passage) for passage in passages[:4])

    # -- copies -----------------------------------------------------------------------------------------------

    def _passages(self, worker: Worker, request: Request) -> list[Passage]:
        """What the engine holds of other organisations: host pages, the row's remains, the connection's last answer."""
        found: list[Passage] = []
        former = request.previous_in_slot
        if former is not None and former.aborted and request.admitted - former.finished < RACE_SECONDS:
            found += prompts(former, former.messages, "slot_reuse_after_abort")
        last = worker.streams.get(request.connection)
        if last is not None and request.stream and last.rid not in self.shared and not last.planted:
            found += answers(last, self._natural[last.rid], "stream_buffer_kept")
        for page in worker.host:
            found += prompts(page.request, [page.message], "host_cache_restore")
        self._dice.shuffle(found)
        return [
            passage
            for passage in found
            if self._foreign(passage.source, request)
            and (request.tenant.organisation, passage.text) not in self._leaked
        ]

    def _copy(self, wish: Wish, request: Request, passage: Passage) -> bool:
        text, dice = passage.text, self._dice
        if wish.variant == "points_removed" and alter.unpoint(text) == text:
            return False
        around = None
        if wish.longest < 80 and passage.side == "prompt":
            fitting = [v for _, v in passage.details if len(v) <= wish.longest - 4]
            if not fitting:
                return False
            around = dice.pick(fitting)
        span = window(text, wish.shortest, wish.longest, around, dice)
        if span is not None and wish.variant == "cut_word":
            span = alter.inside_words(text, *span)
        if span is None:
            return False
        origin = text[span[0] : span[1]]
        leak: str | None = origin
        if wish.family == "altered" and wish.variant != "cut_word":
            vocabulary = self._prose.chain(_tongue(passage.language)).content
            leak = alter.alter(wish.variant, origin, passage.language, vocabulary, dice)
        if leak is None:
            return False
        return self._place(wish, request, passage, leak.strip(), span, origin)

    def _place(
        self, wish: Wish, request: Request, passage: Passage, leak: str, span: tuple[int, int], origin: str
    ) -> bool:
        text = passage.text
        before, after = text[max(0, span[0] - 8) : span[0]], text[span[1] : span[1] + 8]
        place = self._set_in(request, leak, before, after, passage.fault)
        if place is None:
            return False
        request.planted.append(
            Planted(
                *place, leak, passage.fault, KIND_OF[wish.family], passage.source, passage.side, text,
                label=wish.label, origin=origin, language=passage.language,
            )
        )  # fmt: skip
        self._count_tokens(request, passage.fault, len(leak))
        self._leaked.add((request.tenant.organisation, text))
        return True

    def _joint_copy(self, wish: Wish, worker: Worker, request: Request) -> bool:
        for source, message in reversed(self._joint.get(worker.number, [])):
            if len(self._joint_seen.get(message.content or "", ())) < 2:
                continue
            if request.tenant.organisation in message.joint or not self._foreign(source, request):
                continue
            passage = Passage(source, message.content or "", "prompt", "host_cache_restore", "en", ())
            if (request.tenant.organisation, passage.text) not in self._leaked:
                wish.shortest, wish.longest = max(80, wish.shortest), max(199, wish.longest)
                if self._copy(wish, request, passage):
                    return True
        return False

    def _multi(self, wish: Wish, request: Request, passages: Sequence[Passage]) -> bool:
        """Segments of several sources one after the other, in one place of the answer."""
        wanted = 2 if wish.variant == "two" else 3
        parts: list[tuple[Passage, tuple[int, int]]] = []
        for passage in passages:
            if any(passage.source.tenant.organisation == p.source.tenant.organisation for p, _ in parts):
                continue
            if any(passage.text == p.text for p, _ in parts) or (
                not parts and wish.language not in ("", passage.language)
            ):
                continue
            span = window(passage.text, wish.shortest, wish.longest, None, self._dice)
            if span is not None:
                parts.append((passage, span))
            if len(parts) == wanted:
                break
        if len(parts) < wanted:
            return False
        leaks = [passage.text[low:high] for passage, (low, high) in parts]
        first, last = parts[0], parts[-1]
        before = first[0].text[max(0, first[1][0] - 8) : first[1][0]]
        after = last[0].text[last[1][1] : last[1][1] + 8]
        place = self._set_in(request, self._dice.pick((" ", "\n", "\n\n")).join(leaks), before, after, "middle")
        if place is None:
            return False
        for (passage, _), leak in zip(parts, leaks, strict=True):
            request.planted.append(
                Planted(
                    *place, leak, passage.fault, "verbatim", passage.source, passage.side, passage.text,
                    label=wish.label, origin=leak, language=passage.language,
                )
            )  # fmt: skip
            self._leaked.add((request.tenant.organisation, passage.text))
        return True

    # -- particulars ------------------------------------------------------------------------------------------

    def _particular(self, wish: Wish, request: Request, passages: Sequence[Passage]) -> bool:
        wanted = "canary" if wish.family == "canary" else wish.variant
        for passage in passages:
            if wanted == "group":
                people = [value for kind, value in passage.details if kind in ("account", "email", "phone", "case")]
                if len(people) >= 3 and self._group(wish, request, passage, people):
                    return True
                continue
            fitting = [value for kind, value in passage.details if kind == wanted]
            if not fitting:
                continue
            value = self._dice.pick(fitting)
            leak = value
            if wish.label == "canary/cut":
                leak = value[: max(10, len(value) * self._dice.between(60, 80) // 100)].strip()
            elif wish.label == "canary/recased":
                leak = value.upper() if self._dice.chance(0.5) else value.swapcase()
            at = passage.text.find(value)
            if self._place(wish, request, passage, leak, (at, at + len(leak)), value[: len(leak)]):
                return True
        return False

    def _group(self, wish: Wish, request: Request, passage: Passage, values: Sequence[str]) -> bool:
        """Three particulars of the source in sentences of the recipient's own."""
        content = request.choices[0].content
        if content is None or request.choices[0].reasoning or content[:1] in "[{":
            return False
        at = self._dice.between(0, len(values) - 3)
        values = values[at : at + 3]
        spaces = [place for place, c in enumerate(content) if c in " 。"]
        if len(spaces) < 30:
            return False
        third = len(spaces) // 3
        made = content
        held = self.shared.get(request.rid, ())
        for number in (2, 1, 0):
            place = spaces[self._dice.between(number * third + 2, (number + 1) * third - 2)]
            made = f"{made[:place]} {values[number]} {made[place + 1 :]}"
        if any(text not in made for text in held):
            return False
        request.choices = [Choice(made), *request.choices[1:]]
        for value in values:
            request.planted.append(
                Planted(
                    "content", 0, value, passage.fault, "identifier", passage.source, passage.side, passage.text,
                    label=wish.label, origin=value, language=passage.language,
                )
            )  # fmt: skip
        self._leaked.add((request.tenant.organisation, passage.text))
        return True

    # -- sources that no log holds ----------------------------------------------------------------------------

    def _lost(self, wish: Wish, worker: Worker, request: Request) -> bool:
        foreign_script = wish.variant == "script"
        if wish.variant == "passage":
            for page in self.lost_pages:
                if page.worker == worker.number and request.tenant.organisation not in page.victims:
                    return self._restore(wish, request, page)
            page = self._lost_page(worker, _tongue(wish.language or "en"), 2)
            if not self._restore(wish, request, page):
                return False
            self.lost_pages.append(page)
            return True
        languages = [name for name in ("he", "ar", "ja", "ko", "ru") if name in self._prose.languages]
        language = self._dice.pick([name for name in languages if name != request.language])
        if foreign_script:
            return request.language in ("en", "de", "pl", "fr", "es") and self._restore(
                wish, request, self._lost_page(worker, language, 1)
            )
        text = self._prose.passage(_tongue(wish.language or "en"), self._topic(wish), 5, self._dice)
        request.choices = [Choice(text)]
        request.planted.append(
            Planted(
                "content", 0, text, "response_cache_without_tenant", "undetermined", None, None, text, unlogged=True,
                label=wish.label, origin=text, language=_tongue(wish.language or "en"),
            )
        )  # fmt: skip
        return True

    def _topic(self, wish: Wish) -> tuple[str, ...]:
        return self._prose.topic(_tongue(wish.language or "en"), self._dice, 12)

    def _lost_page(self, worker: Worker, language: str, uses: int) -> LostPage:
        topic = self._prose.topic(language, self._dice, 12)
        text = self._prose.passage(language, topic, self._dice.between(1, 3), self._dice)
        while len(text) < 110:
            text = (
                f"{text}{'' if language in ('zh', 'ja') else ' '}{self._prose.passage(language, topic, 1, self._dice)}"
            )
        return LostPage(worker.number, text[:400].strip(), language, uses)

    def _restore(self, wish: Wish, request: Request, page: LostPage) -> bool:
        place = self._set_in(request, page.text, "", "", "host_cache_restore")
        if place is None:
            return False
        page.left -= 1
        page.victims.add(request.tenant.organisation)
        if page.left <= 0 and page in self.lost_pages:
            self.lost_pages.remove(page)
        request.planted.append(
            Planted(
                *place, page.text, "host_cache_restore", "undetermined", None, None, page.text, unlogged=True,
                label=wish.label, origin=page.text, language=page.language,
            )
        )  # fmt: skip
        return True


def window(text: str, shortest: int, longest: int, around: str | None, dice: Dice) -> tuple[int, int] | None:
    """`[start, end)` of `text`, between words, of a length in the given bounds, over `around` if that is given."""
    if len(text) < shortest + 4:
        return None
    for _ in range(8):
        wanted = min(dice.between(shortest, longest), len(text) - 2)
        start = dice.between(0, len(text) - wanted)
        at = 0
        if around is not None:
            at = text.find(around)
            start = max(0, at - dice.between(0, max(0, wanted - len(around))))
        start, end = to_words(text, start, min(len(text), start + wanted))
        if around is not None and not start <= at <= at + len(around) <= end:
            continue
        if shortest <= end - start <= longest:
            return start, end
    return None


def _tongue(language: str) -> str:
    """The language whose words are used for a text: code and JSON are written with English ones."""
    return "en" if language in ("code", "json", "") else language
