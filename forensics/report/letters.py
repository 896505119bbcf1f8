"""What may a letter say to each customer? A type that cannot hold anybody else's text, name or ids.

A letter names the customer's own requests, fields and offsets. Does not render (`notices`), fill facts (`fields`),
choose rules (`duties`) or release (`release`).
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from forensics.case.pseudonyms import Pseudonyms
from forensics.case.store import Case
from forensics.report.duties import country_code
from forensics.report.render import minute_down, minute_up

BAND = 5
KINDS = ("source", "recipient", "both", "clear", "not_examined")


@dataclass(frozen=True)
class OwnSpan:
    """A place in one of the customer's own requests: code points `[start, end)` of one field. No text."""

    request_id: str
    side: str
    field: str
    start: int
    end: int
    received_at: str | None
    verdict: str


@dataclass(frozen=True)
class TenantView:
    """All that a letter can print. No field holds text of a log, or an id or a name of another customer.

    `kind` is one of KINDS; `countries`: ISO 3166 codes; `unread_countries`: what the tenants file gives and is no code;
    `categories`: (category, checked by a person) of this customer's own text that surfaced.
    """

    case_ref: str
    tenant_ref: str
    tenant_id: str
    kind: str
    notify: str
    verdict: str
    legal_name: str | None
    contact: str | None
    countries: tuple[str, ...]
    unread_countries: int
    language: str | None
    received: tuple[OwnSpan, ...]
    surfaced: tuple[OwnSpan, ...]
    surfaced_from: str | None
    surfaced_to: str | None
    recipients_band: str | None
    categories: tuple[tuple[str, bool], ...]
    own_requests: int
    own_examined: int
    examined: str
    not_examinable: str
    as_of: str | None

    @property
    def received_characters(self) -> int:
        """Code points of foreign text in the customer's own responses, overlaps counted once."""
        return _covered(self.received)

    @property
    def surfaced_characters(self) -> int:
        """Code points of the customer's own text that surfaced, each place counted once."""
        return _covered(self.surfaced)

    @property
    def received_requests(self) -> int:
        """Own requests whose response carries foreign text."""
        return len({span.request_id for span in self.received})


def band(count: int) -> str | None:
    """A number of other customers; None for small ones: they are not told apart, because they could name somebody."""
    return None if count < BAND else f"{count:,}"


def tenant_views(
    case: Case, pseudonyms: Pseudonyms, examined: str, not_examinable: str, as_of: str | None
) -> list[TenantView]:
    """One view per customer that may get a letter of one of KINDS, sorted by tenant id; `choose` says who does."""
    spans: defaultdict[tuple[str, str], list[OwnSpan]] = defaultdict(list)
    for tenant_id, role, *rest in case.rows("report/letter_spans"):
        spans[tenant_id, role].append(OwnSpan(*rest))
    surfaced = {row[0]: row[1:] for row in case.rows("report/letter_surfaced")}
    views = []
    for row in case.rows("report/letter_tenants"):
        tenant_id, kind, notify, verdict, requests, seen, names, contacts, countries, languages, categories = row
        if kind not in KINDS:
            continue
        recipients, first_us, last_us = surfaced.get(tenant_id, (None, None, None))
        is_source = kind in ("source", "both")
        codes = [country_code(country) for country in countries]
        views.append(
            TenantView(
                case_ref=pseudonyms.case_ref,
                tenant_ref=pseudonyms.tenant(tenant_id),
                tenant_id=tenant_id,
                kind=kind,
                notify=notify,
                verdict=verdict,
                # Two names of one customer contradict each other: a person has to say which it is.
                legal_name=names[0] if len(names) == 1 else None,
                contact="; ".join(contacts) or None,
                countries=tuple(sorted({code for code in codes if code is not None})),
                unread_countries=codes.count(None),
                language=languages[0] if len(languages) == 1 else None,
                received=tuple(spans[tenant_id, "recipient"]),
                surfaced=tuple(spans[tenant_id, "source"]),
                surfaced_from=minute_down(first_us) if is_source else None,
                surfaced_to=minute_up(last_us) if is_source else None,
                recipients_band=band(recipients) if is_source and recipients is not None else None,
                categories=tuple((label.rpartition(":")[0], label.endswith(":yes")) for label in categories),
                own_requests=requests,
                own_examined=seen,
                examined=examined,
                not_examinable=not_examinable,
                as_of=as_of,
            )
        )
    return views


ATTACHMENT_COLUMNS = ("role", "request_id", "side", "field", "start", "end", "characters", "received_at", "verdict")


def attachment_rows(view: TenantView) -> list[tuple[Any, ...]]:
    """Every own place, for the attachment."""
    return [
        (
            role,
            span.request_id,
            span.side,
            span.field,
            span.start,
            span.end,
            span.end - span.start,
            span.received_at,
            span.verdict,
        )
        for role, spans in (("recipient", view.received), ("source", view.surfaced))
        for span in spans
    ]


def _covered(spans: tuple[OwnSpan, ...]) -> int:
    total = 0
    reached: dict[tuple[str, str, str], int] = {}
    for span in sorted(spans, key=lambda s: (s.request_id, s.side, s.field, s.start, s.end)):
        place = (span.request_id, span.side, span.field)
        start = max(span.start, reached.get(place, span.start))
        total += max(0, span.end - start)
        reached[place] = max(span.end, reached.get(place, span.end))
    return total
