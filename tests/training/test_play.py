import io
import json
import re

import endpoint
import numpy as np
import pytest
import rock_paper_scissors
from beginnings import episode
from command_line import printed
from live.table_people import Program
from needs import library
from parlour.envs import Action, AgentResponse, GameEnv, game
from parlour.envs.core.registry import GAMES
from parlour.training import cli
from parlour.training.terminal.match import Screen, TerminalMatch
from parlour.wrappers.agents.human import HumanAgent
from parlour.wrappers.agents.language_model import LLMAgent, Model
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.logs.match_log import read
from parlour.wrappers.replay.log_reader import replay
from random_play import states
from rich.console import Console
from rich.live import Live


def screen():
    return Console(file=io.StringIO(), width=100, highlight=False)


def seated(spec, table, seed):
    return PolicyAgent(table, table.bots[spec](table, seed))


def test_bots_are_shown_with_all_cards(heads_up):
    console = screen()
    match = TerminalMatch(heads_up, [seated("call", heads_up, 1), seated("call", heads_up, 2)], ["a", "b"], console)
    match.play(2, seed=3)
    text = console.file.getvalue()
    assert "??" not in text
    assert "hand 1 of 2" in text
    assert "player_0 (a): call" in text
    assert sum(match.totals) == 0
    assert any(match.totals)


def test_a_person_sees_only_the_own_cards(heads_up):
    console, said = screen(), io.StringIO("nonsense\nfold\n")
    person = HumanAgent(said, io.StringIO())
    match = TerminalMatch(heads_up, [person, seated("call", heads_up, 1)], ["me", "call"], console)
    match.play(1, seed=3)
    shown = [line for line in console.file.getvalue().splitlines() if "player_1 " in line and "stack" in line]
    assert shown
    assert all("?? ??" in line for line in shown)
    assert "nonsense" in person._screen.getvalue()
    assert "smallBlind" not in person._screen.getvalue()  # the table is in the panel


def test_a_person_does_not_see_the_bids_of_others():
    table, console = game("auction", seats=2), screen()
    person = HumanAgent(io.StringIO("submit_bid 1\n"), io.StringIO())
    TerminalMatch(table, [seated("truthful", table, 1), person], ["bot", "me"], console).play(1, seed=3)
    before, _, after = console.file.getvalue().partition("player_1 (you): bid 1")  # as it may be typed
    assert re.search(r"player_0 \(bot\): bid ─", before)
    assert after


def playing(response):
    """Return an agent that plays this action at every turn."""
    return Program(lambda state: response)


@pytest.mark.parametrize("name", [*GAMES, "rock_paper_scissors"])
def test_what_is_said_of_anothers_action_differs_only_where_the_state_of_the_person_does(name):
    table = rock_paper_scissors.game() if name == "rock_paper_scissors" else game(name)
    env, generator = GameEnv(table), np.random.default_rng(1)
    env.reset(seed=3)
    for _ in range(8):
        if env.table.done:
            break
        seat, indices = int(env.table.turn), table.mask(env.table, int(env.table.turn)).nonzero()[0]
        kinds = {}
        for index in generator.permutation(indices):
            response = table.view.encode(env.table, int(index))
            kinds.setdefault(response.action.action_type, []).append(response)
        person, said = (seat + 1) % table.seats, {}
        if person != seat:
            for response in (response for same in kinds.values() for response in same[:2]):
                twin, shown = env.clone(), []
                agents = [playing(response)] * table.seats
                agents[person] = HumanAgent()
                match = TerminalMatch(table, agents, ["someone"] * table.seats, screen())
                match.show = lambda *what, shown=shown: shown.append(what)
                match._turn(twin, None)
                state = json.dumps(twin.turn_state(table.agents[person]).to_dict(), sort_keys=True)
                assert said.setdefault(state, shown) == shown
        env.step(int(generator.choice(indices)))


