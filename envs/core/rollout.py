"""Rollouts: policies play tables to the end. Evaluation, demonstrations and comparisons use this loop."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from .game import Game
from .record import Tables
from .rng import draw_legal, streams
from .vector import NO_ACTION


@runtime_checkable
class Policy(Protocol):
    """Plays any number of seats at once.

    A policy may have an attribute `encoder`: the name of the encoder whose observations it takes. Without it, or with
    None, it takes those of the game's default encoder. A policy that needs the records (a teacher, a solver)
    also has a method ``act_on(tables, rows, observations, masks)``, which is called in place of `act`.

    A policy whose play depends on public numbers that observations do not show may have a method ``set_terms(table)``.
    An agent calls it before `act` with a record of a host, whose numbers may be other ones than the game's.
    """

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return a legal action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        ...


class Decisions(NamedTuple):
    """The decisions of one step, one row per table whose episode is not over.

    Attributes:
        tables: int64[M], the tables' indices.
        seats: int64[M], the acting seats.
        observations: float32[M, D], of the first policy's encoder.
        masks: int8[M, A], the action masks.
        actions: int64[M], the chosen action indices.
        returns: float64[M], the sum of the acting seat's rewards in the episode before this decision.
    """

    tables: NDArray[np.int64]
    seats: NDArray[np.int64]
    observations: NDArray[np.float32]
    masks: NDArray[np.int8]
    actions: NDArray[np.int64]
    returns: NDArray[np.float64]


def encoder_of(policy: Policy, game: Game) -> str:
    """Return the name of the encoder whose observations a policy takes.

    Raises:
        ValueError: if the game does not have it, or if it shows hidden information.
    """
    name = getattr(policy, "encoder", None) or game.encoder
    game.check_encoder(name)
    return name


def played(policy: Any) -> Callable[[Any, Any], NDArray[Any]] | None:
    """Return the function that tells how likely a policy plays each action index; None if the policy does not tell.

    That is its ``probabilities``, or 1 for the most likely action if the policy is deterministic.
    """
    probabilities: Callable[[Any, Any], NDArray[Any]] | None = getattr(policy, "probabilities", None)
    if probabilities is None or not getattr(policy, "deterministic", False):
        return probabilities
    distribution = probabilities

    def most_likely(observations: Any, masks: Any) -> NDArray[Any]:
        return np.asarray(np.eye(masks.shape[1])[distribution(observations, masks).argmax(axis=1)], np.float64)

    return most_likely


def act_of(
    policy: Policy,
    tables: Any,
    rows: NDArray[np.int64],
    observations: NDArray[np.float32],
    masks: NDArray[np.int8],
) -> Any:
    """Return a policy's actions at the tables `rows`: by its `act_on`, if it has one, else by its `act`.

    Args:
        policy: the policy.
        tables: the records.
        rows: int64[M], indices of tables.
        observations: float32[M, D] there, of the policy's encoder.
        masks: int8[M, A] there.
    """
    act_on = getattr(policy, "act_on", None)
    return policy.act(observations, masks) if act_on is None else act_on(tables, rows, observations, masks)


def choose_actions(
    game: Game,
    policies: Sequence[Policy],
    who: NDArray[np.int64],
    *,
    tables: Any,
    rows: NDArray[np.int64],
    observations: NDArray[np.float32],
    masks: NDArray[np.int8],
    encoder: str,
    actions: NDArray[np.int64],
) -> None:
    """Write the policies' actions at the tables `rows`: one call per policy, for all its tables at once.

    Args:
        game: the game with its options.
        policies: the policies.
        who: int64[M], the index of the policy that decides at each of the tables `rows`.
        tables: the records.
        rows: int64[M], indices of tables.
        observations: float32[N, D] of all tables, of the encoder `encoder`.
        masks: int8[N, A] of all tables.
        encoder: the name of the encoder of `observations`. A policy with another encoder gets its own observations.
        actions: int64[N] of all tables; those at `rows` are written.
    """
    if len(policies) == 1:
        own = encoder_of(policies[0], game)
        seen = observations[rows] if own == encoder else game.encoders[own].observations(tables, rows)
        actions[rows] = act_of(policies[0], tables, rows, seen, masks[rows])
        return
    order = np.argsort(who, kind="stable")
    sorted_rows = rows[order]
    bounds = np.searchsorted(who[order], np.arange(len(policies) + 1))
    for index, policy in enumerate(policies):
        mine = sorted_rows[bounds[index] : bounds[index + 1]]
        if len(mine):
            own = encoder_of(policy, game)
            seen = observations[mine] if own == encoder else game.encoders[own].observations(tables, mine)
            actions[mine] = act_of(policy, tables, mine, seen, masks[mine])


def play_until_done(
    game: Game,
    policies: Sequence[Policy],
    tables: Tables,
    *,
    who: Callable[[Tables], NDArray[np.integer[Any]]] | None = None,
    on_decisions: Callable[[Decisions], None] | None = None,
    begin: bool = True,
    steps: int | None = None,
) -> NDArray[np.float64]:
    """Play one episode on every table, in place.

    Args:
        game: the game with its options.
        policies: the policies; the first one's encoder makes `Decisions.observations`.
        tables: recarray of shape (N,), as `tables_with_seed` returns.
        who: ``who(tables)``, called at the start, returns the policy of each seat: int64[N, seats], indices into
            `policies`. None: the first policy plays all seats.
        on_decisions: called after every step with its decisions.
        begin: whether to reset the tables; if not, their episodes continue, and none of them may be over.
        steps: the most decisions per table; None: play to the end.

    Returns:
        The sum of every seat's rewards: float64[N, seats].

    Raises:
        ValueError: if the game does not have a policy's encoder, or if it shows hidden information.
    """
    encoder = encoder_of(policies[0], game)
    records = tables.view(np.ndarray)
    batch, run = game.batch(len(tables), encoder), game.loops(encoder)
    if begin:
        run.reset(records, batch, False)
    else:
        batch.turn[:] = tables.turn
        rows = np.arange(len(tables))
        batch.observations[:] = game.encoders[encoder].observations(tables, rows)
        for row in rows:
            game.rules.legal(tables[row], batch.masks[row])
    first_only = np.zeros((len(tables), game.seats), np.int64)
    seated = first_only if who is None else np.asarray(who(tables), np.int64)
    total = np.zeros((len(tables), game.seats))
    actions = np.empty(len(tables), np.int64)
    step = 0
    while (live := np.flatnonzero(~batch.dones)).size and step != steps:
        seats = batch.turn[live]
        actions[:] = NO_ACTION
        choose_actions(
            game, policies, seated[live, seats], tables=tables, rows=live, observations=batch.observations,
            masks=batch.masks, encoder=encoder, actions=actions,
        )  # fmt: skip
        decisions = None
        if on_decisions is not None:
            seen = batch.observations[live], batch.masks[live], actions[live], total[live, seats]
            decisions = Decisions(live, seats.copy(), *seen)
        run.step(records, actions, batch, False)
        total[live] += batch.rewards[live]
        if on_decisions is not None and decisions is not None:
            on_decisions(decisions)
        step += 1
    return total


def tables_with_seed(game: Game, count: int, seed: int | Sequence[int] | None) -> Tables:
    """Return `count` new tables whose random streams are made from `seed` (see `rng.streams`)."""
    tables = game.tables(count)
    tables.stream = streams(seed, count)
    return tables


class RandomPolicy:
    """Chooses a legal action index, uniformly.

    Args:
        seed: seed of the policy's random stream; None takes entropy from the operating system.
    """

    def __init__(self, seed: int | None = None) -> None:
        self._words = streams(seed, 1)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return a legal action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        actions = np.zeros(len(masks), np.int64)
        draw_legal(masks, self._words, actions)
        return actions


def random_bot(game: Game, seed: int | None = None) -> RandomPolicy:
    """Return a `RandomPolicy`: the bot `random` of every game."""
    return RandomPolicy(seed)
