"""Reference opponents: for every game a frozen pool, against which any player is rated offline; leaderboards.

    pool = load_pool("leduc")
    game = pool.make_game()
    results = play(policy, game, pool.players(game), streams(0, 500))
    rate(pool, game, results)["rating"]

A pool is a file in ``pools/``. It never changes after its release: a change is another version beside it. It holds the
game's options, its members with digests of their weights (policies) or of their play (bots), and the two marks of its
scale: 0 is random play, 100 is the member with the greatest mean. The mean is over all members and roles.
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from ... import zoo
from ...envs import Game, play_until_done, streams
from ...envs import game as make_game
from ...envs.core.files import parsed
from ...envs.core.record import Tables
from ...envs.core.registry import PLATFORM_IDS, id_of, with_underscores
from ...envs.core.rollout import Decisions, Policy, RandomPolicy, act_of, tables_with_seed
from ...wrappers.agents.language_model import AgentsAsPolicy, ModelCall, ModelStatistics
from ...wrappers.policies.loading import make_policy
from ..evaluation.cross_play import teams_of, winning_team
from ..evaluation.duplicate import Score, student_quantile, unit_per_game
from ..evaluation.exact import Floats, Ints

POOLS = files(__package__).joinpath("pools")
"""The folder of the pools, ``GAME-VERSION.toml``."""
LEAST = 0.02
"""The least distance of a role's marks, as a share of the greatest one, for a rating: some roles decide nothing."""
FEWEST = 10
"""The least number of deals for an interval: fewer can have the same result by chance, and a width of zero."""
NO_INTERVAL = {"low": None, "high": None}
ROUND = 50
"""Deals that a policy plays at the same time, before the time is looked at."""
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


@cache
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
        return self.act_on(None, np.arange(len(masks)), observations, masks)

    def act_on(
        self, tables: Any, rows: NDArray[np.int64], observations: NDArray[np.float32], masks: NDArray[np.int8]
    ) -> NDArray[np.int64]:
        """See `Policy`."""
        actions = act_of(self._policy, tables, rows, observations, masks)
        drawn = self._draws.random(len(masks)) < self._share
        return np.where(drawn, self._random.act(observations, masks), actions)


# Play.


def roles(game: Game) -> tuple[str, ...]:
    """Return the roles of a player: the teams, or the seats by their agents."""
    return tuple(game.agents) if game.capabilities.teams is None else tuple(teams_of(game).names)


def unit_of(game: Game) -> str:
    """Return the unit of a result; in a game with teams it is 1 for a match that is won, else 0."""
    return unit_per_game(game) if game.capabilities.teams is None else "share of the matches won"


def results_of(player: Policy, game: Game, opponents: Sequence[Policy], seeds: Sequence[int], own: Ints) -> Floats:
    """Play one game per seed at the same time: float64[N], in the unit of `unit_of`.

    Args:
        player: the player.
        game: the game.
        opponents: N policies: who has all other seats of each game.
        seeds: N seeds.
        own: int64[N], the number of the player's role.
    """
    others = list({id(one): one for one in opponents}.values())
    number = {id(one): place for place, one in enumerate(others, 1)}
    who, teams = np.array([number[id(one)] for one in opponents]), game.capabilities.teams
    tables = game.tables(len(seeds))
    tables.stream = streams(seeds, len(seeds)) if teams is None else np.asarray(seeds, np.uint64)

    def seated(tables: Tables) -> Ints:
        role = np.arange(game.seats) if teams is None else np.asarray(teams.of(tables))
        return np.where(role == own[:, None], 0, who[:, None])

    total = play_until_done(game, [player, *others], tables, who=seated)
    if teams is not None:
        return np.asarray(winning_team(game, tables, total) == own, np.float64)
    if (reduction := game.capabilities.variance_reduction) is not None:
        total = reduction.without_luck(tables, total)
    return np.asarray(total[np.arange(len(tables)), own] / game.payoffs.unit, np.float64)


