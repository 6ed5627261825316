"""Files of hand histories, read through PokerKit, as hands that replay. Needs ``pokerkit``.

A file is PHH (https://phh.readthedocs.io; ``.phh`` has one hand, ``.phhs`` many), or the text of a site that PokerKit
has a parser for: PokerStars, Full Tilt, PartyPoker, iPoker, Ongame, Absolute Poker. A hand that cannot be read does not
keep the others of its file from being read.

Player p1 of PHH is seat 0, and the last player has the button. What the players posted is played as the file says:
antes of every seat or of one, small and big blind, straddles, and the bet that a newcomer posts (a negative blind).
Amounts with decimals are read as whole numbers of the smallest unit. A player whose cards are not known, or who does
not show them, loses to those who show theirs.

An odd chip of a divided pot goes to another seat in some records than by our rules, a short all-in reopens the betting
in some, and of some pots the house takes a rake; such records are read.
"""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stderr
from decimal import Decimal
from functools import partial
from io import StringIO
from math import isfinite
from os import PathLike
from pathlib import Path
from typing import Any

from pokerkit import (
    AbsolutePokerParser,
    FullTiltPokerParser,
    HandHistory,
    IPokerNetworkParser,
    OngameNetworkParser,
    PartyPokerParser,
    PokerStarsParser,
)
from pokerkit.notation import REParser
from pokerkit.utilities import parse_value

from ...envs.core.files import opened
from ...envs.holdem import rules
from ...envs.holdem.hands import RANKS
from ...envs.holdem.rules import Move
from ...envs.holdem.table import CALL, FOLD, KINDS, RAISE, SEATS
from .log_reader import Moment, before_showdown, dealt, replay_hand


class PokerStars(PokerStarsParser):
    """PokerKit's parser, with the antes of tournaments, and no-limit hold'em of mixed games."""

    VARIANT = re.compile(r"\AP[^\n]*?Hold'?em No Limit(?P<variant>)")
    VARIANTS = {"": "NT"}  # noqa: RUF012
    ANTE_POSTING = re.compile(r"(?P<player>.+): posts the ante \D?(?P<ante>[0-9.,]+)")


class FullTilt(FullTiltPokerParser):
    """PokerKit's parser, with the antes of tournaments, and the headings after 2012."""

    VARIANT = re.compile(r"\AF[^\n]*? - (\D?[\d.,]+ Cap )?(No Limit|NL) Hold'em(?P<variant>)")
    VARIANTS = PokerStars.VARIANTS
    ANTE_POSTING = re.compile(r"(?P<player>.+) antes \D?(?P<ante>[0-9.,]+)")


class Party(PartyPokerParser):
    """PokerKit's parser, with tournaments, and files whose hands begin with the second line of the heading."""

    HAND = re.compile(r"^(?:Game #|\*{5} Hand History for Game ).+?(?=^\n{2,})", re.DOTALL | re.MULTILINE)
    VARIANT = re.compile(r"\bNL Texas Hold'em\b(?P<variant>)")
    VARIANTS = PokerStars.VARIANTS
    ANTE_POSTING = re.compile(r"(?P<player>.+) posts ante \[\D?(?P<ante>[0-9.,]+)")


