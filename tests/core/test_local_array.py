import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError
from parlour.envs.core.memory import local_array

COUNT = 3


@njit
def products(factor):
    table = local_array((COUNT, 2), np.int64)
    bits = local_array(COUNT, np.uint8)
    for i in range(COUNT):
        table[i, 0], table[i, 1] = i, factor
        bits[i] = 253 + i
    total = 0
    for i in range(COUNT):
        total += table[i, 0] * table[i, 1] * 1000 + bits[i]
    return total


@njit
def of_variable_length(count):
    return len(local_array(count, np.int64))


def test_it_is_an_array_of_its_shape_and_dtype():
    assert products(5) == products.py_func(5) == 15_000 + 253 + 254 + 255
    assert local_array((2, 3), np.float64).shape == (2, 3)


def test_its_shape_is_a_constant():
    with pytest.raises(TypingError):
        of_variable_length(3)
