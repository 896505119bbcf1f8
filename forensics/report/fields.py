"""Which facts does a notification need, which of them are known, and who must find out the rest?

One entry per key, always all of them: a fact that nobody knows yet is one that a regulator asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from forensics.report.letters import BAND, OwnSpan, TenantView

# Key and the office that can fill it in.
OWNERS = (
    ("incident_ref", "incident lead"),
    ("version", "privacy office"),
    ("supersedes", "privacy office"),
    ("role_of_sender", "legal"),
    ("sender_legal_name", "legal"),
    ("contact_name", "privacy office"),
    ("contact_channel", "privacy office"),
    ("dpo_contact", "privacy office"),
    ("recipient_ref", "incident lead"),
    ("occurred_from", "incident lead"),
    ("occurred_to", "incident lead"),
    ("discovered", "incident lead"),
    ("aware", "legal"),
    ("reason_for_delay", "legal"),
    ("how_discovered", "incident lead"),
    ("nature", "incident lead"),
    ("confidentiality_integrity_availability", "incident lead"),
    ("malicious_suspected", "security"),
    ("cross_border", "legal"),
    ("systems", "engineering"),
    ("root_cause_status", "engineering"),
    ("root_cause", "engineering"),
    ("data_subject_categories", "privacy office"),
    ("data_subjects_known", "privacy office"),
    ("data_subjects_estimate", "privacy office"),
    ("record_categories", "privacy office"),
    ("records_known", "privacy office"),
    ("records_estimate", "privacy office"),
    ("special_categories", "privacy office"),
    ("credentials_exposed", "security"),
    ("own_requests", "incident lead"),
    ("own_text_chars", "incident lead"),
    ("recipients_count_band", "incident lead"),
    ("recipients_type", "privacy office"),
    ("viewed_evidence", "incident lead"),
    ("deletion_status", "privacy office"),
    ("likely_consequences", "privacy office"),
    ("measures_taken", "engineering"),
    ("measures_planned", "engineering"),
    ("recommended_actions", "privacy office"),
    ("not_examinable_share", "incident lead"),
    ("method", "incident lead"),
    ("confidence_statement", "incident lead"),
    ("authorities_informed", "legal"),
    ("law_enforcement_delay", "legal"),
    ("languages", "privacy office"),
    ("next_update_by", "incident lead"),
    ("attachments", "incident lead"),
    # Asked for by single rules only.
    ("severity_and_impact", "incident lead"),
    ("indicators_of_compromise", "security"),
    ("classification_criteria", "addressee"),
    ("clients_affected", "addressee"),
    ("transactions_affected", "addressee"),
    ("geographical_spread", "addressee"),
    ("third_party_involved", "legal"),
    ("costs", "addressee"),
    ("individuals_identified", "addressee"),
    ("prior_training", "addressee"),
    ("material_impact", "addressee"),
    ("secondary_damage", "addressee"),
    ("response_to_individuals", "addressee"),
    ("publication", "addressee"),
    ("other_matters", "addressee"),
)


def unknown(owner: str) -> str:
    """What stands in place of a fact that nobody has supplied."""
    return f"UNKNOWN - TO FILL (owner: {owner})"


def words_of_fields() -> tuple[str, ...]:
    """The words that this module puts into letters."""
    return (*(key for key, _ in OWNERS), *(unknown(owner) for _, owner in OWNERS), *_WORDS)


@dataclass(frozen=True)
class Said:
    """A fact that a person set: `status` is known, estimated or not_applicable."""

    value: str
    status: str
    basis: str

    @property
    def moment(self) -> datetime | None:
        """The value as a time, UTC where it names no offset; None where it is no time: an estimate may be words."""
        try:
            moment = datetime.fromisoformat(self.value.strip())
        except ValueError:
            return None
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


# What the evidence says: nobody sets these by hand.
FIXED = frozenset(
    "incident_ref version supersedes recipient_ref own_requests own_text_chars recipients_count_band "
    "not_examinable_share confidence_statement method attachments".split()
)
KEYS = tuple(key for key, _ in OWNERS)
ADDRESS = ("legal_name", "contact", "country", "language")  # of one customer, where the tenants file does not tell
SINGLE = frozenset(KEYS[KEYS.index("attachments") + 1 :])
_JUDGED = {"occurred_from", "occurred_to", "nature", "own_requests", "own_text_chars", "recipients_count_band"}
_DELICATE = {"health", "special_category", "child", "government_id", "payment"}


def fields(
    view: TenantView,
    window: tuple[str, str],
    attachments: list[dict[str, str]],
    said: dict[str, Said] | None = None,
    asked: frozenset[str] = frozenset(),
    version: tuple[str, str | None] = ("draft", None),
) -> dict[str, Any]:
    """Every key with value, status, basis, as_of_utc and confidence.

    `window` is the case's, to the minute; `said` what people set; `asked` the keys that the chosen rules want;
    `version` the number of this version and of the one it replaces.
    """
    known = _known(view, window, attachments, version)
    for key in SINGLE - asked:
        known[key] = (None, "not_applicable", "asked for by none of the rules chosen for this customer")
    for key, fact in (said or {}).items():
        known[key] = (fact.value if fact.status != "not_applicable" else None, fact.status, fact.basis)
    result = {}
    for key, owner in OWNERS:
        value, status, basis = known.get(key, (unknown(owner), "unknown_to_fill", "not in the evidence"))
        confidence = view.verdict if status == "known" and key in _JUDGED else None
        result[key] = {
            "value": value,
            "status": status,
            "basis": basis,
            "as_of_utc": view.as_of,
            "confidence": confidence,
        }
    return result


def _known(
    view: TenantView, window: tuple[str, str], attachments: list[dict[str, str]], version: tuple[str, str | None]
) -> dict[str, tuple[Any, str, str]]:
    is_source = view.kind in ("source", "both")
    affected = view.kind in ("source", "recipient", "both")
    replaced = (version[1], "known", "the version before this one")
    known: dict[str, tuple[Any, str, str]] = {
        "incident_ref": (view.case_ref, "known", "case"),
        "version": (version[0], "known", "number of the version of this letter"),
        "supersedes": replaced if version[1] else (None, "not_applicable", "first version"),
        "recipient_ref": (view.tenant_ref, "known", "case pseudonym"),
        "occurred_from": (window[0], "estimated", "first affected response, down to the minute"),
        "occurred_to": (window[1], "estimated", "last affected response, up to the minute"),
        "nature": (
            "text of one customer in responses of a shared model service to another customer",
            "known",
            "comparison of logged texts",
        ),
        "confidentiality_integrity_availability": ("confidentiality", "known", "text reached another customer"),
        "own_requests": (
            [_own(role, s) for role, spans in (("recipient", view.received), ("source", view.surfaced)) for s in spans],
            "known",
            "logged requests",
        ),
        "not_examinable_share": (
            f"{view.own_requests - view.own_examined:,} of {view.own_requests:,}",
            "known",
            "this customer's own requests in the evidence that could not be examined",
        ),
        "method": ("comparison of every response with the texts of all other customers", "known", "case"),
        "confidence_statement": (view.verdict, "known", "verdicts: confirmed, probable, possible, undetermined"),
        "viewed_evidence": ("no evidence of viewing; only that responses were generated", "known", "logs"),
        "attachments": (attachments, "known", "files of this draft"),
    }
    if is_source:
        known["own_text_chars"] = (view.surfaced_characters, "known", "logged offsets")
        few = f"fewer than {BAND}" if view.recipients_band is None else view.recipients_band
        known["recipients_count_band"] = (few, "known", "other customers; small counts are banded")
        known |= _categories(view)
    else:
        for key in ("own_text_chars", "recipients_count_band", *_OF_OWN_TEXT):
            known[key] = (None, "not_applicable", "no text of this customer was found elsewhere")
    if not affected:
        known["nature"] = ("nothing of this customer was found", "known", "comparison of logged texts")
        known["viewed_evidence"] = (None, "not_applicable", "nothing of this customer was found")
    if view.language is not None:
        known["languages"] = (view.language, "known", "tenants file")
    return known


_OF_OWN_TEXT = (
    "data_subject_categories data_subjects_known data_subjects_estimate record_categories records_known "
    "records_estimate special_categories credentials_exposed recipients_type deletion_status likely_consequences"
).split()


def _categories(view: TenantView) -> dict[str, tuple[Any, str, str]]:
    """What detectors, or people, saw in the customer's own text. Unseen is unknown, not absent."""
    seen = {name: checked for name, checked in view.categories if name not in ("not_classified", "none")}

    def entry(names: list[str]) -> tuple[Any, str, str]:
        checked = all(seen[name] for name in names)
        basis = "labels of detectors, checked by a person" if checked else "labels of detectors, checked by nobody"
        words = ", ".join(name.replace("_", " ") for name in names)
        return words, "known" if checked else "estimated", basis

    found = {}
    if seen:
        found["record_categories"] = entry(sorted(seen))
    if delicate := sorted(_DELICATE & seen.keys()):
        found["special_categories"] = entry(delicate)
    if "credential" in seen:
        found["credentials_exposed"] = entry(["credential"])
    return found


_WORDS = (
    # keys and values of our own files
    "value status basis as_of_utc confidence known estimated unknown_to_fill not_applicable role request_id side",
    "field start end characters received_at verdict source recipient both clear not_examined prompt response",
    "confirmed probable possible undetermined excluded schema countries note regimes version title article trigger",
    "clocks name to starts text amount unit candidate deadline_utc fields keys not_shipped passed files",
    "texts_compared words_of_our_own notify letter attachment changes report verbatim altered identifier structure",
    "whole_response",
    "text of one customer in responses of a shared model service to another customer",
    "comparison of every response with the texts of all other customers",
    "no evidence of viewing; only that responses were generated",
    "asked for by none of the rules chosen for this customer",
    "no text of this customer was found elsewhere",
    "labels of detectors, checked by nobody",
    "this customer's own requests in the evidence that could not be examined",
    "verdicts: confirmed, probable, possible, undetermined",
    "first affected response, down to the minute",
)


def _own(role: str, span: OwnSpan) -> dict[str, Any]:
    return {
        "role": role,
        "request_id": span.request_id,
        "side": span.side,
        "field": span.field,
        "start": span.start,
        "end": span.end,
        "verdict": span.verdict,
    }
