"""Times that name no zone or no year: what the calls they share with other files say, and when that is certain enough.

A declared zone is never overruled. What is changed is said: the basis in the evidence table becomes `inferred`.
"""

from __future__ import annotations

from dataclasses import dataclass

from forensics.case.store import Case

LEAST_CALLS = 20


@dataclass(frozen=True)
class ZoneFinding:
    """A file whose clock is `quarters` quarters of an hour, or `years` years, ahead of files that name their zone.

    `calls` were compared; `applied` says whether its times were moved.
    """

    evidence: int
    years: int
    quarters: int
    calls: int
    applied: bool

    @property
    def zone(self) -> str:
        """The zone that fits, for example `UTC+02:00`."""
        sign = "-" if self.quarters < 0 else "+"
        return f"UTC{sign}{abs(self.quarters) // 4:02d}:{abs(self.quarters) % 4 * 15:02d}"


def find_zones(case: Case, apply: bool) -> list[ZoneFinding]:
    """What joined calls say of zones and years; with `apply`, what is certain is changed in the records.

    Needs the scratch tables of the join, which are out of date where anything was applied.
    """
    case.run("ingest/zone_shifts", {"least": LEAST_CALLS})
    rows = case.rows("ingest/zone_findings")
    found = [
        ZoneFinding(evidence, years, quarters, calls, apply and certain)
        for evidence, years, quarters, calls, certain in rows
    ]
    if apply:
        case.run("ingest/zone_applied")
    return found


def zone_warnings(found: list[ZoneFinding]) -> list[str]:
    """Sentences on what was found and what was done about it."""
    warnings = []
    kinds = sorted({(f.applied, f.years, f.quarters) for f in found})
    for applied, years, quarters in kinds:
        same = [f for f in found if (f.applied, f.years, f.quarters) == (applied, years, quarters)]
        numbers = ", ".join(str(f.evidence) for f in same[:5]) + (" ..." if len(same) > 5 else "")
        calls = min(f.calls for f in same)
        if years:
            what = f"name no year, and calls that other files date ({calls} or more) are {abs(years)} year(s) off"
            done = "their year was corrected" if applied else "too few or too scattered to correct the year"
        else:
            what = f"name no zone, and calls that other files date ({calls} or more) fit {same[0].zone}"
            done = (
                "they were read so (basis `inferred`)"
                if applied
                else "they were read as UTC all the same, too few or too scattered; declare it with --time-zone"
            )
        warnings.append(f"the times of {len(same)} file(s) ({numbers}) {what}: {done}")
    return warnings
