"""Policies: legal, seeded, and the frozen NumPy network equal to the torch model that it was copied from."""

import shlex
import zipfile
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
import torch
from command_line import printed
from parlour.envs import Slice, game, holdem_v0
from parlour.envs.core.compiled import compiled
from parlour.training import cli
from parlour.training.evaluation.duplicate import evaluate
from parlour.wrappers.agents.policy import PolicyAgent
from parlour.wrappers.policies.base import Policy, RandomPolicy, TabularPolicy, TrainedFor
from parlour.wrappers.policies.elsewhere import ElsewherePolicy
from parlour.wrappers.policies.loading import load_policy, load_run, make_policy
from parlour.wrappers.policies.mlp import MlpPolicy, Network, SeatLayer
from parlour.wrappers.policies.sb3 import SB3Policy
from parlour.wrappers.rl.sb3 import ColumnSelector, sb3_env
from parlour.wrappers.rl.tables import Pool, SingleAgentTables
from parlour.zoo import weights
from sb3_contrib import MaskablePPO
from stable_baselines3 import DQN, PPO

torch.set_num_threads(1)


@pytest.fixture(scope="module")
def scene():
    """Observations and masks of many decisions of random play."""
    tables = holdem_v0.vector_env(num_envs=64, seats=2)
    tables.reset(seed=3)
    rows = []
    for _ in range(20):
        rows.append((tables.observations.copy(), tables.action_masks.copy()))
        tables.step(tables.sample())
    return tuple(np.concatenate(part) for part in zip(*rows, strict=True))


def model(algorithm=MaskablePPO, **settings):
    env = sb3_env("holdem", n_envs=2, seats=2)
    return algorithm("MlpPolicy", env, seed=1, device="cpu", **settings)


def is_legal(masks, actions):
    return bool(masks[np.arange(len(masks)), actions].all())


@pytest.mark.parametrize(
    ("activation", "layers"),
    [(torch.nn.Tanh, []), (torch.nn.Tanh, [64, 64]), (torch.nn.ReLU, {"pi": [32], "vf": [16, 16]})],
)
def test_mlp_policy_has_the_torch_models_distribution(scene, activation, layers, tmp_path):
    observations, masks = scene
    original = model(policy_kwargs={"net_arch": layers, "activation_fn": activation})
    with torch.no_grad():
        for parameter in original.policy.parameters():
            parameter.mul_(3)  # further from uniform than a fresh network
        tensor = torch.as_tensor(observations)
        expected = original.policy.get_distribution(tensor, action_masks=masks.astype(bool)).distribution.probs.numpy()
        values = original.policy.predict_values(tensor).numpy()[:, 0]
    MlpPolicy.from_model(original).save(tmp_path / "policy.npz")
    for policy in (MlpPolicy.from_model(original), SB3Policy(original), load_policy(tmp_path / "policy.npz")):
        np.testing.assert_allclose(policy.probabilities(observations, masks), expected, atol=1e-5)
        np.testing.assert_allclose(policy.values(observations), values, rtol=1e-4, atol=1e-4)


def test_mlp_policy_of_a_network_that_sees_parts_of_the_observation(scene):
    parts = {"features_extractor_class": ColumnSelector, "features_extractor_kwargs": {"columns": [*range(3, 40), 60]}}
    original = model(policy_kwargs=parts)
    tensor = torch.as_tensor(scene[0])
    with torch.no_grad():
        expected = original.policy.get_distribution(tensor, action_masks=scene[1].astype(bool)).distribution.probs
        values = original.policy.predict_values(tensor)[:, 0]
    frozen = MlpPolicy.from_model(original)
    np.testing.assert_allclose(frozen.probabilities(*scene), expected.numpy(), atol=1e-5)
    np.testing.assert_allclose(frozen.values(scene[0]), values.numpy(), atol=1e-5)
    seen, _rest = frozen.layers[0]
    assert (np.flatnonzero(seen.any(1)) == [*range(3, 40), 60]).all()


