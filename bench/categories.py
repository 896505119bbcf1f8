"""How well do detectors label categories? The shipped ones and, where they are installed, the libraries we compared.

    python bench/categories.py [FILE]

Each text of the labelled file (default tests/text/sensitive_labelled.toml) counts once per category: found, missed,
false. Peers are asked for the categories they have; the others are no misses of theirs. presidio-analyzer runs its
pattern recognisers only, without a language model. Install peers with `pip install presidio-analyzer python-stdnum`.
"""

from __future__ import annotations

import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path

Found = set[str]
Detector = Callable[[str], Found]


def ours(text: str) -> Found:
    from forensics.text.sensitive import labels

    return {label.category for label in labels(text)}


def detect_secrets_everything() -> tuple[Detector, Found]:
    """All plugins of detect-secrets, those by entropy and by keyword included."""
    from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class

    plugins = [
        made() for made in get_mapping_from_secret_type_to_class().values() if made.__name__ != "IPPublicDetector"
    ]

    def found(text: str) -> Found:
        lines = text.split("\n")
        return {"credential" for plugin in plugins for line in lines if any(True for _ in plugin.analyze_string(line))}

    return found, {"credential"}


def phonenumbers_alone() -> tuple[Detector, Found]:
    """Every region that we ask, with no word before the number."""
    import phonenumbers

    def found(text: str) -> Found:
        regions = (None, "US", "GB", "DE", "FR", "CN", "JP")
        hit = any(True for region in regions for _ in phonenumbers.PhoneNumberMatcher(text, region))
        return {"phone"} if hit else set()

    return found, {"phone"}


def stdnum_alone() -> tuple[Detector, Found]:
    """Modules of python-stdnum over every token that could be a number."""
    import re

    from stdnum import iban, luhn
    from stdnum.br import cpf
    from stdnum.cn import ric
    from stdnum.de import idnr
    from stdnum.es import dni
    from stdnum.fr import nir
    from stdnum.gb import nhs
    from stdnum.in_ import aadhaar
    from stdnum.us import ssn

    national = (cpf, ric, idnr, dni, nir, nhs, aadhaar, ssn)

    def found(text: str) -> Found:
        result: Found = set()
        for match in re.finditer(r"[A-Z0-9](?:[ .-]?[A-Z0-9]){8,33}", text):
            token = match.group()
            if iban.is_valid(token) or (
                re.fullmatch(r"[\d -]{13,23}", token) and luhn.is_valid(re.sub(r"\D", "", token))
            ):
                result.add("payment")
            if any(module.is_valid(token) for module in national):
                result.add("government_id")
        return result

    return found, {"payment", "government_id"}


def presidio_patterns() -> tuple[Detector, Found]:
    """Presidio's pattern recognisers, called one by one: no language model, no context words."""
    from presidio_analyzer import predefined_recognizers as shipped
    from presidio_analyzer.nlp_engine import NlpArtifacts

    kinds = {
        "CreditCardRecognizer": "payment", "IbanRecognizer": "payment", "EmailRecognizer": "email",
        "PhoneRecognizer": "phone", "UsSsnRecognizer": "government_id", "NhsRecognizer": "government_id",
        "UkNinoRecognizer": "government_id", "EsNifRecognizer": "government_id", "InAadhaarRecognizer": "government_id",
        "UsPassportRecognizer": "government_id",
    }  # fmt: skip
    recognizers = [(getattr(shipped, name)(), kind) for name, kind in kinds.items() if hasattr(shipped, name)]

    def found(text: str) -> Found:
        result: Found = set()
        nothing = NlpArtifacts([], [], [], [], None, "en") if NlpArtifacts else None
        for recognizer, kind in recognizers:
            hits = recognizer.analyze(text, recognizer.supported_entities, nothing)
            if any(hit.score >= 0.4 for hit in hits or ()):
                result.add(kind)
        return result

    return found, {"payment", "email", "phone", "government_id"}


def measure(name: str, detector: Detector, able: Found, texts: Iterable[dict[str, object]]) -> None:
    counts: Counter[str] = Counter()
    started = time.process_time()
    for item in texts:
        want, got = set(item["want"]) & able, detector(str(item["text"])) & able  # type: ignore[call-overload]
        counts["found"] += len(want & got)
        counts["missed"] += len(want - got)
        counts["false"] += len(got - want)
    seconds = time.process_time() - started
    recall = counts["found"] / max(1, counts["found"] + counts["missed"])
    precision = counts["found"] / max(1, counts["found"] + counts["false"])
    figures = f"found {counts['found']:3} missed {counts['missed']:3} false {counts['false']:3}"
    print(f"{name:32} {figures}  recall {recall:.2f}  precision {precision:.2f}  {seconds:.2f} CPU s")


def main() -> None:
    from forensics.text.sensitive import CATEGORIES

    path = (
        Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "tests/text/sensitive_labelled.toml"
    )
    texts = tomllib.loads(path.read_text(encoding="utf-8"))["text"]
    for part in ("dev", "held"):
        chosen = [item for item in texts if item["part"] == part]
        print(f"{part}: {len(chosen)} texts")
        measure("shipped detectors", ours, set(CATEGORIES), chosen)
        for make in (detect_secrets_everything, phonenumbers_alone, stdnum_alone, presidio_patterns):
            try:
                detector, able = make()
            except ImportError:
                print(f"{make.__name__:32} not installed")
                continue
            measure(f"{make.__name__} only", detector, able, chosen)
            measure("   shipped, same categories", ours, able, chosen)


if __name__ == "__main__":
    main()
