"""SubsetTopK beside its law: words, orders, hostile values, what it refuses, and what it says before a draw."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from random import Random
from typing import Any

import numpy as np
import pytest

import lastbit as lb
from lastbit.chance.draw import Draw
from lastbit.mechanisms.top_k._ranks import among_equals
from lastbit.mechanisms.top_k.subset import steps_ahead, steps_behind

FORMS = ["both", "left-out"]


def release_on_both(mechanism: lb.SubsetTopK, values: Any, words: list[int]) -> tuple[int, ...]:
    """The selected on both twins, which read the same words."""
    found = []
    for twin in (lb.Sampler, lb.Reference):
        tape = lb.Tape(words)
        found.append((mechanism.release(values, twin(tape)).indices, tape.consumed))
    assert found[0] == found[1]
    assert found[0][1] == 2 * mechanism.k + 2
    return found[0][0]


@pytest.mark.parametrize("form", FORMS)
def test_the_number_of_words_follows_from_k_alone(form: str) -> None:
    random = Random(1)
    for n, k in ((5, 1), (5, 4), (30, 7), (200, 20)):
        for spread in (1, 3, 1000, 1 << 60):
            values = [random.randrange(spread) for _ in range(n)]
            for words in ([0] * 50, [1 << 63] * 50, [random.getrandbits(64) for _ in range(50)]):
                found = release_on_both(lb.SubsetTopK(k=k, epsilon="1/2", monotone=True, form=form), values, words)
                assert len({*found}) == k
                assert list(found) == sorted(found)


def test_far_counts_are_found_whatever_their_order() -> None:
    values = np.zeros(3000, np.int64)
    wanted = [3, 700, 701, 1500, 2999]
    values[wanted] = [10**6, 10**9, 2**60, 10**6, 2**61]
    for form in FORMS:
        assert lb.SubsetTopK(k=5, epsilon=1, form=form).release(values).indices == tuple(wanted)


def test_the_first_of_equals_have_the_lower_ranks() -> None:
    values = np.array([5, 9, 5, 0, 5, 9, 0])
    turned, places = -np.array([9, 5, 5, 0]), np.array([1, 0, 2, 1])
    assert among_equals(values, turned, places) == (0, 4, 5, 6)
    random = Random(2)
    for _ in range(50):
        n, k = random.randint(1, 300), random.randint(1, 20)
        values = np.array([random.randrange(1 << random.randint(0, 9)) - 7 for _ in range(n)])
        order = np.argsort(-values, kind="stable")
        ranks = np.array(sorted(random.sample(range(n), min(k, n))))
        ranked = np.sort(-values)
        found = among_equals(values, ranked[ranks], ranks - np.searchsorted(ranked, ranked[ranks]))
        assert found == tuple(sorted(order[ranks].tolist()))


def test_every_value_counts_as_a_number() -> None:
    mechanism = lb.SubsetTopK(k=2, epsilon=1)
    odd = [-5.5, 10**30, float("nan"), None, 1.9, float("inf")]
    plain = [-6, 1 << 61, -(1 << 61), -(1 << 61), 1, 1 << 61]
    for seed in range(5):
        words = [Random(seed).getrandbits(64) for _ in range(9)]
        assert release_on_both(mechanism, odd, words) == release_on_both(mechanism, plain, words)


def test_items_come_in_their_public_order() -> None:
    counts = lb.Counts(items=["z", "a", "m", "b"], values=[900, 3, 800, 700], monotone=True)
    release = lb.SubsetTopK.of(counts, k=3, epsilon=1).release(counts)
    assert (release.items, release.indices) == (("z", "m", "b"), (0, 2, 3))
    assert release.columns() == {"item": ("z", "m", "b"), "index": (0, 2, 3)}
    assert lb.SubsetTopK(k=3, epsilon=1).release([900, 3, 800, 700]).items is None


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"k": 0, "epsilon": 1}, "k must be a whole number of at least 1"),
        ({"k": 2, "epsilon": 1, "form": "taken"}, "form must be 'both' or 'left-out': got 'taken'"),
        ({"k": 2}, "exactly one of epsilon, eta and rho"),
        ({"k": 2, "epsilon": 1, "sensitivity": "1/2"}, "sensitivity"),
    ],
)
def test_wrong_parameters_are_refused(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(lb.ParameterError, match=message):
        lb.SubsetTopK(**parameters)


def test_too_few_candidates_and_values_that_move_further_are_refused() -> None:
    tape = lb.Tape([1])
    draw = lb.Sampler(tape)
    with pytest.raises(lb.ParameterError, match=r"got k=3 and 2 candidates.*Nothing was drawn"):
        lb.SubsetTopK(k=3, epsilon=1).release([1, 2], draw)
    counts = lb.Counts(items=["a", "b"], values=[1, 2], sensitivity=2)
    with pytest.raises(lb.ParameterError, match="sensitivity 1"):
        lb.SubsetTopK(k=1, epsilon=1).release(counts, draw)
    with pytest.raises(lb.ParameterError, match="not monotone"):
        lb.SubsetTopK(k=1, epsilon=1, sensitivity=2, monotone=True).release(counts, draw)
    with pytest.raises(lb.ParameterError, match="n must be at least k"):
        lb.SubsetTopK(k=3, epsilon=1).accuracy(2)
    assert tape.consumed == 0


def chances(r: Fraction, counts: tuple[int, ...], k: int, p: int, q: int) -> dict[tuple[int, ...], Fraction]:
    weights = {}
    for chosen in combinations(range(len(counts)), k):
        out = max(count for i, count in enumerate(counts) if i not in chosen)
        weights[chosen] = r ** (p * out - q * min(counts[i] for i in chosen))
    return {chosen: weight / sum(weights.values()) for chosen, weight in weights.items()}


@pytest.mark.parametrize(("p", "q"), [(1, 1), (1, 0)])
@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(9, 10)])
def test_the_accuracy_holds_for_all_counts_and_the_lead_is_exact(p: int, q: int, level: Fraction) -> None:
    rate, n, k = lb.Rate(1, 2), 4, 2
    within = steps_behind(rate, n, k, level)
    ahead = steps_ahead(rate, n, k, level, p + q)
    exact = {True: Fraction(1), False: Fraction(1)}
    for counts in combinations_with_replacement(range(within + 2, -1, -1), n):
        law = chances(rate.fraction, counts, k, p, q)
        far = Fraction(0)
        for chosen, mass in law.items():
            out = max(count for i, count in enumerate(counts) if i not in chosen)
            against = min(counts[i] for i in chosen) if q else counts[k]
            far += mass if out - against > within else 0
        assert far <= 1 - level
        lead = counts[k - 1] - counts[k]
        if lead in (ahead, ahead - 1):
            exact[lead == ahead] = min(exact[lead == ahead], law[tuple(range(k))])
    assert exact[True] >= level > exact[False]


def test_accuracy_of_many_candidates() -> None:
    both = lb.SubsetTopK(k=100, epsilon=1, monotone=True)
    few = lb.SubsetTopK(k=100, epsilon=1, monotone=True, form="left-out")
    sets = math.log(math.comb(41_270, 100) - 1) + math.log(19)
    assert both.accuracy(41_270) == math.ceil(2 * sets) - 1
    assert few.accuracy(41_270) == math.ceil(sets) - 1
    assert both.lead(41_270) == few.lead(41_270) == math.ceil(sets)
    assert lb.SubsetTopK(k=100, epsilon=1).lead(41_270) == math.ceil(2 * sets)
    assert lb.SubsetTopK(k=3, epsilon=1).accuracy(3) == 0
    fine = lb.SubsetTopK(k=100, epsilon=1, monotone=True, resolution="1/10")
    assert both.lead(41_270) - 1 < fine.lead(41_270) <= both.lead(41_270)
    wished = lb.SubsetTopK.for_accuracy(500, 41_270, k=100, monotone=True)
    assert wished.accuracy(41_270) <= 500
    less = lb.SubsetTopK(k=100, monotone=True, epsilon=wished.epsilon * Fraction(999, 1000))
    assert less.accuracy(41_270) > 500
    with pytest.raises(lb.ParameterError, match="accuracy must be at least the resolution"):
        lb.SubsetTopK.for_accuracy("1/2", 10, k=2)


def test_a_draw_of_ones_own_is_asked_in_the_same_order() -> None:
    asked = []

    class Watching(lb.Reference):
        def layer(self, law: Any) -> int:
            asked.append("layer")
            return super().layer(law)

        def subset(self, n: int, k: int, *, most: tuple[int, int] | None = None) -> np.ndarray:
            asked.append(("subset", most))
            return super().subset(n, k, most=most)

    draw: Draw = Watching(lb.Tape([5] * 20))
    lb.SubsetTopK(k=2, epsilon=1).release([3, 2, 1, 0], draw)
    assert asked == ["layer", ("subset", (4, 2))]


@pytest.mark.parametrize("form", ["both", "left-out"])
def test_a_margin_of_floored_numbers_is_added_to_what_a_set_promises(form: str) -> None:
    mechanism = lb.SubsetTopK(k=3, epsilon=1, form=form, resolution="1/4")
    for promise in (mechanism.accuracy, mechanism.lead):
        for margin in (0, "1/4", 7):
            assert promise(50, margin=margin) == promise(50) + Fraction(margin)
