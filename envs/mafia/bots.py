"""Scripted players: four personalities, each of which plays all four roles by heuristics.

They are policies: they get the observation and the mask of their seat, and nothing else, and they have no memory.

- **Night.** The mafia choose the same target: a player who claims to be sheriff, else one who claims to be doctor, else
  the player whom the town trusts most. The doctor protects a player who claims to be sheriff, else the most trusted
  one. The sheriff investigates the most suspicious player whom it has not investigated.
- **Discussion.** The sheriff reveals its results in four cases: it has found mafia and the mafia could win soon; it has
  made some investigations (usually two); another player claims to be sheriff; it looks suspicious itself. From then on
  it always reveals them. The doctor reveals its role when it looks suspicious. Others accuse a player with enough
  suspicion, defend themselves, and defend players whom they trust. The mafia lie with the probability `lie_frequency`:
  they accuse the innocent, defend each other and themselves, and make false claims. Otherwise they make a general
  statement, or accuse a teammate who will be eliminated anyway.
- **Vote.** For a player known to be mafia; else sometimes for a random player; else for the most accused of today; else
  for the most suspicious, if the suspicion is enough. The mafia vote with the town against a player of the town.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.compiled import compiled
from ..core.game import Game
from ..core.options import named, number
from ..core.rng import GOLDEN, choose, fraction, mix, streams
from ..core.rollout import random_bot
from .statements import ACCUSES, CLEARS, DEFENDS, FINDS, KIND
from .table import DOCTOR, MAFIA, NIGHT, SHERIFF, VILLAGER, VOTING


@compiled
def suspicion(table: Any, seat: int, out: Any) -> None:
    """Write the suspicion of `seat` about every player, by relative seat: float[seats], 0 to 1 (points / 100)."""
    seats = table.seats
    latest = table.round_number - (table.phase == NIGHT)  # the latest day; 0: none
    rows = latest * table.discussion_rounds if table.talk else 0
    total = 0.0
    for other in range(seats):
        total += table.accused[other] * table.alive[other]
    average = total / table.living
    mafia, cleared = _results(table, seat, rows)
    defended = 0  # a set of bits, as the results are
    for row in range(max(rows - table.discussion_rounds, 0), rows):
        for other in range(seats):
            defended |= (table.said[row * seats + other] == DEFENDS + other) << other
    for other in range(table.players, seats):
        out[other - seat if other >= seat else other - seat + seats] = 0.0
    for other in range(table.players):
        points = 50.0 + 5.0 * max(table.accused[other] - average, 0.0) + table.conduct[other]
        gone = table.eliminated_round[other]
        points += 3.0 * latest if gone == 0 else 3.0 * (gone - 1 + table.voted_out[other]) - 20.0
        points += 8.0 * (defended >> other & 1) + 30.0 * (mafia >> other & 1) - 25.0 * ((cleared & ~mafia) >> other & 1)
        out[other - seat if other >= seat else other - seat + seats] = min(max(0.01 * points, 0.0), 1.0)


@compiled
def judge_votes(table: Any) -> None:
    """Write the points of every player for its votes."""
    seats = table.seats
    for voter in range(seats):
        table.conduct[voter] = _latest_vote(table, voter)
        if table.living_mafia < table.mafia:
            for row in range(table.votings):
                target = table.votes[row * seats + voter]
                if target >= 0 and not table.alive[target] and table.role[target] == MAFIA:
                    table.conduct[voter] -= 15


@compiled
def _latest_vote(table: Any, voter: int) -> int:
    seats = table.seats
    row = table.votings - 1
    if row < 0 or table.votes[row * seats + voter] < 0:
        return 0
    target = table.votes[row * seats + voter]
    points = 0
    if row > 0:
        before = table.votes[(row - 1) * seats + voter]
        if before >= 0 and before != target:
            gone = table.eliminated_round[before]
            if gone == 0 or gone > row + 1 or (gone == row + 1 and table.voted_out[before]):
                points += 15
    accused = False
    for speech in range(row * table.discussion_rounds, (row + 1) * table.discussion_rounds if table.talk else 0):
        code = table.said[speech * seats + voter]
        accused |= code == ACCUSES + target or code == FINDS + target
    if accused:
        points -= 10
    elif table.eliminated_round[target] == row + 1 and table.voted_out[target]:
        points += 8
    return points


@compiled
def _results(table: Any, seat: int, rows: int) -> tuple[int, int]:
    """Return the players found to be mafia, and those found innocent, as sets of bits (1 << seat).

    They are found by `seat`'s own investigations and by credible claims: of players who turned out to be sheriff, and
    of living ones, if no more of them claim to be sheriff than there are living sheriffs.
    """
    mafia = 0
    cleared = 0
    seats = table.seats
    claimants = 0
    sheriffs = table.sheriffs
    for other in range(seats):
        alive = table.alive[other]
        claimants += alive & (table.claimed[other] == SHERIFF)
        sheriffs -= (1 - alive) & (table.role[other] == SHERIFF)
    credible = 0
    for speaker in range(seats):
        trusted = claimants <= sheriffs if table.alive[speaker] else table.role[speaker] == SHERIFF
        credible |= (trusted & (table.claimed[speaker] == SHERIFF) & (speaker != seat)) << speaker
    speaker = 0
    while credible >> speaker:
        if credible >> speaker & 1:
            for row in range(rows):
                code = int(table.said[row * seats + speaker])
                if FINDS <= code < FINDS + KIND:
                    mafia |= 1 << (code - FINDS)
                elif CLEARS <= code < CLEARS + KIND:
                    cleared |= 1 << (code - CLEARS)
        speaker += 1
    if table.role[seat] == SHERIFF:
        for row in range(table.round_number):
            target = int(table.night[row * seats + seat])
            if target >= 0:
                if table.role[target] == MAFIA:
                    mafia |= 1 << target
                else:
                    cleared |= 1 << target
    return mafia, cleared


PERSONALITIES = ("aggressive", "cautious", "analytical", "social")

TRAITS = np.array(
    # accuses  votes  follows  errs  wavers  checks  counters  denies  defends
    [
        [0.50, 0.50, 0.50, 0.25, 0.12, 1.0, 0.50, 0.20, 0.05],
        [0.58, 0.55, 0.70, 0.10, 0.06, 3.0, 0.05, 0.50, 0.10],
        [0.54, 0.53, 0.40, 0.05, 0.03, 2.0, 0.20, 0.25, 0.15],
        [0.55, 0.50, 0.85, 0.20, 0.10, 2.0, 0.20, 0.40, 0.50],
    ]
)
"""By personality: the least suspicion to accuse and to vote; the probability of a vote for the most accused, and of a
random vote; the size of the random change of its suspicion; the number of investigations after which its sheriff
reveals them; and the probabilities that its mafia claims to be sheriff, that it answers an accusation with a defence of
itself, and that it defends a trusted player when it suspects nobody enough."""
ACCUSING, VOTES, FOLLOWS, ERRS, WAVERS, CHECKS, COUNTERS, DENIES, DEFENDING = range(9)


@compiled
def _chance(words: Any) -> float:
    words[0] += GOLDEN
    return fraction(mix(words[0]))


@compiled
def _best(scores: Any, mask: Any, first: int, seats: int) -> int:
    """Return the legal target with the highest score above 0; 0 if there is none."""
    best = 0
    for r in range(1, seats):
        if mask[first + r] and scores[r] > max(scores[best] if best else 0.0, 0.0):
            best = r
    return best


@partial(compiled, allocates=True)
def _scripted(
    observations: Any, masks: Any, words: Any, offsets: Any, game: Any, who: Any, lies: Any, out: Any
) -> None:
    """Choose an action for every row, as the personality ``who``; −1: a personality per seat and match."""
    seats = game[0]
    at = offsets[0]
    scores = np.empty(seats)
    for i in range(len(masks)):
        seen = observations[i]
        mask = masks[i]
        personality = who if who >= 0 else _personality(seen, at, seats, words)
        traits = TRAITS[personality]
        role = 0
        for each in range(4):
            if seen[at.players_role + each] > 0:
                role = each + 1
        if seen[at.phase + NIGHT] > 0:
            number = _at_night(seen, mask, words, at, seats, traits, role, scores)
        elif seen[at.phase + VOTING] > 0:
            number = _vote(seen, mask, words, at, game, traits, role, scores)
        elif role == MAFIA:
            number = _mafia_says(seen, mask, words, at, seats, traits, lies[0], scores)
        else:
            number = _town_says(seen, mask, words, at, game, traits, role, lies[1], scores)
        if not mask[number]:
            words[0] += GOLDEN
            number = choose(mask, 0, mix(words[0]))
        out[i] = number


@compiled
def _personality(seen: Any, at: Any, seats: int, words: Any) -> int:
    """Return a personality that is fixed for the match and differs between seats. It follows from the relative seat of
    the first player killed at night; before that, it is random."""
    first = -1
    for r in range(seats):
        round_ = seen[at.players_eliminatedRound + r]
        if (
            round_ > 0
            and seen[at.votingHistory_eliminated + r] == 0
            and (first < 0 or round_ < seen[at.players_eliminatedRound + first])
        ):
            first = r
    return int(4 * _chance(words)) if first < 0 else first & 3


@compiled
def _impressions(seen: Any, words: Any, at: Any, seats: int, traits: Any, scores: Any) -> None:
    """Write the suspicion of this personality for each living player, from above 0 to above 1; −1 for the dead."""
    for r in range(seats):
        scores[r] = -1.0
        if seen[at.players_alive + r] > 0:
            scores[r] = max(seen[at.suspicion + r] + traits[WAVERS] * (_chance(words) - 0.5), 0.01)


@compiled
def _known(seen: Any, at: Any, game: Any, role: int, scores: Any) -> None:
    """Replace the scores of investigated players: 2 and more for mafia, −1 for the innocent."""
    seats = game[0]
    for r in range(1, seats):
        result = seen[at.privateKnowledge_investigationResults + r]
        if scores[r] > 0 and result != 0:
            scores[r] = scores[r] + 2.0 if result > 0 else -1.0
        elif scores[r] > 0 and role == SHERIFF and game[1] == 1 and _claims(seen, at, r, SHERIFF):
            scores[r] += 1.5  # there is only one sheriff, the observer


@compiled
def _claims(seen: Any, at: Any, r: int, role: int) -> bool:
    return seen[at.statements_claimed + 4 * r + role - 1] > 0


@compiled
def _at_night(seen: Any, mask: Any, words: Any, at: Any, seats: int, traits: Any, role: int, scores: Any) -> int:
    _impressions(seen, words, at, seats, traits, scores)
    if role == SHERIFF:
        for r in range(1, seats):
            if seen[at.privateKnowledge_investigationResults + r] != 0:
                scores[r] = -1.0
        return _best(scores, mask, 0, seats)
    for r in range(1, seats):  # the most trusted first; above them, players who claim to be sheriff or doctor
        if scores[r] > 0:
            scores[r] = 1.5 - scores[r]
            if _claims(seen, at, r, SHERIFF):
                scores[r] += 4.0
            elif role == MAFIA and _claims(seen, at, r, DOCTOR):
                scores[r] += 2.0
            if role == MAFIA:
                scores[r] += 20.0 * seen[at.nightActions + r]  # the same target as the teammates
                if seen[at.players_role + 4 * r + MAFIA - 1] > 0:
                    scores[r] = -1.0
    target = _best(scores, mask, 0, seats)
    if role == DOCTOR and mask[0] and scores[target] < 3.0 and _chance(words) < 0.25:
        return 0
    return target


@compiled
def _accused_today(seen: Any, at: Any, seats: int, r: int) -> float:
    """Return the number of accusations of `r` today; an investigation result counts twice."""
    total = 0.0
    for speaker in range(seats):
        total += max(seen[at.statements_today + speaker * seats + r], 0.0)
    return 2.0 * total


@compiled
def _leader(seen: Any, at: Any, seats: int, words: Any) -> int:
    """Return the most accused of the other living players today, at random among equals; 0 if nobody was accused."""
    best = 0
    most = 0.5
    for r in range(1, seats):
        if seen[at.players_alive + r] > 0:
            count = _accused_today(seen, at, seats, r) + 0.1 * _chance(words)
            if count > most:
                best = r
                most = count
    return best


@compiled
def _vote(seen: Any, mask: Any, words: Any, at: Any, game: Any, traits: Any, role: int, scores: Any) -> int:
    seats = game[0]
    _impressions(seen, words, at, seats, traits, scores)
    leader = _leader(seen, at, seats, words)
    if role == MAFIA:
        for r in range(1, seats):
            if seen[at.players_role + 4 * r + MAFIA - 1] > 0:
                scores[r] = -1.0
        if leader > 0 and scores[leader] > 0:
            return seats + leader
        return seats + _best(scores, mask, seats, seats)
    _known(seen, at, game, role, scores)
    top = _best(scores, mask, seats, seats)
    if top > 0 and scores[top] > 1.5:
        return seats + top
    if role == VILLAGER and _chance(words) < traits[ERRS]:
        words[0] += GOLDEN
        return choose(mask, seats + 1, mix(words[0]))
    if leader > 0 and scores[leader] > 0 and _chance(words) < traits[FOLLOWS]:
        return seats + leader
    return seats + top if top > 0 and scores[top] >= traits[VOTES] else seats


@compiled
def _town_says(
    seen: Any, mask: Any, words: Any, at: Any, game: Any, traits: Any, role: int, threshold: float, scores: Any
) -> int:
    seats = game[0]
    _impressions(seen, words, at, seats, traits, scores)
    _known(seen, at, game, role, scores)
    threatened = seen[at.suspicion] >= threshold
    if role == SHERIFF:
        number = _sheriff_says(seen, at, game, traits, threatened, scores)
        if number > 0:
            return number
    if role == DOCTOR and (threatened or _claims(seen, at, 0, DOCTOR)) and _accused_today(seen, at, seats, 0) > 0:
        return 5 * seats
    if _accused_today(seen, at, seats, 0) > 0 and _chance(words) < traits[DENIES]:
        return 3 * seats
    top = _best(scores, mask, 2 * seats, seats)
    if top > 0 and scores[top] >= traits[ACCUSING]:
        return 2 * seats + top
    if _chance(words) < traits[DEFENDING]:
        for r in range(1, seats):
            if scores[r] > 0:
                scores[r] = 2.0 - scores[r]
        trusted = _best(scores, mask, 3 * seats, seats)
        if trusted > 0:
            return 3 * seats + trusted
    return 2 * seats


@compiled
def _sheriff_says(seen: Any, at: Any, game: Any, traits: Any, threatened: bool, scores: Any) -> int:
    """Return the sheriff's claim with its most important result; 0 if it does not reveal its role."""
    seats = game[0]
    guilty = 0
    cleared = 0
    checks = 0
    rival = False
    living = 1
    for r in range(1, seats):
        result = seen[at.privateKnowledge_investigationResults + r]
        alive = seen[at.players_alive + r] > 0
        living += alive
        checks += result != 0
        rival |= alive and game[1] == 1 and _claims(seen, at, r, SHERIFF)
        if alive and result > 0:
            guilty = r
        elif alive and result < 0 and (cleared == 0 or seen[at.statements_stance + r] == 0):
            cleared = r  # preferably one that has not been revealed yet
    soon = 2 * round(seen[at.mafiaCount] * seats) + 2 >= living
    reveals = _claims(seen, at, 0, SHERIFF) or checks >= traits[CHECKS] or (guilty > 0 and soon)
    if not (reveals or threatened or (rival and checks > 0)):
        return 0
    if guilty > 0:
        return 5 * seats + guilty
    if cleared > 0:
        return 4 * seats + cleared
    return 4 * seats


