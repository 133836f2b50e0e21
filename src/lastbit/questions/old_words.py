"""Old words in the words of the grammar: a histogram is a count by bins, by periods or by items; measure is a top.

Two spellings of one question become one request, so that the ledger knows the question in both.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lastbit.errors import ParameterError
from lastbit.questions.domain import Domain
from lastbit.questions.edge_types import write_automatic
from lastbit.questions.group_types import PERIODS, add_columns, group_names
from lastbit.questions.list_types import AUTO

if TYPE_CHECKING:
    from lastbit.questions.request import Request


def respell_histogram(request: Request) -> Request:
    """Return a histogram as the count that it is.

    >>> from lastbit.questions.kinds import KINDS
    >>> ages = {"source": "v.csv", "of": "age", "bounds": [0, 90], "bins": 3, "unit": "who", "epsilon": 1}
    >>> KINDS["histogram"].parse(ages).canonical.command
    'lastbit count v.csv --unit who --by age --edges age 0,30,60 --epsilon 1'
    >>> KINDS["histogram"].parse({**ages, "bounds": "auto"}).canonical.command
    'lastbit count v.csv --unit who --by age --edges age auto:3 --epsilon 1'
    >>> months = {"source": "v.csv", "month": "day", "bounds": ["2024-01", "2024-12"], "unit": "who", "epsilon": 1}
    >>> KINDS["histogram"].parse(months).canonical.command
    'lastbit count v.csv --unit who --month day --by day --domain 2024-01..2024-12 --epsilon 1'
    """
    from lastbit.questions.kinds import KINDS

    values = dict(request.values)
    of, every, bins = (values.pop(name) for name in ("of", "every", "bins"))
    edges = dict(values["edges"] or ())
    unnamed = edges.pop("", None)
    dates = {period: values[period] for period in PERIODS if values[period] is not None}
    if values["missing"] == "bin":
        values["missing"] = "show"
    if values["bounds"] == AUTO and bins is None:
        raise ParameterError(
            "--bounds auto needs a number of bins here: write --of cost --bins 10 --bounds auto. Sums of groups are "
            "lastbit sum --of COLUMN --by COLUMN --bounds auto."
        )
    if of is None and (bins is not None or unnamed is not None or every is not None):
        raise ParameterError("bins need a column of numbers or dates: name it with --of COLUMN.")
    if of is not None and of not in dates.values():
        if every is not None:
            dates[every] = values[every] = of
        if bins is not None or unnamed is not None:
            edges[of] = _list_edges(values, bins, unnamed, dates)
        elif every is None and values["by"]:
            values["weights"] = choose_weights(of, values["weights"])
        elif every is None:
            raise ParameterError(
                "bins need bounds and their number, or edges, or a period. Write --bounds 0 100 --bins 10, or --edges "
                "0,18,65, or --every month."
            )
    elif every is not None or len(dates) > 1:
        raise ParameterError("a histogram is by one of days, weeks, months and years. Leave the others out.")
    if dates and values["weights"] is None:
        values |= _list_periods(values, dates)
    values["edges"] = tuple(edges.items()) or None
    values = add_columns({**values, "rows": False, "most_rows": None, "different": None})
    if not values["by"]:
        raise ParameterError("histogram needs --by COLUMN for items, or --of COLUMN for bins of numbers or dates.")
    return type(request)(KINDS["count"], values, request.face)


def respell_measure(request: Request) -> Request:
    """Return the same request as `top` with numbers.

    >>> from lastbit.questions.kinds import KINDS
    >>> asked = {"source": "v.csv", "by": "item", "domain": "a,b", "k": 1, "weights": "cost", "bounds": [0, 9]}
    >>> KINDS["measure"].parse({**asked, "epsilon": 1}).canonical.command
    'lastbit top v.csv --by item --domain a,b --of cost --bounds 0 9 --epsilon 1 -k 1 --numbers'
    """
    from lastbit.questions.kinds import KINDS

    values = {
        **request.values, "numbers": True, "discover": None, "delta": None, "in_each": None, "one_each": False,
    }  # fmt: skip
    return type(request)(KINDS["top"], values, request.face)


def respell_top(request: Request) -> Request:
    """Return a list of found items with their numbers as the count that it is the head of; any other list as it is."""
    from lastbit.questions.kinds import KINDS

    if not request["numbers"] or request["in_each"] is not None or not request.items.unlisted_columns:
        return request
    defaults = {option.name: option.default for option in KINDS["count"].options}
    values = {**defaults, **request.values, "weights": request["of"]}
    return type(request)(KINDS["count"], values, request.face)


def choose_weights(of: str | None, weights: str | None) -> str | None:
    """Return the column that is added up, by its word or by the old one."""
    if of is not None and weights not in (None, of):
        raise ParameterError(f"--weights is an old word for --of: got {weights!r} and {of!r}. Leave --weights out.")
    return weights if of is None else of


def choose_limit(limit: int, k: int) -> int:
    """Return after how many items a search stops, by its word or as -k."""
    if limit not in (1, k):
        raise ParameterError(f"-k is another spelling of --limit: got {k} and {limit}. Leave one of them out.")
    return k


def _list_edges(
    values: dict[str, Any], bins: int | None, unnamed: tuple[str, ...] | None, dates: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the edges of bins, and take the bounds that say them. Without open ends the last edge is one too."""
    from lastbit.values.bins import Bins

    if values["weights"] is not None or dates:
        raise ParameterError("bins of numbers count people: leave --weights, and days, weeks, months and years out.")
    bounds, values["bounds"] = values["bounds"], None
    if bounds == AUTO and bins is not None and unnamed is None:
        return (write_automatic(bins),)
    made = Bins.of(bounds=bounds, bins=bins, edges=unnamed)
    if unnamed is not None:
        return unnamed
    return tuple(map(str, made.edges if values["closed"] else made.edges[:-1]))


def _list_periods(values: Mapping[str, Any], dates: Mapping[str, str]) -> dict[str, Any]:
    """Return the domain that the bounds of dates say, in place of the bounds."""
    from lastbit.data.duckdb.bins import Periods

    ((period, column),) = dates.items()
    typed = values["domain"] or ()
    if values["bounds"] is None:
        if typed or values["delta"] is not None or len(group_names(values["by"])) > 1:
            return {}
        raise ParameterError(
            "bins of dates need --bounds with the first and the last day, and neither --bins nor --edges. Write "
            "--month date --bounds 2026-01 2026-12."
        )
    labels = Periods.of(period, values["bounds"]).labels
    return {"bounds": None, "domain": (*typed, Domain(labels, f"{labels[0]}..{labels[-1]}", column))}
