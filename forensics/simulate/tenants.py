"""The customers of the simulated service: names, languages, system prompts, house words, sister accounts.

A few system prompts are templates that many tenants share; the rest is each tenant's own.
"""

from __future__ import annotations

from forensics.simulate.corpus import Corpus
from forensics.simulate.dice import Dice
from forensics.simulate.prose import Prose
from forensics.simulate.requests import Tenant

_HEADS = (
    "Halvor Brint Calder Dunmere Estrel Farrow Gantry Hollis Ivarn Jessop Kelden Lorrin Marrow Norvik Orbell Penrose "
    "Quill Rastin Selwyn Tarrant Ulver Verdane Wexley Yarrow Zellen Ambry Bastion Cormack Dray Ellory"
).split()
_TRADES = {
    "freight": "Freight", "legal": "Legal", "clinic": "Clinic", "bank": "Bank", "insure": "Insurance",
    "energy": "Energy", "retail": "Retail", "travel": "Travel", "labs": "Labs", "media": "Media",
    "grid": "Grid", "foods": "Foods",
}  # fmt: skip
_COUNTRIES = ("DE", "FR", "NL", "PL", "IL", "ES", "US", "GB", "JP", "SE")
_LANGUAGE_WEIGHTS = {"en": 62, "de": 8, "zh": 7, "fr": 5, "es": 5, "ja": 4, "he": 3, "ar": 3, "ko": 3, "ru": 4}
TEMPLATES = 6
TEMPLATE_TAIL = (
    "## Summary\n{0}\n\n## Findings\n{1}\n\n## Next steps\n{2}\n\nPrepared by the service desk assistant from the "
    "documents supplied in this conversation; check every figure before it is sent to a customer. Form SD-{3}.",
    "RESULT\n{0}\n\nREASONS\n{1}\n\nOPEN POINTS\n{2}\n\nThis note was drafted automatically and is not advice of any "
    "kind; the responsible clerk signs it off before it becomes part of the file. Form RN-{3}.",
)


def template_tail(template: int) -> str:
    """The form that answers under `template` follow; its last paragraph is the same for all who use it."""
    return TEMPLATE_TAIL[template % len(TEMPLATE_TAIL)]


def house_templates(corpus: Corpus, dice: Dice) -> list[str]:
    """System prompts that many tenants share, each with its form of answer."""
    chosen = dice.sample(list(corpus.system_prompts), min(TEMPLATES, len(corpus.system_prompts)))
    made = []
    for number, text in enumerate(chosen):
        form = template_tail(number).format("...", "...", "...", number)
        made.append(f"{text[:1400].rstrip()}\n\nAlways answer in this form:\n\n{form}")
    return made


def make(
    count: int, corpus: Corpus, prose: Prose, dice: Dice, tongues_of: dict[str, int] | None = None
) -> list[Tenant]:
    """`count` tenants in a fixed order; about one in fifteen is the sister account of the one before.

    `tongues_of` are languages and their weights; None for the usual ones.
    """
    templates = house_templates(corpus, dice)
    for text in templates:
        prose.novelty.remember(text, "en")  # no walk over the corpus may come upon what templates hold
    wanted = tongues_of or _LANGUAGE_WEIGHTS
    languages = [name for name in wanted if name in prose.languages]
    weights = [wanted[name] for name in languages]
    made: list[Tenant] = []
    used: set[str] = set()
    for number in range(count):
        sister = made[-1] if count >= 8 and number % 15 == 7 else None
        while True:
            head, trade = dice.pick(_HEADS), dice.pick(list(_TRADES))
            suffix = "" if len(used) < 200 else str(dice.between(2, 99))
            name = f"{head.lower()}-{trade}{suffix}"
            if name not in used:
                used.add(name)
                break
        main = dice.choices(languages, weights)[0]
        tongues = tuple(dict.fromkeys((main, "en" if dice.chance(0.8) else main)))
        legal = f"{head} {_TRADES[trade]}{suffix} Ltd"
        if sister is not None:
            tongues, legal = sister.languages, sister.legal_name
            name = f"{sister.name}-eu"
            used.add(name)
        lexicon = {
            tongue: prose.topic(tongue, dice, 30)
            + (tuple(_coined(dice) for _ in range(8)) if tongue not in ("zh", "ja") else ())
            for tongue in tongues
        }
        shared = dice.chance(0.55) or not templates
        template = dice.between(0, len(templates) - 1) if shared and templates else -1
        own = prose.passage("en", lexicon.get("en", ()), dice.between(3, 7), dice)
        made.append(
            Tenant(
                name=name,
                organisation=sister.organisation if sister else name,
                legal_name=legal,
                contact=f"security@{name}.example",
                country=sister.country if sister else dice.pick(_COUNTRIES),
                languages=tongues,
                template=template,
                system_prompt=templates[template] if template >= 0 else f"You work for {legal}. {own}",
                lexicon=lexicon,
                key_prefix=_coined(dice).lower(),
            )
        )
    return made


def _coined(dice: Dice) -> str:
    """A pronounceable word that no dictionary holds, as product names are."""
    parts = "".join(dice.pick("bdfgklmnprstvz") + dice.pick("aeiou") for _ in range(3))
    return parts.capitalize() + dice.pick(("x", "n", "r", "l", "th", "q"))
