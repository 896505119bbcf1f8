"""Names that one other tenant alone has. Names, and the cases around them, are invented here by hand."""

from __future__ import annotations

import json
from contextlib import closing
from itertools import islice, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from forensics.attribution import names, rare_names
from forensics.attribution.candidates import Holder
from forensics.attribution.corpus import Corpus
from forensics.attribution.findings import Judged
from forensics.attribution.holdings import load_world
from forensics.attribution.name_decoys import Nets, Scored, all_plain, stratum_of
from forensics.attribution.name_places import Group, Place, _places
from forensics.attribution.parameters import Parameters
from forensics.attribution.sources import Source
from forensics.attribution.strength import Strength
from forensics.text.names import CAPITAL, PAIR, PLAIN, PLAIN_PAIR

QUESTION = "How are eggs boiled?"
NAMED = ("supplied name", "supplied word")
MANY_WORDS = " ".join(map("".join, islice(product("bdfgklmnprst", repeat=5), 44000)))  # of one tenant, all distinct


def leak(scene: Any, prompt: str, shown: str, at: float = 58, worker: str = "w0") -> list[dict[str, Any]]:
    """Alpha sends a prompt; beta's answer about eggs holds `shown`. The victim's fragments."""
    scene.traffic()
    scene.call("alpha", prompt, "Noted.", at, 10, worker)
    answer = f"This is how eggs are boiled: seven minutes, {shown} and cool them under the tap."
    scene.call("beta", QUESTION, answer, 60, request_id="victim")
    return [row for row in scene.run().of("victim") if row["stratum"] in NAMED]


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ("Please file the letter of Marta J. Vesterqvoldsen today.", "Marta J. Vesterqvoldsen"),
        ("Our client Orvanek Tesquillan signs on Monday.", "Orvanek Tesquillan"),
        ("The project is called Zorvexliquam here.", "Zorvexliquam"),
        ("We call it QUXALVENTRIK internally.", "QUXALVENTRIK"),
        ("Договор подписала Снежана Вельгорецкая вчера.", "Снежана Вельгорецкая"),
        ("החוזה נחתם על ידי עמליה גורודישצקי אתמול", "עמליה גורודישצקי"),
        ("وقع العقد السيد مرزبان الطهوياني امس", "مرزبان الطهوياني"),
        ("담당자는 독고마루한솔 입니다", "독고마루한솔"),
        ("担当は「ヌクミザワトキヒロ」です。", "「ヌクミザワトキヒロ」"),
        ("联系人：澹台翊璇珏。", "（澹台翊璇珏）"),
        ("Η σύμβαση υπογράφηκε από την Ευρυσάκη Κλωθομάκη χθες.", "Ευρυσάκη Κλωθομάκη"),
    ],
)
def test_a_name_beside_its_tenant_is_possible(scene: Any, prompt: str, shown: str) -> None:
    found = leak(scene, prompt, shown)
    assert {(row["kind"], tuple(row["sources"]), row["machine_verdict"]) for row in found} == {
        ("identifier", ("alpha",), "possible")
    }


def test_several_names_beside_their_tenant_are_probable(scene: Any) -> None:
    prompt = "Marta J. Vesterqvoldsen and Orvanek Tesquillan sell zorvexliquam to QUXALVENTRIK."
    # in another order, or it were an altered copy of the sentence
    found = leak(scene, prompt, "QUXALVENTRIK, zorvexliquam, Orvanek Tesquillan, Marta J. Vesterqvoldsen")
    assert {(tuple(row["sources"]), row["machine_verdict"]) for row in found} == {(("alpha",), "probable")}
    agreeing = {json.loads(row["features"])["agreeing_names"] for row in found}
    assert agreeing == {4}


def test_more_names_are_worth_more_but_each_is_paid_for(scene: Any) -> None:
    found = leak(scene, "Marta J. Vesterqvoldsen sells Zorvexliquam.", "Zorvexliquam, Marta J. Vesterqvoldsen")
    assert len(found) == 2
    for row in found:
        features = json.loads(row["features"])
        assert features["agreeing_names"] == 2
        one = features["bits"] - 2 * features["search_charge"]  # alone it would have paid nearly as much as both
        assert features["agreeing_net_bits"] > one
        assert (
            features["agreeing_net_bits"] < features["agreeing_identifier_bits"] - 2 * features["search_charge"] + 0.1
        )


