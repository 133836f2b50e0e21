"""The map from the five papers to lastbit: every algorithm, rule, attack, experiment and wish, and the call for it.

docs/papers.md is written from this list, and tests run every call in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from lastbit.papers.errata import EXP, GAP, SNAP, SV, TOPK


@dataclass(frozen=True)
class Paper:
    """One of the five papers."""

    key: str
    authors: str
    title: str
    link: str
    code: str
    """The authors' released code."""


PAPERS: Final = (
    Paper(EXP, "Christina Ilvento", "Implementing the Exponential Mechanism with Base-2 Differential Privacy",
          "https://arxiv.org/abs/1912.04222", "https://github.com/cilvento/b2dp"),
    Paper(SV, "Christina Ilvento", "Implementing the sparse vector technique and variants",
          "https://github.com/cilvento/b2dp", "https://github.com/cilvento/b2dp"),
    Paper(GAP, "Zeyu Ding, Yuxin Wang, Danfeng Zhang and Daniel Kifer",
          "Free Gap Information from the Differentially Private Sparse Vector and Noisy Max Mechanisms",
          "https://arxiv.org/abs/1904.12773", "https://github.com/cmla-psu/freegap"),
    Paper(TOPK, "Zeyu Ding, John Durrell, Daniel Kifer, Prottay Protivash, Guanhong Wang, Yuxin Wang, Yingtai Xiao and "
          "Danfeng Zhang", "A Floating-Point Secure Implementation of the Report Noisy Max with Gap Mechanism",
          "https://arxiv.org/abs/2308.08057", ""),
    Paper(SNAP, "Christian Covington", "Snapping Mechanism Notes, on Mironov's mechanism",
          "https://github.com/ctcovington/floating_point", "https://github.com/ctcovington/floating_point"),
)  # fmt: skip


@dataclass(frozen=True)
class MapEntry:
    """One item of a paper and what stands for it here: a call that users make, a function to read, an experiment.

    >>> entry_for("base-2", "Mechanism 4").function
    'base2_exponential.randomized_round'
    """

    paper: str
    item: str
    about: str
    call: str = ""
    """An expression that runs, with `lb` for lastbit; or a command."""
    function: str = ""
    """The name in lastbit.papers."""
    experiment: str = ""
    errata: tuple[str, ...] = ()


def entry_for(paper: str, item: str) -> MapEntry:
    """Return the entry of an item."""
    return next(entry for entry in ENTRIES if (entry.paper, entry.item) == (paper, item))


_ETA: Final = "lb.Eta(1, 1, 2)"