def play(player: Policy, game: Game, opponents: Sequence[Policy], seeds: Sequence[int]) -> Floats:
    """Play every deal with a player in each role, once against each opponent: float64[opponents, deals, roles]."""
    count, results = len(roles(game)), np.zeros((len(opponents), len(seeds), len(roles(game))))
    apart = [np.arange(count)] if game.capabilities.teams is None else np.arange(count)[:, None]  # own streams of teams
    for number, opponent in enumerate(opponents):
        for own in apart:
            each = [seed for seed in seeds for _ in own]
            won = results_of(player, game, [opponent] * len(each), each, np.tile(own, len(seeds)))
            results[number][:, own] = won.reshape(len(seeds), -1)
    return results


Cell = tuple[int, int, int]
"""A game of a rating: the numbers of its deal, its opponent and the player's role."""
Calls = Sequence[tuple[int, ModelCall]]
"""The answers of a language model in a game, each with its seat."""


@dataclass
class Games:
    """The games of a player: every deal in every role against every opponent, as far as they have been played.

    Args:
        game: the game.
        player: makes the player with a seed; a language model plays all of its seats.
        opponents: each makes an opponent with a seed.
        results: float64[opponents, deals, roles], NaN for a game that has not been played.
        faulty: bool, of the same shape: whether the safe action was played in place of an answer.
        seed: of the deals.
        answered: called with the answers of a language model in a game that counts.
        lost: the answers in games that do not count, because the endpoint failed.
    """

    game: Game
    player: Callable[[int], Policy]
    opponents: Sequence[Callable[[int], Policy]]
    results: Floats
    faulty: NDArray[np.bool_]
    seed: int
    answered: Callable[[Cell, Calls], None] = lambda cell, calls: None
    lost: list[tuple[Cell, Calls]] = field(default_factory=list)

    @property
    def deals(self) -> int:
        """The number of deals of which all games have been played."""
        return int((~np.isnan(self.results).any(axis=(0, 2))).sum())

    def play(self, until: float = math.inf, each: Callable[[], None] = lambda: None) -> str | None:
        """Play what is missing; return what ended it before the time, None: nothing.

        Args:
            until: when no further game begins, in seconds of `time.monotonic`. Of a language model, games that are
                under way then do not count.
            each: called whenever games have been played.
        """
        count, deals = self.results.shape[:2]
        seeds, player = streams(self.seed, deals).tolist(), self.player(self.seed)
        if isinstance(player, AgentsAsPolicy):
            return self._ask(player, seeds, until, each)
        for start in range(self.deals, deals, ROUND):
            drawn = zip(self.opponents, streams(self.seed + 1 + start, count).tolist(), strict=True)
            others, chunk = [make(seed) for make, seed in drawn], slice(start, start + ROUND)
            self.results[:, chunk] = play(self.player(self.seed + start), self.game, others, seeds[chunk])
            each()
            if time.monotonic() >= until:
                break
        return None

    def _ask(self, player: AgentsAsPolicy, seeds: list[int], until: float, each: Callable[[], None]) -> str | None:
        missing = np.argwhere(np.isnan(self.results).transpose(1, 0, 2)).tolist()
        todo: list[Cell] = [(deal, which, role) for deal, which, role in missing]
        held: list[tuple[Cell, float, bool, Calls]] = []
        for start in range(0, len(todo), player.parallel):
            cells = todo[start : start + player.parallel]
            player.begin(until)
            drawn = [streams(self.seed + 1 + deal, len(self.results)).tolist() for deal, _, _ in cells]
            others = [self.opponents[which](own[which]) for (_, which, _), own in zip(cells, drawn, strict=True)]
            own = np.array([role for _, _, role in cells])
            won = results_of(player, self.game, others, [seeds[deal] for deal, _, _ in cells], own)
            for row, cell in enumerate(cells):
                if row not in player.unplayed or player.problem is not None:
                    held.append((cell, won[row], row in player.faulty, player.calls[row]))
            if player.problem is not None:  # the games since the first failure do not count
                self.lost = [(cell, calls) for cell, _, _, calls in held]
                return player.problem
            ended = time.monotonic() >= until or start + player.parallel >= len(todo)
            if not player.failing or ended:
                for (deal, which, role), result, faulty, calls in held:
                    self.results[which, deal, role], self.faulty[which, deal, role] = result, faulty
                    self.answered((deal, which, role), calls)
                held.clear()
                each()
            if ended:
                break
        return None


# Ratings.


