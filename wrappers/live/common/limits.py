"""The table of limits: what one address or account may hold and do at a server, and what all together may.

A limit is the most of all, and of one address or account. A rate is events of one address per second, and at once.

A client is known by its address; behind a proxy that the operator names (`ServerSettings.proxies`) by the address that
the proxy forwards. An address of IPv6 stands for its network of 64 bits, which one machine may have to itself.
"""

import asyncio
import hashlib
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from hmac import compare_digest
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Generic, TypeVar

from aiohttp import web
from cachetools import LRUCache
from msgspec import Meta

from ....envs.core.options import ABOVE_0, AT_LEAST_1, Checked, SecondsOr0


@dataclass(frozen=True, kw_only=True)
class ConnectionLimits(Checked):
    """The limits of one connection.

    Attributes:
        frame: the most bytes of a message; a longer one ends the connection while it is received.
        message: the most bytes of a message; a longer one is refused, and the connection stays open. None: as `frame`.
        rate: the most messages per second from a peer (twice as many at once), the empty ones too. Further ones are
            refused where the protocol can do so, and read more slowly. None: no limit.
        controls: the most pings and pongs per second from a peer (twice as many at once). Further ones are not
            answered, and the peer's messages are read more slowly.
        queue: the most outgoing messages; a peer that is further behind is dropped.
        closing: seconds to wait for the answer to a close.

    Raises:
        ValueError: if one is out of its range.
    """

    frame: Annotated[int, AT_LEAST_1] = 2**20
    message: Annotated[int | None, AT_LEAST_1] = None
    rate: Annotated[float | None, ABOVE_0] = 100.0
    controls: Annotated[float, ABOVE_0] = 10.0
    queue: Annotated[int, AT_LEAST_1] = 256
    closing: SecondsOr0 = 2.0


SOCKETS = 4096, 1024
"""Open sockets, where the process may open so many files; else less, and of an address a quarter of it."""
NEW_SOCKETS = 50.0, 200
REQUESTS = 200.0, 400
NAMES = 0.1, 40
"""New names in a lobby, or new keys of a poker host; the oldest of thousands are forgotten for new ones."""
SESSIONS = 1_000, 250
"""Sessions of an arena that wait for players or run."""
REGISTRATIONS = 1_000, 250
"""Names of agents that are registered in an arena;"""
REGISTERED_SECONDS = 86_400.0
"""seconds without a call that one answers, or a new registration, after which its name is free."""
TABLES = 50, 12
"""Open tables of a lobby."""
TABLES_OF_ONE = 3
"""Open tables of one person of a lobby."""
ACCOUNTS = 10_000
"""Names of a lobby, or programs of a host. Then the oldest that is not in use is forgotten."""
CLIENTS = 200
"""People at a browser table and who look on."""
SERVICE_CLIENTS = 256
"""Connections of games to a service of agents."""
MATCH_CALLS = 1_000, 100
"""Calls for matches that are being played."""
SILENT_SECONDS = 10.0
"""Seconds that a socket may take for its first request."""
MOST_ADDRESSES = 10_000
"""Addresses that are remembered."""
LOBBY_BODY = 2**14
"""Bytes of the body of a request to a lobby."""
PLAYER = ConnectionLimits(message=2**14, rate=20.0)
"""One connection of a program to a table, if not told otherwise;"""
PAGE = ConnectionLimits(message=2**17, rate=20.0)
"""of a page: ten messages of 4,000 characters fit;"""
SERVICE = ConnectionLimits(frame=2**22, rate=1000.0, queue=1024, closing=1.0)
"""of a game to a service of agents: the statements of twenty players in twenty days fit; a stream waits for it;"""
SCENE = ConnectionLimits(frame=2**24, rate=200.0, closing=1.0)
"""of a game to an agent that refuses messages shorter than these frames, and so can answer with an error."""


def owner(address: str) -> str:
    """Return who holds what comes from an address.

    >>> owner("2001:db8::1") == owner("2001:db8::2"), owner("10.0.0.1")
    (True, '10.0.0.1')
    """
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    ip = getattr(ip, "ipv4_mapped", None) or ip
    return str(ip) if ip.version == 4 else ip.exploded[:19]