def test_a_word_in_small_letters_counts_beside_other_names_only(scene: Any) -> None:
    found = leak(scene, "Marta J. Vesterqvoldsen sells zorvexliquamt.", "zorvexliquamt, Marta J. Vesterqvoldsen")
    assert {tuple(row["sources"]) for row in found} == {("alpha",)}


def test_a_word_in_small_letters_alone_is_too_little(scene: Any) -> None:
    assert leak(scene, "The project is called zorvexliquamt here.", "zorvexliquamt") == []


def test_a_single_name_from_elsewhere_names_nobody(scene: Any) -> None:
    found = leak(scene, "Our client Orvanek Tesquillan signs on Monday.", "Orvanek Tesquillan", worker="w7")
    assert [(row["sources"], row["machine_verdict"]) for row in found] in ([], [([], "undetermined")])


def test_a_name_that_two_tenants_have_says_nothing(scene: Any) -> None:
    scene.call("gamma", "Write to Orvanek Tesquillan.", "Done.", 20)
    assert leak(scene, "Our client Orvanek Tesquillan signs on Monday.", "Orvanek Tesquillan") == []


@pytest.mark.parametrize(
    "own", ["Orvanek Tesquillan", "the Tesquillans and Orvaneks", "tesquillan.orvanek@sea.example"]
)
def test_a_name_that_the_recipient_sent_is_its_own(scene: Any, own: str) -> None:
    scene.traffic()
    scene.call("alpha", "Our client Orvanek Tesquillan signs on Monday.", "Noted.", 58, 10)
    scene.call("beta", f"Write to {own} about eggs.", "Dear Orvanek Tesquillan, eggs!", 60, request_id="victim")
    assert [row for row in scene.run().of("victim") if row["stratum"] in NAMED] == []


def test_a_name_that_was_sent_only_later_is_no_source(scene: Any) -> None:
    found = leak(scene, "Our client Orvanek Tesquillan signs on Monday.", "Orvanek Tesquillan", at=300)
    assert found == []


@pytest.mark.parametrize(
    ("prompt", "shown"),
    [
        ("Is the refrigerator electromagnetism craftsmanship?", "refrigerator electromagnetism and craftsmanship"),
        ("Explain inflammation, phlebotomy and cardiology.", "inflammation, phlebotomy or cardiology"),
        ("Erkläre die Verzugszinsen und Mahngebühren.", "verzugszinsen und mahngebühren"),
        ("Compare goulash with bouillabaisse.", "with goulash and bouillabaisse"),
    ],
)
def test_rare_ordinary_words_are_no_names(scene: Any, prompt: str, shown: str) -> None:
    assert leak(scene, prompt, shown) == []


