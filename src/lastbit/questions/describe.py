"""The question `describe`: one page about a table that nobody has looked at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.exact.numbers import number, positive, probability
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.mechanisms.parts import Parts
from lastbit.questions.described_columns import ColumnNames, DescribedColumn, choose_columns
from lastbit.questions.group_types import READINGS
from lastbit.questions.option import Option
from lastbit.questions.people import choose_noise, share_of
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.shared_options import LEDGER, OUTPUT, PRICE, TABLE, WITHIN
from lastbit.questions.table_types import TableWeights
from lastbit.questions.value_types import Number
from lastbit.questions.whole_number_types import WholeNumber

if TYPE_CHECKING:
    from lastbit.questions.request import Request

QUARTILES: Final = ("1/4", "1/2", "3/4")
FIRST_DAY: Final = -25_567
LAST_DAY: Final = 47_481
"""Days since 1970: dates count as 1900-01-01 at least, and as 2099-12-31 at most."""
MOST_ROWS: Final = 10**6
"""More rows of a person count as so many."""

PEOPLE: Final = "people"
ROWS: Final = "rows"
_WEIGHTS: Final = {PEOPLE: 2, ROWS: 2, "missing": 1, "quartiles": 8, "items": 6}
"""How the cost is shared: the quartiles of a column get eight times as much as its missing values, and so on."""

_IMPORTANCE: Final = "To leave a column out, name the others with --of."

OPTIONS: Final = (
    *(option for option in TABLE if option.name not in READINGS),
    Option(
        "of", ColumnNames(), "Describe these columns only. Repeat it for each of them.", labels=("Only these columns",)
    ),
    Option(
        "numbers",
        ColumnNames(),
        "A column of numbers, where the table does not declare it. Repeat it for more.",
        labels=("Columns of numbers, with commas between them",),
    ),
    Option("dates", ColumnNames(), "A column of dates, where the table does not declare it. Repeat it for more."),
    Option("texts", ColumnNames(), "A column of text, whatever the table declares. Repeat it for more."),
    Option(
        "resolution",
        Number(),
        "The step that numbers are floored to. Without it 1 for columns of whole numbers, 1/1000 for others.",
    ),
    Option("k", WholeNumber(), "How many of the most common items of a text are shown.", 5),
    Option("weight", TableWeights("COLUMN=NUMBER"), "The share of a column in the cost, beside 1 for the others."),
    # The books keep the cost of a release, and not whether an epsilon and a delta were asked for where it is a rho.
    *(replace(option, part="question") for option in PRICE),
    WITHIN,
    Option(
        "delta",
        Number(),
        "Pays for the common items of texts, which nobody listed; and with --epsilon it may make the noise smaller.",
    ),
    *LEDGER,
    *OUTPUT,
)


def describe(request: Request) -> Question:
    """Describe a table on one page: its people, their rows, and for each column missing values and quartiles.

    With a delta, the most common items of columns of text too. What a column holds is declared by the table or typed,
    and never guessed from rows. The cost is shared by a public rule, which the plan shows.
    """
    from lastbit.questions.describe_report import plan_columns, report_description
    from lastbit.questions.reading_profile import read_profile, read_profile_of_frame

    description = Description(request, tuple(choose_columns(request)))
    mechanism = description.mechanism
    sentences, within = description.promise
    return Question(
        mechanism,
        reading=read_profile(description),
        report=lambda published: report_description(description, published),
        sample=lambda units: description.make_sample(units),
        accuracy=lambda units: Accuracy(
            within, "ranks", " ".join(sentences), "How many ranks a quartile may be off", total=Fraction(units)
        ),
        notes=description.notes,
        plan_columns=plan_columns(description),
        shows_plan=True,
        read_frame=lambda frame: read_profile_of_frame(description, frame),
    )


@dataclass(frozen=True, eq=False)
class Description:
    """What is measured of which column, and at which share of the cost. To make one reads no row."""

    request: Request
    columns: tuple[DescribedColumn, ...]

    @property
    def texts(self) -> list[DescribedColumn]:
        """The columns whose most common items are published."""
        return [column for column in self.columns if column.holds == "text" and self.request["delta"] is not None]

    @property
    def measured(self) -> list[DescribedColumn]:
        """The columns that have quartiles."""
        return [column for column in self.columns if column.holds in ("numbers", "dates")]

    @cached_property
    def shares(self) -> dict[str, Fraction]:
        """The share of the cost of each part, by the part's name."""
        own = {names[0]: positive(weight, "--weight", _IMPORTANCE) for names, weight in self.request["weight"] or ()}
        unknown = [name for name in own if name not in (column.name for column in self.columns)]
        if unknown or any(len(names) != 1 for names, _ in self.request["weight"] or ()):
            raise ParameterError(
                "--weight must name columns that are described, such as cost=2: got another. Nothing was read."
            )
        weights = {PEOPLE: Fraction(_WEIGHTS[PEOPLE]), ROWS: Fraction(_WEIGHTS[ROWS])}
        for column in self.columns:
            weight = own.get(column.name, Fraction(1))
            weights[part_of(column, "missing")] = weight * _WEIGHTS["missing"]
            if column in self.measured:
                weights[part_of(column, "quartiles")] = weight * _WEIGHTS["quartiles"]
            elif column in self.texts:
                weights[part_of(column, "items")] = weight * _WEIGHTS["items"]
        total = sum(weights.values())
        return {name: weight / total for name, weight in weights.items()}

    @cached_property
    def _cost(self) -> tuple[dict[str, Any], Fraction]:
        """The cost that is shared, and the delta of each column of text.

        An epsilon with a delta buys a rho too. Where there are many parts, that makes less noise than shares of the
        epsilon do: the larger of the two epsilons that an average part has decides.
        """
        from lastbit.privacy import zcdp

        cost, delta = self.request.cost, self.request["delta"]
        if delta is None:
            return cost, Fraction(0)
        whole = probability(delta, "--delta")
        if "rho" in cost:
            if not self.texts:
                raise ParameterError(
                    "--delta beside --rho pays for the items of columns of text: there is none here. Leave it out."
                )
            return cost, whole / len(self.texts)
        half = whole / 2 if self.texts else whole
        rho = zcdp.largest_rho(cost["epsilon"], half)
        share = max(self.shares.values())
        if zcdp.range_epsilon_for(rho * share) <= number(cost["epsilon"], "--epsilon") * share:
            return cost, whole / max(1, len(self.texts))
        return {"rho": rho}, half / max(1, len(self.texts))

    def cost_of(self, part: str) -> dict[str, Any]:
        """Return the cost of a part."""
        return share_of(self._cost[0], self.shares[part])

    @cached_property
    def parts(self) -> dict[str, Mechanism[Any]]:
        """The mechanism of each part, by its name, in the order of the shares."""
        import lastbit as lb

        parts: dict[str, Mechanism[Any]] = {PEOPLE: choose_noise(self.cost_of(PEOPLE))}
        parts[ROWS] = lb.Quantiles(qs=QUARTILES, bounds=(1, MOST_ROWS), resolution=1, scale="log", **self.cost_of(ROWS))
        for column in self.columns:
            missing, quartiles, items = (part_of(column, what) for what in ("missing", "quartiles", "items"))
            parts[missing] = choose_noise(self.cost_of(missing))
            if column.holds == "numbers":
                parts[quartiles] = lb.Quantiles(qs=QUARTILES, resolution=column.step, **self.cost_of(quartiles))
            elif column.holds == "dates":
                bounds: Any = (FIRST_DAY, LAST_DAY)
                parts[quartiles] = lb.Quantiles(qs=QUARTILES, bounds=bounds, resolution=1, **self.cost_of(quartiles))
            elif column in self.texts:
                parts[items] = lb.DiscoverHistogram(delta=self._cost[1], most_items=1, **self.cost_of(items))
        return parts

    @property
    def mechanism(self) -> Parts:
        """The mechanism of all parts."""
        return Parts(parts=self.parts)

    @cached_property
    def promise(self) -> tuple[list[str], Fraction]:
        """How near all numbers are, in sentences, and the ranks that the worst quartile may be off."""
        from lastbit.questions.describe_report import describe_promise

        return describe_promise(self)

    @cached_property
    def ranks(self) -> dict[str, tuple[Fraction, ...]]:
        """How many ranks the quartiles of each column may be off."""
        level = self.request.level
        quartiles: dict[str, Any] = {column.name: self.parts[part_of(column, "quartiles")] for column in self.measured}
        return {name: mechanism.accuracy(level) for name, mechanism in quartiles.items()}

    @property
    def notes(self) -> list[str]:
        """By which rules the rows are read."""
        from lastbit.questions.describe_report import describe_rules

        return describe_rules(self)

    def arrange(self, profile: Any, count_items: Callable[[str], Any]) -> Mapping[str, Any]:
        """Return the private values of each part; `count_items` counts the items of a column."""
        import numpy as np

        from lastbit.data.number_grid import reach_below_step
        from lastbit.data.profiling import grid_of
        from lastbit.values.counts import Counts
        from lastbit.values.grid_steps import GridSteps

        def floor(part: str, steps: Any, step: Fraction, floored: Fraction = Fraction(0)) -> GridSteps:
            mechanism: Any = self.parts[part]
            return GridSteps(mechanism.floor_steps(steps, step, floored))

        people = Counts(items=(PEOPLE,), values=np.array([len(profile.rows)], np.int64), monotone=True, most_items=1)
        values: dict[str, Any] = {PEOPLE: people, ROWS: floor(ROWS, np.sort(profile.rows), Fraction(1))}
        for column in self.columns:
            name, quartiles = column.name, part_of(column, "quartiles")
            values[part_of(column, "missing")] = profile.missing(name)
            if column.holds == "numbers":
                fine = grid_of(column.step)
                floored = reach_below_step(None, column.step)
                values[quartiles] = floor(quartiles, profile.numbers(name), fine, floored)
            elif column.holds == "dates":
                values[quartiles] = floor(quartiles, profile.numbers(name), Fraction(1))
            elif column in self.texts:
                values[part_of(column, "items")] = count_items(name)
        return values

    def make_sample(self, units: int) -> Mapping[str, Any]:
        """Return values for so many people that nobody has."""
        from lastbit.questions import samples

        return self.arrange(
            samples.make_profile(units, self.columns), lambda _: samples.make_unlisted_items(units, None, most_items=1)
        )


def part_of(column: DescribedColumn, what: str) -> str:
    """Return the name of a part of a column.

    >>> part_of(DescribedColumn("cost", "numbers"), "quartiles")
    'cost: quartiles'
    """
    return f"{column.name}: {what}"