def test_sampling_follows_the_probabilities_and_deterministic_plays_the_mode(scene):
    observations, masks = scene[0][:1], scene[1][:1]
    original = model()
    probabilities = MlpPolicy.from_model(original).probabilities(observations, masks)[0]
    many = np.repeat(observations, 40_000, axis=0), np.repeat(masks, 40_000, axis=0)
    drawn = MlpPolicy.from_model(original, seed=2).act(*many)
    np.testing.assert_allclose(np.bincount(drawn, minlength=len(probabilities)) / 40_000, probabilities, atol=0.015)
    np.testing.assert_array_equal(drawn, MlpPolicy.from_model(original, seed=2).act(*many))
    assert (MlpPolicy.from_model(original, deterministic=True).act(*many) == probabilities.argmax()).all()


@pytest.mark.parametrize("algorithm", [MaskablePPO, PPO, DQN])
def test_load_policy_reads_what_stable_baselines_saved(algorithm, scene, tmp_path):
    original = model(algorithm)
    original.save(tmp_path / "model.zip")
    policy = load_policy(tmp_path / "model", seed=1)
    assert isinstance(policy, SB3Policy if algorithm is DQN else MlpPolicy)
    assert isinstance(policy, Policy)
    assert is_legal(scene[1], policy.act(*scene))
    expected = SB3Policy(original).probabilities(*scene)
    np.testing.assert_allclose(policy.probabilities(*scene), expected, atol=1e-5)
    np.testing.assert_allclose(expected.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "write", "error", "words"),
    [
        ("nowhere.zip", None, FileNotFoundError, r"no policy at .*nowhere"),
        ("folder", Path.mkdir, ValueError, "is a folder"),
        ("text.zip", lambda file: file.write_text("hello"), ValueError, "no model saved by"),
        ("text.npz", lambda file: file.write_text("hello"), ValueError, "not a saved MlpPolicy"),
        ("other.npz", lambda file: np.savez(file, a=np.zeros(3)), ValueError, "not a saved MlpPolic"),
        ("model.zip", lambda file: damaged(file, "policy.pth"), ValueError, r"model.zip is (damaged: Mask|no model)"),
        ("model.zip", lambda file: damaged(file, "data"), ValueError, r"model.zip is (damaged: Mask|no model)"),
    ],
)
def test_load_policy_names_what_is_wrong(name, write, error, words, tmp_path):
    if write is not None:
        write(tmp_path / name)
    with pytest.raises(error, match=words):
        load_policy(tmp_path / name)


