"""Reference opponents: for every game a frozen pool, against which any player is rated offline.

    pool = load_pool("leduc")
    game = pool.make_game()
    results = play(policy, game, pool.players(game), streams(0, 500))
    rate(pool, game, results)["rating"]

A pool is a file in ``pools/``. It never changes after its release: a change is another version beside it. It holds the
game's options, its members with digests of their weights (policies) or of their play (bots), and the two marks of its
scale: 0 is random play, 100 is the member with the greatest mean. The mean is over all members and roles.
"""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ... import zoo
from ...envs import Game, play_until_done
from ...envs import game as make_game
from ...envs.core.random_policy import RandomPolicy
from ...envs.core.registry import PLATFORM_IDS, id_of, with_underscores
from ...envs.core.rng import streams
from ...envs.core.rollout import Decisions, Policy, act_of, tables_with_seed
from ...wrappers.agents.as_policy import AgentsAsPolicy
from ...wrappers.policies.loading import make_policy
from .duplicate import results_of_seeds, unit_per_game
from .scores import Score, student_quantile
from .team_matches import against_team, finished, teams_of, winning_team

Floats = NDArray[np.float64]

POOLS = files(__package__).joinpath("pools")
"""The folder of the pools, ``GAME-VERSION.toml``."""
LEAST = 0.02
"""The least distance of a role's marks, as a share of the greatest one, for a rating: some roles decide nothing."""
FEWEST = 10
"""The least number of deals for an interval: fewer can have the same result by chance, and a width of zero."""
NO_INTERVAL = {"low": None, "high": None}
TRIED = 8
"""Matches of a bot with itself that its digest covers."""


class Member(msgspec.Struct, frozen=True, kw_only=True):
    """One opponent of a pool.

    Attributes:
        name: its name.
        plays: the bot, or the policy of the zoo, that it is; a checkpoint has other weights of the latter.
        digest: of the weights of a policy of the zoo (SHA-256 of the file); of the play of a bot (see `digest_of`).
        random: the share of its decisions that are random.
    """

    name: str
    plays: str
    digest: str
    random: float = 0.0

    @property
    def where(self) -> str:
        """The bot, or the file of its weights.

        Raises:
            ValueError: if the zoo has no such weights any more.
        """
        return str(weights_with(self.digest, self.plays)) if self.plays.startswith(zoo.PREFIX) else self.plays

    def player(self, game: Game, seed: int | None = None) -> Policy:
        """Return it as a policy; the errors are those of `where`."""
        policy = make_policy(self.where, game, seed=seed)
        return PartlyRandom(policy, self.random, seed) if self.random else policy


class Pool(msgspec.Struct, frozen=True, kw_only=True):
    """The opponents of a game.

    Attributes:
        game: the game's id.
        version: counts the pools of the game from 1 up.
        options: the game's options, all of them.
        members: the opponents.
        best: the member with the greatest mean against the pool.
        low: what random play has in each role (see `roles`), on average over the members.
        high: what `best` has.
    """

    game: str
    version: int
    options: dict[str, Any]
    members: list[Member]
    best: str
    low: list[float]
    high: list[float]

    @property
    def digest(self) -> str:
        """The first 16 digits of the SHA-256 of all fields."""
        return sha256(msgspec.json.encode(self, order="deterministic")).hexdigest()[:16]

    def make_game(self) -> Game:
        """Return the game with its options."""
        return make_game(self.game, **self.options)

    def players(self, game: Game, seed: int = 0) -> list[Policy]:
        """Return the members as policies, each with a random stream of its own."""
        seeds = streams(seed, len(self.members)).tolist()
        return [member.player(game, one) for member, one in zip(self.members, seeds, strict=True)]


def load_pool(name: str, version: int | None = None) -> Pool:
    """Return a pool of a game.

    Args:
        name: the game, such as ``"leduc"``, ``"leduc-v0"`` or a platform's id.
        version: the pool's version; None: the latest.

    Raises:
        ValueError: if there is no such game or pool.
    """
    game_id, platform = id_of(name), PLATFORM_IDS.get(with_underscores(name))
    fixed = {} if platform is None else platform.options
    versions = {
        pool.version: pool for pool in pools() if pool.game == game_id and fixed.items() <= pool.options.items()
    }
    if not versions or (version is not None and version not in versions):
        there = f"there are {', '.join(map(str, sorted(versions)))}" if versions else "the game has none"
        raise ValueError(f"there is no pool {'' if version is None else f'{version} '}of {name}; {there}")
    return versions[version or max(versions)]


