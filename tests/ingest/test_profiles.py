"""Profiles: the worked example of the documents, the language's edges, and errors that say what to do."""

from __future__ import annotations

import base64
import gzip
import json
import re
import zipfile
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from forensics.case.errors import MissingInput
from forensics.ingest import parsers
from forensics.ingest.decode import CutObject, closed_json, decoded
from forensics.ingest.pointers import Pointer, PointerError, View, compiled
from forensics.ingest.profile import Profile
from forensics.ingest.profile_files import checked, read_profiles
from forensics.ingest.profile_spec import ProfileError, read_spec
from forensics.ingest.profile_times import duration
from forensics.ingest.profile_trial import try_profile
from forensics.ingest.record import EngineEvent, FileContext, Place, Record, Reject
from forensics.ingest.registry import registry, shipped

ROOT = Path(__file__).parent.parent.parent
HEAD = '[profile]\nname = "own"\nvantage = "gateway"\n[detect]\nkeys = ["/id"]\n'


def context() -> FileContext:
    made = FileContext("log", ZoneInfo("UTC"))
    made.place = Place(0, 1, 0, "ab" * 32)
    return made


def one(toml: str, obj: Any) -> Record:
    (record,) = Profile(read_spec(toml, "p")).parse(obj, context())
    assert isinstance(record, Record)
    return record


def found(text: str, value: Any, **facts: Any) -> list[Any]:
    return list(compiled(text).all(View(value, facts.pop("outer", value), context(), **facts)))


# The worked example of docs/how-to-add.md, as it stands there


def worked_example() -> tuple[str, str]:
    page = (ROOT / "docs" / "how-to-add.md").read_text(encoding="utf-8")
    section = page.split("## A profile in ten minutes", 1)[1].split("\n## ", 1)[0]
    log, toml = re.findall(r"```(?:json|toml)\n(.*?)```", section, re.DOTALL)
    return log, toml


def test_the_worked_example_of_the_documents_works(bench):
    log, toml = worked_example()
    bench.put("gateway.jsonl", log)
    bench.run(profiles=(toml,))
    calls = bench.joined()
    assert set(calls) == {"a-1", "a-2"}
    assert calls["a-1"]["tenant_id"] == "blue"
    assert calls["a-1"]["received_at"].isoformat() == "2026-03-04T05:06:07"  # Berlin in winter is UTC+1
    assert calls["a-1"]["finished_at"].isoformat() == "2026-03-04T05:06:08.500000"
    assert bench.texts("a-1") == {
        "<messages[0].content": "When does pier 4 open?",
        "choices[0].content": "At six.",
    }
    assert bench.texts("a-2") == {"<messages[0].content": "Tides?"}
    assert calls["a-2"]["response_state"] == "redacted"
    (file,) = bench.rows("evidence", "name")
    assert (file["format"], file["records"], file["structure"], file["rejected"]) == ("acme_gate", 2, 1, 0)


def test_a_trial_of_the_worked_example_says_what_is_missing(tmp_path):
    log, toml = worked_example()
    (tmp_path / "acme.toml").write_text(toml)
    (tmp_path / "gateway.jsonl").write_text(log + '{"request_id":"h-1","tenant_id":"t"}\nnoise\n')
    trial = try_profile(tmp_path / "acme.toml", (tmp_path / "gateway.jsonl",))
    assert (trial.lines, trial.matched, trial.records, trial.structure) == (5, 3, 2, 1)
    assert (trial.other, trial.rejected, trial.reasons) == (1, 1, {"bad_json": 1})
    assert trial.empty["tenant_id"] == 0
    assert trial.empty["response"] == 0.5
    assert any("1 of 2 records have no response text" in sentence for sentence in trial.missing)
    assert "At six." not in json.dumps(trial.examples)
    shown = try_profile(tmp_path / "acme.toml", (tmp_path / "gateway.jsonl",), reveal=True)
    assert "At six." in json.dumps(shown.examples)


# Pointers


def test_pointers_are_those_of_rfc_6901():
    doc = {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "m~n": 8, " ": 7}
    for text, value in {"/foo/0": "bar", "/": 0, "/a~1b": 1, "/c%d": 2, "/m~0n": 8, "/ ": 7, "": doc}.items():
        assert found(text, doc) == [value], text


