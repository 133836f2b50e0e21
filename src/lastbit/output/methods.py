"""How a mechanism worked, in words for a paper: what was done, and whom to cite."""

from __future__ import annotations

from typing import Final, NamedTuple

from lastbit.output.words import capitalize

_DING_GAP: Final = (
    "Z. Ding, Y. Wang, D. Zhang and D. Kifer, Free gap information from the differentially private sparse vector and "
    "noisy max mechanisms, PVLDB 13 (2019)"
)
_DING_SECURE: Final = (
    "Z. Ding and others, A floating-point secure implementation of the report noisy max with gap mechanism (2023), "
    "arXiv:2308.08057"
)
_ILVENTO: Final = (
    "C. Ilvento, Implementing the exponential mechanism with base-2 differential privacy (2019), arXiv:1912.04222"
)
_LAPLACE: Final = "C. Ilvento, Implementing the sparse vector technique and variants (working paper)"
_GAUSSIAN: Final = "C. Canonne, G. Kamath and T. Steinke, The discrete Gaussian for differential privacy (2020)"
_ONE_SIDED: Final = "the one-sided sparse vector of Liu and others, PVLDB 18"
_SOFTWARE: Final = "lastbit {version}, differential privacy that holds to the last bit (lastbit authors)"


class Method(NamedTuple):
    """A mechanism in words: its result as a title, what was done, and the paper that it is from."""

    result: str
    noise: str
    paper: str = ""
    """Several have a semicolon between them."""


METHODS: Final[dict[str, Method]] = {
    "DiscreteLaplace": Method("Numbers with noise", "discrete Laplace noise", _LAPLACE),
    "DiscreteGaussian": Method("Numbers with noise", "discrete Gaussian noise", _GAUSSIAN),
    "Snapping": Method(
        "Numbers with noise",
        "the snapping mechanism",
        "C. Covington, Snapping mechanism notes (2020), on the mechanism of I. Mironov",
    ),
    "NoisyMean": Method("A mean with noise", "discrete Laplace noise on the sum and on the number", _LAPLACE),
    "GroupMeans": Method(
        "Means of groups", "discrete noise on each sum and on each number", f"{_LAPLACE}; {_GAUSSIAN}"
    ),
    "NoisyMax": Method("The largest with its gap", "the largest of the numbers with exponential noise", _DING_GAP),
    "NoisyTopK": Method("The largest with gaps", "the largest of the numbers with exponential noise", _DING_SECURE),
    "SelectAndMeasure": Method(
        "The largest with their numbers",
        "a selection with exponential noise, and noise on each number selected",
        _DING_GAP,
    ),
    "GroupTopK": Method(
        "The largest of each group",
        "a selection with exponential noise in each group, and noise on each number that is shown",
        _DING_SECURE,
    ),
    "SubsetTopK": Method(
        "The largest as a set",
        "the selection of a set",
        "M. Shekelyan and G. Loukides, Differentially private top-k selection via canonical Lipschitz mechanism (2022)",
    ),
    "ExponentialMechanism": Method("A choice", "the exponential mechanism", _ILVENTO),
    "SparseVector": Method("Those above a threshold", "the sparse vector technique", _ONE_SIDED),
    "AdaptiveSparseVector": Method("Those above a threshold", "the adaptive sparse vector technique", _DING_GAP),
    "AutomaticBounds": Method("Bounds", "a search with the sparse vector technique", _ONE_SIDED),
    "DiscoverHistogram": Method(
        "Common items",
        "noise on the numbers, of which only high ones are published",
        "A. Korolova, K. Kenthapadi, N. Mishra and A. Ntoulas, Releasing search queries and clicks privately (2009)",
    ),
    "DiscoverTopK": Method(
        "The most common items",
        "exponential noise on the highest numbers, and a threshold",
        "after D. Durfee and R. Rogers, Practical differentially private top-k selection with pay-what-you-get "
        "composition (2019)",
    ),
    "DiscoverRanking": Method(
        "The most common items", "the exponential mechanism, item by item, and a threshold", _ILVENTO
    ),
    "PrivateSelection": Method(
        "A private selection",
        "a random number of runs, of which the best is published",
        "N. Papernot and T. Steinke, Hyperparameter tuning with Rényi differential privacy (2022)",
    ),
    "PrivateSearch": Method(
        "A private search",
        "a random number of runs, of which the best is published",
        "N. Papernot and T. Steinke, Hyperparameter tuning with Rényi differential privacy (2022)",
    ),
    "Quantile": Method(
        "A quantile",
        "the exponential mechanism on ranks",
        "A. Smith, Privacy-preserving statistical estimation with optimal convergence rates (2011)",
    ),
    "Quantiles": Method(
        "Quantiles",
        "the exponential mechanism on ranks, quantile by quantile",
        "H. Kaplan, S. Schnapp and U. Stemmer, Differentially private approximate quantiles (2022)",
    ),
    "GroupQuantiles": Method(
        "Quantiles of groups",
        "the exponential mechanism on ranks, group by group",
        "H. Kaplan, S. Schnapp and U. Stemmer, Differentially private approximate quantiles (2022)",
    ),
    "Tables": Method(
        "Tables that agree",
        "discrete Gaussian noise on tables, which least squares made agree",
        "Y. Xiao, G. He, D. Zhang and D. Kifer, ResidualPlanner (2023)",
    ),
}
"""The mechanisms of lastbit, by the names of their classes."""


def find_method(mechanism: str) -> Method:
    """Return a mechanism in words. One that somebody else wrote is known by its own name.

    >>> find_method("DiscreteLaplace").noise, find_method("OurOwn").noise
    ('discrete Laplace noise', 'the mechanism OurOwn')
    """
    return METHODS.get(mechanism) or Method(mechanism, f"the mechanism {mechanism}")


def describe_privacy(cost: str, whom: str, *, together: bool = True) -> str:
    """Return what a cost promises to whom, as papers write it.

    >>> describe_privacy("rho 1/20", "all rows of any one patient")
    'All rows of any one patient are protected together by zero-concentrated differential privacy with rho = 1/20'
    >>> describe_privacy("epsilon 1, delta 1e-6", "any single row", together=False)
    'Any single row is protected by differential privacy with epsilon = 1 and delta = 1e-6'
    """
    kind = "zero-concentrated differential privacy" if cost.startswith("rho") else "differential privacy"
    parameters = " and ".join(part.replace(" ", " = ", 1) for part in cost.split(", "))
    protects = "are protected together" if together else "is protected"
    return f"{capitalize(whom)} {protects} by {kind} with {parameters}"


def cite(mechanisms: list[str], version: str) -> str:
    """Return what to cite: the software, and the paper of each mechanism once.

    >>> cite(["DiscreteLaplace"], "1.0").split("; ")[0]
    'To cite: lastbit 1.0, differential privacy that holds to the last bit (lastbit authors)'
    >>> cite(["GroupMeans", "DiscreteLaplace"], "1.0").count("Ilvento")
    1
    """
    named = "; ".join(paper for name in mechanisms if (paper := find_method(name).paper))
    papers = dict.fromkeys(named.split("; ") if named else ())
    return f"To cite: {'; '.join([_SOFTWARE.format(version=version), *papers])}."
