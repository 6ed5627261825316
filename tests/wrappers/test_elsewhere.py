"""Where a policy can play: one answer for all, and the same play in simulation and at a live table."""

import numpy as np
import pytest
from command_line import line, printed
from parlour import envs, zoo
from parlour.envs.core.rollout import act_of, play_until_done, tables_with_seed
from parlour.envs.core.turn_state import ActionResult
from parlour.training import cli
from parlour.training.commands.host import several_games
from parlour.training.commands.lookup import agent, reason_against, tables_of
from parlour.wrappers.agents.schemas import acceptable, nearest_open
from parlour.wrappers.policies import elsewhere
from parlour.wrappers.policies.elsewhere import ElsewherePolicy, MutedPolicy, ScrambledPolicy
from parlour.wrappers.policies.loading import make_policy
from policies import blank
from rich.console import Console


@pytest.mark.parametrize("name", zoo.names())
def test_a_policy_of_the_zoo_plays_at_the_seats_that_its_card_names(name):
    card, file = zoo.card(name), str(zoo.weights(name))
    assert not any(reason_against(file, table) for table in tables_of(card.game, card.seats).values())


@pytest.mark.parametrize("name", [name for name in zoo.names() if "-" not in name])
def test_the_zoo_plays_every_number_of_seats_that_the_page_of_a_game_names(name):
    reasons = {count: reason_against(f"zoo:{name}", table) for count, table in tables_of(name).items()}
    assert not any(reasons.values()), reasons
    assert zoo.seats_of(name) == list(reasons)


@pytest.mark.parametrize(("name", "seats"), [("holdem", 5), ("mafia", 7), ("auction", 5), ("cournot", 4)])
def test_at_other_tables_a_policy_plays_in_simulation_as_live(name, seats):
    game = envs.game(name, seats=seats)
    policy, live = make_policy(f"zoo:{name}", game, seed=5), agent(f"zoo:{name}", game, seed=5)
    assert isinstance(policy, ElsewherePolicy)
    tables, row = game.tables(1), np.zeros(1, np.int64)
    table = tables[0]
    game.rules.reset(table)
    for _ in range(60):
        if table.done:
            game.rules.reset(table)
        chosen = int(act_of(policy, tables, row, np.zeros((1, 1), np.float32), game.rules.masks(tables, row))[0])
        move = game.view.parse(table, live.respond(game.turn_state(table, int(table.turn))).action)
        assert not isinstance(move, ActionResult)  # every answer is accepted
        kept = acceptable(game, table, game.mask(table, int(table.turn)))  # at a live table no bid is above the value
        assert game.view.nearest(table, move) == (chosen if kept[chosen] else nearest_open(game, table, chosen, kept))
        game.rules.step(table, move)


def test_a_policy_that_cannot_play_is_refused_with_one_sentence_everywhere(tmp_path, capsys):
    table, ten = envs.game("mafia", seats=12), str(tmp_path / "ten.npz")
    blank(envs.game("mafia", seats=10)).save(ten)
    reason = reason_against(ten, table)
    assert "cannot play this table: 12 players; this game was made for 10 at most; on a command line" in reason
    assert reason.endswith(" its own is --options seats=10")
    for seat in (make_policy, agent):
        with pytest.raises(ValueError, match=reason.partition(",")[0]):
            seat(ten, table)
    mixed = ["mixed"] * 11
    for words in (
        ["play", "mafia", "--agents", ten, *mixed],
        ["play", "mafia", "--agents", ten, *mixed, "--out", str(tmp_path / "match.html")],
        ["table", "mafia", "--agents", ten, *mixed[1:], "human", "--port", "0"],
        ["host", "arena", "mafia", "--agents", ten, *mixed, "--port", "0", "--seats", "12"],
        ["host", "mafia", "--agents", ten, "mixed", "--players", "12"],
        ["deploy", "mafia", ten, "--players", "12", "--port", "0"],
        ["evaluate", ten, "--seats", "12"],
        ["evaluate", "exploit", ten, "--seats", "12"],
        ["evaluate", "crossplay", ten, "mixed", "--seats", "12"],
        ["evaluate", "teams", "mafia", f"town={ten}", "--seats", "12"],
    ):
        assert cli.main(words) == cli.MISTAKE, words
        assert "12 players; this game was made for 10 at most" in " ".join(capsys.readouterr().err.split()), words


