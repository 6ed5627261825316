"""The record's random stream: SplitMix64 with its known words, and uniform draws."""

import numpy as np
import pytest
from parlour.envs.core import rng

GOLDEN = 0x9E3779B97F4A7C15
INTERPRETED_OVERFLOW = pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
pytestmark = INTERPRETED_OVERFLOW


def record(stream):
    # Were the stream its first field, Numba would take the records of games for ones like it that have more fields.
    table = np.zeros(1, [("rewards", "f8"), ("stream", "u8")]).view(np.recarray)[0]
    table.stream = stream
    return table


def test_splitmix64_gives_its_published_words():
    """The first words of the reference implementation (Vigna, splitmix64.c) for seed 1234567."""
    words = [int(rng.mix(np.uint64((1234567 + k * GOLDEN) % 2**64))) for k in range(1, 6)]
    assert words == [
        6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821,
    ]  # fmt: skip


def test_a_fraction_is_the_upper_53_bits_and_below_1():
    assert rng.fraction(np.uint64(0)) == 0
    assert rng.fraction(np.uint64(2**63 + 2**11 - 1)) == 0.5
    assert rng.fraction(np.uint64(2**64 - 1)) == 1 - 2.0**-53


@pytest.mark.parametrize("n", [1, 2, 3, 52, 1000])
def test_draws_are_uniform(n):
    table, size = record(3), 20_000
    counts = np.bincount([rng.draw(table, n) for _ in range(size)], minlength=n)
    assert len(counts) == n
    chi2 = ((counts - size / n) ** 2 / (size / n)).sum()
    assert chi2 < n + 5 * (2 * n) ** 0.5


def test_the_largest_draw_stays_in_range():
    table = record(5)
    values = [rng.draw(table, 2**31 - 1) for _ in range(5_000)]
    assert 0 <= min(values) < 2**25
    assert 2**31 - 2**25 < max(values) < 2**31 - 1


@pytest.mark.parametrize(
    ("seed", "words"),
    [
        (-1, "seed -1 is not a whole number"),
        (1.5, "seed 1.5 .* whole"),
        ([1, -2], "seed -2"),
        ([1, 2, 3], "3 seeds for 2 tables"),
    ],
)
def test_a_bad_seed_is_named(seed, words):
    with pytest.raises(ValueError, match=words):
        rng.streams(seed, 2)