def test_a_hidden_choice_is_not_told_and_an_open_one_is():
    hidden = rock_paper_scissors.game(), Action("paper"), "has chosen"
    for table, bot, words in (hidden, (game("kuhn"), Action("bet"), "bet")):
        shown, person = [], HumanAgent()
        match = TerminalMatch(table, [playing(AgentResponse(bot)), person], ["bot", "me"], screen())
        match.show = lambda *what, shown=shown: shown.append(what)
        env = episode(table)
        match._turn(env, None)
        assert [headline for headline, *_ in shown] == [f"{table.agents[0]} (bot): {words}"]


@pytest.mark.parametrize(
    "answer", ["submit_offer 50 30 20", 'sub shares={"player_0": 50, "player_1": 30, "player_2": 20}']
)
def test_a_person_divides_a_pie(answer):
    table = game("ultimatum", seats=3, max_rounds=1, reservations=(0, 0))
    person = HumanAgent(io.StringIO(f"submit_offer 50 50\nsubmit_offer 50 30 x\n{answer}\n"), io.StringIO())
    match = TerminalMatch(
        table, [person, *(seated("equilibrium", table, 1) for _ in range(2))], ["me", "a", "b"], screen()
    )
    match.play(1, seed=3)
    assert match.totals == [50, 30, 20]
    shown = person._screen.getvalue()
    assert "<shares: player_0 a number from 0 to 100; player_1" in shown
    assert "not 50 50" in shown and "player_2 must be a number" in shown


@pytest.mark.parametrize("columns", [1, 4, 8, 12])
def test_a_narrow_terminal_shows_the_match_and_its_questions(columns, heads_up, monkeypatch):
    console = Console(file=io.StringIO(), width=columns, height=24, force_terminal=True)
    match = TerminalMatch(heads_up, [seated("call", heads_up, seed) for seed in (1, 2)], ["a", "b"], console)
    with Live(console=console, auto_refresh=False) as live:
        match.show = Screen(match, live).show
        match.play(1, seed=3)
    assert match.played == 1 and console.file.getvalue()
    monkeypatch.setenv("COLUMNS", str(columns))
    env = episode(heads_up, seed=3)
    asked = io.StringIO()
    asked.isatty = lambda: True
    assert HumanAgent(io.StringIO("fold\n"), asked).respond(env.turn_state(env.agent_selection)).action == Action(
        "fold"
    )


def test_a_person_reads_the_end_of_a_match_before_the_next_one_takes_its_place(heads_up):
    shown = []
    person = HumanAgent(io.StringIO("fold\n\nfold\n"), io.StringIO())
    match = TerminalMatch(heads_up, [seated("call", heads_up, 1), person], ["call", "me"], screen(), opening=["blinds"])
    match.show = lambda headline, table, said: shown.append((headline, match.line().plain, list(said), table))
    match.play(2, seed=3)
    assert shown[0][:3] == ("hand 1 of 2", "big blinds before this hand: player_0 +0.0 · you +0.0", ["blinds"])
    second = [headline for headline, *_ in shown].index("hand 2 of 2")
    assert shown[second - 1][1].startswith("big blinds: player_0 +") and "before this hand" in shown[second][1]
    assert shown[-1][1].startswith("big blinds, sum of 2 hands: ")
    assert person._screen.getvalue().count("Enter: next hand") == 1
    ends = [table for _, _, _, table in shown if "over: " in table]
    assert len(ends) == 2 and all("\nplayer_0 wins 4 from the pot: all others folded" in end for end in ends)
    assert match.result(1) == f"You have {match.line().plain.split()[-1]} big blinds after 2 hands."


def typed(line, state):
    """The action of a line that a person types; if it is refused, the words after it."""
    shown = io.StringIO()
    try:
        return HumanAgent(io.StringIO(f"{line}\n"), shown, compact=True).respond(state).action
    except EOFError:
        return shown.getvalue()


