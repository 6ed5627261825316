"""Files of hand histories, read through PokerKit, as hands that replay. Needs ``pokerkit``.

A file is PHH (https://phh.readthedocs.io; ``.phh`` has one hand, ``.phhs`` many), or the text of a site that PokerKit
has a parser for: PokerStars, Full Tilt, PartyPoker, iPoker, Ongame, Absolute Poker. `phh_reader` says what is read of a
hand. A hand that cannot be read does not keep the others of its file from being read.
"""

import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr
from functools import partial
from io import StringIO
from os import PathLike
from pathlib import Path

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

from ...envs.core.files import opened
from .moment import Moment
from .phh_reader import Refused, hand_of
from .poker_hands import replay_hand


class PokerStars(PokerStarsParser):
    """PokerKit's parser, with the antes of tournaments."""

    ANTE_POSTING = re.compile(r"(?P<player>.+): posts the ante \D?(?P<ante>[0-9.,]+)")


class FullTilt(FullTiltPokerParser):
    """PokerKit's parser, with the antes of tournaments."""

    ANTE_POSTING = re.compile(r"(?P<player>.+) antes \D?(?P<ante>[0-9.,]+)")


SITES: tuple[REParser, ...] = (
    PokerStars(),
    FullTilt(),
    PartyPokerParser(),
    IPokerNetworkParser(),
    OngameNetworkParser(),
    AbsolutePokerParser(),
)
HEADING = re.compile(r"^\[\s*([^\[\]\s_][^\[\]\n]*?)\s*\][ \t]*(?:#.*)?$", re.MULTILINE)
"""The line before a hand of a ``.phhs``, such as ``[7]``."""
ACPC = re.compile(r"^(STATE|[^:|\n]+\|[^:\n]+):\d+:[cfr\d/]*:", re.MULTILINE)
"""A hand in a log of the Annual Computer Poker Competition."""
POSTS = re.compile(r"\b(posts|antes|(?<=- )ante|(?<=: )ante|post (sb|bb|ante|dead))\b.*\d", re.IGNORECASE)
"""A line in the text of a site with what a player posts."""
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
        self.path = Path(path)
        self.count = 0
        self.left_out: Counter[str] = Counter()
        self.problems: dict[str, str] = {}
        self._strict = strict

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
    site = _site(text)
    if site is not None:
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
    if not headings:
        if text.strip():
            yield "1", partial(_from_phh, text)
        return
    ends = [heading.start() for heading in headings[1:]] + [len(text)]
    for heading, end in zip(headings, ends, strict=True):
        yield heading[1], partial(_from_phh, text[heading.end() : end])


def is_site_text(path: str | PathLike[str]) -> bool:
    """Return whether a file is the text of a site or of a competition, and not a log of ours."""
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
    try:
        with redirect_stderr(StringIO()), warnings.catch_warnings(action="ignore"):
            (history,) = site(text, error_status=True)
    except MALFORMED as error:
        cause = error.__context__ or error
        reason = f"PokerKit's {name} cannot read ({str(cause).rstrip('.')})" if type(cause) is ValueError else ""
        raise Refused(
            reason or f"PokerKit's {name} cannot read", f"PokerKit's {name} cannot read it: {cause!r}"
        ) from None
    posts = sum(POSTS.search(line) is not None for line in text.splitlines())
    read = sum(chips != 0 for chips in (*history.antes, *(history.blinds_or_straddles or ())))
    if posts > read:
        raise Refused(
            f"antes or blinds that PokerKit's {name} does not read",
            f"PokerKit's {name} reads {read} of {posts} antes and blinds",
        )
    history.ante_trimming_status = True  # as sites play: who cannot pay the whole ante wins as much from each
    return history
