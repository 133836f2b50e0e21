"""Sections 5.3, 6.2 and 7.2 of the free-gap paper: what the gaps take off the squared error of measurements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

import lastbit as lb
from experiments import sparse_runs, top_k_runs
from experiments.datasets import Dataset
from experiments.harness import Row, Setting
from experiments.page import table
from experiments.plots import FOURTH, OTHER, OURS, QUOTED, legend_outside, panels
from lastbit.estimate.blue import variance_left

CELLS = 1 << 21
"""Draws in hand at a time."""
RUNS_AN_ORDER = 100
"""Sparse vector depends on the order of the queries: it is drawn anew for this many runs."""

AS_PAPER, COUNTING, ENLARGED = "as in the paper", "counting queries", "as in the paper, counts enlarged"
AS_CODE = "as in the authors' code, counts enlarged"
TOGETHER = "counting queries, all reports together"
STYLES = {
    AS_PAPER: (QUOTED, "o"), ENLARGED: (FOURTH, "^"), AS_CODE: ("black", "x"), COUNTING: (OURS, "s"),
    TOGETHER: (OURS, "D"),
}  # fmt: skip
OF_ITS_OWN = (AS_PAPER, COUNTING, TOGETHER)
"""Kinds with a theory of their own; that of the others is the paper's."""
LABELS = {
    ("top-k", AS_PAPER): "Laplace noise, as in the paper",
    ("top-k", COUNTING): "exponential noise, counting queries",
    ("sparse vector", AS_PAPER): "general queries, as in the paper",
    ("sparse vector", ENLARGED): "the same, counts times records published / here",
    ("sparse vector", AS_CODE): "the same, threshold at ranks 2k to 8k as in the authors' code",
    ("sparse vector", COUNTING): "counting queries",
    ("sparse vector", TOGETHER): "counting queries, one-sided noise, all reports together",
}


@dataclass(frozen=True)
class Point:
    """One point of a curve."""

    dataset: Dataset
    k: int
    epsilon: Fraction
    runs: int
    kind: str

    @property
    def half(self) -> Fraction:
        """The budget of the selection, and that of the measurements."""
        return self.epsilon / 2

    @property
    def measuring(self) -> lb.Rate:
        """k counts are measured with one half of the budget."""
        return lb.Rate.from_epsilon(self.half / self.k)


def points(setting: Setting, ks: list[int], epsilons: list[Fraction], runs: int) -> list[Point]:
    """Every curve of a figure, the largest data set first, so that no process is left alone with it."""
    kinds = (AS_PAPER, COUNTING, TOGETHER, ENLARGED, AS_CODE)
    largest_first = sorted(setting.datasets, key=lambda each: -len(each.counts))
    return [Point(d, k, e, runs, kind) for d in largest_first for k in ks for e in epsilons for kind in kinds]


def both(point: Point) -> list[Row]:
    """The improvement for top-k and for sparse vector at a point."""
    if point.kind == TOGETHER:
        return [together(point)]
    if point.kind in (ENLARGED, AS_CODE):
        return [sparse_vector(point)] if point.kind == AS_CODE or point.dataset.share < 1 else []
    return [top_k(point), sparse_vector(point)]


def top_k(point: Point) -> Row:
    """Select with half the budget, measure with the other half, combine by the best linear unbiased estimate."""
    draw, k = lb.Sampler(), point.k
    steps = point.dataset.counts
    mechanism = lb.SelectAndMeasure(k=k, epsilon=point.epsilon, resolution=1, monotone=True)
    rate = lb.Rate.from_epsilon(point.half / (2 * k))
    exponential = point.kind == COUNTING
    chosen_by = mechanism._selector.rate.geometric_variance if exponential else rate.laplace_variance
    ratio = chosen_by / mechanism._measurement_rate.laplace_variance
    errors = np.zeros(2)
    for runs in chunks(point.runs, len(steps)):
        if exponential:
            chosen = top_k_runs.with_exponential_noise(mechanism._selector, steps, runs, draw)
        else:
            chosen = top_k_runs.with_laplace_noise(k, rate, steps, runs, draw)
        noise = draw.laplace(mechanism._measurement_rate, runs * k).reshape(runs, k)
        truth = steps[chosen.indices]
        better = best_estimates(truth + noise, chosen.middles, float(ratio)) - truth
        errors += np.square(noise).sum(dtype=float), np.square(better).sum()
    return _row(point, "top-k", errors, float(variance_left(k, ratio)))


