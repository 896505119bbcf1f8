"""Which facts does a notification need, which of them are known, and who must find out the rest?

One entry per key, always all of them: a fact that nobody knows yet is one that a regulator asks for.
"""

from __future__ import annotations

from typing import Any

from forensics.report.letters import OwnSpan, TenantView

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
)


def unknown(owner: str) -> str:
    """What stands in place of a fact that nobody has supplied."""
    return f"UNKNOWN - TO FILL (owner: {owner})"


def fields(view: TenantView, window: tuple[str, str], attachments: list[dict[str, str]]) -> dict[str, Any]:
    """Every key with value, status, basis, as_of_utc and confidence. `window` is the case's, to the minute."""
    known = _known(view, window, attachments)
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


_JUDGED = {"occurred_from", "occurred_to", "nature", "own_requests", "own_text_chars", "recipients_count_band"}


def _known(
    view: TenantView, window: tuple[str, str], attachments: list[dict[str, str]]
) -> dict[str, tuple[Any, str, str]]:
    is_source = view.kind in ("source", "both")
    known: dict[str, tuple[Any, str, str]] = {
        "incident_ref": (view.case_ref, "known", "case"),
        "version": ("draft", "known", "no version was released"),
        "supersedes": (None, "not_applicable", "first draft"),
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
        "not_examinable_share": (view.not_examinable, "known", "requests in the evidence"),
        "method": ("comparison of every response with the texts of all other customers", "known", "case"),
        "confidence_statement": (view.verdict, "known", "verdicts: confirmed, probable, possible, undetermined"),
        "viewed_evidence": ("no evidence of viewing; only that responses were generated", "known", "logs"),
        "attachments": (attachments, "known", "files of this draft"),
    }
    if is_source:
        known["own_text_chars"] = (view.surfaced_characters, "known", "logged offsets")
        if view.recipients_band is not None:
            known["recipients_count_band"] = (view.recipients_band, "known", "small counts are banded")
    else:
        known["own_text_chars"] = (None, "not_applicable", "no text of this customer was found elsewhere")
        known["recipients_count_band"] = (None, "not_applicable", "no text of this customer was found elsewhere")
    return known


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