@compiled
def _mafia_says(
    seen: Any, mask: Any, words: Any, at: Any, seats: int, traits: Any, lie_frequency: float, scores: Any
) -> int:
    _impressions(seen, words, at, seats, traits, scores)
    lost = 0
    for r in range(1, seats):
        if seen[at.players_role + 4 * r + MAFIA - 1] > 0:
            if scores[r] > 0 and seen[at.suspicion + r] >= 0.8:
                lost = r
            scores[r] = -1.0
    if _chance(words) >= lie_frequency:  # no lie: accuse a lost teammate, or make a general statement
        return 2 * seats + lost if lost > 0 and _chance(words) < traits[COUNTERS] else 2 * seats
    victim = _best(scores, mask, 2 * seats, seats)
    for r in range(1, seats):  # accuse the player who claims to have found one of the mafia
        if scores[r] > 0 and _claims(seen, at, r, SHERIFF):
            victim = r
    accused = _accused_today(seen, at, seats, 0) > 0
    if _claims(seen, at, 0, SHERIFF) or ((accused or seen[at.suspicion] >= 0.7) and _chance(words) < traits[COUNTERS]):
        return 5 * seats + victim
    if accused and _chance(words) < traits[DENIES]:
        return 3 * seats
    if _chance(words) < traits[DEFENDING]:
        for r in range(1, seats):
            mate = seen[at.players_role + 4 * r + MAFIA - 1] > 0 and seen[at.players_alive + r] > 0
            if mate and _accused_today(seen, at, seats, r) > 0:
                return 3 * seats + r
    return 2 * seats + victim


