"""Cloudflare AI Gateway's encrypted fields: `{"type": "encrypted", "key", "iv", "data"}`, all base64.

AES-256-GCM (the tag stands at the end of the data); its key is wrapped by RSA-OAEP with SHA-256 to the customer's
public key. They can be read only with the private key that the user names; `cryptography` is imported only then.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from forensics.case.errors import MissingInput, UsageError
from forensics.ingest.decode import Encrypted
from forensics.ingest.record import FileContext

_MOST_KEY_BYTES = 1 << 20


@dataclass(frozen=True)
class PrivateKey:
    """A key by the SHA-256 of its public half. Where its file lies is never written down."""

    fingerprint: str
    path: str = field(repr=False)


def key_of(path: Path) -> PrivateKey:
    """The key in a PEM file without a passphrase. Raises MissingInput and UsageError."""
    if not path.is_file():
        raise MissingInput(f"there is no file {path}; --private-key needs a PEM file")
    serialization = _serialization()
    public = _load(str(path)).public_key()
    encoded = public.public_bytes(serialization.Encoding.DER, serialization.PublicFormat.SubjectPublicKeyInfo)
    return PrivateKey(hashlib.sha256(encoded).hexdigest(), str(path))


def opened(value: Any, context: FileContext) -> Any:
    """The text of an encrypted field; `Encrypted` where no key opens it; anything else as it is."""
    if not isinstance(value, dict):
        return value
    if value.keys() <= {"type", "iv", "data"} and isinstance(value.get("data"), str):
        return value["data"]  # without a key the data are plain
    if value.get("type") != "encrypted":
        return value
    parts: list[bytes] = []
    for name in ("key", "iv", "data"):
        part = value.get(name)
        if not isinstance(part, str):
            return Encrypted(value)
        try:
            parts.append(base64.b64decode(part, validate=True))
        except (binascii.Error, ValueError):
            return Encrypted(value)
    for key in context.private_keys:
        text = _decrypted(key, *parts)
        if text is not None:
            return text
    if context.private_keys:
        context.notice("key_does_not_fit")
    return Encrypted(value)


def _decrypted(key: PrivateKey, wrapped: bytes, iv: bytes, data: bytes) -> str | None:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import padding
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    sha256 = hashes.SHA256()
    try:
        secret = _load(key.path).decrypt(wrapped, padding.OAEP(padding.MGF1(sha256), sha256, None))
        text: str = AESGCM(secret).decrypt(iv, data, None).decode("utf-8")
    except (ValueError, InvalidTag):
        return None
    return text


def _serialization() -> Any:
    try:
        from cryptography.hazmat.primitives import serialization
    except ImportError:
        raise UsageError(
            "--private-key needs the package `cryptography`: pip install 'leak-forensics[decrypt]'"
        ) from None
    return serialization


@cache
def _load(path: str) -> Any:
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

    with Path(path).open("rb") as file:
        data = file.read(_MOST_KEY_BYTES)
    try:
        key = _serialization().load_pem_private_key(data, None)
    except (ValueError, TypeError):
        raise UsageError("the private key cannot be read; it must be PEM, RSA, and without a passphrase") from None
    if not isinstance(key, RSAPrivateKey):
        raise UsageError("the private key is not RSA; Cloudflare wraps its keys with RSA-OAEP only")
    return key
