"""`make`: a `Game` from the definition of a game in phases."""

from functools import partial
from typing import Any

from ..core.capabilities import Capabilities, Chance, OutsideOption, PublicView, ShownOptions, Talk
from ..core.checks import require_compiled
from ..core.compiled import compiled
from ..core.game import Game, Payoffs
from ..core.loops import compile_loop
from ..core.record import Tables, new_table
from ..core.rng import uniform
from ..core.rules import Rules
from ..core.view import View
from ..render.renderer import Renderer
from . import rules, view
from .definition import Named, Number, Open, Phase, PhaseGame
from .encoders import encoders
from .fields import name_of
from .forecast import forecasts
from .load_state import allowed, load
from .picture import picture, render
from .rules import begin_match, begin_phase, cents, end_round, not_dealt, values_of
from .table import DIVIDED, FACTS, KINDS, PARAMETERS, PHASES, SEATS, TABLE
from .view import state_type

act: Any = None
choose: Any = None
early: Any = None
follow: Any = None
late: Any = None
odds: Any = None
pay: Any = None
reset: Any = None
settle: Any = None


def begin(table: Any) -> None:
    """Begin a match: `Rules.reset`."""
    reset(table)
    follow(table)


def play(table: Any, move: Any) -> None:
    """Apply the acting seat's move: `Rules.step`."""
    act(table, move)
    if table.turn < 0 and not table.done:
        settle(table, uniform(table) < odds(table))


def act_up_to_event(table: Any, move: Any) -> None:
    """Apply the acting seat's move, up to the event that decides the payoffs, if there is one: `Chance.step`."""
    if table.rounds > 1:
        for seat in range(table.seats):
            table.rewards[seat] = 0.0
    if choose(table, move) or early(table):
        table.turn = -1
        if table.timeout or odds(table) < 0.0:
            settle(table, False)
    else:
        follow(table)


def settle_round(table: Any, event: bool) -> None:
    """Pay the seats for a round, and begin the next round or end the match. `event`: see `PhaseGame.odds`."""
    table.event = event
    table.revealed = not table.timeout
    if table.timeout:
        late(table)
    else:
        pay(table)
    end_round(table)
    if not table.done:
        follow(table)


def deal(table: Any) -> None:
    """Begin a match whose private values are not dealt yet, where they vary: `Chance.begin`."""
    begin_match(table)
    for seat in range(table.seats):
        low = table.private_low[seat]
        table.private[seat] = -1.0 if low < table.private_high[seat] else cents(low)
    if not_dealt(table) >= 0:
        table.turn = -1
    else:
        follow(table)


def outcomes(table: Any) -> int:
    """Return the number of outcomes that chance has next: private values of a seat, or an event and its absence."""
    if table.turn >= 0 or table.done:
        return 0
    seat = not_dealt(table)
    if seat >= 0:
        first, last = values_of(table, seat)
        return last - first + 1
    return 2 if 0.0 < odds(table) < 1.0 else 1


def probability(table: Any, outcome: int) -> float:
    """Return the probability of a private value, or of the event (outcome 0) or of its absence."""
    seat = not_dealt(table)
    if seat >= 0:
        low, high = table.private_low[seat], table.private_high[seat]
        value = values_of(table, seat)[0] + outcome
        return (min(high, (value + 0.5) / 100.0) - max(low, (value - 0.5) / 100.0)) / (high - low)
    chance = odds(table)
    if chance <= 0.0 or chance >= 1.0:
        return 1.0
    return chance if outcome == 0 else 1.0 - chance


def decide(table: Any, outcome: int) -> None:
    """Deal a private value, or decide the event: `Chance.play`."""
    seat = not_dealt(table)
    if seat < 0:
        chance = odds(table)
        settle(table, chance >= 1.0 or (chance > 0.0 and outcome == 0))
        return
    table.private[seat] = (values_of(table, seat)[0] + outcome) / 100.0
    if not_dealt(table) < 0:
        begin_phase(table, 0)
        follow(table)