def damaged(file, part):
    """Write a model of which half of a part is missing."""
    whole = BytesIO()
    model().save(whole)
    with zipfile.ZipFile(whole) as parts, zipfile.ZipFile(file, "w") as made:
        for name in parts.namelist():
            content = parts.read(name)
            made.writestr(name, content[: len(content) // 2] if name == part else content)


def test_load_run_needs_a_run_folder(tmp_path):
    def refused(error, words, config=None, **settings):
        if config is not None:
            (tmp_path / "config.toml").write_text(config)
        with pytest.raises(error, match=words):
            load_run(tmp_path, **settings)

    holdem = 'game = "holdem-v0"\n[options]\n'
    refused(FileNotFoundError, r"no config\.toml")
    refused(ValueError, "does not name a game", "steps = 3\n")
    refused(FileNotFoundError, r"model\.zip", holdem + "seats = 3\n")
    MlpPolicy.from_model(model()).save(tmp_path / "policy.npz")  # of a table with 2 seats
    refused(ValueError, r"takes 203 numbers and has 10 actions; holdem-v0 has \d+")
    refused(ValueError, r"10 actions; holdem-v0 has 203 and 5", holdem + "seats = 2\npot_fractions = [1.0]\n")
    refused(ValueError, r"^seed -1", holdem + "seats = 2\n", seed=-1)
    loaded, policy = load_run(tmp_path)
    assert (loaded.seats, type(policy)) == (2, MlpPolicy)


def test_make_policy_knows_bots_runs_and_files(tmp_path, scene):
    holdem = game("holdem", seats=2)
    for name in ("random", "call", "tight", "maniac"):
        assert is_legal(scene[1], make_policy(name, holdem, seed=1).act(*scene))
    policy = RandomPolicy(1)
    assert make_policy(policy, holdem) is policy
    MlpPolicy.from_model(model()).save(tmp_path / "policy.npz")
    (tmp_path / "config.toml").write_text('game = "holdem-v0"\n[options]\nseats = 2\n')
    assert isinstance(make_policy(str(tmp_path), holdem), MlpPolicy)
    assert isinstance(make_policy(str(tmp_path / "policy.npz"), holdem), MlpPolicy)
    with pytest.raises(ValueError, match="did you mean 'maniac'"):
        make_policy("maniacs", holdem)
    assert isinstance(make_policy(str(tmp_path), game("holdem", seats=3)), ElsewherePolicy)
    with pytest.raises(ValueError, match="is not a policy"):
        make_policy(3, holdem)


@pytest.mark.parametrize("algorithm", [MaskablePPO, DQN])
def test_observations_and_masks_of_other_lengths_are_refused(algorithm, scene):
    """The compiled softmax does not look where it writes."""
    policy = SB3Policy(model(algorithm))
    for count in (9, 11):
        with pytest.raises(ValueError, match=f"10 actions, and got 203 and {count}"):
            policy.act(scene[0], np.ones((len(scene[0]), count), np.int8))
    with pytest.raises(ValueError, match=r"203 numbers and 10 actions, and got 200 and 10"):
        MlpPolicy.from_model(model()).act(scene[0][:, :200], scene[1])


# What a policy was trained for.


def flat(inputs, outputs, seed=0):
    """A policy without hidden layers, whose weights are drawn."""
    weights = np.random.default_rng(seed).normal(size=(inputs, outputs)).astype(np.float32)
    return MlpPolicy([(weights, np.zeros(outputs))], "Tanh", seed=seed)


def trained(table, encoder="", **about):
    layout = table.encoders[encoder or table.encoder].layout
    policy = flat(layout.size, table.num_actions)
    policy.set_trained_for(TrainedFor.of(table, encoder, **about))
    return policy


def test_a_saved_policy_carries_game_options_encoder_and_preset(tmp_path):
    holdem = game("holdem", seats=3, raise_cap=None, pot_fractions=[0.5, 1])
    policy = trained(holdem, preset="holdem", reward_scale=0.5)
    policy.save(tmp_path / "policy.npz")
    loaded = load_policy(tmp_path / "policy.npz")
    assert loaded.trained_for == policy.trained_for
    assert (loaded.encoder, loaded.reward_scale, loaded.trained_for.preset) == ("v0", 0.5, "holdem")
    again = loaded.trained_for.make_game()
    assert (again.id, dict(again.options)) == (holdem.id, dict(holdem.options))
    assert loaded.trained_for.difference(holdem) == ""


@compiled
def observe_more(table, seat, at, out):
    out[at.pot_again] = table.pot


def with_v1(table):
    """The same game with a second version of the encoder, which shows the pot once more."""
    more = table.encoders["v0"].extended([Slice("pot_again", (1,), 0, 1e4, "the pot once more")], observe_more)
    return replace(table, encoders={"v0": table.encoders["v0"], "v1": more, "full": table.encoders["full"]})


class Witness:
    """Passes on to a policy, and notes how long the observations are."""

    def __init__(self, policy):
        self.policy, self.encoder, self.lengths = policy, policy.encoder, set()

    def act(self, observations, masks):
        self.lengths.add(observations.shape[1])
        return self.policy.act(observations, masks)


def test_policies_of_two_encoder_versions_sit_at_the_same_tables(tmp_path):
    both = with_v1(game("holdem", seats=2))
    old, new = (Witness(trained(both, encoder)) for encoder in ("v0", "v1"))
    score = evaluate(old, both, [new], deals=20)
    assert score.games == 40
    size = both.layout.size
    assert (old.lengths, new.lengths) == ({size}, {size + 1})
    pair = Witness(trained(both, "v0")), Witness(trained(both, "v1"))
    tables = SingleAgentTables(both, 8, Pool(pair), encoder="v1")
    tables.reset(seed=1)
    for _ in range(20):
        tables.step(tables.masks.argmax(axis=1))
    assert tables.observations.shape == (8, size + 1)
    assert (pair[0].lengths, pair[1].lengths) == ({size}, {size + 1})
    newer = replace(both, encoder="v1")
    policy = make_policy(str(saved(tmp_path, old.policy)), newer, seed=1)
    assert (newer.id, policy.encoder) == ("holdem-v1", "v0")
    agent = PolicyAgent(newer, policy)
    agent.warm_up()
    assert agent.thoughts()["probabilities"]


def saved(folder, policy):
    policy.save(folder / "old.npz")
    return folder / "old.npz"


def test_no_policy_that_sees_hidden_information_is_loaded_to_play(tmp_path):
    holdem = game("holdem", seats=2)
    with pytest.raises(ValueError, match="'full' shows hidden information"):
        trained(holdem, "full")
    critic = flat(holdem.encoders["full"].layout.size, holdem.num_actions)
    critic.trained_for = TrainedFor.of(holdem, "full")  # as somebody may write it into a file
    critic.save(tmp_path / "policy.npz")
    with pytest.raises(ValueError, match="hidden information: no policy with it may play"):
        load_policy(tmp_path / "policy.npz")
    (tmp_path / "config.toml").write_text('game = "holdem-v0"\nencoder = "full"\n[options]\nseats = 2\n')
    for load in (load_run, load_policy):
        with pytest.raises(ValueError, match="hidden information"):
            load(tmp_path if load is load_run else tmp_path / "policy.npz")
    spy = flat(holdem.layout.size, holdem.num_actions)
    spy.trained_for = TrainedFor.of(holdem, "full")
    with pytest.raises(ValueError, match="hidden information"):
        PolicyAgent(holdem, spy)
    with pytest.raises(ValueError, match="hidden information"):
        evaluate(spy, holdem, [spy], deals=2)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"w0": np.nan}, "the weights w0 are not all finite numbers"),
        ({"b1": np.inf}, "the weights b1 are not all finite numbers"),
        ({"w1": np.zeros((3, 2), "f4")}, "w1 and b1 have other sizes than the layer before"),
        ({"b0": np.zeros(5, "f4")}, "w0 and b0 have other sizes"),
        ({"w0": np.full((4, 8), 1e300)}, "the weights w0 are not all finite numbers"),
        ({"w0": np.full((4, 8), "x")}, "the weights w0 are not all finite numbers"),
        ({"w1": None}, "the weights w1 are missing"),
        ({"seat_weights": np.ones((2, 3), "f4")}, "the weights seat_columns, seat_others, seat_biases are missing"),
        ({"critic_w0": np.ones((3, 1), "f4"), "critic_b0": np.zeros(1, "f4")}, "its critic takes 3 numbers"),
    ],
)
def test_damaged_weights_are_refused(tmp_path, damage, message):
    layers = [(np.ones((4, 8), "f4"), np.zeros(8, "f4")), (np.ones((8, 2), "f4"), np.zeros(2, "f4"))]
    MlpPolicy(layers).save(tmp_path / "good.npz")
    with np.load(tmp_path / "good.npz") as file:
        arrays = dict(file)
    for name, value in damage.items():
        if value is None:
            del arrays[name]
        else:
            arrays[name] = value if np.ndim(value) else np.full_like(arrays[name], value)
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(ValueError, match=message):
        MlpPolicy.load(tmp_path / "bad.npz")


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        ({"columns": np.array([[0, 1], [2, 9]])}, "not those of an observation, each once"),
        ({"columns": np.array([[0.0, 1], [2, 3]])}, "not those of an observation, each once"),
        ({"weights": np.ones((3, 2), "f4")}, "weights of other sizes than its columns"),
        ({"others": np.array([4, 5])}, "does not have the 7 results that w0 takes"),
    ],
)
def test_a_damaged_layer_shared_over_the_seats_is_refused(tmp_path, damage, message):
    parts = {"columns": np.array([[0, 1], [2, 3]]), "others": np.array([4])}
    parts |= {"weights": np.ones((2, 3), "f4"), "biases": np.zeros(3, "f4")}
    last = [(np.ones((7, 2), "f4"), np.zeros(2, "f4"))]
    file = tmp_path / "seats.npz"
    MlpPolicy(Network(last, "ReLU", seat_layer=SeatLayer(**parts))).save(file)
    assert MlpPolicy.load(file).inputs == 5
    MlpPolicy(Network(last, "ReLU", seat_layer=SeatLayer(**{**parts, **damage}))).save(file)
    with pytest.raises(ValueError, match=message):
        MlpPolicy.load(file)


