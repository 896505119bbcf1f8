"""Which exports are there, and which bytes do they come to? Renders and checks them; writes only what passed.

Every export leaves the house: it holds pseudonyms and no text of a log, and goes through the same egress check as the
report. Nothing in an export comes from the clock, so the same case gives the same bytes.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from forensics.case.bag import Content, write_bag
from forensics.case.errors import MissingInput, UsageError
from forensics.case.pseudonyms import Pseudonyms, load_pseudonyms
from forensics.case.seal import files_of
from forensics.case.signature import Signer
from forensics.case.store import Case
from forensics.report.exports import ocsf, timeline, veris
from forensics.report.exports.facts import Facts, load_facts
from forensics.report.gate import allowed_texts, blocked, held_back

SINGLE = {"ocsf": "ocsf.json", "veris": "veris.json", "timesketch": "timeline.jsonl", "perfetto": "trace.json"}
BAG = "bag"
FORMATS = (*SINGLE, "bagit")
NEED_A_FINDING = ("ocsf", "veris")
DEFAULT_FOLDER = "export"
# Words of ours that stand in exports.
OWN_WORDS = (
    ocsf.SENT,
    ocsf.TITLE,
    ocsf.PATTERN,
    ocsf.BASIS,
    veris.SUMMARY,
    veris.DISCLOSURE,
    veris.ACTOR,
    veris.ERROR,
    veris.LABELS,
    veris.NOT_BANDED,
)


@dataclass(frozen=True)
class Exported:
    """A file or a bag that was written: its bytes (a bag's payload) and its digest (a bag's tag manifest)."""

    format: str
    path: str
    bytes: int
    sha256: str


def export(
    case: Case,
    formats: Sequence[str],
    folder: Path | None = None,
    *,
    key: Path | None = None,
    whole: bool = False,
    force: bool = False,
) -> tuple[list[Exported], list[str]]:
    """Write `formats` (all single files where none is named) to `folder`, CASE/export by default; returns what was
    written and warnings.

    `key` signs a bag. `whole` puts the entire case into the bag, with texts and real names: for whoever takes the case
    over, never for anybody else. Raises EgressBlocked where a file holds text of a tenant, UsageError where a file of
    another content is in the way and `force` was not given, or where a finding is asked of a case without one.
    """
    chosen = list(dict.fromkeys(formats)) or list(SINGLE)
    strange = sorted(set(chosen) - set(FORMATS))
    if strange:
        raise UsageError(f"there is no such format; there are {', '.join(FORMATS)}")
    if (key is not None or whole) and "bagit" not in chosen:
        raise UsageError("--key and --whole belong to --format bagit")
    signer = Signer(key) if key is not None else None
    target = folder if folder is not None else case.root / DEFAULT_FOLDER
    if folder is None:
        case.check_writable()
        force = True  # what stands there is ours
    pseudonyms = load_pseudonyms(case)
    facts = load_facts(case, pseudonyms)
    warnings: list[str] = []
    if facts.surest is None:
        asked = [name for name in chosen if name in NEED_A_FINDING and name in formats]
        if asked:
            raise UsageError(f"no response is possible or better, so there is no finding to export as {asked[0]}")
        chosen = [name for name in chosen if name not in NEED_A_FINDING]
        warnings.append("no response is possible or better: there is no finding to export as OCSF or VERIS")
    bagging = "bagit" in chosen and not whole
    # A bag that leaves the house holds the report and every single export that there can be.
    wanted = [n for n in SINGLE if n in chosen or (bagging and (facts.surest is not None or n not in NEED_A_FINDING))]
    files = {SINGLE[name]: _single(case, pseudonyms, facts, name) for name in wanted}
    bagged = _reported(case) | files if bagging else {}
    _check(case, bagged or files)
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    written = []
    for name in chosen:
        if name in SINGLE:
            written.append(_write(target / SINGLE[name], name, files[SINGLE[name]], force=force))
    if "bagit" in chosen:
        payload: dict[str, Content] = dict(bagged)
        if whole:
            payload = {path.relative_to(case.root).as_posix(): path for path in _whole(case.root)}
        written.append(_write_bag(target / BAG, payload, facts, signer, whole=whole, force=force))
    for item in written:
        what = "the whole case, unchecked" if whole and item.format == "bagit" else "pseudonyms only, egress checked"
        place = "in the case" if folder is None else "outside the case"
        case.record("export", Path(item.path).name, item.sha256, f"{item.format}, {place}: {what}")
    return written, warnings


def _single(case: Case, pseudonyms: Pseudonyms, facts: Facts, name: str) -> bytes:
    if name == "ocsf":
        return ocsf.document(facts)
    if name == "veris":
        return veris.document(facts)
    if name == "timesketch":
        return timeline.document(case, pseudonyms)
    path = case.out / "trace.json"
    if not path.is_file():
        raise MissingInput(f"out/trace.json is not there; `forensics scope {case.root}` writes it")
    return path.read_bytes()


def _reported(case: Case) -> dict[str, bytes]:
    """The report as it lies there."""
    found = {
        path.relative_to(case.root).as_posix(): path.read_bytes()
        for path in sorted((case.root / "report").rglob("*"))
        if path.is_file() and not path.is_symlink()
    }
    if not found:
        raise MissingInput(f"there is no report yet; `forensics report {case.root}` writes it")
    return found


def _whole(root: Path) -> list[Path]:
    """Every plain file of the case, its seal and its custody log included, earlier exports not."""
    own = [root / name for name in ("custody.jsonl", "seal.json", "seal.sig", "seal.pub") if (root / name).is_file()]
    files = [path for path in files_of(root) if not path.is_symlink()]
    return sorted({*own, *(path for path in files if path.relative_to(root).parts[0] != DEFAULT_FOLDER)})


def _check(case: Case, files: dict[str, bytes]) -> None:
    """Nothing is left unchecked: a file of a kind that cannot be read holds everything back."""
    hits = held_back(case, files, (*allowed_texts(case).texts, *OWN_WORDS))
    if hits:
        raise blocked(hits)


def _write(path: Path, name: str, data: bytes, *, force: bool) -> Exported:
    if path.exists() and not force and (not path.is_file() or path.read_bytes() != data):
        raise UsageError(f"{path} exists with another content; --force replaces it")
    partial = path.with_name(path.name + ".partial")
    partial.write_bytes(data)
    partial.chmod(0o600)
    partial.replace(path)
    return Exported(name, str(path), len(data), hashlib.sha256(data).hexdigest())


def _write_bag(
    folder: Path, payload: dict[str, Content], facts: Facts, signer: Signer | None, *, whole: bool, force: bool
) -> Exported:
    if force and (folder / "bagit.txt").is_file():
        import shutil

        shutil.rmtree(folder)  # a bag of ours, or somebody's: it says so itself
    info = [
        ("External-Identifier", facts.case_ref),
        (
            "External-Description",
            "the whole case, with texts and names: confidential" if whole else "pseudonyms, no texts",
        ),
    ]

    def sign(manifest: bytes) -> dict[str, bytes]:
        if signer is None:
            return {}
        signature = signer.sign(manifest)
        return {"manifest-sha256.txt.sig": signature.value, "signer.pem": signature.public_key}

    bag = write_bag(folder, payload, info, sign)
    return Exported("bagit", str(folder), bag.bytes, bag.sha256)
