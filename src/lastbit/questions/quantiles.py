"""Questions about ranks of one number of each person: `quantile` and `median`, of all people or of each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.output.words import capitalize
from lastbit.questions.group_sizes import GroupQuantileTable, GroupSizes
from lastbit.questions.item_options import ItemOptions, parse_bound
from lastbit.questions.people import PeopleParts, PeopleReading, parse_share
from lastbit.questions.published_groups import TOO_FEW
from lastbit.questions.question import Accuracy, Question
from lastbit.questions.reading_notes import count_rows_of, describe_all, describe_groups, describe_numbers
from lastbit.questions.report import format_bound, format_percent
from lastbit.questions.sums import canonicalize_rule, choose_rule
from lastbit.questions.titles import head_groups

if TYPE_CHECKING:
    from lastbit.questions.report import Report
    from lastbit.questions.request import Request


_LIKELY: Final = 10**5
"""So many steps from zero: how near a quantile on a log scale comes is said for such numbers too."""


def quantile(request: Request) -> Question:
    """Find quantiles of a number over all people who have it: the median, quartiles, the 95th percentile.

    A person with several rows has one number: the mean of their rows, unless --per says otherwise. With --by each group
    has its own quantiles.
    """
    return _ask_quantiles(request, request["at"])


def median(request: Request) -> Question:
    """Find the median of a number over all people who have it, or over the people of each group.

    A person with several rows has one number: the mean of their rows, unless --per says otherwise.
    """
    return _ask_quantiles(request, ("1/2",))


def canonicalize_median(facts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the one name of a median: it is the quantile at one half."""
    return "quantile", {**canonicalize_rule(_canonicalize_scale(facts)), "at": ["1/2"]}