ENTRIES: Final = (
    # The base-2 exponential mechanism
    MapEntry(EXP, "Definition 3.1, Lemma 3.2", "base-2 privacy, and what it is in nats",
             "lb.Eta(1, 1, 2).epsilon_upper"),
    MapEntry(EXP, "Mechanism 1", "the Laplace mechanism", "lb.DiscreteLaplace(epsilon=1).release(7)"),
    MapEntry(EXP, "Mechanism 2, Mechanism 3", "the exponential mechanism, in base 2 where a cost is an eta",
          f"lb.ExponentialMechanism(eta={_ETA}).release([0, 2, 1])"),
    MapEntry(EXP, "Section 3.2.1", "an eta from an epsilon: the largest that is at most it",
          'lb.Eta.at_most("1.25")', errata=("B10", "B16")),
    MapEntry(EXP, "Proposition 3.3", "clamping scores", f"lb.ExponentialMechanism(eta={_ETA}, resolution='1/4')"
          ".release([0.3, 2])", "base2_exponential.clamp"),
    MapEntry(EXP, "Lemma 3.4, Algorithm 1", "how many bits suffice: here the sampler takes as many as it needs",
          function="base2_sampling.sufficient_precision", experiment="exponential_figure5", errata=("B10",)),
    MapEntry(EXP, "Algorithm 1", "CHECKPRECISION and COMPUTEPRECISION", function="base2_sampling.compute_precision"),
    MapEntry(EXP, "Mechanism 4", "randomized rounding of scores",
          f"lb.ExponentialMechanism(eta={_ETA}).release([0.5, 2])", "base2_exponential.randomized_round",
          errata=("A4",)),
    MapEntry(EXP, "Lemma 3.5", "its privacy",
             "lb.audit.check_all(lb.ExponentialMechanism(eta=lb.Eta(1, 1, 2)), [0, 1])",
          errata=("A4",)),
    MapEntry(EXP, "Proposition 3.6, Lemma A.1, Lemma A.2", "what rounding does to probabilities",
          function="base2_exponential.rounding_error_upper", experiment="exponential_figure10", errata=("B13",)),
    MapEntry(EXP, "Algorithm 2", "normalized weighted sampling without division",
          function="base2_sampling.normalized_sample", errata=("A6",)),
    MapEntry(EXP, "Lemma 3.7, Proposition 3.8", "GETRANDOMVALUE and its retries",
          function="base2_sampling.get_random_value", experiment="exponential_figure9", errata=("A6", "B16")),
    MapEntry(EXP, "Algorithm 3, Proposition 3.9", "the whole mechanism",
          f"lb.ExponentialMechanism(eta={_ETA}).choose(['a', 'b'], {{'a': 3, 'b': 5}}.get)",
          "base2_exponential.exponential_mechanism", "exponential_figure4", ("B10",)),
    MapEntry(EXP, "Algorithm 4", "optimized sampling, bit by bit", function="base2_sampling.optimized_sample",
          experiment="exponential_figure4", errata=("A5",)),
    MapEntry(EXP, "Attack 1", "zero rounding", "lastbit audit --gallery"),
    MapEntry(EXP, "Attack 2", "truncated addition", "lastbit audit --gallery"),
    MapEntry(EXP, "Section 3.3, timing", "retry timing", "lastbit audit --gallery",
          experiment="exponential_figure9"),
    MapEntry(EXP, "Section 4.1, Laplace", "Laplace noise by the exponential mechanism, and by inversion",
          "lb.DiscreteLaplace(epsilon=1).release(7)", "snapping.noise_as_printed_elsewhere", "exponential_figure8",
          ("A8",)),
    MapEntry(EXP, "Figures 4 to 7", "running time", experiment="exponential_figure4"),
    MapEntry(EXP, "Figure 8", "Laplace noise compared", experiment="exponential_figure8"),
    MapEntry(EXP, "Figure 9", "minimum retries and time", experiment="exponential_figure9", errata=("B16",)),
    MapEntry(EXP, "Figures 10 and 11", "the bound on randomized rounding", experiment="exponential_figure10"),
    MapEntry(EXP, "Wish: conversions and composition", "epsilon, eta and rho add up exactly",
          'lb.Cost.of(lb.Eta(1, 1, 1)) + lb.Cost.of("1/10")'),
    MapEntry(EXP, "Wish: protection against timing", "`hold` keeps a release back until a public moment",
          "lb.NoisyMax(epsilon=1).release([5, 1], hold='1/1000')"),
    # The sparse vector paper
    MapEntry(SV, "Mechanism 1, Mechanism 2", "Laplace noise, and discrete Laplace noise in base 2",
          "lb.DiscreteLaplace(eta=lb.Eta(1, 1, 1), resolution='1/4').release(7)"),
    MapEntry(SV, "Algorithm 1", "sparse vector", "lb.SparseVector(threshold=10, limit=1, epsilon=1).release([3, 40])",
          "free_gap_sparse.sparse_vector_with_gap", errata=("C1",)),
    MapEntry(SV, "Algorithm 2, Theorem 3.3", "discrete sparse vector with a clamp",
          "lb.SparseVector(threshold=0, limit=1, eta=lb.Eta(1, 1, 3), noise='laplace', clamp=(-4, 4, 8), gaps=False)"
          ".release([3, -1])", "sparse_vector.disc_sv", errata=("A2", "B11")),
    MapEntry(SV, "Algorithm 3, Proposition A.1", "GETSUM, CLAMPEDDISCLAP, LAZYTHRESHOLD and CONDLAZYTHRESHOLD",
          function="sparse_vector_sampling.clamped_disc_lap"),
    MapEntry(SV, "Lemma 3.1, Lemma 3.2", "the proof", "lb.audit.check_all(lb.SparseVector(threshold=0, limit=1, "
          "eta=lb.Eta(1, 1, 12), noise='laplace'), [0], tolerance='1/100')", errata=("B17",)),
    MapEntry(SV, "Section 4", "η adjusted to the granularity γ: `resolution`",
          "lb.SparseVector(threshold=1, limit=1, epsilon=1, resolution='1/4').release([2.3])", "sparse_vector.Inputs",
          errata=("A2", "B11")),
    MapEntry(SV, "Algorithm 4", "with gaps",
          "lb.SparseVector(threshold=0, limit=1, epsilon=1, noise='laplace', clamp=(-4, 4, 8), gaps=[1, 2])"
          ".release([3])", "sparse_vector.gap_sv", errata=("B12", "C2")),
    MapEntry(SV, "Algorithm 5", "the same, simulated", function="sparse_vector.sim_gap_sv", errata=("A1", "B12", "C1")),
    MapEntry(SV, "Theorem 5.5", "the proof template: here the auditor computes the loss itself",
          "lb.audit.law(lb.DiscreteLaplace(eta=lb.Eta(1, 1, 1)).program(0), '1/100')"),
    MapEntry(SV, "Algorithm 6", "private selection with a threshold",
          "lb.PrivateSelection(candidates=[lambda draw: ('x', draw.integer(9))], threshold=5, most=9, "
          "candidate_cost='1/10').release()", "private_selection.pspc", errata=("A3", "C3")),
    MapEntry(SV, "Algorithm 7", "private selection of the best",
          "lb.PrivateSelection(candidates=[lambda draw: ('x', draw.integer(9))], most=9, candidate_cost='1/10')"
          ".release()",
          "private_selection.hard_stop", errata=("C1", "C3")),
    MapEntry(SV, "Lemma 6.1", "GETSAMPLE: a candidate with a noisy score",
          "lb.scored(lambda draw: 4, lambda m: m, eta=lb.Eta(1, 1, 1), bounds=(-6, 6))",
          "private_selection.get_sample", errata=("A9",)),
    MapEntry(SV, "Wish: sparse vector with gap, in a library", "the default",
          "lb.SparseVector(threshold=10, limit=1, epsilon=1).release([3, 40]).gaps"),
    MapEntry(SV, "Wish: convenient etas", "from an epsilon, to so many bits", "lb.Eta.at_most('0.1', bits=8)"),
    # Free gaps
    MapEntry(GAP, "Theorem 1, Theorem 2", "Laplace noise, discrete", "lb.DiscreteLaplace(epsilon=1).release([7, 3])"),
    MapEntry(GAP, "Algorithm 1, Lemma 2, Lemma 3", "sparse vector with gap",
          "lb.SparseVector(threshold=10, limit=1, epsilon=1, noise='laplace', split='even').release([3, 40])",
          "free_gap_sparse.sparse_vector_with_gap"),
    MapEntry(GAP, "Algorithm 2, Lemma 4, Lemma 8, Lemma 9, Lemma 10", "noisy max with gap",
          "lb.NoisyMax(epsilon=1).release([5, 1]).gap", "free_gap_top_k.noisy_max_with_gap", errata=("C4",)),
    MapEntry(GAP, "Algorithm 3, Lemma 5, Lemma 11, Lemma 12", "noisy top-k with gap",
          "lb.NoisyTopK(k=2, epsilon=1).release([5, 1, 9]).gaps", "free_gap_top_k.noisy_top_k_with_gap",
          errata=("C4",)),
    MapEntry(GAP, "Definition 7", "monotone queries: half the noise",
          "lb.NoisyTopK(k=1, epsilon=1, monotone=True).release([5, 1])"),
    MapEntry(GAP, "Theorem 3, Corollary 1", "the best linear estimate from measurements and gaps: `blue`; `estimates` "
          "allow for luck", "lb.SelectAndMeasure(k=2, epsilon=1).release([90, 1, 50]).blue",
          "free_gap_top_k.blue_of_theorem_3", "gap_figure1", ("C4",)),
    MapEntry(GAP, "Section 5.2", "the split of the budget between selecting and measuring",
          "lb.SelectAndMeasure(k=2, epsilon=1, split='1/2').release([90, 1, 50])"),
    MapEntry(GAP, "Algorithm 4, Lemma 6, Lemma 13, Lemma 14", "adaptive sparse vector with gap: up to 2k answers",
          "lb.AdaptiveSparseVector(threshold=0, limit=1, epsilon=1).release([10**6, 10**6, 10**6])",
          "free_gap_sparse.adaptive_sparse_vector_with_gap", "gap_figure3", ("B1", "B2", "B18")),
    MapEntry(GAP, "Section 6.2, measures", "sparse vector with measures, and the joint estimate",
          "lb.SparseVector(threshold=10, limit=2, epsilon=1, measure='1/2').release([3, 40, 50]).estimates",
          experiment="gap_figure1"),
    MapEntry(GAP, "Section 6.2, split", "the threshold's share of the cost, 1 : (2k)^⅔",
          "float(lb.SparseVector(threshold=10, limit=1, epsilon=1).share)"),
    MapEntry(GAP, "Lemma 7", "lower confidence bounds from a gap, before and after reporting",
          "lb.SparseVector(threshold=10, limit=1, epsilon=1).gap_noise.lower_bound(10, 5)", errata=("B3",)),
    MapEntry(GAP, "Wish: what is left of the budget", "`ledger.close(run)` gives it back",
          "lb.AdaptiveSparseVector(threshold=0, limit=2, epsilon=1).start().close()"),
    MapEntry(GAP, "Figures 1 and 2", "error reduction", experiment="gap_figure2"),
    MapEntry(GAP, "Figure 3", "answers and precision of the adaptive form", experiment="gap_figure3"),
    MapEntry(GAP, "Theorem 4, Lemma 1", "randomness alignment: here the auditor computes the loss itself",
          "lb.audit.loss(lb.NoisyMax(eta=lb.Eta(1, 1, 2), resolution=1).program([0, 1]), "
          "lb.NoisyMax(eta=lb.Eta(1, 1, 2), resolution=1).program([1, 0]), '1/100')"),
    # Secure top-k
    MapEntry(TOPK, "Algorithm 1, Lemma 4.1", "noisy top-k with gap, continuous noise",
          "lb.NoisyTopK(k=2, epsilon=1).release([5, 1, 9])", "secure_top_k.top_k_with_rounding"),
    MapEntry(TOPK, "Algorithm 2, Lemma 4.2, Theorem 4.3", "queries and gaps rounded down",
          "lb.NoisyTopK(k=2, epsilon=1, resolution='1/10').release([5.2, 1, 9])", "secure_top_k.top_k_with_rounding"),
    MapEntry(TOPK, "Algorithm 3, Theorem 5.2", "the intermediate algorithm", function="secure_top_k.secure_top_k"),
    MapEntry(TOPK, "Algorithm 4, Theorem 5.3, Lemma 5.8", "the secure algorithm; `NoisyTopK` has its law, and no loop",
          "lb.NoisyTopK(k=2, epsilon=1).release([5, 1, 9]).gaps", "secure_top_k.secure_top_k", "topk_table4",
          ("B14", "C5")),
    MapEntry(TOPK, "Lemma 5.4, Lemma 5.5, Lemma 5.6, Lemma 5.7", "exponential noise digit by digit",
          function="secure_top_k.top_k_with_rounding"),
    MapEntry(TOPK, "Algorithm 5", "a geometric sample from coins", function="secure_top_k.geometric_of_coins",
          experiment="topk_table6"),
    MapEntry(TOPK, "Section 4.5, early pruning", "only contenders are refined", function="secure_top_k.secure_top_k",
          experiment="topk_table4", errata=("B14",)),
    MapEntry(TOPK, "Table 4", "running time", experiment="topk_table4"),
    MapEntry(TOPK, "Table 5", "where the time goes", experiment="topk_table5"),
    MapEntry(TOPK, "Table 6", "draws per call", experiment="topk_table6"),
    # Snapping
    MapEntry(SNAP, "Section 2.2", "the mechanism", "lb.Snapping(epsilon=1, bounds=(-8, 8)).release(3)",
          "snapping.snapping"),
    MapEntry(SNAP, "Section 3", "U* and its logarithm", function="snapping.uniform", errata=("A7", "A10")),
    MapEntry(SNAP, "Section 4.1", "Λ, a power of two", function="snapping.next_power"),
    MapEntry(SNAP, "Section 4.2", "rounding by bits", function="snapping.round_by_bits", errata=("B5",)),
    MapEntry(SNAP, "Section 5", "ε', which pays for rounding", function="snapping.noise_epsilon", errata=("A10",)),
    MapEntry(SNAP, "Section 6.1", "bounds that are not symmetric",
          "lb.Snapping(epsilon=1, bounds=(1000, 2000)).release(1200)", errata=("B4",)),
    MapEntry(SNAP, "Section 6.3", "accuracy, and ε for an accuracy",
          "lb.Snapping.for_accuracy(10, bounds=(-100, 100)).accuracy()", "snapping.accuracy", "snapping_accuracy",
          ("B6", "B15")),
    MapEntry(SNAP, "Section 6.4", "bias", "lb.Snapping(epsilon=1, bounds=(-8, 8)).bias_bound(3)",
          experiment="snapping_bias", errata=("B8",)),
    MapEntry(SNAP, "Section 6.5", "B from γ, the chance that a bound binds",
          "lb.Snapping(epsilon=1, bounds=(-8, 8), gamma='1/20').release(3)", errata=("B9",)),
    MapEntry(SNAP, "Section 7.1", "the mean's bounds", "lb.exact_mean([1, 2, 3], bounds=(0, 10), missing=0)"),
    MapEntry(SNAP, "Section 7.2", "the variance's bounds", "lb.exact_variance([1, 2, 4], bounds=(0, 10), missing=0)",
          errata=("B7",)),
    MapEntry(SNAP, "Section 7.4", "a histogram's bounds", "lb.histogram([1, 2, 3], bounds=(0, 10), bins=2)"),
    MapEntry(SNAP, "Attack on low bits", "Mironov's attack on Laplace noise in floating point",
          "lastbit audit --gallery"),
)  # fmt: skip
"""Every item of the papers, paper by paper."""

