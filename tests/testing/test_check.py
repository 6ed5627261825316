"""The check finds what is wrong: for every law a game that breaks it, and an error that says where."""

import random
from dataclasses import replace

import nim
import numpy as np
import pytest
import rock_paper_scissors
import three_cards
from needs import library
from parlour import envs
from parlour.envs import (
    Action,
    AllowedAction,
    Capabilities,
    Encoder,
    GameState,
    Layout,
    Match,
    Payoffs,
    PublicView,
    Renderer,
    Slice,
    VectorGame,
    compiled,
    new_table,
)
from parlour.envs.testing import LAWS, LawBroken, try_law

KUHN, NIM = three_cards.game(), nim.game()


def with_view(**parts):
    return replace(KUHN, view=replace(KUHN.view, **parts))


def with_rules(**parts):
    return replace(NIM, rules=replace(NIM.rules, **parts))


def with_v0(observe, layout=None):
    return replace(KUHN, encoders={**KUHN.encoders, "v0": Encoder(layout or KUHN.layout, observe)})


def with_v1(observe):
    """Add a version that shows one number more."""
    more = [Slice("more", (1,), 0, 1, "")]
    return replace(KUHN, encoders={**KUHN.encoders, "v1": KUHN.encoders["v0"].extended(more, observe)})


def observe_last_move(table, seat, at, out):
    """Show a field that a message changes (see `hears`)."""
    out[at.more] = table.moves[2]


OBSERVED = []


def observe_count(table, seat, at, out):
    """Show how often this function was called."""
    OBSERVED.append(seat)
    out[at.more] = len(OBSERVED) % 11 / 11


@compiled
def observe_overflow(table, seat, at, out):
    """Show 2/7 where whole numbers have more than 64 bits, else 0."""
    power = 1
    for _ in range(70):
        power *= 2
    out[at.more] = (power % 7) / 7.0


def observe_five(table, seat, at, out):
    """Show a number out of bounds."""
    out[at.more] = 5


def with_chance(**parts):
    return replace(KUHN, capabilities=Capabilities(chance=replace(KUHN.capabilities.chance, **parts)))


def load_without_moves(state):
    tables, seat = three_cards.load(state)
    tables.moves[0, 0] = 0
    return tables, seat


def observe_of_messages(table, seat, at, out):
    """See the messages of a record: as it is loaded, they are lost."""
    three_cards.observe(table, seat, at, out)
    out[at.outcome_payoff] += table.moves[2]


def hears(record_message, game=None):
    talk = envs.Talk(record_message=record_message)
    return replace(game or with_v0(observe_of_messages), capabilities=Capabilities(talk=talk))


def observe_too_much(table, seat, at, out):
    three_cards.observe(table, seat, at, out)
    out[at.is_my_turn] *= 3


def observe_over_the_end(table, seat, at, out):
    three_cards.observe(table, seat, at, out)
    if out.base is not None:
        out.base[-1] = 3


def observe_less(table, seat, at, out):
    before = out[at.card]
    three_cards.observe(table, seat, at, out)
    out[at.card] = before if table.turn == seat else out[at.card]


class AllowedOnce:
    """Allows other actions each time it is asked, so not by what the seat sees alone."""

    def __init__(self):
        self.asked = 0

    def __call__(self, game_state, seat, phase):
        self.asked += 1
        return [AllowedAction(kind, str(self.asked), {"additionalProperties": False}) for kind in three_cards.KINDS]


class Short(GameState):
    seat: int
    card: int


class Named(Short):
    card: str


def show_both_cards(table, seat):
    return three_cards.game_state(table, seat) | {"other": int(table.cards[1 - seat])}


def reset_by_python(table):
    nim.reset(table)
    table.heap = random.randint(10, 21)


PLAYED = []


def step_with_memory(table, action):
    """Take another stone with every hundredth step of the process."""
    PLAYED.append(action)
    nim.step(table, action)
    table.rewards[:] *= 1 + len(PLAYED) % 7


def step_that_may_do_nothing(table, action):
    if action < 2:
        nim.step(table, action)


def reset_blank(table):
    nim.reset(table)
    table.stream = 0