SITES: list[REParser] = [
    kind() for kind in (PokerStars, FullTilt, Party, IPokerNetworkParser, OngameNetworkParser, AbsolutePokerParser)
]
HEADING = re.compile(r"^\[\s*([^\[\]\s_][^\[\]\n]*?)\s*\][ \t]*(?:#.*)?$", re.MULTILINE)
"""The line before a hand of a ``.phhs``, such as ``[7]``."""
ACPC = re.compile(r"^(STATE|[^:|\n]+\|[^:\n]+):\d+:[cfr\d/]*:", re.MULTILINE)
"""A hand in a log of the Annual Computer Poker Competition."""
POSTS = re.compile(r"\b(posts|antes|(?<=- )ante(?! returned)|(?<=: )ante|post (sb|bb|ante|dead))\b.*\d", re.IGNORECASE)
"""A line in the text of a site with what a player posts."""
RETURNED = re.compile(r"^(.+ - )Ante (\D?[\d.,]+)\n((?:.*\n)*?)\1Ante returned \2\n", re.MULTILINE)
"""An ante that is returned, in the text of Absolute Poker."""
STAKES = re.compile(r"(?<![\d./])\D?(\d[\d.,]*)/\D?(\d[\d.,]*\b)(?!/)")
"""The blinds in the heading of a hand."""
NEWCOMER = re.compile(r"^(.+: posts )small & big blinds \D?[\d.,]+", re.MULTILINE)
"""The post of both blinds in the text of PokerStars; the small one is dead."""
_TAKES = r"(?m)^(.+?)(?: -)? (?:collected|Collects|wins|ties for)\b(?! the tourn)"
COLLECTED = re.compile(_TAKES + r"(?:#\d+|[^\d\n])*(\d[\d,]*(?:\.\d+)?)")
"""What a player takes from a pot in the text of a site."""
BIG_BLIND = re.compile(r"^Seat \d+: (.+?) (?:\(button\) )?\(big blind\)", re.MULTILINE)
"""Who has the big blind, in the summary of a hand."""
OTHER = re.compile(r"(?im)\b(run (?:it )?twice|bomb pot)\b|^\*\*\* (?:FIRST|SECOND) (?:FLOP|TURN|RIVER)")
"""A hand that is played by other rules."""
BETWEEN = "\n\n\n"
"""The end of a hand in the text of a site."""
MALFORMED = (AttributeError, AssertionError, IndexError, KeyError, OverflowError, RecursionError, TypeError, ValueError)
"""The errors of PokerKit for a malformed file."""


class HandFile:
    """A file of hand histories.

    Attributes:
        count: number of hands so far, with those that cannot be read.
        left_out: numbers of hands that cannot be read, by reason.
        problems: the first such hand by reason: file, number and problem.

    Args:
        path: the file.
        strict: whether to stop at the first hand that cannot be read.
    """

    def __init__(self, path: str | PathLike[str], *, strict: bool = False) -> None:
        self.path, self.count, self._strict = Path(path), 0, strict
        self.left_out: Counter[str] = Counter()
        self.problems: dict[str, str] = {}

    def moments(self) -> Iterator[Moment]:
        """Return the moments of all hands that can be read, in order.

        Raises:
            OSError: if the file cannot be read.
            ValueError: if it holds no hand, or none that can be read; with `strict`, at the first that cannot.
        """
        for number, load in hands(self.path):
            self.count += 1
            try:
                entry, _ = hand_of(load(), int(number) if number.isdecimal() else self.count)
            except Refused as refused:
                problem = f"{self.path}, hand {number}: {refused}"
                if self._strict:
                    raise ValueError(problem) from None
                self.left_out[refused.reason] += 1
                self.problems.setdefault(refused.reason, problem)
            else:
                yield from replay_hand(entry, self.count - self.left_out.total() - 1)
        if not self.count:
            raise ValueError(f"{self.path} holds no hand")
        if self.left_out.total() == self.count:
            first = next(iter(self.problems.values()))
            raise ValueError(first if self.count == 1 else f"{self.summary()}\n{first}")

    def summary(self) -> str:
        """Return the number of hands left out, with the reasons, in one sentence; "" if there are none."""
        if not self.left_out:
            return ""
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in self.left_out.most_common())
        return f"{self.left_out.total():,} of {self.count:,} hands left out: {reasons}"


def hands(path: str | PathLike[str]) -> Iterator[tuple[str, Callable[[], HandHistory]]]:
    """Return the hands of a file: their numbers in the file, and functions that read them.

    The functions raise `Refused` for a hand that PokerKit cannot read.

    Raises:
        ValueError: if the file is no text, or a log from which PokerKit cannot read the stakes.
    """
    text = _text(path)
    if (site := _site(text)) is not None:
        for number, match in enumerate(site.HAND.finditer(text), 1):
            yield str(number), partial(_from_site, site, match[0] + BETWEEN)
        return
    if ACPC.search(text):
        raise ValueError(
            f"{path} is a log of the Annual Computer Poker Competition, which does not hold the stakes. Write it as "
            "PHH with PokerKit, where you name them: ACPCProtocolParser(NoLimitTexasHoldem((), True, 0, (50, 100), "
            "100), 20000)(text) are its hands, and HandHistory.dump_all(hands, file) writes them to a .phhs"
        )
    headings = list(HEADING.finditer(text))
    if not headings and text.strip():
        yield "1", partial(_from_phh, text)
    ends = [*(heading.start() for heading in headings[1:]), len(text)][: len(headings)]
    for heading, end in zip(headings, ends, strict=True):
        yield heading[1], partial(_from_phh, text[heading.end() : end])


