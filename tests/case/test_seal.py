"""A sealed case shows every change, is written to by no verb, and a signature says whose seal it is."""

from __future__ import annotations

import stat
from pathlib import Path

import orjson
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ed25519, rsa
from typer.testing import CliRunner

from forensics.case import custody
from forensics.case.errors import HashMismatch, MissingInput, Sealed, UsageError
from forensics.case.explain import explain
from forensics.case.manifest import sha256_of
from forensics.case.review import review
from forensics.case.seal import seal
from forensics.case.signature import Signer, holds
from forensics.case.store import Case
from forensics.case.verify import verify
from forensics.cli.main import app


def _problems(root: Path, public_key: bytes | None = None) -> set[tuple[str, str]]:
    with Case.open(root, read_only=True) as case:
        return {(problem.check, problem.subject) for problem in verify(case, public_key).problems}


def _notes(root: Path) -> str:
    with Case.open(root, read_only=True) as case:
        return " ".join(verify(case).notes)


def _unlock(path: Path) -> Path:
    path.chmod(0o600)
    return path


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """PEM and OpenSSH keys of one signer, the public key of another, and an RSA key."""
    folder = tmp_path_factory.mktemp("keys")
    mine, other = ed25519.Ed25519PrivateKey.generate(), ed25519.Ed25519PrivateKey.generate()
    none = serialization.NoEncryption()
    pem, public = serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    files = {
        "mine.pem": mine.private_bytes(pem, serialization.PrivateFormat.PKCS8, none),
        "mine.ssh": mine.private_bytes(pem, serialization.PrivateFormat.OpenSSH, none),
        "mine.pub": mine.public_key().public_bytes(pem, public),
        "mine.ssh.pub": mine.public_key().public_bytes(
            serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH
        ),
        "other.pub": other.public_key().public_bytes(pem, public),
        "rsa.pem": rsa.generate_private_key(65537, 2048).private_bytes(pem, serialization.PrivateFormat.PKCS8, none),
        "locked.pem": mine.private_bytes(
            pem, serialization.PrivateFormat.PKCS8, serialization.BestAvailableEncryption(b"secret")
        ),
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    return folder


def test_a_sealed_case_is_as_it_was_and_can_only_be_read(case_root: Path) -> None:
    made = seal(case_root, "R. Iqbal", "handed to counsel")
    body = orjson.loads((case_root / "seal.json").read_bytes())
    assert (body["sealed_by"], body["reason"], body["signer"]) == ("R. Iqbal", "handed to counsel", None)
    assert body["evidence"] == [{"name": "engine.jsonl", "sha256": "ab" * 32, "bytes": 1000}]
    assert {"path": "case.duckdb", "sha256": sha256_of(case_root / "case.duckdb"), "bytes": (case_root / "case.duckdb").stat().st_size} in body["files"]  # fmt: skip
    entries = list(custody.read(case_root / "custody.jsonl"))
    assert [entry.action for entry in entries[-2:]] == ["seal", "sealed"]
    assert body["custody"] == {"entries": len(entries) - 1, "head": entries[-2].this}
    assert entries[-1].sha256 == made.sha256 == sha256_of(case_root / "seal.json")
    assert _problems(case_root) == set()
    assert "not signed" in _notes(case_root)
    writable = {
        path.relative_to(case_root).as_posix()
        for path in [case_root, *case_root.rglob("*")]
        if path.stat().st_mode & stat.S_IWUSR
    }
    assert writable == {"custody.jsonl", "restricted/spill"}


def test_writing_to_a_sealed_case_is_refused(case_root: Path) -> None:
    seal(case_root, "R. Iqbal", "done")
    with pytest.raises(Sealed, match="is sealed"):
        Case.open(case_root)
    with pytest.raises(Sealed):
        Case.create(case_root)
    with pytest.raises(Sealed):
        seal(case_root, "R. Iqbal", "again")
    with Case.open(case_root, read_only=True) as case, pytest.raises(Sealed):
        case.write("out/numbers.json", b"{}")
    assert _problems(case_root) == set()


@pytest.mark.parametrize(
    "verb",
    [
        ("ingest", "{case}/seal.json", "--case", "{case}"),
        ("run", "{case}/seal.json", "--case", "{case}"),
        ("attribute", "{case}"),
        ("timeline", "{case}"),
        ("scope", "{case}"),
        ("report", "{case}"),
        ("notify", "draft", "{case}"),
        ("notify", "check", "{case}"),
        ("notify", "release", "{case}", "--prepared-by", "x", "--approved-by", "y"),
        ("controls", "{case}"),
        ("reference", "add", "{case}", "{case}/seal.json"),
        ("replay", "plan", "{case}"),
        ("review", "{case}", "f00d0001", "--decision", "accept", "--reason", "x", "--name", "y"),
        ("case", "export", "{case}"),
        ("case", "seal", "{case}", "--by", "x", "--reason", "y"),
    ],
    ids=lambda verb: " ".join(verb[:2]) if verb[0] in ("case", "notify", "reference", "replay") else verb[0],
)
def test_every_verb_that_writes_says_so(case_root: Path, verb: tuple[str, ...]) -> None:
    seal(case_root, "R. Iqbal", "done")
    before = {path: path.read_bytes() for path in case_root.rglob("*") if path.is_file()}
    done = CliRunner().invoke(app, [part.format(case=case_root) for part in verb])
    assert done.exit_code == 2, done.output
    assert "is sealed" in done.stderr
    assert {path: path.read_bytes() for path in case_root.rglob("*") if path.is_file()} == before


def test_looks_at_a_sealed_case_are_allowed_and_logged(case_root: Path) -> None:
    seal(case_root, "R. Iqbal", "done")
    with Case.open(case_root, read_only=True) as case:
        assert explain(case, "f00d0001", reveal=True).recipient_passage is not None
    assert [entry.action for entry in custody.read(case_root / "custody.jsonl")][-1] == "reveal"
    assert _problems(case_root) == set()


def test_changes_show(case_root: Path) -> None:
    (case_root / "restricted" / "note.txt").write_text("kept")
    (case_root / "restricted" / "note.txt").chmod(0o600)
    (case_root / "restricted" / "gone.txt").write_text("gone")
    (case_root / "restricted" / "gone.txt").chmod(0o600)
    seal(case_root, "R. Iqbal", "done")
    (case_root / "restricted").chmod(0o700)
    _unlock(case_root / "restricted" / "note.txt").write_text("kepT")
    (case_root / "restricted" / "gone.txt").unlink()
    (case_root / "restricted" / "new.txt").write_text("new")
    (case_root / "restricted" / "new.txt").chmod(0o600)
    assert _problems(case_root) == {("seal", f"restricted/{name}.txt") for name in ("note", "gone", "new")}


def test_an_edited_or_renewed_seal_shows(case_root: Path) -> None:
    seal(case_root, "R. Iqbal", "done")
    path = _unlock(case_root / "seal.json")
    body = orjson.loads(path.read_bytes())
    body["files"] = []
    path.write_bytes(orjson.dumps(body))
    found = _problems(case_root)
    assert ("seal", "seal.json") in found and ("seal", "case.duckdb") in found
    path.write_bytes(b"{")
    assert _problems(case_root) == {("seal", "seal.json")}
    path.write_bytes(b'{"schema": "forensics.seal/1.0"}')
    assert _problems(case_root) == {("seal", "seal.json")}


def test_a_shortened_custody_log_shows(case_root: Path) -> None:
    with Case.open(case_root) as case:
        case.record("test", "x")
    seal(case_root, "R. Iqbal", "done")
    log = case_root / "custody.jsonl"
    log.write_bytes(b"".join(line + b"\n" for line in log.read_bytes().split(b"\n")[:1]))
    assert {("seal", "custody.jsonl"), ("seal", "seal.json")} <= _problems(case_root)


def test_a_case_with_problems_is_not_sealed(case_root: Path) -> None:
    path = case_root / "restricted" / "open.txt"
    path.write_text("x")
    path.chmod(0o644)
    with pytest.raises(HashMismatch, match="case verify"):
        seal(case_root, "R. Iqbal", "done")
    assert not (case_root / "seal.json").exists()
    seal(case_root, "R. Iqbal", "as found", with_problems=True)
    body = orjson.loads((case_root / "seal.json").read_bytes())
    assert [problem["subject"] for problem in body["problems"]] == ["restricted/open.txt"]


@pytest.mark.parametrize(("name", "reason"), [("", "why"), ("who", " ")])
def test_a_seal_needs_a_name_and_a_reason(case_root: Path, name: str, reason: str) -> None:
    with pytest.raises(UsageError):
        seal(case_root, name, reason)


@pytest.mark.parametrize("key", ["mine.pem", "mine.ssh"])
def test_a_signed_seal_says_whose_it_is(case_root: Path, keys: Path, key: str) -> None:
    made = seal(case_root, "R. Iqbal", "done", keys / key)
    assert made.signer is not None and made.signer in _notes(case_root)
    assert _problems(case_root) == set()
    for public in ("mine.pub", "mine.ssh.pub"):
        assert _problems(case_root, (keys / public).read_bytes()) == set()
    assert _problems(case_root, (keys / "other.pub").read_bytes()) == {("signature", "seal.sig")}


def test_another_program_accepts_the_signature(case_root: Path, keys: Path) -> None:
    """The check of the library itself, over the bytes of the file, with the key beside it."""
    seal(case_root, "R. Iqbal", "done", keys / "mine.pem")
    key = serialization.load_pem_public_key((case_root / "seal.pub").read_bytes())
    assert isinstance(key, ed25519.Ed25519PublicKey)
    key.verify((case_root / "seal.sig").read_bytes(), (case_root / "seal.json").read_bytes())


def test_a_lost_or_foreign_signature_shows(case_root: Path, keys: Path) -> None:
    seal(case_root, "R. Iqbal", "done", keys / "mine.pem")
    case_root.chmod(0o700)
    signature = (case_root / "seal.sig").read_bytes()
    _unlock(case_root / "seal.sig").write_bytes(bytes(64))
    assert _problems(case_root) == {("signature", "seal.sig")}
    (case_root / "seal.sig").unlink()
    assert _problems(case_root) == {("signature", "seal.sig")}
    (case_root / "seal.sig").write_bytes(signature)
    (case_root / "seal.sig").chmod(0o600)
    _unlock(case_root / "seal.pub").write_bytes((keys / "other.pub").read_bytes())
    assert _problems(case_root) == {("signature", "seal.sig")}


def test_a_damaged_key_beside_the_seal_is_a_problem_and_no_error(case_root: Path, keys: Path) -> None:
    seal(case_root, "A. Lind", "retention", keys / "mine.pem")
    case_root.chmod(0o700)
    _unlock(case_root / "seal.pub").write_bytes(b"no key")
    assert ("signature", "seal.pub") in _problems(case_root)
    assert ("signature", "seal.pub") not in _problems(case_root, (keys / "mine.pub").read_bytes())
    with pytest.raises(UsageError):
        _problems(case_root, b"no key")


def test_an_unsigned_case_is_not_taken_for_signed(case_root: Path, keys: Path) -> None:
    assert ("seal", "seal.json") in _problems(case_root, (keys / "mine.pub").read_bytes())
    seal(case_root, "R. Iqbal", "done")
    assert _problems(case_root, (keys / "mine.pub").read_bytes()) == {("signature", "seal.sig")}


def test_keys_that_cannot_serve(tmp_path: Path, keys: Path) -> None:
    for name in ("rsa.pem", "locked.pem", "mine.pub"):
        with pytest.raises(UsageError):
            Signer(keys / name)
    with pytest.raises(MissingInput):
        Signer(tmp_path / "none")
    with pytest.raises(UsageError):
        holds(b"", b"", b"no key")


def test_decisions_come_before_the_seal(case_root: Path) -> None:
    with Case.open(case_root) as case:
        review(case, "f00d0001", "accept", "looked at both", "R. Iqbal")
    seal(case_root, "R. Iqbal", "done")
    assert _problems(case_root) == set()
