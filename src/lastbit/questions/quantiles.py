"""Questions about ranks of one number of each unit: `quantile` and `median`, of all units or of each group."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from lastbit.errors import ParameterError
from lastbit.questions.item_options import ItemOptions
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.reading_notes import describe_most, describe_numbers
from lastbit.questions.sums import canonicalize_rule, choose_rule
from lastbit.values.adjacency import Adjacency

if TYPE_CHECKING:
    from lastbit.questions.report import Report
    from lastbit.questions.request import Request


@dataclass(frozen=True, eq=False)
class _RankedNumbers:
    """The numbers of a table in steps of the mechanism's grid: private, and never shown."""

    steps: Any
    adjacency: Adjacency = "add-remove"


def quantile(request: Request) -> Question:
    """Find quantiles of a number over all units that have it: the median, quartiles, the 95th percentile.

    A unit with several rows has one number: the mean of its rows, unless --per says otherwise. With --by each group
    has its own quantiles.
    """
    return _ask_quantiles(request, request["at"])


def median(request: Request) -> Question:
    """Find the median of a number over all units that have it, or over the units of each group.

    A unit with several rows has one number: the mean of its rows, unless --per says otherwise.
    """
    return _ask_quantiles(request, ("1/2",))


def canonicalize_median(facts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the one name of a median: it is the quantile at one half."""
    return "quantile", {**canonicalize_rule(facts), "at": ["1/2"]}


def canonicalize_quantile(facts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the facts of quantiles in their order, in which they are released.

    >>> canonicalize_quantile({"at": ["3/4", "1/2"]})
    ('quantile', {'per': 'mean', 'at': ['1/2', '3/4']})
    """
    return "quantile", {**canonicalize_rule(facts), "at": sorted(facts["at"], key=Fraction)}


def _ask_quantiles(request: Request, at: tuple[str, ...]) -> Question:
    """Return the question for these quantiles, of all units or of each group."""
    import lastbit as lb
    from lastbit.exact.numbers import number
    from lastbit.questions import samples
    from lastbit.questions.reading import read_numbers
    from lastbit.questions.report import Report
    from lastbit.values.bounds import default_step

    rows, of, bounds, missing = request.rows, request["of"], request["bounds"], request["missing"]
    rule = choose_rule(request, "mean")
    qs = sorted(at, key=lambda text: number(text, "--at"))
    groups = _parse_groups(request, rule)
    most: int | None = 1
    if rows.unit is not None and rule == "row":
        most = request["most_rows"]
    elif rows.unit is not None and groups is not None:
        most = min(groups.most_items or groups.size, groups.size)
    if most is None:
        raise ParameterError("--per row needs --most-rows, the number of rows of one unit that count: --most-rows 10.")
    step = default_step(bounds) if request["resolution"] is None else request["resolution"]
    parameters = {**request.cost, "bounds": bounds, "resolution": step, "missing": missing, "most_values": most}
    mechanism: Any
    if groups is not None:
        mechanism = lb.GroupQuantiles(groups=tuple(groups.names), qs=qs, **parameters)
    else:
        mechanism = lb.Quantile(q=qs[0], **parameters) if len(qs) == 1 else lb.Quantiles(qs=qs, **parameters)
    sentence, ranks = _describe_accuracy(mechanism, request.level)
    within = max(ranks) if isinstance(ranks, list) else ranks

    def floor_steps(numbers: Any) -> _RankedNumbers:
        steps = mechanism.floor_steps(numbers.steps, numbers.resolution, numbers.floored)
        if groups is None:
            return _RankedNumbers(steps)
        return _RankedNumbers([steps[numbers.places == group] for group in range(len(mechanism.groups))])

    def report(release: Any) -> Report:
        if isinstance(release, lb.GroupQuantileValues):
            # A group is a row, and a quantile a column.
            columns: dict[str, Any] = {"group": release.items}
            for index, q in enumerate(release.qs):
                columns[f"{of} at {_format_quantile(q)}"] = [row[index] for row in release.values]
        else:
            published = release.columns()
            columns = {"quantile": [_format_quantile(q) for q in published["quantile"]], of: published["value"]}
        more = {"of": of, "per": rule, "missing": missing, "within_ranks": ranks, "level": request.level}
        return Report(release.title, columns, [sentence], release.to_dict() | more)

    grouping: dict[str, Any] = {}
    if groups is not None:
        limit = groups.most_items if rule != "row" and rows.unit is not None else None
        grouping = {"by": groups.by, "domains": groups.domains, "most_items": limit}
    names = ("latest_by", "most_rows", "missing")
    reading = read_numbers(rows, of, bounds, per=rule, **{name: request[name] for name in names}, **grouping)
    size = 1 if groups is None else len(mechanism.groups)
    return Question(
        mechanism,
        reading=reading.then(floor_steps),
        report=report,
        sample=lambda units: floor_steps(samples.make_numbers(units, bounds, step, most, size)),
        accuracy=lambda units: Accuracy(
            within, "ranks", sentence, "How many ranks a value may be off", total=Fraction(units)
        ),
        notes=[*describe_numbers(request, rule), *_describe_groups(request, groups, rule)],
        prepare_values=lambda values: mechanism.ready_steps(values.steps),
    )


def _format_quantile(q: Fraction) -> str:
    """Return a quantile as a short decimal, or as the fraction that it is.

    >>> _format_quantile(Fraction(1, 4)), _format_quantile(Fraction(1, 3))
    ('0.25', '1/3')
    """
    short = f"{float(q):g}"
    return short if Fraction(short) == q else str(q)


def _parse_groups(request: Request, rule: str) -> ItemOptions | None:
    """Return the public groups; None where all units are one group."""
    by, domain, one_each, most_items = (request[name] for name in ("by", "domain", "one_each", "most_items"))
    if not by:
        if domain or one_each or most_items is not None:
            raise ParameterError("groups need a column: name it with --by COLUMN. Nothing was read.")
        return None
    if one_each and most_items is not None:
        raise ParameterError("--one-each is --most-items 1: got both. Leave one of them out.")
    most = 1 if one_each else most_items
    if most is not None and rule == "row":
        raise ParameterError(
            "--one-each and --most-items are for units with one number in each group. With --per row, --most-rows says "
            "how many numbers a unit has in all groups together. Leave the others out."
        )
    return ItemOptions(by=by, domain=domain, most_items=most)


def _describe_groups(request: Request, groups: ItemOptions | None, rule: str) -> list[str]:
    """Return in how many groups one unit counts."""
    if groups is None or request.rows.unit is None or rule == "row":
        return []
    if groups.most_items is None:
        return describe_most(request.rows.unit, None, groups.size, "group")
    where = "one group" if groups.most_items == 1 else f"{groups.most_items:,} groups at most"
    return [
        f"A unit counts in {where}, drawn by lot where it has more: the quantiles are of units counted this way. "
        "--most-items all leaves nobody out."
    ]


def _describe_accuracy(mechanism: Any, level: str) -> tuple[str, Any]:
    """Return how near the answers are, in a sentence and in ranks."""
    from lastbit.questions.report import format_bound, format_percent, format_value

    accuracy = mechanism.accuracy(level)
    ranks = max(accuracy) if isinstance(accuracy, tuple) else accuracy
    plural = isinstance(accuracy, tuple) and len(accuracy) > 1
    who = "In each group, with" if hasattr(mechanism, "groups") else "With"
    what = "all values are within" if plural else "the value is within"
    reach = format_bound(ranks, whole=False)
    sentence = f"{who} probability {format_percent(level)} {what} {reach} ranks of the quantile{'s' if plural else ''}"
    if plural:
        sentence += ", if no two numbers fall on the same step"
    sentence += (
        f". If all numbers stood in order, a value would stand at most {reach} places from the place that was asked "
        f"for. This is for numbers clamped to the bounds and floored to steps of {format_value(mechanism.resolution)}."
    )
    return sentence, list(accuracy) if isinstance(accuracy, tuple) else accuracy
