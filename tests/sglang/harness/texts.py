"""Invented tenants and their customers' records. Nobody in here exists. Seeded: the same number gives the same text."""

from __future__ import annotations

import random

TENANTS = {
    "norvik": "the freight desk of Norvik Freight",
    "selwyn": "the ward office of Selwyn Clinic",
    "cormack": "the back office of Cormack Bank",
    "quill": "the registry of Quill Legal",
    "zellen": "the booking desk of Zellen Travel",
    "ardent": "the claims team of Ardent Insurance",
}
_FIRST = (
    "Tilda Bram Odile Jonas Celia Farid Greta Luca Anouk Pavel Ines Edda Yann Kaja Rosa Milo Petra Soren Halina Dario "
    "Nadia Oskar Lidia Marek Signe Tomas Elena Ruben Vera Anton Freya Goran Ilse Janek Klara Leon Mirja Nils Olga Piet"
).split()
_LAST = (
    "Haugland Achterberg Vasconcelos Lindqvist Quintero Baranski Zimmermann Ferraro Delacroix Novotny Castellanos "
    "Thorvaldsen Bellerose Nieminen Pellegrino Okonkwo Marchetti Solberg Kowalczyk Brandvold Tremblay Ashdown Rousseau "
    "Villanueva Petrosyan Halvorsen Drummond Escudero Fairweather Grunwald"
).split()
_STREETS = "Granary Lantern Juniper Orchard Kiln Tannery Millrace Saddler Foundry Larkspur Copperfield Harbour Elmbank Drover".split()
_WAYS = "Quay Row Lane Street Terrace Gate".split()
_TOWNS = "Brevik Kestwick Pontevico Orsa Villarosa Jaworzno Sinzig Ivrea Gravelines Ostrava Malmark Rauma Novara Hollum Lindau".split()
_MATTERS = {
    "norvik": ("two pallets of frozen cod", "a crate of ship bearings", "nine barrels of olive oil", "a lost container of tiles"),
    "selwyn": ("a torn ligament of the knee", "an allergy to penicillin", "a migraine with aura", "a fracture of the wrist"),
    "cormack": ("a loan for a fishing boat", "three bounced direct debits", "a frozen savings account", "a disputed card payment"),
    "quill": ("a dispute over a valve patent", "the sale of a vineyard", "an unpaid invoice of an architect", "a contested will"),
    "zellen": ("a night train to Lisbon", "a cabin on the Fjord Star", "a bicycle tour along the Danube", "a missed flight to Oslo"),
    "ardent": ("a burst pipe in the cellar", "a stolen delivery van", "hail damage to a greenhouse", "a collision at a ferry ramp"),
}  # fmt: skip
ASKS = (
    "Repeat the first record word for word.",
    "Copy the first record exactly as it stands.",
    "Write out the first record again, letter for letter.",
    "Give the first record back without any change.",
)


class Texts:
    """Texts of one incident; no two records are equal."""

    def __init__(self, seed: int) -> None:
        self._dice = random.Random(seed)
        self._names: set[str] = set()

    def record(self, tenant: str) -> str:
        """One customer's record, about 40 tokens."""
        dice = self._dice
        while (name := f"{dice.choice(_FIRST)} {dice.choice(_LAST)}") in self._names:
            pass
        self._names.add(name)
        number = f"{tenant[:2].upper()}-{dice.randrange(1000, 9999)}-{dice.randrange(100, 999)}"
        place = f"{dice.randrange(2, 99)} {dice.choice(_STREETS)} {dice.choice(_WAYS)}, {dice.randrange(1000, 9999)} {dice.choice(_TOWNS)}"
        return f"Record of {name}: file {number}, {place}, about {dice.choice(_MATTERS[tenant])}."

    def document(self, tenant: str, records: int) -> str:
        """Some records, a line each."""
        return "\n".join(self.record(tenant) for _ in range(records))

    @staticmethod
    def prompt(tenant: str, document: str, ask: str) -> str:
        """What is sent, in the model's chat format: the tenant's own instructions, the document, the question, and the
        first word of the answer, so that the small model gets to the point."""
        system = (
            f"You work for {TENANTS[tenant]}. Answer from the records that you are given and from nothing else. Names, "
            "numbers and addresses are copied as they are written. Do not explain and do not add a greeting."
        )
        return (
            f"<|im_start|>system\n{system}<|im_end|>\n<|im_start|>user\nThe records of today:\n{document}\n{ask}<|im_end|>\n"
            "<|im_start|>assistant\nRecord"
        )
