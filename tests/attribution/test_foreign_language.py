"""A passage in another language of the same script: undetermined where nothing explains it."""

from __future__ import annotations

import json
from typing import Any

import pytest

QUESTION = "How are eggs boiled?"
FILLER = (
    "Put the eggs into boiling water, wait for seven minutes, and then cool them under the tap for a while. If they are "
    "to be soft, take them out after five minutes, and do not let them stand in the hot water. "
)
PASSAGES = {
    "german": "Die Lieferung ist nicht vollständig, und wir haben den Empfänger nach dem Schaden gefragt, aber er will "
    "mit uns erst am Montag sprechen, wenn auch der Gutachter im Lager ist.",
    "french": "Le notaire a dit que les vignes sont dans la succession, mais nous avons une lettre qui prouve que le "
    "testament est faux et que les parcelles ont été vendues avant sa mort.",
    "spanish": "El transportista dice que las cajas no están en el muelle, pero nosotros tenemos una carta que lo "
    "desmiente y el seguro no paga hasta que todo esté aclarado con la aduana.",
    "polish": "Dostawa nie jest kompletna, ale odbiorca powiedział, że skrzynki są już w magazynie i że do soboty nie "
    "będzie można ich odebrać, bo nie ma tam nikogo oprócz stróża.",
    "italian": "Il notaio ha detto che le vigne sono nella successione, ma noi abbiamo una lettera che prova che il "
    "testamento non è valido e che gli eredi hanno già venduto tutto.",
}  # fmt: skip


@pytest.mark.parametrize("language", sorted(PASSAGES))
def test_a_switch_of_language_without_a_reason_is_undetermined(scene: Any, language: str) -> None:
    passage = PASSAGES[language]
    scene.traffic()
    victim = scene.call("beta", QUESTION, FILLER + passage + "\n\n" + FILLER, 60)
    row = scene.run().only()
    assert (row["recipient_request_id"], row["kind"]) == (victim, "undetermined")
    assert (row["machine_verdict"], row["sources"]) == ("undetermined", [])
    features = json.loads(row["features"])
    assert (features["passage_language"], features["answer_language"]) == (language, "english")
    inside = len(passage)
    shared = min(row["end"], len(FILLER) + inside) - max(row["start"], len(FILLER))
    assert shared >= 0.7 * inside and row["end"] - row["start"] <= 1.15 * inside


@pytest.mark.parametrize(
    "asked",
    [
        "Translate the recipe into German and French, and into Polish, Spanish and Italian.",
        "Quote a letter and explain how eggs are boiled.",
        "How are eggs boiled, and what does this say: {start}",
    ],
)
@pytest.mark.parametrize("language", sorted(PASSAGES))
def test_a_switch_with_a_reason_is_not(scene: Any, language: str, asked: str) -> None:
    passage = PASSAGES[language]
    scene.traffic()
    scene.call("beta", asked.format(start=passage[:110]), FILLER + passage + "\n\n" + FILLER, 60)
    assert scene.run().fragments == []


def test_a_tenant_that_writes_the_language_elsewhere_explains_it(scene: Any) -> None:
    scene.traffic()
    scene.call("beta", "Warum ist der Empfänger nicht im Lager und wann kommt er wieder?", "Am Montag.", 0)
    scene.call("beta", QUESTION, FILLER + PASSAGES["german"] + "\n\n" + FILLER, 60)
    assert scene.run().fragments == []


def test_a_leak_with_a_source_in_another_language_names_the_source(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", PASSAGES["german"], "Notiert.", 0)
    scene.call("beta", QUESTION, FILLER + PASSAGES["german"] + "\n\n" + FILLER, 60)
    row = scene.run().only()
    assert (row["kind"], row["sources"]) == ("verbatim", ["alpha"])


@pytest.mark.parametrize(
    "passage",
    [
        "The restaurants are Le Bernardin, La Tour d'Argent, Les Halles, El Bulli, Der Gasthof and Il Cantinori.",
        "for (int i = 0; i < n; i++) { die(); } z = w + o; a = i * u; del x; in y; non = per; son = un",
        "Bach wrote Jesu, meine Freude and Wachet auf; Verdi wrote La donna è mobile.",
    ],
)
def test_names_titles_and_code_are_no_language(scene: Any, passage: str) -> None:
    scene.traffic()
    scene.call("beta", QUESTION, FILLER + passage + "\n\n" + FILLER, 60)
    assert scene.run().fragments == []
