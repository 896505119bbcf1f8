"""The user's own profiles, from files to texts that a run is given; whatever is wrong with one is said here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from forensics.case.errors import MissingInput
from forensics.ingest import regex_check
from forensics.ingest.profile_parts import Spec
from forensics.ingest.profile_spec import ProfileError, read_spec

_MOST_BYTES = 1 << 20


def read_profiles(paths: Iterable[Path]) -> tuple[str, ...]:
    """The TOML texts of the files, each of them a profile. Raises MissingInput and ProfileError."""
    texts: list[str] = []
    for path in paths:
        if not path.is_file():
            raise MissingInput(f"there is no file {path}; --profile needs a TOML file")
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
        if len(data) > _MOST_BYTES:
            raise ProfileError(f"{path.name} is over 1 MiB; that is no profile")
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise ProfileError(f"{path.name} is not UTF-8") from None
        checked(text, path.name)
        texts.append(text)
    return tuple(texts)


def check_profiles(texts: Sequence[str]) -> None:
    """Raises ProfileError where one of the texts is no sound profile."""
    for number, text in enumerate(texts, 1):
        checked(text, f"profile {number}")


@cache
def checked(text: str, name: str) -> Spec:
    """The profile in `text`, with every expression tried on hostile lines. Raises ProfileError."""
    spec = read_spec(text, name)
    rule = spec.text
    tried: list[tuple[str, re.Pattern[str], tuple[str, ...]]] = [
        (place, regex, examples)
        for place, regexes, examples in (
            ("matches", tuple(spec.regexes), ()),
            ("text.regex", rule.patterns if rule else (), rule.examples if rule else ()),
            ("text.structure", rule.structure if rule else (), ()),
        )
        for regex in regexes
    ]
    for place, regex, examples in tried:
        if regex_check.is_slow(regex, examples):
            raise ProfileError(
                f"{name}: {place}: an expression is too slow on hostile lines; write [^...]* for .*, possessive "
                "quantifiers (*+, ++), and no repeat inside a repeat"
            )
    return spec
