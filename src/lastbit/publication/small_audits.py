"""Small instances of mechanisms, on which the exact auditor follows every branch in a moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from lastbit import audit
from lastbit.errors import LastbitError
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.mechanisms.parts import Parts

_SECONDS: Final = 20.0

_Instance = tuple[Mechanism[Any], Any, str]
"""A mechanism, values of its, and the probability that the auditor may leave unexplored."""


def list_small_instances() -> dict[str, Callable[[], _Instance]]:
    """Return a way to build one small instance of each mechanism that a question may use, by its name."""
    import lastbit as lb

    bits = lb.Eta(1, 1, 2)
    one = lb.Unlisted.of({"a": 1}, most_items=1)
    return {
        "DiscreteLaplace": lambda: (lb.DiscreteLaplace(epsilon=1), [0], "1/1000"),
        "DiscreteGaussian": lambda: (lb.DiscreteGaussian(rho=1), [0], "1/1000"),
        "NoisyMean": lambda: (lb.NoisyMean(eta=lb.Eta(1, 1, 8), bounds=(0, 1)), [0, 1], "1/500"),
        "NoisyMax": lambda: (lb.NoisyMax(epsilon=1, resolution=1), [0, 1], "1/1000"),
        "NoisyTopK": lambda: (lb.NoisyTopK(k=1, epsilon=1, resolution=1), [0, 1], "1/1000"),
        "ExponentialMechanism": lambda: (lb.ExponentialMechanism(epsilon=1), [0, 1], "1/1000"),
        "SubsetTopK": lambda: (lb.SubsetTopK(k=1, epsilon=1), [0, 1], "1/1000"),
        "SelectAndMeasure": lambda: (
            lb.SelectAndMeasure(k=1, epsilon=6, resolution=1, monotone=True), [0, 0], "1/200"
        ),
        "GroupTopK": lambda: (
            lb.GroupTopK(groups=["a", "b"], k=1, eta=lb.Eta(1, 1, 4), resolution=1, monotone=True),
            {"a": [0], "b": [0, 1]}, "1/1000"
        ),
        "SparseVector": lambda: (
            lb.SparseVector(threshold=0, limit=1, eta=lb.Eta(1, 1, 12), noise="laplace"), [0], "1/100"
        ),
        "AutomaticBounds": lambda: (
            lb.AutomaticBounds(eta=lb.Eta(1, 1, 6), overshoot="1/4", choices=[1, 3]), [1], "1/500"
        ),
        "Quantile": lambda: (lb.Quantile(epsilon=1, bounds=(0, 2)), [0, 1], "1/1000"),
        "Quantiles": lambda: (
            lb.Quantiles(qs=["1/3", "1/2"], eta=lb.Eta(1, 1, 4), bounds=(0, 2), spread=1), [0], "0"
        ),
        "GroupQuantiles": lambda: (
            lb.GroupQuantiles(groups=["a", "b"], eta=bits, bounds=(0, 2)), {"a": [1], "b": [0]}, "0"
        ),
        "GroupMeans": lambda: (
            lb.GroupMeans(groups=["a"], bounds=(0, 1), resolution=1, eta=lb.Eta(1, 1, 4)), {"a": [1]}, "1/200"
        ),
        "Tables": lambda: (lb.Tables(domain={"a": "xy"}, tables=[("a",)], rho=2), [1, 0], "1/1000000"),
        "DiscoverHistogram": lambda: (
            lb.DiscoverHistogram(eta=bits, delta="1/8", most_items=1), one, "1/1000"
        ),
        "DiscoverRanking": lambda: (lb.DiscoverRanking(k=1, eta=bits, delta="1/8", most_items=1), one, "1/1000"),
        "DiscoverTopK": lambda: (
            lb.DiscoverTopK(
                k=1, eta=lb.Eta(1, 1, 1), delta="1/16", resolution=1, most_items=1, candidates=2
            ), one, "1/2000"
        ),
    }  # fmt: skip


def audit_mechanisms(mechanisms: Sequence[Mechanism[Any]]) -> dict[str, bool | None]:
    """Return, for each class of mechanism that takes part, whether a small instance keeps its cost.

    None where no small instance is known here.
    """
    instances = list_small_instances()
    verdicts: dict[str, bool | None] = {}
    for name in dict.fromkeys(name for mechanism in mechanisms for name in names_of(mechanism)):
        if name not in instances:
            verdicts[name] = None
            continue
        mechanism, values, tolerance = instances[name]()
        try:
            results = audit.check_all(mechanism, values, tolerance=tolerance, seconds=_SECONDS)
            verdicts[name] = True if results.holds else False if results.worst.verdict == "violated" else None
        except LastbitError:
            verdicts[name] = None
    return verdicts


def names_of(mechanism: Any) -> list[str]:
    """Return the names of a mechanism's parts, or its own.

    >>> import lastbit as lb
    >>> names_of(lb.Parts(parts={"people": lb.DiscreteLaplace(epsilon=1), "items": lb.NoisyTopK(k=1, epsilon=1)}))
    ['DiscreteLaplace', 'NoisyTopK']
    """
    if isinstance(mechanism, Parts):
        return [name for part in mechanism.parts.values() for name in names_of(part)]
    return [str(mechanism.name)]
