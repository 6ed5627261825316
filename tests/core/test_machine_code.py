"""What `machine_code` uses of Numba's private interface is there: each name with what it is for."""

import numba
import pytest
from parlour.envs.core.compiled import compiled

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


@compiled
def twice(x):
    return 2 * x


@compiled
def four_times(x):
    return twice(twice(x))


def test_a_function_that_is_called_is_a_part_alone():
    assert four_times(3) == 12
    assert not twice.overloads and len(four_times.overloads) == 1, (
        f"Numba {numba.__version__} makes machine code of what only compiled functions call"
    )
