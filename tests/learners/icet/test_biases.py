"""What strings of bits say: the decoding of biases against numbers worked by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worthwhile.learners.growth_policy import NO_LIMIT
from worthwhile.learners.icet.biases import BinarySpace, RealSpace, RefinedSpace
from worthwhile.learners.icet.genesis import to_gray
from worthwhile.learners.soft_labels import SOFT_LABEL_WEIGHTS

STEP = 9999 / 4095  # between two neighbouring codes of a bias
PRICES = np.array([7.27, 100.9, 0.0, 5.2])
always_the_same = settings(deadline=None, derandomize=True)
price_lists = st.lists(st.sampled_from([0.0, 0.01, 1.0, 2.5, 10.1, 87.3, 8_997.9]), min_size=1, max_size=8).map(
    np.array
)


def joined(*numbers):
    """The Gray codes of (number, bits) pairs, as a population of one."""
    return np.concatenate([to_gray(number, n_bits) for number, n_bits in numbers])[None, :]


def seeds(space):
    return space.decode(np.array(space.seeds()))


# -- the paper's two spaces -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "bias"),
    [
        (0, 1.0),
        (1, 1 + 9999 / 4095),
        (2, 1 + 2 * 9999 / 4095),
        (2048, 1 + 2048 * 9999 / 4095),
        (3685, 8998.879),  # the last that does not remove the test
        (3686, math.inf),  # 9001.3
        (4095, math.inf),  # 10,000
    ],
)
def test_a_bias_in_twelve_bits(code, bias):
    space = RealSpace(np.array([5.0]))
    assert space.length == 12 + 8 + 8
    decoded = space.decode(joined((code, 12), (0, 8), (0, 8)))
    assert decoded.prices[0, 0] == pytest.approx(bias, abs=1e-3)


def test_the_highest_code_is_ten_thousand(monkeypatch):
    monkeypatch.setattr("worthwhile.learners.icet.biases.REMOVES", math.inf)
    assert RealSpace(np.array([5.0])).decode(joined((4095, 12), (0, 8), (0, 8))).prices.tolist() == [[10_000.0]]


def test_all_zeros_are_the_least():
    decoded = RealSpace(PRICES).decode(np.zeros((2, 64), dtype=np.uint8))
    assert decoded.prices.tolist() == [[1.0] * 4] * 2
    assert decoded.omega.tolist() == [0.0, 0.0]
    assert decoded.confidence.tolist() == [0.01, 0.01]
    assert decoded.max_depth.tolist() == [NO_LIMIT] * 2
    assert decoded.soft_label_weight.tolist() == [0, 0]
    assert len(decoded) == 2


@pytest.mark.parametrize("space", [RealSpace(PRICES), BinarySpace(PRICES), RefinedSpace(PRICES, True, 3)])
@pytest.mark.parametrize(
    ("code", "omega", "confidence"),
    [(0, 0.0, 0.01), (255, 1.0, 1.0), (51, 0.2, 0.01 + 0.99 * 0.2), (1, 1 / 255, 0.01 + 0.99 / 255)],
)
def test_omega_and_confidence_in_eight_bits(space, code, omega, confidence):
    bits = np.zeros((1, space.length), dtype=np.uint8)
    start = {64: 48, 20: 4, 45: 24}[space.length]
    bits[0, start : start + 8] = to_gray(code, 8)
    assert space.decode(bits).omega[0] == pytest.approx(omega)
    assert space.decode(bits).confidence[0] == 0.01
    bits[0, start + 8 : start + 16] = to_gray(code, 8)
    assert space.decode(bits).confidence[0] == pytest.approx(confidence)


def test_biases_stand_in_the_order_of_the_tests():
    numbers = [(10, 12), (20, 12), (4000, 12), (30, 12), (255, 8), (0, 8)]
    decoded = RealSpace(PRICES).decode(joined(*numbers))
    expected = [1 + 10 * STEP, 1 + 20 * STEP, math.inf, 1 + 30 * STEP]
    np.testing.assert_allclose(decoded.prices, [expected])


@always_the_same
@given(prices=price_lists)
def test_the_seed_of_the_real_space_is_eg2(prices):
    seed = seeds(RealSpace(prices))
    assert len(seed) == 1
    expected = np.maximum(prices, 1.0)  # the space begins at 1
    assert np.abs(seed.prices - expected).max() <= STEP / 2 + 1e-9
    assert seed.omega.tolist() == [1.0]
    assert abs(seed.confidence[0] - 0.25) <= 0.99 / 255 / 2


@pytest.mark.parametrize("highest", [8_999.0, 9_001.0, 10_000.0, 55_000.0, 1e9])
def test_prices_above_the_space_are_scaled_into_it_and_remove_nothing(highest):
    prices = np.array([highest, highest / 2, 0.0])
    seed = seeds(RealSpace(prices)).prices[0]
    assert seed[0] == pytest.approx(8_998, abs=STEP)
    assert seed[1] == pytest.approx(seed[0] / 2, abs=STEP)
    assert seed[2] == 1.0


def test_without_prices_the_seed_sees_all_tests_alike():
    assert seeds(RealSpace(np.zeros(3))).prices.tolist() == [[1.0, 1.0, 1.0]]
    assert seeds(BinarySpace(np.zeros(3))).prices.tolist() == [[0.0, 0.0, 0.0]]


def test_the_binary_space_has_a_bit_for_every_test():
    space = BinarySpace(PRICES)
    assert space.length == 4 + 8 + 8
    bits = np.zeros((2, 20), dtype=np.uint8)
    bits[0, :4] = [0, 1, 1, 0]
    decoded = space.decode(bits)
    assert decoded.prices.tolist() == [[math.inf, 100.9, 0.0, math.inf], [math.inf] * 4]
    assert decoded.max_depth.tolist() == [NO_LIMIT] * 2
    seed = seeds(space)
    assert seed.prices.tolist() == [PRICES.tolist()]
    assert seed.omega.tolist() == [1.0]
    assert abs(seed.confidence[0] - 0.25) <= 0.99 / 255 / 2


def test_individuals_can_be_taken():
    space = RealSpace(PRICES)
    population = space.decode(np.random.default_rng(0).integers(0, 2, (5, space.length), dtype=np.uint8))
    some = population.take([3, 1])
    assert len(some) == 2
    assert some.prices.tolist() == population.prices[[3, 1]].tolist()
    assert some.confidence.tolist() == population.confidence[[3, 1]].tolist()


# -- the refined space ------------------------------------------------------------------------------------------------


def refined(prices, factors, depth=0, soft_label_weight=0, n_weights=3):
    """What codes of the factors, the depth and the soft_label_weight say."""
    space = RefinedSpace(np.array(prices), True, n_weights)
    tail = [(255, 8), (0, 8), (depth, 3), *([(soft_label_weight, 2)] if n_weights > 1 else [])]
    bits = joined(*[(factor, 6) for factor in factors], *tail)
    assert bits.shape[1] == space.length
    return space.decode(bits)


def test_the_factor_one_is_the_price_in_a_mean_of_ten():
    assert refined([5.0, 15.0], [16, 16]).prices.tolist() == [[5.0, 15.0]]
    assert refined([1.0, 2.0, 3.0], [16, 16, 16]).prices.tolist() == [[5.0, 10.0, 15.0]]
    np.testing.assert_allclose(refined([0.5, 40.0], [16, 16]).prices.mean(), 10)


@pytest.mark.parametrize(
    ("code", "factor"),
    [(0, 1 / 4), (8, 1 / 2), (24, 2), (32, 4), (20, math.sqrt(2)), (47, 2 ** (31 / 8)), (48, math.inf), (63, math.inf)],
)
def test_factors_in_eighths_of_an_octave(code, factor):
    assert refined([10.0], [code]).prices[0, 0] == pytest.approx(10 * factor)


@always_the_same
@given(prices=price_lists, seed=st.integers(0, 2**32), currency=st.sampled_from([0.01, 7.0, 100.0, 1024.0]))
def test_the_currency_does_not_matter(prices, seed, currency):
    for real in (True, False):
        one, other = RefinedSpace(prices, real, 3), RefinedSpace(prices * currency, real, 3)
        assert one.length == other.length
        bits = np.random.default_rng(seed).integers(0, 2, (20, one.length), dtype=np.uint8)
        np.testing.assert_allclose(one.decode(bits).prices, other.decode(bits).prices, rtol=1e-12)
        assert (np.array(one.seeds()) == np.array(other.seeds())).all()


def test_zero_prices():
    assert refined([0.0, 20.0], [0, 16]).prices.tolist() == [[0.0, 20.0]]
    assert refined([0.0, 0.0], [40, 16]).prices.tolist() == [[0.0, 0.0]]
    assert refined([0.0, 0.0], [48, 16]).prices.tolist() == [[math.inf, 0.0]]


def test_an_expensive_test_removes_nothing():
    assert refined([9_500.0, 500.0], [16, 16]).prices.tolist() == [[19.0, 1.0]]


def test_depths_and_soft_label_weights():
    depths = [refined([1.0], [16], depth=code).max_depth[0] for code in range(8)]
    assert depths == [1, 2, 3, 4, 5, 6, 8, NO_LIMIT]
    n_weights = [
        SOFT_LABEL_WEIGHTS[refined([1.0], [16], soft_label_weight=code).soft_label_weight[0]] for code in range(4)
    ]
    assert n_weights == [0.0, 0.5, 0.5, 1.0]
    assert refined([1.0], [16], n_weights=1).soft_label_weight.tolist() == [0]


@pytest.mark.parametrize("real", [True, False])
@pytest.mark.parametrize("n_weights", [1, 3])
def test_seeds_of_the_refined_space(real, n_weights):
    space = RefinedSpace(PRICES, real, n_weights)
    found = seeds(space)
    assert np.isinf(found.prices[0]).all()  # no test at all
    scaled = PRICES * 10 / PRICES.mean()
    np.testing.assert_allclose(found.prices[1:], np.tile(scaled, (len(found) - 1, 1)))
    assert (found.omega[1], found.max_depth[1]) == (1.0, NO_LIMIT)  # EG2 itself comes first
    assert abs(found.confidence[1] - 0.25) <= 0.99 / 255 / 2
    assert set(found.soft_label_weight[1:]) == set(range(n_weights))
    kinds = {tuple(bits) for bits in space.seeds()}
    assert len(kinds) == len(found)


def test_binary_refined():
    space = RefinedSpace(np.array([5.0, 15.0]), False, 1)
    assert space.length == 2 + 16 + 3
    decoded = space.decode(joined((1, 1), (0, 1), (255, 8), (255, 8), (7, 3)))
    assert decoded.prices.tolist() == [[5.0, math.inf]]
    assert (decoded.omega[0], decoded.confidence[0], decoded.max_depth[0], decoded.soft_label_weight[0]) == (
        1,
        1,
        NO_LIMIT,
        0,
    )


def differing(one, other):
    """The names of what differs between two individuals, tests one by one."""
    names = [f"test {t}" for t in np.flatnonzero(one.prices[0] != other.prices[0])]
    return names + [
        n for n in ("omega", "confidence", "max_depth", "soft_label_weight") if getattr(one, n) != getattr(other, n)
    ]


@pytest.mark.parametrize("real", [True, False])
@pytest.mark.parametrize("n_weights", [1, 3])
def test_neighbours_differ_in_one_thing(real, n_weights):
    space = RefinedSpace(PRICES, real, n_weights)
    rng = np.random.default_rng(1)
    for bits in [*space.seeds(), *rng.integers(0, 2, (20, space.length), dtype=np.uint8)]:
        before = bits.copy()
        around = space.neighbours(bits)
        assert (bits == before).all()
        assert around.dtype == np.uint8
        here = space.decode(bits[None, :])
        seen = [differing(here, space.decode(neighbour[None, :])) for neighbour in around]
        assert max(map(len, seen)) == 1
        changed = [names[0] for names in seen if names]
        assert sorted(c for c in changed if c.startswith("test")) == [f"test {t}" for t in range(4)]
        assert changed.count("max_depth") == 7
        assert changed.count("soft_label_weight") in ((2, 3) if n_weights > 1 else (0,))
        assert "omega" not in changed
        assert "confidence" not in changed


@pytest.mark.parametrize("real", [True, False])
def test_a_neighbour_removes_a_test_or_brings_it_back_at_its_price(real):
    space = RefinedSpace(np.array([5.0, 15.0]), real, 1)
    none, all_tests, *_ = space.seeds()
    assert space.decode(space.neighbours(none)[:2]).prices.tolist() == [[5.0, math.inf], [math.inf, 15.0]]
    assert space.decode(space.neighbours(all_tests)[:2]).prices.tolist() == [[math.inf, 15.0], [5.0, math.inf]]


@always_the_same
@given(seed=st.integers(0, 2**32), n_tests=st.integers(1, 6), data=st.data())
def test_whatever_the_bits_say_is_valid(seed, n_tests, data):
    rng = np.random.default_rng(seed)
    prices = rng.choice([0.0, 1.0, 30.0, 12_000.0], n_tests)
    space = data.draw(
        st.sampled_from(
            [
                RealSpace(prices),
                BinarySpace(prices),
                *(RefinedSpace(prices, r, t) for r in (True, False) for t in (1, 3)),
            ]
        )
    )
    found = space.decode(rng.integers(0, 2, (30, space.length), dtype=np.uint8))
    assert found.prices.shape == (30, n_tests)
    assert (found.prices >= 0).all()
    assert ((found.omega >= 0) & (found.omega <= 1)).all()
    assert ((found.confidence >= 0.01 - 1e-12) & (found.confidence <= 1 + 1e-12)).all()
    assert (found.max_depth >= 1).all()
    assert set(found.soft_label_weight) <= set(range(len(SOFT_LABEL_WEIGHTS)))
    assert found.max_depth.dtype == found.soft_label_weight.dtype == np.int32
    assert found.prices.flags.c_contiguous


# -- "I don't know" ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("space", [RealSpace, BinarySpace])
def test_a_reject_answer_adds_a_gene(space):
    plain, rejecting = space(PRICES), space(PRICES, rejects=True)
    assert rejecting.length == plain.length + 8
    assert seeds(rejecting).reject_below.tolist() == [0.0]  # the seed is EG2, which never rejects
    assert seeds(rejecting).prices.tolist() == seeds(plain).prices.tolist()
    for code, share in ((0, 0.0), (51, 0.2), (255, 1.0)):
        bits = np.concatenate([plain.seeds()[0], to_gray(code, 8)])[None, :]
        decoded = rejecting.decode(bits)
        assert decoded.reject_below.tolist() == pytest.approx([share])
        assert decoded.omega.tolist() == seeds(plain).omega.tolist()
    assert plain.decode(np.ones((3, plain.length), dtype=np.uint8)).reject_below.tolist() == [0.0] * 3
