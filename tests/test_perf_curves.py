"""How the benchmarks judge growth, and how they note what they measure."""

import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "perf"))

from curves import MARGIN, fit, note_curve
from figures import TARGETS, note
from turns import Turn, seconds

XS = np.array([10, 30, 100, 300, 1000, 3000, 10_000])
GROWTH = {
    "constant": lambda x: 3.0 + 0.0 * x,
    "linear": lambda x: 0.01 * x,
    "linear with a base": lambda x: 5.0 + 0.01 * x,
    "n log n": lambda x: x * np.log2(x),
    "quadratic": lambda x: 1e-4 * x * x,
    "quadratic with a base": lambda x: 100.0 + 1e-4 * x * x,
}


def noisy(kind, seed):
    """Costs with 10 % of noise."""
    return GROWTH[kind](XS) * np.random.default_rng(seed).lognormal(0.0, 0.1, len(XS))


def orders(kind, count=50):
    return np.array([fit(XS, noisy(kind, seed)).order for seed in range(count)])


@pytest.mark.parametrize(
    ("kind", "low", "high"),
    [
        ("constant", 0.0, 0.15),
        ("linear", 0.9, 1.1),
        ("linear with a base", 0.65, 1.1),
        ("n log n", 1.0, 1.25),
        ("quadratic", 1.9, 2.1),
        ("quadratic with a base", 1.4, 2.15),
    ],
)
def test_the_order_of_growth_is_found_in_noise(kind, low, high):
    assert low <= orders(kind).min()
    assert orders(kind).max() <= high


@pytest.mark.parametrize(
    ("kind", "expected", "is_worse"),
    [
        ("constant", 0, False),
        ("linear", 1, False),
        ("linear with a base", 1, False),
        ("n log n", 1, False),
        ("linear", 0, True),
        ("linear with a base", 0, True),
        ("quadratic", 1, True),
        ("quadratic with a base", 1, True),
    ],
)
def test_worse_growth_than_expected_is_flagged_and_noise_is_not(kind, expected, is_worse):
    assert ((orders(kind) > expected + MARGIN) == is_worse).all()


def test_a_curve_says_what_was_measured_and_what_was_expected():
    benchmark = SimpleNamespace(enabled=True, extra_info={})
    taken = np.array([noisy("quadratic", seed) for seed in range(3)])
    note_curve(benchmark, "tick.sources", "A tick", "sources", XS.tolist(), taken, expected=1)
    curve = benchmark.extra_info["curve"]
    assert curve["xs"] == XS.tolist()
    assert curve["ys"] == np.median(taken, axis=0).tolist()
    assert (curve["group"], curve["declared"], curve["worse"]) == ("tick", 1, True)
    assert curve["order"] > curve["limit"]


@pytest.mark.parametrize(("better", "ratio"), [("lower", 4.0), ("higher", 0.25)])
def test_a_ratio_says_how_many_times_better_than_the_peer(better, ratio):
    benchmark = SimpleNamespace(enabled=True, extra_info={})
    note(
        benchmark, "mix.block.linear", "A block", [1.0, 2.0, 3.0], better=better, peer="another",
        peer_values=[4.0, 8.0, 15.0],
    )  # fmt: skip
    (figure,) = benchmark.extra_info["figures"]
    assert figure["ratio"] == pytest.approx(ratio)
    assert (figure["value"], figure["peer_value"], len(figure["ratios"])) == (2.0, 8.0, 3)
    assert (figure["target"], figure["target_of"]) == (TARGETS["mix.block.linear"]["ratio"], "ratio")


def test_nothing_is_noted_where_no_time_is_taken():
    benchmark = SimpleNamespace(enabled=False, extra_info={})
    note(benchmark, "mix.time.linear", "A block", 1.0)
    note_curve(benchmark, "tick.sources", "A tick", "sources", XS, noisy("linear", 0), expected=1)
    assert benchmark.extra_info == {}


def test_every_target_says_what_it_means():
    for name, target in TARGETS.items():
        assert name.partition(".")[0] in ("rays", "edits", "tick", "mix", "worlds", "start", "raid", "memory")
        assert ("ratio" in target) != ("value" in target)
        assert target["says"]


def test_contestants_take_turns_and_each_begins_every_other_round():
    done = []
    turns = Turn(lambda: done.append("a"), lambda: done.append("before"), 2), lambda: done.append("b")
    assert seconds(2, *turns).shape == (2, 2)
    a = ["before", "a", "before", "a"]
    assert done == [*a, "b", "b", *a]