class Shared:
    """A view that shows the same list to everybody."""

    shown = [1]  # noqa: RUF012

    def game_state(self, table, seat):
        return {**three_cards.game_state(table, seat), "shown": self.shown}


def gaps():
    """A record with bytes that belong to no field."""
    names = {"names": [], "formats": [], "offsets": []}
    dtype = NIM.rules.blank.dtype
    for name in dtype.names:
        names["names"].append(name)
        names["formats"].append(dtype[name])
        names["offsets"].append(dtype.fields[name][1])
    return new_table(np.dtype((np.record, np.dtype({**names, "itemsize": dtype.itemsize + 8}))))


def nan_rewards(table, action):
    nim.step(table, action)
    table.rewards[0] = np.nan


def early_rewards(table):
    nim.reset(table)
    table.rewards[:] = 1, -1


def forgets_the_turn(table, action):
    nim.step(table, action)
    table.turn = 0 if table.done else table.turn


def legal_twos(table, mask):
    nim.legal(table, mask)
    mask *= 2


def legal_last(table, mask):
    mask[:] = 0, 0, 1


def legal_nothing(table, mask):
    mask[:] = 0


def parse_anything(table, action):
    return {"pass": 0, "bet": 1}[action.action_type]


def parse_and_play(table, action):
    table.count += 1
    return three_cards.parse(table, action)


CHECKERS = ("PettingZoo", "Gymnasium", "Stable-Baselines3")


def forgets_the_choice():
    def reset(table):
        table.turn, table.done, table.rewards[:] = 0, False, 0

    game = rock_paper_scissors.game()
    return replace(game, rules=replace(game.rules, reset=reset))


