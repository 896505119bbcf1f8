"""The knobs of attribution, each with what it implies. They are recorded with every run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from forensics.case.errors import UsageError

# Rules that explain a match by an innocent cause and may be switched off to see what they hide. Own material and echoes
# are no such rules: without them everything is foreign.
OPTIONAL_RULES = ("shared", "template", "public_text", "model_phrase", "same_question")
OFF = 1 << 30  # a limit that no count reaches


@dataclass(frozen=True)
class Parameters:
    """Defaults are fixed for all cases; they are not tuned to a case."""

    shared_limit: int = 4
    """Text that this many unrelated tenants supplied is shared, not leaked (reference: a group of 4 or more)."""

    phrase_limit: int = 5
    """Text that nobody supplied and this many tenants were given is a phrase of the model."""

    possible_bits: float = 24.0
    """Net bits below which a match is not reported: by chance alone one false match in 2^24 cases."""

    probable_bits: float = 32.0
    """Net bits for `probable` where no q-value can be had. Chance alone would need far less; phrases that tenants share
    without the case showing it (a common quotation, a corpus both draw on) need more."""

    altered_bits: float = 32.0
    """The same for a copy with edits where no q-value speaks for it: no run in it need be long enough to count by
    itself, and two texts on one subject agree in pieces (the same phrase with another word in it)."""

    stray_bits: float = 8.0
    """The same for an exact copy of one supplier's text that begins in mid-sentence and whose words stand in the rest
    of that text, and not around it: one false match in 2^8 cases by chance, and common causes do not look so."""

    plain_bits: float = 12.0
    """A text whose rarest word is worth less holds only everyday words, as phrases do that anybody may write; for
    `probable` without a q-value it needs"""

    plain_net_bits: float = 80.0
    """this many net bits."""

    possible_q: float = 0.2
    """Largest q-value at which a match is still reported."""

    identifier_bits: float = 10.0
    """Net bits for a `probable` identifier: its search is charged by tokens, and phrases are no rivals there."""

    possible_identifier_bits: float = 7.0
    """The same for `possible`: by chance less than one in a hundred cases holds such a match."""

    generated_bits: float = 16.0
    """Net bits below which a text that nobody supplied is a phrase of the model."""

    undetermined_bits: float = 60.0
    """Bits of telling words (that hardly any other tenant uses) for reporting a passage that nobody supplied and that
    fits nobody's prompt: a habit of the model is made of common words."""

    unexplained_bits: float = 48.0
    """Net bits for reporting a passage that two tenants were given in answer to unlike prompts, though it is not
    clearly about either of them: no habit of the model is that long, but nobody can be named."""

    close_bits: float = 20.0
    """The same where the other request was on the same worker within half a minute."""

    subject_bits: float = 60.0
    """Net bits above which a match counts even where the recipient's prompt is about the same matter."""

    same_question: float = 0.5
    """Likeness of two prompts (0..1) above which equal answers are no leak."""

    q_limit: float = 0.05
    """Largest q-value of `probable`."""

    learn_combination: bool = True
    """Where decoys are valid, let matches compete by a combination of features learned on the case, not by bits."""

    background_bytes: int = 128 << 20
    """Text read for the case's own word statistics; responses first."""

    swapped_bytes: int = 96 << 20
    """Prompt text read to see whose question a response answers that has nothing to do with its own."""

    without_rules: tuple[str, ...] = ()
    """Exclusion rules that are switched off (OPTIONAL_RULES): what they would set aside is judged by the others."""

    template_tenants: int = 4
    """Tenants with near-duplicate system prompts that make these a template: what two of them share is its text."""

    same_question_seeds: float = 0.3
    """Share of the rarer question's fingerprints in the other question above which the two are the same one, where the
    answer is about what both hold (reference 4.6)."""

    interleaved_bytes: int = 256 << 20
    """Text of requests in flight that responses of unusual word order are compared with."""

    aligned_bytes: int = 384 << 20
    """The same for rows of displaced answers and for copies; beyond it the prompts farthest off are not compared."""

    seed: int = 0
    """For the coin that breaks ties between a target and a decoy of equal score."""

    # identifiers by name, canaries, structure
    canaries: Path | None = None
    """CSV of planted strings; None for those that the case holds from an earlier run. Recorded by digest alone."""

    canaries_sha256: str = ""
    """Digest of the canaries in use, empty for none; set by the stage."""

    def in_effect(self) -> Parameters:
        """The same with limits out of reach for the rules that are switched off. Raises UsageError for a rule that
        cannot be."""
        unknown = sorted(set(self.without_rules) - set(OPTIONAL_RULES))
        if unknown:
            raise UsageError(f"only these rules can be switched off: {', '.join(OPTIONAL_RULES)}")
        off = set(self.without_rules)
        return replace(
            self,
            shared_limit=OFF if "shared" in off else self.shared_limit,
            phrase_limit=OFF if "model_phrase" in off else self.phrase_limit,
            template_tenants=OFF if "template" in off else self.template_tenants,
            same_question=float(OFF) if "same_question" in off else self.same_question,
            same_question_seeds=float(OFF) if "same_question" in off else self.same_question_seeds,
        )
