"""Networks of learners in PyTorch."""

from copy import deepcopy
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn


def mlp(sizes: list[int], activation: str, gain: float) -> nn.Sequential:
    """Return a multilayer perceptron with orthogonal weights and biases of 0.

    Args:
        sizes: sizes of the input, the hidden layers and the output.
        activation: the activation function of the hidden layers, such as ``"ReLU"``.
        gain: the gain of the last layer's weights.
    """
    layers: list[nn.Module] = []
    for index, (inputs, outputs) in enumerate(pairwise(sizes)):
        linear = nn.Linear(inputs, outputs)
        nn.init.orthogonal_(linear.weight, gain if index == len(sizes) - 2 else 2**0.5)
        nn.init.zeros_(linear.bias)
        layers += [linear, getattr(nn, activation)()]
    return nn.Sequential(*layers[:-1])


def mlp_layers(net: nn.Module) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Return weights float32[in, out] and biases float32[out], layer by layer (see `MlpPolicy`)."""
    linear = [module for module in net.modules() if isinstance(module, nn.Linear)]
    return [(one.weight.detach().cpu().numpy().T, one.bias.detach().cpu().numpy()) for one in linear]


def copy_of(net: nn.Module) -> nn.Module:
    """Return an independent copy that is not trained by gradients."""
    copy = deepcopy(net)
    for parameter in copy.parameters():
        parameter.requires_grad_(False)
    return copy


@torch.no_grad()
def move(net: nn.Module, target: nn.Module, rate: float) -> None:
    """Move the weights of `net` towards those of `target` by the share `rate` of the way, 0 to 1."""
    torch._foreach_lerp_(list(net.parameters()), list(target.parameters()), rate)
