"""Permutations that lead to the same are one branch: the law is that of all permutations, followed one by one."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np

import lastbit as lb
from lastbit.audit.enumerator import _MERGED
from lastbit.mechanisms.top_k.selector import _rank_best


def plain(result: tuple[np.ndarray, np.ndarray]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return tuple(result[0].tolist()), tuple(result[1].tolist())


def test_merged_permutations_have_the_law_of_all_of_them() -> None:
    for k in (1, 2, 3):
        for steps in product(range(3), repeat=3):
            cells = np.array(steps)
            merged = lb.audit.law(lambda draw, c=cells, k=k: plain(draw.permute(_rank_best, c.copy(), k)), 0)
            each = lb.audit.law(lambda draw, c=cells, k=k: plain(_rank_best(c.copy(), draw.permutation(3), k)), 0)
            assert merged.masses == each.masses
            assert merged.branches == len(merged) <= each.branches == 6


def test_few_values_and_many_are_followed_alike() -> None:
    def first(values: np.ndarray, places: np.ndarray) -> int:
        return int(values[places[0]])

    for n in (1, 2, _MERGED):
        law = lb.audit.law(lambda draw, n=n: draw.permute(first, np.arange(n) // 2), 0)
        assert law.masses == {value: Fraction(min(2, n - 2 * value), n) for value in range((n + 1) // 2)}
    objects = lb.audit.law(lambda draw: draw.permute(first, np.array([5, 1 << 70], object)), 0)
    assert objects.masses == {5: Fraction(1, 2), 1 << 70: Fraction(1, 2)}


def test_samplers_do_the_work_on_their_permutation() -> None:
    words = [1 << 63, 7, 1 << 62]
    for twin in (lb.Sampler, lb.Reference):
        drawn = twin(lb.Tape(words)).permute(
            lambda values, places, more: (values + places * more).tolist(), np.zeros(4), 2
        )
        assert drawn == (twin(lb.Tape(words)).permutation(4) * 2).tolist()
