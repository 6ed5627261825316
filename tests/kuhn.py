"""Kuhn poker, the smallest game of hidden cards (Kuhn 1950), as a complete `Game`: it shows that `core` is general.
Three cards (0 the lowest), a chip posted each. A seat passes or bets one more; a pass after a bet folds."""

import numpy as np
from gymnasium import spaces
from parlour.envs import Action, ActionResult, AgentResponse, AllowedAction, Game, Layout, Slice
from parlour.envs.core.compiled import compiled
from parlour.envs.core.game import record
from parlour.envs.core.rng import draw

KINDS = ("pass", "bet")
FIELDS = [("stream", "u8"), ("cards", "i1", 2), ("moves", "i1", 3), ("count", "i4"), ("turn", "i4")]
FIELDS += [("rewards", "f8", 2), ("done", "?"), ("showdown", "?"), ("truncated", "?")]
BLANK = np.zeros(1, record(*FIELDS)).view(np.recarray)
SLICES = [
    Slice("is_my_turn", (1,), 0, 1, ""),
    Slice("game_state.card", (2, 3), 0, 1, "own card, one-hot, in the row of the own seat"),
    Slice("game_state.moves", (3, 2), 0, 1, "in order, one-hot: pass, bet"),
    Slice("outcome.payoff", (1,), -2, 2, "own chips won"),
]


@compiled
def reset(table):
    table.cards[0] = draw(table, 3)
    table.cards[1] = (table.cards[0] + 1 + draw(table, 2)) % 3
    table.rewards[:] = 0
    table.count = table.turn = 0
    table.done = table.showdown = table.truncated = False


@compiled
def play(table, number):
    table.moves[table.count] = number
    table.count += 1
    table.turn = table.count % 2
    before = table.moves[max(0, table.count - 2)]
    if table.count == 1 or (table.count == 2 and before < number):  # a bet after a pass is answered
        return
    table.showdown = before == number
    winner = (0 if table.cards[0] > table.cards[1] else 1) if table.showdown else table.turn
    table.rewards[winner] = 1 + (before + number == 2)
    table.rewards[1 - winner] = -table.rewards[winner]
    table.done, table.turn = True, -1


@compiled
def legal(table, mask):
    mask[:] = 1


@compiled
def observe(table, seat, out):
    out[:] = 0
    out[0], out[13] = table.turn == seat, table.rewards[seat]
    out[1 + 3 * seat + table.cards[seat]] = 1
    for i in range(table.count):
        out[7 + 2 * i + table.moves[i]] = 1


def decode(table, action):
    if action.action_type not in KINDS:
        return ActionResult(False, "invalid_action_type", f"{action.action_type!r} is neither pass nor bet")
    return ActionResult(False, "invalid_payload", "takes none") if action.payload else KINDS.index(action.action_type)


def game_state(table, seat):
    return {"seat": seat, "card": int(table.cards[seat]), "moves": [KINDS[move] for move in table.moves[: table.count]]}


def load(state):
    tables, seen, seat = BLANK.copy().view(np.recarray), state.game_state, state.game_state["seat"]
    table = tables[0]
    table.count, table.cards[seat] = len(seen["moves"]), seen["card"]
    table.moves[: table.count] = [KINDS.index(move) for move in seen["moves"]]
    table.turn, table.done = -1 if state.game_over else table.count % 2, state.game_over
    table.rewards[:] = [payoff["utility"] for payoff in state.outcome["payoffs"]] if state.outcome else 0
    return tables, seat


def redeal(table, seat, generator):
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    if not table.showdown:  # with three cards, the showdown's winner tells the other card
        table.cards[1 - seat] = (table.cards[seat] + generator.integers(1, 3)) % 3


def game():
    return Game(
        name="kuhn", agents=("player_0", "player_1"), options={}, blank=BLANK, layout=Layout(SLICES), num_actions=2,
        reward_range=(-2.0, 2.0), zero_sum=True, unit_name="chips", action_spaces=dict.fromkeys(KINDS, spaces.Dict({})),
        reset=reset, play=play, step=play, menu=lambda table, number: number, legal=legal, observe=observe,
        nearest=lambda table, move: int(move), safe=lambda table: 0,
        encode=lambda table, number: AgentResponse(Action(KINDS[number])), decode=decode, game_state=game_state,
        allowed=lambda table: [AllowedAction(kind, "", {"additionalProperties": False}) for kind in KINDS], load=load,
        phase=lambda table: "ended" if table.done else "betting", redeal=redeal,
        outcome=lambda table, seat: {"payoffs": [{"utility": float(won)} for won in table.rewards], "reason": "end"},
        render=lambda table, seat: str([game_state(table, i) for i in (0, 1) if seat in (None, i)]),
    )  # fmt: skip