def is_site_text(path: str | PathLike[str]) -> bool:
    """Return True if a file is the text of a site or of a competition, and not a log of ours."""
    try:
        text = _text(path)
    except ValueError:
        return False
    return _site(text) is not None or ACPC.search(text) is not None


def _text(path: str | PathLike[str]) -> str:
    try:
        with opened(path) as file:
            return file.read().decode("utf-8-sig").replace("\r\n", "\n") + BETWEEN
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is no text in UTF-8: {error}") from None


def _site(text: str) -> REParser | None:
    return next((site for site in SITES if site.HAND.search(text)), None)


def _from_phh(text: str) -> HandHistory:
    try:
        return HandHistory.loads(text)
    except MALFORMED as error:
        raise Refused("not PHH", f"it is no hand history in PHH: {error}") from None


def _from_site(site: REParser, text: str) -> HandHistory:
    """Read a hand through PokerKit, which prints its errors before it raises them, and leaves out what it cannot read.

    Raises:
        Refused: if PokerKit cannot read it, or not all that the players post.
    """
    name = next(kind.__name__ for kind in type(site).__mro__ if kind.__module__.startswith("pokerkit"))
    if (other := OTHER.search(text)) is not None:
        raise Refused(f"a hand with {other[1] or 'a board that was run twice'}".lower())
    full, stacks = _in_full(site, text)
    try:
        with redirect_stderr(StringIO()), warnings.catch_warnings(action="ignore"):
            (history,) = site(full, error_status=True)
    except MALFORMED as error:
        cause = error.__context__ or error
        reason = f"PokerKit's {name} cannot read ({str(cause).rstrip('.')})" if type(cause) is ValueError else ""
        detail = f"PokerKit's {name} cannot read it: {cause!r}"
        raise Refused(reason or f"PokerKit's {name} cannot read", detail) from None
    posts = sum(POSTS.search(line) is not None for line in full.splitlines())
    read = sum(chips != 0 for chips in (*history.antes, *(history.blinds_or_straddles or ())))
    if posts > read:
        detail = f"PokerKit's {name} reads {read} of {posts} antes and blinds"
        raise Refused(f"antes or blinds that PokerKit's {name} does not read", detail)
    players = history.players or []
    history.starting_stacks = [stacks.get(*pair) for pair in zip(players, history.starting_stacks, strict=True)]
    # As sites play: who cannot pay the whole ante wins as much from each. An ante of one player is for the whole table.
    history.ante_trimming_status = len(set(history.antes)) == 1
    taken = COLLECTED.findall(text)
    won = [sum(parse_value(chips) for who, chips in taken if who == player) for player in players]
    if any(won):
        history.winnings = won
    return history


