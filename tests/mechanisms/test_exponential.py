"""What `ExponentialMechanism` accepts, refuses and hands back."""

import json
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from lastbit import Eta, ExponentialMechanism, ParameterError, Sampler, Tape
from lastbit.chance.powers import CHUNK

SURE = [0, 10**6, 5]
"""Whatever the word, the second is picked."""


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({}, "exactly one"),
        ({"epsilon": 1, "eta": Eta(1, 1, 1)}, "exactly one"),
        ({"epsilon": 0}, "positive"),
        ({"epsilon": 1, "sensitivity": 0}, "positive"),
        ({"epsilon": 1, "sensitivity": 1, "resolution": "2/3"}, "divide"),
        ({"epsilon": 1, "rounding": "nearest"}, "rounding"),
        ({"epsilon": 1, "monotone": 1}, "monotone"),
        ({"epsilon": 1, "bounds": 3}, "pair"),
        ({"epsilon": 1, "bounds": (1, 2, 3)}, "pair"),
        ({"epsilon": 1, "bounds": (3, 3)}, "rise"),
        ({"epsilon": 1, "bounds": (3, -3)}, "rise"),
        ({"epsilon": 1, "bounds": (0, 10**30)}, "rise"),
        ({"epsilon": 1, "bounds": ("-1/2", 3)}, "divide"),
        ({"epsilon": 1, "bounds": ("x", 3)}, "finite number"),
    ],
)
def test_wrong_parameters_are_refused_when_it_is_built(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        ExponentialMechanism(**parameters)


def test_release_carries_the_outcome() -> None:
    mechanism = ExponentialMechanism(epsilon=1)
    choice = mechanism.release(SURE, outcomes=["a", "b", "c"])
    assert (choice.index, choice.outcome, choice.cost) == (1, "b", Fraction(1))
    assert ["x", "y", "z"][choice] == "y"
    given = json.loads(choice.to_json())
    assert given.pop("costs")["rho"] == 1 / 8
    assert given == {
        "mechanism": "ExponentialMechanism",
        "cost": "epsilon 1",
        "schema": "lastbit-release-1",
        "columns": ["index", "outcome"],
        "index": [1],
        "outcome": ["b"],
    }
    assert "outcome" not in mechanism.release(SURE).columns()


def test_an_outcome_need_not_be_hashable() -> None:
    choice = ExponentialMechanism(epsilon=1).release(SURE, outcomes=[{}, {"a": [1]}, {}])
    assert choice == ExponentialMechanism(epsilon=1).release(SURE)
    assert hash(choice) == hash(ExponentialMechanism(epsilon=1).release(SURE))


def test_choose_calls_the_utility_once_for_each_outcome() -> None:
    called = []

    def utility(outcome: str) -> int:
        called.append(outcome)
        return 10**6 if outcome == "b" else 0

    choice = ExponentialMechanism(epsilon=1).choose((letter for letter in "abc"), utility)
    assert choice.outcome == "b"
    assert called == ["a", "b", "c"]


def test_ranking_carries_outcomes_in_order() -> None:
    ranking = ExponentialMechanism(epsilon=1).ranking([*SURE[:2], 10**5], 3, outcomes="abc")
    assert ranking.indices == (1, 2, 0)
    assert ranking.outcomes == ("b", "c", "a")
    assert list(ranking.columns()) == ["rank", "index", "outcome"]
    assert "outcome" not in ExponentialMechanism(epsilon=1).ranking(SURE, 1).columns()


@pytest.mark.parametrize("k", [0, 4, -1, "1/2"])
def test_ranking_refuses_more_than_there_are(k: object) -> None:
    tape = Tape([1])
    with pytest.raises(ParameterError, match="k must be"):
        ExponentialMechanism(epsilon=1).ranking(SURE, k, Sampler(tape))
    assert tape.consumed == 0


@pytest.mark.parametrize(
    ("scores", "outcomes"), [([], None), (np.array([]), None), (5, None), ([1], ["a", "b"]), (["1"], None)]
)
def test_what_cannot_be_scores_is_refused_before_anything_is_drawn(scores: object, outcomes: object) -> None:
    tape = Tape([1])
    with pytest.raises(ParameterError):
        ExponentialMechanism(epsilon=1).release(scores, Sampler(tape), outcomes=outcomes)
    assert tape.consumed == 0


@pytest.mark.parametrize("rounding", ["floor", "randomized"])
@pytest.mark.parametrize(
    "scores",
    [
        [1e308, -1e308, 5e-324],
        [Fraction(1, 3**4000), Fraction(10**5000), 0],
        [Decimal("1e-400"), Decimal("NaN"), Decimal("Infinity"), Decimal("sNaN"), Decimal("-Infinity")],
        [Decimal("1e-999999999"), Decimal("-1e-999999999"), Decimal("1e999999999"), Decimal("0e-999999999")],
        np.array([np.nan, np.inf, -np.inf]),
        np.array([[1, 2], [3, 4]]),
        np.array([2**63 - 1, -(2**63)]),
        np.array([2**64 - 1, 0], np.uint64),
        np.array([True, False]),
        np.array([0.5, 1.5], np.float16),
        [10**400, -(10**400)],
    ],
)
def test_no_number_raises(rounding: str, scores: object) -> None:
    for resolution in (1, "1/10", "1/1024"):
        mechanism = ExponentialMechanism(epsilon=1, rounding=rounding, resolution=resolution)
        assert 0 <= mechanism.release(scores).index < np.size(scores)


def test_a_mechanism_pickles_and_says_its_parameters_only() -> None:
    mechanism = ExponentialMechanism(epsilon="1/3", monotone=True, bounds=(0, 9))
    again = pickle.loads(pickle.dumps(mechanism))
    assert again == mechanism
    assert hash(again) == hash(ExponentialMechanism(epsilon="1/3", monotone=True, bounds=[0, 9]))
    assert again.rate == mechanism.rate
    assert mechanism.parameters == {
        "epsilon": "1/3",
        "sensitivity": "1",
        "resolution": "1",
        "monotone": "True",
        "bounds": "(0, 9)",
        "rounding": "floor",
    }


def test_many_scores_are_read_in_chunks_with_the_same_result() -> None:
    scores = np.zeros(2 * CHUNK + 5)
    scores[-3] = 80
    mechanism = ExponentialMechanism(epsilon=1)
    for word in (1, 1 << 62, 1 << 63, (1 << 64) - (1 << 30)):
        kept = Sampler(Tape([word])).power_index(mechanism.rate, (80 - scores).astype(np.int64))
        assert mechanism.release(scores, Sampler(Tape([word]))).index == kept


@pytest.mark.parametrize("bounds", [None, (-3, 4)])
@pytest.mark.parametrize("resolution", ["1", "1/3"])
@pytest.mark.parametrize(
    "scores",
    [
        np.array([1.0, np.nan, 3.9, -np.inf]),
        np.array([np.nan, np.nan]),
        np.array([np.inf, 2.0]),
        np.array([-0.5, -1e300, -0.0]),
        np.array([3, -(2**63), 5]),
        np.array([2**64 - 1, 0], np.uint64),
        np.array([True, False]),
        np.array([[1.5, 2.5], [9.0, -1.0]], np.float32),
    ],
)
def test_the_least_exponent_is_that_of_the_highest_score(
    scores: np.ndarray, resolution: str, bounds: tuple[int, int] | None
) -> None:
    # Read from the scores as they are: rounding and clamping must not put another one in front.
    mechanism = ExponentialMechanism(epsilon=1, resolution=resolution, bounds=bounds)
    exponents = mechanism._exponents(scores)(Sampler())
    assert exponents.min() == exponents[0 : scores.size].min()