def pools() -> list[Pool]:
    """Return all pools."""
    names = sorted(file.name for file in POOLS.iterdir() if file.name.endswith(".toml"))
    return [msgspec.toml.decode(POOLS.joinpath(name).read_bytes(), type=Pool) for name in names]


def weights_with(digest: str, name: str) -> Path:
    """Return the file of the zoo with these weights; a pool's weights stay when the zoo's policy is replaced.

    Raises:
        ValueError: if there is none.
    """
    short = name.removeprefix(zoo.PREFIX)
    for file in sorted(zoo.FOLDER.rglob(f"{short}*.npz")):
        if sha256(file.read_bytes()).hexdigest() == digest:
            return file
    raise ValueError(f"the zoo has no weights of {name} with the digest {digest[:16]}, which a reference pool names")


def digest_of(policy: Policy, game: Game) -> str:
    """Return the SHA-256 of a policy's decisions and rewards in `TRIED` matches with itself.

    Seats, actions and rewards count; so it also changes with the rules of the game.
    """
    digest = sha256()

    def see(decisions: Decisions) -> None:
        for each in (decisions.tables, decisions.seats, decisions.actions):
            digest.update(np.asarray(each, "<i8").tobytes())

    total = play_until_done(game, [policy], tables_with_seed(game, TRIED, 0), on_decisions=see)
    digest.update(np.round(total, 6).astype("<f8").tobytes())
    return digest.hexdigest()


