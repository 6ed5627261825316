"""What a policy was trained for: presets of platforms, and what is said where a game or a table has other options."""

import json
import logging

import pytest
from command_line import run
from parlour import envs
from parlour.envs.core.match import Match
from parlour.training import cli
from parlour.training.commands import supervisor
from parlour.training.commands.deploy import watch_table
from parlour.training.runs.config import load_config, platform_presets, preset_for, preset_options, settings_from
from parlour.wrappers.agents.policy import PolicyAgent
from policies import blank


def test_a_platforms_preset_has_its_options_and_the_settings_of_the_games_preset():
    config, base = load_config("moltpoker"), load_config("holdem")
    told = {"seats": 9, "small_blind": 1, "big_blind": 2, "stacks": 100, "raise_cap": 4}
    assert (config.game, config.options, config.preset) == ("holdem", told, "moltpoker")
    assert (config.bots, config.ent_coef, config.total_timesteps) == (base.bots, base.ent_coef, base.total_timesteps)
    assert load_config("moltpoker", algorithm="selfplay").total_timesteps == 100_000_000


@pytest.mark.parametrize("one", platform_presets(), ids=lambda one: one.preset)
def test_every_platform_is_found_by_its_name(one):
    assert preset_for(one.platform, one.game) == one.preset
    assert envs.game(one.game, **preset_options(one.preset)).name == one.game
    assert settings_from(one.preset).keys() >= {"game", "options", "preset"} and "platform" not in settings_from(
        one.preset
    )


def test_a_run_for_a_platform_keeps_its_preset(tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("parlour.training.runs.run.train", lambda config, command: seen.append(config))
    monkeypatch.setattr("parlour.training.commands.train._tell_next", lambda folder: None)
    assert cli.main(["train", "--for", "moltpoker", "--seed", "3"]) == 0
    assert cli.main(["train", "auction", "--for", "strategic-agent-games"]) == 0
    poker, auction = seen
    assert (poker.game, poker.preset, poker.seed, poker.options["stacks"]) == ("holdem", "moltpoker", 3, 100)
    assert (auction.preset, auction.options["rule"]) == ("strategic-agent-games-auction", "all-pay")


def agent_of(game):
    return PolicyAgent(game, blank(game))


def first_turn(game):
    match = Match(game)
    match.reset(seed=1)
    return match.turn_state(game.agents[match.turn])


def warnings(caplog, mine, table, times=1):
    """What a policy for `mine` says at a table."""
    player = agent_of(mine)
    watch_table("first", player)
    player.warm_up()
    for _ in range(times):
        player.respond(first_turn(table))
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_table_with_other_options_is_a_warning_with_the_remedy(caplog):
    heads_up = envs.game("holdem", seats=2)
    told = warnings(caplog, heads_up, envs.game("holdem", **preset_options("moltpoker")), times=3)
    assert told == [
        "first was trained with seats=2, stacks=200, and this table has seats=9, stacks=100; "
        "it plays better after: parlour train --for moltpoker"
    ]


@pytest.mark.parametrize(
    ("game", "mine", "table", "remedy"),
    [
        ("auction", {}, {"seats": 3}, "parlour train auction --options seats=3"),
        ("auction", {"valuations": (0, 1)}, {}, "parlour train auction --for agent-colosseum"),
        ("auction", {}, {"reserve": 20, "entry_fee": 3}, "parlour train auction --options reserve=20.0 entry_fee=3.0"),
        ("auction", {"reserve": 20}, {}, "parlour train auction --for agent-colosseum"),
        ("bargaining", {}, {"total": 50}, "parlour train bargaining --options total=50.0"),
        (
            "bargaining",
            {"reservations": (0, 10)},
            {"reservations": (90, 95)},
            "parlour train bargaining --for agent-colosseum",
        ),
    ],
)
def test_other_games_compare_too(game, mine, table, remedy, caplog):
    (told,) = warnings(caplog, envs.game(game, **mine), envs.game(game, **table))
    assert told.endswith(f"it plays better after: {remedy}")


def test_a_table_that_cannot_be_read_costs_no_turn(caplog):
    player = agent_of(envs.game("auction"))
    watch_table("first", player)
    state = first_turn(envs.game("auction"))
    del state.game_state["num_bidders"]
    assert player.respond(state).action.action_type
    assert "first: the options of the table cannot be read: KeyError: 'num_bidders'" in caplog.text
    assert player.respond(first_turn(envs.game("auction"))).action.action_type


@pytest.fixture
def trained(tmp_path, monkeypatch):
    """A saved policy of hold'em with two seats and antes, in the current folder."""
    monkeypatch.chdir(tmp_path)
    table = envs.game("holdem", seats=2, ante=1)
    blank(table, preset="holdem").save("mine.npz")
    return "mine.npz"


def test_a_policy_file_is_played_with_its_own_game_and_options(trained, capsys):
    code, out, err = run(capsys, "evaluate", trained, "--against", "call", "--deals", "4", "--json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert (report["game"], report["options"]["seats"], report["options"]["ante"]) == ("holdem-v0", 2, 1)
    code, _, err = run(capsys, "evaluate", trained, "--against", "call", "--deals", "4", "--options", "ante=0")
    assert code == 0
    assert err == "mine.npz was trained for holdem-v0 with ante=1 (preset holdem); it plays with ante=0\n"


@pytest.mark.parametrize(
    "args",
    [
        ["play", "holdem", "--agents", "mine.npz", "call", "--matches", "1", "--delay", "0"],
        ["play", "holdem", "--screen", "--agents", "call", "mine.npz", "--matches", "1", "--delay", "0"],
        ["host", "arena", "holdem", "--agents", "mine.npz", "call", "--rounds", "1", "--port", "0"],
    ],
)
def test_a_line_warns_if_the_game_to_play_differs_from_the_training(trained, capsys, args):
    code, _, err = run(capsys, *args)
    assert code == 0
    lines = [line for line in err.splitlines() if "was trained" in line]
    assert len(lines) == 1
    assert lines[0].endswith("was trained for holdem-v0 with ante=1 (preset holdem); it plays with ante=0")


def test_table_and_deploy_say_so_too(trained, capsys, monkeypatch):
    monkeypatch.setattr(supervisor, "until_done", lambda work: work.close())
    code, _, err = run(capsys, "table", "holdem", "--agents", trained, "--port", "0")
    assert code == 0
    assert "mine.npz was trained for holdem-v0 with ante=1" in err
    code, _, err = run(capsys, "deploy", "arena", trained, "--port", "0", "--options", "ante=2", "stacks=50")
    assert code == 0
    assert "with ante=1, stacks=200 (preset holdem); it plays with ante=2, stacks=50" in err
    code, _, err = run(capsys, "deploy", "arena", trained, "--port", "0")
    assert (code, err) == (0, "")
