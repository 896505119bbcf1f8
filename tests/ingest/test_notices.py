"""Whatever a reader notices has a sentence that says it to the user."""

from __future__ import annotations

import re
from pathlib import Path

import forensics.ingest
from forensics.ingest.run import NOTICES


def test_every_notice_has_its_sentence_and_no_other_is_listed():
    root = Path(forensics.ingest.__file__).parent
    text = "\n".join(path.read_text() for path in sorted(root.rglob("*.py")))
    given = set(re.findall(r"\bnotice\(\s*\"([a-z_]+)\"", text))
    assert given - set(NOTICES) == set()
    unused = {name for name in NOTICES if len(re.findall(rf"\"{name}\"", text)) < 2}
    assert unused == {"archive_link", "archive_special"}, "made of the kind of the entry"