class PartlyRandom:
    """A policy that plays a share of its decisions at random.

    Args:
        policy: the policy.
        share: the share, 0 to 1.
        seed: of the draws.
    """

    def __init__(self, policy: Policy, share: float, seed: int | None = None) -> None:
        self.encoder = getattr(policy, "encoder", None)
        self._policy, self._share = policy, share
        self._random, self._draws = RandomPolicy(seed), np.random.default_rng(seed)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """See `Policy.act`."""
        return self._mixed(self._policy.act(observations, masks), observations, masks)

    def act_on(
        self, tables: Any, rows: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """See `Policy`."""
        return self._mixed(act_of(self._policy, tables, rows, observations, masks), observations, masks)

    def _mixed(
        self, actions: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        drawn = self._draws.random(len(masks)) < self._share
        return np.where(drawn, self._random.act(observations, masks), actions)


# Play.


def roles(game: Game) -> tuple[str, ...]:
    """Return what a player is rated in: the teams, or the seats by their agents."""
    return tuple(game.agents) if game.capabilities.teams is None else tuple(teams_of(game).names)


def play(
    player: Policy, game: Game, opponents: Sequence[Policy], seeds: Sequence[int]
) -> tuple[Floats, NDArray[np.bool_]]:
    """Play every deal with a player in each role, once against each opponent, which has all other seats.

    Args:
        player: the player.
        game: the game.
        opponents: the opponents.
        seeds: the seeds of the deals.

    Returns:
        float64[opponents, deals, roles], what the player has in `Payoffs.unit`; in a game with teams 1 if its team
        wins, else 0. bool[opponents, deals, roles], where an answer of it was replaced by the safe action.
    """
    results = np.zeros((len(opponents), len(seeds), len(roles(game))))
    faulty = np.zeros(results.shape, bool)
    for number, opponent in enumerate(opponents):
        if game.capabilities.teams is None:
            _begin(player)
            results[number] = results_of_seeds(player, game, [opponent], seeds)
            faulty[number].reshape(-1)[_faulty(player)] = True
            continue
        for team, name in enumerate(roles(game)):
            _begin(player)
            seated = against_team(game, name, player, opponent)
            tables, total = finished(game, seated, np.asarray(seeds, np.uint64))
            results[number, :, team] = winning_team(game, tables, total) == team
            faulty[number, _faulty(player), team] = True
    return results, faulty


def _begin(player: Policy) -> None:
    if isinstance(player, AgentsAsPolicy):
        player.begin()


def _faulty(player: Policy) -> list[int]:
    return sorted(player.faulty) if isinstance(player, AgentsAsPolicy) else []


# Ratings.


def rate(pool: Pool, game: Game, results: Floats, faulty: NDArray[np.bool_] | None = None) -> dict[str, Any]:
    """Return what results come to, as JSON.

    Args:
        pool: the pool.
        game: its game.
        results: float64[members, deals, roles], see `play`; at least 2 deals.
        faulty: bool[members, deals, roles], see `play`.

    Returns:
        ``rating``, on the pool's scale: ``mean``, ``low`` and ``high``, a 95 % interval over the deals (both None below
        `FEWEST` deals); ``return``, the same in the game's unit; ``roles`` and ``members``, by name, with both and with
        the return alone; ``worst``, the member with the lowest return; ``skill``, the rating of the deals and roles
        with no decision replaced, if some were and there are enough others.
    """
    unit = unit_per_game(game) if game.capabilities.teams is None else "share of the matches won"
    low, high = np.array(pool.low), np.array(pool.high)
    least = LEAST * float(np.abs(high - low).max())

    def score(of: Floats) -> Score:
        return Score.of(of.mean(axis=(0, 2)), unit, of.size)

    whole = score(results)
    by_role = {name: score(results[:, :, [role]]) for role, name in enumerate(roles(game))}
    members = {member.name: score(results[[number]]) for number, member in enumerate(pool.members)}
    return {
        "rating": on_scale(whole, float(low.mean()), float(high.mean())),
        "return": _as_dict(whole),
        "roles": {
            name: {"rating": on_scale(one, low[role], high[role], least), "return": _as_dict(one)}
            for role, (name, one) in enumerate(by_role.items())
        },
        "members": {name: _as_dict(one) for name, one in members.items()},
        "worst": min(members, key=lambda name: members[name].mean),
        "skill": None if faulty is None or not faulty.any() else _skill(pool, results, ~faulty, whole),
    }


def _as_dict(score: Score) -> dict[str, Any]:
    return score.to_dict() | ({} if score.deals >= FEWEST else NO_INTERVAL)


def on_scale(score: Score, low: float, high: float, least: float = 1e-6) -> dict[str, float | None] | None:
    """Return a score as a rating: 0 at `low`, 100 at `high`; None if these are no further apart than `least`."""
    if abs(high - low) <= least:
        return None
    ends = sorted(100 * (value - low) / (high - low) for value in (score.low, score.high))
    mean = 100 * (score.mean - low) / (high - low)
    return {"mean": mean, **({"low": ends[0], "high": ends[1]} if score.deals >= FEWEST else NO_INTERVAL)}


def _skill(pool: Pool, results: Floats, clean: NDArray[np.bool_], whole: Score) -> dict[str, float | None] | None:
    """Return the rating of the games with no decision replaced: every member and role counts the same."""
    counts = clean.sum(axis=1)
    if counts.min() < 2:
        return None
    means = (results * clean).sum(axis=1) / counts
    # What each deal moves the mean by: the games of a deal share its luck.
    moved = ((results - means[:, None]) * clean / counts[:, None]).sum(axis=(0, 2)) / means.size
    half = student_quantile(moved.size - 1) * float(np.sqrt((moved**2).sum() * moved.size / (moved.size - 1)))
    mean = float(means.mean())
    score = Score(mean, mean - half, mean + half, int(counts.min()), int(clean.sum()), whole.unit)
    return on_scale(score, float(np.mean(pool.low)), float(np.mean(pool.high)))


def paired(one: Mapping[str, Any], other: Mapping[str, Any]) -> Score | None:
    """Return by how much one player's return is greater than another's, on the deals that both have played.

    Args:
        one: a result of `parlour evaluate reference`.
        other: another one.

    Returns:
        None if they have other pools or seeds, or fewer than `FEWEST` deals in common.
    """
    same = all(one[name] == other[name] for name in ("game", "pool", "seed"))
    deals = min(one["deals"], other["deals"])
    if not same or deals < FEWEST:
        return None
    mine, theirs = (np.array(each["results"])[:, :deals].mean(axis=(0, 2)) for each in (one, other))
    return Score.of(mine - theirs, one["return"]["unit"], deals)
