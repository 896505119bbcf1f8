"""Who vouches for these bytes? Detached Ed25519 signatures (RFC 8032). Does not say which key is to be trusted.

Keys are files that `openssl genpkey -algorithm ed25519` or `ssh-keygen -t ed25519` makes, without a passphrase. Needs
the `sign` extra (`cryptography`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forensics.case.errors import MissingInput, UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

LONGEST_KEY = 1 << 16  # bytes; a key file is a few hundred


class NotAKey(UsageError):
    """What was given for a public key is none."""


@dataclass(frozen=True)
class Signature:
    """64 bytes of signature, the public key as PEM, and the SHA-256 of the bare 32-byte key in hex."""

    value: bytes
    public_key: bytes
    fingerprint: str


class Signer:
    """A private key that was read. Raises MissingInput without the file, UsageError for anything but Ed25519."""

    def __init__(self, path: Path) -> None:
        ed25519, serialization = _library()
        data = _read(path)
        ssh = b"OPENSSH PRIVATE KEY" in data
        try:
            load = serialization.load_ssh_private_key if ssh else serialization.load_pem_private_key
            key = load(data, password=None)
        except Exception:  # its own classes differ by format; none of their messages helps more
            raise UsageError(
                f"{path} is not a private key without a passphrase; `openssl genpkey -algorithm ed25519 -out FILE` "
                "makes one"
            ) from None
        if not isinstance(key, ed25519.Ed25519PrivateKey):
            raise UsageError(f"{path} is a key of another kind; Ed25519 is needed")
        self._key: Ed25519PrivateKey = key

    @property
    def fingerprint(self) -> str:
        """SHA-256 of the bare public key, hex."""
        return _fingerprint(self._key.public_key())

    def sign(self, data: bytes) -> Signature:
        """Sign `data` as it is."""
        _, serialization = _library()
        public = self._key.public_key()
        pem = public.public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        return Signature(self._key.sign(data), pem, _fingerprint(public))


def holds(data: bytes, signature: bytes, public_key: bytes) -> tuple[bool, str]:
    """Whether `signature` is that of `data` by the key in `public_key` (PEM or OpenSSH), and that key's fingerprint.

    Raises NotAKey where `public_key` is no Ed25519 public key.
    """
    ed25519, serialization = _library()
    try:
        ssh = public_key.startswith(b"ssh-")
        key = (serialization.load_ssh_public_key if ssh else serialization.load_pem_public_key)(public_key)
    except Exception:
        raise NotAKey("the public key cannot be read; PEM or OpenSSH is needed") from None
    if not isinstance(key, ed25519.Ed25519PublicKey):
        raise NotAKey("the public key is of another kind; Ed25519 is needed")
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(signature, data)
    except InvalidSignature:
        return False, _fingerprint(key)
    return True, _fingerprint(key)


def read_public_key(path: Path) -> bytes:
    """The bytes of a public key file. Raises MissingInput where there is none."""
    return _read(path)


def _fingerprint(key: Ed25519PublicKey) -> str:
    return hashlib.sha256(key.public_bytes_raw()).hexdigest()


def _read(path: Path) -> bytes:
    if not path.is_file():
        raise MissingInput(f"there is no key file {path}")
    with path.open("rb") as file:
        return file.read(LONGEST_KEY)


def _library() -> tuple[Any, Any]:
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        raise UsageError("signatures need the extra `sign`: pip install 'leak-forensics[sign]'") from None
    return ed25519, serialization