BROKEN = [
    ("determinism", forgets_the_choice(), "after an episode the records differ in choice: choice is"),
    ("parity", with_view(load=load_without_moves), "the observation differs in game_state.moves: at"),
    ("parity", with_view(game_state=lambda table, seat: {"card": (1,)}), r"'seat' \(KeyError, .*three_cards.py, line"),
    ("parity of messages", hears(lambda table, seat, intent: table.moves.__setitem__(2, 1)), "differs in outcome.payo"),
    (
        "parity of messages",
        hears(lambda table, seat, intent: table.moves.__setitem__(2, 1), with_v1(observe_last_move)),
        "encoder 'v1': the observation differs in more",
    ),
    ("bounds of observations", with_v0(observe_too_much), "is_my_turn of the encoder 'v0' has values from 3.0 to 3.0"),
    ("arrays written whole", with_v0(observe_over_the_end), "'v0' writes outside its array of 14"),
    ("arrays written whole", with_v0(observe_less), r"observe of the encoder 'v0' does not write the elements \[1\]"),
    ("arrays written whole", with_rules(legal=lambda table, mask: mask.__setitem__(0, 1)), r"legal does not write"),
    ("secrecy", with_view(game_state=show_both_cards), r"TurnState differs in game_state.other: [012] and [012]"),
    ("secrecy", with_view(resample=lambda table, seat, generator: None), "View.resample changes nothing"),
    (
        "secrecy",
        with_v0(lambda table, seat, at, out: three_cards.observe(table, 0, at, out)),
        "encoder 'v0': the observation differs in game_state.card",
    ),
    (
        "secrecy of the public view",
        replace(
            KUHN, capabilities=Capabilities(public_view=PublicView(lambda table: three_cards.game_state(table, 0)))
        ),
        "TurnState differs in game_state.card",
    ),
    ("secrecy", replace(KUHN, renderer=Renderer(lambda states: str(random.random()))), "the rendered text of the seat"),
    (
        "secrecy of messages",
        hears(lambda table, seat, intent: table.moves.__setitem__(2, table.moves[2] + 1)),
        "the observation differs in outcome.payoff",
    ),
    ("one rules source", with_v1(observe_count), r"one rules source \(encoder v1, seed .*the observation differs"),
    ("one rules source", with_rules(reset=reset_by_python), "GameEnv|VectorGame|differ"),
    ("one rules source", with_rules(step=step_that_may_do_nothing, legal=legal_last), "no episode"),
    ("determinism", with_v1(observe_count), "two runs with the same seed and actions differ"),
    ("threads", with_v1(observe_count), r"threads \(encoder v1\): observations differ"),
    ("plain Python", with_v1(observe_overflow), r"plain Python \(encoder v1\): observations differ"),
    ("determinism", with_rules(reset=reset_by_python), "two runs with the same seed and actions differ"),
    ("global random state", with_rules(reset=reset_by_python), "playing changes the global random state"),
    ("seeds", with_rules(reset=reset_blank), "two of ten seeds give the same record"),
    ("clone", with_rules(step=step_with_memory), "copied after . calls, call "),
    ("copied records", with_rules(blank=gaps()), "bytes that belong to no field"),
    ("copied records", with_rules(step=step_that_may_do_nothing), "the legal action 2 changes nothing"),
    ("independent TurnStates", with_view(game_state=Shared().game_state), "writing into a TurnState changed another"),
    ("accounting", replace(KUHN, payoffs=Payoffs(-1, 1, zero_sum=True)), "the seat won -?2; payoffs declares -1 to 1"),
    ("accounting", with_rules(step=nan_rewards), "rewards are"),
    ("accounting", with_rules(reset=early_rewards), "rewards before the first decision"),
    (
        "accounting",
        with_rules(step=lambda table, action: (nim.step(table, action), table.rewards.__imul__(-0.5 * table.rewards))),
        "do not sum to zero, though payoffs.zero_sum is set",
    ),
    ("accounting", replace(NIM, payoffs=Payoffs(-1, 1, shared=True)), r"differ, though payoffs.shared is set"),
    ("accounting", with_view(outcome=lambda table, seat: {"payoffs": [], "reason": "end"}), r"the utilities \[\];"),
    ("turns", with_rules(step=forgets_the_turn), "the episode is over, and turn is 0, not -1"),
    ("turns", with_rules(legal=legal_nothing), "ValueError|no action is legal"),
    ("turns", with_rules(legal=legal_twos), "the mask has other values than 0 and 1"),
    ("turns", replace(NIM, view=replace(NIM.view, safe=lambda table: 2)), "the safe action 2 is not legal; legal are"),
    ("payloads", with_view(encode=lambda table, action: envs.AgentResponse(Action("fold"))), "not in action_spaces"),
    ("payloads", with_view(encode=lambda table, action: envs.AgentResponse(Action("bet"))), "nearest index is 1"),
    ("payloads", with_view(nearest=lambda table, move: 0), "whose nearest index is 0"),
    (
        "payloads",
        with_view(encode=lambda table, action: envs.AgentResponse(Action(three_cards.KINDS[action], {"amount": 1}))),
        "which is not in its space",
    ),
    ("payloads", with_view(parse=lambda table, action: envs.ActionResult(False, "invalid_payload", "no")), "refused"),
    (
        "schemas",
        with_view(allowed=lambda state, seat, phase: [AllowedAction("pass", "", {"type": "card"})]),
        "is not a JSON schema",
    ),
    ("schemas", with_view(allowed=lambda state, seat, phase: [AllowedAction("pass")]), "allowed_actions offers pass"),
    (
        "schemas",
        with_view(
            allowed=lambda game_state, seat, phase: [
                AllowedAction(kind, "", {"required": ["amount"]}) for kind in three_cards.KINDS
            ]
        ),
        "is not valid by its schema: 'amount' is a required property",
    ),
    (
        "allowed actions",
        with_view(
            allowed=lambda game_state, seat, phase: [
                AllowedAction(kind, "", {"additionalProperties": False})
                for kind in three_cards.KINDS[: 1 + (len(game_state["moves"]) > 0)]
            ]
        ),
        r"allowed_actions offers \['pass'\]; legal are \['bet', 'pass'\]",
    ),
    ("allowed actions", with_view(allowed=AllowedOnce(), state_type=None), "of its game_state, read from JSON"),
    ("types of states", with_view(state_type=Named), "no Named: .*card: -?[0-9] is not of type 'string'"),
    ("types of states", with_view(state_type=Short), r"""game_state is read as {"seat":0,"card":\d}"""),
    ("any answer", with_view(parse=parse_anything), "KeyError"),
    ("any answer", with_view(parse=parse_and_play), "and has changed the record"),
    ("any answer", with_view(parse=lambda table, action: envs.ActionResult(False, "no", "no")), "with the code 'no'"),
    (
        "full information shown",
        replace(KUHN, encoders={**KUHN.encoders, "full": replace(KUHN.encoders["v0"], full_information=True)}),
        "the encoder 'full' does not change when hidden information is resampled",
    ),
    (
        "full information shown",
        replace(
            KUHN,
            encoders={
                **KUHN.encoders,
                "full": Encoder(Layout([Slice("hidden", (1,), 0, 1, "")]), lambda table, seat, at, out: None, True),
            },
        ),
        "the layout of 'full' does not begin with the slices of an encoder for players",
    ),
    ("random events", with_chance(probability=lambda table, outcome: 0.5), r"of an event are \[0.5, 0.5, 0.5\]"),
    (
        "frequencies of random events",
        with_chance(probability=lambda table, outcome: (0.5, 0.25, 0.25)[outcome] if table.cards[0] < 0 else 0.5),
        "an outcome of probability 0.25 was drawn",
    ),
    (
        "frequencies of random events",
        with_chance(play=lambda table, outcome: table.cards.__setitem__(slice(None), (0, 1))),
        "the rules lead to a record that none of the enumerated outcomes leads to",
    ),
    (
        "value of the tree",
        with_chance(probability=lambda table, outcome: (0.9, 0.1, 0)[outcome] if table.cards[0] < 0 else 0.5),
        "uniformly random play is worth",
    ),
    *((library, with_v1(observe_five), f"{library} .encoder v1.: ") for library in CHECKERS),
]


