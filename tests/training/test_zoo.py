"""The zoo: its files, their cards, and `zoo:<game>` in the place of a run."""

import runpy
import shlex
import shutil
from pathlib import Path

import numpy as np
import pytest
from command_line import facts, printed
from forking import python
from parlour import envs, zoo
from parlour.envs.core.rollout import encoder_of, play_until_done, tables_with_seed
from parlour.training import cli
from parlour.training.commands.lookup import agent, game_of, policy, searching_agents
from parlour.training.evaluation.exact import flat_tree, nash_conv
from parlour.wrappers.agents.policy import ReadyAgent
from parlour.wrappers.policies.base import TabularPolicy, TrainedFor
from parlour.wrappers.policies.loading import load_policy, make_policy
from parlour.wrappers.policies.mlp import MlpPolicy, Network
from parlour.wrappers.policies.solved import SolvedPolicy

TOOL = Path(__file__).parents[2] / ".ci" / "zoo.py"
GAMES = sorted(source.rpartition(".")[2] for source in envs.GAMES.values() if isinstance(source, str))


@pytest.fixture
def tool():
    """The tool of maintainers that replaces policies."""
    if not TOOL.is_file():
        pytest.skip("the tool belongs to the checkout")
    return runpy.run_path(str(TOOL))["main"]


def test_every_game_has_a_policy_and_all_are_small():
    assert [name for name in zoo.names() if "-" not in name] == GAMES
    assert sorted([*(name for game in GAMES for name in zoo.variants(game)), "holdem-blueprint"]) == zoo.names()
    sizes = [zoo.weights(name).stat().st_size for name in zoo.names()]
    assert max(sizes) <= zoo.LARGEST
    assert sum(sizes) <= 8 * 2**20


@pytest.mark.parametrize("name", zoo.names())
def test_a_card_tells_what_the_weights_are(name):
    card, loaded = zoo.card(name), load_policy(f"zoo:{name}")
    assert loaded.trained_for is not None
    assert (card.game, card.encoder) == (loaded.trained_for.game, loaded.trained_for.encoder)
    assert card.licence == "MIT"
    assert card.budget
    assert shlex.split(card.command)[:2] in (["parlour", "train"], ["parlour", "solve"])
    assert f"zoo:{name}" in card.measured_by
    assert card.measures
    assert all(one.low <= one.mean <= one.high for one in card.measures)


@pytest.mark.parametrize("name", zoo.names())
def test_it_plays_as_a_run_does(name):
    game = game_of(f"zoo:{name}", None)
    player = policy(f"zoo:{name}", game, seed=1)
    assert isinstance(player, (MlpPolicy, SolvedPolicy, TabularPolicy))
    returns = play_until_done(game, [player], tables_with_seed(game, 4, 1))
    assert returns.shape == (4, game.seats)
    table = game.tables(1)[0]
    game.rules.reset(table)
    answer = agent(f"zoo:{name}", game, seed=1).respond(game.turn_state(table, int(table.turn)))
    assert answer.action.action_type in {offer.action_type for offer in game.allowed_actions(table)}
    assert encoder_of(player, game) == zoo.card(name).encoder


@pytest.mark.parametrize(("name", "most"), [("kuhn", 1e-5), ("leduc", 1e-5), ("liars_dice", 1e-3)])
def test_the_small_games_have_their_equilibrium(name, most):
    game = envs.game(name)
    tree = flat_tree(game)
    found = nash_conv(tree, tree.strategy_of(load_policy(f"zoo:{name}")))
    assert found < most
    (exact,) = (one for one in zoo.card(name).measures if one.kind == "exact")
    assert found / 2 == pytest.approx(exact.mean, abs=1e-6)


def test_unknown_names_and_other_games_are_explained():
    with pytest.raises(ValueError, match="did you mean zoo:holdem"):
        zoo.weights("zoo:hodlem")
    with pytest.raises(ValueError, match="the zoo has no policy 'chess'; choose from zoo:auction"):
        make_policy("zoo:chess", envs.game("kuhn"))
    with pytest.raises(ValueError, match="zoo:leduc plays leduc-v0, not kuhn-v0"):
        make_policy("zoo:leduc", envs.game("kuhn"))


@pytest.mark.parametrize(
    ("seats", "file"), [(None, "cournot"), (2, "cournot"), (3, "cournot-3"), (4, "cournot-10"), (5, "cournot")]
)
def test_a_variant_for_other_numbers_of_seats_plays_in_the_place_of_the_policy(tmp_path, seats, file):
    source = zoo.weights("cournot").with_suffix(".toml").read_text("utf-8")
    plays = {"cournot": "2,\n    3,\n    5", "cournot-3": "3", "cournot-10": "2,\n    3,\n    4"}
    for name, counts in plays.items():
        (tmp_path / f"{name}.npz").touch()
        begin, _, rest = source.partition("seats = [")
        (tmp_path / f"{name}.toml").write_text(f"{begin}seats = [{counts}{rest[rest.index(']') :]}", "utf-8")
    assert zoo.variants("cournot", tmp_path) == list(plays)
    assert zoo.weights("zoo:cournot", tmp_path, seats=seats) == tmp_path / f"{file}.npz"
    assert zoo.seats_of("cournot", tmp_path) == [2, 3, 4, 5]


