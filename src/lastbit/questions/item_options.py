"""Which items are counted, and how far one unit moves their numbers: the options of items, checked together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from math import prod
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.exact.numbers import number
from lastbit.questions.domains import Domain

_MOST_NAMES: Final = 2 * 10**7
"""No domain that is written out has more items."""


@dataclass(frozen=True, kw_only=True)
class ItemOptions:
    """The options of items, by their names. `lastbit.questions.shared_options.ITEMS` says what each means."""

    by: tuple[str, ...] = ()
    domain: tuple[Domain, ...] | None = None
    most_items: int | None = None
    """How many items a unit counts in; None for all, and where the number is found automatically."""
    auto: bool = False
    """Whether a share of the cost finds the number of items that a unit counts in."""
    weights: str | None = None
    bounds: tuple[str, str] | None = None
    missing: str = "leave-out"
    resolution: str | None = None
    counts: str | None = None
    sensitivity: str | None = None
    monotone: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> ItemOptions:
        """Take the options of items out of the options of a question, and refuse what can never work."""
        options = {field.name: values[field.name] for field in fields(cls) if field.name in values}
        if values.get("one_each"):
            if options["most_items"] is not None:
                raise ParameterError("--one-each is --most-items 1: got both. Leave one of them out.")
            options["most_items"] = 1
        if options.get("most_items") == "auto":
            options |= {"most_items": None, "auto": True}
        items = cls(**options)
        items._validate_counts(values)
        return items

    def _validate_counts(self, values: Mapping[str, Any]) -> None:
        if self.counts is None:
            if self.sensitivity is not None or self.monotone:
                raise ParameterError(
                    "--sensitivity and --monotone are for --counts: where rows are counted, lastbit knows how far one "
                    "unit moves a count. Leave them out, or name the column of the counts with --counts COLUMN."
                )
            return
        for name in ("unit", "weights", "bounds", "of"):
            if values.get(name) is not None:
                raise ParameterError(f"--counts and --{name} must not be given together: the rows are counted already.")
        if not self.by:
            raise ParameterError("--counts needs --by COLUMN, the column that holds the items.")
        _ = self._parameters_of_counts

    @property
    def _parameters_of_counts(self) -> dict[str, Any]:
        """How one person moves the counts, as the user says."""
        if self.sensitivity is None:
            raise ParameterError(
                "--counts needs --sensitivity, how far one person moves a count at most: the counts do not show it. "
                "Write --sensitivity 1 where a person counts once in an item."
            )
        exact = number(self.sensitivity, "--sensitivity")
        if exact.denominator != 1 or exact < 1:
            raise ParameterError(
                f"--sensitivity must be a whole number from 1 on, as counts are: got {self.sensitivity}. Round it up."
            )
        return {"sensitivity": exact, "monotone": self.monotone}

    @property
    def domains(self) -> tuple[Domain, ...]:
        """The domain of each column, refused where there is not one for each."""
        domain = self.domain or ()
        if not self.by:
            raise ParameterError("--domain lists the items of a column: name the column with --by COLUMN.")
        if len(domain) != len(self.by):
            raise ParameterError(
                f"--domain must be given once for each --by: got {len(domain)} for {len(self.by)} columns. Items that "
                "nobody listed are for top, choose and histogram, with --delta."
            )
        named = {part.column for part in domain if part.column}
        if named and named != set(self.by):
            raise ParameterError(
                f"--domain must name the columns of --by, {', '.join(self.by)}: got {', '.join(sorted(named))}."
            )
        if named:
            by_name = {part.column: part for part in domain}
            domain = tuple(by_name[column] for column in self.by)
        from lastbit.data.domain import check_combinations

        check_combinations(len(part.items) for part in domain)
        return domain

    @property
    def size(self) -> int:
        """How many items the domain has. The number is public, so a domain with too few is refused before reading."""
        return prod(_length(domain.items) for domain in self.domains)

    def require_at_least(self, k: int) -> None:
        """Refuse a k above the number of items."""
        if k > self.size:
            raise ParameterError(
                f"-k must be at most the number of items: got {k:,} of {self.size:,}. Write -k {self.size}, or less. "
                "Nothing was read."
            )

    @property
    def names(self) -> Any:
        """All items of the domain, in the order in which they are counted."""
        from lastbit.data.domain import combine_domains

        if self.size > _MOST_NAMES:
            raise ParameterError(f"--domain must have at most {_MOST_NAMES:,} items: got {self.size:,}. List fewer.")
        return combine_domains([tuple(domain.items) for domain in self.domains])

    def discovery_parameters(self, unit: str | None, of_counts: str = "1") -> dict[str, Any]:
        """Return how one unit moves the numbers of items that nobody listed, as mechanisms take it."""
        parameters = self.mechanism_parameters
        # Without units one row is protected, which is in one item.
        most = 1 if unit is None and self.counts is None else self.most_items
        if not parameters["monotone"]:
            if self.counts is not None:
                raise ParameterError(
                    "without --domain a person who comes must not make a count smaller. Add --monotone where this is "
                    "so, or list the public items in a file and pass --domain FILE. Nothing was read."
                )
            raise ParameterError(
                "--bounds must not go below zero where nobody listed the items. Use a lower bound of 0, or --domain."
            )
        step = self.step(of_counts)
        return {"sensitivity": parameters["sensitivity"], "most_items": most, "resolution": step}

    def step(self, of_counts: str = "1") -> str:
        """Return the step of the numbers and of the noise: as it is said, or as the bounds of weights say."""
        if self.resolution is not None or self.weights is None or self.bounds is None:
            return self.resolution or of_counts
        from lastbit.values.bounds import default_step

        low, high = (number(bound, "bounds") for bound in self.bounds)
        return str(default_step((low, high))) if low < high else "1"

    @property
    def margin(self) -> Fraction:
        """How far the exact sum of an item may lie above its floor, whatever numbers the column holds; 0 for counts."""
        if self.weights is None or self.bounds is None:
            return Fraction(0)
        from lastbit.data.weights import Weights

        weights = Weights.of(self.bounds, self.step())
        return weights.most_above * weights.resolution

    @property
    def mechanism_parameters(self) -> dict[str, Any]:
        """How one unit moves the numbers, as mechanisms take it."""
        if self.counts is not None:
            return self._parameters_of_counts
        if (self.weights is None) != (self.bounds is None):
            raise ParameterError(
                "--weights and --bounds must be given together: got only one of them. --weights names the column to "
                "add up, --bounds the range of each unit's total."
            )
        if self.bounds is None:
            return {"sensitivity": Fraction(1), "monotone": True}
        from lastbit.data.weights import Weights

        weights = Weights.of(self.bounds, self.step())
        return {"sensitivity": weights.sensitivity, "monotone": weights.monotone}

    @property
    def number(self) -> str:
        """The name of an item's number: units, or the sum of a column."""
        if self.counts is not None:
            return self.counts
        return "units" if self.weights is None else f"sum of {self.weights}"

    @property
    def bounded_number(self) -> str:
        """The name of the number that is published: of bounded units it says that not all are counted."""
        bounded = (self.auto or self.most_items is not None) and self.counts is None
        return f"{self.number} counted" if bounded else self.number

    @property
    def everybody(self) -> str:
        """The name of the interval for all units, beside a number of those counted."""
        return "all units" if self.weights is None else f"{self.number} of all units"

    @property
    def counts_units(self) -> bool:
        """Whether the numbers are whole: those of units or of stated counts, and no sums."""
        return self.weights is None

    def more(self, amount: str) -> str:
        """Return this amount more, in words."""
        column = self.weights or self.counts
        return f"{self.amount(amount)} more" if column is None else f"{amount} more in {column}"

    def amount(self, amount: str) -> str:
        """Return this amount, in words."""
        column = self.weights or self.counts
        units = "unit" if amount == "1" else "units"
        return f"{amount} {units}" if column is None else f"{amount} in {column}"

    def whole_columns(self, *columns: str) -> tuple[str, ...]:
        """Return these columns where they count units, which are whole; none where they are sums."""
        return columns if self.counts_units else ()

    def total_of(self, units: int) -> Fraction | None:
        """Return what 100% is of the numbers of items: all units, where units are counted."""
        return Fraction(units) if self.counts_units else None

    def sample(self, units: int) -> Any:
        """Return numbers of the items that nobody has, for so many units: for samples."""
        from lastbit.questions import samples

        return samples.make_counts(
            units, self.names, self.bounds, **self.mechanism_parameters, most_items=self.most_items
        )

    @property
    def data(self) -> dict[str, Any]:
        """The column that is added up and its bounds, for JSON; empty when units are counted."""
        return {} if self.bounds is None else {"weights": self.weights, "bounds": list(self.bounds)}


def _length(items: Any) -> int:
    # A range may be longer than Python's own len can say.
    return (items[-1] - items[0]) // items.step + 1 if isinstance(items, range) and items else len(items)
