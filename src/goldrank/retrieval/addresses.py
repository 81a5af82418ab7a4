"""Where a host is: looked up once, checked, and connected to at the address that was checked."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Collection

from goldrank.base import ids
from goldrank.retrieval.failures import AskFailed

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
CONNECT_SECONDS = 3.0


def is_public(address: IpAddress) -> bool:
    """Whether an address is one of the open internet.

    >>> [is_public(ipaddress.ip_address(text)) for text in ("8.8.8.8", "10.0.0.1", "::ffff:127.0.0.1")]
    [True, False, False]
    """
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is not None:
            return is_public(inner)
        if address in _TRANSLATED:
            return is_public(ipaddress.IPv4Address(int(address) & 0xFFFFFFFF))
    return address.is_global and not address.is_multicast


_TRANSLATED = ipaddress.ip_network("64:ff9b::/96")


def is_allowed(host: str, address: IpAddress, allow_private: Collection[str]) -> bool:
    """Whether a host that an engine file names may be at an address.

    This machine is allowed where the file names it as such; other private addresses where `allow_private` has the host.
    """
    if is_public(address) or host.lower() in {name.lower() for name in allow_private}:
        return True
    return address.is_loopback and _names_this_machine(host)


def _names_this_machine(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


async def checked_address(host: str, port: int, allow_private: Collection[str]) -> str:
    """The address of a host that takes connections; one that is not allowed is a failure."""
    try:
        entries = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise AskFailed("connect", f"{ids.show(host)} cannot be found: {error}") from None

    addresses = list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in entries))
    for address in addresses:
        if not is_allowed(host, ipaddress.ip_address(address), allow_private):
            message = f"{ids.show(host)} is at the private address {address}"
            hint = f"if that is meant: --allow-private {ids.show(host)}"
            raise AskFailed("address-refused", f"{message}; {hint}")

    if len(addresses) > 1:
        for address in addresses:
            if await _answers(address, port):
                return address
    return addresses[0]


async def _answers(address: str, port: int) -> bool:
    """Whether a server takes connections there."""
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            _, writer = await asyncio.open_connection(address, port)
    except OSError:
        return False
    writer.close()
    return True
