"""Leaks of all kinds: what each class hands from one request to another. Replaces `Faults` when kinds are asked for.

As there, nobody draws a pair of requests: at a finish, what the engine holds at that moment (host pages, the row's
former owner, answers in flight, the connection's last answer) is looked through for what a due wish needs.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence

from forensics.simulate import alter
from forensics.simulate.cuts import to_words
from forensics.simulate.dice import Dice
from forensics.simulate.engine import Worker
from forensics.simulate.extras import SHAPES, Extras
from forensics.simulate.faults import RACE_SECONDS, Faults, LostPage, Plan
from forensics.simulate.kinds import KIND_OF, Wish, chosen, wishes
from forensics.simulate.parameters import Parameters
from forensics.simulate.prose import Prose
from forensics.simulate.requests import Choice, Planted, Request
from forensics.simulate.sources import Passage, answers, language_of, prompts

_AT_ONCE = 10  # due wishes that one response may try
_COPIES = ("verbatim", "altered", "multi_source", "identifier", "canary")  # these look through passages
_PATIENCE = 600  # tries after which a wish takes any language


class KindFaults(Faults):
    """Hooks of the engine for an incident with many kinds of leak."""

    def __init__(
        self, parameters: Parameters, window: tuple[float, float], dice: Dice, extras: Extras, prose: Prose
    ) -> None:
        super().__init__(parameters, window, dice)
        self._extras = extras
        self._prose = prose
        weights = chosen(parameters.kinds)
        joint = min(parameters.ambiguous, parameters.leaks)
        self.wishes = wishes(parameters.leaks - joint, weights, *window, dice)
        if joint:
            self.wishes += wishes(joint, {"verbatim/joint": 1}, *window, dice)
            self.wishes.sort(key=lambda wish: wish.due)
        self._recent: dict[int, deque[Request]] = defaultdict(lambda: deque(maxlen=30))
        self._aborted: dict[int, deque[Request]] = defaultdict(lambda: deque(maxlen=10))
        self._shaped: dict[str, deque[Request]] = defaultdict(lambda: deque(maxlen=40))
        self._swaps: dict[str, tuple[Request, Choice]] = {}
        self._reserved: set[str] = set()
        self._chains: dict[tuple[int, int], tuple[int, int]] = {}
        self._chain = 0

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

    # -- streams that cross -----------------------------------------------------------------------------------

    def _interleaved(self, wish: Wish, worker: Worker, request: Request) -> bool:
        own = request.choices[0].content
        if own is None or len(own) < 60 or request.rid in self.shared or request.choices[0].tool_call:
            return False
        wanted = 3 if wish.variant == "three" else 2 if wish.variant == "two" else 1
        found: list[Passage] = []
        rows = [other for _, other in sorted(worker.rows.items()) if other is not request]
        self._dice.shuffle(rows)
        for other in rows:
            known = {p.source.tenant.organisation for p in found}
            if not self._foreign(other, request) or other.tenant.organisation in known or not self._free(other):
                continue
            if (request.tenant.organisation, other.choices[0].content) in self._leaked:
                continue
            passages = answers(other, other.choices[0], "stream_crossed")
            found += [
                p for p in passages if len(p.text) > wish.shortest + 20 and (found or wish.language in ("", p.language))
            ]
            if len(found) >= wanted:
                return self._cross(wish, request, own, found[:wanted])
        return False

    def _cross(self, wish: Wish, request: Request, own: str, passages: Sequence[Passage]) -> bool:
        dice = self._dice
        streams: list[list[str]] = []
        origins: list[str] = []
        for passage in passages:
            pieces = alter.tokens(passage.text, passage.language, dice)
            first = dice.between(0, max(0, len(pieces) // 4))
            taken: list[str] = []
            length, aim = 0, dice.between(wish.shortest, wish.longest)
            for piece in pieces[first:]:
                taken.append(piece)
                length += len(piece)
                if length >= aim:
                    break
            if length < wish.shortest:
                return False
            taken[0] = taken[0].lstrip() or taken[0]
            streams.append(taken)
            origins.append("".join(taken))
        mine = alter.tokens(own, request.language, dice)
        head = dice.between(1, max(1, len(mine) // 3))
        tail = mine[head:]
        if wish.variant == "own":
            count = min(len(tail), len(streams[0]))
            if count < len(streams[0]) * 0.7:
                return False
            streams.insert(0, tail[:count])
            tail = tail[count:]
        mixed, places = alter.interleave(streams, dice)
        if wish.variant == "own":
            places = places[1:]
        start = "".join(mine[:head])
        glue = "" if mixed[:1].isspace() else " "
        request.choices = [Choice(start + glue + mixed + "".join(tail)), *request.choices[1:]]
        for passage, origin, mixture in zip(passages, origins, places, strict=True):
            low, high = mixture[0][0], mixture[-1][1]
            request.planted.append(
                Planted(
                    "content", 0, mixed[low:high], passage.fault, "altered", passage.source, passage.side, passage.text,
                    label=wish.label, origin=origin, language=passage.language,
                    pieces=tuple((a - low, b - low) for a, b in mixture),
                )
            )  # fmt: skip
            self._reserved.add(passage.source.rid)
            self._leaked.add((request.tenant.organisation, passage.text))
        return True

    # -- whole answers ----------------------------------------------------------------------------------------

    def _free(self, other: Request) -> bool:
        """Whether nothing has happened to the answer of a request in flight, and nothing innocent is in it."""
        return (
            other.rid not in self._reserved
            and other.rid not in self._swaps
            and other.rid not in self.shared
            and not other.planted
            and (other.worker, other.connection) not in self._chains
        )

    def _whole(self, wish: Wish, worker: Worker, request: Request) -> bool:
        dice = self._dice
        if wish.variant == "semantic_cache":
            return self._semantic(wish, request)
        if wish.variant == "shifted":
            former = worker.answers.get(request.connection)
            if former is None or not self._deliver(wish, request, former, "connection_off_by_one"):
                return False
            self._chain += 1
            request.planted[-1].chain = (self._chain, 1)
            self._chains[(worker.number, request.connection)] = (self._chain, dice.between(2, 5))
            return True
        if wish.variant == "original":
            others = [other for other in self._recent[worker.number] if not other.shape]
            dice.shuffle(others)
            return any(self._deliver(wish, request, o, "response_cache_without_tenant") for o in others[:3])
        if wish.variant == "no_original":
            return any(self._deliver(wish, request, other, "slot_reuse_after_abort")
                       for other in reversed(self._aborted[worker.number]))  # fmt: skip
        rows = [other for _, other in sorted(worker.rows.items()) if other is not request and self._free(other)]
        natural = request.choices[0]
        if not natural.content or len(natural.content) < 120 or request.rid in self.shared:
            return False
        for other in rows:
            if self._deliver(wish, request, other, "rows_swapped"):
                self._swaps[other.rid] = (request, natural)
                return True
        return False

    def _deliver(self, wish: Wish, request: Request, source: Request, fault: str) -> bool:
        """The source's natural answer goes to the request."""
        natural = self._natural.get(source.rid, source.choices[0])
        content = natural.content
        if not content or len(content) < 120 or source.rid in self.shared or source.shape or natural.tool_call:
            return False
        if not self._foreign(source, request) or (request.tenant.organisation, content) in self._leaked:
            return False
        side = "response" if source.rid in self._own_delivered else None
        language = language_of(content, source.language, "assistant")
        request.choices = [Choice(content)]
        request.planted.append(
            Planted(
                "content", 0, content, fault, "whole_response", source, side, content,
                label=wish.label, origin=content, language=language,
            )
        )  # fmt: skip
        self._leaked.add((request.tenant.organisation, content))
        return True

    def _swap_back(self, request: Request) -> None:
        """The other half of a swap. It counts as one more affected response, so a wish goes with it."""
        source, natural = self._swaps.pop(request.rid)
        self._chains.pop((request.worker, request.connection), None)
        spare = next((wish for wish in self.wishes if wish.label == "whole_response/swapped"), None)
        if spare is not None:
            self.wishes.remove(spare)
        request.choices = [Choice(natural.content)]
        content = natural.content or ""
        language = language_of(content, source.language, "assistant")
        request.planted.append(
            Planted(
                "content", 0, content, "rows_swapped", "whole_response", source, None, content,
                label="whole_response/swapped", origin=content, language=language,
            )
        )  # fmt: skip

    def _next_in_chain(self, worker: Worker, request: Request, lane: tuple[int, int]) -> None:
        number, left = self._chains[lane]
        former = worker.answers.get(request.connection)
        spare = next((wish for wish in self.wishes if wish.label == "whole_response/shifted"), None)
        if former is None or spare is None or request.rid in self._reserved:
            del self._chains[lane]
            return
        if not self._deliver(spare, request, former, "connection_off_by_one"):
            del self._chains[lane]
            return
        place = former.planted[0].chain[1] + 1 if former.planted and former.planted[0].chain else 1
        request.planted[-1].chain = (number, place)
        self.wishes.remove(spare)
        self._chains[lane] = (number, left - 1)
        if left <= 1:
            del self._chains[lane]

    def _semantic(self, wish: Wish, request: Request) -> bool:
        """The cache took the same question of another customer for this one."""
        if not request.shape.startswith("status"):
            return False
        for source in reversed(self._shaped[request.shape]):
            content = self._natural[source.rid].content or ""
            if not self._foreign(source, request) or (request.tenant.organisation, content) in self._leaked:
                continue
            pieces = sorted((at, at + len(value)) for value in source.blocks if (at := content.find(value)) >= 0)
            request.choices = [Choice(content)]
            request.planted.append(
                Planted(
                    "content", 0, content, "semantic_cache", "whole_response", source, "response", content,
                    label=wish.label, origin=content, language=source.language, pieces=tuple(pieces),
                )
            )  # fmt: skip
            self._leaked.add((request.tenant.organisation, content))
            return True
        return False

    # -- structure --------------------------------------------------------------------------------------------

    def _structure(self, wish: Wish, request: Request) -> bool:
        """The recipient's own text in the form that another tenant asked for."""
        if request.shape != wish.variant or wish.variant not in SHAPES:
            return False
        for source in reversed(self._shaped[request.shape]):
            organisation = source.tenant.organisation
            if not self._foreign(source, request) or (request.tenant.organisation, organisation) in self._leaked:
                continue
            content, call = self._extras.answer(organisation, wish.variant, request.blocks)
            names = self._extras.names(organisation, wish.variant)
            part, text = ("tool_name", call.name) if call is not None else ("content", content or "")
            pieces = [(at, at + len(name)) for name in names if (at := text.find(name)) >= 0]
            low, high = pieces[0][0], pieces[-1][1]
            request.choices = [Choice(content, None, call)]
            request.planted.append(
                Planted(
                    part, 0, text[low:high], "grammar_reused", "structure", source, "prompt", text,
                    label=wish.label, origin=names[0], language=source.language,
                    pieces=tuple((a - low, b - low) for a, b in pieces) if len(pieces) > 1 else (),
                )
            )  # fmt: skip
            self._leaked.add((request.tenant.organisation, organisation))
            return True
        return False

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
