"""Who may be connected: how many sessions, how many of one address, and who makes room for a newcomer.

A stranger is a connection whose login is not complete. Anybody can open one, so strangers have places of
their own and never take those of sessions. Where there are too many, one gives way to the newcomer: of the
address that has most, the one that has waited longest. Whoever opens many drives out their own.
"""

from __future__ import annotations

import ipaddress
from collections import Counter
from dataclasses import dataclass

from kanon_pg.errors import KanonError


class TooManyClients(KanonError):
    """There is no place for one more session; the words are PostgreSQL's."""

    sqlstate = "53300"

    def __init__(self, hint: str | None = None) -> None:
        super().__init__("sorry, too many clients already", hint=hint)


@dataclass(eq=False, slots=True)
class Place:
    """The place of one connection.

    Parameters
    ----------
    address : str
        Where it comes from, as `client_address` gives it.
    logged_in : bool
        Whether it is a session's.
    """

    address: str
    logged_in: bool = False


class Places:
    """Counts sessions and strangers.

    Parameters
    ----------
    connections : int
        Sessions at the same time.
    per_address : int
        Sessions of one address.
    strangers : int
        Connections that are not logged in, beside the sessions.
    """

    def __init__(self, connections: int, per_address: int, strangers: int) -> None:
        self._connections = connections
        self._per_address = per_address
        self._most_strangers = strangers
        self._strangers: dict[Place, None] = {}  # in the order in which they came
        self._sessions: Counter[str] = Counter()

    def enter(self, address: str) -> tuple[Place, Place | None]:
        """Give a stranger a place.

        Returns
        -------
        tuple of Place and (Place or None)
            Its place, and the one that has to be vacated for it; that one counts no more.
        """
        entered = Place(address)
        leaving = None
        if len(self._strangers) >= self._most_strangers:
            leaving = self._longest_waiting(address)
            del self._strangers[leaving]
        self._strangers[entered] = None
        return entered, leaving

    def _longest_waiting(self, newcomer: str) -> Place:
        of_each = Counter(place.address for place in self._strangers)
        of_each[newcomer] += 1
        most = max(of_each[place.address] for place in self._strangers)
        return next(place for place in self._strangers if of_each[place.address] == most)

    def require_free(self, address: str) -> None:
        """Refuse a login for which there is no place now.

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

    def log_in(self, place: Place) -> None:
        """Turn a stranger's place into a session's.

        Raises
        ------
        TooManyClients
            As `require_free`; the place stays a stranger's then. Also if the place was vacated.
        """
        self.require_free(place.address)
        if place not in self._strangers:
            raise TooManyClients
        del self._strangers[place]
        place.logged_in = True
        self._sessions[place.address] += 1

    def leave(self, place: Place) -> None:
        """Give a place back; one that was vacated is gone already."""
        self._strangers.pop(place, None)
        if place.logged_in:
            place.logged_in = False
            self._sessions[place.address] -= 1
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
