"""Hands by name: a table with known cards, and moves as words."""

from parlour.envs import Action
from parlour.envs.core.rng import streams
from parlour.envs.holdem import game, rules
from parlour.envs.holdem.hands import card_number
from parlour.envs.holdem.rules import Move
from parlour.envs.holdem.view import parse


def deal(stacks, *, cards=(), board="", seed=0, button=0, **options):
    """Return a table just dealt (small blind left of the button), with these hole cards by seat and this board."""
    made = game(seats=len(stacks), stacks=list(stacks), button=button, **options)
    table = made.tables(1)[0]
    table.stream = streams(seed, 1)[0]
    rules.reset(table)
    for seat, pair in enumerate(cards):
        table.cards[seat] = [card_number(card) for card in pair.split()]
    if board:
        table.board[:] = [card_number(card) for card in board.split()]
    return table


def play(table, moves):
    """Play moves such as ``"call fold check raise 10"`` through the payload codec, so that none may be illegal."""
    words = iter(moves.split())
    for word in words:
        action = Action("raiseTo", {"amount": int(next(words))}) if word == "raise" else Action(word)
        move = parse(table, action)
        assert isinstance(move, Move), f"{word}: {move.error_detail}"
        rules.step(table, move)
    return table


def won(table):
    """Chips won or lost in the episode, by seat."""
    assert table.done
    return table.total[: table.seats].tolist()


def bounds(table):
    """What the acting seat may raise to; (0, 0) if it may not."""
    return int(table.raise_min), int(table.raise_max)
