"""The knobs of attribution, each with what it implies. They are recorded with every run."""

from __future__ import annotations

from dataclasses import dataclass


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

    plain_bits: float = 12.0
    """A text whose rarest word is worth less holds only everyday words, as phrases do that anybody may write; for
    `probable` without a q-value it needs"""

    plain_net_bits: float = 80.0
    """this many net bits."""

    possible_q: float = 0.2
    """Largest q-value at which a match is still reported."""

    identifier_bits: float = 10.0
    """Net bits for a `probable` identifier: its search is charged by tokens, and phrases are no rivals there."""

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

    background_bytes: int = 128 << 20
    """Text read for the case's own word statistics; responses first."""

    swapped_bytes: int = 96 << 20
    """Prompt text read to see whose question a response answers that has nothing to do with its own."""

    aligned_bytes: int = 384 << 20
    """The same for rows of displaced answers and for copies; beyond it the prompts farthest off are not compared."""

    seed: int = 0
    """For the coin that breaks ties between a target and a decoy of equal score."""
