"""Tables that agree, exactly: least squares, covariances, sums, intervals, shares, and the privacy of a release."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, product
from math import erf, sqrt
from random import Random

import gmpy2
import numpy as np
import pytest

import lastbit as lb
from lastbit.chance.gaussian import Gaussian
from lastbit.estimate.tables import shares as finding
from lastbit.estimate.tables.reconstruction import Reconstruction
from lastbit.estimate.tables.scheme import Axes, Scheme, contains, subsets
from lastbit.estimate.tables.shares import best_shares, even_shares
from lastbit.estimate.tables.spread import Spread, normal_quantile, root_upper
from lastbit.estimate.tables.sums_of_noise import _squares as sum_of_squares
from lastbit.estimate.tables.sums_of_noise import cell_spread, lone_cell, union_spread
from lastbit.exact.rounding import log_lower
from lastbit.mechanisms.tables import mechanism as measuring

SHAPES = [(2, 3, 2), (2, 2, 3), (3, 2)]


def all_tables(sizes: tuple[int, ...]) -> list[Axes]:
    return list(subsets(tuple(range(len(sizes)))))


def cells_of(sizes: tuple[int, ...], table: Axes) -> list[tuple[int, ...]]:
    return list(product(*(range(sizes[axis]) for axis in table)))


def schemes(number: int) -> Iterator[Scheme]:
    """Random measured tables with random precisions, of all three shapes."""
    for seed in range(number):
        chance = Random(seed)
        sizes = SHAPES[seed % len(SHAPES)]
        tables = chance.sample(all_tables(sizes), chance.randint(1, len(all_tables(sizes))))
        yield Scheme(sizes, {table: Fraction(chance.randint(1, 9), chance.randint(1, 5)) for table in tables})


def noisy_tables(scheme: Scheme, seed: int, most: int = 40) -> dict[Axes, np.ndarray]:
    chance = np.random.default_rng(seed)
    return {table: chance.integers(-3, most, [scheme.sizes[axis] for axis in table]) for table in scheme.precisions}


def dense_least_squares(scheme: Scheme, noisy: dict[Axes, np.ndarray]) -> dict[tuple[int, ...], Fraction]:
    """Some cells of all axes that minimise the weighted squares, by elimination in fractions: the definition."""
    everything = cells_of(scheme.sizes, tuple(range(len(scheme.sizes))))
    equations = [[Fraction(0)] * (len(everything) + 1) for _ in everything]
    for table, precision in scheme.precisions.items():
        for place in cells_of(scheme.sizes, table):
            row = [i for i, cell in enumerate(everything) if tuple(cell[axis] for axis in table) == place]
            for i in row:
                for j in row:
                    equations[i][j] += precision
                equations[i][-1] += precision * int(noisy[table][place])
    used: dict[int, int] = {}
    for column in range(len(everything)):
        pivot = next((i for i in range(len(used), len(everything)) if equations[i][column]), None)
        if pivot is None:
            continue
        first = len(used)
        equations[first], equations[pivot] = equations[pivot], equations[first]
        own = equations[first] = [value / equations[first][column] for value in equations[first]]
        for i, line in enumerate(equations):
            if i != first and line[column]:
                equations[i] = [a - line[column] * b for a, b in zip(line, own, strict=True)]
        used[column] = first
    return {cell: equations[used[i]][-1] if i in used else Fraction(0) for i, cell in enumerate(everything)}


@pytest.mark.parametrize("seed", range(18))
def test_the_closed_form_is_dense_least_squares(seed: int) -> None:
    scheme = list(schemes(18))[seed]
    noisy = noisy_tables(scheme, seed)
    whole, found = dense_least_squares(scheme, noisy), Reconstruction(scheme, noisy, exact=True)
    for table in filter(scheme.covers, all_tables(scheme.sizes)):
        for place in cells_of(scheme.sizes, table):
            total = sum(value for cell, value in whole.items() if tuple(cell[axis] for axis in table) == place)
            assert found.values(table)[place] == total


@pytest.mark.parametrize("seed", range(18))
def test_the_grid_is_within_its_stated_error_and_all_sums_agree_exactly(seed: int) -> None:
    scheme = list(schemes(18))[seed]
    noisy = noisy_tables(scheme, seed)
    exact, found = Reconstruction(scheme, noisy, exact=True), Reconstruction(scheme, noisy)
    off = Fraction(0)
    for table in filter(scheme.covers, all_tables(scheme.sizes)):
        values, error = found.values(table), found.error(table)
        off = max(off, *(abs(a - b) for a, b in zip(values.flat, exact.values(table).flat, strict=True)))
        assert all(abs(a - b) <= error for a, b in zip(values.flat, exact.values(table).flat, strict=True))
        assert error < Fraction(1, 1000)
        assert np.allclose(found.floats(table), values.astype(float), rtol=2**-50, atol=0)
        for smaller in subsets(table):
            outside = tuple(place for place, axis in enumerate(table) if axis not in smaller)
            assert np.array_equal(np.asarray(values.sum(axis=outside)), found.values(smaller))
            assert np.array_equal(np.asarray(exact.values(table).sum(axis=outside)), exact.values(smaller))
    several = any(
        sum(contains(measured, part) for measured in scheme.precisions) > 1 for part in all_tables(scheme.sizes)
    )
    assert bool(off) == several  # otherwise nothing is rounded, and the test above tells nothing


@pytest.mark.parametrize("sizes", SHAPES)
@pytest.mark.parametrize("largest", [40, 1 << 38])
def test_tables_that_agree_come_back_unchanged(sizes: tuple[int, ...], largest: int) -> None:
    whole = np.random.default_rng(1).integers(0, largest, sizes)
    axes = tuple(range(len(sizes)))

    def add_up(table: Axes) -> np.ndarray:
        return np.asarray(whole.sum(axis=tuple(axis for axis in axes if axis not in table)))

    scheme = Scheme(sizes, {table: Fraction(1, 7 + place) for place, table in enumerate(all_tables(sizes))})
    for exact in (False, True):
        found = Reconstruction(scheme, {table: add_up(table) for table in scheme.precisions}, exact=exact)
        for table in all_tables(sizes):
            assert np.array_equal(found.values(table), add_up(table))


def test_numbers_that_64_bits_do_not_hold_are_pythons_own() -> None:
    scheme = Scheme((2, 2), {(0, 1): Fraction(1, 3), (0,): Fraction(1, 2), (1,): Fraction(1)})
    large = {(0, 1): np.array([[1 << 61, -5], [7, 1 << 60]]), (0,): np.array([3, 1 << 61]), (1,): np.array([1, 2])}
    exact, found = Reconstruction(scheme, large, exact=True), Reconstruction(scheme, large)
    assert found.numerators((0, 1)).dtype == object
    for table in all_tables((2, 2)):
        assert all(
            abs(a - b) <= found.error(table)
            for a, b in zip(found.values(table).flat, exact.values(table).flat, strict=True)
        )
    # Differences that are too far apart for floats, where the tables themselves fit.
    apart = {(0, 1): np.array([[1 << 40, 1], [3, 1 << 41]]), (0,): np.array([5, 1 << 39]), (1,): np.array([1, 2])}
    exact, found = Reconstruction(scheme, apart, exact=True), Reconstruction(scheme, apart)
    assert found.numerators((0, 1)).dtype == np.int64
    for table in all_tables((2, 2)):
        assert all(
            abs(a - b) <= found.error(table)
            for a, b in zip(found.values(table).flat, exact.values(table).flat, strict=True)
        )


def response(scheme: Scheme, table: Axes) -> dict[Axes, np.ndarray]:
    """What a unit of noise in each measured cell does to each cell of a table: exact, by trying it."""
    zeros = {each: np.zeros([scheme.sizes[axis] for axis in each], np.int64) for each in scheme.precisions}
    found = {}
    for measured in scheme.precisions:
        rows = []
        for place in cells_of(scheme.sizes, measured):
            unit = {each: array.copy() for each, array in zeros.items()}
            unit[measured][place] = 1
            rows.append(Reconstruction(scheme, unit, exact=True).values(table).ravel())
        found[measured] = np.array(rows, object).reshape(len(rows), -1)
    return found


@pytest.mark.parametrize("seed", range(9))
def test_covariances_and_factors_are_those_of_the_noise(seed: int) -> None:
    scheme = list(schemes(9))[seed]
    covered = [table for table in all_tables(scheme.sizes) if scheme.covers(table)]
    moves = {table: response(scheme, table) for table in covered}
    for one, other in product(covered, repeat=2):
        for (i, a), (j, b) in product(enumerate(cells_of(scheme.sizes, one)), enumerate(cells_of(scheme.sizes, other))):
            exact = sum(
                (moves[one][each][:, i] * moves[other][each][:, j]).sum() / precision
                for each, precision in scheme.precisions.items()
            )
            assert scheme.covariance(one, a, other, b) == exact
    for table in covered:
        assert scheme.variance(table) == scheme.covariance(table, *[(0,) * len(table), table, (0,) * len(table)])
        for measured, pairs in scheme.coefficients(table).items():
            stated = sorted(factor for factor, times in pairs for _ in range(times))
            assert stated == sorted(moves[table][measured][:, -1])
        alone = [value for own in moves[table].values() for value in own[:, 0] if value]
        assert (lone_cell(scheme, table) is not None) == (alone == [1])


@pytest.mark.parametrize("seed", range(9))
def test_the_noise_of_a_union_is_the_sum_of_the_noise_of_its_cells(seed: int) -> None:
    scheme, chance = list(schemes(9))[seed], Random(seed)
    for table in filter(scheme.covers, all_tables(scheme.sizes)):
        cells = cells_of(scheme.sizes, table)
        chosen = [cell for cell in cells if chance.random() < 0.5] or cells[:1]
        mask = np.zeros([scheme.sizes[axis] for axis in table], np.bool_)
        for cell in chosen:
            mask[cell] = True
        spread = union_spread(scheme, table, mask)
        assert spread.variance == sum(scheme.covariance(table, a, table, b) for a, b in product(chosen, repeat=2))
        exact = [
            value
            for own in response(scheme, table).values()
            for value in own[:, [i for i, cell in enumerate(cells) if cell in chosen]].sum(axis=1)
        ]
        stated = np.repeat(np.asarray(spread.factors), np.asarray(spread.times))
        assert np.allclose(sorted(stated), sorted(map(float, exact)), atol=2**-45)
        if len(chosen) == 1:
            assert cell_spread(scheme, table).variance == spread.variance


def normal(place: float) -> float:
    return (1 + erf(place / sqrt(2))) / 2


def lattice_law(factors: list[tuple[int, int, float]]) -> tuple[np.ndarray, float]:
    """The law of a sum of whole factors times discrete Gaussians, by convolution, centred; and its variance."""
    law, variance = np.ones(1), 0.0
    for factor, times, sigma2 in factors:
        reach = int(sqrt(sigma2) * 9) + 2
        single = np.exp(-(np.arange(-reach, reach + 1) ** 2) / (2 * sigma2))
        wide = np.zeros(2 * reach * factor + 1)
        wide[::factor] = single / single.sum()
        for _ in range(times):
            law = np.convolve(law, wide)
        variance += times * factor**2 * sigma2
    return law, variance


CASES = [
    [(1, 40, 4.0)],
    [(1, 400, 9.0)],
    [(3, 4, 100.0), (1, 60, 100.0)],
    [(2, 20, 25.0), (1, 200, 16.0)],
    [(5, 1, 400.0), (2, 12, 400.0), (1, 30, 100.0)],
    [(7, 1, 36.0), (1, 80, 36.0)],
    [(1, 3, 100.0)],
    [(4, 9, 2.0), (1, 30, 64.0)],
]


@pytest.mark.parametrize("case", CASES)
def test_the_distance_from_a_normal_law_is_at_most_what_is_stated(case: list[tuple[int, int, float]]) -> None:
    law, variance = lattice_law(case)
    places = np.arange(len(law)) - len(law) // 2
    below = np.cumsum(law)
    curve = np.array([normal(place / sqrt(variance)) for place in places])
    # At a place of the lattice, and just below it.
    furthest = max(np.abs(below - curve).max(), np.abs(below - law - curve).max())
    factors, times, variances = zip(*case, strict=True)
    spread = Spread(factors, times, variances, Fraction(variance))
    assert furthest <= spread.distance
    for level in (Fraction(1, 2), Fraction(95, 100), Fraction(999, 1000)):
        within = float(spread.half_width(level))
        assert law[np.abs(places) > within].sum() <= float(1 - level) + 1e-12
        assert spread.deviations(level) <= sqrt(2 * np.log(2 / float(1 - level))) * (1 + 1e-12)


def test_some_sums_are_certified_to_be_nearly_normal_and_others_are_not() -> None:
    near = Spread([1.0, 0.01], [20, 10**6], [3600.0, 3600.0], Fraction(3600 * 120))
    assert 1.9599 < near.deviations(Fraction(95, 100)) < 1.97
    few = Spread([1.0], [3], [100.0], Fraction(300))
    assert 2.7162 < few.deviations(Fraction(95, 100)) < 2.7163
    assert Spread([1.0], [10**6], [0.01], Fraction(10**4)).distance == 1  # far too little noise for a smooth law
    many = np.linspace(1, 2, 5000)
    assert (
        1.96
        < Spread(many, [1] * 5000, [50.0] * 5000, Fraction(float((many**2).sum() * 50))).deviations(Fraction(95, 100))
        < 1.99
    )


def test_roots_and_quantiles_are_rounded_up() -> None:
    for value in (Fraction(2), Fraction(1, 3), Fraction(10**40, 7), Fraction(1, 10**30)):
        assert value <= root_upper(value) ** 2 <= value * (1 + Fraction(1, 1 << 39))
    for tail in (Fraction(1, 40), Fraction(1, 10**6), Fraction(2, 5)):
        place = normal_quantile(tail)
        with gmpy2.context(precision=200):
            exact = gmpy2.erfc(gmpy2.mpfr(place) / gmpy2.sqrt(gmpy2.mpfr(2))) / 2
            assert exact <= gmpy2.mpq(tail)
            assert exact > gmpy2.mpq(tail) * gmpy2.mpq(999_999, 1_000_000)


def weighted_mean_variance(scheme: Scheme, weights: dict[Axes, Fraction]) -> Fraction:
    return sum((weight * scheme.variance(table) for table, weight in weights.items()), Fraction(0))


@pytest.mark.parametrize("rule", ["mean", "worst"])
@pytest.mark.parametrize("sizes", [(4, 5), (2, 3, 2), (10, 2, 7)])
def test_no_shares_are_better_than_the_certificate_says(sizes: tuple[int, ...], rule: str) -> None:
    tables = [table for size in (1, 2) for table in combinations(range(len(sizes)), size)]
    weights = {table: Fraction(1 + place % 3) for place, table in enumerate(tables)}
    found = best_shares(sizes, weights, rule)  # type: ignore[arg-type]
    assert 0 <= found.above < 0.01

    def objective(parts: dict[Axes, int]) -> Fraction:
        scheme = Scheme(sizes, {table: Fraction(part, sum(parts.values())) for table, part in parts.items() if part})
        each = [weight * scheme.variance(table) for table, weight in weights.items()]
        return sum(each, Fraction(0)) if rule == "mean" else max(each)

    least = objective(dict(found.parts)) / Fraction(1 + found.above)
    chance = Random(1)
    candidates = [(), *tables]
    for _ in range(200):
        tried = {table: chance.choice((0, 1, 3, 10, 40, 200)) for table in candidates}
        tried |= {table: max(1, tried[table]) for table in tables if len(table) == 2}
        assert objective(tried) >= least
    assert objective(dict(even_shares(tables).parts)) >= least


def test_each_step_of_the_descent_makes_the_objective_smaller() -> None:
    sizes, tables = (7, 3, 5), [table for size in (1, 2) for table in combinations(range(3), size)]
    problem = finding._Problem.of(sizes, dict.fromkeys(tables, Fraction(1)))
    x, pull = np.random.default_rng(5).random(len(problem.measured)), np.ones(len(tables))
    x /= x.sum()
    values = []
    for _ in range(30):
        values.append(problem.objective(x, "mean"))
        x = problem._descend(x, pull, 1)
    assert values == sorted(values, reverse=True)
    assert values[0] > 1.01 * values[-1]


def test_tables_that_matter_more_are_more_precise() -> None:
    domain = {"a": range(4), "b": range(5), "c": range(6)}
    plain = lb.Tables(domain=domain, ways=2, rho=1)
    pulled = lb.Tables(domain=domain, ways=2, rho=1, weights={("a", "b"): 100})
    assert pulled.accuracy("a", "b") < plain.accuracy("a", "b")
    assert pulled.accuracy("b", "c") > plain.accuracy("b", "c")
    worst = lb.Tables(domain=domain, ways=2, rho=1, rule="worst")
    most = [max(each.scheme.variance(table) for table in each.shape.tables) for each in (worst, plain)]
    assert most[0] < most[1]


@pytest.mark.parametrize("records", [1, 3])
@pytest.mark.parametrize("replaces", [False, True])
def test_the_losses_of_all_tables_add_up_to_rho_and_precisions_are_stated_low(records: int, replaces: bool) -> None:
    mechanism = lb.Tables(
        domain={"a": range(3), "b": range(4), "c": range(2)}, ways=2, rho="1/7", most_records=records, replaces=replaces
    )
    squared = records**2 * (2 if replaces else 1)
    assert mechanism.squared_sensitivity == squared
    losses = {table: -log_lower(rate.fraction, 200) for table, rate in mechanism.rates.items()}
    assert squared * sum(losses.values()) <= Fraction(1, 7)
    assert squared * sum(losses.values()) > Fraction(1, 7) * (1 - Fraction(1, 1 << 48))
    for table, loss in losses.items():
        # 1/s² = 2·ln(1/r), and less is stated, by a hair.
        assert 2 * loss * (1 - Fraction(1, 1 << 46)) <= mechanism.scheme.precisions[table] <= 2 * loss


def test_one_person_moves_each_table_by_no_more_than_the_noise_is_for() -> None:
    for records, replaces in product((1, 2), (False, True)):
        mechanism = lb.Tables(domain={"a": "xy", "b": "uv"}, ways=2, rho=1, most_records=records, replaces=replaces)
        start = [1, 0, 2, 1]
        most = 0
        for other in mechanism.neighbours(start):
            for table in mechanism.shares.parts:
                moved = mechanism._counts(start, table) - mechanism._counts(other, table)
                most = max(most, int((moved**2).sum()))
        assert most == mechanism.squared_sensitivity


@pytest.mark.parametrize("replaces", [False, True])
@pytest.mark.parametrize("tables", [[("a", "b")], [("a",), ("b",)]])
def test_the_auditor_finds_no_more_than_rho_on_all_neighbours(tables: list, replaces: bool) -> None:
    mechanism = lb.Tables(domain={"a": "xy", "b": "uv"}, tables=tables, rho=4, replaces=replaces)
    verdicts = lb.audit.check_all(mechanism, [1, 0, 1, 1], tolerance="1/1000000")
    assert len(verdicts.each) == (9 if replaces else 7)
    assert verdicts.holds


def test_a_release_costs_what_it_says_and_no_less() -> None:
    mechanism = lb.Tables(domain={"a": "xy", "b": "uv"}, tables=[("a",), ("b",)], rho=2)
    programs = [mechanism.program(values) for values in ([1, 0, 1, 1], [1, 1, 1, 1])]
    assert lb.audit.compare(*programs, lb.Cost.zcdp(2), tolerance="1e-9").holds
    assert lb.audit.compare(*programs, lb.Cost.zcdp("1.9"), tolerance="1e-9").verdict == "violated"
    # One record replaced is two moves in different cells of each table: twice rho, and not four times.
    replaced = [mechanism.program(values) for values in ([1, 0, 1, 1], [0, 0, 1, 2])]
    assert mechanism.cost.of_two().rho == 4
    assert lb.audit.compare(*replaced, mechanism.cost.of_two(), tolerance="1e-9").holds
    assert lb.audit.compare(*replaced, lb.Cost.zcdp("3.8"), tolerance="1e-9").verdict == "violated"


def test_the_noise_of_a_lone_table_has_the_exact_law() -> None:
    mechanism = lb.Tables(domain={"a": "xy", "b": "uvw"}, tables=[("a", "b")], rho="1/8")
    rate = mechanism.rates[0, 1]
    within = mechanism.accuracy("a", "b")
    masses = dict(Gaussian(rate).masses())
    assert sum(mass for i, mass in masses.items() if abs(i) <= within) >= Fraction(95, 100)
    assert sum(mass for i, mass in masses.items() if abs(i) < within) < Fraction(95, 100)
    assert lb.Tables(domain={"a": "xy", "b": "uvw"}, ways=2, rho="1/8").accuracy("a", "b").denominator > 1


def test_intervals_hold_as_often_as_they_say_on_every_branch() -> None:
    """Exact coverage: all branches of a small release, each with its probability."""
    mechanism = lb.Tables(domain={"a": "xy", "b": "uv"}, tables=[("a",), ("b",)], rho=1)
    true = {("a",): [3, 2], ("b",): [4, 1], (): 5}
    law = lb.audit.law(mechanism.program([2, 1, 2, 0]), tolerance="1/1000")
    held = dict.fromkeys(true, Fraction(0))
    for release, mass in law.masses.items():
        for names, counts in true.items():
            value, within = release.table(*names).values.flat[0], release.table(*names).within("0.9")
            held[names] += mass * (abs(value - np.ravel(counts)[0]) <= within)
    assert all(share + law.unexplored >= Fraction(9, 10) for share in held.values())
    assert max(held.values()) < 1


def test_every_measured_table_gets_the_noise_of_its_own_share(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism = lb.Tables(domain={"a": range(3), "b": range(4)}, ways=2, rho="1/7", weights={("a", "b"): 50})
    used = []
    monkeypatch.setattr(
        measuring, "add_noise", lambda noise, rate, own, draw: used.append((noise, len(own), rate)) or own
    )
    mechanism.release(np.zeros((3, 4), np.int64))
    total = sum(mechanism.shares.parts.values())
    losses = {12: Fraction(1, 7) * mechanism.shares.parts[0, 1] / total}
    losses |= {
        size: Fraction(1, 7) * mechanism.shares.parts[axis,] / total
        for axis, size in enumerate((3, 4))
        if (axis,) in mechanism.shares.parts
    }
    assert len(set(losses.values())) > 1
    assert {(noise, cells): -log_lower(rate.fraction, 200) <= losses[cells] for noise, cells, rate in used} == {
        ("gaussian", cells): True for cells in losses
    }
    assert all(-log_lower(rate.fraction, 200) > losses[cells] * (1 - Fraction(1, 1 << 40)) for _, cells, rate in used)


def test_the_squares_of_a_union_are_exact_beyond_64_bits() -> None:
    for most in (5, 1 << 31, (1 << 62) - 1):
        values = np.array([[most, -most], [1, 0]])
        assert sum_of_squares(values) == 2 * most * most + 1
