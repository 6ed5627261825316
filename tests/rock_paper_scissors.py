"""Rock, paper, scissors: a small game in plain Python whose first choice is hidden from the second seat."""

from parlour.envs import Encoder, Game, Layout, Payoffs, Rules, Slice, new_table, with_required_fields

BLANK = new_table(with_required_fields(2, ("choice", "i4", 2)), choice=-1)


def reset(table):
    table.choice[:], table.turn, table.done, table.rewards[:] = -1, 0, False, 0


def step(table, action):
    table.choice[table.turn] = action
    if table.turn == 1:
        won = (0, 1, -1)[(table.choice[0] - table.choice[1]) % 3]
        table.rewards[:], table.done, table.turn = (won, -won), True, -1
    else:
        table.turn = 1


def legal(table, mask):
    mask[:] = 1


def observe(table, seat, at, out):
    out[:] = 0
    out[at.is_my_turn], out[at.outcome_payoff] = table.turn == seat, table.rewards[seat]
    if table.choice[seat] >= 0:
        out[at.choice + table.choice[seat]] = 1


def observe_other(table, seat, at, out):
    if table.choice[1 - seat] >= 0:
        out[at.other_choice + table.choice[1 - seat]] = 1


LAYOUT = Layout(
    [
        Slice("is_my_turn", (1,), 0, 1, "whether the observer chooses next"),
        Slice("outcome.payoff", (1,), -1, 1, "of the observer"),
        Slice("game_state.choice", (3,), 0, 1, "own choice, one-hot"),
    ]
)
OTHER = [Slice("game_state.other_choice", (3,), 0, 1, "the other's choice, one-hot")]


def game(hidden=("choice",)):
    v0 = Encoder(LAYOUT, observe)
    full = {"full": v0.extended(OTHER, observe_other, full_information=True)} if hidden else {}
    return Game(
        name="rock_paper_scissors",
        agents=("first", "second"),
        rules=Rules(blank=BLANK, num_actions=3, reset=reset, step=step, legal=legal),
        encoders={"v0": v0, **full},
        payoffs=Payoffs(-1, 1, zero_sum=True),
        actions=("rock", "paper", "scissors"),
        hidden=hidden,
    )