NOT_HERE: Final = (
    (EXP, "integer partitions (Blocki, Datta and Bonneau)", "announced in section 5 and not described in the paper. "
     "b2dp has it; lastbit publishes counts of items with `DiscoverHistogram` and `DiscreteLaplace` instead"),
    (EXP, "a source of randomness of one's own choice in production", "`SystemBits` takes the operating system's; a "
     "`Tape` replays words for tests"),
    (SV, "snapping inside a sparse vector", "the paper leaves it open whether its boundaries work; exact discrete "
     "noise needs no snapping"),
    (SV, "the percentile-finding variants of private selection", "section 6 leaves them open: their privacy rests on "
     "more than that of a candidate. `PrivateSelection` picks the best, or the first over a threshold"),
    (SV, "a stream that answers through its own query function", "a run takes values: your program computes them"),
    (SNAP, "section 7.3, covariance", "nobody asked for it; its bound is B7's, and `Snapping` takes the bounds"),
    (SNAP, "GetAccuracy, the first of two", "its last case is wrong (B6); `accuracy` is the second"),
    (GAP, "a hybrid of top-k and sparse vector, which only the released code has", "no text describes it, nor proves "
     "its cost"),
    (TOPK, "the refinement loop in the mechanism itself", "one random order of the contenders has the same law, "
     "without a loop whose length depends on the data"),
)  # fmt: skip
"""What the papers or their code have and lastbit does not, and why."""