def test_a_policy_elsewhere_is_evaluated_beside_theory_and_has_no_exact_best_response(capsys):
    assert "beside theory" in printed(capsys, "evaluate zoo:auction --seats 3 --deals 4 --against random")
    code, _, err = line(capsys, "evaluate exploit zoo:auction --seats 3 --deals 4 --decisions 0")
    assert code == 0 and "plays on observations at the seats of its training" in " ".join(err.split())


def test_an_arena_of_several_games_leaves_out_who_cannot_play_and_says_why(tmp_path, capsys):
    blank(envs.game("mafia", seats=7)).save(tmp_path / "seven.npz")
    console = Console(width=500)
    seated = several_games(["kuhn", "mafia"], ["zoo", str(tmp_path / "seven.npz"), "random"], 7, agent, console)
    assert [(game.name, len(agents)) for game, agents in seated] == [("kuhn", 2), ("mafia", 2)]
    assert "mafia: " in (said := capsys.readouterr().out) and "10 players; this game was made for 7 at most" in said


@pytest.mark.parametrize(
    ("trained", "table", "words"),
    [
        (("leduc", {}), ("kuhn", {}), "plays leduc-v0, not kuhn-v0"),
        (("mafia", {"seats": 7}), ("mafia", {"seats": 8}), "8 players; this game was made for 7 at most"),
        (("mafia", {"seats": 8}), ("mafia", {"seats": 7}), ""),
        (("mafia", {"seats": 8, "fewest": 5}), ("mafia", {"seats": 6}), ""),
        (("ultimatum", {"seats": 2}), ("ultimatum", {"seats": 3}), "cannot play this table: submit_offer needs shares"),
        (("holdem", {"seats": 2}), ("holdem", {"seats": 9}), ""),
        (("auction", {"seats": 2, "bids": 11}), ("auction", {"seats": 16}), ""),
    ],
)
def test_the_reason_against_a_policy(trained, table, words):
    policy = blank(envs.game(trained[0], **trained[1]))
    game = envs.game(table[0], **table[1])
    reason = elsewhere.reason_against(policy, game)
    assert words in reason and bool(words) == bool(reason)


TALKING = [("mafia", {"seats": 6}), ("auction", {"seats": 3, "talk": True}), ("bargaining", {"talk": True})]


def said(made, policy, seed=3):
    """The statements in 40 episodes, and how often each action index is played."""
    actions = []
    tables = tables_with_seed(made, 40, seed)
    play_until_done(made, [policy], tables, on_decisions=lambda seen: actions.extend(seen.actions.tolist()))
    of = made.capabilities.talk.statements
    return [action for action in actions if action in of], actions


@pytest.mark.parametrize(("name", "options"), TALKING)
def test_a_muted_policy_says_nothing_and_plays_on(name, options):
    made = envs.game(name, **options)
    loud, _ = said(made, make_policy("random", made, seed=1))
    silent, played = said(made, MutedPolicy(make_policy("random", made, seed=1), made))
    assert loud and played and not silent


def test_a_scrambled_policy_talks_as_often_but_at_random():
    made = envs.game("mafia", seats=6)
    first = made.capabilities.talk.statements.start

    class Accuser:
        """Always makes the first statement that it may make."""

        def act(self, observations, masks):
            return np.where(masks[:, first:].any(axis=1), first + masks[:, first:].argmax(axis=1), masks.argmax(axis=1))

    scrambled, played = said(made, ScrambledPolicy(Accuser(), made, seed=1))
    assert len(set(scrambled)) > 15
    steady, all_played = said(made, Accuser())
    assert len(set(steady)) < 6
    assert len(scrambled) / len(played) == pytest.approx(len(steady) / len(all_played), rel=0.2)