class Scripted:
    """A scripted player.

    Args:
        game: mafia with any options.
        seed: seed of its random stream; None takes entropy from the operating system.
        personality: one of `PERSONALITIES`, or ``"mixed"``: a different one at every seat of a match.
        lie_frequency: the probability that its mafia lies in a statement, 0 to 1.
        suspicion_threshold: the suspicion against it, 0 to 100, from which its sheriff and doctor reveal their role.

    Raises:
        ValueError: for a parameter that is out of its range.
    """

    encoder = "v0"

    def __init__(
        self,
        game: Game,
        seed: int | None = None,
        personality: str = "analytical",
        lie_frequency: float = 0.7,
        suspicion_threshold: float = 75.0,
    ) -> None:
        choices = (*PERSONALITIES, "mixed")
        self._who = choices.index(named("personality", personality, choices)) if personality != "mixed" else -1
        lies = number("lie_frequency", lie_frequency, 0, 1)
        self._lies = lies, number("suspicion_threshold", suspicion_threshold, 0, 100) / 100
        self._words = streams(seed, 1)
        self._offsets = game.encoders[self.encoder].layout.offsets
        self._game = game.seats, int(game.rules.blank[0].sheriffs)

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        actions = np.empty(len(masks), np.int64)
        _scripted(observations, masks, self._words, self._offsets, self._game, self._who, self._lies, actions)
        return actions