def best_estimates(measured: NDArray[Any], gaps: NDArray[Any], ratio: float) -> NDArray[np.float64]:
    """`lastbit.estimate.blue.blue` of each row, in floats."""
    k = measured.shape[1]
    gaps = gaps[:, : k - 1]
    total = measured.sum(axis=1, keepdims=True) + (gaps * np.arange(k - 1, 0, -1)).sum(axis=1, keepdims=True)
    before = np.concatenate((np.zeros((len(gaps), 1)), np.cumsum(gaps, axis=1)), axis=1)
    estimates: NDArray[np.float64] = (total + ratio * k * measured - k * before) / ((1 + ratio) * k)
    return estimates


def sparse_vector(point: Point) -> Row:
    """Select with half the budget, measure with the other half, weight by the inverse of the variances."""
    draw, k = lb.Sampler(), point.k
    dataset = point.dataset.enlarge() if point.kind in (ENLARGED, AS_CODE) else point.dataset
    mechanism = lb.SparseVector(
        threshold=dataset.threshold(),
        limit=k,
        epsilon=point.half,
        monotone=point.kind == COUNTING,
        noise="laplace",  # the paper's
    )
    steps = dataset.counts
    variances = float(point.measuring.laplace_variance), float(mechanism.gap_noise.variance)
    weight = variances[1] / sum(variances)
    errors = np.zeros(2)
    for runs in chunks(point.runs, 64 * k):
        thresholds = dataset.thresholds(runs, k, draw, by_rank=point.kind == AS_CODE)
        above = sparse_runs.ask(mechanism._plan, steps, orders_for(runs, len(steps), draw), runs, draw, thresholds)
        noise = draw.laplace(point.measuring, len(above.queries))
        by_gap = thresholds[above.runs] + above.gaps - steps[above.queries]
        better = weight * noise + (1 - weight) * by_gap
        errors += np.square(noise).sum(dtype=float), np.square(better).sum()
    return _row(point, "sparse vector", errors, weight)


def together(point: Point) -> Row:
    """The release of `SparseVector(measure="1/2")`: the gaps of all reports of a run sharpen its measurements."""
    draw, k, steps = lb.Sampler(), point.k, point.dataset.counts
    threshold = point.dataset.threshold()
    mechanism = lb.SparseVector(threshold=threshold, limit=k, epsilon=point.epsilon, measure="1/2", monotone=True)
    law, plan = mechanism.reported_law, mechanism._plan
    assert plan.measurement_rate is not None
    mean = float(mechanism.gap_noise.mean)
    errors = np.zeros(2)
    for runs in chunks(point.runs, 64 * k):
        above = sparse_runs.ask(plan, steps, orders_for(runs, len(steps), draw), runs, draw)
        noise = np.asarray(draw.laplace(plan.measurement_rate, len(above.queries)), float)
        apart = threshold + above.gaps - mean - steps[above.queries] - noise
        errors += np.square(noise).sum(), np.square(noise + joint_moves(law, above.runs, apart, runs)).sum()
    return _row(point, "sparse vector", errors, float(law.error_left(k)))


def joint_moves(law: Any, owners: NDArray[np.int64], apart: NDArray[Any], runs: int) -> NDArray[np.float64]:
    """What `ReportedLaw.estimates` adds to each measurement, in floats: `apart` is the gap's estimate less it."""
    a, x, z = (float(each) for each in law._variances())
    counts = np.bincount(owners, minlength=runs)
    means = np.bincount(owners, np.asarray(apart, float), runs) / np.maximum(counts, 1)
    common = a / (a + x + counts * z)
    moves: NDArray[np.float64] = a / (a + x) * (apart - means[owners]) + common[owners] * means[owners]
    return moves


