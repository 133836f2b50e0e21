"""The options that commands share, each written once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from lastbit.errors import ParameterError
from lastbit.questions.aggregates import Aggregates
from lastbit.questions.rows import Rows, rules_of

Missing = Annotated[
    str,
    typer.Option(
        metavar="RULE",
        help="A number that is missing (blank, null, NaN, text) is left out. Or 'lowest', or a number that it counts "
        "as.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Table(Rows):
    """Where the rows are, and which of them are read."""


@dataclass(frozen=True, kw_only=True)
class Items(Aggregates):
    """Which items are counted, and how."""

    by: Annotated[
        list[str],
        typer.Option(metavar="COLUMN", help="The column that holds the items. Repeat it to count combinations."),
    ]
    domain: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="The public items: a file with one item per line, 1..12, 0..90:10, 2026-01..2026-12, or a,b,c. Give "
            "one for each --by.",
        ),
    ] = None
    most_items: Annotated[
        int | None,
        typer.Option(metavar="NUMBER", help="One unit counts in at most so many items; which, is drawn by lot."),
    ] = None
    weights: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="Add up this column instead of counting units.")
    ] = None
    bounds: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="LOW HIGH", help="Each row's weight, and each unit's total per item, is clamped to this range."
        ),
    ] = None
    missing: Missing = "leave-out"
    resolution: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="The step of weights, noise and gaps: 1, or 1/10 for the gaps of counts."),
    ] = None

    @property
    def domains(self) -> Any:
        """The domain as `count` takes it."""
        return self._read[0] if len(self._read) == 1 else self._read

    @property
    def size(self) -> int:
        """How many items the domain has. The number is public, so a domain with too few is refused before reading."""
        return prod(map(len, self._read))

    def check_enough(self, k: int) -> None:
        """Refuse a k above the number of items."""
        if k > self.size:
            raise ParameterError(
                f"-k must be at most the number of items: got {k} of {self.size:,}. Write -k {self.size}, or less. "
                "Nothing was read."
            )

    @cached_property
    def _read(self) -> list[Any]:
        """The items of each domain, read once."""
        domain = self.domain or []
        if not self.by:
            raise ParameterError("--domain lists the items of a column: name the column with --by COLUMN.")
        if len(domain) != len(self.by):
            raise ParameterError(
                f"--domain must be given once for each --by: got {len(domain)} for {len(self.by)} columns. Items that "
                "nobody listed are for top, choose and histogram, with --delta."
            )
        from lastbit.data.domain import check_combinations

        read = [domain_of(text) for text in domain]
        check_combinations(map(len, read))
        return read

    @property
    def names(self) -> Any:
        """All items of the domain, in the order in which they are counted."""
        from lastbit.data.domain import combined

        return combined([tuple(each) for each in self._read])

    def private(self, unit: str | None, of_counts: str = "1") -> dict[str, Any]:
        """How one unit moves the numbers of items that nobody listed, as mechanisms take it."""
        moves = self.moves
        # Without units one row is protected, which is in one item.
        most = 1 if unit is None and self.counts is None else self.most_items
        if not moves["monotone"]:
            if self.counts is not None:
                raise ParameterError(
                    "without --domain a person who comes must not make a count smaller. Add --monotone where this is "
                    "so, or list the public items in a file and pass --domain FILE. Nothing was read."
                )
            raise ParameterError(
                "--bounds must not go below zero where nobody listed the items. Use a lower bound of 0, or --domain."
            )
        return {
            "sensitivity": moves["sensitivity"], "most_items": most, "resolution": self.step(of_counts),
        }  # fmt: skip

    def step(self, of_counts: str = "1") -> str:
        """The step of the numbers and of the noise."""
        usual = of_counts if self.weights is None else "1"
        return usual if self.resolution is None else self.resolution

    @property
    def moves(self) -> dict[str, Any]:
        """How one unit moves the numbers, as mechanisms take it."""
        if self.counts is not None:
            return self.stated
        if (self.weights is None) != (self.bounds is None):
            raise ParameterError(
                "--weights and --bounds must be given together: got only one of them. --weights names the column to "
                "add up, --bounds the range of each unit's total."
            )
        return moved(self.bounds, self.step())

    @property
    def number(self) -> str:
        """The name of an item's number: units, or the sum of a column."""
        if self.counts is not None:
            return self.counts
        return "units" if self.weights is None else f"sum of {self.weights}"

    def more(self, amount: str) -> str:
        """This amount more, in words."""
        column = self.weights or self.counts
        units = "unit" if amount == "1" else "units"
        return f"{amount} {units} more" if column is None else f"{amount} more in {column}"

    def whole(self, *columns: str) -> tuple[str, ...]:
        """These columns where they count units, which are whole; none where they are sums."""
        return columns if self.weights is None else ()

    def made_up(self, units: int) -> Any:
        """Numbers of the items that nobody has, for so many units: for samples."""
        from lastbit.questions import made_up

        return made_up.counts(units, self.names, self.bounds, **self.moves, most_items=self.most_items)

    @property
    def data(self) -> dict[str, Any]:
        """The column that is added up and its bounds, for JSON; empty when units are counted."""
        return {} if self.bounds is None else {"weights": self.weights, "bounds": list(self.bounds)}