@pytest.mark.parametrize("name", ["bargaining", "holdem", "mafia", "war_of_attrition"])
def test_a_choice_is_made_by_the_word_that_is_shown(name):
    """At every turn a choice has one number and one word; to give up is the last, and nothing is chosen by silence."""
    for state in states(game(name), 3):
        lines = re.findall(r"(?m)^ *(\d+) (\w+)", typed("", state))
        kinds = [offer.action_type for offer in state.allowed_actions if offer.action_type != "message_only"]
        assert len(lines) == len(kinds) and ("fold" not in kinds or lines[-1][1] == "fold")
        assert all(typed(number, state) == typed(word, state) for number, word in lines)


def test_on_the_command_line_with_a_log(capsys, tmp_path):
    log = tmp_path / "match.jsonl"
    args = ["play", "holdem", "--agents", "call", "tight", "maniac", "--matches", "2", "--delay", "0", "--seed", "5"]
    out = printed(capsys, *args, "--log", str(log))
    assert "player_2" in out
    assert "big blinds" in out
    assert [entry["kind"] for entry in read(log)].count("match") == 2
    assert replay(log).table.done


@pytest.mark.parametrize("how", [[], ["--screen"]])
def test_a_language_model_plays_and_what_it_says_is_shown(how, capsys, tmp_path):
    library("openai")
    choice = json.dumps({"action_type": "submit_offer", "payload": {"my_share": 61}, "say": "Take\nit \x1b[2J."})
    args = ["bargaining", "--agents", "llm", "fair", "--matches", "1", "--delay", "0", "--options", "rounds=2"]
    with endpoint.answering(endpoint.talking(choice=choice)) as url:
        assert cli.main(["play", *args, *how, "--model", "stub", "--llm-url", url, "--log", f"{tmp_path}/log"]) == 0
    out = capsys.readouterr().out
    assert "player_0 (llm): submit offer 61" in out
    assert "“Take it [2J.”" in out
    assert "\x1b[2J" not in out
    assert "Take\\nit" in (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (endpoint.no_json, "gave no answer that fits"),
        (endpoint.talking(choice='{"action_type": "submit_offer", "payload": {"my_share": 1000}}'), "100, got 1000"),
    ],
)
def test_a_language_model_that_gives_no_answer_costs_itself_the_turn(answer, problem, capsys, caplog, tmp_path):
    library("openai")
    match = ["bargaining", "--agents", "llm", "fair", "--options", "rounds=2", "--log", f"{tmp_path}/log"]
    with endpoint.answering(answer) as url:
        model = ["--model", "stub", "--llm-url", url]
        assert cli.main(["play", *match, *model, "--out", f"{tmp_path}/page.html"]) == 0
    assert "the safe action is played for player_0" in caplog.text
    assert problem in caplog.text
    assert replay(tmp_path / "log").table.done


def test_a_refusal_of_a_model_is_not_shown_to_its_opponent(caplog):
    library("openai")
    table, env = game("auction", seats=2), GameEnv(game("auction", seats=2))
    choice = '{"action_type": "submit_bid", "payload": {"bid": 1234567}}'
    with endpoint.answering(endpoint.talking(choice=choice)) as url:
        model = LLMAgent(Model(name="stub", base_url=url), None)
        match = TerminalMatch(table, [model, HumanAgent()], ["llm", "me"], screen())
        env.reset(seed=6)
        assert match._respond(model, env, None)[1].ok
    assert "the safe action is played for player_0" in caplog.text
    assert "1234567" not in caplog.text


def test_a_model_that_fails_at_night_does_not_betray_who_acts(caplog):
    library("openai")
    table, env = game("mafia", seats=5), GameEnv(game("mafia", seats=5))
    down = LLMAgent(Model(name="stub", base_url="http://127.0.0.1:9/v1", retries=0), None, talks=False)
    match = TerminalMatch(table, [HumanAgent(), *[down] * 4], ["me", *["llm"] * 4], screen())
    env.reset(seed=6)
    assert env.agent_selection != "p1"
    assert match._respond(down, env, None)[1].ok
    assert caplog.text == ""
    while env.turn_state("p1").phase == "NIGHT_ACTIONS":
        env.submit(env.agent_selection, table.view.encode(env.table, table.view.safe(env.table)))
    assert match._respond(down, env, None)[1].ok
    assert "the safe action is played for p2" in caplog.text