def _in_full(site: REParser, text: str) -> tuple[str, dict[str, Any]]:
    """Return the text with whole blinds and antes where players had too few chips for them, and their real stacks.

    The stakes are those of the heading. A player with too few chips for the big blind is given as many as the posts.
    """
    text = RETURNED.sub(r"\3", text)
    seat = site.STARTING_STACKS.search(text)
    stakes = STAKES.search(text, 0, seat.start() if seat else 0)
    if stakes is None:
        return text, {}
    blinds = dict(zip(("small", "big"), map(parse_value, stakes.groups()), strict=True))
    text = NEWCOMER.sub(rf"\g<1>the ante {stakes[1]}\n\g<1>big blind {stakes[2]}", text)
    lines = text.splitlines(keepends=True)
    seats = {m["player"]: (n, m) for n, line in enumerate(lines) if (m := site.STARTING_STACKS.search(line))}
    antes, posts = (
        [(n, m) for n, line in enumerate(lines) if (m := pattern.search(line))]
        for pattern in (site.ANTE_POSTING, site.BLIND_OR_STRADDLE_POSTING)
    )
    ante = max((parse_value(m["ante"]) for _, m in antes), default=0)
    paid: dict[str, Any] = Counter()
    owed: dict[str, Any] = Counter()
    for number, match in (*antes, *posts):
        group = match.lastgroup or ""
        chips, player = parse_value(match[group]), match["player"]
        paid[player] += chips
        post = match.string[match.end("player") :]
        whole = ante if group == "ante" else next((blinds[name] for name in blinds if name in post), chips)
        if chips < whole and player in seats and paid[player] == parse_value(seats[player][1]["starting_stack"]):
            lines[number] = _replaced(match, group, whole)
            chips = whole
        owed[player] += chips
    left_out = BIG_BLIND.search(text)
    if left_out and posts and not any("big" in match[0] for _, match in posts) and paid[left_out[1]]:
        number, match = posts[-1]
        line = _replaced(match, "blind_or_straddle", blinds["big"]).replace("small", "big")
        lines[number] += line.replace(match["player"], left_out[1], 1)
        owed[left_out[1]] += blinds["big"]
    stacks = {}
    for player, chips in owed.items():
        if chips > paid[player]:
            number, match = seats[player]
            stacks[player] = parse_value(match["starting_stack"])
            lines[number] = _replaced(match, "starting_stack", chips)
    return "".join(lines), stacks


def _replaced(match: re.Match[str], group: str, chips: Any) -> str:
    start, end = match.span(group)
    return f"{match.string[:start]}{chips}{match.string[end:]}"


# A hand, played by our rules and written as our table server logs hands.

MOST_CHIPS = 2**53
"""The largest amount that is read, in chips or in the smallest unit of money."""
DECIMALS = 6
"""The most decimals of an amount."""
AMOUNT = re.compile(rf"\d{{1,16}}(\.\d{{1,{DECIMALS}}})?", re.ASCII)
"""An amount in an action."""
RAKE = 0.2
"""The largest share of the pots that is taken for a rake."""


