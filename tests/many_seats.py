"""A compiled game whose record depends on the number of seats: each seat gets a number."""

from parlour.envs import Encoder, Game, Layout, Payoffs, Rules, Slice, compiled, draw, new_table, with_required_fields


@compiled
def reset(table):
    table.turn, table.done, table.rewards[:] = 0, False, 0
    for seat in range(len(table.numbers)):
        table.numbers[seat] = 1 + draw(table, 9)


@compiled
def step(table, action):
    table.turn += 1
    if table.turn == len(table.numbers):
        table.rewards[:], table.done, table.turn = 1, True, -1


@compiled
def legal(table, mask):
    mask[:] = 1


@compiled
def observe(table, seat, at, out):
    out[at.is_my_turn] = table.turn == seat


def game(seats=2):
    return Game(
        name="many_seats",
        agents=tuple(f"player_{seat}" for seat in range(seats)),
        rules=Rules(
            blank=new_table(with_required_fields(seats, ("numbers", "i4", seats))),
            num_actions=1,
            reset=reset,
            step=step,
            legal=legal,
        ),
        encoders={"v0": Encoder(Layout([Slice("is_my_turn", (1,), 0, 1, "whether")]), observe)},
        payoffs=Payoffs(0, 1, shared=True),
    )
