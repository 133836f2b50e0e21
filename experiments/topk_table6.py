"""Table 6 of the secure top-k paper: draws per call."""

from __future__ import annotations

import time
from collections.abc import Callable
from fractions import Fraction

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

import lastbit as lb
from experiments.harness import Row, Setting, follow
from experiments.instruments import Coins, CountedBits, Watched
from experiments.page import table
from experiments.plots import OURS, QUOTED, panels
from experiments.topk_table4 import EPSILON, PER_UNIT, REFINE
from lastbit.papers.secure_top_k import secure_top_k

TITLE = "Secure top-k, table 6: draws per call"
PAPER = """
Ding et al., table 6: what one run of the pruned Algorithm 4 draws on Kosarak (n = 41,270, k = 800, ε = 1), under a
profiler. Its geometric samples are made of Bernoulli samples, and those of uniform integers: 7.07 and 8.62 for each.

Beside it: the same algorithm with the paper's own geometric sampler (Algorithm 5) on our exact draws; the same with
our geometric draw; and `NoisyTopK`. Where a Bernoulli sample takes one uniform integer the paper counts both:
"uniform" below is integers and Bernoulli samples together. A word is 64 random bits. What differs: the machine, the
counts as for table 4, and no profiler runs.
"""
PACKAGES = ("lastbit", "numpy", "cryptography")
USES_DATA, TIMED = True, True
K = 800
PUBLISHED = {"seconds": 1.208, "geometric": 42_874, "bernoulli": 303_216, "uniform": 369_613}
NAMES = ("NoisyTopK", "Algorithm 4, our geometric draw", "Algorithm 4, geometric of coins (Algorithm 5)")


def repetitions(setting: Setting) -> str:
    return "one run of each, as in the paper"


def measure(setting: Setting) -> list[Row]:
    dataset = max(setting.datasets, key=lambda each: len(each.counts))
    counts, k = dataset.counts, setting.size(K, 3)
    mechanism = lb.NoisyTopK(k=k, epsilon=EPSILON, resolution=Fraction(1, PER_UNIT))
    steps = (counts * PER_UNIT).tolist()

    def listing(draw: lb.Draw) -> object:
        return secure_top_k(steps, k, EPSILON, PER_UNIT, REFINE, draw, early_pruning=True)

    ways: list[tuple[Watched, CountedBits, Callable[[lb.Draw], object]]] = []
    for make, work in (
        (Watched, lambda draw: mechanism.release(counts, draw)),
        (Watched, listing),
        (lambda bits: Coins(k, PER_UNIT, REFINE, bits), listing),
    ):
        bits = CountedBits()
        ways.append((make(bits), bits, work))
    # Tables and grids are made once per rate: not part of a call.
    mechanism.release(counts)
    rows = []
    for name, (draw, bits, work) in follow(list(zip(NAMES, ways, strict=True)), "table 6"):
        began = time.perf_counter()
        work(draw)
        seconds = time.perf_counter() - began
        kinds = {kind: each.samples for kind, each in draw.kinds.items()}
        coins, integers = kinds.get("Bernoulli", 0), kinds.get("uniform integer", 0)
        rows.append(
            {
                "algorithm": name, "dataset": dataset.name, "n": len(counts), "k": k, "seconds": seconds,
                "geometric": kinds.get("geometric", 0) + kinds.get("truncated geometric", 0),
                "bernoulli": coins, "uniform": coins + integers,
                "ordered": kinds.get("permutation", 0), "words": bits.taken,
            }
        )  # fmt: skip
    return rows


def picture(rows: list[Row]) -> Figure:
    figure, axes = panels(1, 1, width=6.5, height=2.8)
    names = [*(row["algorithm"] for row in rows), "paper: Opt. Secure"]
    drawn = [row["geometric"] + row["uniform"] + row["ordered"] for row in rows]
    published = PUBLISHED["geometric"] + PUBLISHED["uniform"]
    axes[0, 0].barh(names, [*drawn, published], color=[OURS] * len(rows) + [QUOTED])
    axes[0, 0].set(xlabel="samples drawn in one call, of any kind")
    axes[0, 0].xaxis.set_major_locator(MaxNLocator(5))
    axes[0, 0].xaxis.set_major_formatter("{x:,.0f}")
    axes[0, 0].invert_yaxis()
    return figure


def report(rows: list[Row]) -> str:
    lines = [
        [
            row["algorithm"],
            f"{row['seconds']:.3g}",
            *(f"{row[name]:,}" for name in ("geometric", "bernoulli", "uniform", "ordered", "words")),
        ]
        for row in rows
    ]
    quoted = [f"{PUBLISHED[name]:,}" for name in ("geometric", "bernoulli", "uniform")]
    lines.append(
        ["paper: Opt. Secure, n = 41,270, under a profiler", PUBLISHED["seconds"], *quoted, "not given", "not given"]
    )
    first, coins = rows[0], rows[-1]
    names = ["one call", "seconds", "geometric", "Bernoulli", "uniform", "put in random order", "words"]
    return (
        f"{first['dataset']}, n = {first['n']:,}, k = {first['k']}. For each geometric sample Algorithm 5 takes "
        f"{coins['bernoulli'] / coins['geometric']:.2f} Bernoulli and {coins['uniform'] / coins['geometric']:.2f} "
        f"uniform samples here (paper: 7.07 and 8.62); `NoisyTopK` takes {first['words'] / first['n']:.2f} words for "
        "each count.\n\n" + table(names, lines)
    )