def canonicalize_quantile(facts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the facts of quantiles in their order, in which they are released.

    >>> canonicalize_quantile({"at": ["3/4", "1/2"]})
    ('quantile', {'per': 'mean', 'at': ['1/2', '3/4']})
    """
    return "quantile", {**canonicalize_rule(_canonicalize_scale(facts)), "at": sorted(facts["at"], key=Fraction)}


def _canonicalize_scale(facts: dict[str, Any]) -> dict[str, Any]:
    """Return the facts without a scale that follows from whether there are bounds.

    >>> _canonicalize_scale({"scale": "log"}), _canonicalize_scale({"scale": "log", "bounds": ["0", "9"]})
    ({}, {'scale': 'log', 'bounds': ['0', '9']})
    """
    usual = "linear" if "bounds" in facts else "log"
    return {name: value for name, value in facts.items() if (name, value) != ("scale", usual)}


def _ask_quantiles(request: Request, at: tuple[str, ...]) -> Question:
    """Return the question for these quantiles, of all people or of each group."""
    import lastbit as lb
    from lastbit.exact.numbers import number
    from lastbit.questions import samples
    from lastbit.questions.reading import NUMBER_OPTIONS, read_numbers
    from lastbit.questions.report import Report
    from lastbit.values.bounds import default_step
    from lastbit.values.grid_steps import GridSteps

    rows, of, bounds, missing = request.rows, request["of"], request["bounds"], request["missing"]
    missing = "leave-out" if missing == "show" else missing  # of groups
    rule = choose_rule(request, "mean")
    qs = sorted(at, key=lambda text: number(text, "--at"))
    groups = _parse_groups(request, rule)
    most: int | None = 1
    if rows.unit is not None and rule == "row":
        most = request["most_rows"]
    elif rows.unit is not None and groups is not None:
        most = min(groups.item_limit or groups.highest or groups.size, groups.size)
    if most is None:
        raise ParameterError(
            "--per row needs --most-rows, the number of rows of one person that count: --most-rows 10."
        )
    step: Any = request["resolution"]
    if step is None:
        # Without bounds, the type of the column must say that its numbers are whole: the reading refuses others.
        step = 1 if bounds is None else default_step(bounds)
    chosen = ItemOptions() if groups is None else groups
    clamped = bounds is not None
    if rows.unit is not None and rule == "row":
        people = PeopleParts(most, None, parse_share(request["people_share"]), clamped=clamped)
    else:
        size = 1 if groups is None or rows.unit is None else groups.size
        people = PeopleParts.of(chosen, size, request["people_share"], clamped=clamped)

    def build_quantiles(reached: int, cost: Mapping[str, Any]) -> Any:
        parameters = {"bounds": bounds, "resolution": step, "missing": missing, "most_values": reached, **cost}
        parameters["scale"] = request["scale"]
        if groups is not None:
            return lb.GroupQuantiles(groups=tuple(groups.names), qs=qs, **parameters)
        return lb.Quantile(q=qs[0], **parameters) if len(qs) == 1 else lb.Quantiles(qs=qs, **parameters)

    of_rows = rows.unit is not None and rule == "row"
    sizes = None if groups is None else GroupSizes(tuple(groups.names), of_rows)

    def build(reached: int, cost: Mapping[str, Any]) -> Any:
        return build_quantiles(reached, cost) if sizes is None else sizes.mechanism(reached, cost, build_quantiles)

    def accuracy_at(reached: int, level: Any) -> Any:
        cost = people.main_cost(request.cost)
        return build_quantiles(reached, cost if sizes is None else sizes.main_cost(cost)).accuracy(level)

    own_cost = people.main_cost(request.cost)
    main = build_quantiles(most, own_cost if sizes is None else sizes.main_cost(own_cost))
    sentence, ranks = _describe_accuracy(main, request.level, bounds)
    if people.is_bounded:
        sentence = f"Of what is counted: {sentence[0].lower()}{sentence[1:]}"
    within = max(ranks) if isinstance(ranks, list) else ranks

    def floor_steps(numbers: Any) -> Any:
        steps = main.floor_steps(numbers.steps, numbers.resolution, numbers.floored)
        if sizes is None:
            return GridSteps(steps)
        return sizes.values(numbers, GridSteps([steps[numbers.places == group] for group in range(len(main.groups))]))

    def arrange(numbers: Any) -> Any:
        if not people.measured:
            return floor_steps(numbers if numbers.ranks is None else numbers.keep_first(1))  # a sample has ranks
        return people.values(numbers, lambda reached: floor_steps(numbers.keep_first(reached)))

    def report(published: Any) -> Report:
        reading = people.read(published, request.level)
        release = reading.main
        more = {"of": of, "per": rule, "missing": missing, "within_ranks": ranks, "level": request.level}
        notes = [sentence, *_describe_cut(request, accuracy_at, reading, qs)]
        notes += reading.describe_clamping(of, bounds, request.words)
        data = published.to_dict() | more | reading.data
        if sizes is None or groups is None:
            frame = release.columns()
            columns = {"quantile": [_format_quantile(q) for q in frame["quantile"]], of: frame["value"]}
            return Report(published.title, columns, notes, data, frame=frame)
        seen = accuracy_at(reading.most if people.auto else most, request.level)
        table = GroupQuantileTable(release.values, release.qs, seen, sizes.fewest(reading), sizes.columns(reading))
        labels, noun = groups.columns(release.items), request.words.rows if of_rows else request.words.people
        ends = f"interval of {noun}"
        counted = " counted" if people.is_bounded and (of_rows or not reading.knows_cut) else ""
        own = {f"{noun}{counted}": table.sizes["people"], ends: sizes.ends(reading)}
        for q, values in zip(release.qs, table.by_quantile, strict=True):
            own[f"{of} at {_format_quantile(q)}"] = values
        columns = {**head_groups(request, labels, own), **own}
        notes.insert(1, f"The interval of {noun} of each group holds with probability {format_percent(request.level)}.")
        if any(table.why):
            columns["why"] = table.why
            notes.append(
                f"{capitalize(TOO_FEW)}: perhaps nobody is in the group, or no more than the ranks that a value may be "
                "off."
            )
        data |= {**table.sizes, "groups": labels, **{name: table.frame(labels)[name] for name in ("shown", "why")}}
        return Report(published.title, columns, notes, data, (f"{noun}{counted}", ends), frame=table.frame(labels))

    grouping: dict[str, Any] = {}
    if groups is not None:
        limit = groups.item_limit if rule != "row" and rows.unit is not None else None
        grouping = {"by": groups.by, "domains": groups.domains, "most_items": limit}
    if bounds is None:
        grouping["resolution"] = request["resolution"]
    options = {name: request[name] for name in NUMBER_OPTIONS}
    reading = read_numbers(rows, of, bounds, per=rule, **options, **grouping, ranked=bool(people.measured))
    likely = bounds or ("0", str(_LIKELY * number(step, "--resolution")))
    return Question(
        people.mechanism(request.cost, build),
        reading=reading.then(arrange),
        report=report,
        sample=lambda units: arrange(
            samples.make_numbers(units, likely, step, most, 1 if groups is None else groups.size, apart=not of_rows)
        ),
        accuracy=lambda units: Accuracy(
            within, "ranks", sentence, "How many ranks a value may be off", total=Fraction(units)
        ),
        notes=[*describe_groups(request), *describe_numbers(request, rule), *_describe_groups(request, groups, rule)],
    )


def _ranks_of_all(accuracy_at: Any, reading: PeopleReading, qs: Sequence[str]) -> list[Fraction]:
    """Return how many ranks each value is off at most among all people of a group."""
    pairs = zip(map(Fraction, qs), accuracy_at(reading.most, reading.counted_level), strict=True)
    return [ranks + max(q, 1 - q) * reading.bounds.cut for q, ranks in pairs]


def _describe_cut(request: Request, accuracy_at: Any, reading: PeopleReading, qs: Sequence[str]) -> list[str]:
    """Return how many people a bound leaves out of a group, and how near the values are for all people."""
    if not reading.knows_cut:
        return []
    words, level = request.words, format_percent(request.level)
    who = f"{words.count_within(*reading.cut, level)} more"
    if request["most_rows"] is not None:
        rows = count_rows_of(words, request["most_rows"])
        return [f"At most {rows}, picked at random: {who}. The values are of the {words.rows} counted."]
    everybody = format_bound(max(_ranks_of_all(accuracy_at, reading, qs)), whole=False)
    where = "one group" if reading.most == 1 else f"{reading.most:,} groups at most"
    return [
        f"{words.one} counts in {where}, picked at random: {who}. Among all {words.people} of a group, with those whom "
        f"the bound leaves out, with probability {level} the values are within {everybody} ranks."
    ]


def _format_quantile(q: Fraction) -> str:
    """Return a quantile as a short decimal, or as the fraction that it is.

    >>> _format_quantile(Fraction(1, 4)), _format_quantile(Fraction(1, 3))
    ('0.25', '1/3')
    """
    short = f"{float(q):g}"
    return short if Fraction(short) == q else str(q)


def _parse_groups(request: Request, rule: str) -> ItemOptions | None:
    """Return the public groups; None where all people are one group."""
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
            "--one-each and --most-items are for people with one number in each group. With --per row, --most-rows "
            "says how many numbers a person has in all groups together. Leave the others out."
        )
    items = request.items
    return ItemOptions(
        by=items.by,
        domain=domain,
        implied=items.implied,
        others=items.others,
        columns_known=items.columns_known,
        missing=items.missing,
        columns_of_person=items.columns_of_person,
        **parse_bound(None if items.each_in_one else most),
    )


def _describe_groups(request: Request, groups: ItemOptions | None, rule: str) -> list[str]:
    """Return in how many groups one person counts."""
    if groups is None or request.rows.unit is None or rule == "row":
        return []
    if groups.most_items is None and not groups.auto:
        return describe_all(groups, groups.size, "group", request.words)
    return [f"Where the bound leaves {request.words.people} out, --most-items all does not."]


def _describe_accuracy(mechanism: Any, level: str, bounds: tuple[str, str] | None) -> tuple[str, Any]:
    """Return how near the answers are, in a sentence and in ranks."""
    from lastbit.data.number_grid import reach_below_step
    from lastbit.questions.report import format_value

    accuracy = mechanism.accuracy(level)
    ranks = max(accuracy) if isinstance(accuracy, tuple) else accuracy
    joint = isinstance(accuracy, tuple) and len(accuracy) > 1
    who = "In each group, with" if hasattr(mechanism, "groups") else "With"
    what = "all values are within" if joint else "the value is within"
    reach = format_bound(ranks, whole=False)
    sentence = f"{who} probability {format_percent(level)} {what} {reach} ranks of the quantile{'s' if joint else ''}"
    if joint:
        sentence += ", if no two numbers fall on the same step"
    step = Fraction(mechanism.resolution)
    hair = format_bound(reach_below_step(bounds, step if bounds is None else None), whole=False)
    sentence += (
        f". If all numbers stood in order, a value would stand at most {reach} places from the place that was asked "
        f"for. This is for numbers {'' if bounds is None else 'clamped to the bounds and '}floored to steps of "
        f"{format_value(step)}, where a number less than {hair} below a step may count as that step."
    )
    if mechanism.scale == "log":
        near = mechanism.accuracy(level, magnitude=_LIKELY * step)
        size, less = format_value(_LIKELY * step), max(near) if isinstance(near, tuple) else near
        which = "if all numbers are" if isinstance(accuracy, tuple) else "if the quantile is"
        sentence += f" It is at most {format_bound(less, whole=False)} places {which} from -{size} to {size}."
    return sentence, list(accuracy) if isinstance(accuracy, tuple) else accuracy