def test_a_saved_policy_of_another_game_is_refused_and_a_zip_is_known_by_its_run(tmp_path):
    path = str(saved(tmp_path, trained(game("holdem", seats=2))))
    for name in ("auction", "mafia"):
        with pytest.raises(ValueError, match=f"plays holdem-v0, not {name}-v0"):
            make_policy(path, game(name))
    assert make_policy(path, game("holdem", seats=2, ante=1)).encoder == "v0"  # seen and done is the same
    model().save(tmp_path / "model.zip")
    assert load_policy(tmp_path / "model.zip").trained_for is None
    (tmp_path / "config.toml").write_text('game = "holdem-v0"\n[options]\nseats = 2\n')
    assert load_policy(tmp_path / "model.zip").trained_for.options["seats"] == 2
    (tmp_path / "config.toml").write_text("colour = 3\n")  # no run's
    assert load_policy(tmp_path / "model.zip").trained_for is None


def test_a_file_of_weights_with_a_wrong_byte_is_refused_or_whole(tmp_path):
    file, random = tmp_path / "bad.npz", np.random.default_rng(1)
    raw, refused = weights("leduc").read_bytes(), 0  # a table: compressed
    for place in random.integers(100, len(raw) // 2, 40):
        damaged = bytearray(raw)
        damaged[place] ^= 255
        file.write_bytes(damaged)
        try:
            assert load_policy(file).outputs == 3  # some bytes, such as a date, do not matter
        except ValueError as error:
            assert "bad.npz is no" in str(error)
            refused += 1
    assert refused > 30


@pytest.mark.parametrize(
    "table",
    [[[1, 0]], [[1, 0], [np.nan, 1]], [[1, 0], [-1, 2]], [[1, 0], [0, 0]], [["x", 0], [1, 0]], [[3e38] * 2] * 2],
)
def test_a_damaged_table_of_strategies_is_refused(tmp_path, table):
    np.savez(tmp_path / "bad.npz", observations=np.eye(2, dtype="f4"), table=np.array(table))
    with pytest.raises(ValueError, match="is not a saved TabularPolicy"):
        TabularPolicy.load(tmp_path / "bad.npz")
    np.savez(tmp_path / "bad.npz", observations=np.zeros((0, 2), "f4"), table=np.zeros((0, 2), "f4"))
    with pytest.raises(ValueError, match="is not a saved TabularPolicy"):
        TabularPolicy.load(tmp_path / "bad.npz")


def test_the_solution_of_a_small_game_plays_with_its_own_options_only(tmp_path, capsys):
    dice = tmp_path / "my dice.npz"
    assert "--options" not in printed(capsys, "solve kuhn --out", str(dice))
    two = ["liars_dice", "--options", "faces=2"]
    hint = shlex.split(printed(capsys, "solve", *two, "--out", str(dice)).rpartition(": parlour ")[2])
    assert hint == ["play", *two, "--agents", str(dice), "random"]
    message = "with faces=2, not liars_dice-v0 with faces=6; it knows no other game: .* --options faces=2$"
    with pytest.raises(ValueError, match=message):
        make_policy(str(dice), game("liars_dice"))
    assert cli.main(["play", "liars_dice", "--agents", str(dice), "random"]) == cli.MISTAKE
    assert cli.main(hint) == 0
