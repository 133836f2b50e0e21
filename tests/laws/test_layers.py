"""`Layers` and `draw.subset`, exactly: the law of sets is its definition, with any ties, and subsets are uniform."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import accumulate, combinations, combinations_with_replacement

import numpy as np
import pytest

from lastbit import ParameterError, Rate, Sampler, Tape, audit
from lastbit.chance.draw import Draw
from lastbit.chance.layers import Layers

FORMS = [(1, 1), (1, 0), (0, 1)]
Law = dict[tuple[int, ...], Fraction]


def law_by_definition(rate: Rate, counts: tuple[int, ...], k: int, p: int, q: int) -> Law:
    """P(S) proportional to r^(p·c_out - q·c_in), from the definition."""
    weights = {}
    for chosen in combinations(range(len(counts)), k):
        out = max(count for i, count in enumerate(counts) if i not in chosen)
        weights[chosen] = rate.fraction ** (p * out - q * min(counts[i] for i in chosen))
    total = sum(weights.values())
    return {chosen: weight / total for chosen, weight in weights.items()}


def law_of_cells(rate: Rate, counts: tuple[int, ...], k: int, p: int, q: int) -> Law:
    """The law of sets of ranks that the cells and a uniform subset inside the cell give."""
    law = Layers.of(rate, k, -np.array(counts), p, q)
    found: Counter[tuple[int, ...]] = Counter()
    masses = dict(law.masses())
    assert sum(masses.values()) == 1
    for cell, mass in masses.items():
        start, end = law.ranks(cell)
        sets = list(combinations(range(start, end), k - start))
        for rest in sets:
            found[*range(start), *rest] += mass / len(sets)
    return {chosen: mass for chosen, mass in found.items() if mass}


@pytest.mark.parametrize(("p", "q"), FORMS)
@pytest.mark.parametrize(("n", "most"), [(2, 6), (3, 5), (4, 4), (5, 3), (6, 2)])
def test_the_law_is_its_definition_for_all_counts(n: int, most: int, p: int, q: int) -> None:
    for counts in combinations_with_replacement(range(most, -1, -1), n):
        for k in range(1, n):
            assert law_of_cells(Rate(3, 2), counts, k, p, q) == law_by_definition(Rate(3, 2), counts, k, p, q), (
                counts,
                k,
            )


@pytest.mark.parametrize("rate", [Rate(1, 1), Rate(255, 8), Rate.from_epsilon("1/3")])
@pytest.mark.parametrize(("p", "q"), FORMS)
def test_the_auditor_follows_the_cells(rate: Rate, p: int, q: int) -> None:
    for counts, k in [((9, 4, 4, 0, 0), 2), ((3, 3, 3, 3), 2), ((7, 6, 5, 1), 3), ((0, 0, 0), 1), ((8, 1), 1)]:
        law = Layers.of(rate, k, -np.array(counts), p, q)

        def program(draw: Draw, law: Layers = law, k: int = k) -> tuple[int, ...]:
            start, end = law.ranks(draw.layer(law))
            rest = draw.subset(end - start, k - start, most=(law.n, k))
            return (*range(start), *(start + rest).tolist())

        assert dict(audit.law(program, 0).masses) == law_by_definition(rate, counts, k, p, q)


@pytest.mark.parametrize(("p", "q"), FORMS)
def test_every_interval_lands_in_its_cell(p: int, q: int) -> None:
    for counts, k in [((9, 4, 4, 0, 0), 2), ((3, 3, 3), 2), ((60, 5, 1, 0), 2)]:
        law = Layers.of(Rate(3, 2), k, -np.array(counts), p, q)
        edges = [Fraction(0), *accumulate(mass for _, mass in law.masses())]
        for bits in (1, 3, 6):
            for u in range(1 << bits):
                low, high = Fraction(u, 1 << bits), Fraction(u + 1, 1 << bits)
                met = [i for i in range(len(edges) - 1) if max(low, edges[i]) < min(high, edges[i + 1])]
                assert law.cell(u, bits) == (met[0] if len(met) == 1 else None)


def test_runs_and_ranks_give_the_same_law() -> None:
    ranked = -np.array([9, 9, 4, 4, 4, 1, 0, 0])
    for k in range(1, 8):
        by_runs = Layers.of_runs(Rate(1, 1), k, np.array([2, 5, 6, 8]), -np.array([9, 4, 1, 0]), 1, 1)
        assert by_runs == Layers.of(Rate(1, 1), k, ranked, 1, 1)
        assert hash(by_runs) == hash(Layers.of(Rate(1, 1), k, ranked + 5, 1, 1))


@pytest.mark.parametrize("n", range(6))
def test_subsets_are_uniform(n: int) -> None:
    for k in range(n + 1):
        for most in (None, (9, 5)):
            law = audit.law(lambda draw, k=k, most=most: tuple(draw.subset(n, k, most=most).tolist()), 0)
            assert dict(law.masses) == dict.fromkeys(combinations(range(n), k), Fraction(1, math.comb(n, k)))


def test_a_subset_that_does_not_exist_is_refused() -> None:
    for n, k, most in ((2, 3, None), (5, 2, (4, 2)), (5, 2, (5, 1))):
        tape = Tape([1])
        with pytest.raises(ParameterError, match="public bounds"):
            Sampler(tape).subset(n, k, most=most)
        assert tape.consumed == 0