@compiled
def nothing(table: Any) -> None:
    """Do nothing."""


@compiled
def never(table: Any) -> bool:
    """Return False."""
    return False


@compiled
def no_event(table: Any) -> float:
    """Return that there is no event."""
    return -1.0


def functions(own: PhaseGame) -> tuple[dict[str, Any], Chance]:
    """Return `reset` and `step` of a game's `Rules`, and its `Chance`."""
    odds, follow = own.odds or no_event, own.follow or nothing
    ending = {"follow": follow, "end_round": end_round}
    settle = compile_loop(settle_round, pay=own.pay, late=own.late or nothing, **ending)
    choose = rules.act if own.open else rules.choose
    act = compile_loop(
        act_up_to_event, choose=choose, early=own.early or never, odds=odds, settle=settle, follow=follow
    )
    dealing = {"not_dealt": not_dealt, "values_of": values_of}
    return {
        "reset": compile_loop(begin, reset=rules.reset, follow=follow) if own.follow else rules.reset,
        "step": compile_loop(play, act=act, settle=settle, odds=odds, uniform=uniform),
    }, Chance(
        begin=compile_loop(deal, begin_match=begin_match, cents=cents, not_dealt=not_dealt, follow=follow),
        step=act,
        outcomes=compile_loop(outcomes, odds=odds, **dealing),
        play=compile_loop(decide, odds=odds, settle=settle, begin_phase=begin_phase, follow=follow, **dealing),
        probability=compile_loop(probability, odds=odds, **dealing),
    )


def make(own: PhaseGame) -> Game:
    """Return the game with all its parts.

    Raises:
        ValueError: if the record has no room for it, a phase offers an unknown action type, an open phase is not the
            last one, a private value may be below 0, or one of its functions is not compiled.
    """
    for name in ("pay", "odds", "late", "early", "follow"):
        require_compiled(own.name, name, getattr(own, name))
    blank = _blank(own)
    low, high = own.payoffs
    compiled, chance = functions(own)
    read, kind = partial(load, own, blank), state_type(own)
    return Game(
        name=own.name,
        platform_id=own.name.replace("_", "-"),
        agents=tuple(map(name_of, range(own.seats))),
        rules=Rules(blank=blank, num_actions=sum(view.counts(own)), **compiled, decode=rules.decode, legal=rules.legal),
        encoders=encoders(own, blank[0]),
        payoffs=Payoffs(low * own.rounds, high * own.rounds),
        view=View(
            **view.functions(own),
            phase=partial(view.phase_name, own),
            game_state=partial(view.game_state, own, kind),
            outcome=partial(view.outcome, own),
            load=read,
            allowed=partial(allowed, own, blank),
            legal=partial(view.legal_actions, own),
            state_type=kind,
            resample=partial(view.resample, own),
        ),
        renderer=Renderer(partial(render, own, read), partial(picture, own, read)),
        bots=own.bots,
        capabilities=Capabilities(
            public_view=PublicView(partial(view.public, own, kind)),
            chance=chance,
            outside_option=OutsideOption(partial(view.worth, own)) if own.worth is not None else None,
            shown_options=ShownOptions(view.differences) if hasattr(own.options, "seats") else None,
            forecasts=partial(forecasts, own, chance, read),
            talk=Talk(action_messages=partial(view.messages, own)) if _has_texts(own) else None,
        ),
    )


def _has_texts(own: PhaseGame) -> bool:
    return any(isinstance(one, Named) and one.texts for one in own.actions)


