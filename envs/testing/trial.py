"""Trial: the test of one law on one game. It plays random episodes and reports where a law is broken."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from itertools import zip_longest
from reprlib import repr
from typing import Any, NoReturn

import msgspec
import numpy as np
from numpy.typing import NDArray

from ..core.encoder import Encoder, Layout
from ..core.game import Game
from ..core.match import Match
from ..core.rollout import tables_with_seed
from ..core.turn_state import MessageIntent, MessageScope, TurnState
from ..core.view import default_parts

_MISSING = "nothing"


def in_observation(layout: Layout, one: NDArray[np.float32], other: NDArray[np.float32]) -> str | None:
    """Compare two observations (float32[layout.size]) bit for bit."""
    if one.tobytes() == other.tobytes():
        return None
    differing = np.flatnonzero(one.view(np.uint32) != other.view(np.uint32))
    paths = [part.path for part in layout if ((part.start <= differing) & (differing < part.stop)).any()]
    first = int(differing[0])
    return f"the observation differs in {', '.join(paths)}: at index {first} are {one[first]} and {other[first]}"


def in_observations(encoders: Mapping[str, Encoder], one: tuple[Any, int], other: tuple[Any, int]) -> str | None:
    """Compare the observations of a seat at one record and of a seat at another, by every encoder, bit for bit."""
    for name, encoder in encoders.items():
        difference = in_observation(encoder.layout, encoder.observation(*one), encoder.observation(*other))
        if difference is not None:
            return f"encoder {name!r}: {difference}"
    return None


def in_mask(one: NDArray[np.int8], other: NDArray[np.int8]) -> str | None:
    """Compare two masks (int8[A])."""
    if np.array_equal(one, other):
        return None
    return f"the action mask differs: legal are {np.flatnonzero(one).tolist()} and {np.flatnonzero(other).tolist()}"


def in_turn_state(one: TurnState, other: TurnState) -> str | None:
    """Compare two TurnStates byte for byte, as JSON."""
    if one.to_json() == other.to_json():
        return None
    difference = next(_paths("", msgspec.to_builtins(one), msgspec.to_builtins(other)), None)
    return f"TurnState differs in {difference}" if difference else "TurnState differs in the order of its fields"


def in_record(one: Any, other: Any, ignore: tuple[str, ...] = ()) -> str | None:
    """Compare two records byte for byte, field by field, except the fields `ignore`."""
    names = [name for name in one.dtype.names if name not in ignore]
    differing = [name for name in names if one[name].tobytes() != other[name].tobytes()]
    if not differing:
        return None
    first = differing[0]
    values = f"{repr(one[first].tolist())} and {repr(other[first].tolist())}"
    return f"the records differ in {', '.join(differing)}: {first} is {values}"


def _paths(path: str, one: Any, other: Any) -> Iterator[str]:
    """Yield where two values of plain data differ, and how."""
    if isinstance(one, dict) and isinstance(other, dict):
        for key in dict.fromkeys([*one, *other]):
            yield from _paths(f"{path}.{key}".lstrip("."), one.get(key, _MISSING), other.get(key, _MISSING))
    elif isinstance(one, list) and isinstance(other, list):
        for i, (first, second) in enumerate(zip_longest(one, other, fillvalue=_MISSING)):
            yield from _paths(f"{path}[{i}]", first, second)
    elif msgspec.json.encode(one) != msgspec.json.encode(other):
        yield f"{path}: {repr(one)} and {repr(other)}"


WATCHED_SEATS = 6
"""The most seats that are checked at a decision: at larger tables the acting seat and some others, in turn."""


@dataclass(eq=False)
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

    law: str
    difference: str
    seed: int | None = None
    decision: int | None = None
    seat: int | None = None
    encoder: str | None = None

    def __str__(self) -> str:
        """Return the law, the place and the difference."""
        given = ((name, getattr(self, name)) for name in ("encoder", "seed", "decision", "seat"))
        place = ", ".join(f"{name} {value}" for name, value in given if value is not None)
        return f"{self.law}{f' ({place})' if place else ''}: {self.difference}"


class NotTried(Exception):
    """A law does not apply to this game, or needs a package that is not installed; the message is the reason."""


@dataclass
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

    law: str
    game: Game
    episodes: int
    seed: int | None = None
    decision: int | None = None
    seat: int | None = None
    encoder: str | None = None
    warnings: list[str] = field(default_factory=list)

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


GUARD = 64
"""The number of elements around an array that must not change: compiled functions do not check array bounds."""


def bounds(trial: Trial) -> None:
    """Observations of every encoder are within the bounds that its layout declares."""
    encoders = trial.game.encoders
    for table, seat in trial.views():
        for name, encoder in encoders.items():
            seen = encoder.observation(table, seat)
            for part in encoder.layout.outside(seen):
                values = seen[part.start : part.stop]
                trial.fail(
                    f"{part.path} of the encoder {name!r} has values from {values.min()} to {values.max()}; "
                    f"its layout declares {part.low} to {part.high}"
                )


def written_whole(trial: Trial) -> None:
    """`observe` and `legal` write every element, whatever its value was, and no element outside the array."""
    game = trial.game
    for table, seat in trial.views():
        for name, encoder in game.encoders.items():
            write = partial(_observe, encoder, table, seat)
            _check(trial, f"observe of the encoder {name!r}", write, np.dtype(np.float32), encoder.layout.size)
        if not table.done and seat == table.turn:
            _check(trial, "legal", partial(game.rules.legal, table), np.dtype(np.int8), game.num_actions)


def _observe(encoder: Encoder, table: Any, seat: int, out: NDArray[np.float32]) -> None:
    encoder.observe(table, seat, encoder.layout.offsets[0], out)


def _check(trial: Trial, what: str, write: Callable[[NDArray[Any]], None], dtype: np.dtype[Any], size: int) -> None:
    first = None
    for value in (0, 7):
        buffer = np.full(GUARD + size + GUARD, value, dtype)
        write(buffer[GUARD : GUARD + size])
        guards = np.concatenate([buffer[:GUARD], buffer[GUARD + size :]])
        trial.require((guards == value).all(), f"{what} writes outside its array of {size} elements")
        if first is None:
            first = buffer[GUARD : GUARD + size]
        left = np.flatnonzero(first != buffer[GUARD : GUARD + size])
        trial.require(not len(left), f"{what} does not write the elements {left[:10].tolist()}")


RECORDS = 200
"""The most records that are looked at."""
TRIES = 20
"""The most records in which an entry of a field is replaced, for each of its values."""


def warn_of_fields(trial: Trial) -> None:
    """Add a warning for every field with entries that the default view shows to a seat and no encoder for players does.

    An encoder shows an entry if another value of it, from another record, changes an observation of the seat.
    """
    view = default_parts(trial.game.view)
    if view is None:
        return
    records = [table.copy() for _, (table, _) in zip(range(RECORDS), trial.views(), strict=False) if not table.done]
    own = () if isinstance(view.hidden, Mapping) else view.hidden  # of them a seat is shown what is its own
    for name in [one for one in view.fields if one not in own]:
        for seat, agent in enumerate(trial.game.agents):
            hidden = [view.hidden_from(record, seat, name) for record in records]
            entry = next(_unseen(trial, records, hidden, name, seat), None)
            if entry is not None:
                trial.warnings.append(
                    f"the view shows {name}{list(entry) if entry else ''} to {agent}, and no encoder does: "
                    f"if a seat may not know it, make the Game with hidden=({name!r},)"
                )
                break


def _unseen(
    trial: Trial, records: list[Any], hidden: list[NDArray[np.bool_]], name: str, seat: int
) -> Iterator[tuple[int, ...]]:
    """Yield the entries of a field that a seat is shown, that have several values, and change no observation of it."""
    for entry in np.ndindex(trial.game.rules.blank.dtype[name].shape):
        remaining = [record for record, hides in zip(records, hidden, strict=True) if not hides[entry]]
        values = np.unique([record[name][entry] for record in remaining])
        if len(values) > 1 and not _seen(trial, remaining, values, name, entry, seat):
            yield entry


def _seen(trial: Trial, records: list[Any], values: NDArray[Any], name: str, entry: tuple[int, ...], seat: int) -> bool:
    for record in records[:: max(1, len(records) // TRIES)]:
        before = _observations(trial, record, seat)
        for value in values[:TRIES]:
            other = record.copy()
            np.asarray(other)[name][entry] = value
            if _observations(trial, other, seat) != before:
                return True
    return False


def _observations(trial: Trial, record: Any, seat: int) -> list[bytes]:
    """Return a seat's observations by every version, with room around them for writes by a record that cannot be."""
    seen = []
    for encoder in trial.game.versions.values():
        buffer = np.zeros(GUARD + encoder.layout.size + GUARD, np.float32)
        encoder.observe(record, seat, encoder.layout.offsets[0], buffer[GUARD:-GUARD])
        seen.append(buffer.tobytes())
    return seen
