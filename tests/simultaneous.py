"""Rock, paper, scissors: a game of one's own in which both choose at the same time."""

from parlour.envs import Encoder, Game, Layout, Payoffs, Renderer, Rules, Slice, new_table, with_required_fields

NAMES, ROUNDS = ("rock", "paper", "scissors"), 5
BLANK = new_table(with_required_fields(2, ("choice", "i4", 2), ("last", "i4", 2), ("won", "i4", 2), ("played", "i4")))


def reset(table):
    table.choice[:], table.last[:], table.won[:], table.played = -1, -1, 0, 0  # -1: no choice
    table.turn, table.done, table.rewards[:] = 0, False, 0


def step(table, action):
    table.choice[table.turn], table.turn = action, 1 - table.turn
    if table.turn == 0:
        lead = (table.choice[0] - table.choice[1]) % 3  # 0: nobody wins; 1: the first; 2: the second
        if lead > 0:
            table.won[lead - 1] += 1
        table.last[:], table.choice[:], table.played = table.choice, -1, table.played + 1
    if table.played == ROUNDS:
        table.rewards[0], table.rewards[1] = table.won[0] - table.won[1], table.won[1] - table.won[0]
        table.done, table.turn = True, -1


def legal(table, mask):
    mask[:] = 1


def observe(table, seat, at, out):
    out[:] = 0
    out[at.is_my_turn], out[at.played] = table.turn == seat, table.played
    for k, who in enumerate((seat, 1 - seat)):
        out[at.won + k] = table.won[who]
        if table.last[who] >= 0:
            out[at.last + 3 * k + table.last[who]] = 1


def picture(states):
    state, parts = states[0].game_state, []
    for x, last, won in zip((80, 240), state["last"], state["won"], strict=True):
        name = "" if last < 0 else NAMES[last]
        parts += [
            f'<text x="{x}" y="{y}" font-size="24" text-anchor="middle">{word}</text>'
            for y, word in ((50, name), (90, won))
        ]
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 120" role="img">{"".join(parts)}</svg>'


def game():
    layout = Layout(
        [
            Slice("is_my_turn", (1,), 0, 1, "whether"),
            Slice("played", (1,), 0, ROUNDS, "rounds"),
            Slice("won", (2,), 0, ROUNDS, "rounds won, the observer first"),
            Slice("last", (2, 3), 0, 1, "the choices of the last round, one-hot, the observer first"),
        ]
    )
    return Game(
        name="rock_paper_scissors",
        agents=("first", "second"),
        rules=Rules(blank=BLANK, num_actions=3, reset=reset, step=step, legal=legal),
        encoders={"v0": Encoder(layout, observe)},
        payoffs=Payoffs(-ROUNDS, ROUNDS, zero_sum=True, unit_name="rounds"),
        actions=NAMES,
        hidden=("choice",),
        renderer=Renderer(lambda table, seat: f"last {table.last}, won {table.won}", picture),
        how_to_play="# Rock, paper, scissors\n\nBoth choose in secret, five times.",
    )