def test_the_same_subject_explains_a_famous_name(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", "Describe the battle at Waterloo and what Napoleon Bonaparte lost.", "He lost.", 58, 10)
    answer = "The battle at Waterloo ended the reign of Napoleon Bonaparte over the French."
    scene.call("beta", "Explain the battle at Waterloo.", answer, 60, request_id="victim")
    assert [row for row in scene.run().of("victim") if row["stratum"] in NAMED] == []


def test_an_answer_in_a_language_of_two_tenants_is_no_leak(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", "Paano nilalaga ang mga itlog? Ilang minuto ang kailangan bago lumamig?", "Pito.", 58, 10)
    answer = "Ilagay ang mga itlog sa kumukulong tubig, pitong minuto ang kailangan bago palamigin sa gripo."
    scene.call("beta", "Answer in Tagalog: how long do they take?", answer, 60, request_id="victim")
    assert [row["sources"] for row in scene.run().of("victim") if row["machine_verdict"] != "undetermined"] == []


@pytest.mark.parametrize(
    "address", ["41 Quillon Row, 70933 Obermark", "7 Vesk Lane, 31408 Tarnholm", "29 Umbra Way, 55120 Lessk"]
)
def test_a_street_with_its_number_is_one_particular_and_no_common_subject(scene: Any, address: str) -> None:
    """The postcode that was copied along is no sign that both texts are about one matter. Found as a run or as a name."""
    scene.traffic()
    scene.call("alpha", f"Customer record: Ida Brenn, {address}. Repeat the record.", "Noted.", 58, 10)
    scene.call("beta", QUESTION, f"Seven minutes. She lives at {address}, by the way.", 60, request_id="victim")
    found = scene.run().of("victim")
    assert {tuple(row["sources"]) for row in found} == {("alpha",)}


@pytest.mark.parametrize(
    ("kinds", "plain"), [(({PLAIN}, {PLAIN_PAIR}), True), (({PLAIN_PAIR},), True), (({PLAIN}, {CAPITAL}), False)]
)
def test_words_and_pairs_of_a_script_without_capitals_are_told_from_names(kinds: Any, plain: bool) -> None:
    assert all_plain([Place(0, 4, 0, 0, frozenset(found)) for found in kinds]) == plain


@pytest.mark.parametrize("prompt", ["The project is called Zorvexliquamtobel here.", "List:\nZorvexliquamtobel\nEggs"])
def test_an_invented_word_that_begins_a_sentence_is_told_and_names_nobody(scene: Any, prompt: str) -> None:
    """Any word has a capital there; that hardly a word looks so is what is left to tell it by."""
    found = leak(scene, prompt, "then wait.\nZorvexliquamtobel\nLift them out")
    assert [(row["kind"], row["sources"], row["machine_verdict"]) for row in found] == [
        ("undetermined", [], "undetermined")
    ]


@pytest.mark.parametrize("word", ["Refrigerators", "Electromagnetism", "Notwithstanding"])
def test_an_ordinary_word_that_begins_a_sentence_is_no_name(scene: Any, word: str) -> None:
    assert leak(scene, f"{word}: what are they?", f"then wait.\n{word} come next. Lift them out") == []


def test_four_letters_of_the_own_prompt_explain_no_name(scene: Any) -> None:
    scene.traffic()
    scene.call("alpha", "We call it Dextilwi-Takega internally.", "Noted.", 58, 10)
    answer = "This is how eggs are boiled: seven minutes, Dextilwi-Takega and cool them under the tap."
    scene.call("beta", "I take two eggs. How are eggs boiled?", answer, 60, request_id="victim")
    assert {tuple(row["sources"]) for row in scene.run().of("victim")} == {("alpha",)}


def test_rare_words_of_a_script_without_capitals_say_nothing_of_names_with_capitals(scene: Any) -> None:
    """Two answers hold Hebrew words that other tenants send only later, by chance; a Latin name is none of these."""
    later = ("עמליה גורודישצקי קרנפוגל Zorkvexlimbor", "טרופימוביץ שמריהו בלומנקרנץ Tresquonbil")
    for number, words in enumerate(later):
        answer = f"ככה מבשלים ביצים {words} שבע דקות"
        scene.call(f"he-{number}", "איך מבשלים ביצים", answer, 10 + number, request_id=f"he-{number}")
        scene.call(f"late-{number}", f"מי כתב {words} אתמול", "לא ידוע", 300 + number)
    found = leak(scene, "We call it Vorqel-Tesk internally.", "Vorqel-Tesk")
    assert [(row["sources"], row["machine_verdict"]) for row in found] == [(["alpha"], "possible")]


@pytest.mark.parametrize(("tenants", "looked_at"), [(3, True), (12, False)])
def test_an_answer_that_many_tenants_were_given_is_no_hit_for_each_of_them(
    scene: Any, monkeypatch: pytest.MonkeyPatch, tenants: int, looked_at: bool
) -> None:
    """Its words are counted as often as it was given, and are then nobody's: the memory of a hit a word and answer."""
    rows: list[int] = []
    whole = rare_names.find_hits

    def count(world: Any, groups: Any, *limits: int) -> Any:
        groups = list(groups)
        rows.extend(group.seed.size for group in groups)
        return whole(world, groups, *limits)

    monkeypatch.setattr(rare_names, "find_hits", count)
    for number in range(tenants):
        scene.call(f"t-{number}", QUESTION, "Ask Orvanek Tesquillan about Zorvexliquam.", 10 * number)
    scene.run()
    assert [size > 0 for size in rows] == [looked_at]


def test_a_name_that_anybody_may_know_names_nobody_who_was_only_near(scene: Any) -> None:
    """On a worker that serves all, everybody is near. In flight beside the victim would be something else."""
    for number in range(150):
        scene.call(f"t-{number}", f"{number}?", f"{number}.", 1000 + number, worker="w3")
    found = leak(scene, f"{MANY_WORDS} along Andrassy Avenue, a walk", "go along Andrassy Avenue, then wait", 20)
    assert [row["sources"] for row in found] in ([], [[]])


@pytest.mark.parametrize("times", [1, 40])
def test_a_tenant_pays_for_distinct_words_however_often_it_says_them(scene: Any, times: int) -> None:
    """The words of MANY_WORDS are met by chance sooner than those of others, but saying them again adds nothing."""
    found = leak(scene, f"{MANY_WORDS[:24000]} " * times + "\nNuralapawoku", "then wait.\nNuralapawoku\nLift them out")
    facts = [json.loads(row["features"]) for row in found]
    # Three texts and a name of its own besides the 4,000 words; one pair in flight, a choice among one or two places.
    assert [fact["search_charge"] for fact in facts] == [pytest.approx(np.log2(4000), abs=4.0)]


@pytest.mark.parametrize("limit", [1 << 20, 64])
def test_distinct_words_are_counted_from_a_sample(scene: Any, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    monkeypatch.setattr(rare_names, "SAMPLED", limit)
    scene.call("alpha", MANY_WORDS[:12000], "Noted.", 10)
    scene.call("alpha", f"{MANY_WORDS[:12000]} And Orvanek.", "Noted.", 20)
    scene.call("beta", MANY_WORDS[12000:12600], "Noted.", 30)
    scene.run()
    case = scene._cases[-1]
    world = load_world(case)
    with closing(Corpus(case, world)) as corpus:
        sent = rare_names.find_rare_names(corpus, Parameters()).sent
    counts = dict(zip(world.requests.unit_names, sent, strict=False))
    share = 1 << max(
        0, (int(world.text_bytes.sum()) // rare_names.BYTES_A_TOKEN - 1).bit_length() - limit.bit_length() + 1
    )
    for tenant, words in (("alpha", 2001), ("beta", 100)):
        expected = words + share
        assert counts[tenant] == pytest.approx(expected, abs=1 if share == 1 else 4 * (share * words) ** 0.5)


@pytest.mark.parametrize(("worker", "told"), [("w0", True), ("w7", False)])
def test_a_weaker_word_that_begins_a_sentence_is_told_where_its_tenant_was_near(
    scene: Any, worker: str, told: bool
) -> None:
    """Among 150 tenants, one of which has sent much, a word of twelve letters is worth 10 to 16 bits net."""
    for number in range(150):
        scene.call(f"t-{number}", f"{number}?", f"{number}.", 1000 + number, worker="w3")
    found = leak(scene, f"{MANY_WORDS}\nNuralapawoku", "then wait.\nNuralapawoku\nLift them out", 20, worker)
    assert [(row["sources"], row["machine_verdict"]) for row in found] == [([], "undetermined")] * told
    nets = [json.loads(row["features"])["agreeing_net_bits"] for row in found]
    assert all(10 <= net < 16 for net in nets)


def scored(use: int, kind: int, bits: float, target: bool) -> Scored:
    place = Place(0, 12, 7, 0, frozenset({kind}))
    group = Group(use, use, use, 1, target, (place,), 1)
    return Scored(group, ((place, SimpleNamespace(bits=bits), None),), 20.0, False)


def test_words_of_scripts_without_capitals_have_decoys_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many names that leaked say nothing of rare words that two tenants write."""
    monkeypatch.setattr(names.decoys, "assess", lambda world, name, good, late, lags, seed: (name, good, late, lags))
    seconds = 1_000_000
    world = SimpleNamespace(
        holdings=SimpleNamespace(
            of_content=np.array([0, 1, 2]), unit=np.array([1, 1]), supplied=np.array([30 * seconds, 50 * seconds])
        ),
        requests=SimpleNamespace(finished=np.array([10 * seconds, 20 * seconds])),
        uses=SimpleNamespace(request=np.array([0, 1])),
    )
    hits = {"use": [0, 1], "holder": [1, 1], "other": [0, 1], "target": [False, False], "kind": [CAPITAL, PLAIN_PAIR]}
    rare = SimpleNamespace(hits=pl.DataFrame(hits))
    every = [scored(0, CAPITAL, 60.0, True), scored(1, PLAIN_PAIR, 50.0, True), scored(1, PLAIN, 45.0, False)]
    made = {plain: stratum_of(world, rare, every, set(), plain, Parameters()) for plain in (False, True)}
    assert made[False] == ("supplied name", {0: 40.0}, {}, [20 * seconds])
    assert made[True] == ("supplied word", {1: 30.0}, {1: 25.0}, [30 * seconds])


@pytest.mark.parametrize(
    ("bits", "near", "told"), [(25.0, True, True), (25.0, False, False), (31.0, False, True), (23.0, True, False)]
)
def test_decoys_alone_do_not_speak_for_names_of_few_bits(bits: float, near: bool, told: bool) -> None:
    """q 0.01 in all cases, 20 bits of charge: 5 net bits name a tenant that was near, 11 any."""
    places = tuple(Place(at, at + 12, 7, at, frozenset({CAPITAL})) for at in (0, 14))
    group = Group(0, 0, 0, 1, True, places, 2)
    strength = Strength(bits / 2, bits / 2, 12, 20.0, np.zeros(0, dtype=np.uint64), np.zeros(0), np.zeros(0))
    holder = Holder(7, 1, 0, 0, 12, 0, 12, 12)
    source = Source(holder, 5, "r-5", "text", 5_000_000 if near else 90_000_000_000, near, False)
    item = Scored(group, tuple((place, strength, source) for place in places), 20.0, False)
    folded = SimpleNamespace(units=np.full(40, 97, dtype=np.uint32), span=lambda start, end: (start, end))
    texts = SimpleNamespace(folded=lambda content: folded)
    stratum = SimpleNamespace(name="supplied name", q_value=lambda net: 0.01)
    found = names._judge(None, texts, item, Nets.of([item], set()), stratum, set(), False, Parameters())
    assert [isinstance(one, Judged) and one.units == [1] for one in found] == [told, told]


@pytest.mark.parametrize(("cells", "warned"), [(1 << 20, False), (64, True)])
def test_names_that_are_lost_for_want_of_room_are_said(
    scene: Any, monkeypatch: pytest.MonkeyPatch, cells: int, warned: bool
) -> None:
    monkeypatch.setattr(rare_names, "MIN_CELLS", cells)
    monkeypatch.setattr(rare_names, "MAX_CELLS", cells)
    for number in range(6):
        scene.call(f"t-{number}", f"{number}?", f"As {MANY_WORDS[:900]} say.", 10 * number)
    warnings = [text for text in scene.run().summary.warnings if text.startswith("names: about")]
    assert bool(warnings) == warned


def test_a_name_said_again_is_read_where_it_stands_first() -> None:
    """A, B, A, and A with more to it: rows of start, end, other text, place there, kind, token."""
    rows = [(0, 5, 9, 0, CAPITAL, 1), (10, 15, 9, 30, CAPITAL, 2), (20, 25, 9, 0, CAPITAL, 1)]
    rows += [(30, 40, 9, 0, PAIR, 3), (30, 35, 9, 0, CAPITAL, 1)]
    assert [(place.start, place.end) for place in _places(rows, [])] == [(0, 5), (10, 15), (30, 40)]
    assert [(place.start, place.end) for place in _places(rows, [(2, 3)])] == [(10, 15), (20, 25), (30, 40)]
