"""The question `share`: of the people of a group, those with at least one row for which a condition is true."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.questions.group_numbers import GroupNumbers
from lastbit.questions.group_types import NamedExpression
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.report import format_bound, format_percent

if TYPE_CHECKING:
    from lastbit.data.numbers import Numbers
    from lastbit.questions.published_groups import PublishedGroups
    from lastbit.questions.reading import Reading
    from lastbit.questions.request import Request

_FLAG: Final = "lastbit_share"
"""The column that is 1 where the condition is true, and 0 elsewhere."""


def share(request: Request) -> Question:
    """Estimate the share of people with at least one row for which a condition is true, in percent.

    Beside the share come both of its numbers: the people of whom it is true, and all people of the group. With --rows
    it is the share of rows, of which at most --most-rows of a person count.
    """
    from lastbit.data.query.parsing import parse_condition

    rows, most_rows = request["rows"], request["most_rows"]
    if request.rows.unit is not None and bool(rows) != (most_rows is not None):
        raise ParameterError(
            "--rows and --most-rows go together: how many rows of one person count says how far one person moves the "
            "share. Write --rows --most-rows 10."
        )
    if request.rows.unit is None and most_rows is not None:
        raise ParameterError("--most-rows needs --unit, the column that says whom a row belongs to.")
    parse_condition(request["of"], "--of")  # alone, so that it can close no bracket of the expression below
    return GroupShares(request, "row" if rows else "any", "share").ask()


@dataclass(frozen=True)
class GroupShares(GroupNumbers):
    """A share is the mean of a number that is 1 or 0: the two sums of a group count who has it, and who has not."""

    @property
    def bounds(self) -> tuple[str, str]:
        """From not true to true."""
        return "0", "1"

    @property
    def clamps(self) -> bool:
        """A condition is true or not: nothing lies beyond."""
        return False

    @property
    def _step(self) -> Any:
        return 1

    def read(self, **options: Any) -> Reading[Numbers]:
        """Return the reading of whether the condition is true."""
        from lastbit.questions.reading import read_numbers

        # On lines of its own, so that a comment at its end ends there.
        flag = NamedExpression(_FLAG, f"case when (\n{self.request['of']}\n) then 1 else 0 end")
        rows = replace(self.request.rows, by=(*self.request.rows.by, flag))
        most_rows = self.request["most_rows"]
        return read_numbers(rows, _FLAG, self.bounds, per=self.rule, most_rows=most_rows, resolution="1", **options)

    @property
    def _facts(self) -> dict[str, Any]:
        return {"of": self.request["of"], "per": self.rule, "level": self.request.level}

    @property
    def _matching(self) -> str:
        return f"{self.noun} for {'which' if self.noun == self._words.rows else 'whom'} it is true"

    @property
    def _whole_columns(self) -> tuple[str, ...]:
        return self._matching, "interval of these"

    def _columns(self, numbers: PublishedGroups, people: Mapping[str, Any]) -> dict[str, Any]:
        shares, ends = numbers.shares
        both = {self._matching: numbers.totals, "interval of these": numbers.total_ends}
        return {"percent": shares, "interval": ends, **both, **people}

    @property
    def _who_counts(self) -> str:
        return "is in the group" if self.items.by else "is counted"

    @property
    def _interval_of(self) -> str:
        return "of the share and of both of its numbers"

    def _describe_number(self) -> list[str]:
        words, of = self._words, self.request["of"]
        if self.noun == words.rows:
            return [f"Each {words.row} is one, and it is true of a {words.row} where {of}."]
        where = " in the group" if self.items.by else ""
        return [f"It is true of {words.a_person} with at least one {words.row}{where} where {of}."]

    def accuracy(self, units: int) -> Accuracy:
        """Return how far the share of a group of usual size is off at most."""
        main = self.build(self.people.highest, self.people.main_cost(self.request.cost))
        guess = max(1, units // len(self.names))
        who = self._words.count_rows(guess) if self._of_rows else self._words.count(guess)
        group = f"a group of {who}" if self.items.by else who
        off = 100 * main.accuracy(self.request.level, guess)
        sentence = (
            f"With probability {format_percent(self.request.level)} the share of {group} is off by at most "
            f"{format_bound(off, whole=False)} percentage points."
            if off < 100
            else f"Nothing is known about the share of {group}. Ask with more of them, or with a larger --epsilon."
        )
        return Accuracy(off, "percentage points", self._narrow_sentence(sentence), total=Fraction(100))
