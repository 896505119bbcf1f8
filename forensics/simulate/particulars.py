"""Invented people with account numbers, addresses, keys and amounts. No two share a number, a name or an address.

Every value is made up: domains end in .example, numbers follow no real scheme's check digits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from forensics.simulate.dice import Dice

_FIRST = {
    "latin": "Marta Jonas Ilse Pavel Noor Tomasz Greta Luca Aoife Bram Celia Dario Edda Farid Gitte Henk Ines Jarek "
    "Kaja Leif Mireia Nils Odile Petra Quirin Rosa Sven Tilda Ursin Vera Wouter Xenia Yann Zofia Anouk Birger",
    "he": "נועה איתן יעל עומר תמר אורי שירה גיא מיכל דניאל רות אסף הילה רון",
    "ar": "ليلى سامر هدى كريم نور طارق سلمى فارس ريم يوسف منى باسل جنى عمر",
    "ru": "Ирина Олег Софья Павел Дарья Игорь Алла Юрий Нина Лев Вера Антон Зоя Глеб",
    "zh": "晓琳 子涵 志远 雅婷 俊杰 思源 佳怡 文博 梦洁 浩然 欣妍 天佑 若溪 明哲",
    "ja": "陽菜 健太 美咲 大輔 彩花 翔太 由美 直樹 千尋 拓也 真理 誠 奈緒 亮",
    "ko": "서연 민준 지우 도윤 하은 시우 수아 예준 지민 건우 다은 현우 채원 준서",
}
_LAST = {
    "latin": "Lindqvist Okonkwo Baranski Vermeulen Castellanos Huber Moreau Szabo Lindholm Petrovic Ferraro Novotny "
    "Achterberg Brandvold Kowalczyk Delacroix Engelhardt Fitzmaurice Grzegorczyk Haugland Ibarra Jankovic Kristensen "
    "Lombardi Mazurek Nieminen Ostrowski Pellegrino Quintero Rasmussen Sandoval Thorvaldsen Urbanek Vasconcelos "
    "Wisniewski Ylonen Zimmermann Abernathy Bellerose Czajka",
    "he": "אברהמי בן־שלום גרינברג דביר הלפרין זילברמן חזן כרמלי לביא מזרחי נחמני סגל פלדמן קדוש רוזנטל שמעוני",
    "ar": "الحداد المنصوري الخطيب العلي النجار السيوفي البكري القاسم الرفاعي الزعبي الشامي الدوري الكيلاني المصري",
    "ru": "Воронцова Белкина Громова Зайцева Ковалёва Лебедева Морозова Носова Орлова Петрова Рыкова Савина Тихова",
    "zh": "欧阳 司徒 上官 诸葛 慕容 夏侯 皇甫 尉迟 公孙 令狐 宇文 长孙 轩辕 钟离",
    "ja": "長谷川 小野寺 五十嵐 大久保 三浦 久保田 佐々木 宮本 高橋 渡辺 松永 石黒 菊池 榊原",
    "ko": "남궁 황보 선우 독고 제갈 사공 서문 김 이 박 최 정 강 조",
}
_STREETS = (
    "Kestrel Birchwood Harbour Millrace Lantern Juniper Quarry Saddler Orchard Tannery Foundry Larkspur Bellows "
    "Copperfield Drover Elmbank Ferry Granary Hawthorn Ironside Jetty Kiln Linden Marsh Nettle Osprey"
).split()
_TOWNS = (
    "Nordhavn Altenbrück Villarosa Kestwick Montclair Ostrava Lindau Brevik Carrow Dunmore Esbeck Falkirk "
    "Gravelines Hollum Ivrea Jaworzno Kortrijk Lugano Malmark Novara Orsa Pontevico Rauma Sinzig"
).split()
_CURRENCIES = ("EUR", "USD", "GBP", "PLN", "CHF", "ILS", "JPY")
# Between two particulars stand at most some twenty letters, so that the lines share no long run.
_LINES = {
    "en": (
        "{name} ({email}) wrote about {account} on {case}.",
        "Ship {case} to {address}, attention {name}, phone {phone}.",
        "Refund {amount} to {account}; contact {email}, case {case}.",
        "The key {key} of {name} expires; replace it under {case}.",
        "{name}, {address}: open balance {amount}, reference {case}.",
        "Call {phone} and ask {name} for account {account}.",
    ),
    "de": (
        "{name}, {address}, schuldet noch {amount} auf {account}.",
        "Vorgang {case}: {name} ({email}) bittet um {amount}.",
        "Rückruf unter {phone} zu Konto {account}, {name}.",
    ),
    "pl": (
        "{name}, {address}, zalega {amount} na {account}.",
        "Sprawa {case}: {name} ({email}) prosi o {amount}.",
        "Oddzwonić {phone} w sprawie {account}, {name}.",
    ),
    "fr": ("{name}, {address}, doit {amount} sur {account}.", "Dossier {case} : appeler {phone}, écrire à {email}."),
    "es": ("{name}, {address}, debe {amount} en {account}.", "Caso {case}: llamar a {phone}, correo {email}."),
    "he": ("{name} ביקשה להעביר {amount} לחשבון {account}.", "תיק {case}: להתקשר {phone} אל {name}, דוא״ל {email}."),
    "ar": ("طلب {name} تحويل {amount} إلى الحساب {account}.", "الملف {case}: الاتصال بـ {name} على {phone}، {email}."),
    "ru": ("{name} просит перевести {amount} на счёт {account}.", "Дело {case}: {name}, {phone}, {email}."),
    "zh": ("{name}要求把{amount}转到账户{account}。", "案号{case}：请联系{name}，电话{phone}，邮箱{email}。"),
    "ja": ("{name}様の口座{account}へ{amount}を返金。", "案件{case}：{name}様、電話{phone}、{email}。"),
    "ko": ("{name} 고객이 계좌 {account}로 {amount} 환불 요청.", "사건 {case}: {name}, 전화 {phone}, {email}."),
}


@dataclass(frozen=True)
class Customer:
    """One invented person and what a business knows of them."""

    name: str
    account: str
    email: str
    phone: str
    address: str
    key: str
    amount: str
    case: str

    def line(self, language: str, dice: Dice) -> str:
        """A sentence with some of the particulars."""
        return dice.pick(_LINES.get(language, _LINES["en"])).format(**vars(self))

    def values(self) -> tuple[str, ...]:
        """Particulars that mean one person, longest first."""
        return tuple(sorted((self.account, self.email, self.key, self.case, self.phone, self.address), key=len))[::-1]


class People:
    """Makes customers, each different from all before."""

    def __init__(self, dice: Dice) -> None:
        self._dice = dice
        self._used: set[str] = set()

    def customer(self, language: str) -> Customer:
        """A new person whose name is written in `language`'s script."""
        dice = self._dice
        script = language if language in _FIRST else "latin"
        name = self._new(lambda: self._name(script))
        ascii_name = name if script == "latin" else self._name("latin")
        handle = "".join(c for c in ascii_name.lower() if c.isascii() and c.isalpha())
        return Customer(
            name=name,
            account=self._new(self._account),
            email=self._new(lambda: f"{handle[:12]}{dice.between(10, 999)}@{dice.pick(_TOWNS).lower()}.example"),
            phone=self._new(
                lambda: f"+{dice.between(30, 99)} {dice.between(100, 999)} {dice.between(1000000, 9999999)}"
            ),
            address=self._new(self._address),
            key=self._new(lambda: f"{dice.pick(('sk', 'tok', 'key', 'pat'))}-{dice.hex(24)}"),
            amount=self._new(self._amount),
            case=self._new(self._case),
        )

    def _new(self, make: Callable[[], str]) -> str:
        for _ in range(200):
            value = make()
            if value not in self._used:
                self._used.add(value)
                return value
        value = f"{make()} {self._dice.between(10_000, 99_999)}"
        self._used.add(value)
        return value

    def _name(self, script: str) -> str:
        first, last = self._dice.pick(_FIRST[script].split()), self._dice.pick(_LAST[script].split())
        if script == "latin":
            middle = self._dice.pick("ABCDEFGHJKLMNPRSTVW")
            return f"{first} {middle}. {last}"
        return f"{last}{first}" if script in ("zh", "ja", "ko") else f"{first} {last}"

    def _account(self) -> str:
        dice = self._dice
        country = dice.pick(("DE", "FR", "NL", "PL", "IL", "ES"))
        return f"{country}{dice.between(10, 99)} " + " ".join(f"{dice.between(0, 9999):04d}" for _ in range(4))

    def _address(self) -> str:
        dice = self._dice
        return (
            f"{dice.between(1, 299)} {dice.pick(_STREETS)} {dice.pick(('Lane', 'Street', 'Quay', 'Row'))}, "
            f"{dice.between(10000, 99999)} {dice.pick(_TOWNS)}"
        )

    def _amount(self) -> str:
        dice = self._dice
        return f"{dice.between(10, 98)},{dice.between(100, 999)}.{dice.between(10, 99)} {dice.pick(_CURRENCIES)}"

    def _case(self) -> str:
        dice = self._dice
        letters = dice.pick("ABCDEFGHKLMNPRSTUVW") + dice.pick("CDFGHKLMNPRSTVWXZ")
        return f"{letters}-{dice.hex(4).upper()}-{dice.between(100000, 999999)}"
