"""What tenants ask and what the model would answer: sessions, their turns, natural responses. No times, no faults.

Innocent text that two tenants share on purpose (same question, licence, template, stock phrase, sister's document,
joint document, common pool) is reported as a `Lookalike` when the response that holds it is made.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from forensics.simulate.code import CodeWriter
from forensics.simulate.corpus import Corpus, is_spaceless
from forensics.simulate.dice import Dice
from forensics.simulate.extras import SESSIONS, SHAPES, Extras, ManyNames
from forensics.simulate.particulars import Customer, People
from forensics.simulate.pool import Pool
from forensics.simulate.prose import Prose
from forensics.simulate.requests import Choice, Lookalike, Message, Request, Tenant, ToolCall
from forensics.simulate.tenants import template_tail

QUESTIONS = (
    "Summarise this for the management.", "What are the open points?", "Which figures stand out and why?",
    "Draft a short reply to the sender.", "List what has to be done this week.", "What would you ask next?",
    "Rewrite the second part in plain words.", "Who has to be told about this?",
)  # fmt: skip
STOCK_PHRASES = (
    "If anything in this answer looks out of place, let me know and I will go through the material once more with you.",
    "Please note that I can only work from the text in this conversation and cannot look anything up elsewhere.",
    "I hope this helps; tell me which of the points above you would like to see worked out in greater detail.",
    "This overview does not replace professional advice, and the original documents remain the authority in each case.",
)
TOOL_SCHEMA = (
    '# Tools\n[{"type":"function","function":{"name":"lookup","description":"Find records of the customer by account, '
    'case or free text and return at most twenty of them as JSON.","parameters":{"type":"object","properties":'
    '{"query":{"type":"string"},"account":{"type":"string"},"limit":{"type":"integer","maximum":20}},'
    '"required":["query"]}}}]'
)
WEIGHTS = {"document": 34, "chat": 22, "agent": 14, "code": 9, "extract": 10, "question": 4, "licence": 4, "sister": 3}


@dataclass(slots=True, eq=False)
class Session:
    """One conversation."""

    number: int
    tenant: Tenant
    kind: str
    language: str
    topic: tuple[str, ...]
    user: str
    turns: int
    worker: int
    history: list[Message] = field(default_factory=list)
    turn: int = 0
    customers: list[Customer] = field(default_factory=list)
    joint: Message | None = None
    ghost: bool = False
    pending: list[Message] = field(default_factory=list)
    complaint: str | None = None


class Traffic:
    """Makes sessions and turns. `scale` stretches documents; `pool` is None where tenants' contents are independent."""

    def __init__(
        self,
        tenants: Sequence[Tenant],
        corpus: Corpus,
        prose: Prose,
        dice: Dice,
        *,
        scale: float,
        workers: int,
        choices: bool,
        pool: Pool | None,
        extras: Extras | None = None,
    ) -> None:
        self.tenants = list(tenants)
        self._prose = prose
        self._dice = dice
        self._extras = extras
        self.people = People(dice) if extras is None else ManyNames(dice)
        self._kinds = WEIGHTS if extras is None else WEIGHTS | SESSIONS
        self._code = CodeWriter(corpus, prose)
        self._scale = scale
        self._workers = workers
        self._choices = choices
        self._pool = pool
        self._weights = [1 / (rank + 3) for rank in range(len(self.tenants))]
        self._licences = [text.strip()[:900] for text in corpus.licences[:3]]
        # The same few questions come again and again, as they do; each asker gets nearly the same answer.
        self._questions = list(corpus.questions[: max(4, len(self.tenants) // 3)])
        self._next_question = 0
        self._asked: dict[str, list[Request]] = {}
        self._licence_turn = 0
        self._handbooks: dict[str, list[tuple[Tenant, Message, str]]] = {}
        self._documents: dict[str, list[tuple[Message, tuple[str, ...]]]] = {}
        # Large logs hold more of the same, and new text is what costs time.
        self._again = 0.3 if scale < 2 else 0.65
        self._sisters = [
            tenant
            for tenant in self.tenants
            if sum(other.organisation == tenant.organisation for other in self.tenants) > 1
        ]
        self.lookalikes: list[Lookalike] = []
        self.count = 0
        verbatim = [*self._licences, *(text for pair in self._questions for text in pair), *STOCK_PHRASES, TOOL_SCHEMA]
        for text in verbatim:
            prose.novelty.remember(text, "en")

    # -- sessions ---------------------------------------------------------------------------------------------

    def session(self, kind: str | None = None, tenant: Tenant | None = None, joint: Message | None = None) -> Session:
        """A new conversation of a random or given tenant and kind."""
        dice = self._dice
        kind = kind or dice.choices(list(self._kinds), list(self._kinds.values()))[0]
        if kind == "sister" and not self._sisters:
            kind = "document"
        if tenant is None:
            tenant = dice.pick(self._sisters) if kind == "sister" else dice.choices(self.tenants, self._weights)[0]
        language = dice.choices(tenant.languages, [3, 1][: len(tenant.languages)])[0]
        if kind in ("question", "licence", "code", "sister"):
            language = "en"
        own = tenant.lexicon.get(language, ())
        topic = self._prose.topic(language, dice, 12) + tuple(dice.sample(list(own), min(10, len(own))) if own else ())
        turns = {"document": 3, "chat": 4, "agent": 7, "code": 2, "extract": 1, "question": 1, "licence": 1}
        self.count += 1
        session = Session(
            self.count, tenant, kind, language, topic, f"u-{dice.hex(6)}",
            turns=dice.between(1, turns.get(kind, 1)), worker=dice.between(0, self._workers - 1), joint=joint,
        )  # fmt: skip
        system = tenant.system_prompt + ("\n\n" + TOOL_SCHEMA if kind == "agent" else "")
        session.history.append(Message("system", system, tenant))
        return session

    def turn(self, session: Session, request: Request) -> None:
        """Fill `request` with the session's next messages and the answer the model would give."""
        session.turn += 1
        request.turn = session.turn
        request.language = session.language
        build = getattr(self, f"_turn_{'complaint' if session.complaint else session.kind}")
        build(session, request)
        request.messages = [*session.history]
        request.prompt_chars = sum(len(m.content or "") for m in request.messages)

    # -- kinds ------------------------------------------------------------------------------------------------

    def _turn_document(self, session: Session, request: Request) -> None:
        if session.turn == 1:
            session.history.append(session.joint or self._own_document(session))
        question = self._dice.pick(QUESTIONS)
        session.history.append(Message("user", question, session.tenant))
        request.key = question.lower()
        self._answer(session, request, self._dice.between(3, 9), quotes=self._dice.between(0, 2))

    def _turn_chat(self, session: Session, request: Request) -> None:
        text = self._prose.passage(session.language, session.topic, self._dice.between(1, 5), self._dice)
        particulars: tuple[str, ...] = ()
        if self._dice.chance(0.35):
            customer = self.people.customer(session.language)
            session.customers.append(customer)
            text += " " + customer.line(session.language, self._dice)
            particulars = customer.values()
        session.history.append(self._private(session, "user", text, particulars))
        self._answer(session, request, self._dice.between(2, 7), quotes=self._dice.chance(0.2))

    def _turn_agent(self, session: Session, request: Request) -> None:
        if session.turn == 1:
            text = self._prose.passage(session.language, session.topic, self._dice.between(1, 3), self._dice)
            session.history.append(self._private(session, "user", text))
        elif session.history[-1].role == "assistant" and session.history[-1].tool_call:
            session.history.append(self._tool_result(session))
        else:
            text = self._prose.passage(session.language, session.topic, 1, self._dice)
            session.history.append(self._private(session, "user", text))
        if session.turn < session.turns and self._dice.chance(0.75):
            query = " ".join(self._dice.sample(list(session.topic), 3))
            arguments: dict[str, object] = {"query": query, "limit": self._dice.between(1, 20)}
            if session.customers:
                arguments["account"] = self._dice.pick(session.customers).account
            call = ToolCall("lookup", json.dumps(arguments, ensure_ascii=False))
            reasoning = self._reasoning(session) if self._dice.chance(0.4) else None
            request.choices = [Choice(None, reasoning, call)]
        else:
            self._answer(session, request, self._dice.between(2, 6), quotes=self._dice.chance(0.5))

    def _turn_code(self, session: Session, request: Request) -> None:
        ask = self._prose.passage("en", session.topic, 2, self._dice)
        language, text = self._code.snippet(session.topic, self._dice)
        session.history.append(self._private(session, "user", f"{ask}\n\n```{language}\n{text}\n```"))
        _, answer = self._code.snippet(session.topic, self._dice, language)
        says = self._prose.passage("en", session.topic, 2, self._dice)
        own = self.excerpt(text, 40, 160)
        quoted = f"\n\nThe part that fails is `{own}`." if own else ""
        request.choices = [Choice(f"{says}{quoted}\n\n```{language}\n{answer}\n```", self._maybe_reasoning(session))]
        if own:
            self.lookalikes.append(Lookalike("own_quotation", request, own))

    def _turn_extract(self, session: Session, request: Request) -> None:
        document = self.document(session, share=0.6)
        session.history.append(document)
        session.history.append(Message("user", "Return the customers as JSON.", session.tenant))
        prefix = session.tenant.key_prefix
        rows = [
            {f"{prefix}_id": c.case, f"{prefix}_name": c.name, f"{prefix}_acct": c.account, f"{prefix}_sum": c.amount}
            for c in session.customers[:12]
        ]
        request.choices = [Choice(json.dumps(rows, ensure_ascii=False, indent=2 if self._dice.chance(0.5) else None))]

    def _turn_status(self, session: Session, request: Request) -> None:
        assert self._extras is not None
        customer = self.people.customer(session.language)
        session.customers.append(customer)
        ask, record, answer, stock = self._extras.status(customer, session.language)
        session.history.append(self._private(session, "user", record, customer.values()))
        session.history.append(Message("user", ask, session.tenant))
        request.shape = f"status {ask}"
        request.blocks = tuple(value for value in vars(customer).values() if value in answer)
        request.choices = [Choice(answer)]
        self.lookalikes.extend(Lookalike("stock_answer", request, part) for part in stock)

    def _turn_form(self, session: Session, request: Request) -> None:
        assert self._extras is not None
        shape = self._dice.pick(SHAPES)
        system = session.history[0]
        session.history[0] = Message(
            "system", f"{system.content}\n\n{self._extras.instruction(session.tenant, shape)}", session.tenant
        )
        text = self._prose.passage(session.language, session.topic, self._dice.between(2, 5), self._dice)
        session.history.append(self._private(session, "user", text))
        request.shape = shape
        request.blocks = tuple(
            self._prose.passage(session.language, session.topic, self._dice.between(1, 2), self._dice) for _ in range(5)
        )
        content, call = self._extras.answer(session.tenant.organisation, shape, request.blocks)
        request.choices = [Choice(content, None, call)]

    def _turn_question(self, session: Session, request: Request) -> None:
        question, answer = self._questions[self._next_question % len(self._questions)]
        self._next_question += 1
        askers = self._asked.setdefault(question, [])
        session.history.append(Message("user", question, session.tenant))
        cut = answer.rfind(" ", 0, len(answer) * 2 // 3)
        if self._dice.chance(0.5) and cut > 40:
            same = [answer[:cut], answer[cut:].strip()]
            answer = f"{answer[:cut]} {self._dice.pick(session.topic)}{answer[cut:]}"
        else:
            same = [answer]
        request.choices = [Choice(answer)]
        others = tuple(other.rid for other in askers[-5:])
        self.lookalikes.extend(Lookalike("same_question", request, part, others) for part in same)
        askers.append(request)

    def _turn_licence(self, session: Session, request: Request) -> None:
        text = self._licences[self._licence_turn % len(self._licences)]
        supplied = (self._licence_turn // len(self._licences)) % 2 == 0
        self._licence_turn += 1
        if supplied:
            session.history.append(Message("user", f"What follows from these terms for us?\n\n{text}", session.tenant))
            self._answer(session, request, 4, quotes=0)
            part = self.excerpt(text, 100, 400) or text[:300]
            request.choices[0].content = f"The text says: {part}\n\n{request.choices[0].content}"
        else:
            session.history.append(Message("user", "Which licence text fits our library? Show it.", session.tenant))
            says = self._prose.passage("en", session.topic, 1, self._dice)
            part = text
            request.choices = [Choice(f"{says}\n\n{part}")]
        self.lookalikes.append(Lookalike("licence", request, part))

    def _turn_sister(self, session: Session, request: Request) -> None:
        known = self._handbooks.setdefault(session.tenant.organisation, [])
        foreign = [entry for entry in known if entry[0] is not session.tenant]
        if foreign and self._dice.chance(0.7):
            # The organisation's own retrieval put the sister's document in front of the model.
            _, document, rid = self._dice.pick(foreign)
            text = self._prose.passage("en", session.topic, 1, self._dice)
            session.history.append(self._private(session, "user", text))
            self._answer(session, request, 3, quotes=0)
            part = self.excerpt(document.content or "", 60, 320)
            if part:
                request.choices[0].content = f"{request.choices[0].content}\n\nOur handbook says: {part}"
                self.lookalikes.append(Lookalike("sister_account", request, part, (rid,)))
            return
        document = self.document(session)
        document.private = False
        session.history.append(document)
        self._answer(session, request, 4, quotes=1)
        known.append((session.tenant, document, request.rid))

    def _turn_complaint(self, session: Session, request: Request) -> None:
        leaked = session.complaint or ""
        session.complaint = None
        ask = self._prose.passage(session.language, session.topic, 1, self._dice)
        message = self._private(session, "user", f'Your last answer held this: "{leaked}" {ask}')
        message.private, message.tainted = False, True
        session.history.append(message)
        says = self._prose.passage(session.language, session.topic, 2, self._dice)
        request.choices = [Choice(f'I cannot say where "{leaked}" comes from. {says}')]
        self.lookalikes.append(Lookalike("complaint", request, leaked))

    # -- parts ------------------------------------------------------------------------------------------------

    def document(self, session: Session, share: float = 0.3) -> Message:
        """A new document of the session's tenant; `share` of its paragraphs carry customers' particulars."""
        dice, language = self._dice, session.language
        target = dice.log_between(1200, 16000) * self._scale * (0.45 if is_spaceless(language) else 1)
        paragraphs: list[str] = []
        particulars: list[str] = []
        size = 0
        while size < target:
            text = self._prose.passage(language, session.topic, dice.between(2, 6), dice)
            if dice.chance(share):
                customer = self.people.customer(language)
                session.customers.append(customer)
                joint = "" if is_spaceless(language) else " "
                line = customer.line(language, dice)
                text = text + joint + line if dice.chance(0.6) else line + joint + text
                particulars.extend(value for value in customer.values() if value in line)
            if self._pool is not None and dice.chance(0.25):
                text = self._pool.current(dice)
            paragraphs.append(text)
            size += len(text)
        if self._extras is not None:
            paragraphs = self._enriched(session, paragraphs)
        return self._private(session, "user", "\n\n".join(paragraphs), tuple(particulars))

    def _enriched(self, session: Session, paragraphs: list[str]) -> list[str]:
        assert self._extras is not None
        if session.language in ("he", "ar"):
            paragraphs = self._extras.pointed("\n\n".join(paragraphs), session.language).split("\n\n")
        return [*paragraphs, self._extras.line(session.tenant, session.language)]

    def _own_document(self, session: Session) -> Message:
        """A document of the tenant: new, or one it brings again, as people do; the session then speaks its language."""
        known = self._documents.setdefault(session.tenant.name, [])
        if known and self._dice.chance(self._again):
            message, session.topic = self._dice.pick(known[-12:])
            session.language = message.language
            return message
        message = self.document(session)
        known.append((message, session.topic))
        return message

    def excerpt(self, text: str, shortest: int, longest: int) -> str | None:
        """A part of `text` on one line, cut between words, of about the wanted length; None where there is none."""
        for _ in range(8):
            wanted = self._dice.between(shortest, longest)
            start = self._dice.between(0, max(0, len(text) - wanted))
            start = text.find(" ", start) + 1 if " " in text[start : start + 80] else start
            part = text[start : start + wanted].split("\n")[0]
            if len(part) >= wanted and " " in part[shortest // 2 :]:
                part = part[: part.rfind(" ")]
            part = part.strip()
            if len(part) >= shortest and '"' not in part and "`" not in part:
                return part
        return None

    def _answer(self, session: Session, request: Request, sentences: int, quotes: int | bool) -> None:
        dice, language = self._dice, session.language
        count = 2 if self._choices and session.kind == "chat" and dice.chance(0.08) else 1
        request.choices = []
        for _ in range(count):
            text = self._prose.passage(language, session.topic, sentences, dice)
            for _ in range(int(quotes)):
                source = dice.pick([m for m in session.history if m.content and m.private and not m.tainted] or [None])
                part = self.excerpt(source.content, 30, 200) if source is not None and source.content else None
                if part:
                    more = self._prose.passage(language, session.topic, dice.between(1, 3), dice)
                    text = f'{text} "{part}" {more}'
                    self.lookalikes.append(Lookalike("own_quotation", request, part))
            if self._pool is not None and dice.chance(0.4):
                part = self.excerpt(self._pool.current(dice), 50, 400)
                if part:
                    text = f"{text} {part}"
                    self.lookalikes.append(Lookalike("common_pool", request, part))
            quote = self._extras.quote(language) if self._extras is not None else None
            if quote is not None:
                text = f"{text} {quote}"
                self.lookalikes.append(Lookalike("public_quote", request, quote))
            if session.tenant.template >= 0 and session.kind == "document" and dice.chance(0.4):
                text, tail = self._form(session, text)
                self.lookalikes.append(Lookalike("template", request, tail))
            elif language == "en" and dice.chance(0.15):
                phrase = dice.pick(STOCK_PHRASES)
                text = f"{text}\n\n{phrase}"
                self.lookalikes.append(Lookalike("model_phrase", request, phrase))
            request.choices.append(Choice(text, self._maybe_reasoning(session)))

    def _form(self, session: Session, text: str) -> tuple[str, str]:
        second = self._prose.passage(session.language, session.topic, 2, self._dice)
        third = self._prose.passage(session.language, session.topic, 1, self._dice)
        number = session.tenant.template
        filled = template_tail(number).format(text, second, third, number)
        return filled, filled[filled.rfind("\n\n") + 2 :]

    def _maybe_reasoning(self, session: Session) -> str | None:
        return self._reasoning(session) if self._dice.chance(0.15) else None

    def _reasoning(self, session: Session) -> str:
        return self._prose.passage(session.language, session.topic, self._dice.between(1, 4), self._dice)

    def _tool_result(self, session: Session) -> Message:
        dice = self._dice
        rows = []
        particulars: list[str] = []
        for _ in range(dice.between(1, 4)):
            customer = self.people.customer(session.language)
            session.customers.append(customer)
            note = self._prose.passage(session.language, session.topic, dice.between(1, 4), dice)
            rows.append({"case": customer.case, "account": customer.account, "contact": customer.email, "note": note})
            particulars.extend((customer.case, customer.account, customer.email))
        text = json.dumps(rows, ensure_ascii=False)
        return self._private(session, "tool", text, tuple(particulars))

    def _private(self, session: Session, role: str, text: str, particulars: tuple[str, ...] = ()) -> Message:
        kept = tuple(value for value in particulars if value in text)
        made = Message(role, text, session.tenant, private=True, particulars=kept, language=session.language)
        if self._extras is not None:
            made.details = self._extras.details(text, session.customers, session.tenant)
        return made