FROM_B2DP: Final = (
    ("Eta::new(1, 1, 1), spent by exponential_mechanism", "lb.Eta(1, 1, 2)",
     "an eta here is the total cost; b2dp's mechanism costs twice its eta"),
    ("Eta::from_epsilon(1.25)", 'lb.Eta.at_most("1.25")', "never more than the epsilon"),
    ("exponential_mechanism(eta, &outcomes, utility, min, max, n, rng, options)",
     "lb.ExponentialMechanism(eta=lb.Eta(1, 1, 2)).choose(['a', 'b'], {'a': -1, 'b': -3}.get)",
     "scores go up where utilities go down; no bounds on scores or outcomes are needed"),
    ("randomized_round(x, …)", "lb.papers.base2_exponential.randomized_round", "done inside the mechanism"),
    ("normalized_sample(&weights, …)", "lb.papers.base2_sampling.normalized_sample", ""),
    ("sparse_vector(eta1, eta2, c, &queries, gamma, qmin, qmax, w, rng, false)",
     "lb.SparseVector(threshold=0, limit=2, eta=lb.Eta(1, 1, 10), split='1/5', resolution='1/2', noise='laplace', "
     "clamp=(0, 6, 5), gaps=False).release([1.0, 2.0])",
     "its cost is eta1 + 2·c·eta2; `split` is the threshold's share. Leave clamp and noise out for less noise"),
    ("sparse_vector_with_gap(…, &gaps, …)",
     "lb.SparseVector(threshold=0, limit=2, eta=lb.Eta(1, 1, 10), split='1/5', resolution='1/2', noise='laplace', "
     "clamp=(0, 6, 5), gaps=[1, 2]).release([1.0, 2.0])", "gaps=True gives all of the gap"),
    ("sample_within_bounds(eta, &gamma, &min, &max, …)", "lb.papers.sparse_vector_sampling.clamped_disc_lap",
     "for a released value: lb.DiscreteLaplace(eta=…, bounds=…)"),
    ("lazy_threshold(eta, …)", "lb.papers.sparse_vector_sampling.lazy_threshold", "done inside the mechanism"),
    ("conditional_lazy_threshold(eta, …)", "lb.papers.sparse_vector_sampling.cond_lazy_threshold",
     "done inside the mechanism"),
    ("get_sum(&base, …, &start, &end)", "lb.papers.sparse_vector_sampling.get_sum", ""),
    ("clamped_laplace_mechanism(eta, low, high, target, gamma, …)",
     "lb.DiscreteLaplace(eta=lb.Eta(1, 1, 1), bounds=(0, 10)).release(7)", "without the factor 2"),
)  # fmt: skip