def test_pointers_into_lists():
    doc = {"tries": [{"ip": "a"}, {"ip": "b"}], "meta": [{"key": "t", "value": 1}, {"key": "u", "value": 2}]}
    assert found("/tries/*/ip", doc) == ["a", "b"]
    assert found("/tries/-1/ip", doc) == ["b"]
    assert found("/tries/5/ip", doc) == []
    assert found("/meta/[key=u]/value", doc) == [2]
    assert found("{/tries/0/ip}:{/meta/0/value}", doc) == ["a:1"]
    assert found("{/tries/0/ip}:{/none}", doc) == []
    assert found("^/who", 1, outer={"who": "x"}) == ["x"]
    assert found("@header/X-Id", {}, headers={"x-id": "1"}) == ["1"]


@pytest.mark.parametrize("text", ["a", "/~2", "/[x]", "@header/", "@place", "{/a", "^a"])
def test_what_is_no_pointer_is_refused(text):
    with pytest.raises(PointerError):
        compiled(text)


def test_a_number_is_text_where_an_id_is_wanted():
    assert one(HEAD + '[map]\nrequest_id = "/id"\n', {"id": 9007199254740993}).request_id == "9007199254740993"
    assert isinstance(compiled("/a"), Pointer)


# Decoding


def test_chains_are_undone_in_their_order():
    inner = json.dumps({"messages": [{"role": "user", "content": "Hi"}]})
    packed = base64.b64encode(gzip.compress(inner.encode())).decode()
    toml = (
        HEAD + '[decode]\n"/body" = ["base64", "gzip", "json*"]\n[map]\nrequest_id = "/id"\n[request]\nbody = "/body"\n'
    )
    assert [text[3] for text in one(toml, {"id": "1", "body": packed}).texts] == ["Hi"]


def test_what_cannot_be_decoded_stays_and_is_counted():
    seen = context()
    assert decoded("not base64!", ("base64",), seen) == "not base64!"
    assert decoded("plain text", ("json*",), seen) == "plain text"
    assert decoded("a%20b+c", ("url",), seen) == "a b c"
    assert seen.notices == {"undecodable_field": 1}


def test_a_gzip_bomb_is_not_unpacked():
    packed = base64.b64encode(gzip.compress(bytes(80 << 20))).decode()
    assert decoded(packed, ("base64", "gzip"), context()) != "\0" * (80 << 20)


WHOLE = '{"model": "m\\"1", "n": 1.5, "messages": [{"role": "user", "content": "caf\\u00e9 \\\\ \\"x\\" {[}"}], "stream": true, "end": null}'


@pytest.mark.parametrize("cut", range(1, len(WHOLE)))
def test_json_that_is_cut_anywhere_keeps_what_stood_before_the_cut(cut):
    made = closed_json(WHOLE[:cut])
    assert isinstance(made, CutObject)
    whole = json.loads(WHOLE)
    for key, value in made.items():
        if isinstance(value, str):
            assert whole[key].startswith(value)
        elif isinstance(value, list):
            for message in value:
                for name, text in message.items():
                    assert whole[key][0][name].startswith(text)
        else:
            assert whole[key] == value


def test_what_is_no_cut_json_stays_a_text():
    assert closed_json("[1] and so on") is None
    assert closed_json('{"a": 1}') is None
    assert closed_json("{]") is None
    assert closed_json("[" * 5000) is None


# Times


def test_every_form_of_a_time_gives_the_same_moment():
    # 2026-03-04T05:06:07Z is 1772600767 s after 1970, 63908197567 s after the year 1.
    forms = {
        "auto": "2026-03-04T05:06:07Z",
        "s": 1772600767,
        "ms": "1772600767000",
        "us": 1772600767000000,
        "ns": "1772600767000000000",
        "ticks": 639081975670000000,
    }
    for form, value in forms.items():
        toml = HEAD + f'[map]\nrequest_id = "/id"\n[time]\nreceived = {{ from = "/t", form = "{form}" }}\n'
        assert one(toml, {"id": "1", "t": value}).received_at == 1772600767_000000, form