def _blank(own: PhaseGame) -> Tables:
    """Return one table with the game's options."""
    room = {"seats": (own.seats, SEATS), "phases": (len(own.phases), PHASES)}
    room |= {"actions": (len(own.actions), KINDS - 1), "parameters": (len(own.numbers), PARAMETERS)}
    room |= {"facts": (len(own.facts), FACTS)}
    for what, (count, most) in room.items():
        if count > most:
            raise ValueError(f"{own.name} has {count} {what}; the record has room for {most}")
    blank = new_table(TABLE, turn=-1)
    table = blank[0]
    table.seats, table.phases, table.kinds = own.seats, len(own.phases), len(own.actions) + 1
    table.rounds, table.pass_is_final = own.rounds, own.pass_is_final
    table.loops, table.block[:], first = own.loops, 1, 0
    for kind, (one, count) in enumerate(zip([*own.actions, None], view.counts(own), strict=True)):
        table.first[kind] = first
        first += count
        if isinstance(one, Number):
            table.origin[kind], table.block[kind] = one.lowest, one.block
            table.gap[kind] = (one.highest - one.lowest) / (one.points - 1)
            table.further = max(int(table.further), len(one.further))
            for place, more in enumerate(one.further):
                table.further_gap[place] = more.highest / max(more.points - 1, 1)
        elif one is not None:
            table.origin[kind] = one.value
    table.first[len(own.actions) + 1] = first
    further = [more.points for one in own.actions if isinstance(one, Number) for more in one.further]
    table.further_points[:] = (*further, 1, 1)[:2]
    table.per_fact[: len(own.facts)] = [1 / max(fact.highest, 1e-9) for fact in own.facts]
    for k, phase in enumerate(own.phases):
        _fill_phase(own, table, k, phase)
    if any(phase.open for phase in own.phases[:-1]):
        raise ValueError(f"{own.name} has an open phase before its last one")
    if own.open is not None:
        _fill_open(own, table, own.open)
    table.parameter[: len(own.numbers)], table.per_parameter[:] = own.numbers, 1.0
    if own.private is not None:
        if min(low for low, _ in own.private.ranges) < 0:
            raise ValueError(f"{own.name}: {own.private.name} may be below 0; private values are 0 or more")
        table.private_low[: own.seats], table.private_high[: own.seats] = zip(*own.private.ranges, strict=True)
        table.per_private = 1 / max(max(high for _, high in own.private.ranges), 1e-9)
    table.per_payoff = 1 / (own.rounds * own.largest)
    table.per_unit = 10.0**own.decimals
    return blank


def _fill_open(own: PhaseGame, table: Any, opened: Open) -> None:
    table.start, table.keeps, table.divides = opened.start, opened.keeps, opened.divides
    if opened.divides and own.seats > DIVIDED:
        raise ValueError(f"{own.name} has {own.seats} seats; a division has room for {DIVIDED}")
    for effect, bits in (("close", "closes"), ("leave", "leaves"), ("clear", "clears"), ("recall", "recalls")):
        kinds = [kind for kind, one in enumerate(own.actions) if isinstance(one, Named) and one.effect == effect]
        setattr(table, bits, sum(1 << kind for kind in kinds))


def _fill_phase(own: PhaseGame, table: Any, k: int, phase: Phase) -> None:
    names = {one.name for one in own.actions}
    for name in phase.actions:
        if name not in names:
            raise ValueError(f"{own.name}: the phase {phase.name} offers {name!r}; known are {', '.join(names)}")
    kinds = [kind for kind, one in enumerate(own.actions) if one.name in phase.actions]
    chosen = [own.actions[kind] for kind in kinds]
    table.sealed[k], table.limit[k], table.forced[k] = phase.sealed, phase.turns, phase.forced
    table.actors[k] = sum(1 << seat for seat in (range(own.seats) if phase.seats is None else phase.seats))
    table.offers[k] = sum(1 << kind for kind in kinds) + (phase.may_pass << len(own.actions))
    highest = max(one.highest if isinstance(one, Number) else one.value for one in chosen)
    if phase.open is not None:
        highest = max(highest, phase.open.highest)
    table.per_number[k] = 1 / max(highest, 1e-9)
