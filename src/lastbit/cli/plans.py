"""How accurate each command is at a cost, before anything is spent. A new command adds a line to `PLANS`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.output.words import several
from lastbit.questions.options import cost_of, moved, ranking_of


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The options of `plan`, as a person gave them."""

    epsilon: str | None = None
    rho: str | None = None
    delta: str | None = None
    k: int | None = None
    items: int | None = None
    most_items: int | None = None
    bounds: tuple[str, str] | None = None
    resolution: str | None = None
    level: str = "0.95"
    limit: int = 1
    units: int | None = None
    sensitivity: str | None = None
    monotone: bool = False
    at: str = "0.5"
    most_rows: int = 1

    @property
    def cost(self) -> dict[str, Any]:
        """The cost, as mechanisms take it."""
        return cost_of(self.epsilon, self.rho)

    @property
    def moves(self) -> dict[str, Any]:
        """How one unit moves counts, or sums of weights between the bounds."""
        return moved(self.bounds, self.step())

    def step(self, of_counts: str = "1") -> str:
        """The step of the numbers and of the noise, as `Items.step` has it."""
        return self.resolution or (of_counts if self.bounds is None else "1")

    @property
    def fine(self) -> Any:
        """The step of numbers between bounds: as it was given, or as it follows from the bounds."""
        from lastbit.values.span import usual_step

        return usual_step(self.need("bounds")) if self.resolution is None else self.resolution

    def need(self, name: str) -> Any:
        """An option that this command cannot be planned without."""
        if (value := getattr(self, name)) is None:
            raise ParameterError(f"this plan needs --{name.replace('_', '-')}. See: lastbit plan --help")
        return value

    def more(self, amount: Fraction) -> str:
        """An upper bound in words: whole units, or an amount."""
        from lastbit.questions.showing import bound

        counted = self.bounds is None
        return f"{bound(amount, whole=counted)}{' units' * counted}"


@dataclass(frozen=True)
class Planned:
    """The accuracy of a command at a cost."""

    mechanism: Any
    within: Fraction
    """The accuracy, as --within asks for it."""
    sentence: str
    """The meaning of the accuracy, after 'With probability 95%'."""
    data: dict[str, Any] = field(default_factory=dict)


def _choose(asked: Asked) -> Planned:
    k, items = asked.k or 1, asked.need("items")
    mechanism = ranking_of(asked.epsilon, asked.rho, asked.delta, k, resolution=asked.step(), **asked.moves)
    reach = mechanism.accuracy(items, asked.level, k=k)
    return Planned(mechanism, reach, f"no item left out has {asked.more(reach)} more than a listed item.")


def _measure(asked: Asked) -> Planned:
    import lastbit as lb
    from lastbit.estimate.accuracy import laplace_accuracy
    from lastbit.exact.numbers import probability

    mechanism = lb.SelectAndMeasure(k=asked.k or 10, **asked.cost, resolution=asked.step("1/10"), **asked.moves)
    steps = laplace_accuracy(mechanism._measurement_rate, probability(asked.level, "level"))
    reach = steps * mechanism.grid.resolution
    return Planned(mechanism, reach, f"the measurement of a listed item is off by at most {asked.more(reach)}.")


def _noise(asked: Asked, total: Fraction, squared: Fraction, step: Any) -> Any:
    """The mechanism that adds noise to numbers, for either cost."""
    import lastbit as lb

    if asked.rho is None:
        return lb.DiscreteLaplace(**asked.cost, resolution=step, sensitivity=total)
    return lb.DiscreteGaussian(**asked.cost, resolution=step, squared_sensitivity=squared)


def _histogram(asked: Asked) -> Planned:
    each, items = asked.moves["sensitivity"], asked.need("items")
    total = each * min(items, asked.most_items or items)
    mechanism = _noise(asked, total, total * each, asked.step())
    reach = mechanism.accuracy(asked.level)
    return Planned(mechanism, reach, f"the number of an item is off by at most {asked.more(reach)}.")


def _count(asked: Asked) -> Planned:
    if asked.items is not None:
        return _histogram(asked)
    most = Fraction(asked.most_rows)
    mechanism = _noise(asked, most, most**2, "1")
    reach = mechanism.accuracy(asked.level)
    return Planned(mechanism, reach, f"the count is off by at most {asked.more(reach)}.")