@pytest.mark.parametrize("form", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize(
    "value",
    [float("inf"), float("-inf"), float("nan"), 10**400, -(10**400)],
    ids=["inf", "-inf", "nan", "huge", "-huge"],
)
def test_a_number_that_is_no_time_leaves_the_time_empty(form, value):
    toml = HEAD + f'[map]\nrequest_id = "/id"\n[time]\nreceived = {{ from = "/t", form = "{form}" }}\n'
    record = one(toml, {"id": "1", "t": value})
    assert record.received_at is None
    assert record.request_id == "1"
    assert duration(value, form) is None


def test_a_duration_gives_the_missing_end_and_never_a_negative_one():
    toml = (
        HEAD
        + '[map]\nrequest_id = "/id"\n[time]\nfinished = "/t"\n[[duration]]\nfrom = "/d"\nunit = "ms"\nbetween = ["received", "finished"]\n'
    )
    assert one(toml, {"id": "1", "t": 1772600767, "d": "250"}).received_at == 1772600766_750000
    assert one(toml, {"id": "1", "t": 1772600767, "d": -250}).received_at is None


@pytest.mark.parametrize(
    ("text", "micros"),
    [
        ("1.3s", 1_300_000),
        ("400µs", 400),
        ("2m3s", 123_000_000),
        ("5ms", 5000),
        ("90ns", 0),
        ("x", None),
        ("3", None),
        ("-1s", None),
    ],
)
def test_durations_with_their_unit(text, micros):
    assert duration(text, "text") == micros


# What a record says, and what it does not


def test_no_tenant_is_guessed_and_secrets_are_hashed():
    toml = 'headers = "/h"\n' + HEAD + '[map]\nrequest_id = "/id"\napi_key = "/key"\n'
    record = one(toml, {"id": "1", "key": "sk-invented", "h": {"X-Tenant-Id": "acme", "Authorization": "Bearer other"}})
    assert record.tenant_id is None
    assert record.ids["x-tenant-id"] == "acme"
    assert "sk-invented" not in json.dumps(record.ids)
    assert len(record.ids["api_key"]) == 64


def test_lookup_names_a_tenant_by_a_header():
    toml = (
        'headers = ["/h"]\n'
        + HEAD
        + '[map]\nrequest_id = "/id"\n[[lookup]]\nfield = "tenant_id"\nfrom = "@header/x-client"\ntable = { "7" = "acme" }\n'
    )
    assert one(toml, {"id": "1", "h": [{"name": "X-Client", "value": "7"}]}).tenant_id == "acme"
    assert one(toml, {"id": "1", "h": {"x-client": "8"}}).tenant_id is None


def test_one_object_becomes_several_records():
    toml = (
        'expand = "/events/*"\n'
        + HEAD.replace("/id", "/events")
        + '[map]\nrequest_id = "/id"\ntenant_id = "^/account"\n'
    )
    items = Profile(read_spec(toml, "p")).parse({"account": "acme", "events": [{"id": "1"}, {"id": "2"}]}, context())
    assert [(item.request_id, item.tenant_id) for item in items if isinstance(item, Record)] == [
        ("1", "acme"),
        ("2", "acme"),
    ]


def test_made_ids_of_one_object_differ():
    toml = 'expand = "/events/*"\n' + HEAD.replace("/id", "/events").replace("[detect]", "made_id = true\n[detect]")
    items = Profile(read_spec(toml, "p")).parse({"events": [{}, {}, {}]}, context())
    assert len({item.request_id for item in items}) == 3


def test_no_record_of_a_long_object_is_left_out():
    toml = 'expand = "/events/*"\n' + HEAD.replace("/id", "/events") + '[map]\nrequest_id = "/id"\n'
    items = Profile(read_spec(toml, "p")).parse({"events": [{"id": str(n)} for n in range(20_001)]}, context())
    assert len({item.request_id for item in items}) == 20_001


TURNS = {"id": "1", "turns": [{"from": "human", "body": "Is berth 12 free?"}, {"content": "known"}], "system": "s"}
ASKED = '[map]\nrequest_id = "/id"\n[request]\nmessages = "/turns"\nsystem = "/system"\n'


def test_a_prompt_with_messages_of_unknown_keys_is_not_whole():
    profile, where = Profile(read_spec(HEAD + ASKED, "p")), context()
    (record,) = profile.parse(json.loads(json.dumps(TURNS)), where)
    assert (record.prompt_state, where.notices) == ("truncated", {"unknown_body": 1})
    assert profile.parse({"id": "1", "turns": [{"role": "user", "content": None}]}, context())[0].prompt_state == "full"
    assert profile.parse({"id": "1", "turns": [{"body": "x"}]}, context())[0].prompt_state == "absent"


def test_keys_are_renamed():
    names = '[rename]\n"/turns/*/body" = "content"\n"/turns/*/from" = "role"\n'
    record = one(HEAD + names + ASKED, json.loads(json.dumps(TURNS)))
    assert record.prompt_state == "full"
    assert [text[1::2] for text in record.texts] == [
        ("messages[0].content", "Is berth 12 free?"),
        ("messages[1].content", "known"),
        ("system", "s"),
    ]


@pytest.mark.parametrize(("value", "status"), [(False, None), ("0", None), (0, None), ("timeout", "error"), ({}, None)])
def test_an_error_that_says_no_is_none(value, status):
    toml = HEAD + '[map]\nrequest_id = "/id"\nerror = "/err"\n'
    assert one(toml, {"id": "1", "err": value}).status == status


def test_a_variant_may_have_a_zone_of_its_own():
    toml = HEAD + (
        '[map]\nrequest_id = "/id"\n[time]\nzone = "Europe/Berlin"\nreceived = "/at"\n'
        '[[variant]]\nwhen = { keys = ["/tokyo"] }\ntime = { zone = "Asia/Tokyo" }\n'
    )
    hours = [one(toml, {"id": "1", "at": "2026-03-04T12:00:00", **more}).received_at for more in ({}, {"tokyo": 1})]
    assert hours[0] - hours[1] == 8 * 3_600_000_000  # UTC+1 and UTC+9


def test_a_record_without_an_id_is_rejected():
    with pytest.raises(Reject, match="no_id"):
        one(HEAD + '[map]\nrequest_id = "/other"\n', {"id": ""})


def test_token_counts_are_taken_from_digits_and_nothing_else():
    toml = HEAD + '[map]\nrequest_id = "/id"\nprompt_tokens = "/n"\n'
    for value, count in {"12": 12, "12.0": 12, "-1": None, "": None, "1e3": None}.items():
        assert one(toml, {"id": "1", "n": value}).prompt_tokens == count
    assert one(toml, {"id": "1", "n": True}).prompt_tokens is None
    assert one(toml, {"id": "1", "n": 0}).prompt_tokens == 0


def test_an_answer_in_json_stays_the_text_that_it_is():
    toml = HEAD + '[map]\nrequest_id = "/id"\n[response]\nbody = "/out"\n'
    for answer in ('{"city": "Rome"}', "[1, 2]", '"quoted"', "2026-05-06"):
        assert [text[3] for text in one(toml, {"id": "1", "out": answer}).texts] == [answer]


def test_join_ties_two_logs_by_a_kind_of_id(bench):
    own = HEAD + '[map]\nrequest_id = "/id"\ntenant_id = "/t"\n[ids]\norder_no = "/order"\n'
    engine = (
        own.replace('"own"', '"eng"').replace("gateway", "engine").replace('"/id"', '"/eid"').replace('"/t"', '"/no"')
    )
    bench.put("a.jsonl", '{"id":"g-1","t":"acme","order":"o-77"}\n')
    bench.put("b.jsonl", '{"eid":"e-1","order":"o-77"}\n')
    bench.run(profiles=('join = "order_no"\n' + own, 'join = "order_no"\n' + engine))
    assert {(row["request_id"], row["tenant_id"]) for row in bench.joined().values()} == {("g-1", "acme")}


def test_an_event_has_the_record_s_time_and_worker():
    toml = (
        HEAD
        + '[map]\nrequest_id = "/id"\nworker = "/w"\n[time]\nreceived = "/t"\n[[event]]\nkind = "slot_busy"\nat = "received"\nslot = "/slot"\ncounts = { running = "/n" }\n'
    )
    items = Profile(read_spec(toml, "p")).parse({"id": "1", "w": "w0", "t": 1772600767, "slot": 3, "n": "4"}, context())
    event = items[1]
    assert isinstance(event, EngineEvent)
    assert (event.kind, event.at, event.worker, event.slot, event.counts) == (
        "slot_busy",
        1772600767_000000,
        "w0",
        "3",
        {"running": 4},
    )


# Line logs

TEXT = """
[profile]
name = "lines"
vantage = "engine"
[text]
regex = '''(?P<at>\\S+) id=(?P<id>\\S+) said (?P<body>.*)'''
structure = ["\\\\S+ heartbeat"]
examples = ["2026-03-04T05:06:07Z id=1 said Hello"]
[map]
request_id = "/id"
[time]
received = "/at"
[response]
content = "/body"
"""


def test_a_line_log_is_read_by_named_groups(bench):
    bench.put("x.log", "2026-03-04T05:06:07Z id=1 said Hello.\n2026-03-04T05:06:08Z heartbeat\nstray\n")
    bench.run(profiles=(TEXT,))
    assert bench.texts("1") == {"choices[0].content": "Hello."}
    (file,) = bench.rows("evidence", "name")
    assert (file["format"], file["records"], file["structure"], file["rejected"]) == ("lines", 1, 1, 1)


def test_what_stands_behind_the_match_is_counted():
    toml = HEAD.partition("[detect]")[0] + (
        '[text]\nregex = \'(?P<id>\\S+) said="(?P<said>[^"]*)"\'\nexamples = [\'a said="b"\']\n'
        '[map]\nrequest_id = "/id"\n'
    )
    profile, where = Profile(read_spec(toml, "p")), context()
    profile.parse_line(b'a said="b"  ', where)
    assert where.notices == {}
    profile.parse_line(rb'a said="At \"six\"."', where)
    assert where.notices == {"unmatched_rest": 1}


def test_a_trial_says_what_was_not_read(tmp_path):
    _, toml = worked_example()
    (tmp_path / "acme.toml").write_text(toml)
    with zipfile.ZipFile(tmp_path / "logs.zip", "w") as archive:
        archive.writestr("gateway.jsonl", worked_example()[0])
    trial = try_profile(tmp_path / "acme.toml", (tmp_path / "logs.zip",))
    assert (trial.lines, len(trial.unread)) == (0, 1)
    assert any("archives" in sentence for sentence in trial.missing)
    assert not any("[detect]" in sentence for sentence in trial.missing)


def test_a_trial_shows_the_ids_that_ingest_makes(bench, tmp_path):
    toml = HEAD.replace("[detect]", "made_id = true\n[detect]")
    (tmp_path / "p.toml").write_text(toml)
    log = bench.put("log.jsonl", '{"id": "1"}\n{"id": "2"}\n')
    trial = try_profile(tmp_path / "p.toml", (log,))
    bench.run(profiles=(toml,))
    assert {example["request_id"] for example in trial.examples} == set(bench.joined())


def test_a_trial_knows_the_worker_in_a_file_s_name(tmp_path):
    (tmp_path / "p.toml").write_text(HEAD + '[map]\nrequest_id = "/id"\nworker = "@worker"\n')
    (tmp_path / "node_3.log").write_text('{"id": "1"}\n')
    trial = try_profile(tmp_path / "p.toml", (tmp_path / "node_3.log",))
    assert trial.examples[0]["worker"] == "node_3"


def test_a_line_beyond_the_limit_is_not_matched():
    profile = Profile(read_spec(TEXT.replace("[text]", "[text]\nlongest_line = 100"), "p"))
    assert profile.accepts_line(b"a id=1 said x")
    assert not profile.accepts_line(b"a id=1 said " + b"x" * 100)


@pytest.mark.parametrize(
    "regex", ["(?P<a>(x+)+)y", "(?P<a>(?:a|aa)+)b", "id=(?P<a>.*,.*,.*,.*);", "(?P<a>(\\w+\\s?)*)!"]
)
def test_expressions_that_hostile_lines_slow_down_are_refused(regex):
    example = {"(": "xy", "i": "id=a,b,c,d;"}[regex[0]]
    example = {"(?P<a>(?:a|aa)+)b": "aab", "(?P<a>(\\w+\\s?)*)!": "ab cd!"}.get(regex, example)
    toml = f"[profile]\nname = \"slow\"\nvantage = \"engine\"\n[text]\nregex = '{regex}'\nexamples = ['{example}']\n"
    with pytest.raises(ProfileError, match="too slow"):
        checked(toml, "slow.toml")


# Errors


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("ids = 3\n" + HEAD, "ids: must be a table"),
        (HEAD + '[rename]\n"/a/*" = "b"\n', "rename./a/*: must be a pointer into the record that ends with a key"),
        (HEAD + '[rename]\n"/a" = 3\n', "rename./a: must be a text"),
        ("[profile", "is not TOML"),
        ('[profile]\nname = "a"\n', "`vantage` is missing"),
        ('[profile]\nname = "x1"\nvantage = "moon"\n[detect]\nkeys = ["/a"]\n', "vantage"),
        ('[profile]\nname = "Bad Name"\nvantage = "gateway"\n', "profile.name"),
        ('[profile]\nname = "own"\nvantage = "gateway"\n', "detect: is missing"),
        (HEAD + '[map]\nrequestid = "/id"\n', "map.requestid: unknown key"),
        (HEAD + '[map]\nrequest_id = "id"\n', "map.request_id: a pointer begins with"),
        (HEAD + '[decode]\n"/a" = "rot13"\n', "decode./a: must be one of"),
        (HEAD + "[extra]\n", "extra: unknown key"),
        (HEAD + '[time]\nzone = "Mars"\n', "time.zone"),
        (HEAD + '[time]\nreceived = { from = "/t", form = "strptime" }\n', "pattern"),
        (HEAD + '[time]\nreceived = { from = "/t", form = "strptime", pattern = "%H:%M" }\n', "no year"),
        (
            HEAD + '[[duration]]\nfrom = "/d"\nunit = "min"\nbetween = ["received", "finished"]\n',
            "unit: must be one of",
        ),
        (HEAD + '[[duration]]\nfrom = "/d"\nunit = "s"\nbetween = ["finished", "received"]\n', "earlier first"),
        (HEAD + '[[body_state]]\nside = "both"\nstate = "lost"\n', "state: must be one of"),
        (HEAD + '[[body_state]]\nside = "both"\nstate = "redacted"\n', "give when"),
        ('join = "x"\n' + HEAD, "`x` is not among"),
        (HEAD + '[filter]\nmatches = { "/a" = "(" }\n', "no regular expression"),
        (HEAD.replace('keys = ["/id"]', ""), "says nothing"),
        (TEXT.replace("id=1 said", "id 1"), "no regex matches this line"),
        (TEXT.replace("?P<at>", "").replace("?P<id>", "").replace("?P<body>", ""), "named groups"),
    ],
)
def test_errors_name_the_file_the_key_and_the_remedy(toml, words):
    with pytest.raises(ProfileError) as caught:
        read_spec(toml, "acme.toml")
    assert str(caught.value).startswith("acme.toml")
    assert words in str(caught.value)
    assert caught.value.exit_code == 2


