"""Is every planted leak of every class what the truth says? Checked on the written files by other means than planting."""

from __future__ import annotations

import csv
import dataclasses
import difflib
import hashlib
import itertools
import json
import os
import subprocess
import sys
import unicodedata
from collections import Counter, defaultdict
from pathlib import Path

import pytest
from rapidfuzz import fuzz
from simulated import SMALL, Incident, lines, read_back, shared_runs

from forensics.case.errors import UsageError
from forensics.simulate.kinds import ALTERATIONS, WEIGHTS
from forensics.simulate.run import simulate

ALL = dataclasses.replace(
    SMALL, tenants=40, requests=1600, leaks=150, ambiguous=2, undetermined=0, kinds=("all",), long_prompt_chars=800
)


@pytest.fixture(scope="module", params=[pytest.param("sglang", marks=pytest.mark.long), "house"])
def mixed(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Incident:
    folder = tmp_path_factory.mktemp(request.param) / "incident"
    simulate(folder, dataclasses.replace(ALL, form=request.param, seed=13 if request.param == "sglang" else 14))
    return read_back(folder)


def rows(incident: Incident, label: str) -> list[dict]:
    found = [row for row in incident.truth if row["class"] == label]
    assert found, label
    return found


def leaked(incident: Incident, row: dict) -> str:
    exchange = incident.exchanges[row["response_request_id"]]
    if row["field"].endswith("function.name"):
        return tool_name(incident, row)
    return exchange.fields[row["field"]][row["char_start"] : row["char_end"]]


def tool_name(incident: Incident, row: dict) -> str:
    for record in lines(incident.folder / "logs" / "requests.jsonl"):
        if record["request_id"] == row["response_request_id"]:
            name = record["response"]["choices"][0]["message"]["tool_calls"][0]["function"]["name"]
            return name[row["char_start"] : row["char_end"]]
    raise AssertionError(row)


def held(incident: Incident, row: dict) -> str:
    """What the source supplied or received."""
    source = incident.exchanges[row["source_request_id"]]
    return source.prompt if row["source_field"] == "prompt" else "\n".join(source.fields.values())


def letters(text: str) -> str:
    return "".join(c.casefold() for c in unicodedata.normalize("NFKC", text) if c.isalnum())


def test_every_class_is_there_and_all_leaks_are_planted(mixed: Incident):
    counts = Counter(row["class"] for row in mixed.truth)
    assert set(counts) == {*WEIGHTS, "verbatim/joint"}
    # Chances for some may be missing in a short log, but not for many.
    assert len({row["response_request_id"] for row in mixed.truth}) >= 0.9 * ALL.leaks


def test_kinds_are_the_six_of_the_contract(mixed: Incident):
    kinds = {row["class"].partition("/")[0]: set() for row in mixed.truth}
    for row in mixed.truth:
        kinds[row["class"].partition("/")[0]].add(row["kind"])
    assert kinds == {
        "verbatim": {"verbatim"}, "altered": {"altered"}, "interleaved": {"altered"}, "multi_source": {"verbatim"},
        "identifier": {"identifier"}, "canary": {"identifier"}, "whole_response": {"whole_response"},
        "structure": {"structure"}, "undetermined": {"undetermined"},
    }  # fmt: skip


@pytest.mark.parametrize("label", ["verbatim", "verbatim/joint", "altered/cut_word", "multi_source/two"])
def test_exact_copies_stand_in_their_source(mixed: Incident, label: str):
    for row in rows(mixed, label):
        assert row["altered"] is False
        assert leaked(mixed, row) in held(mixed, row)


def test_joint_copies_have_two_tenants(mixed: Incident):
    assert all(row["ambiguous_with"] for row in rows(mixed, "verbatim/joint"))


def test_cut_copies_begin_and_end_inside_words(mixed: Incident):
    for row in rows(mixed, "altered/cut_word"):
        text, source = leaked(mixed, row), held(mixed, row)
        at = source.index(text)
        assert source[at - 1 : at + 1].isalnum()
        assert source[at + len(text) - 1 : at + len(text) + 1].isalnum()


@pytest.mark.parametrize("name", [name for name in ALTERATIONS if name != "cut_word"])
def test_altered_copies_are_not_in_their_source(mixed: Incident, name: str):
    for row in rows(mixed, f"altered/{name}"):
        assert row["altered"] is True
        assert leaked(mixed, row) not in held(mixed, row)


@pytest.mark.parametrize("name", ["case_space", "detokenised", "table", "full_width", "markdown"])
def test_letters_stay_where_only_the_form_changes(mixed: Incident, name: str):
    for row in rows(mixed, f"altered/{name}"):
        text = leaked(mixed, row).removeprefix("```text")
        assert letters(text) in letters(held(mixed, row))


def test_form_changes_are_the_named_ones(mixed: Incident):
    assert all("|" in (t := leaked(mixed, r)) or '","' in t for r in rows(mixed, "altered/table"))
    assert all(any("\uff01" <= c <= "\uff5e" for c in leaked(mixed, r)) for r in rows(mixed, "altered/full_width"))
    assert all(any(m in leaked(mixed, r) for m in ("**", "> ", "- ", "```")) for r in rows(mixed, "altered/markdown"))


def test_escapes_decode_to_the_source(mixed: Incident):
    for row in rows(mixed, "altered/escapes"):
        text = json.loads(f'"{leaked(mixed, row)}"')
        if text.startswith('{"text": '):
            text = json.loads(text)["text"]
        assert text.strip() in held(mixed, row)


def test_points_are_in_the_source_and_not_in_the_copy(mixed: Incident):
    for row in rows(mixed, "altered/points_removed"):
        text = leaked(mixed, row)
        assert row["language"] in ("he", "ar")
        assert not any(unicodedata.category(c) == "Mn" for c in text)
        bare = "".join(c for c in held(mixed, row) if unicodedata.category(c) != "Mn")
        assert text in bare


def test_noise_is_about_a_twentieth(mixed: Incident):
    found = [
        1 - fuzz.partial_ratio(leaked(mixed, row), held(mixed, row)) / 100 for row in rows(mixed, "altered/noise5")
    ]
    assert max(found) < 0.15
    assert 0.005 < sum(found) / len(found) < 0.09


def test_dropped_words_leave_the_rest_in_order(mixed: Incident):
    for row in rows(mixed, "altered/dropped10"):
        text = leaked(mixed, row)
        rest = iter(held(mixed, row))
        assert all(c in rest for c in text)  # a subsequence, character by character
        assert 0.7 < len(text) / row["source_chars"] < 1


def test_replaced_words_leave_most(mixed: Incident):
    for row in rows(mixed, "altered/replaced10"):
        assert 70 < fuzz.partial_ratio(leaked(mixed, row), held(mixed, row)) < 100


def test_paraphrased_copies_keep_their_core(mixed: Incident):
    for row in rows(mixed, "altered/paraphrased_edges"):
        text, source = leaked(mixed, row), held(mixed, row)
        matcher = difflib.SequenceMatcher(None, text, source, autojunk=False)
        core = matcher.find_longest_match()
        assert 0.4 * len(text) < core.size < 0.95 * len(text)
        assert core.a > 0 and core.a + core.size < len(text)


@pytest.mark.parametrize(("variant", "sources"), [("own", 1), ("two", 2), ("three", 3)])
def test_pieces_of_crossed_streams_join_to_the_source(mixed: Incident, variant: str, sources: int):
    by_response = defaultdict(list)
    for row in rows(mixed, f"interleaved/{variant}"):
        text = mixed.exchanges[row["response_request_id"]].fields[row["field"]]
        pieces = row["pieces"]
        assert [row["char_start"], row["char_end"]] == [pieces[0][0], pieces[-1][1]]
        assert all(first[1] < second[0] for first, second in itertools.pairwise(pieces))
        assert len(pieces) > row["source_chars"] / 25
        joined = "".join(text[low:high] for low, high in pieces)
        assert len(joined) == row["source_chars"]
        if row["source_field"] is not None:
            assert joined in held(mixed, row)
        by_response[row["response_request_id"]].append(row)
    for found in by_response.values():
        assert len({mixed.organisations[row["source_tenant_id"]] for row in found}) == sources


@pytest.mark.parametrize(("variant", "sources"), [("two", 2), ("three", 3)])
def test_segments_of_several_sources_lie_side_by_side(mixed: Incident, variant: str, sources: int):
    by_response = defaultdict(list)
    for row in rows(mixed, f"multi_source/{variant}"):
        by_response[row["response_request_id"]].append(row)
    for found in by_response.values():
        assert len({mixed.organisations[row["source_tenant_id"]] for row in found}) == sources
        found.sort(key=lambda row: row["char_start"])
        assert all(0 <= b["char_start"] - a["char_end"] <= 2 for a, b in itertools.pairwise(found))


def test_identifiers_belong_to_one_organisation(mixed: Incident):
    for row in mixed.truth:
        if not row["class"].startswith("identifier/"):
            continue
        text, recipient = leaked(mixed, row), mixed.exchanges[row["response_request_id"]]
        holders = {
            mixed.organisations[other.tenant]
            for other in mixed.exchanges.values()
            if text in other.prompt and other.received < recipient.finished
        }
        assert holders == {mixed.organisations[row["source_tenant_id"]]}


def test_identifiers_come_in_several_scripts_and_groups(mixed: Incident):
    names = [leaked(mixed, row) for row in mixed.truth if row["class"] in ("identifier/name", "identifier/invented")]
    assert names
    groups = Counter(row["response_request_id"] for row in rows(mixed, "identifier/group"))
    assert set(groups.values()) == {3}


def test_canaries_are_listed_with_their_tenant(mixed: Incident):
    with (mixed.folder / "canaries.csv").open(encoding="utf-8", newline="") as file:
        listed = {row["canary"]: row["tenant_id"] for row in csv.DictReader(file)}
    for row in rows(mixed, "canary/verbatim"):
        assert listed[leaked(mixed, row)] == row["source_tenant_id"]
    for row in rows(mixed, "canary/cut"):
        text = leaked(mixed, row)
        whole = [canary for canary in listed if canary.startswith(text)]
        assert len(whole) == 1 and len(text) < len(whole[0])
        assert listed[whole[0]] == row["source_tenant_id"]
    for row in rows(mixed, "canary/recased"):
        text = leaked(mixed, row)
        assert text not in listed
        assert [listed[c] for c in listed if c.casefold() == text.casefold()] == [row["source_tenant_id"]]


def test_whole_answers_fill_their_field(mixed: Incident):
    for row in mixed.truth:
        if row["kind"] == "whole_response":
            field = mixed.exchanges[row["response_request_id"]].fields[row["field"]]
            assert leaked(mixed, row) == field.strip()


def test_originals_are_in_the_log_only_where_it_says(mixed: Incident):
    for row in rows(mixed, "whole_response/original"):
        assert leaked(mixed, row) in held(mixed, row)
    for label in ("whole_response/no_original", "whole_response/swapped"):
        for row in rows(mixed, label):
            text = leaked(mixed, row)
            assert row["source_field"] is None
            holders = {e.rid for e in mixed.exchanges.values() if any(text in part for part in e.fields.values())}
            # A second victim may have it too; who should have had it never does.
            assert holders <= {other["response_request_id"] for other in mixed.truth if leaked(mixed, other) == text}
            assert row["source_request_id"] not in holders
            assert row["source_request_id"] in mixed.exchanges


def test_swapped_answers_are_swapped(mixed: Incident):
    pairs = {(row["response_request_id"], row["source_request_id"]) for row in rows(mixed, "whole_response/swapped")}
    both = [pair for pair in pairs if pair[::-1] in pairs]
    assert both and len(both) >= len(pairs) - 2  # one half may fall beyond the end of the log


def test_chains_hand_on_the_answer_before(mixed: Incident):
    chains = defaultdict(list)
    for row in rows(mixed, "whole_response/shifted"):
        chains[row["chain"][0]].append(row)
    assert max(map(len, chains.values())) >= 2
    for chain in chains.values():
        chain.sort(key=lambda row: row["chain"][1])
        assert [row["chain"][1] for row in chain] == list(range(1, len(chain) + 1))
        for former, later in itertools.pairwise(chain):
            assert later["source_request_id"] == former["response_request_id"]


def test_cached_answers_carry_the_particulars_of_another_customer(mixed: Incident):
    for row in rows(mixed, "whole_response/semantic_cache"):
        recipient = mixed.exchanges[row["response_request_id"]]
        text = recipient.fields[row["field"]]
        values = [text[low:high] for low, high in row["pieces"]]
        assert len(values) >= 5
        assert all(value in held(mixed, row) for value in values)
        assert not any(value in recipient.prompt for value in values)


@pytest.mark.parametrize("shape", ["json_keys", "headings", "tool_name"])
def test_foreign_structure_holds_the_recipients_own_text(mixed: Incident, shape: str):
    for row in rows(mixed, f"structure/{shape}"):
        recipient, source = mixed.exchanges[row["response_request_id"]], mixed.exchanges[row["source_request_id"]]
        text = leaked(mixed, row)
        pieces = [(low - row["char_start"], high - row["char_start"]) for low, high in row["pieces"]]
        names = [text[low:high] for low, high in pieces] or [text]
        assert all(name in source.prompt for name in names)
        assert not any(name in recipient.prompt for name in names)
        between = [text[a[1] : b[0]] for a, b in itertools.pairwise(pieces)]
        assert not any(part.strip()[5:40] in source.prompt for part in between if len(part) > 50)


def test_sourceless_text_is_nowhere_before(mixed: Incident):
    victims = defaultdict(set)
    for row in mixed.truth:
        if row["kind"] != "undetermined":
            continue
        text, recipient = leaked(mixed, row), mixed.exchanges[row["response_request_id"]]
        assert row["source_tenant_id"] is None and row["ambiguous_with"] == [] and row["equivalent_sources"] == []
        victims[(row["class"], text)].add(row["response_tenant_id"])
        assert not any(text in e.prompt for e in mixed.exchanges.values() if e.received < recipient.received
                       and e.tenant not in {r["response_tenant_id"] for r in mixed.truth})  # fmt: skip
    passages = [names for (label, _), names in victims.items() if label == "undetermined/passage"]
    assert sum(len(names) == 2 for names in passages) >= len(passages) - 3  # the last of a worker may stay alone


def script(text: str) -> str:
    counts: Counter[str] = Counter()
    for c in text:
        if c.isalpha():
            name = unicodedata.name(c, "?").split()[0]
            counts["CJK" if name in ("CJK", "HIRAGANA", "KATAKANA") else name] += 1
    return counts.most_common(1)[0][0]


def test_script_changes_are_changes(mixed: Incident):
    for row in rows(mixed, "undetermined/script"):
        recipient = mixed.exchanges[row["response_request_id"]]
        text = recipient.fields[row["field"]]
        rest = text[: row["char_start"]] + text[row["char_end"] :]
        assert script(leaked(mixed, row)) != script(rest) == "LATIN"


def test_languages_are_what_they_are_called(mixed: Incident):
    expected = {"he": "HEBREW", "ar": "ARABIC", "ko": "HANGUL", "zh": "CJK", "ja": "CJK", "de": "LATIN", "pl": "LATIN"}
    seen = set()
    for row in mixed.truth:
        text = leaked(mixed, row)
        if row["language"] in expected and row["kind"] in ("verbatim", "altered") and len(row["pieces"]) == 0:
            if len(text) < 120 or row["class"] in ("altered/escapes", "altered/full_width"):
                continue  # short ones may be a line of numbers and names; escapes are ASCII
            seen.add(row["language"])
            assert script(text) == expected[row["language"]], row["class"]
    assert len(seen) >= 5


def test_every_script_is_planted(mixed: Incident):
    assert {row["language"] for row in mixed.truth} >= {"en", "de", "pl", "zh", "ja", "ko", "he", "ar", "code", "json"}


def test_bits_of_a_language_follow_from_its_length(mixed: Incident):
    rates = defaultdict(set)
    for row in mixed.truth:
        rates[row["language"]].add(round(row["bits"] / row["source_chars"], 1))
    assert all(max(found) - min(found) < 0.2 for found in rates.values())
    assert min(rates["zh"]) > 1.5 * max(rates["en"])


def test_lookalikes_grow(mixed: Incident):
    classes = {row["class"] for row in mixed.lookalikes}
    assert classes >= {"public_quote", "stock_answer", "same_question", "template", "licence", "own_quotation"}


@pytest.mark.long
def test_without_leaks_only_lookalikes_are_shared(tmp_path: Path):
    clean = dataclasses.replace(ALL, leaks=0, ambiguous=0, requests=600, form="house", seed=31)
    simulate(tmp_path / "clean", clean)
    incident = read_back(tmp_path / "clean")
    assert incident.truth == []
    assert shared_runs(incident) == []


def test_same_seed_same_bytes_with_all_kinds(tmp_path: Path):
    small = dataclasses.replace(ALL, requests=150, leaks=12)
    simulate(tmp_path / "here", small)
    code = (
        "import sys, dataclasses; from pathlib import Path; from forensics.simulate.parameters import Parameters;"
        "from forensics.simulate.run import simulate;"
        f"simulate(Path(sys.argv[1]), {small!r})"
    )
    environment = {**os.environ, "PYTHONHASHSEED": "999"}
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "there")], check=True, env=environment)
    for path in sorted((tmp_path / "here").rglob("*")):
        if path.is_file() and path.name != "incident.json":
            other = tmp_path / "there" / path.relative_to(tmp_path / "here")
            assert hashlib.sha256(path.read_bytes()).digest() == hashlib.sha256(other.read_bytes()).digest(), path.name