def peer_of(transport: asyncio.BaseTransport | None, proxies: Collection[str] = ()) -> str:
    """Return who is at the other end of a socket; "" if that is a program of this machine, a proxy, or gone."""
    peer, own = (transport and transport.get_extra_info(name) for name in ("peername", "sockname"))
    return "" if not peer or not own or peer[0] == own[0] or peer[0] in proxies else owner(str(peer[0]))


PROXIES = web.AppKey("proxies", Collection[str])
"""The addresses of the proxies whose ``X-Forwarded-For`` an application believes."""


def client_of(request: web.Request) -> str:
    """Return who has sent a request; "" if it is a program of this machine, which no rate limits."""
    proxies = request.app.get(PROXIES, ())
    if request.remote in proxies:
        hops = [hop.strip() for line in request.headers.getall("X-Forwarded-For", []) for hop in line.split(",")]
        return next((owner(hop) for hop in reversed(hops) if hop and hop not in proxies), "")
    return peer_of(request.transport)


def account_of(request: web.Request) -> str:
    """Return whose places a request takes; all programs of this machine are one."""
    return client_of(request) or "this machine"


LONGEST = 1.0
"""Seconds that an event waits at most."""


class Pace:
    """So many events per second of each sender, and so many at once. What comes faster is spread, or refused."""

    def __init__(self, rate: float, at_once: float) -> None:
        self._gap = 1 / rate
        self._slack = max(0.0, at_once - 1) / rate
        self._next: dict[str, float] = {}  # when the next event of a sender would come at an even pace

    def wait(self, sender: str, longest: float = LONGEST) -> float | None:
        """Count an event of a sender, and return the seconds that it has to wait; "": this machine, 0 seconds.

        None: it would wait longer than so many. It is refused, and does not count, so that the wait cannot grow.
        """
        if not sender:
            return 0.0
        now = asyncio.get_running_loop().time()
        if len(self._next) > MOST_ADDRESSES:
            self._next = {one: at for one, at in self._next.items() if at > now}
        due = max(self._next.get(sender, now), now)
        wait = max(0.0, due - now - self._slack)
        if wait > longest:
            return None
        self._next[sender] = due + self._gap
        return wait

    def take(self, sender: str) -> bool:
        """Count an event that need not wait; else return False."""
        return self.wait(sender, longest=0.0) is not None

    def spare(self, sender: str) -> None:
        """Take the latest event of a sender out of the count."""
        self._next[sender] -= self._gap


Item = TypeVar("Item")


class Places(Generic[Item]):
    """Places of one kind, each held by somebody.

    Without a free one, the oldest item that is not kept has to go: one of the same owner if that has its share, or
    all are `apart`, else anybody's. What is kept stays whatever comes. Programs of this machine, whose owner is "",
    have no share.
    """

    def __init__(self, most: int, each: int | None = None, reserved: int = 0, apart: bool = False) -> None:
        self.most = most
        self._each = most if each is None else each
        self._reserved, self._apart = reserved, apart
        self._owners: dict[Item, str] = {}  # the oldest first
        self._counts: Counter[str] = Counter()
        self._kept: set[Item] = set()
        self._known = LRUCache[str, bool](MOST_ADDRESSES)

    def __len__(self) -> int:
        return len(self._owners)

    def __iter__(self) -> Iterator[Item]:
        return iter(self._owners)

    def take(self, item: Item, owner: str, kept: bool = False) -> tuple[bool, Item | None]:
        """Give an item a place, kept or not; return whether it has one, and the item that has lost its own to it."""
        share = bool(owner) and self._counts[owner] >= self._each
        victim = None
        if share or len(self._owners) >= self.most - (0 if owner in self._known else self._reserved):
            others, own = (one for one in self._owners if one not in self._kept), share or self._apart
            victim = next((one for one in others if not own or self._owners[one] == owner), None)
            if victim is None:
                return False, None
            self.free(victim)
        self._owners[item] = owner
        self._counts[owner] += 1
        self.keep(item, kept)
        return True, victim

    def keep(self, item: Item, kept: bool = True) -> None:
        """Let an item keep its place whatever comes, or no longer: the connection of a player in a seat."""
        if kept and item in self._owners:
            self._kept.add(item)
            self._known[self._owners[item]] = True
        else:
            self._kept.discard(item)

    def free(self, item: Item) -> None:
        """Free the place of an item, if it has one."""
        if (owner := self._owners.pop(item, None)) is not None:
            self._counts[owner] -= 1
            if not self._counts[owner]:
                del self._counts[owner]
        self._kept.discard(item)


