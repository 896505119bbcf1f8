"""Polish sentences by a small grammar of our own: the corpora that ship hold too little Polish.

Word forms are in the case that their place asks for. The sentences mean little; they are correct enough to be Polish.
"""

from __future__ import annotations

from forensics.simulate.dice import Dice

_WHO = (
    "klient kierownik magazynier księgowa inspektor dostawca kurier prawnik lekarka pielęgniarka ubezpieczyciel "
    "pośrednik operator analityczka programista projektantka nauczyciel tłumacz agentka doradca mechanik rzeczoznawca "
    "audytor sekretarka dyrektorka koordynator pacjentka podróżny sprzedawczyni elektryk ogrodniczka hydraulik"
).split()
_DOES = (
    "sprawdza poprawia przesyła odrzuca podpisuje opisuje porównuje zamyka otwiera przenosi oblicza zatwierdza "
    "przegląda uzupełnia odkłada potwierdza wyjaśnia przygotowuje archiwizuje tłumaczy zgłasza rozlicza "
    "kwestionuje zapisuje uzgadnia koryguje drukuje odczytuje zestawia wstrzymuje"
).split()
_WHAT = (
    "fakturę umowę przesyłkę wniosek reklamację raport dokumentację zamówienie polisę receptę notatkę tabelę "
    "prognozę rezerwację gwarancję licencję kopię zaległość różnicę stawkę instrukcję decyzję ofertę skargę "
    "kalkulację prowizję wycenę rozdzielnię dostawę pieczęć ekspertyzę korespondencję wymianę naprawę zaliczkę"
).split()
_LIKE = (
    "pilną niepełną błędną ostateczną próbną roczną wstępną zagraniczną dodatkową uszkodzoną spóźnioną poufną "
    "częściową skomplikowaną nieopłaconą uproszczoną zbiorczą jednorazową szczegółową nieczytelną powtórną sezonową"
).split()
_WHERE = (
    "w magazynie", "na lotnisku", "w oddziale", "przy nabrzeżu", "w kancelarii", "na dworcu", "w przychodni",
    "w laboratorium", "na zapleczu", "w archiwum", "przy bramie", "w rozdzielni", "na budowie", "w urzędzie",
    "pod adresem nadawcy", "u podwykonawcy", "w systemie rozliczeń", "na koncie zastępczym", "w teczce sprawy",
)  # fmt: skip
_WHEN = (
    "dzisiaj", "wczoraj wieczorem", "po weekendzie", "przed świętami", "w przyszłym tygodniu", "na początku kwartału",
    "tuż przed terminem", "po długiej przerwie", "w środku nocy", "z opóźnieniem", "bez zwłoki", "w ostatniej chwili",
    "po drugim wezwaniu", "zgodnie z harmonogramem", "mimo sprzeciwu", "od poniedziałku", "raz w miesiącu",
)  # fmt: skip
_WHY = (
    "ponieważ brakuje podpisu", "bo kwoty się nie zgadzają", "choć termin już minął", "gdyż zmieniono przepisy",
    "jeżeli waga przekracza normę", "zanim przyjdzie odpowiedź", "skoro nikt nie zgłosił uwag", "aby uniknąć kary",
    "dopóki trwa kontrola", "chociaż koszty rosną", "bo zaginął oryginał", "żeby skrócić drogę", "gdy pada deszcz",
    "ponieważ zmienił się odbiorca", "jeśli pozwoli na to budżet", "bo temperatura spadła", "gdyż waluta osłabła",
)  # fmt: skip
_LINK = ("Następnie", "Dlatego", "Tymczasem", "Potem", "Mimo to", "Zwykle", "Obecnie", "Wreszcie", "Poza tym", "Czasem")
_HOW = (
    "starannie", "pobieżnie", "ręcznie", "niechętnie", "samodzielnie", "wspólnie", "ponownie", "pośpiesznie",
    "dokładnie", "osobiście", "zdalnie", "stopniowo", "natychmiast", "ostrożnie", "wyrywkowo", "bezbłędnie",
)  # fmt: skip


def sentences(count: int, dice: Dice) -> tuple[tuple[str, ...], ...]:
    """`count` sentences as lists of words, punctuation at the words."""
    return tuple(tuple(_sentence(dice).split()) for _ in range(count))


def _sentence(dice: Dice) -> str:
    who, does, what, where, why = (dice.pick(words) for words in (_WHO, _DOES, _WHAT, _WHERE, _WHY))
    other, also, more, when = dice.pick(_WHO), dice.pick(_DOES), dice.pick(_WHAT), dice.pick(_WHEN)
    like = f"{dice.pick(_LIKE)} " if dice.chance(0.6) else ""
    way = dice.between(0, 4)
    if way == 0:
        return f"{who.capitalize()} {dice.pick(_HOW)} {does} {like}{what} {where}, {why}."
    if way == 1:
        return f"{dice.pick(_LINK)} {who} {does} {like}{what} {when}."
    if way == 2:
        return f"{when.capitalize()} {who} {does} {what}, a {other} {also} {like}{more} {where}."
    if way == 3:
        return f"{where.capitalize()} {who} {dice.pick(_HOW)} {does} {what} oraz {like}{more}, {why}."
    return f"{who.capitalize()} {when} {does} {like}{what} i {also} {more} {where}."
