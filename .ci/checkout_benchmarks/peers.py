"""Other libraries in the same run: OpenSpiel and PettingZoo's games."""

from collections.abc import Callable
from typing import Any

from parlour.training.benchmarks.base import Row, Seconds, rates, ratios
from parlour.training.benchmarks.environments import aec_hands, vector

OPEN_SPIEL = (
    "universal_poker(betting=nolimit,numPlayers=2,numRounds=4,blind=2 1,firstPlayer=2 1 1 1,numSuits=4,numRanks=13,"
    "numHoleCards=2,numBoardCards=0 3 1 1,stack=200 200,bettingAbstraction=fchpa)"
)


def openspiel(seconds: Seconds) -> list[Row]:
    """OpenSpiel's universal_poker, heads-up, with its observation tensor at every decision, random legal play."""
    try:
        import pyspiel
    except ImportError:
        return [_missing("openspiel", "OpenSpiel universal_poker, 2 seats", "pip install open_spiel")]
    run = _random_play(pyspiel.load_game(OPEN_SPIEL))
    return _beside("openspiel", "OpenSpiel universal_poker, 2 seats", run, 20, seconds)


def openspiel_auction(seconds: Seconds) -> list[Row]:
    """OpenSpiel's first_sealed_auction with 101 values, the nearest to our games in which each seat names a number."""
    what = "OpenSpiel first_sealed_auction, 2 seats"
    try:
        import pyspiel
    except ImportError:
        return [_missing("openspiel-auction", what, "pip install open_spiel")]
    games = {"cournot": "Cournot", "auction": "auction", "voluntary_contribution": "public good"}
    peer = _random_play(pyspiel.load_game("first_sealed_auction(players=2,max_value=101)"))
    theirs, *ours = rates(peer, *(vector(name, 4_096) for name in games), seconds=seconds)
    rows = [Row.of("openspiel-auction", what, theirs, "decisions/s")]
    for (name, title), own in zip(games.items(), ours, strict=True):
        note = f"{max(own):,.0f} decisions/s here in the same run"
        beside = f"{title}, 4,096 tables, beside it"
        rows.append(Row.of(f"openspiel-{name}-ratio", beside, ratios(own, theirs), "times", 40, note=note))
    return rows


def _random_play(game: Any) -> Callable[[], int]:
    """Return a function that plays one random episode of an OpenSpiel game with tensors, and returns its decisions."""
    import random

    generator = random.Random(0)

    def run() -> int:
        state = game.new_initial_state()
        decisions = 0
        while not state.is_terminal():
            if not state.is_chance_node():
                state.observation_tensor(state.current_player())
                decisions += 1
            state.apply_action(generator.choice(state.legal_actions()))
        return decisions

    return run


def pettingzoo(seconds: Seconds) -> list[Row]:
    """PettingZoo's texas_holdem_no_limit, heads-up, random legal play, with its standard wrappers."""
    import warnings

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from pettingzoo.classic import texas_holdem_no_limit_v6

            env = texas_holdem_no_limit_v6.env(num_players=2)
    except ImportError:
        return [_missing("pettingzoo", "PettingZoo texas_holdem_no_limit, 2 seats", "pip install rlcard pygame")]
    return _beside("pettingzoo", "PettingZoo texas_holdem_no_limit, 2 seats", aec_hands(env), 500, seconds)


def _beside(name: str, what: str, run: Callable[[], int], times: float, seconds: Seconds) -> list[Row]:
    ours, theirs = rates(vector("holdem", 1_024, seats=2), run, seconds=seconds)
    beside = f"Parlour's vector, 2 seats, beside {what.partition(' ')[0]}"
    note = f"{max(ours):,.0f} decisions/s here in the same run"
    return [
        Row.of(name, what, theirs, "decisions/s"),
        Row.of(f"{name}-ratio", beside, ratios(ours, theirs), "times", times, note=note),
    ]


def _missing(name: str, what: str, install: str) -> Row:
    return Row(name, what, None, "decisions/s", note=f"not installed: {install}")
