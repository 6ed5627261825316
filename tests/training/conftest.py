"""Torch has one thread: the tests share the cores. And hold'em for two, which several files play."""

import pytest
import torch
from parlour.envs import game

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def heads_up():
    return game("holdem", seats=2)