def test_at_other_seats_the_policy_of_these_seats_plays_with_the_default_options():
    for seats in (2, 3, 4):
        game = game_of("zoo:ultimatum", None, seats=seats)
        assert game.options == envs.game("ultimatum", seats=seats).options
        player = policy("zoo:ultimatum", game, seed=1)
        assert isinstance(player, MlpPolicy)  # on the observations of its own training
        assert player.trained_for.options == game.options


def test_it_needs_neither_torch_nor_a_network():
    code = (
        "import sys, socket; sys.modules['torch'] = None; socket.socket.connect = None\n"
        "from parlour.envs import game; from parlour.wrappers.policies.loading import make_policy\n"
        "import numpy as np\n"
        "leduc = game('leduc'); make_policy('zoo:leduc', leduc, seed=1)\n"
        "auction = game('auction'); p = make_policy('zoo:auction', auction, seed=1)\n"
        "print(p.probabilities(np.zeros((1, p.inputs), np.float32), np.ones((1, p.outputs), np.int8)).shape)"
    )
    assert python("-c", code).startswith("(1, ")


def test_the_command_shows_all_policies_and_one_card(capsys):
    rows = facts(capsys, "list zoo")["zoo"]
    assert [row["policy"] for row in rows] == [f"zoo:{name}" for name in zoo.names()]
    assert all(row["seats"] and row["budget"] and row["worst measure"] and row["figure"] for row in rows)
    assert "parlour solve leduc" in printed(capsys, "list zoo:leduc")
    assert facts(capsys, "list zoo:leduc")["zoo:leduc"]["game"] == "leduc-v0"


def test_taking_a_policy_writes_small_weights_and_a_measured_card(tmp_path, capsys, tool):
    game, random = envs.game("kuhn"), np.random.default_rng(1)
    layers = [(random.normal(size=(game.layout.size, 2)).astype(np.float32), np.zeros(2, np.float32))]
    trained = MlpPolicy(Network(layers, "Tanh"), critic=layers)
    trained.set_trained_for(TrainedFor.of(game))
    trained.save(tmp_path / "mine.npz")
    words = ["--take", str(tmp_path / "mine.npz"), "--folder", str(tmp_path), "--deals", "50", "--decisions", "0"]
    assert tool(words) == 2
    assert "needs --made-by and --budget" in capsys.readouterr().err
    assert tool([*words, "--made-by", "parlour train kuhn --seed x", "--budget", "nothing"]) == 2
    assert "after --seed comes a whole number" in capsys.readouterr().err
    assert tool([*words, "--made-by", "parlour train kuhn --seed 4", "--budget", "nothing"]) == 0
    taken = load_policy(tmp_path / "kuhn.npz")
    assert isinstance(taken, MlpPolicy)
    assert taken.critic_network is None
    assert np.allclose(taken.layers[0][0], layers[0][0], atol=2e-3)
    told = (tmp_path / "kuhn.toml").read_text("utf-8")
    assert 'measured_by = "parlour evaluate exploit zoo:kuhn --deals 50 --hands 500 --decisions 0"' in told
    assert 'kind = "exact"' in told
    assert "seed = 4\n" in told


def test_runs_of_other_seeds_are_added_to_a_card_by_the_command_that_made_them(tmp_path, capsys, tool):
    folder, run = tmp_path / "zoo", tmp_path / "other"
    folder.mkdir()
    for file in (zoo.weights("kuhn"), zoo.weights("kuhn").with_suffix(".toml")):
        shutil.copy(file, folder)
    train = "train kuhn --seed 2 --total-timesteps 512 --n-envs 16 --set n_steps=16 batch_size=64"
    assert cli.main([*train.split(), "--run", str(run)]) == 0
    before = zoo.card("kuhn", folder)
    assert tool(["--against", str(run), "--folder", str(folder)]) == 2
    assert "runs with --against" in capsys.readouterr().err
    words = ["zoo:kuhn", "--against", str(run), "--folder", str(folder), "--deals", "200"]
    for _ in range(2):  # the second time it takes the place of the first
        assert tool(words) == 0
    after = zoo.card("kuhn", folder)
    assert len(after.measures) == len(before.measures) + 1
    (found,) = (one for one in after.measures if one.name.startswith(f"parlour {train}"))
    assert "--run" not in found.name
    assert (found.kind, found.unit) == ("run", before.measures[0].unit)
    assert found.mean < 0.2
    assert [one.mean for one in after.measures] == sorted((one.mean for one in after.measures), reverse=True)
    assert after.measured_by == f"{before.measured_by}; .ci/zoo.py kuhn --against {run} --deals 200"


def test_the_blueprint_searches_at_tables_where_nothing_else_is_asked_for():
    """Its card says so, and that of `zoo:holdem` does not."""
    table, specs = envs.game("holdem", seats=2), ["zoo:holdem-blueprint", "zoo:holdem"]
    agents = [agent(spec, table, 1) for spec in specs]
    for search, searching in ((None, [True, False]), (False, [False, False]), (True, [True, True])):
        chosen = searching_agents(specs, agents, 1, search)
        assert [isinstance(one, ReadyAgent) for one in chosen] == searching