def orders_for(runs: int, queries: int, draw: lb.Draw) -> NDArray[np.int64]:
    """A new order of the queries for every hundred runs."""
    return np.stack([draw.permutation(queries) for _ in range(-(-runs // RUNS_AN_ORDER))])


def chunks(runs: int, cells: int) -> Iterator[int]:
    """Runs at a time, when each needs so many draws."""
    most = max(1, min(runs, CELLS // cells))
    for start in range(0, runs, most):
        yield min(most, runs - start)


def _row(point: Point, method: str, errors: NDArray[np.float64], theory: float) -> Row:
    return {
        "method": method,
        "kind": point.kind,
        "dataset": point.dataset.name,
        "k": point.k,
        "epsilon": float(point.epsilon),
        "improvement_percent": 100 * (1 - errors[1] / errors[0]),
        "theory_percent": 100 * (1 - theory),
        "runs": point.runs,
    }


def picture(rows: list[Row], axis: str) -> Figure:
    """Improvement against k or epsilon: a row of panels for each method, a column for each data set."""
    datasets = list(dict.fromkeys(row["dataset"] for row in rows))[::-1]  # the smallest first, as the papers list them
    methods = ("sparse vector", "top-k")
    figure, axes = panels(2, len(datasets))
    for i, method in enumerate(methods):
        for j, dataset in enumerate(datasets):
            panel = axes[i, j]
            for kind, (colour, marker) in STYLES.items():
                here = [row for row in rows if (row["method"], row["dataset"], row["kind"]) == (method, dataset, kind)]
                if here:
                    x = [row[axis] for row in here]
                    label = LABELS[method, kind]
                    panel.plot(x, [row["improvement_percent"] for row in here], marker, color=colour, label=label)
                    if kind in OF_ITS_OWN:
                        panel.plot(x, [row["theory_percent"] for row in here], "-", color=colour, linewidth=1)
            panel.plot([], [], "-", color=OTHER, linewidth=1, label="lines: theory, in the colour of its points")
            panel.set(title=f"{dataset}, {method}", xlabel="k" if axis == "k" else "ε")
        axes[i, 0].set_ylabel("squared error taken off, %")
        # The last column has every kind of curve.
        legend_outside(figure, axes[i, -1], "lower" if i else "upper", 2, method)
    return figure


def report(rows: list[Row], axis: str) -> str:
    """The largest distance from theory, then every point of the figure as a table."""
    top = [row for row in rows if row["method"] == "top-k"]
    distance = max(abs(row["improvement_percent"] - row["theory_percent"]) for row in top)
    best = max(top, key=lambda row: row["improvement_percent"])
    lines = [
        f"Measured (points) and theory (lines): for top-k they are never more than {distance:.2f} percentage points "
        f"apart. The most the gaps take off here is {best['improvement_percent']:.1f}% (top-k, {best['kind']}, "
        f"{best['dataset']}, k = {best['k']}, ε = {best['epsilon']:g}). " + _as_code(rows),
        "",
        _table(rows, axis),
    ]
    return "\n".join(lines)


def _as_code(rows: list[Row]) -> str:
    far = {
        kind: max(
            (abs(row["improvement_percent"] - row["theory_percent"]) for row in rows if row["kind"] == kind),
            default=None,
        )
        for kind in (ENLARGED, AS_CODE)
    }
    if far[ENLARGED] is None:
        return ""
    return (
        f"For sparse vector on enlarged counts they are up to {far[ENLARGED]:.1f} points apart with the threshold that "
        f"the paper's text states, and up to {far[AS_CODE]:.1f} with that of the authors' released code."
    )


def _table(rows: list[Row], axis: str) -> str:
    places = sorted({row[axis] for row in rows})
    names = ["% taken off, measured (theory)", "data", *(f"{axis if axis == 'k' else 'ε'} = {x:g}" for x in places)]
    lines = []
    for key in dict.fromkeys((row["method"], row["kind"], row["dataset"]) for row in rows):
        here = {row[axis]: row for row in rows if (row["method"], row["kind"], row["dataset"]) == key}
        cells = [f"{here[x]['improvement_percent']:.1f} ({here[x]['theory_percent']:.1f})" for x in places]
        lines.append([f"{key[0]}: {LABELS[key[:2]]}", key[2], *cells])
    return table(names, sorted(lines))
