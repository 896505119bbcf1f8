"""What is known about a candidate before it is judged, and what a judgement is. Decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from forensics.attribution.belonging import Belonging
from forensics.attribution.candidates import Candidate
from forensics.attribution.sources import Source
from forensics.attribution.strength import Strength

# Rules that a fragment has survived, by the way its text came into the evidence.
TRIED = ("own_material", "echo", "shared", "template", "public_text", "too_weak")
TRIED_GENERATED = (*TRIED, "model_phrase", "same_question")


@dataclass(frozen=True)
class Evidence:
    """What the judge may ask about a candidate, all measured before.

    The defaults are for what is found without a judge, by rules of its own (`foreign_script`, `displaced`).
    """

    strength: Strength
    charge: float
    sources: list[Source]
    kin_recipient: float
    kin_source: dict[int, float]  # by unit
    only: dict[int, tuple[float, float]]  # bits of terms in the source's prompt alone, in the recipient's; by unit
    share_of_response: float
    likeness: dict[int, float] = field(default_factory=dict)  # of the prompts, by unit
    not_before: frozenset[int] = frozenset()  # units that were given a generated text no earlier than the recipient
    first_unit: int = -1  # the unit that was first given a generated text; -1 where it was supplied
    public_share: float = 0.0
    public_token: bool = False
    agreeing_bits: float = 0.0  # bits of all identifier tokens of this response that the same unit holds
    q_value: float | None = None  # by decoys; None where they do not support one
    least_q: float = 0.0  # where they do not: what it is at least, by the decoys that there are
    particular: bool = False  # a name of two capitalised words, or an identifier, stands in it
    question_units: int = 0  # letters at the end of the recipient's prompt (up to some hundred); 0 where it has none
    asks_language: bool = False  # it asks for its answer in some language
    asks_for_text: bool = False  # the recipient's question asks for a text to be recited
    quotation: bool = False  # it asks for a quotation, and the answer presents the passage as one
    transcript: bool = False  # the source's text holds the recipient's own question before the passage
    belongs: Mapping[int, Belonging] = field(default_factory=dict)  # where the passage belongs, by leading unit
    other_values: bool = False  # it is one form, and the source filled it with other values
    other_identifier: bool = False  # an identifier in it is another than the source's, and it is about that
    alike: frozenset[int] = frozenset()  # of several suppliers, those whose text has it sign by sign
    features: dict[str, Any] = field(default_factory=dict)  # further figures to be kept with the fragment
    capped: bool = False  # contents follow each other across tenants, and the source is on another worker or on none

    @property
    def net_bits(self) -> float:
        """Bits less the search charge."""
        return self.strength.bits - self.charge


@dataclass(frozen=True)
class Judged:
    """A fragment to be."""

    candidate: Candidate
    evidence: Evidence
    kind: str
    stratum: str
    verdict: str
    reason: str
    units: list[int]  # named units
    ranked: list[Source]
    tried: tuple[str, ...]
    q_value: float | None
    named: tuple[str, ...] = ()  # tenant ids named by something else than an appearance: a canary's owner

    def with_features(self, more: Mapping[str, Any]) -> Judged:
        """The same with further figures to be kept; figures of equal name give way."""
        return replace(self, evidence=replace(self.evidence, features={**self.evidence.features, **more}))
