"""Who may be connected: how many sessions, how many of one address, and who makes room for a new connection.

Anybody can open a connection without logging in, so those that have not logged in have slots of their own and
never take those of sessions. Where there are too many, one is closed for a new one: of the address that has
most, the one that has waited longest. So whoever opens many closes their own.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from dataclasses import dataclass

from kanon_pg.errors import KanonError


class TooManyClients(KanonError):
    """There is no slot for one more session; the words are PostgreSQL's."""

    sqlstate = "53300"

    def __init__(self, hint: str | None = None) -> None:
        super().__init__("sorry, too many clients already", hint=hint)


@dataclass(eq=False, slots=True)
class ConnectionSlot:
    """The slot of a connection from an address, as `client_address` gives it; a session's once logged in."""

    address: str
    logged_in: bool = False


class ConnectionSlots:
    """Counts sessions and connections that have not logged in; the limits are those of `ClientLimits`."""

    def __init__(self, connections: int, per_address: int, unauthenticated: int) -> None:
        self._connections = connections
        self._per_address = per_address
        self._most_unauthenticated = unauthenticated
        self._unauthenticated: dict[ConnectionSlot, None] = {}  # in the order in which they came
        self._sessions: Counter[str] = Counter()

    def enter(self, address: str) -> tuple[ConnectionSlot, ConnectionSlot | None]:
        """Give a new connection a slot.

        Returns
        -------
        tuple of ConnectionSlot and (ConnectionSlot or None)
            Its slot, and the one whose connection has to be closed for it; that one counts no more.
        """
        entered = ConnectionSlot(address)
        leaving = None
        if len(self._unauthenticated) >= self._most_unauthenticated:
            leaving = self._longest_waiting(address)
            del self._unauthenticated[leaving]
        self._unauthenticated[entered] = None
        return entered, leaving

    def _longest_waiting(self, new_address: str) -> ConnectionSlot:
        of_each = Counter(slot.address for slot in self._unauthenticated)
        of_each[new_address] += 1
        most = max(of_each[slot.address] for slot in self._unauthenticated)
        return next(slot for slot in self._unauthenticated if of_each[slot.address] == most)

    def require_free(self, address: str) -> None:
        """Refuse a login while so many have logged in already, at all or from this address.

        Raises
        ------
        TooManyClients
            If so many have logged in already, at all or from this address.
        """
        if self._sessions.total() >= self._connections:
            raise TooManyClients
        if self._sessions[address] >= self._per_address:
            raise TooManyClients(
                f"{self._per_address} are connected from this address: close some, or raise --per-address."
            )

    def log_in(self, slot: ConnectionSlot) -> None:
        """Turn a slot into a session's.

        Raises
        ------
        TooManyClients
            As `require_free`; the slot stays as it is then. Also if it was taken away.
        """
        self.require_free(slot.address)
        if slot not in self._unauthenticated:
            raise TooManyClients
        del self._unauthenticated[slot]
        slot.logged_in = True
        self._sessions[slot.address] += 1

    def leave(self, slot: ConnectionSlot) -> None:
        """Give a slot back; one that was taken away is gone already."""
        self._unauthenticated.pop(slot, None)
        if slot.logged_in:
            slot.logged_in = False
            self._sessions[slot.address] -= 1
            self._sessions += Counter()  # forget addresses without sessions


def client_address(host: str) -> str:
    """Return what counts as one address: an IPv4 address, or the 64 bits that name a network of IPv6.

    Whoever has one address of IPv6 has all 2 ** 64 of its network.

    Examples
    --------
    >>> client_address("192.0.2.7"), client_address("::ffff:192.0.2.7")
    ('192.0.2.7', '192.0.2.7')
    >>> client_address("2001:db8::1:2"), client_address("fe80::1%eth0")
    ('2001:db8::/64', 'fe80::/64')
    """
    address = ipaddress.ip_address(host.partition("%")[0])
    if isinstance(address, ipaddress.IPv4Address):
        return str(address)
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return str(ipaddress.ip_network((address, 64), strict=False))
