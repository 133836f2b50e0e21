"""Which items are counted, and how far one unit moves their numbers: the options of items, checked together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from fractions import Fraction
from math import prod
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.exact.numbers import number
from lastbit.output.words import Words
from lastbit.questions.column_facts import ColumnFacts
from lastbit.questions.domain import Domain
from lastbit.questions.domains import assign_domains, missing_domains
from lastbit.questions.group_types import check_names, group_columns, imply_domains, puts_each_in_one

_MOST_NAMES: Final = 2 * 10**7
"""No domain that is written out has more items."""
_NUMBERS_OF_ANSWERS: Final = frozenset(
    f"{prefix}{name}" for prefix in ("", "bounded_", "people_") for name in ("value", "low", "high")
) | {"people", "rank", "gap", "shown", "why", "interval", "all people", "total", "sd", "quantile"}
"""Names that columns of numbers have in answers."""


@dataclass(frozen=True, kw_only=True)
class ItemOptions:
    """The options of items, by their names. `lastbit.questions.shared_options.ITEMS` says what each means."""

    by: tuple[str, ...] = ()
    """The columns of groups; that of --in-each, or of --different, is the last."""
    different: str | None = None
    """The column whose different values are counted, in place of people."""
    domain: tuple[Domain, ...] | None = None
    implied: Mapping[str, Domain] = field(default_factory=dict)
    """The groups of columns that need no list: those between edges, hours, weekdays."""
    discover: tuple[str, ...] | bool | None = None
    """The columns whose groups nobody listed; True for all without a list."""
    others: str = "leave-out"
    columns_known: ColumnFacts = field(default_factory=lambda: ColumnFacts({}))
    """How items are shown."""
    most_items: int | None = None
    """How many items a unit counts in; None for all, and where the number is found automatically."""
    columns_of_person: frozenset[str] = frozenset()
    """The columns of groups that are the same in all rows of a person."""
    auto: bool = False
    """Whether a share of the cost finds the number of items that a unit counts in."""
    highest: int | None = None
    """The largest number that may be found so; None where nobody typed one."""
    weights: str | None = None
    bounds: tuple[str, str] | None = None
    missing: str = "leave-out"
    resolution: str | None = None
    counts: str | None = None
    sensitivity: str | None = None
    monotone: bool = False

    @classmethod
    def of(cls, values: Mapping[str, Any], columns_of_person: Collection[str] = ()) -> ItemOptions:
        """Take the options of items out of the options of a question, and refuse what can never work."""
        options = {part.name: values[part.name] for part in fields(cls) if part.name in values}
        if "by" in options:
            options["by"] = group_columns(values)
            check_names(options["by"])
            options["implied"] = imply_domains(values)
        if "weights" in values and "every" not in values and values.get("of") is not None:
            options["weights"] = values["of"]
        if values.get("columns") is not None:
            options["columns_known"] = values["columns"]
        if values.get("one_each"):
            if options["most_items"] is not None:
                raise ParameterError("--one-each is --most-items 1: got both. Leave one of them out.")
            options["most_items"] = 1
        options["columns_of_person"] = frozenset(columns_of_person) & {*options.get("by", ())}
        items = cls(**{**options, **parse_bound(options.get("most_items"))})
        if items.each_in_one or values.get("in_each") in items.columns_of_person:
            # No bound leaves anybody out of a group.
            items = replace(items, **parse_bound(None))
        items._validate_counts(values)
        if items.missing == "show" and "by" in values and not items.by:
            raise ParameterError("--missing show is for groups: name them with --by COLUMN. Nothing was read.")
        numbers = "weights" not in values or items.weights or items.counts or values.get("edges")
        if not numbers and items.missing not in ("leave-out", "show"):
            raise ParameterError(
                f"--missing {items.missing} says what a missing number counts as: name the numbers with --edges or "
                "--weights, or write --missing leave-out or --missing show."
            )
        return items

    def _validate_counts(self, values: Mapping[str, Any]) -> None:
        if self.counts is None:
            if self.sensitivity is not None or self.monotone:
                raise ParameterError(
                    "--sensitivity and --monotone are for --counts: where rows are counted, lastbit knows how far one "
                    "person moves a count. Leave them out, or name the column of the counts with --counts COLUMN."
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
    def each_in_one(self) -> bool:
        """Whether each person is in one group, because of what the groups are made of: then no bound is needed."""
        return puts_each_in_one(self.by, self.columns_of_person)

    @property
    def item_limit(self) -> int | None:
        """How many items a unit counts in, as it is typed or because it has one; None for all."""
        return 1 if self.each_in_one else self.most_items

    @property
    def combinations(self) -> Domain | None:
        """The combinations of the columns, where these are listed; None where each column has its own list."""
        return self.domain[0] if self.domain and self.domain[0].columns else None

    @property
    def domains(self) -> tuple[Domain, ...]:
        """The domain of each column, refused where there is not one for each; or the one of their combinations."""
        if not self.by:
            raise ParameterError("--domain lists the items of a column: name the column with --by COLUMN.")
        known = self.known_domains
        without = [column for column in self.by if column not in known]
        if without:
            raise missing_domains(self.by, self.domain or (), without)
        if self.combinations is not None:
            return (self.combinations,)
        domain = tuple(known[column] for column in self.by)
        from lastbit.data.domain import check_combinations

        check_combinations(len(part.items) for part in domain)
        return domain

    @property
    def unlisted_columns(self) -> tuple[str, ...]:
        """The columns of groups that nobody listed: a delta pays for showing those that are found.

        Where no list is typed at all, nothing else can be meant.
        """
        known = self.known_domains
        without = tuple(column for column in self.by if column not in known and column != self.different)
        if self.discover is None:
            if self.domain and without:
                raise missing_domains(self.by, self.domain, without)
            return without
        named = without if self.discover is True else tuple(self.discover or ())
        for column in named:
            if column not in self.by:
                raise ParameterError(f"--discover must name a column of --by: got {column!r}. Nothing was read.")
            if column in known:
                raise ParameterError(
                    f"--discover is for groups that nobody listed, and those of {column!r} are. Leave --discover or "
                    "the list out. Nothing was read."
                )
        if not named:
            raise ParameterError("--discover is for groups that nobody listed: here all are. Leave it out.")
        rest = [column for column in without if column not in named]
        if rest:
            raise missing_domains(self.by, self.domain or (), rest)
        return named

    @property
    def known_domains(self) -> dict[str, Domain]:
        """The groups of each column that are listed, with those of other rows and of rows without one, where shown."""
        assigned = assign_domains(self.by, self.domain or (), self.implied)
        missing = self.missing == "show"
        if self.combinations is not None and (missing or self.others == "show" or self.counts is not None):
            raise ParameterError(
                "--others show, --missing show and --counts are for a list of each column: leave them out where "
                "combinations are listed. Nothing was read."
            )
        if self.counts is not None and (missing or self.others == "show"):
            raise ParameterError("--others show and --missing show are for rows that are counted: leave --counts out.")
        if self.others == "show" and not assigned:
            raise ParameterError("--others show is for groups that are listed: nobody listed any here. Leave it out.")
        return {
            column: domain.show(others=self.others == "show" and not domain.complete, missing=missing)
            for column, domain in assigned.items()
        }

    @property
    def groups(self) -> ItemOptions:
        """The same options of the groups alone, where different values are counted in each."""
        names = self.by[:-1]
        domain = tuple(own for name, own in self.known_domains.items() if name in names)
        return replace(self, by=names, different=None, domain=domain, implied={})

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

    def columns(self, names: Sequence[Any]) -> dict[str, list[Any]]:
        """Return one column of labels for each column of groups, of items as they are counted.

        A column that has the name of a number of the answer is called its group.

        >>> ItemOptions(by=("region", "sex")).columns([("north", "f"), ("south", "m")])
        {'region': ['north', 'south'], 'sex': ['f', 'm']}
        >>> ItemOptions(by=("value",)).columns(["a", "b"])
        {'value (group)': ['a', 'b']}
        """
        headings = [f"{name} (group)" if name in _NUMBERS_OF_ANSWERS else name for name in self.by]
        parts = [(name,) for name in names] if len(headings) == 1 else names
        label = self.columns_known.label
        return {
            heading: [label(self.by[place], part[place]) for part in parts] for place, heading in enumerate(headings)
        }

    def discovery_parameters(self, unit: str | None, of_counts: str = "1") -> dict[str, Any]:
        """Return how one unit moves the numbers of items that nobody listed, as mechanisms take it."""
        parameters = self.mechanism_parameters
        # Without units one row is protected, which is in one item.
        most = 1 if unit is None and self.counts is None else self.item_limit
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
    def missing_weight(self) -> str:
        """What a row without a weight counts as."""
        return "leave-out" if self.weights is None or self.missing == "show" else self.missing

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
                "add up, --bounds the range of each person's total."
            )
        if self.bounds is None:
            return {"sensitivity": Fraction(1), "monotone": True}
        from lastbit.data.weights import Weights

        weights = Weights.of(self.bounds, self.step())
        return {"sensitivity": weights.sensitivity, "monotone": weights.monotone}

    def number(self, words: Words) -> str:
        """Return the name of an item's number: people, or the sum of a column."""
        if self.counts is not None:
            return self.counts
        return words.people if self.weights is None else f"sum of {self.weights}"

    def bounded_number(self, words: Words) -> str:
        """Return the name of the number that is published: after a bound it says that not all are counted."""
        bounded = (self.auto or self.most_items is not None) and self.counts is None
        return f"{self.number(words)} counted" if bounded else self.number(words)

    def everybody(self, words: Words) -> str:
        """Return the name of the interval for all people, beside a number of those counted."""
        return f"all {words.people}" if self.weights is None else f"{self.number(words)} of all {words.people}"

    @property
    def counts_units(self) -> bool:
        """Whether the numbers are whole: those of people or of stated counts, and no sums."""
        return self.weights is None

    def more(self, amount: str, words: Words) -> str:
        """Return this amount more, in words."""
        column = self.weights or self.counts
        return f"{self.amount(amount, words)} more" if column is None else f"{amount} more in {column}"

    def amount(self, amount: str, words: Words) -> str:
        """Return this amount, in words."""
        column = self.weights or self.counts
        noun = words.person if amount == "1" else words.people
        return f"{amount} {noun}" if column is None else f"{amount} in {column}"

    def whole_columns(self, *columns: str) -> tuple[str, ...]:
        """Return these columns where they count people, who are whole; none where they are sums."""
        return columns if self.counts_units else ()

    def total_of(self, units: int) -> Fraction | None:
        """Return what 100% is of the numbers of items: all people, where people are counted."""
        return Fraction(units) if self.counts_units else None

    def sample(self, units: int) -> Any:
        """Return numbers of the items that nobody has, for so many units: for samples."""
        from lastbit.questions import samples

        return samples.make_counts(
            units, self.names, self.bounds, **self.mechanism_parameters, most_items=self.item_limit
        )

    @property
    def data(self) -> dict[str, Any]:
        """The column that is added up and its bounds, for JSON; empty when people are counted."""
        return {} if self.bounds is None else {"weights": self.weights, "bounds": list(self.bounds)}


def parse_bound(most_items: Any) -> dict[str, Any]:
    """Return the options of a bound on the items of a unit: a number, None for all, `auto`, or `auto:200`.

    >>> parse_bound("auto:200")
    {'most_items': None, 'auto': True, 'highest': 200}
    """
    if not isinstance(most_items, str):
        return {"most_items": most_items}
    _, _, highest = most_items.partition(":")
    return {"most_items": None, "auto": True, "highest": int(highest) if highest else None}


def _length(items: Any) -> int:
    # A range may be longer than Python's own len can say.
    return (items[-1] - items[0]) // items.step + 1 if isinstance(items, range) and items else len(items)
