"""`load` takes states as other hosts write them: law 1 holds for what the agent decides by."""

import numpy as np
import pytest
from cases import CASES
from parlour import envs
from parlour.envs import GameEnv, TurnState
from parlour.envs.core.structured_talk import LIMIT, NUM_ACTIONS
from parlour.envs.testing import Trial
from random_play import decisions

NOISE = (
    {"agent_id": "player_1", "action": "message_only", "round": 0, "advances_turn": False},
    {"agent_id": "player_0", "action": "pass", "round": 1, "advances_turn": False},
    {"agent_id": "player_0", "action": "wave", "round": 1},
    {"agent_id": None, "action": "pass"},
    {"action": "pass"},
    {"seat": 0, "kind": "wave", "street": "flop", "bet": 1},
    {"seat": 99, "kind": "fold", "street": "flop", "bet": 1},
)
AMOUNTS = {"total", "current_offer", "my_reservation_value", "my_share", "my_valuation", "my_bid"}
CHIPS = {"pot", "stack", "bet", "committed", "smallBlind", "bigBlind", "ante", "toCall", "min", "max", "amount"}


def noisy(game_state, chance):
    """Add rows that are no moves, anywhere, and fields that nobody knows."""
    seen = {**game_state, "current_round": 3, "max_rounds": 2_000, "rule_reminder": "be nice", "phase_of_moon": None}
    key = "history" if "history" in seen else "action_history"
    if key in seen:
        rows = list(seen[key])
        for _ in range(6):
            # Rows of poker are noise in a negotiation, and the other way round.
            rows.insert(int(chance.integers(len(rows) + 1)), NOISE[int(chance.integers(len(NOISE)))])
        seen[key] = rows if key == "history" else [*rows, None, 3]
    return seen


def as_text(value, names):
    """Write the numbers of these fields as text."""
    if isinstance(value, list):
        return [as_text(one, names) for one in value]
    if not isinstance(value, dict):
        return value
    return {
        key: str(one) if key in names and isinstance(one, int | float) else as_text(one, names)
        for key, one in value.items()
    }


def states(game, episodes=3):
    """Yield tables with their seats and what they see, at all decisions of some random matches."""
    for seed in range(episodes):
        for table in decisions(game, seed, 40):
            for seat in range(game.seats):
                yield table, seat, game.turn_state(table, seat)


def check(game, state, table, seat):
    tables, own = game.view.load(TurnState.from_json(state.to_json()))
    assert own == seat
    assert np.array_equal(game.observation(tables[0], own), game.observation(table, seat))
    assert np.array_equal(game.mask(tables[0], own), game.mask(table, seat))


def cases_of(*names):
    return pytest.mark.parametrize("case", [case for case in CASES if case.values[0][0].partition("-")[0] in names])


@cases_of("holdem", "auction", "bargaining", "tangram")
def test_what_a_host_adds_and_numbers_as_text_change_nothing(game):
    chance = np.random.default_rng(1)
    for table, seat, state in states(game, 2):
        plain = {"turn_number", "plays_left", "passes", "rotation"}
        state.game_state = as_text(noisy(state.game_state, chance), AMOUNTS | CHIPS | plain)
        check(game, state, table, seat)


@pytest.mark.parametrize("name", ["auction", "bargaining"])
def test_who_has_said_all_that_a_turn_allows_can_say_no_more(name):
    game = envs.game(name, talk=True)
    env = GameEnv(game, "flat")
    env.reset(seed=0)
    seat, talk = int(env.table.turn), game.num_actions - NUM_ACTIONS
    for _ in range(LIMIT):
        assert game.mask(env.table, seat)[talk]
        env.step(talk)
    assert int(env.table.turn) == seat and not game.mask(env.table, seat)[talk:].any()
    for reader in range(game.seats):
        check(game, env.turn_state(game.agents[reader]), env.table, reader)


@pytest.mark.parametrize("name", ["auction", "bargaining", "holdem", "kuhn", "leduc", "liars_dice"])
def test_the_end_of_a_match_is_read_with_its_outcome(name):
    game = envs.game(name)
    for seed in range(20):
        *_, table = Trial("the end", game, 1).decisions(seed)
        for seat in range(game.seats):
            state = game.turn_state(table, seat)
            tables, own = game.view.load(TurnState.from_json(state.to_json()))
            read = game.turn_state(tables[0], own)
            assert (own, read.game_over) == (seat, True)
            assert read.outcome == state.outcome


