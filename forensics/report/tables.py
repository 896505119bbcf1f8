"""Which rows do the tables of figures have: scope, bounds, coverage, rates, controls? Computes none of them."""

from __future__ import annotations

from dataclasses import dataclass

from forensics.report.figures import Number, Numbers

LEVELS = ("confirmed", "probable_or_better", "possible_or_better", "undetermined", "excluded")
_COUNTED = (
    ("responses with foreign text", "responses"),
    ("customers that received it", "recipient_tenants"),
    ("customers whose text it is, sets included", "source_tenants"),
    ("of these named alone at least once", "source_tenants_named_alone"),
    ("source requests", "source_requests"),
    ("fragments", "fragments"),
    ("foreign characters", "foreign_characters"),
)
_BOUNDS = (
    ("at least", "lower_bound.responses", "the rules of attribution hold, or a person was right"),
    ("found: confirmed or probable", "responses.probable_or_better", "the rules of attribution hold"),
    (
        "at most, by planted leaks",
        "upper_bound.responses",
        "real leaks are like planted ones; what could not be examined is like what could",
    ),
    (
        "found, and all that could not be examined",
        "upper_bound.unexamined_all",
        "nothing was missed in what was examined",
    ),
    (
        "by two independent detectors (capture-recapture)",
        "controls.capture_recapture.responses.all",
        "they miss independently of each other; where they do not, it is too low",
    ),
    (
        "missed, by silent responses that a person read",
        "controls.elusion.responses.all",
        "who read them saw every leak in them",
    ),
)
_COVERAGE = (
    ("requests", "requests"),
    ("examined", "examined"),
    ("could not be examined", "not_examinable"),
    ("customers examined in full", "tenants.examined_whole"),
    ("customers examined in part", "tenants.examined_in_part"),
    ("customers not examined at all", "tenants.not_examined"),
)
_CONTROLS = (
    ("planted leaks that were found", "controls.recall.reported.all", "forensics controls CASE"),
    ("planted leaks that came out probable", "controls.recall.probable.all", "forensics controls CASE"),
    ("planted leaks with the right customer alone", "controls.right_tenant.all", "forensics controls CASE"),
    ("planted leaks with a wrong customer", "controls.wrong_tenant.all", "forensics controls CASE"),
    (
        "false: probable findings before the fault began",
        "controls.false_positives.before.probable",
        "forensics controls CASE --fault-began TIME",
    ),
    (
        "false: any finding before the fault began",
        "controls.false_positives.before.any_verdict",
        "forensics controls CASE --fault-began TIME",
    ),
    (
        "false: probable findings that name a customer who does not exist",
        "controls.entrapment.false_share.probable",
        "forensics controls CASE",
    ),
    (
        "probable findings after the fix",
        "controls.rate.after_fix.probable",
        "forensics controls CASE --fault-fixed TIME",
    ),
)
_PERIODS = (
    ("before the first affected response", "rate.before_window"),
    ("from the first to the last affected response", "rate.in_window"),
    ("after the last affected response", "rate.after_window"),
    ("after the event that closes the window", "rate.after_closing"),
    ("after the declared fix", "controls.rate.after_fix.probable"),
    ("all of the evidence", "rate.whole"),
)
_CLASSES = ("length", "kind", "form", "side", "script")


@dataclass(frozen=True)
class BoundRow:
    """One way to bound the affected responses."""

    label: str
    estimate: str
    interval: str
    assumption: str
    method: str


@dataclass(frozen=True)
class RateRow:
    """One share with its interval."""

    label: str
    share: str
    interval: str
    method: str


def scope_rows(numbers: Numbers) -> list[tuple[str, tuple[str, ...]]]:
    """What was counted, at which level of certainty."""
    return [(label, tuple(numbers.of(f"{name}.{level}") for level in LEVELS)) for label, name in _COUNTED]


def bound_rows(numbers: Numbers) -> list[BoundRow]:
    """Every way to bound the affected responses, made or not."""
    rows = []
    for label, name, assumption in _BOUNDS:
        number = numbers.rows.get(name)
        if number is None:
            rows.append(BoundRow(label, "not measured", "", assumption, "`forensics controls CASE` measures it"))
        else:
            rows.append(BoundRow(label, numbers.brief(name), numbers.limits(name), assumption, number.method))
    return rows


def coverage_rows(numbers: Numbers) -> list[tuple[str, str, str]]:
    """Requests and customers that could be examined, and could not: label, share, method."""
    return [(label, numbers.share(name), numbers.method(name)) for label, name in _COVERAGE]


def period_rows(numbers: Numbers) -> list[RateRow]:
    """The rates, in the order of time."""
    return [_rate(numbers, label, name) for label, name in _PERIODS if name in numbers.rows]


def control_rows(numbers: Numbers) -> list[RateRow]:
    """Recall and false positives, measured or how to measure them."""
    return [
        _rate(numbers, label, name)
        if name in numbers.rows
        else RateRow(label, "not measured", "", f"`{command}` measures it")
        for label, name, command in _CONTROLS
    ]


def recall_rows(numbers: Numbers) -> list[RateRow]:
    """Recall by class of planted leaks, where it was measured."""
    found: list[Number] = []
    for part in _CLASSES:
        found += sorted(numbers.starting(f"controls.recall.probable.{part}_"), key=_by_size)
    prefix = len("controls.recall.probable.")
    return [_rate(numbers, row.name[prefix:].replace("_", " "), row.name) for row in found]


def words_of_tables() -> tuple[str, ...]:
    """Labels and assumptions of these tables: words of our own."""
    listed = (*_COUNTED, *_BOUNDS, *_COVERAGE, *_CONTROLS, *_PERIODS)
    return tuple(text for row in listed for text in row)


def _by_size(number: Number) -> tuple[int, str]:
    tail = number.name.rpartition("_")[2]
    return (int(tail) if tail.isascii() and tail.isdigit() else -1, number.name)


def _rate(numbers: Numbers, label: str, name: str) -> RateRow:
    return RateRow(label, numbers.share(name), numbers.interval(name), numbers.method(name))
