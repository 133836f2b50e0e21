"""`--bounds auto` of bins: a share of the cost chooses the bounds, then people are counted by equal bins between them.

The bounds are a published part. How many people have a number beyond them, and how many are in each bin, is counted for
the bounds that were published. Each person counts once in the choice, by their number furthest from zero.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.mechanisms.parts import LaterPart, LaterValues, Parts
from lastbit.output.words import capitalize
from lastbit.questions.automatic_bounds import (
    BOUNDS,
    FINE_STEP,
    LIKELY,
    Ends,
    describe_choice,
    describe_ends,
    find_furthest,
    join_data,
    parse_bounds_share,
    suppose,
)
from lastbit.questions.edge_types import count_bins
from lastbit.questions.people import ANSWER, PeopleParts, choose_noise, share_of
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.reading_notes import describe_whole_parts
from lastbit.questions.report import format_value
from lastbit.values.bins import Bins

if TYPE_CHECKING:
    from lastbit.data.duckdb.relation import OpenTable
    from lastbit.questions.reading import Reading
    from lastbit.questions.report import Report
    from lastbit.questions.request import Request

_MOST_STEPS: Final = 1 << 60
"""Edges lie on a grid of at most twice so many steps from one bound to the other."""
_OTHERS: Final = ("weights", "bounds", "counts")
"""Options that say that something else is counted than people or rows."""


@dataclass(frozen=True, eq=False)
class AutomaticBins:
    """A count by bins between automatic bounds. Its parts are the bounds, the people beyond them, and the count."""

    request: Request
    build: Callable[[Request], Question]
    """Returns the question of a count whose edges are known."""
    choices: tuple[Any, ...] | None = None
    """The list of bounds, where it is another than the usual one: for laws on small instances."""

    @cached_property
    def column(self) -> str:
        """The column of numbers."""
        columns = [name for name, edges in self.request["edges"] if count_bins(edges) is not None]
        if len(columns) > 1:
            raise ParameterError(f"--edges must have automatic bins for one column: got {' and '.join(columns)}.")
        other = next((name for name in _OTHERS if self.request.values.get(name) is not None), None)
        if other is not None:
            raise ParameterError(
                f"--{other} does not go with automatic bins, which count people or rows. Leave it out."
            )
        column: str = columns[0]
        if any(domain.columns or domain.column == column for domain in self.request.typed_domains):
            raise ParameterError(
                f"--domain lists groups of {column}, whose bins nobody knows before the release. Leave its list out, "
                "or type its edges."
            )
        if count_bins(dict(self.request["edges"])[column]) == 1:
            raise ParameterError("there must be two automatic bins or more: got 1. To count everybody leave bins out.")
        return column

    @property
    def bins(self) -> int:
        """How many bins there are."""
        return count_bins(dict(self.request["edges"])[self.column]) or 1

    @property
    def _furthest(self) -> Fraction:
        """How far from zero bounds may be: numbers are read so far, and edges between two bounds are on one grid."""
        return find_furthest(FINE_STEP, Fraction(_MOST_STEPS, self.bins) * Fraction(FINE_STEP))

    @cached_property
    def _share(self) -> Fraction:
        return parse_bounds_share(self.request)

    @cached_property
    def _rest(self) -> dict[str, Fraction]:
        """What is left of the cost when the bounds are chosen."""
        return share_of(self.request.cost, 1 - self._share)

    @cached_property
    def people(self) -> PeopleParts:
        """What is measured of people: how many have a number beyond the bounds."""
        return PeopleParts.of(self.request.items, 1, self.request["people_share"], clamped=True)

    def list_edges(self, bounds: Ends) -> tuple[Fraction, ...]:
        """Return the edges of equal bins. Without --closed the last bin has no upper end, as the first has no lower."""
        edges = Bins.of(bounds=bounds, bins=self.bins).edges
        return edges if self.request["closed"] else edges[:-1]

    @cached_property
    def with_bounds(self) -> Callable[[Ends], Question]:
        """Returns the question of the count alone, for bounds that are known."""
        return cache(self._build_count)

    def _build_count(self, bounds: Ends) -> Question:
        edges = {**dict(self.request["edges"]), self.column: [str(edge) for edge in self.list_edges(bounds)]}
        cost = {name: str(amount) for name, amount in self.people.main_cost(self._rest).items()}
        return self.build(self.request.change(edges=edges, **cost))

    @cached_property
    def _likely(self) -> Question:
        return self.with_bounds(LIKELY)

    @cached_property
    def mechanism(self) -> Parts:
        """The mechanism of all parts. That of the count is built of the published bounds."""
        import lastbit as lb

        typical, costs = self._likely.mechanism, self.people.costs(self._rest)
        own: dict[str, Any] = share_of(self.request.cost, self._share)
        chooser = lb.AutomaticBounds(
            resolution=FINE_STEP,
            choices=self.choices,
            furthest=self._furthest,
            **own,
        )
        outside = {name: choose_noise(costs[name]) for name in self.people.measured}
        facts = {**typical.parameters, "bins": f"{self.bins:,}, between the published bounds"}

        def build(published: Mapping[str, Any]) -> Mechanism[Any]:
            return self.with_bounds(published[BOUNDS].bounds).mechanism

        later = LaterPart(typical.name, typical.cost, facts, build)
        return Parts(parts={BOUNDS: chooser, **outside, ANSWER: later})

    def _read(self) -> Reading[Mapping[str, Any]]:
        """Return the reading: the rows are kept, and cut into bins when the bounds are published."""
        from lastbit.data.duckdb.relation import ColumnSelection
        from lastbit.questions.reading import Reading

        own = self._likely.reading
        assert own is not None  # noqa: S101
        typed = tuple((name, edges) for name, edges in self.request["edges"] if name != self.column)
        rows = replace(own.rows, edges=typed or None, closed=bool(typed) and own.rows.closed)
        names = tuple(name for name in own.columns.names if name != self.column)
        return Reading(rows, ColumnSelection(names, weights=self.column), self._arrange_rows)

    def _arrange_rows(self, table: OpenTable) -> Mapping[str, Any]:
        """Return the private values of all parts, from rows with their numbers."""
        from lastbit.data.duckdb.bins import label_bins
        from lastbit.data.duckdb.relation import keep_rows
        from lastbit.questions.reading import read_numbers
        from lastbit.values.contribution_bound import ContributionBound, one_key
        from lastbit.values.edges import ClosedBins, OpenBins
        from lastbit.values.grid_steps import GridSteps

        kept, unit = keep_rows(table), self.request.rows.unit
        each_row: dict[str, Any] = {} if unit is None else {"per": "row", "most_rows": 1}
        kind, lot = ClosedBins if self.request["closed"] else OpenBins, ContributionBound.draw(1).key

        def count(bounds: Ends, rows: OpenTable) -> Any:
            reading = self.with_bounds(bounds).reading
            assert reading is not None  # noqa: S101
            bins = kind.between(self.list_edges(bounds))
            with one_key(lot):  # whose groups stay is drawn once, whatever the bounds are
                return reading.work(label_bins(rows, self.column, bins, reading.rows.bin_missing))

        # What can be refused is refused now, of no row: the rest is done when the cost is charged.
        count(LIKELY, kept.transform(lambda rows: rows.limit(0)))
        numbers = read_numbers(
            self.request.rows, self.column, None, **each_row, resolution=FINE_STEP, ranked=True, extremes=True
        ).work(kept)
        count_once = cache(lambda bounds: count(bounds, kept))
        chooser: Any = self.mechanism.parts[BOUNDS]
        steps = chooser.round_steps(numbers.furthest, numbers.resolution, numbers.floored)
        return self._arrange(
            GridSteps(steps),
            lambda published: numbers.clamp_to(published[BOUNDS].bounds).clamped_people,
            lambda published: count_once(published[BOUNDS].bounds),
        )

    def _arrange(self, steps: Any, outside: Callable[[Any], Any], answer: Callable[[Any], Any]) -> Mapping[str, Any]:
        measured = {name: LaterValues(outside) for name in self.people.measured}
        return {BOUNDS: steps, **measured, ANSWER: LaterValues(answer)}

    def ask(self) -> Question:
        """Return the question."""
        from lastbit.questions import samples

        question = self._likely

        def sample(units: int) -> Mapping[str, Any]:
            from lastbit.values.grid_steps import GridSteps

            numbers = samples.make_numbers(units, ("0", "1000"), FINE_STEP)
            spread = replace(numbers, beyond=None, extremes=(numbers.steps, numbers.steps))
            return self._arrange(
                GridSteps(numbers.steps),
                lambda published: spread.clamp_to(published[BOUNDS].bounds).clamped_people,
                lambda _: question.sample(units),
            )

        return replace(
            question,
            mechanism=self.mechanism,
            reading=self._read(),
            report=self.report,
            sample=sample,
            accuracy=self._suppose_bounds,
            notes=[
                *(note for note in question.notes if note not in self._describe_edges(LIKELY)),
                describe_choice(self._share, Fraction(FINE_STEP)),
            ],
        )

    def _suppose_bounds(self, units: int) -> Accuracy:
        """Return the accuracy, which is the same for all bounds, and how wide a bin may be, which is not."""
        width = (LIKELY[1] - LIKELY[0]) / self.bins
        expected = self._likely.accuracy(units)
        more = f"a bin is {format_value(width)} wide, and "
        return suppose(LIKELY, expected, more, f"the edges, as --edges {self.column} 0,100,200")

    def _describe_edges(self, bounds: Ends) -> list[str]:
        """Return by which rule numbers become bins, where the edges between these bounds are whole numbers."""
        return describe_whole_parts(self.column, [str(edge) for edge in self.list_edges(bounds)])

    def _describe_outside(self, published: Any, bounds: Ends) -> list[str]:
        """Return how many people have a number beyond the bounds, and where it is counted."""
        held = ("in no bin", "in no bin") if self.request["closed"] else ("in the first bin", "in the last bin")
        if not self.people.measured:
            low, high = map(format_value, bounds)
            return [f"{capitalize(self.column)} below {low} is {held[0]}, and above {high} {held[1]}."]
        reading = self.people.read(published, self.request.level)
        ends = (format_value(bounds[0]), format_value(bounds[1]))
        return reading.describe_clamping(self.column, ends, self.request.words, held=(f"is {held[0]}", f"is {held[1]}"))

    def report(self, published: Any) -> Report:
        """Describe a release: the count by bins between the published bounds, who is beyond them, and the bounds."""
        bounds: Ends = published[BOUNDS].bounds
        base = self.with_bounds(bounds).report(published[ANSWER])
        chooser: Any = self.mechanism.parts[BOUNDS]
        one_number = self.request.rows.unit is None
        notes = [*base.notes, *self._describe_edges(bounds), *self._describe_outside(published, bounds)]
        notes.append(describe_ends(chooser, bounds, self.request, one_number=one_number))
        known = self.people.read(published, self.request.level).data
        chosen = {"bounds": list(bounds), "edges": list(self.list_edges(bounds))}
        data = {**join_data(published, base), **known, **chosen}
        return replace(base, title=published.title, notes=notes, data=data)
