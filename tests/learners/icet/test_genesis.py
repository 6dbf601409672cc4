"""GENESIS: Gray code, selection, crossover and mutation against cases worked by hand."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worthwhile.learners.icet.genesis import Genesis, from_gray, to_gray

# The numbers 0 to 15, in Gray code.
GRAY = (
    "0000", "0001", "0011", "0010", "0110", "0111", "0101", "0100",
    "1100", "1101", "1111", "1110", "1010", "1011", "1001", "1000",
)  # fmt: skip

always_the_same = settings(deadline=None, derandomize=True)


class Planned:
    """A generator whose draws are written down: a test then knows what the operators must do with them."""

    def __init__(self, pointer=0.0, points=(), uniform=None, bits=None):
        self.pointer, self.points, self.uniform, self.bits = pointer, list(points), uniform, bits
        self.shuffled = 0

    def random(self, shape=None):
        if shape is None:
            return self.pointer
        assert self.uniform.shape == tuple(shape)
        return self.uniform

    def integers(self, low, high, size, dtype=None):
        if dtype is not None:  # bits: the first population, and what mutation draws
            assert (low, high) == (0, 2)
            wanted = self.bits if np.prod(size) else np.zeros(0)
            return np.asarray(wanted, dtype=dtype).reshape(size)
        low_point, high_point = self.points.pop(0)
        assert (low, size) == (0, 2)
        assert max(low_point, high_point) < high
        return np.array([low_point, high_point])

    def permutation(self, what):
        self.shuffled += 1
        return np.arange(what) if np.isscalar(what) else np.asarray(what)


def bits_of(*rows):
    return np.array([[int(bit) for bit in row] for row in rows], dtype=np.uint8)


def planned(population, rng=None, crossover=0.6, mutation=0.0, window=5):
    """A GENESIS with this population and a generator that does as it is told."""
    rng = rng or Planned()
    first, rng.bits = rng.bits, population
    genesis = Genesis(*population.shape, crossover=crossover, mutation=mutation, window=window, rng=rng)
    rng.bits = first
    return genesis


def real(population, length, crossover=0.6, mutation=0.0, seed=0):
    return Genesis(population, length, crossover, mutation, window=5, rng=np.random.default_rng(seed))


# -- Gray code --------------------------------------------------------------------------------------------------------


def test_gray_code_of_four_bits():
    codes = bits_of(*GRAY)
    assert from_gray(codes).tolist() == list(range(16))
    assert [to_gray(number, 4).tolist() for number in range(16)] == codes.tolist()


def test_neighbours_differ_in_one_bit():
    codes = bits_of(*GRAY)
    assert (codes != np.roll(codes, 1, axis=0)).sum(axis=1).tolist() == [1] * 16


@always_the_same
@given(data=st.data(), n_bits=st.integers(1, 20))
def test_to_and_from_gray_code_are_inverse(data, n_bits):
    number = data.draw(st.integers(0, 2**n_bits - 1))
    code = to_gray(number, n_bits)
    assert code.dtype == np.uint8
    assert len(code) == n_bits
    assert from_gray(code[None, :]).tolist() == [number]
    if number:
        assert (code != to_gray(number - 1, n_bits)).sum() == 1


def test_gray_code_reads_the_last_axis():
    codes = bits_of(*GRAY).reshape(2, 8, 4)
    assert from_gray(codes).tolist() == [list(range(8)), list(range(8, 16))]
    assert to_gray(0, 0).tolist() == []
    assert from_gray(np.zeros((3, 0), dtype=np.uint8)).tolist() == [0, 0, 0]


# -- selection --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("pointer", "parents"),
    [
        # Costs 8, 5, 2, 4: better than the worst by 0, 3, 6, 4. In units of the mean (13 / 4) the fields of the wheel
        # end at 0, 0.923, 2.769 and 4; the pointers stand at 0, 1, 2, 3 and a fraction.
        (0.0, [1, 2, 2, 3]),
        (0.5, [1, 2, 2, 3]),
        (0.8, [1, 2, 3, 3]),
        (0.93, [2, 2, 3, 3]),
        (0.999999, [2, 2, 3, 3]),
    ],
)
def test_one_turn_of_the_wheel(pointer, parents):
    rng = Planned(pointer=pointer)
    genesis = planned(bits_of("00", "01", "10", "11"), rng)
    assert genesis.select(np.array([8.0, 5.0, 2.0, 4.0])).tolist() == parents
    assert rng.shuffled == 1  # partners must not stand in order


def test_all_equally_bad_are_all_parents():
    rng = Planned()
    genesis = planned(bits_of("00", "01", "10"), rng)
    assert sorted(genesis.select(np.array([7.0, 7.0, 7.0]))) == [0, 1, 2]
    assert rng.shuffled == 1


def test_parents_are_shuffled():
    genesis = real(100, 4)
    parents = genesis.select(np.arange(100.0))
    assert not (np.diff(parents) >= 0).all()


costs = st.lists(st.floats(-1e6, 1e6).map(lambda cost: round(cost, 6)), min_size=2, max_size=30).map(np.array)


@always_the_same
@given(fitness=costs, seed=st.integers(0, 2**32))
def test_offspring_are_the_expected_number_rounded_up_or_down(fitness, seed):
    genesis = real(len(fitness), 3, seed=seed)
    offspring = np.bincount(genesis.select(fitness), minlength=len(fitness))
    worth = fitness.max() - fitness
    expected = worth / worth.mean() if worth.any() else np.ones(len(fitness))
    assert offspring.sum() == len(fitness)
    assert (offspring >= np.floor(expected - 1e-9)).all()
    assert (offspring <= np.ceil(expected + 1e-9)).all()


@pytest.mark.parametrize(
    ("pointer", "window", "parents"),
    [
        # Costs 2 and 4 are to be selected from. Where 10 is the worst of the window, they are better by 8 and 6: the
        # first field of the wheel ends at 16 / 14 = 1.14. With 6 it ends at 1.33, with 4 the second has no field.
        (0.2, 5, [[0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 0], [0, 0]]),
        (0.4, 5, [[0, 1], [0, 1], [0, 1], [0, 1], [0, 1], [0, 0], [0, 1]]),
        (0.4, 1, [[0, 1], [0, 0], [0, 0], [0, 0], [0, 0], [0, 0], [0, 1]]),
    ],
)
def test_worth_is_counted_from_the_worst_of_the_last_generations(pointer, window, parents):
    genesis = planned(
        bits_of("01", "10"), Planned(pointer=pointer, uniform=np.ones((2, 2))), crossover=0, window=window
    )
    seen = []
    for worst in (10.0, 4.0, 4.0, 4.0, 4.0, 4.0, 6.0):
        genesis.advance(np.array([2.0, worst]))
        seen.append(genesis.select(np.array([2.0, 4.0])).tolist())
    assert seen == parents


# -- crossover --------------------------------------------------------------------------------------------------------


def test_the_bits_between_two_points_are_exchanged():
    genesis = planned(bits_of("00000000", "11111111"), Planned(points=[(2, 5)]), crossover=1.0)
    genesis.cross()
    assert genesis.bits.tolist() == bits_of("00111100", "11000011").tolist()


@pytest.mark.parametrize(
    ("points", "first", "second"),
    [
        ((5, 2), "00111100", "11000011"),  # the points may come in any order
        ((0, 7), "11111111", "00000000"),
        ((3, 3), "00010000", "11101111"),  # one bit
        ((0, 0), "10000000", "01111111"),
        ((7, 7), "00000001", "11111110"),
    ],
)
def test_points_of_all_kinds(points, first, second):
    genesis = planned(bits_of("00000000", "11111111"), Planned(points=[points]), crossover=1.0)
    genesis.cross()
    assert genesis.bits.tolist() == bits_of(first, second).tolist()


def test_crossover_takes_its_share_in_pairs_and_leaves_the_rest_alone():
    population = np.repeat(np.array([[0], [1]] * 5, dtype=np.uint8), 6, axis=1)
    rng = Planned(points=[(0, 2), (1, 4), (5, 5)])
    genesis = planned(population, rng, crossover=0.6)
    genesis.cross()
    assert genesis.bits[:6].tolist() == bits_of("111000", "000111", "011110", "100001", "000001", "111110").tolist()
    assert (genesis.bits[6:] == population[6:]).all()
    assert rng.points == []


@pytest.mark.parametrize(("crossover", "pairs"), [(0.0, 0), (0.1, 0), (0.2, 1), (0.5, 2), (0.6, 3), (1.0, 5)])
def test_share_of_crossover(crossover, pairs):
    rng = Planned(points=[(0, 0)] * 10)
    planned(np.zeros((10, 4), dtype=np.uint8), rng, crossover=crossover).cross()
    assert 10 - len(rng.points) == pairs


@always_the_same
@given(seed=st.integers(0, 2**32), population=st.integers(2, 12), length=st.integers(1, 30))
def test_crossover_keeps_every_bit_in_its_place_of_a_pair(seed, population, length):
    genesis = real(population, length, crossover=1.0, seed=seed)
    before = genesis.bits.copy()
    genesis.cross()
    pairs = population // 2 * 2
    shape = (pairs // 2, 2, length)
    assert (
        np.sort(genesis.bits[:pairs].reshape(shape), axis=1) == np.sort(before[:pairs].reshape(shape), axis=1)
    ).all()
    assert (genesis.bits[pairs:] == before[pairs:]).all()
    changed = (genesis.bits != before)[:pairs:2]
    for mother, exchanged, row in zip(before[::2], before[1::2], changed, strict=False):
        inside = np.flatnonzero(row)
        if len(inside):  # between the outermost of the changed bits, whatever differed was exchanged
            between = slice(inside[0], inside[-1] + 1)
            assert (row[between] == (mother != exchanged)[between]).all()


# -- mutation ---------------------------------------------------------------------------------------------------------


def test_bits_below_the_rate_are_drawn_anew():
    uniform = np.array([[0.0, 0.24, 0.25, 0.9], [0.5, 0.1, 0.7, 0.2]])
    # Four bits are hit, in reading order; they are drawn as 1, 0, 0, 1, which changes three of them.
    genesis = planned(bits_of("0110", "0101"), Planned(uniform=uniform, bits=[1, 0, 0, 1]), mutation=0.25)
    genesis.mutate()
    assert genesis.bits.tolist() == bits_of("1010", "0001").tolist()


def test_no_mutation():
    genesis = real(40, 100, mutation=0.0)
    before = genesis.bits.copy()
    genesis.mutate()
    assert (genesis.bits == before).all()


def test_mutation_of_every_bit_leaves_half_of_them_what_they_were():
    genesis = real(100, 1000, mutation=1.0)
    before = genesis.bits.copy()
    genesis.mutate()
    assert 0.49 < (genesis.bits != before).mean() < 0.51
    assert set(np.unique(genesis.bits)) == {0, 1}


def test_rate_of_mutation():
    genesis = real(100, 1000, mutation=0.1)
    before = genesis.bits.copy()
    genesis.mutate()
    assert 0.045 < (genesis.bits != before).mean() < 0.055


# -- one generation ---------------------------------------------------------------------------------------------------


@always_the_same
@given(seed=st.integers(0, 2**32), mutation=st.sampled_from([0.0, 0.01, 1.0]), data=st.data())
def test_the_best_survives_as_it_is(seed, mutation, data):
    population = data.draw(st.integers(2, 12))
    genesis = real(population, 20, crossover=1.0, mutation=mutation, seed=seed)
    for _ in range(3):
        fitness = np.array(
            data.draw(st.lists(st.integers(0, 5), min_size=population, max_size=population)), dtype=float
        )
        best = genesis.bits[fitness.argmin()].copy()
        genesis.advance(fitness)
        assert genesis.bits.shape == (population, 20)
        assert (genesis.bits == best).all(axis=1).any()


def test_the_best_takes_the_last_place_only_if_it_is_gone():
    # Both parents are the first individual; nothing changes them: it stays, and nothing replaces it.
    genesis = planned(bits_of("0111", "1100"), Planned(pointer=0.5, uniform=np.ones((2, 4))), crossover=0.0)
    genesis.advance(np.array([1.0, 3.0]))
    assert genesis.bits.tolist() == bits_of("0111", "0111").tolist()
    # The same with a mutation that turns all bits: the best returns in the last place.
    rng = Planned(pointer=0.5, uniform=np.zeros((2, 4)), bits=[1, 0, 0, 0, 1, 0, 0, 0])
    genesis = planned(bits_of("0111", "1100"), rng, crossover=0.0, mutation=0.5)
    genesis.advance(np.array([1.0, 3.0]))
    assert genesis.bits.tolist() == bits_of("1000", "0111").tolist()


def test_a_search_for_ones_finds_them():
    genesis = real(50, 30, mutation=0.01)
    for _ in range(60):
        genesis.advance(30.0 - genesis.bits.sum(axis=1))
    assert genesis.bits.sum(axis=1).max() == 30


def test_the_same_seed_gives_the_same_generations():
    one, other = real(20, 40, mutation=0.01, seed=3), real(20, 40, mutation=0.01, seed=3)
    for genesis in (one, other):
        for _ in range(5):
            genesis.advance(genesis.bits.mean(axis=1))
    assert (one.bits == other.bits).all()
    assert (one.bits != real(20, 40, mutation=0.01, seed=4).bits).any()