class Refused(ValueError):
    """A hand that does not replay.

    Args:
        reason: why, in words that are the same for all such hands.
        detail: the same with the values of this hand; "" if there are none.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(detail or reason)
        self.reason = reason


def hand_of(history: HandHistory, number: int = 1) -> tuple[dict[str, Any], list[int]]:
    """Play a recorded hand, and return it as our table server logs hands, with the stacks at its end.

    All amounts are whole numbers; with ``decimals`` in the log they are so many digits larger than those of the file.

    Raises:
        Refused: if it is another kind of poker, does not follow the rules, or ends with other stacks than recorded.
    """
    if history.variant != "NT":
        detail = f"variant is {history.variant!r}; what is read is NT, no-limit Texas hold'em"
        raise Refused("another kind of poker", detail)
    for name, value in (history.user_defined_fields or {}).items():
        if value and name.strip("_") in ("run_twice", "bomb_pot"):
            detail = f"{name} is {value!r}; what is read is played once, with blinds"
            raise Refused(f"a hand with {name.strip('_')}", detail)
    if not isinstance(history.actions, (list, tuple)):
        raise Refused("a field of a wrong type", f"actions is {history.actions!r}; give a list of texts")
    decimals = _decimals(history)
    entry = _before_the_cards(history, number, decimals)
    words = _words(history.actions, len(entry["players"]), 10**decimals)
    entry["board"], cards = _cards(words, len(entry["players"]))
    for row in entry["players"]:
        row["cards"] = cards[row["seat"]]
    table, entry["actions"], returned = _played(entry, words)
    mucked = [row["seat"] for row in entry["players"] if row["cards"] and [f"p{row['seat'] + 1}", "sm", "-"] in words]
    if table.showdown and mucked:
        entry["mucked"] = mucked
        table, entry["actions"], returned = _played(entry, words)
    if not table.done:
        raise Refused("stops before its end")
    _check_known(table)
    _compare(history, entry, table, returned)
    entry["results"] = [{"seat": row["seat"], "won": int(table.won[row["seat"]])} for row in entry["players"]]
    return entry, [int(table.stack[row["seat"]]) for row in entry["players"]]


def _before_the_cards(history: HandHistory, number: int, decimals: int) -> dict[str, Any]:
    """Return the log of a hand with its players and what they post."""
    unit = 10**decimals
    fields = "starting_stacks", "antes", "blinds_or_straddles"
    stacks, antes, blinds = (_whole(name, getattr(history, name), unit) for name in fields)
    count = len(stacks)
    names = history.players or [f"p{seat + 1}" for seat in range(count)]
    if not isinstance(names, (list, tuple)):
        raise Refused("a field of a wrong type", f"players is {names!r}, which is no list of names")
    if not 2 <= count <= SEATS:
        raise Refused("too many players", f"starting_stacks has {count} values; what is read is 2 to {SEATS} players")
    for what, values in (("antes", antes), ("blinds_or_straddles", blinds), ("players", names)):
        if len(values) != count:
            raise Refused("lists of different lengths", f"{what} has {len(values)} values, starting_stacks has {count}")
    if min(stacks) < 1:
        raise Refused("a player without chips", f"a stack of {min(stacks)} chips; everybody at the table needs some")
    (least,) = _whole("min_bet", [history.min_bet], unit)
    most = max(*stacks, *antes, *map(abs, blinds), least)
    if most > MOST_CHIPS:
        raise Refused("too many chips", f"an amount of {most} chips; at most {MOST_CHIPS} can be read")
    if min(antes) < 0 or min(blinds[:2]) < 0 or not any(antes + blinds):
        raise Refused("nothing is posted", f"antes are {antes} and blinds_or_straddles {blinds}; a player has to post")
    if history.ante_trimming_status:  # as PokerKit plays it: no ante is above the highest of the others
        antes = [min(ante, max(antes[:seat] + antes[seat + 1 :])) for seat, ante in enumerate(antes)]
    small, big = sorted(blinds[:2])
    if count == 2:  # PHH names the small blind first, and p2 has it
        antes, blinds = antes[::-1], blinds[::-1]
    live = [(blind, seat) for seat, blind in enumerate(blinds) if blind > 0]  # what a newcomer posts is no blind
    return {
        "hand": number,
        "decimals": decimals,
        "currency": str(history.currency_symbol or ""),
        "small_blind": small,
        "big_blind": big,
        "ante": max(antes),
        "dealer": count - 1,
        "posted": {
            "antes": antes,
            "blinds": [abs(blind) for blind in blinds],
            "after": max(live)[1] if live else count - 1,
            # Some files have a min_bet above the bets that were made.
            "least": max(1, min(least, big or least)),
            "shared": not history.ante_trimming_status,
        },
        "players": [
            {"seat": seat, "name": str(names[seat] or ""), "stack": chips, "cards": []}
            for seat, chips in enumerate(stacks)
        ],
    }


def _decimals(history: HandHistory) -> int:
    """Return the number of decimals of the amounts: none, two, or more.

    Raises:
        Refused: if there are too many.
    """
    lists = [history.starting_stacks, history.antes, history.blinds_or_straddles, history.finishing_stacks,
             history.winnings, [history.min_bet]]  # fmt: skip
    amounts: list[Any] = [value for values in lists if isinstance(values, (list, tuple)) for value in values]
    for line in history.actions:
        words = line.partition("#")[0].split() if isinstance(line, str) else []
        if words[1:2] == ["cbr"]:
            amounts += words[2:]
    most = max((len(str(amount).partition(".")[2].rstrip("0")) for amount in amounts), default=0)
    if most > DECIMALS:
        raise Refused("amounts with too many decimals", f"an amount has {most} decimals; at most {DECIMALS} are read")
    return max(2, most) if most else 0


def _whole(field: str, values: Any, unit: int) -> list[int]:
    """Return the amounts of a field as whole numbers, `unit` to a chip."""
    if not isinstance(values, (list, tuple)):
        raise Refused("a field of a wrong type", f"{field} is {values!r}, which is no list of chips")
    if not all(type(value) in (int, Decimal, float) and isfinite(value) for value in values):
        raise Refused("a field of a wrong type", f"{field} is {list(values)}, which are not all amounts of chips")
    amounts = [Decimal(str(value)) * unit for value in values]
    if any(amount != int(amount) for amount in amounts):
        detail = f"{field} is {list(values)}; at most {DECIMALS} decimals are read"
        raise Refused("amounts with too many decimals", detail)
    return [int(amount) for amount in amounts]


# The actions.


def _words(lines: Sequence[Any], count: int, unit: int) -> list[list[str]]:
    """Return the words of the actions, amounts as whole numbers of `unit` to a chip; those without a word are left out.

    Raises:
        Refused: for an action that PHH does not have, naming it.
    """
    actions = []
    for place, line in enumerate(lines, 1):
        words = line.partition("#")[0].split() if isinstance(line, str) else [str(line)]
        if not words:
            continue
        if problem := _problem(words, count):
            raise Refused("an action that PHH does not have", f"action {place}, {line!r}: {problem}")
        if words[1] == "cbr":
            words[2] = str(int(Decimal(words[2]) * unit))
        if words[1:] == ["sm"]:
            words.append("-")
        actions.append(words)
    return actions


def _problem(words: list[str], count: int) -> str:
    players = [f"p{seat + 1}" for seat in range(count)]
    match words:
        case ["d", "dh", player, cards]:
            fits = player in players and len(cards) == 4 and _are_cards(cards)
            return "" if fits else f"give one of {', '.join(players)} and two cards, such as AsKd or ????"
        case ["d", "db", cards]:
            return "" if len(cards) in (2, 6) and "?" not in cards and _are_cards(cards) else "give three cards, or one"
        case [player, "sm"] | [player, "sm", "-"] if player in players:
            return ""
        case [player, "sm", cards] if player in players:
            return "" if len(cards) == 4 and _are_cards(cards) else "give both cards that are shown, or -"
        case [player, "f" | "cc"] if player in players:
            return ""
        case [player, "cbr", amount] if player in players:
            return "" if AMOUNT.fullmatch(amount) else f"give an amount of at most 16 digits and {DECIMALS} decimals"
    return f"give d dh, d db, or one of {', '.join(players)} with f, cc, cbr AMOUNT or sm CARDS"


def _are_cards(text: str) -> bool:
    return all(card == "??" or (card[0] in RANKS and card[1:] in tuple("shdc")) for card in _pairs(text))


def _pairs(text: str) -> list[str]:
    return [text[i : i + 2] for i in range(0, len(text), 2)]


def _cards(words: Sequence[list[str]], count: int) -> tuple[list[str], list[list[str]]]:
    """Return the board, and every seat's cards, as dealt or as shown later; none where they are unknown.

    Raises:
        Refused: for other cards than were dealt, a card that lies in two places, and a board that is too large.
    """
    board, hands = list[str](), {f"p{seat + 1}": list[str]() for seat in range(count)}
    for line in words:
        if line[:2] == ["d", "db"]:
            board += _pairs(line[2])
        elif line[1] in ("dh", "sm") and "?" not in line[-1] and line[-1] != "-":
            name, cards = line[2] if line[0] == "d" else line[0], _pairs(line[-1])
            if hands[name] and set(hands[name]) != set(cards):
                detail = f"{' '.join(line)!r}, where {name} was dealt {''.join(hands[name])}"
                raise Refused("other cards are shown than were dealt", detail)
            hands[name] = cards
    if len(board) > 5:
        raise Refused("a board of more than five cards", f"the board {' '.join(board)} has more than five cards")
    places: dict[str, str] = {}
    for place, cards in [("the board", board), *hands.items()]:
        for card in cards:
            if card in places:
                raise Refused("a card in two places", f"the card {card} is with {places[card]} and with {place}")
            places[card] = place
    return board, list(hands.values())


# The play.


def _played(entry: dict[str, Any], words: Sequence[list[str]]) -> tuple[Any, list[dict[str, Any]], list[int]]:
    """Play the actions of a hand.

    Returns:
        The record, the actions as our table server logs them, and the uncalled chips that each seat got back.
    """
    table, actions, opened, returned = dealt(entry), list[dict[str, Any]](), 0, [0] * SEATS
    turns = [line for line in words if line[1] in ("f", "cc", "cbr")]
    for line in words:
        text = " ".join(line)
        if line[:2] == ["d", "db"]:
            cards = len(_pairs(line[2]))
            if cards != (1 if opened else 3) or opened + cards > int(table.board_count):
                raise Refused("the board at a wrong time", f"{text!r}, where the board cannot be dealt so")
            opened += cards
            continue
        if line[0] == "d" or line[1] == "sm":
            continue
        if table.done:
            raise Refused("an action after the end", f"{text!r} comes after the end of the hand")
        if opened != int(table.board_count):
            raise Refused("the board at a wrong time", f"{text!r} comes before the board of its street is dealt")
        seat, kind = int(line[0][1:]) - 1, line[1]
        if table.turn != seat and kind == "cc" and table.bet[seat] >= table.current_bet:
            continue  # a check where there is nothing to decide
        if table.turn != seat:
            raise Refused("an action out of turn", f"{text!r}, where it is p{int(table.turn) + 1}'s turn")
        reopened = kind == "cbr" and not table.raise_min  # by a short all-in: our rules allow no raise here
        move = Move(FOLD if kind == "f" else CALL, 0)
        if kind == "cbr":
            move = Move(RAISE, amount := int(line[2]))
            if not max(table.raise_min, table.current_bet + 1) <= amount <= table.bet[seat] + table.stack[seat]:
                raise Refused("an impossible raise", f"{text!r} is no raise that p{seat + 1} can make")
        if line is turns[-1]:
            before_showdown(entry, table)
        committed = table.committed.tolist()
        rules.step(table, move)
        returned = [max(0, before - after) for before, after in zip(committed, table.committed.tolist(), strict=True)]
        action = {"seat": seat, "kind": KINDS[table.last_kind], "amount": int(table.last_amount)}
        actions.append(action | ({"reopened": True} if reopened else {}))
    return table, actions, returned


# The end.


def _check_known(table: Any) -> None:
    """Refuse a hand with a pot whose winner the file does not hold: several players, and no known cards."""
    if not table.showdown:
        return
    left = [seat for seat in range(SEATS) if table.seated[seat] and not table.folded[seat]]
    for level in {int(table.committed[seat]) for seat in left}:
        inside = [seat for seat in left if table.committed[seat] >= level]
        if len(inside) > 1 and (table.board.min() < 0 or max(table.strength[inside]) < 0):
            raise Refused("cards of its showdown are not known")


def _compare(history: HandHistory, entry: dict[str, Any], table: Any, returned: Sequence[int]) -> None:
    """Refuse a hand that ends otherwise than the file says. What the winners lack is the house's ``rake``.

    Some sites count uncalled chips among what a player has won.
    """
    count = len(entry["players"])
    won = [int(chips) for chips in table.won[:count]]
    stacks = [int(chips) for chips in table.stack[:count]]
    with_returned = [sum(chips) for chips in zip(won, returned, strict=False)]
    for field, ends in {"finishing_stacks": [stacks], "winnings": [won, with_returned]}.items():
        if getattr(history, field) is None:
            continue
        recorded = _whole(field, getattr(history, field), 10 ** entry["decimals"])
        if not any(recorded):  # PokerKit found none in the text of a site
            continue
        lacking = [chips for chips in (_lacking(recorded, end, won) for end in ends) if chips is not None]
        if not lacking:
            detail = f"{field} are {ends[0]}; recorded are {recorded}"
            raise Refused(f"other {field.replace('_', ' ')} than recorded", detail)
        entry["rake"] = max(entry.get("rake", 0), min(lacking))


def _lacking(recorded: list[int], ours: list[int], won: list[int]) -> int | None:
    """Return the chips that only the winners lack in the file; None if the file differs in more than these.

    Who got the odd chips of divided pots may differ too.
    """
    if len(recorded) != len(ours):
        return None
    lacks = [here - there for here, there in zip(ours, recorded, strict=True)]
    rake, odd = sum(lacks), len(ours) - 1
    highest = rake + odd if rake else odd
    if not 0 <= rake <= RAKE * sum(won):
        return None
    fits = all(-odd <= lack <= highest if taken else lack == 0 for lack, taken in zip(lacks, won, strict=True))
    return rake if fits else None