def test_a_profile_file_must_be_there(tmp_path):
    with pytest.raises(MissingInput):
        read_profiles((tmp_path / "none.toml",))


def test_the_users_profile_comes_first_and_takes_the_place_of_a_shipped_one():
    toml = HEAD.replace('"own"', '"kong_ai"')
    known = registry((toml,))
    assert known.objects[0].NAME == "kong_ai"
    assert known.names.count("kong_ai") == 1
    with pytest.raises(ProfileError, match="the program's own"):
        registry((HEAD.replace('"own"', '"house"'),))


def test_generic_formats_are_asked_last():
    names = [parser.NAME for parser in registry().objects]
    assert names[-2:] == ["house", "openai_pair"]
    assert {profile.NAME for profile in shipped()}.isdisjoint(parsers.NAMES)


def test_shipped_profiles_stand_the_test_of_hostile_lines():
    files = sorted((ROOT / "forensics" / "ingest" / "profiles").glob("*.toml"))
    assert len(files) == len(shipped())
    for file in files:
        assert checked(file.read_text(encoding="utf-8"), file.name).name == file.stem


def test_house_records_stay_house_records():
    house = {
        "request_id": "r",
        "tenant_id": "t",
        "timestamp": 1,
        "finished_at": 2,
        "model": "m",
        "stream": False,
        "request": {},
        "response": {},
        "worker": "w",
        "status": "ok",
        "metadata": {},
        "created_at": 1,
    }
    assert registry().of_object(house).NAME == "house"
