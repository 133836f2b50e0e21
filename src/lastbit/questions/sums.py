"""Questions about one number of each person: `mean` and `sum`. Both publish people, mean and total together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lastbit.errors import ParameterError
from lastbit.questions.group_numbers import GroupNumbers
from lastbit.questions.list_types import AUTO
from lastbit.questions.question import Question

if TYPE_CHECKING:
    from lastbit.questions.request import Request


def choose_rule(request: Request, usual: str) -> str:
    """Return the rule that makes one number of the rows of a person: as it is said, or as the other options say."""
    most_rows = request["most_rows"]
    if request["rows"] and request["per"] not in (None, "row"):
        raise ParameterError(f"--rows is --per row: got --per {request['per']} too. Leave one of them out.")
    said = {"latest": request["latest_by"], "first": request["first_by"], "row": request["rows"] or most_rows}
    rule: str = request["per"] or next((name for name, value in said.items() if value), usual)
    for name in ("latest", "first"):
        if (rule == name) != (said[name] is not None):
            raise ParameterError(f"--per {name} and --{name}-by go together. Write --per {name} --{name}-by date.")
    if most_rows is not None and rule != "row":
        raise ParameterError("--most-rows goes with --per row: otherwise each person has one number anyway.")
    return rule


def canonicalize_rule(facts: dict[str, Any], usual: str = "mean") -> dict[str, Any]:
    """Return the facts with the rule that `choose_rule` takes, whether it was said or follows from the others.

    >>> canonicalize_rule({"latest_by": "date"}), canonicalize_rule({"per": "mean"}) == canonicalize_rule({})
    ({'per': 'latest', 'latest_by': 'date'}, True)
    """
    named = {"latest_by": "latest", "first_by": "first", "rows": "row", "most_rows": "row"}
    implied = next((rule for name, rule in named.items() if name in facts), usual)
    return {"per": implied, **{name: value for name, value in facts.items() if name != "rows"}}


def canonicalize_sum(facts: dict[str, Any], usual: str = "total") -> tuple[str, dict[str, Any]]:
    """Return the one name of a sum or a mean: both publish the same, and the rule for a person's rows tells them apart.

    >>> canonicalize_sum({}), canonicalize_sum({"per": "mean"}), canonicalize_sum({"per": "total"}, "mean")
    (('sum', {'per': 'total'}), ('mean', {'per': 'mean'}), ('sum', {'per': 'total'}))
    """
    rule = canonicalize_rule(facts, usual)
    return "sum" if rule["per"] == "total" else "mean", rule


def mean(request: Request) -> Question:
    """Estimate the mean of a number over all people who have it, how many people these are, and their total.

    A person with several rows has one number: the mean of their rows, unless --per says otherwise. With --by each group
    has its own mean, total and number of people, and a person has a number in each of their groups.
    """
    return _ask(request, choose_rule(request, "mean"), "mean")


def sum_(request: Request) -> Question:
    """Estimate the sum of a number over all people, how many people have the number, and their mean.

    A person with several rows has one number: the total of their rows, unless --per says otherwise. With --by each
    group has its own sum, mean and number of people, and a person has a number in each of their groups.
    """
    return _ask(request, choose_rule(request, "total"), "sum")


def _ask(request: Request, rule: str, leads: str) -> Question:
    """Return the question whose answer has people, mean and total, and begins with the one that was asked for."""
    most_rows: int | None = request["most_rows"]
    if request.rows.unit is None and most_rows is not None:
        raise ParameterError("--most-rows needs --unit, the column that says whom a row belongs to.")
    if rule == "row" and request.rows.unit is not None and most_rows is None:
        raise ParameterError(
            "--per row needs --most-rows, the number of rows of one person that count: otherwise nobody knows how far "
            "one person moves the result. Write --most-rows 10, or --per mean."
        )
    if request.asks_several:
        from lastbit.questions.several_numbers import SeveralNumbers

        return SeveralNumbers(request, lambda part: _ask_one(part, rule, leads)).ask()
    return _ask_one(request, rule, leads)


def _ask_one(request: Request, rule: str, leads: str) -> Question:
    """Return the question about one column of numbers."""
    if request["bounds"] == AUTO:
        from lastbit.questions.automatic_bounds import AutomaticNumbers

        return AutomaticNumbers(request, rule, leads).ask()
    return GroupNumbers(request, rule, leads).ask()