def test_chosen_kinds_are_the_only_ones(tmp_path: Path):
    simulate(tmp_path / "one", dataclasses.replace(ALL, leaks=10, ambiguous=0, requests=500, kinds=("identifier",)))
    assert {row["kind"] for row in read_back(tmp_path / "one").truth} == {"identifier"}


def test_plain_incidents_know_no_classes(engine_incident: Incident):
    assert not any("class" in row for row in engine_incident.truth)
    assert not (engine_incident.folder / "canaries.csv").exists()
    assert "kinds" not in json.loads((engine_incident.folder / "incident.json").read_bytes())["parameters"]


@pytest.mark.long
def test_correlated_incidents_hold_all_families(tmp_path: Path):
    simulate(tmp_path / "pool", dataclasses.replace(ALL, requests=900, leaks=80, correlated=True))
    incident = read_back(tmp_path / "pool")
    assert any(row["class"] == "common_pool" for row in incident.lookalikes)
    assert {row["class"].partition("/")[0] for row in incident.truth} >= {"altered", "interleaved", "whole_response"}


@pytest.mark.parametrize("change", [{"kinds": ("nonsense",)}, {"undetermined": 3}])
def test_kinds_that_cannot_be_are_refused(change: dict, tmp_path: Path):
    with pytest.raises(UsageError):
        simulate(tmp_path / "x", dataclasses.replace(ALL, **change))
