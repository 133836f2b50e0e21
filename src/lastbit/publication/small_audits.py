"""Small instances of mechanisms, on which the exact auditor follows every branch in a moment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from lastbit import audit
from lastbit.errors import LastbitError
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.mechanisms.parts import Parts

_SECONDS: Final = 20.0


def _small_instances() -> dict[str, Callable[[], tuple[Mechanism[Any], Sequence[Any]]]]:
    import lastbit as lb

    return {
        "DiscreteLaplace": lambda: (lb.DiscreteLaplace(epsilon=1), [0]),
        "DiscreteGaussian": lambda: (lb.DiscreteGaussian(rho=1), [0]),
        "NoisyMax": lambda: (lb.NoisyMax(epsilon=1, resolution=1), [0, 1]),
        "NoisyTopK": lambda: (lb.NoisyTopK(k=1, epsilon=1, resolution=1), [0, 1]),
        "ExponentialMechanism": lambda: (lb.ExponentialMechanism(epsilon=1), [0, 1]),
        "SubsetTopK": lambda: (lb.SubsetTopK(k=1, epsilon=1), [0, 1]),
        "Quantile": lambda: (lb.Quantile(epsilon=1, bounds=(0, 2)), [0, 1]),
    }


def audit_mechanisms(mechanisms: Sequence[Mechanism[Any]]) -> dict[str, bool | None]:
    """Return, for each class of mechanism that takes part, whether a small instance keeps its cost.

    None where no small instance is known here.
    """
    instances = _small_instances()
    verdicts: dict[str, bool | None] = {}
    for name in dict.fromkeys(name for mechanism in mechanisms for name in names_of(mechanism)):
        if name not in instances:
            verdicts[name] = None
            continue
        mechanism, values = instances[name]()
        try:
            results = audit.check_all(mechanism, values, tolerance="1/1000", seconds=_SECONDS)
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