# Names: which are allowed, in every host, and which two look the same.

MOST_CHARACTERS = 32
_HIDDEN_CATEGORIES = ("Cc", "Cf", "Cs", "Zl", "Zp")
_EMPTY = "\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0"
"""Letters and marks that show nothing, though Unicode does not count them among the hidden characters."""
_VARIANTS = dict.fromkeys([*range(0xFE00, 0xFE10), *range(0xE0100, 0xE01F0)])
"""Characters that change the picture of the one before them, as in many emoji."""


def problem_of(name: str, most: int = MOST_CHARACTERS) -> str | None:
    """Return why nobody may have this name of up to `most` characters, a sentence without a full stop; None: fine."""
    if not 1 <= len(name) <= most:
        return f"a name has 1 to {most} characters, not {len(name)}"
    hidden = next((one for one in name if unicodedata.category(one) in _HIDDEN_CATEGORIES or one in _EMPTY), None)
    if hidden is not None:
        return f"a name has no hidden characters, as U+{ord(hidden):04X} is one"
    if name != name.strip() or not name.translate(_VARIANTS):
        return "a name begins and ends with a character that is seen"
    return None


def short_name(spec: str) -> str:
    """Return the display name of a program: ``zoo:mafia`` is "Zoo", ``best_response`` is "Best response".

    A policy's file or run keeps its name without folder and ending, up to 28 characters.
    """
    if spec.startswith("zoo:"):
        return "Zoo"
    if not spec.isidentifier():
        return Path(spec).stem[:28] or spec[:28]
    return "LLM" if spec == "llm" else spec.replace("_", " ").capitalize()[:28]


def folded(name: str) -> str:
    """Return a name as it is compared: without capitals, wide letters, repeated spaces and variants of emoji.

    >>> folded("Ａｎｎ  Lee") == folded("ann lee")
    True
    """
    plain = unicodedata.normalize("NFKC", name.translate(_VARIANTS)).casefold()
    return " ".join(unicodedata.normalize("NFKC", plain).split())


# Access tokens, compared in constant time, and who is admitted to a seat.

Admit = Callable[[str | None, str | None], str | None]
"""Called with the name and the access token of a player who wants a seat. It returns why the player gets none, or None
if the player is admitted."""

ChosenToken = Annotated[str, Meta(min_length=22, max_length=100)]
"""A token of random characters that a client chooses: who sends it again, as the answer was lost, gets the same."""


def bearer_token(request: web.Request) -> str:
    """Return the token of the header ``Authorization: Bearer …``; "" without one."""
    kind, _, value = request.headers.get("Authorization", "").partition(" ")
    return value.strip() if kind.lower() == "bearer" else ""


def same_token(given: str | None, expected: str) -> bool:
    """Return True if two tokens are equal, in constant time."""
    return compare_digest((given or "").encode(errors="surrogatepass"), expected.encode(errors="surrogatepass"))


def admit_by_token(access_token: str | None, refusal: str) -> Admit:
    """Return an `Admit` that answers another access token with `refusal`. With None everybody is admitted."""

    def admit(name: str | None, given: str | None) -> str | None:
        return None if access_token is None or same_token(given, access_token) else refusal

    return admit


def lacks_token(request: web.Request, expected: str | None, given: str | None = None) -> bool:
    """Return True if a request lacks the expected access token (None: none is expected).

    It is `given`, or in the header. Wrong ones are not counted: guesses may be others', behind the same address.
    """
    return expected is not None and not same_token(bearer_token(request) or given, expected)


def hashed(secret: str) -> str:
    """Return the hash of a key or token: secrets as random as ours need no salt."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).hexdigest()
