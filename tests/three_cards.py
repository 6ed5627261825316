"""Poker with three cards (Kuhn's, as `parlour.envs.small.kuhn`) as a whole `Game` in one file, as users write theirs.
Three cards (0 the lowest), a chip posted each. A seat passes or bets one more; a pass after a bet folds."""

from dataclasses import replace

import numpy as np
from gymnasium import spaces
from parlour import envs
from parlour.envs.core.compiled import compiled
from parlour.envs.core.rng import draw
from parlour.envs.core.view import default_view

KINDS, AGENTS = ("pass", "bet"), ("player_0", "player_1")
NO_PAYLOAD = {"additionalProperties": False}
FIELDS = [("cards", "i1", 2), ("moves", "i1", 3), ("count", "i4"), ("showdown", "?")]
BLANK = envs.new_table(envs.with_required_fields(2, *FIELDS), cards=-1)


@compiled
def begin(table):
    """Begin without cards: two random events deal them."""
    table.cards[:] = -1
    table.rewards[:] = 0
    table.count = table.turn = 0
    table.done = table.showdown = False


@compiled
def outcomes(table):
    """The first seat's card is one of three, the other's one of two."""
    return 3 if table.cards[0] < 0 else 2 if table.cards[1] < 0 else 0


@compiled
def deal(table, outcome):
    if table.cards[0] < 0:
        table.cards[0] = outcome
    else:
        table.cards[1] = (table.cards[0] + 1 + outcome) % 3


@compiled
def reset(table):
    begin(table)
    while outcomes(table) > 0:
        deal(table, draw(table, outcomes(table)))


@compiled
def step(table, action):
    table.moves[table.count] = action
    table.count += 1
    table.turn = table.count % 2
    before = table.moves[max(0, table.count - 2)]
    if table.count == 1 or (table.count == 2 and before < action):  # a bet after a pass is answered
        return
    table.showdown = before == action
    winner = (0 if table.cards[0] > table.cards[1] else 1) if table.showdown else table.turn
    table.rewards[winner] = 1 + (before + action == 2)
    table.rewards[1 - winner] = -table.rewards[winner]
    table.done, table.turn = True, -1


@compiled
def legal(table, mask):
    mask[:] = 1


@compiled
def observe(table, seat, at, out):
    out[:] = 0
    out[at.is_my_turn], out[at.outcome_payoff] = table.turn == seat, table.rewards[seat]
    if table.cards[seat] >= 0:
        out[at.card + 3 * seat + table.cards[seat]] = 1
    for i in range(table.count):
        out[at.moves + 2 * i + table.moves[i]] = 1


@compiled
def observe_other_card(table, seat, at, out):
    out[at.other_card + table.cards[1 - seat]] = 1


V0 = [
    envs.Slice("is_my_turn", (1,), 0, 1, ""),
    envs.Slice("game_state.card", (2, 3), 0, 1, "own card, one-hot, in the row of the own seat", axes=("seat", "card")),
    envs.Slice("game_state.moves", (3, 2), 0, 1, "in order, one-hot: pass, bet", axes=("move", ("pass", "bet"))),
    envs.Slice("outcome.payoff", (1,), -2, 2, "own chips won"),
]
HIDDEN = [envs.Slice("game_state.other_card", (3,), 0, 1, "the other's card, one-hot", axes=("card",))]


def parse(table, action):
    if action.action_type not in KINDS:
        return envs.ActionResult(False, "invalid_action_type", f"{action.action_type!r} is neither pass nor bet")
    if action.payload:
        return envs.ActionResult(False, "invalid_payload", "takes none")
    return KINDS.index(action.action_type)


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


def resample(table, seat, generator):
    table.stream = generator.integers(0, 2**64, dtype=np.uint64)
    if not table.showdown:  # with three cards, the showdown's winner tells the other card
        table.cards[1 - seat] = (table.cards[seat] + generator.integers(1, 3)) % 3


def game():
    rules = envs.Rules(blank=BLANK, num_actions=2, reset=reset, step=step, legal=legal)
    view = replace(
        default_view(rules, AGENTS), action_spaces=dict.fromkeys(KINDS, spaces.Dict({})), action_ranges=(), parse=parse,
        encode=lambda table, action: envs.AgentResponse(envs.Action(KINDS[action])), game_state=game_state, load=load,
        allowed=lambda state, seat, phase: [envs.AllowedAction(kind, "", NO_PAYLOAD) for kind in KINDS],
        outcome=lambda table, seat: {"payoffs": [{"utility": float(won)} for won in table.rewards], "reason": "end"},
        resample=resample, phase=lambda table: "ended" if table.done else "betting",
    )  # fmt: skip
    chance = envs.Chance(begin=begin, step=step, outcomes=outcomes, play=deal)
    v0 = envs.Encoder(envs.Layout(V0), observe)
    return envs.Game(
        name="three_cards", agents=AGENTS, rules=rules, view=view,
        payoffs=envs.Payoffs(-2, 2, zero_sum=True, unit_name="chips"),
        encoders={"v0": v0, "full": v0.extended(HIDDEN, observe_other_card, full_information=True)},
        renderer=envs.Renderer(lambda states: str([state.game_state for state in states])),
        capabilities=envs.Capabilities(chance=chance),
    )  # fmt: skip