FROM_FREEGAP: Final = (
    ("gap_noisy_topk_exp(q, epsilon, k, counting_queries=True)",
     "lb.NoisyTopK(k=2, epsilon=1, monotone=True).release([5, 1, 9])", "also gives the last one's gap to the next"),
    ("gap_noisy_topk(q, epsilon, k)", "lb.papers.free_gap_top_k.noisy_top_k_with_gap", "Laplace noise, as printed"),
    ("gap_topk_exp_estimates(q, epsilon, k, True)",
     "lb.SelectAndMeasure(k=2, epsilon=1, monotone=True).release([5, 1, 9]).blue",
     "`estimates` notice where luck bends the gaps"),
    ("gap_sparse_vector_geo(q, epsilon, k, threshold)",
     "lb.SparseVector(threshold=4, limit=2, epsilon=1).release([5, 1, 9])", "exact noise of the same law, upwards"),
    ("gap_sparse_vector(q, epsilon, k, threshold)",
     "lb.SparseVector(threshold=4, limit=2, epsilon=1, noise='laplace').release([5, 1, 9])", ""),
    ("gap_svt_geo_estimates(q, epsilon, k, threshold)",
     "lb.SparseVector(threshold=4, limit=2, epsilon=1, measure='1/2').release([5, 1, 9]).estimates",
     "the gaps of all reports together: at k = 10, 55% of the squared error goes, against 36% one by one"),
    ("adaptive_sparse_vector(q, epsilon, k, threshold)",
     "lb.AdaptiveSparseVector(threshold=4, limit=2, epsilon=1).release([5, 1, 9])",
     "up to 2k answers, to its last unit"),
    ("remaining_epsilon", "lb.AdaptiveSparseVector(threshold=4, limit=2, epsilon=1).release([5, 1, 9]).unspent",
     "`ledger.close(run)` gives it back"),
    ("laplace_mechanism(q, epsilon, indices)", "lb.DiscreteLaplace(epsilon=1, sensitivity=2).release([5, 9])", ""),
)  # fmt: skip