@cases_of("auction", "bargaining")
def test_rounds_from_0_and_other_names(game):
    names = {agent: f"Agent {seat}!" for seat, agent in enumerate(game.agents)}
    for table, seat, state in states(game):
        rows = [{**row, "round": row["round"] - 1} for row in state.game_state["action_history"]]
        state.game_state = {**state.game_state, "action_history": rows, "agent_ids": list(game.agents)}
        text = state.to_json().decode()
        for agent in sorted(names, key=len, reverse=True):
            text = text.replace(f'"{agent}"', f'"{names[agent]}"')
        check(game, TurnState.from_json(text), table, seat)


def negotiation(rows, me="me", **more):
    seen = {"total": 100, "current_offer": 60.0, "last_offer_by": "you", "my_reservation_value": 20, **more}
    return TurnState("m", "unfair-split", me, "negotiation", True, me, {**seen, "action_history": rows})


def row(agent, round_, action="submit_offer", **more):
    return {"agent_id": agent, "action": action, "my_share": 60.0, "round": round_, **more}


@pytest.mark.parametrize(
    "rows, seat",
    [
        ([row("you", 0)], 1),
        ([row("you", 0), row("me", 1)], 0),  # the first pass was ours, and is not logged
        ([], 0),
    ],
)
def test_who_sits_where_without_an_order(rows, seat):
    tables, own = envs.game("bargaining").view.load(negotiation(rows))
    assert own == seat and tables[0].turn == seat
    assert tables[0].moves % 2 == seat and tables[0].last_offer_by == 1 - seat


@pytest.mark.parametrize("bidders", [2, 5])
def test_an_auction_with_more_bidders_or_fewer_than_the_policy_knows(bidders):
    game = envs.game("auction", seats=3)
    ids = [f"agent {i}" for i in range(bidders)]
    for me in ids:
        seen = {"agent_ids": ids, "num_bidders": bidders, "my_valuation": 50, "my_bid": None,
                "opponents_with_bid": [one for one in ids if one != me], "action_history": []}  # fmt: skip
        tables, seat = game.view.load(TurnState("m", "auction-v0", me, "auction", True, me, seen))
        assert tables[0].valuation[seat] == 50 and tables[0].turn == seat
        assert tables[0].num_bids_submitted == min(bidders, 3) - 1


JUNK = (True, -1, 10**6, 10**30, "x", [], {}, [{}], {"player_1": True}, [[1]])
ROWS = tuple(
    {"agent_id": "player_1", "action": one, "round": two} for one in ("submit_bid", "accept", [], {}) for two in JUNK
)


@pytest.mark.parametrize("name", ["auction", "bargaining", "ultimatum", "hold_up"])
def test_a_field_of_another_kind_is_left_out_or_named(name):
    game = envs.game(name, **({"talk": True} if name in ("auction", "bargaining") else {}))
    last = {}
    for _, seat, state in states(game, 2):
        last[seat, state.game_over] = state.to_json()
    for text in last.values():
        for part in ("game_state", "outcome"):
            for key in getattr(TurnState.from_json(text), part) or ():
                for junk in (*JUNK, *([row] for row in ROWS)):
                    state = TurnState.from_json(text)
                    getattr(state, part)[key] = junk
                    try:
                        tables, own = game.view.load(state)
                    except ValueError as error:
                        assert "no number" in str(error) or "it must be above 0" in str(error)
                    else:
                        game.observation(tables[0], own)


def test_a_player_is_found_by_its_name_where_no_seat_is_told():
    game = envs.game("holdem", seats=3)
    env = GameEnv(game, "flat")
    env.reset(seed=1)
    state = env.turn_state("player_2")
    del state.game_state["seat"], state.game_state["history"], state.game_state["last"], state.game_state["ante"]
    assert game.view.load(state)[1] == 2
    state.agent_id = "zoe"
    with pytest.raises(ValueError, match="where 'zoe' sits"):
        game.view.load(state)
