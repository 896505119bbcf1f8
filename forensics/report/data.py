"""Which rows stand behind each picture of the report? CSV files beside it, by pseudonym; no text of any customer."""

from __future__ import annotations

from forensics.case.csv_file import csv_bytes
from forensics.report.view import ReportView

FOLDER = "report/data"
NAMES = (
    "affected_over_time.csv",
    "fragment_kinds.csv",
    "fragment_lengths.csv",
    "incident_steps.csv",
    "mechanisms.csv",
    "slots.csv",
    "who_to_whom.csv",
)


def data_files(view: ReportView) -> dict[str, bytes]:
    """Path in the case to bytes, one file per picture or table of NAMES."""
    files = {
        "affected_over_time.csv": csv_bytes(
            ("from_utc", "responses", "examined", "probable_or_better", "weaker", "rate_low", "rate_high"),
            [(b.label, b.responses, b.examined, b.affected, b.possible, b.low, b.high) for b in view.buckets],
        ),
        "fragment_kinds.csv": csv_bytes(
            ("kind", "confirmed", "probable", "possible", "undetermined", "excluded"), view.kinds
        ),
        "fragment_lengths.csv": csv_bytes(
            ("characters", "probable_or_better", "weaker"), [(s.label, s.strong, s.weak) for s in view.lengths]
        ),
        "incident_steps.csv": csv_bytes(
            ("step", "at", "interval", "status", "basis"),
            [(s.name, s.shown, s.interval, s.status, s.basis) for s in view.steps],
        ),
        "mechanisms.csv": csv_bytes(
            ("hypothesis", "title", "status", "rank", "class", "finding", "condition", "missing"),
            [
                (m.id, m.title, m.status, m.rank, m.class_, m.finding, m.condition, m.missing)
                for m in view.causes.mechanisms
            ],
        ),
        "slots.csv": csv_bytes(
            ("fragment_id", "lane", "label", "role", "start_seconds", "end_seconds"),
            [
                (leak.fragment_id, bar.lane, leak.lanes.labels[bar.lane], bar.role, bar.start, bar.end)
                for leak in view.causes.leaks
                for bar in leak.lanes.bars
            ],
        ),
        "who_to_whom.csv": csv_bytes(
            ("source", "recipient", "fragments", "responses", "characters", "one_of_several_sources", "confirmed"),
            [
                (p.source_ref, p.recipient_ref, p.fragments, p.responses, p.characters, p.one_of_several, p.confirmed)
                for p in view.pairs
            ],
        ),
    }
    return {f"{FOLDER}/{name}": files[name] for name in NAMES}