def score(results: Floats, unit: str, counted: NDArray[np.bool_] | None = None) -> Score:
    """Return the mean of games, each opponent and role counting the same, with its interval over the deals.

    Args:
        results: float64[opponents, deals, roles], NaN for a game that was not played.
        unit: their unit.
        counted: bool, the games that count; None: all.

    Returns:
        Its ``deals`` are the fewest games of an opponent and role; below 2 the interval is not known (NaN).
    """
    played = ~np.isnan(results) if counted is None else ~np.isnan(results) & counted
    counts, results = played.sum(axis=1), np.where(played, results, 0.0)
    means = np.divide(results.sum(axis=1), counts, out=np.full(counts.shape, np.nan), where=counts > 0)
    mean = float(np.nanmean(means)) if played.any() else math.nan
    half, deals = math.nan, int(counts.min(initial=results.shape[1]))
    if deals >= 2:
        # What each deal moves the mean by: the games of a deal share its luck.
        moved = ((results - means[:, None]) * played / counts[:, None]).sum(axis=(0, 2)) / means.size
        half = student_quantile(moved.size - 1) * float(np.sqrt((moved**2).sum() * moved.size / (moved.size - 1)))
    return Score(mean, mean - half, mean + half, deals, int(played.sum()), unit)


def rate(pool: Pool, game: Game, results: Floats, faulty: NDArray[np.bool_] | None = None) -> dict[str, Any]:
    """Return the ratings and means of results, as JSON.

    Args:
        pool: the pool.
        game: its game.
        results: float64[members, deals, roles], NaN for a game that was not played.
        faulty: bool[members, deals, roles]: whether the safe action was played in place of an answer.

    Returns:
        ``rating``, on the pool's scale: ``mean``, ``low`` and ``high``, a 95 % interval over the deals (both None below
        `FEWEST` deals); ``return``, the same in the game's unit; ``roles`` and ``members``, by name, with both and with
        the return alone; ``worst``, the member with the lowest return; ``skill``, the rating of the games with no
        decision replaced, if some were and there are enough others.
    """
    unit = unit_of(game)
    low, high = np.array(pool.low), np.array(pool.high)
    least = LEAST * float(np.abs(high - low).max())
    whole = score(results, unit)
    by_role = {name: score(results[:, :, [role]], unit) for role, name in enumerate(roles(game))}
    members = {member.name: score(results[[number]], unit) for number, member in enumerate(pool.members)}
    skill = None if faulty is None or not faulty.any() else score(results, unit, ~faulty)
    ends = float(low.mean()), float(high.mean())
    return {
        "rating": on_scale(whole, *ends),
        "return": _as_dict(whole),
        "roles": {
            name: {"rating": on_scale(one, low[role], high[role], least), "return": _as_dict(one)}
            for role, (name, one) in enumerate(by_role.items())
        },
        "members": {name: _as_dict(one) for name, one in members.items()},
        "worst": min((name for name in members if members[name].games), key=lambda name: members[name].mean),
        "skill": None if skill is None or skill.deals < 2 else on_scale(skill, *ends),
    }


def _as_dict(score: Score) -> dict[str, Any]:
    figures = score.to_dict() | ({} if score.deals >= FEWEST else NO_INTERVAL)
    return figures if score.games else {**figures, "mean": None}


def on_scale(score: Score, low: float, high: float, least: float = 1e-6) -> dict[str, float | None] | None:
    """Return a score as a rating: 0 at `low`, 100 at `high`; None if these are no further apart than `least`, or
    there is no game."""
    if abs(high - low) <= least or not score.games:
        return None
    ends = sorted(100 * (value - low) / (high - low) for value in (score.low, score.high))
    mean = 100 * (score.mean - low) / (high - low)
    return {"mean": mean, **({"low": ends[0], "high": ends[1]} if score.deals >= FEWEST else NO_INTERVAL)}


def paired(one: Mapping[str, Any], other: Mapping[str, Any]) -> Score | None:
    """Return by how much one player's return is greater than another's, on the deals that both have played.

    Args:
        one: a result of `parlour evaluate reference`.
        other: another one.

    Returns:
        None if they have other pools or seeds, or fewer than `FEWEST` deals in common.
    """
    same = all(one[name] == other[name] for name in ("game", "pool", "seed"))
    if not same:
        return None
    mine, theirs = (np.array(each["results"], np.float64).mean(axis=(0, 2)) for each in (one, other))
    deals = min(len(mine), len(theirs))
    gaps = mine[:deals] - theirs[:deals]
    gaps = gaps[~np.isnan(gaps)]  # deals that both have played to the end
    return None if len(gaps) < FEWEST else Score.of(gaps, "more " + one["return"]["unit"], len(gaps))