@dataclass(frozen=True, kw_only=True)
class Groups(Items):
    """Items that may be left out, where a command counts everybody without them."""

    by: Annotated[
        list[str],
        typer.Option(metavar="COLUMN", help="The column that holds the groups. Repeat it to count combinations."),
    ] = ()  # type: ignore[assignment] # typer makes a list of it
    one_each: Annotated[
        bool, typer.Option("--one-each", help="Each unit counts in one group, by lot where it has several.")
    ] = False

    def __post_init__(self) -> None:
        if self.one_each:
            if self.most_items is not None:
                raise ParameterError("--one-each is --most-items 1: got both. Leave one of them out.")
            object.__setattr__(self, "most_items", 1)


def moved(bounds: tuple[str, str] | None, resolution: str) -> dict[str, Any]:
    """How one unit moves counts, or sums of weights between bounds, as mechanisms take it."""
    if bounds is None:
        return {"sensitivity": Fraction(1), "monotone": True}
    from lastbit.data.weights import Weights

    weights = Weights.of(bounds, resolution)
    return {"sensitivity": weights.sensitivity, "monotone": weights.monotone}


@dataclass(frozen=True, kw_only=True)
class Spending:
    """What a release costs, which account pays, and how the release is shown."""

    epsilon: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="The cost of the release, such as 1, 0.5 or 1/3.")
    ] = None
    rho: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="The cost in zCDP instead: for many releases under one budget.")
    ] = None
    ledger: Annotated[
        str | None, typer.Option(metavar="FILE", help="The ledger to charge first: a file or a postgresql:// address.")
    ] = None
    dataset: Annotated[str | None, typer.Option(metavar="NAME", help="The account to charge.")] = None
    note: Annotated[str, typer.Option(metavar="TEXT", help="A note for the ledger's history.")] = ""
    level: Annotated[str, typer.Option(metavar="NUMBER", help="The probability that an interval holds.")] = "0.95"
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Draw the release into a picture.")] = None
    html: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a report to send on: one page that needs nothing else.")
    ] = None
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show the cost and check the columns. Read no row, spend nothing.")
    ] = False
    reuse: Annotated[
        bool, typer.Option("--reuse", help="Show the release again, for nothing, if the ledger has this very question.")
    ] = False

    asked: ClassVar[Mapping[str, Any]] = {}
    """The command and its other arguments, as they were given."""

    @property
    def rules(self) -> list[str]:
        """The rules by which numbers are read, in words."""
        return rules_of(self.asked)

    @property
    def cost(self) -> dict[str, Any]:
        """The cost, as mechanisms take it."""
        return cost_of(self.epsilon, self.rho)


def cost_of(epsilon: str | None, rho: str | None) -> dict[str, Any]:
    """The cost that a person asks for, as mechanisms take it.

    >>> cost_of("1", None), cost_of(None, "1/100")
    ({'epsilon': '1'}, {'rho': '1/100'})
    """
    if (epsilon is None) == (rho is None):
        raise ParameterError("exactly one of --epsilon and --rho must be given. Write --epsilon 1, or --rho 1/100.")
    return {"epsilon": epsilon} if rho is None else {"rho": rho}


def ranking_of(epsilon: str | None, rho: str | None, delta: str | None, k: int, **parameters: Any) -> Any:
    """The mechanism that ranks k items at the cost that a person asks for."""
    from lastbit.mechanisms.exponential import ExponentialMechanism

    if delta is None:
        return ExponentialMechanism(**cost_of(epsilon, rho), **parameters)
    if epsilon is None or rho is not None:
        raise ParameterError("--delta goes with --epsilon: a rho is a cost of its own. Leave --delta or --rho out.")
    return ExponentialMechanism.for_ranking(k, epsilon=epsilon, delta=delta, **parameters)


def domain_of(text: Any) -> Any:
    """The items of one --domain: a range, the name of a file, or the items with commas between them, or in a tuple.

    >>> domain_of("1..3"), domain_of("yes, no,yes"), domain_of(("yes", "no, never"))
    (range(1, 4), ('yes', 'no'), ('yes', 'no, never'))
    """
    from lastbit.data.domain import items_of
    from lastbit.data.ranges import range_of

    if not isinstance(text, str):
        return items_of(list(text))
    found = range_of(text)
    if found is not None:
        return found
    if "," in text and not Path(text).exists():
        return items_of([item for item in map(str.strip, text.split(",")) if item])
    return items_of(text)
