"""Torch has one thread: the tests share the cores."""

import torch

torch.set_num_threads(1)