def _sum(asked: Asked) -> Planned:
    from lastbit.questions.showing import bound
    from lastbit.values.span import span

    furthest = asked.most_rows * max(map(abs, span(asked.need("bounds"))))
    mechanism = _noise(asked, furthest, furthest**2, asked.fine)
    # The sum may have been floored by less than a step.
    reach = mechanism.accuracy(asked.level) + mechanism.grid.resolution
    told = f"the sum is off by at most {bound(reach, whole=False)}, for numbers clamped to the bounds."
    return Planned(mechanism, reach, told, {"bounds": list(asked.need("bounds"))})


def _quantile(asked: Asked) -> Planned:
    import lastbit as lb
    from lastbit.exact.numbers import number
    from lastbit.questions.showing import bound

    qs = sorted((text.strip() for text in asked.at.split(",")), key=lambda text: number(text, "--at"))
    shared: dict[str, Any] = {
        **asked.cost, "bounds": asked.need("bounds"), "resolution": asked.fine, "most_values": asked.most_rows
    }  # fmt: skip
    mechanism: Any = lb.Quantile(q=qs[0], **shared) if len(qs) == 1 else lb.Quantiles(qs=qs, **shared)
    found = mechanism.accuracy(asked.level)
    ranks = found if isinstance(found, Fraction) else max(found)
    told = f"no released value is more than {bound(ranks, whole=False)} ranks away from its quantile"
    told += "." if len(qs) == 1 else ", if no two numbers fall on the same step."
    return Planned(mechanism, ranks, told, {"at": qs})


def _stream(asked: Asked, thing: str, moves: dict[str, Any]) -> Planned:
    import lastbit as lb

    mechanism = lb.SparseVector(threshold=0, limit=asked.limit, **asked.cost, resolution=asked.step(), **moves)
    reach = mechanism.gap_noise.decisive(asked.level)
    told = f"{thing} that is {asked.more(reach)} above or below the threshold is told rightly, while the run goes on."
    return Planned(mechanism, reach, told, {"limit": asked.limit})


def _above(asked: Asked) -> Planned:
    return _stream(asked, "an item", asked.moves)


def _watch(asked: Asked) -> Planned:
    moves = {"sensitivity": asked.sensitivity or "1", "monotone": asked.monotone}
    # Numbers of a stream are no units.
    return _stream(replace(asked, bounds=("0", "1")), "a number", moves)


def _mean(asked: Asked) -> Planned:
    import lastbit as lb
    from lastbit.questions.showing import bound, shown
    from lastbit.questions.sums import mean_within

    bounds, units = asked.need("bounds"), asked.need("units")
    mechanism = lb.NoisyMean(**asked.cost, bounds=bounds, resolution=asked.fine, most_rows=asked.most_rows)
    low, high = (Fraction(end) for end in mechanism.bounds)
    off, units_off = mean_within(mechanism, units, asked.level)
    people = several(units, "unit")
    told = (
        f"the mean of {people} is off by about {shown(off)} at most where it is in the middle of the bounds, "
        f"twice that at a bound, and the number of units by at most {bound(units_off, whole=True)}."
        if off < high - low
        else f"nothing is known about the mean of {people}. Plan with more of them, or with a larger --epsilon."
    )
    return Planned(mechanism, off, told, {"units": units, "units_within": units_off, "bounds": list(bounds)})


PLANS: Final[dict[str, Callable[[Asked], Planned]]] = {
    "above": _above,
    "choose": _choose,
    "measure": _measure,
    "histogram": _histogram,
    "count": _count,
    "sum": _sum,
    "mean": _mean,
    "median": lambda asked: _quantile(replace(asked, at="0.5")),
    "quantile": _quantile,
    "watch": _watch,
}
"""The plan of each command but `top`, which `planning` writes together with `choose -k`."""


def planned(command: str, asked: Asked, within: str | None) -> Planned:
    """The accuracy of a command at the cost that was asked, or at the least epsilon that has the accuracy asked."""
    if command not in PLANS:
        raise ParameterError(f"there is no plan for {command}. Use one of top, {', '.join(PLANS)}.")
    plan = PLANS[command]
    given = [each is not None for each in (asked.epsilon, asked.rho, within)]
    if sum(given) != 1:
        raise ParameterError(
            "give exactly one of --epsilon, --rho and --within: a cost to see its accuracy, --within to see its "
            "epsilon."
        )
    if within is None:
        return plan(asked)
    from lastbit.estimate.accuracy import least_epsilon
    from lastbit.exact.numbers import positive

    wish = positive(within, "within", "It is a distance.")

    def enough(epsilon: Fraction) -> bool:
        return plan(replace(asked, epsilon=str(epsilon))).within <= wish

    return plan(replace(asked, epsilon=str(least_epsilon(enough, digits=4))))