# Results.

Result = Mapping[str, Any]


def read_result(file: Path) -> dict[str, Any]:
    """Return a result of `parlour evaluate reference`.

    Raises:
        ValueError: if the file holds none.
    """
    try:
        return _checked(parsed(file.read_bytes(), "it"))
    except ValueError as error:
        raise ValueError(f"{file} is no result of parlour evaluate reference: {error}") from None


def _checked(read: Any) -> dict[str, Any]:
    """Return a result that a table can show, and from which a rating can go on.

    Raises:
        ValueError: if it lacks something, or its parts do not fit together.
    """
    try:
        shape = len(read["members"]), read["deals"], len(read["roles"])
        for numbers in (read["results"], read["faulty"] or read["results"]):
            if np.shape(numbers) != shape:  # NumPy raises ValueError for rows of several lengths
                raise ValueError("its results are not one for every member, deal and role")
        for row in read["counts"].values():
            ModelStatistics.of(row)
        entry(read)
        return {**read}
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{type(error).__name__}: {error}") from None


def interval(score: Mapping[str, Any] | None, sign: str = "") -> str:
    """Return a mean with its interval, where it has one, to the first digit of its half; a dash for None.

    >>> interval({"mean": -96.83, "low": -120.4, "high": -73.2})
    '-97 [-120, -73]'
    >>> interval({"mean": 0.12345, "low": 0.1, "high": 0.147}, "+")
    '+0.12 [+0.10, +0.15]'
    >>> interval({"mean": -0.2, "low": -1.3, "high": 0.9})
    '0 [-1, 1]'
    """
    if score is None or score["mean"] is None:
        return "—"
    mean, low, high = (score[name] for name in ("mean", "low", "high"))
    exact = abs(mean) / 10 if low is None else (high - low) / 2
    form = f"{sign}z.{max(0, -math.floor(math.log10(exact))) if exact else 0}f"
    return f"{mean:{form}}" + ("" if low is None else f" [{low:{form}}, {high:{form}}]")


def caveats(one: Result) -> str:
    """Return the end of the line of a rating: the pairs that were not played, and the number of replaced answers."""
    unplayed = np.isnan(np.array(one["results"], np.float64)).all(axis=1)
    pairs = f", without {unplayed.sum()} of {unplayed.size} pairs of opponent and role" if unplayed.any() else ""
    decisions, replaced = (sum(int(row[name]) for row in one["counts"].values()) for name in ("decisions", "replaced"))
    return pairs + (f", of {decisions:,} decisions {replaced:,} were replaced" if replaced else "")


def entry(result: Result) -> dict[str, str]:
    """Return the line of a leaderboard, by heading."""
    worth, counts = result["exploitability"], result["counts"].values()
    decisions, replaced = (sum(row[name] for row in counts) for name in ("decisions", "replaced"))
    return {
        "player": result["player"],
        "rating, 95 %": interval(result["rating"]) + caveats(result),
        **{role: interval(one["rating"]) for role, one in result["roles"].items()},
        result["return"]["unit"]: interval(result["return"], "+"),
        "skill": interval(result["skill"]),
        "exploitability": "—" if worth is None else f"{worth:.4f}",
        "replaced / 100 decisions": f"{100 * replaced / decisions:.1f}" if decisions else "—",
        "deals": f"{result['deals']:,}",
    }


def leaderboards(results: Sequence[Result]) -> dict[str, list[dict[str, str]]]:
    """Return the lines of all results by game and pool, the best player first.

    The last column has what the first player wins more on the deals that both have played.
    """
    boards: dict[str, list[dict[str, str]]] = {}
    first: dict[str, Result] = {}
    for one in sorted(results, key=lambda one: -one["return"]["mean"]):
        title = f"{one['game']}, pool {one['pool']['version']} ({one['pool']['digest']})"
        best = first.setdefault(title, one)
        more = None if best is one else paired(best, one)
        behind = "—" if more is None else interval(more.to_dict(), "+")
        boards.setdefault(title, []).append({**entry(one), "the first has more": behind})
    return boards
