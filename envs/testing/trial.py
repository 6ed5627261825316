"""Trial: the test of one law on one game. It plays random episodes and reports where a law is broken."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from ..core.game import Game
from ..core.match import Match
from ..core.rollout import tables_with_seed
from ..core.turn_state import MessageIntent, MessageScope

WATCHED_SEATS = 6
"""The most seats that are checked at a decision: at larger tables the acting seat and some others, in turn."""


class LawBroken(AssertionError):
    """A law does not hold for a game.

    Attributes:
        law: the name of the law.
        difference: a sentence about what differed.
        seed: the seed of the episode; None if the law plays no episode.
        decision: the number of decisions played before in that episode.
        seat: the seat; None: no seat in particular.
        encoder: the game's default encoder in this test; None: the law does not choose it.
    """

    def __init__(
        self,
        law: str,
        difference: str,
        seed: int | None = None,
        decision: int | None = None,
        seat: int | None = None,
        encoder: str | None = None,
    ) -> None:
        places = (("encoder", encoder), ("seed", seed), ("decision", decision), ("seat", seat))
        place = ", ".join(f"{name} {value}" for name, value in places if value is not None)
        super().__init__(f"{law}{f' ({place})' if place else ''}: {difference}")
        self.law = law
        self.difference = difference
        self.seed = seed
        self.decision = decision
        self.seat = seat
        self.encoder = encoder


class NotTried(Exception):
    """A law does not apply to this game, or needs a package that is not installed; the message is the reason."""


class Trial:
    """The test of one law on one game.

    Args:
        law: the name of the law, for errors.
        game: the game with its options.
        episodes: the number of random episodes.

    Attributes:
        seed: the seed of the current episode.
        decision: the number of decisions played in it.
        seat: the seat that is checked.
        encoder: the default encoder that `for_every_version` has chosen.
        warnings: sentences about what is not wrong by the law and probably not meant.
    """

    def __init__(self, law: str, game: Game, episodes: int) -> None:
        self.law = law
        self.game = game
        self.episodes = episodes
        self.seed: int | None = None
        self.decision: int | None = None
        self.seat: int | None = None
        self.encoder: str | None = None
        self.warnings: list[str] = []

    def broken(self, difference: str) -> LawBroken:
        """Return `LawBroken` for the current encoder, seed, decision and seat."""
        return LawBroken(self.law, difference, self.seed, self.decision, self.seat, self.encoder)

    def fail(self, difference: str) -> NoReturn:
        """Raise `LawBroken` for the current seed, decision and seat."""
        raise self.broken(difference)

    def require(self, holds: Any, otherwise: str) -> None:
        """Raise `LawBroken` with the sentence `otherwise` unless `holds`."""
        if not holds:
            self.fail(otherwise)

    def same(self, difference: str | None) -> None:
        """Raise `LawBroken` if there is a difference (see `differences`)."""
        if difference is not None:
            self.fail(difference)

    # Random play.

    def seeds(self, count: int | None = None) -> Iterator[int]:
        """Yield the seeds of the episodes; `seed` is the current one."""
        for seed in range(self.episodes if count is None else count):
            self.seed, self.decision, self.seat = seed, None, None
            yield seed
        self.seed = self.decision = self.seat = None

    def decisions(self, seed: int) -> Iterator[Any]:
        """Play one random episode; yield the record at every decision, and once it is over."""
        game, choose = self.game, chooser(self.game, seed)
        table = tables_with_seed(game, 1, seed)[0]
        game.rules.reset(table)
        self.decision = 0
        while not table.done:
            self.seat = int(table.turn)
            yield table
            game.rules.play(table, choose(game.mask(table, int(table.turn))))
            self.decision += 1
        self.seat = None
        yield table

    def views(self) -> Iterator[tuple[Any, int]]:
        """Play random episodes; yield the record and a seat, for the watched seats at every decision and at the end."""
        for seed in self.seeds():
            for table in self.decisions(seed):
                for seat in self.watched(table):
                    self.seat = seat
                    yield table, seat

    def watched(self, table: Any) -> list[int]:
        """Return the seats to check: all of a few; of many the acting one and some others; all at the end."""
        count = self.game.seats
        if count <= WATCHED_SEATS or table.done:
            return list(range(count))
        others = ((5 * (self.decision or 0) + k) % count for k in range(WATCHED_SEATS - 1))
        return sorted({int(table.turn), *others})

    def matches(self, seed: int) -> Iterator[Match]:
        """Play one random episode with random messages; yield the match at every decision and at the end."""
        match, choose, chatter = Match(self.game), chooser(self.game, seed), Chatter(self.game, seed)
        match.reset(seed=seed)
        self.decision = 0
        while True:
            self.seat = None
            if not match.done:
                chatter.send(match)
            yield match
            if match.done:
                return
            match.play(choose(match.mask))
            self.decision += 1


def for_every_version(law: Callable[[Trial], None]) -> Callable[[Trial], None]:
    """Test a law once with each encoder that a policy may play with, as the game's default encoder."""

    @wraps(law)
    def tried(trial: Trial) -> None:
        game = trial.game
        for trial.encoder in game.versions:
            trial.game = replace(game, encoder=trial.encoder)
            law(trial)

    return tried


def chooser(game: Game, seed: Any) -> Callable[[NDArray[np.int8]], int]:
    """Return a function from a mask (int8[A]) to a random legal action index.

    Each chooser prefers different actions, so that some episodes are long and some are short.
    """
    generator = np.random.default_rng(seed)
    preference = generator.exponential(size=game.num_actions) ** 2 + 1e-3

    def choose(mask: NDArray[np.int8]) -> int:
        weights = preference * mask
        return int(generator.choice(len(mask), p=weights / weights.sum()))

    return choose


class Chatter:
    """Sends random messages, public and private: any words, and sentences of the game's own actions.

    Args:
        game: the game with its options.
        seed: seed of the random choices.
    """

    def __init__(self, game: Game, seed: Any) -> None:
        self.game = game
        self.generator = np.random.default_rng(seed)
        self.sentences = ["hello", "I have nothing to hide. Or have I?", "ünïcode ♣"]

    def send(self, match: Match) -> None:
        """Let a random seat send a message, at every other decision; the rules of the game may refuse it."""
        self.listen(match)
        if self.generator.random() < 0.5:
            match.send(self.one_of(self.game.agents), self.intent(self.game.agents))

    def intent(self, readers: tuple[str, ...], *, private: bool = False) -> MessageIntent:
        """Return a random message; a private one is for some of `readers`."""
        content = self.one_of(self.sentences)
        if not private and self.generator.random() < 0.5:
            return MessageIntent(MessageScope.PUBLIC, content)
        chosen = [reader for reader in readers if self.generator.random() < 0.5]
        return MessageIntent(MessageScope.PRIVATE, content, chosen)

    def listen(self, match: Match) -> None:
        """Collect the sentence of a legal action."""
        action = int(self.generator.choice(np.flatnonzero(match.mask)))
        said = self.game.view.encode(match.table, action).messages
        self.sentences += [message.content for message in said][: 40 - len(self.sentences)]

    def one_of(self, choices: Any) -> Any:
        """Return a random element of a sequence, drawn uniformly."""
        return choices[int(self.generator.integers(len(choices)))]