FROM_SNAPPING: Final = (
    ("Snapping_Mechanism(50, sensitivity=0.012, min_B=200, epsilon=0.001)",
     "lb.Snapping(epsilon='1/1000', sensitivity='3/250', bounds=(-200, 200), gamma='1/20')",
     "bounds need not be symmetric; without `gamma` they are not widened"),
    (".get_snapped_noise() + 50",
     "lb.Snapping(epsilon='1/1000', sensitivity='3/250', bounds=(-200, 200), gamma='1/20').release(50)",
     "the released value, and never the noise by itself"),
    ("Snapping_Mechanism(50, sensitivity=1, min_B=200, accuracy=10)",
     "lb.Snapping.for_accuracy(10, bounds=(-200, 200))", "the least epsilon, from a tighter bound"),
    ("_redefine_epsilon(epsilon, B, precision)", "lb.papers.snapping.noise_epsilon", "inside the mechanism"),
    ("_get_smallest_greater_or_eq_power_of_two(x)", "lb.papers.snapping.next_power", "inside the mechanism"),
    ("_get_closest_multiple_of_Lambda(x, m)", "lb.papers.snapping.round_by_bits", "ties go up, below zero too"),
    ("_sample_from_uniform()", "lb.papers.snapping.uniform", "the mechanism draws more bits (A10)"),
    ("_get_accuracy()", "lb.papers.snapping.accuracy", "the tighter bound of section 6.3"),
)  # fmt: skip
"""From the authors' released code to a call here: theirs, ours, and what differs."""
