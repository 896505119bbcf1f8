"""`simulate`: traffic, engine, faults and logs put together; truth and the other files written at the end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import asdict, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from forensics.case.errors import UsageError
from forensics.simulate import corpus as corpora
from forensics.simulate import kinds
from forensics.simulate import tenants as tenancy
from forensics.simulate.dice import Dice
from forensics.simulate.engine import Engine
from forensics.simulate.extras import Extras
from forensics.simulate.faults import Faults, LostPage
from forensics.simulate.logs import Logs, worker_name
from forensics.simulate.novelty import Novelty
from forensics.simulate.parameters import (
    COMPRESSIONS,
    FAULTS,
    FORMS,
    SLOT_POLICIES,
    Parameters,
    SimulationSummary,
)
from forensics.simulate.planting import KindFaults
from forensics.simulate.polish import sentences
from forensics.simulate.pool import Pool
from forensics.simulate.prose import Prose
from forensics.simulate.render import stamp
from forensics.simulate.requests import Lookalike, Message, Request, Tenant
from forensics.simulate.traffic import Session, Traffic
from forensics.simulate.truth import lookalike_rows, truth_rows

Progress = Callable[[str, int, int], None]
# Raw bytes of a request: what it always has, and what its documents add at scale 1 (measured).
_BYTES_A_REQUEST = {"sglang": (6_970, 4_420), "house": (3_500, 2_500)}
_LOST_LANGUAGES = ("en", "he", "en", "ar", "ja")
_BANDS = ((0, 40, "<40"), (40, 80, "40-79"), (80, 200, "80-199"), (200, 1 << 60, "200+"))


def simulate(out: Path, parameters: Parameters, progress: Progress | None = None) -> SimulationSummary:
    """Write a synthetic incident into the folder `out` (made if absent, must be empty).

    Raises UsageError for parameters that cannot be met.
    """
    _check(out, parameters)
    out.mkdir(parents=True, exist_ok=True)
    with Logs(out, parameters) as logs:
        simulation = _Simulation(parameters, logs, progress)
        simulation.run()
        names = logs.names()
    truth = truth_rows(simulation.requests, parameters.form)
    lookalikes = lookalike_rows(simulation.traffic.lookalikes, parameters.form)
    _write_lines(out / "truth.jsonl", ({k: v for k, v in row.items() if k not in _INTERNAL} for row in truth))
    _write_lines(out / "lookalikes.jsonl", lookalikes)
    if simulation.extras is not None:
        (out / "canaries.csv").write_text(_canaries_csv(simulation.extras), encoding="utf-8", newline="")
        names.append("canaries.csv")
    (out / "tenants.csv").write_text(_tenants_csv(simulation.traffic.tenants), encoding="utf-8", newline="")
    summary = _summary(out, parameters, simulation, truth, lookalikes, logs.raw_bytes, names)
    (out / "incident.json").write_text(_incident(parameters, simulation, summary), encoding="utf-8")
    return summary


_INTERNAL = ("finished", "own_material")


class _Simulation:
    """One run: schedules sessions, lets the engine work, feeds answers back into conversations."""

    def __init__(self, parameters: Parameters, logs: Logs, progress: Progress | None) -> None:
        self.parameters = parameters
        self.requests: list[Request] = []
        self._logs = logs
        self._progress = progress
        self._dice = Dice(parameters.seed, "arrivals")
        self.duration = parameters.requests * parameters.seconds_per_request
        self.window = (self.duration * parameters.deploy_share, self.duration * parameters.fix_share)
        scale = 1.0
        if parameters.target_bytes is not None:
            fixed, documents = _BYTES_A_REQUEST[parameters.form]
            scale = max(0.05, (parameters.target_bytes / parameters.requests - fixed) / documents)
        corpus = corpora.load(parameters.corpus)
        if parameters.kinds:
            polish = sentences(1500, Dice(parameters.seed, "polish"))
            corpus = replace(corpus, prose={**corpus.prose, "pl": polish})
        # The memory of the prose has room for all that is written: 2^29 bits serve some 100 MB.
        bits = 27 if parameters.requests * scale < 6000 else 29 if parameters.requests * scale < 60_000 else 31
        prose = Prose(corpus, parameters.seed, Novelty(bits))
        tenants = tenancy.make(
            parameters.tenants,
            corpus,
            prose,
            Dice(parameters.seed, "tenants"),
            kinds.LANGUAGE_WEIGHTS if parameters.kinds else None,
        )
        self.extras = Extras(tenants, prose, Dice(parameters.seed, "extras")) if parameters.kinds else None
        pool = Pool(prose, Dice(parameters.seed, "pool")) if parameters.correlated else None
        self.traffic = Traffic(
            tenants, corpus, prose, Dice(parameters.seed, "traffic"), scale=scale, workers=parameters.workers,
            choices=parameters.form == "house", pool=pool, extras=self.extras,
        )  # fmt: skip
        chance = Dice(parameters.seed, "faults")
        self.faults = (
            Faults(parameters, self.window, chance)
            if self.extras is None
            else KindFaults(parameters, self.window, chance, self.extras, prose)
        )
        self.engine = Engine(
            parameters.workers, parameters.slots, parameters.slot_policy, Dice(parameters.seed, "engine"), self.faults
        )
        self.faults.engine = self.engine
        self.engine.on_received = self._received
        self.engine.on_done = self._done
        self._sessions: dict[str, Session] = {}
        self._lookalikes_seen = 0
        self._prose = prose
        self._plan_lost_pages()

    def run(self) -> None:
        """Schedule and work through all events."""
        self._plan_joint_documents()
        # Sessions begin as a Poisson process; their later turns follow their answers.
        mean_turns = 1.9
        time = 0.0
        while time < 1.5 * self.duration:  # the last ones only serve where the first were too short
            time += self._dice.expovariate(1 / (self.parameters.seconds_per_request * mean_turns))
            self.engine.at(time, self._begin, None)
        self.engine.run()

    # -- events -----------------------------------------------------------------------------------------------

    def _begin(self, now: float, session: Session | None) -> None:
        if len(self.requests) < self.parameters.requests:
            self._ask(now, session or self.traffic.session())

    def _ask(self, now: float, session: Session) -> None:
        if len(self.requests) >= self.parameters.requests:
            return
        dice = self._dice
        worker = session.worker if dice.chance(0.85) else dice.between(0, self.parameters.workers - 1)
        request = Request(
            rid=dice.hex(32), tenant=session.tenant, session=session.number, turn=0, messages=[], choices=[],
            stream=dice.chance(0.6), user=session.user, received=now, worker=worker,
        )  # fmt: skip
        self.traffic.turn(session, request)
        self._note_shared()
        self._sessions[request.rid] = session
        self.engine.receive(request, now)

    def _retry(self, now: float, request: Request) -> None:
        """A client that hung up asks the same again, under another id."""
        if len(self.requests) >= self.parameters.requests:
            return
        again = Request(
            rid=self._dice.hex(32), tenant=request.tenant, session=request.session, turn=request.turn,
            messages=request.messages, choices=request.choices, stream=request.stream, user=request.user,
            received=now, worker=request.worker, key=request.key, language=request.language,
            prompt_chars=request.prompt_chars, shape=request.shape, blocks=request.blocks,
        )  # fmt: skip
        self._sessions[again.rid] = self._sessions[request.rid]
        self.traffic.lookalikes.extend(
            Lookalike(entry.kind, again, entry.text, entry.others)
            for entry in self.traffic.lookalikes[-400:]
            if entry.request is request
        )
        self._note_shared()
        self.engine.receive(again, now)

    def _received(self, request: Request) -> None:
        self.requests.append(request)
        self.faults.received(request)
        self._logs.received(request)
        if self._progress is not None and len(self.requests) % 200 == 0:
            self._progress("requests", len(self.requests), self.parameters.requests)

    def _done(self, request: Request) -> None:
        self._logs.done(request)
        session = self._sessions.pop(request.rid)
        now, dice = request.finished, self._dice
        if request.aborted:
            if dice.chance(0.5) and not request.given:
                request.retried = True
                self._sessions[request.rid] = session
                self.engine.at(now + dice.uniform(1, 20), self._retry, request)
            return
        choice = request.choices[0]
        session.history.append(
            Message(
                "assistant", choice.content, session.tenant, tainted=bool(request.planted), tool_call=choice.tool_call
            )
        )
        leak = next((p.text for p in request.planted if p.part == "content" and p.kind != "whole_response"), None)
        if leak is not None and len(leak) < 500 and '"' not in leak and dice.chance(0.3):
            session.complaint = leak
            session.turns = max(session.turns, session.turn + 1)
        if session.turn < session.turns:
            pause = dice.uniform(0.2, 3) if session.kind == "agent" else dice.expovariate(1 / 50) + 3
            self.engine.at(now + pause, self._ask, session)

    def _note_shared(self) -> None:
        """Tell the faults which texts of an answer others hold innocently."""
        for entry in self.traffic.lookalikes[self._lookalikes_seen :]:
            if entry.kind != "own_quotation":
                self.faults.shared.setdefault(entry.request.rid, []).append(entry.text)
        self._lookalikes_seen = len(self.traffic.lookalikes)

    # -- specials ---------------------------------------------------------------------------------------------

    def _plan_joint_documents(self) -> None:
        """Two unrelated tenants hold one document, say a contract between them, before and after the deploy."""
        wanted = self.parameters.ambiguous
        if not wanted:
            return
        dice = Dice(self.parameters.seed, "joint")
        accounts = Counter(tenant.organisation for tenant in self.traffic.tenants)
        single = [tenant for tenant in self.traffic.tenants if accounts[tenant.organisation] == 1]
        if len(single) < 2:
            return
        for number in range(wanted * 2):
            first, second = dice.sample(single, 2)
            sessions = [self.traffic.session("document", tenant) for tenant in (first, second)]
            for session in sessions:
                session.language, session.turns, session.worker = "en", 1, number % self.parameters.workers
            document = self.traffic.document(sessions[0])
            names = (first.organisation, second.organisation)
            for place, session in enumerate(sessions):
                session.joint = Message(
                    "user",
                    document.content,
                    session.tenant,
                    private=True,
                    particulars=document.particulars,
                    joint=names,
                )
                low = self.duration * (0.05 if place == 0 else 0.15)
                self.engine.at(dice.uniform(low, self.window[0] * 1.2), self._begin, session)

    def _plan_lost_pages(self) -> None:
        """Pages whose requests came before the log began; each is restored to two victims or more."""
        dice = Dice(self.parameters.seed, "lost")
        left = self.parameters.undetermined
        number = 0
        while left > 0:
            uses = left if left <= 3 else 2
            languages = [name for name in _LOST_LANGUAGES if name in self._prose.languages] or ["en"]
            language = languages[number % len(languages)]
            topic = self._prose.topic(language, dice, 12)
            customer = self.traffic.people.customer(language)
            text = f"{self._prose.passage(language, topic, 1, dice)} {customer.line(language, dice)}"
            if language in ("zh", "ja"):
                text = text.replace(" ", "", 1)
            while len(text) < 110:
                text = f"{self._prose.passage(language, topic, 1, dice)} {text}"
            self.faults.lost_pages.append(
                LostPage(number % self.parameters.workers, text[:400].strip(), language, uses)
            )
            left -= uses
            number += 1


# -- files ----------------------------------------------------------------------------------------------------


def _check(out: Path, parameters: Parameters) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{out} is not an empty folder")
    unknown = [fault for fault in parameters.faults if fault not in FAULTS]
    if unknown:
        raise UsageError(f"unknown faults: {', '.join(unknown)}; known are {', '.join(FAULTS)}")
    for value, allowed in (
        (parameters.form, FORMS),
        (parameters.compress, COMPRESSIONS),
        (parameters.slot_policy, SLOT_POLICIES),
    ):
        if value not in allowed:
            raise UsageError(f"{value!r} is none of {', '.join(allowed)}")
    if parameters.tenants < 2 or parameters.requests < 1 or parameters.workers < 1 or parameters.slots < 1:
        raise UsageError("a simulation needs two tenants, one request, one worker and one slot at least")
    if parameters.kinds:
        try:
            kinds.chosen(parameters.kinds)
        except ValueError as error:
            raise UsageError(str(error)) from None
        if parameters.undetermined:
            raise UsageError("undetermined is one of the kinds; it is not counted apart where kinds are asked for")
    if parameters.ambiguous + parameters.undetermined > parameters.leaks:
        raise UsageError("ambiguous and undetermined are part of leaks and cannot exceed them")


def _write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    with path.open("wb") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")


def _tenants_csv(tenants: Iterable[Tenant]) -> str:
    lines = ["key_kind,key,tenant_id,organisation,legal_name,contact,country,language"]
    for t in sorted(tenants, key=lambda tenant: tenant.name):
        row = ("tenant", t.name, t.name, t.organisation, t.legal_name, t.contact, t.country, t.languages[0])
        lines.append(",".join(row))
    return "\n".join(lines) + "\n"


def _canaries_csv(extras: Extras) -> str:
    lines = ["canary,tenant_id,label", *(",".join(entry) for entry in sorted(extras.canaries))]
    return "\n".join(lines) + "\n"


def _incident(parameters: Parameters, simulation: _Simulation, summary: SimulationSummary) -> str:
    start = datetime.fromisoformat(parameters.start)
    shown = asdict(parameters)
    shown["corpus"] = "custom" if parameters.corpus is not None else "shipped"
    if not parameters.kinds:
        del shown["kinds"]
    left_out = ("out", "files") if parameters.kinds else ("out", "files", "by_class", "by_language")
    body = {
        "synthetic": True,
        "note": "Made by `forensics simulate`. No customer, person, account or conversation in it exists.",
        "deploy_at": stamp(start, simulation.window[0]) + "Z",
        "fix_at": stamp(start, simulation.window[1]) + "Z",
        "starts_at": stamp(start, 0) + "Z",
        "workers": [worker_name(number) for number in range(parameters.workers)],
        "parameters": shown,
        "summary": {key: value for key, value in asdict(summary).items() if key not in left_out},
    }
    return json.dumps(body, indent=2, ensure_ascii=False) + "\n"


def _summary(
    out: Path,
    parameters: Parameters,
    simulation: _Simulation,
    truth: list[dict[str, Any]],
    lookalikes: list[dict[str, Any]],
    raw_bytes: int,
    names: list[str],
) -> SimulationSummary:
    requests = simulation.requests
    lengths = Counter(name for row in truth for low, high, name in _BANDS if low <= row["chars"] < high)
    return SimulationSummary(
        out=out,
        requests=len(requests),
        aborted=sum(request.aborted for request in requests),
        responses=sum(not request.aborted for request in requests),
        tenants=len({request.tenant.name for request in requests}),
        leaks=len(truth),
        missing_leaks=parameters.leaks - len({row["response_request_id"] for row in truth}),
        affected_requests=len({row["response_request_id"] for row in truth}),
        affected_tenants=len({row["response_tenant_id"] for row in truth}),
        by_fault=dict(sorted(Counter(row["fault"] for row in truth).items())),
        by_kind=dict(sorted(Counter(row["kind"] for row in truth).items())),
        by_length={name: lengths[name] for _, _, name in _BANDS},
        lookalikes=dict(sorted(Counter(row["class"] for row in lookalikes).items())),
        raw_bytes=raw_bytes,
        by_class=dict(sorted(Counter(row["class"] for row in truth if "class" in row).items())),
        by_language=dict(sorted(Counter(row["language"] for row in truth if "language" in row).items())),
        files=(*names, "truth.jsonl", "lookalikes.jsonl", "tenants.csv", "incident.json"),
    )
