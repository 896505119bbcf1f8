"""Which server may a replay talk to? Resolves the name once and refuses what is not this machine, unless allowed.

A loopback address is pinned: requests go to the address that was looked at, so that a name that resolves to something
else a moment later changes nothing. Opens no connection itself.
"""

from __future__ import annotations

import ipaddress
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

from forensics.case.errors import MissingInput, UsageError

PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class Address:
    """Where requests go. `base`: what is connected to; `host`: the name that was asked for, with its port; `shown`:
    how the address is named in results; `name`: for the certificate."""

    base: str
    host: str
    name: str
    shown: str


def address(url: str, *, allow_remote: bool = False) -> Address:
    """The address behind `url` (http or https, host, port, no path but a prefix).

    Raises UsageError where it is no such URL or lies outside this machine and `allow_remote` is not given,
    MissingInput where its name cannot be resolved.
    """
    try:
        parts = urlsplit(url)
        port = parts.port or PORTS.get(parts.scheme, 0)
    except ValueError:
        raise UsageError("--server wants a URL such as http://127.0.0.1:30000") from None
    if parts.scheme not in PORTS or not parts.hostname or parts.query or parts.fragment:
        raise UsageError("--server wants a URL such as http://127.0.0.1:30000")
    if parts.username is not None or parts.password is not None:
        raise UsageError("--server takes no user or password; a key is read from FORENSICS_REPLAY_KEY")
    path = parts.path.rstrip("/")
    host = f"[{parts.hostname}]:{port}" if ":" in parts.hostname else f"{parts.hostname}:{port}"
    found = _addresses(parts.hostname, port)
    loopback = all(ipaddress.ip_address(one).is_loopback for one in found)
    shown = f"{parts.scheme}://{host}{path}"
    if not loopback and not allow_remote:
        raise UsageError(
            f"{shown} is not on this machine: a replay sends prompts and aborts requests there. "
            "Start the server here, forward a port, or give --allow-remote if it is yours to disturb"
        )
    if not loopback:
        return Address(shown, host, parts.hostname, shown)
    first = f"[{found[0]}]" if ":" in found[0] else found[0]
    return Address(f"{parts.scheme}://{first}:{port}{path}", host, parts.hostname, shown)


def _addresses(name: str, port: int) -> list[str]:
    """Every address of a name, IPv4 first, without a zone."""
    try:
        found = socket.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise MissingInput("the name of --server cannot be resolved; give an address or mend the name") from None
    each = {str(row[4][0]).partition("%")[0] for row in found}
    return sorted(each, key=lambda one: (":" in one, one))
