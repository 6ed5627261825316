"""Compiled functions as plain Python calculate with numbers as wide as the compiler's."""

import numpy as np
from forking import python
from parlour.envs.core.compiled import compiled
from parlour.envs.core.plain_python import interpreted
from parlour.envs.core.record import new_table, record

ROW = record(("card", "i1"), ("cards", "i1", (2, 2)), ("folded", "?"), ("word", "u8"))


def calculate(table, small, numbers):
    """Each of these is another number with 8 bits."""
    table.cards[0, 1] = table.card
    row = table.cards[0]
    return (
        1 << 39 + table.card,
        row[1] + small,
        numbers[0] * numbers[1],
        table.folded + table.folded,
        sum_of(table.cards),
    )


@compiled
def sum_of(cards):
    total = 0
    for i in range(2):
        for j in range(2):
            total += cards[i, j] + cards[i, j]
    return total


def test_numbers_have_64_bits_as_in_compiled_functions():
    table = new_table(ROW, card=12, folded=True)[0]  # a shift beyond 63 bits is not defined
    small, numbers = np.int8(100), np.array([100, 100], np.int8)
    expected = 1 << 51, 112, 10_000, 2, 24
    assert interpreted(calculate)(table, small, numbers) == compiled(calculate)(table, small, numbers) == expected
    assert table.cards[0, 1] == 12


CONSTANTS = """
import pkgutil, sys
from importlib import import_module
import numpy as np
import parlour.envs
for found in pkgutil.walk_packages(parlour.envs.__path__, "parlour.envs."):
    if ".cuda" not in found.name:
        import_module(found.name)
for name, module in list(sys.modules.items()):
    for function in vars(module).values() if name.startswith("parlour.envs.") else ():
        code = getattr(getattr(function, "__wrapped__", None), "__code__", None)
        for used in code.co_names if code else ():
            value = function.__wrapped__.__globals__.get(used)
            if type(value) is np.ndarray and value.dtype.kind in "iu" and value.dtype.itemsize < 8:
                print(f"{name}: {used}, which {function.__name__} reads")
"""


def test_narrow_constants_are_made_by_constant():
    """A global array is no argument: `constant` makes those whose numbers have fewer than 64 bits."""
    assert python("-W", "ignore", "-c", CONSTANTS, NUMBA_DISABLE_JIT="1") == ""