@partial(compiled, allocates=True)
def _loyal(observations: Any, masks: Any, words: Any, roles: int, out: Any) -> None:
    seats = (masks.shape[1] - 2) // 6
    allowed = np.empty(masks.shape[1], np.int8)
    for i in range(len(masks)):
        for k in range(len(allowed)):  # a loop: Numba takes seconds to compile an assignment of arrays
            allowed[k] = masks[i, k]
        mafia = observations[i, roles + MAFIA - 1] > 0
        last = 1
        for r in range(1, seats):
            last = max(last, masks[i, seats + r])
            if mafia and observations[i, roles + 4 * r + MAFIA - 1] > 0:
                allowed[r] = 0
                allowed[seats + r] = 0
        allowed[seats] = 0
        words[0] += GOLDEN
        out[i] = choose(allowed, 0, mix(words[0]))


class Loyal:
    """A random player that never abstains, and as mafia never chooses a teammate, at night or by day.

    Args:
        game: mafia with any options.
        seed: seed of its random stream; None takes entropy from the operating system.
    """

    encoder = "v0"

    def __init__(self, game: Game, seed: int | None = None) -> None:
        self._words = streams(seed, 1)
        self._roles = game.encoders[self.encoder].layout["game_state.players.role"].start

    def act(self, observations: NDArray[np.float32], masks: NDArray[np.int8]) -> NDArray[np.int64]:
        """Return an action index per row of float32[N, D] observations and int8[N, A] masks: int64[N]."""
        actions = np.empty(len(masks), np.int64)
        _loyal(observations, masks, self._words, self._roles, actions)
        return actions


BOTS: dict[str, Callable[..., Any]] = {
    "random": random_bot,
    "loyal": Loyal,
    **{personality: partial(Scripted, personality=personality) for personality in (*PERSONALITIES, "mixed")},
}
"""`random`: any legal action. `loyal`: the same, but it never abstains and never chooses teammates. Four scripted
personalities, and `mixed`: a different one at every seat."""
