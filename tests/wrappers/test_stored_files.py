"""Files that somebody else wrote: policies, runs, logs, cards, hands. They open no file, never wait, take no memory."""

import json
import os
import tracemalloc
import zipfile
from io import BytesIO

import msgspec
import numpy as np
import pytest
from numpy.lib import format as npy
from parlour import envs, zoo
from parlour.envs.core.files import no_files, opened, read_text
from parlour.training.runs.config import load_config
from parlour.training.runs.run import resume
from parlour.wrappers.logs.match_log import read
from parlour.wrappers.policies import base
from parlour.wrappers.policies.base import TrainedFor
from parlour.wrappers.policies.loading import load_policy, load_run, make_policy
from parlour.wrappers.policies.mlp import MlpPolicy
from parlour.wrappers.replay.log_reader import moments
from parlour.wrappers.replay.phh import hands


@pytest.fixture
def secret(tmp_path):
    file = tmp_path / "secret.txt"
    file.write_text("zzqqxx:x:0:0\n")
    return file


def policy_file(folder, options):
    about = TrainedFor(game="tangram-v0", options=options)
    file = folder / "policy.npz"
    layer = np.zeros((2, 3), np.float32), np.zeros(3, np.float32)
    text = np.array(msgspec.json.encode(about).decode())
    np.savez(file, activation=np.array("Tanh"), w0=layer[0], b0=layer[1], trained_for=text)
    return file


def run_folder(folder, options):
    run = folder / "run"
    run.mkdir()
    (run / "config.toml").write_text(
        f'format = 2\ngame = "tangram"\n[options]\nfigure = {json.dumps(options["figure"])}\n'
    )
    return run


def log_file(folder, options):
    file = folder / "log.jsonl"
    file.write_text(json.dumps({"kind": "match", "game": "tangram-v0", "options": options, "seed": 1}) + "\n")
    return file


READERS = {
    "policy": (policy_file, lambda file: load_policy(file).trained_for.make_game()),
    "policy for a game": (policy_file, lambda file: make_policy(str(file), envs.game("tangram"))),
    "run": (run_folder, load_run),
    "run to resume": (run_folder, resume),
    "log": (log_file, lambda file: list(moments(file))),
}


@pytest.mark.parametrize("kind", READERS)
def test_stored_options_open_no_file(kind, tmp_path, secret):
    write, load = READERS[kind]
    file = write(tmp_path, {"figure": str(secret)})
    with pytest.raises(ValueError, match="the options of a policy, a run or a log open no file") as refused:
        load(file)
    assert "zzqqxx" not in str(refused.value)


def test_who_gives_the_option_may_name_a_file(secret):
    with pytest.raises(ValueError, match="zzqqxx"):
        envs.game("tangram", figure=str(secret))
    with no_files(), pytest.raises(ValueError, match="open no file"):
        envs.game("tangram", figure=str(secret))


# Pipes.

PIPES = {
    "policy.npz": load_policy,
    "model.zip": load_policy,
    "log.jsonl": lambda file: list(read(file)),
    "config.toml": load_config,
    "hands.phh": lambda file: list(hands(file)),
    "hands.phhs": lambda file: list(hands(file)),
    "figure.txt": lambda file: envs.game("tangram", figure=str(file)),
    "figure.svg": lambda file: envs.game("tangram", figure=str(file)),
    "kuhn.toml": lambda file: zoo.card("kuhn", file.parent),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", PIPES)
def test_no_reader_waits_on_a_pipe(name, tmp_path):
    file = tmp_path / name
    os.mkfifo(file)
    (tmp_path / "kuhn.npz").touch()  # a card stands beside its policy
    with pytest.raises((ValueError, FileNotFoundError)):
        PIPES[name](file)


def test_a_text_has_a_largest_size(tmp_path):
    file = tmp_path / "a.txt"
    file.write_bytes(b"x" * 11)
    assert read_text(file, 11) == "x" * 11
    with pytest.raises(ValueError, match="more than 10 bytes"):
        read_text(file, 10)
    with pytest.raises(IsADirectoryError):
        opened(tmp_path)


# Sizes.


def part(shape, data=b"", dtype=np.float32):
    """A part of an .npz whose header says this shape."""
    header = BytesIO()
    npy.write_array_header_1_0(header, {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape})
    return header.getvalue() + data


def archive(folder, **parts):
    file = folder / "policy.npz"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for name, data in parts.items():
            made.writestr(f"{name}.npy", data)
    return file


@pytest.mark.parametrize("shape", [(10**12,), (10**6, 10**6), (3,), ()])
def test_an_array_is_as_large_as_its_header_says(shape, tmp_path):
    file = archive(tmp_path, w0=part(shape, bytes(8)))
    with pytest.raises(ValueError, match=r"w0\.npy is float32 of shape .*, in \d+ bytes"):
        base.read_arrays(file)
    with pytest.raises(ValueError, match=r"is not a saved MlpPolicy: w0\.npy"):
        load_policy(file)


def test_what_is_too_large_is_refused_before_it_is_read(tmp_path):
    """Zeros are packed to a thousandth: a small file may hold gigabytes."""
    zeros = bytes(2**24)
    parts = {f"w{i}": part((2**24,), zeros, np.int8) for i in range(20)}
    file = archive(tmp_path, activation=part((), "Tanh".encode("utf-32-le"), "<U4"), **parts)
    assert file.stat().st_size < 1e6
    tracemalloc.start()
    with pytest.raises(ValueError, match=r"335,544,\d+ numbers; 67,108,864 are allowed"):
        load_policy(file)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6
    table = archive(tmp_path, observations=parts["w0"], table=part((2**24,), zeros, np.int8), w=parts["w1"] * 2)
    with pytest.raises(ValueError, match="is not a saved MlpPolicy"):
        load_policy(table)


def test_a_part_of_another_librarys_model_has_a_largest_size(tmp_path, monkeypatch):
    monkeypatch.setattr(base, "LARGEST_MODEL", 1_000)
    file = tmp_path / "model.zip"
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("data", "{}" + " " * 2_000)
    with pytest.raises(ValueError, match="2,002 bytes; 1,000 are allowed"):
        load_policy(file)


def test_objects_are_not_unpickled(tmp_path):
    np.savez(tmp_path / "a.npz", w0=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match=r"w0\.npy is object"):
        base.read_arrays(tmp_path / "a.npz")


@pytest.mark.parametrize("half", [False, True])
def test_what_a_policy_writes_is_read(half, tmp_path):
    policy = MlpPolicy([(np.eye(3, 4, dtype=np.float32), np.ones(4, np.float32))])
    policy.save(tmp_path / "a.npz", half)
    read_again = load_policy(tmp_path / "a.npz").network.layers
    assert all(np.array_equal(one, other) for one, other in zip(read_again[0], policy.layers[0], strict=True))
