"""What traffic holds beside prose when all kinds of leak are asked for: particulars of more types, canaries, schemas.

Every tenant has its own JSON keys, tool name and headings; some have canaries. The stock answers of the status desk
are the same for all, only the customer's particulars differ. Decides no leak.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from forensics.simulate import alter
from forensics.simulate.dice import Dice
from forensics.simulate.particulars import Customer, People
from forensics.simulate.prose import Prose
from forensics.simulate.quotes import QUOTES
from forensics.simulate.requests import Tenant, ToolCall

SHAPES = ("json_keys", "tool_name", "headings")
SESSIONS = {"status": 5, "form": 7}  # weights beside those of the ordinary kinds of conversation
_STATUS = {
    "en": "Thank you for your message. Your request {case} has been registered and is being handled. The sum of "
    "{amount} will be paid to the account {account}, held by {name}, within five working days, and a confirmation "
    "goes to {email}. Should the address {address} no longer be right, tell us on {phone}.",
    "de": "Vielen Dank für Ihre Nachricht. Ihr Vorgang {case} ist erfasst und wird bearbeitet. Der Betrag von {amount} "
    "wird binnen fünf Werktagen auf das Konto {account} von {name} überwiesen, eine Bestätigung geht an {email}. "
    "Sollte die Anschrift {address} nicht mehr stimmen, rufen Sie uns bitte unter {phone} an.",
    "pl": "Dziękujemy za wiadomość. Sprawa {case} została zarejestrowana i jest w toku. Kwota {amount} zostanie "
    "przelana na konto {account}, którego właścicielem jest {name}, w ciągu pięciu dni roboczych, a potwierdzenie "
    "trafi na adres {email}. Jeśli adres {address} jest nieaktualny, prosimy o telefon pod numer {phone}.",
    "zh": "感谢您的来信。您的申请{case}已登记并正在处理。金额{amount}将在五个工作日内汇入{name}的账户{account}，"
    "确认函会发送至{email}。"
    "如果地址{address}已变更，请拨打{phone}告知我们。",
    "ja": "お問い合わせありがとうございます。案件{case}を受け付け、現在処理しております。{amount}は五営業日以内に"
    "{name}様の口座{account}へ振り込まれ、確認書は{email}へ送られます。ご住所{address}に変更がある場合は{phone}までご連絡ください。",
}
_ASK = {
    "en": "What is the state of my request?",
    "de": "Wie ist der Stand meiner Anfrage?",
    "pl": "Jaki jest stan mojej sprawy?",
    "zh": "我的申请进展如何？",
    "ja": "私の申請はどうなっていますか。",
}
_SCRIPTS = {
    "he": "אבגדהוזחטיכלמנסעפצקרשת",
    "ar": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "ja": "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモラリルレロワン",
    "ru": "абвгдежзиклмнопрстуфхцчшэюя",
}


@dataclass(frozen=True)
class Structure:
    """A tenant's own forms: JSON keys, the name of its tool, headings."""

    keys: tuple[str, ...]
    tool: str
    headings: tuple[str, ...]


class ManyNames(People):
    """People whose names stay different in long logs: two family names, or two given ones, outside Latin scripts."""

    def _name(self, script: str) -> str:
        name = super()._name(script)
        if script == "latin":
            return name
        other = super()._name(script)
        return f"{name}־{other.split()[-1]}" if script == "he" else f"{name}·{other}"