@pytest.mark.parametrize(("law", "game", "difference"), BROKEN, ids=[f"{i}-{one[0]}" for i, one in enumerate(BROKEN)])
def test_a_broken_law_is_found(law, game, difference):
    if law == "Stable-Baselines3":
        library("stable_baselines3")
    with pytest.raises(LawBroken, match=difference) as broken:
        try_law(law, game, 4)
    assert broken.value.law == law
    assert str(broken.value).startswith(law)


def test_every_law_can_be_broken():
    assert set(LAWS) - {law for law, _, _ in BROKEN} == {"full information refused"}  # below


def test_a_match_that_takes_the_full_encoder_is_found(monkeypatch):
    monkeypatch.setattr(envs.Game, "check_encoder", lambda game, name: None)
    with pytest.raises(LawBroken, match="Match takes the encoder 'full', which shows hidden information"):
        try_law("full information refused", KUHN, 1)


def test_tables_that_a_thread_leaves_out_are_found(monkeypatch):
    monkeypatch.setattr(VectorGame, "_run", lambda tables, work: work(*tables._shares[0]))
    with pytest.raises(LawBroken, match=r"^threads \(encoder v0\): "):
        try_law("threads", KUHN, 1)


def test_ids_that_count_hidden_messages_are_found(monkeypatch):
    monkeypatch.setattr(Match, "_message_id", lambda match, sender, scope, readers: f"{len(match.messages)}")
    with pytest.raises(LawBroken, match=r"TurnState differs in messages\[\d\].message_id: '\d' and '\d'"):
        try_law("secrecy of messages", KUHN, 4)


def test_tables_that_differ_from_the_environment_are_found(monkeypatch):
    step = VectorGame.step

    def without_rewards(tables, actions):
        step(tables, actions)
        tables.rewards[:] = 0

    monkeypatch.setattr(VectorGame, "step", without_rewards)
    with pytest.raises(LawBroken, match="rewards are") as broken:
        try_law("one rules source", KUHN, 1)
    assert broken.value.seed in (11, 12, 13)


def test_the_error_names_law_seed_decision_and_seat():
    with pytest.raises(LawBroken) as broken:
        try_law("secrecy", with_view(game_state=show_both_cards), 4)
    error = broken.value
    assert (error.law, error.seed, error.decision) == ("secrecy", 0, 0)
    assert error.seat in (0, 1)
    assert str(error) == f"secrecy (seed 0, decision 0, seat {error.seat}): {error.difference}"