class Extras:
    """All of it for one simulation. `dice` is used for nothing else, so that ordinary text stays what it is."""

    def __init__(self, tenants: Sequence[Tenant], prose: Prose, dice: Dice) -> None:
        self._dice = dice
        self._prose = prose
        self._used: set[str] = set()
        self._made: list[tuple[str, str]] = []
        self.structures: dict[str, Structure] = {}
        self.canaries: list[tuple[str, str, str]] = []
        self._of_tenant: dict[str, list[str]] = {}
        for tenant in tenants:
            if tenant.organisation not in self.structures:
                self.structures[tenant.organisation] = self._structure()
            if dice.chance(0.5) or len(tenants) < 30:
                for label in ("customer list", "system prompt", "price sheet")[: dice.between(1, 3)]:
                    canary = self._canary()
                    self.canaries.append((canary, tenant.name, label))
                    self._of_tenant.setdefault(tenant.name, []).append(canary)
        for language, text in QUOTES:
            prose.novelty.remember(text, language)
        for language, text in _STATUS.items():
            prose.novelty.remember(text, language)

    # -- particulars ------------------------------------------------------------------------------------------

    def line(self, tenant: Tenant, language: str) -> str:
        """Some particulars in a row, with no words between them that others could share."""
        dice = self._dice
        chosen = [self._invented(language), self._code_name(), self._url(tenant)]
        dice.shuffle(chosen)
        chosen = chosen[: dice.between(1, 3)]
        own = self._of_tenant.get(tenant.name)
        if own and dice.chance(0.5):
            chosen.append(dice.pick(own))
        return dice.pick((" / ", "; ", " · ")).join(chosen)

    def details(self, text: str, customers: Iterable[Customer], tenant: Tenant) -> tuple[tuple[str, str], ...]:
        """(type, value) of the particulars that stand in `text`, in a fixed order."""
        found: list[tuple[str, str]] = []
        for person in customers:
            for name in ("account", "name", "email", "key", "phone", "case"):
                value = getattr(person, name)
                if value in text and not (name == "name" and value[-1].isdigit()):
                    found.append((name, value))
        tail = text.rpartition("\n\n")[2] if "\n\n" in text else text
        for kind, value in self._made:
            if value in tail:
                found.append((kind, value))
        self._made = [entry for entry in self._made if entry not in found]
        found += [("canary", value) for value in self._of_tenant.get(tenant.name, ()) if value in tail]
        return tuple(dict.fromkeys(found))

    def _note(self, kind: str, value: str) -> str:
        self._made = [*self._made[-12:], (kind, value)]
        return value

    def _invented(self, language: str) -> str:
        dice = self._dice
        if language == "ko":
            made = "".join(chr(0xAC00 + dice.between(0, 11171)) for _ in range(dice.between(6, 9)))
        elif language == "zh":
            made = "".join(chr(0x4E00 + dice.between(0, 8000)) for _ in range(dice.between(6, 8)))
        elif language in _SCRIPTS:
            made = "".join(dice.pick(_SCRIPTS[language]) for _ in range(dice.between(10, 14)))
        else:
            made = self._coined(dice.between(5, 7)).capitalize()
        return self._note("invented", made)

    def _code_name(self) -> str:
        return self._note("code_name", f"{self._coined(3).capitalize()}-{self._coined(3).capitalize()}")

    def _url(self, tenant: Tenant) -> str:
        dice = self._dice
        return self._note(
            "url",
            f"https://intra.{tenant.name}.example/{self._coined(3)}/{dice.hex(10)}?ref={dice.between(1000, 99999)}",
        )

    def _coined(self, syllables: int) -> str:
        dice = self._dice
        while True:
            parts = [dice.pick("bdfgklmnprstvzhjw") + dice.pick("aeiou") for _ in range(syllables)]
            made = "".join(part + (dice.pick("lnrstx") if dice.chance(0.3) else "") for part in parts)
            if made not in self._used:
                self._used.add(made)
                return made

    def _canary(self) -> str:
        dice = self._dice
        if dice.chance(0.3):
            return " ".join(self._coined(3) for _ in range(3))
        letters = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"
        return f"cnry-{''.join(dice.pick(letters) for _ in range(dice.between(16, 22)))}"

    def pointed(self, text: str, language: str) -> str:
        """Half of the Hebrew and Arabic documents carry vowel points."""
        return alter.point(text, language, self._dice) if self._dice.chance(0.5) else text

    def quote(self, language: str) -> str | None:
        """Now and then a passage that everybody may quote, in `language` if there is one."""
        if not self._dice.chance(0.05):
            return None
        fitting = [text for name, text in QUOTES if name == language] or [QUOTES[0][1]]
        return self._dice.pick(fitting)

    # -- structures -------------------------------------------------------------------------------------------

    def _structure(self) -> Structure:
        words = self._prose.chain("en").content
        dice = self._dice

        def plain() -> str:
            return "".join(c for c in dice.pick(words).lower() if c.isascii() and c.isalpha()) or "entry"

        house = self._coined(3)
        keys = tuple(f"{house}_{plain()}_{self._coined(2)}" for _ in range(5))
        headings = tuple(f"{self._coined(3).capitalize()} {plain()} {plain()}" for _ in range(4))
        return Structure(keys, f"{house}_{plain()}_{self._coined(3)}", headings)

    def instruction(self, tenant: Tenant, shape: str) -> str:
        """What the tenant's system prompt says of its form."""
        structure = self.structures[tenant.organisation]
        if shape == "json_keys":
            return "Return one JSON object with these keys: " + ", ".join(structure.keys) + "."
        if shape == "headings":
            return "Answer under these headings:\n" + "\n".join(f"## {heading}" for heading in structure.headings)
        return f'# Tools\n[{{"type":"function","function":{{"name":"{structure.tool}"}}}}]'

    def answer(self, organisation: str, shape: str, blocks: Sequence[str]) -> tuple[str | None, ToolCall | None]:
        """The blocks in an organisation's form: content, or a tool call."""
        structure = self.structures[organisation]
        if shape == "json_keys":
            body = dict(zip(structure.keys, blocks, strict=False))
            return json.dumps(body, ensure_ascii=False, indent=2), None
        if shape == "headings":
            parts = zip(structure.headings, blocks, strict=False)
            return "\n\n".join(f"## {heading}\n{block}" for heading, block in parts), None
        arguments = {"query": blocks[0], "note": blocks[1]}
        return None, ToolCall(structure.tool, json.dumps(arguments, ensure_ascii=False))

    def names(self, organisation: str, shape: str) -> tuple[str, ...]:
        """The names that make an organisation's form its own."""
        structure = self.structures[organisation]
        return {"json_keys": structure.keys, "headings": structure.headings, "tool_name": (structure.tool,)}[shape]

    # -- the status desk --------------------------------------------------------------------------------------

    @staticmethod
    def status(customer: Customer, language: str) -> tuple[str, str, str, tuple[str, ...]]:
        """(question, record, answer, stock parts of the answer) for a customer; English where there is no form."""
        form = _STATUS.get(language, _STATUS["en"])
        record = " | ".join((customer.case, customer.name, customer.account, customer.email, customer.phone))
        record += f" | {customer.address} | {customer.amount}"
        stock = tuple(part.strip() for part in re.split(r"\{\w+\}", form) if len(part.strip()) > 3)
        return _ASK.get(language, _ASK["en"]), record, form.format(**vars(customer)), stock
