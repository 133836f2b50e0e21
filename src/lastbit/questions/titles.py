"""The title of an answer: what was asked, of whom, and by what, in the words of the question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from lastbit.output.words import capitalize, pluralize, reads_as_noun
from lastbit.questions.group_types import group_names

if TYPE_CHECKING:
    from lastbit.questions.request import Request


def title_of(request: Request, published: Any = None) -> str:
    """Return the title of the answer to a request: its own, or one that is made of the question.

    >>> from lastbit.questions.kinds import KINDS
    >>> options = {"source": "v.csv", "unit": "patient", "noun": "patient,patients", "row_noun": "visit,visits"}
    >>> title_of(KINDS["count"].parse({**options, "by": ["region", "sex"], "where": "kind = 'emergency'"}))
    "Patients by region and sex, with at least one visit where kind = 'emergency'"
    >>> title_of(KINDS["mean"].parse({**options, "of": "cost", "bounds": [0, 9], "per": "total"}))
    'Mean total cost per patient'
    >>> title_of(KINDS["top"].parse({**options, "by": "diagnosis", "k": 3}))
    'The 3 most common diagnoses of patients'
    >>> title_of(KINDS["top"].parse({**options, "by": "diagnosis", "k": 5, "in_each": "department"}))
    'The 5 most common diagnoses of patients, in each department'
    """
    if "source" not in request.values:
        return "The numbers of a stream above a threshold"
    own: str | None = request.values.get("title")
    if own is not None:
        return own
    subject = f"{capitalize(_subject(request))}{_measure(request)}"
    by = "" if request.kind.name in _SELECTIONS else _by(request)
    within = request.values.get("in_each")
    by += "" if within is None else f", in each {_rename(request, [within], request.rows.periods)[0]}"
    return f"{subject}{by}{_where(request)}{_each_in_one(request)}{_of_some(request)}{_fewer(request, published)}"


def _of_some(request: Request) -> str:
    """Return that not all combinations of a person are read, where that is so."""
    most = request.values.get("most_units")
    return "" if most is None else f", of each {request.rows.unit_names[0]} at most {most:,}"


def _fewer(request: Request, published: Any) -> str:
    """Return how many items were found, where that is fewer than were asked for."""
    k = request.values.get("k")
    items = getattr(getattr(published, "main", published), "items", None)
    if k is None or items is None or len(items) >= k or request.kind.name == "describe":
        return ""
    return f": {len(items):,} of the {k:,} asked for"


_SELECTIONS = ("top", "choose", "measure", "above")


def _subject(request: Request) -> str:
    """Return what is measured, without the groups."""
    name, words = request.kind.name, request.words
    get = request.values.get
    if name == "describe":
        return "about the table"
    if name in _SELECTIONS:
        return _selection(request)
    if get("of") is not None and name not in ("histogram", "count", "tables"):
        return _number(request)
    column = get("weights") or (get("of") if name == "count" else None)
    if column:
        return f"sum of {_call(request, column)} of {words.people}"
    if get("different") is not None:
        return f"{name_different(request)[1]} of {words.people}"
    counted = get("counts")
    if counted is not None:
        return str(counted)
    return words.rows if get("rows") else words.people


def _selection(request: Request) -> str:
    get, words = request.values.get, request.words
    summed = get("weights") or get("of")
    sum_of = f"sum of {_call(request, summed)}" if summed else None
    if request.kind.name == "above":
        limit = get("limit")
        than = f"a {sum_of} above" if sum_of else f"more {words.people} than"
        one, more = _name_items(request)
        return f"the first {one if limit == 1 else f'{limit:,} {more}'} with {than} {get('threshold')}"
    k = get("k")
    name = _name_items(request)[k != 1]
    many = f"{k:,} " if k != 1 else ""
    if sum_of:
        return f"the {many}{name} with the largest {sum_of}"
    comma = "," if " of " in name else ""
    return f"the {many}most common {name}{comma} of {words.people}"


def _name_items(request: Request) -> tuple[str, str]:
    """Return what one of the items is called, and what several are."""
    return _name_values(_rename(request, group_names(request.values.get("by")), request.rows.periods))


def name_different(request: Request) -> tuple[str, str]:
    """Return what one of the values of --different is called, and what several are.

    >>> from lastbit.questions.kinds import KINDS
    >>> name_different(KINDS["count"].parse({"source": "v.csv", "unit": "patient", "different": "diagnosis"}))
    ('different diagnosis', 'different diagnoses')
    """
    name = request["different"]
    if name in _read_in_groups(request):
        return f"different group of {name}", f"different groups of {name}"
    one, more = _name_values(_rename(request, [name], request.rows.periods))
    return f"different {one}", f"different {more}"


def _read_in_groups(request: Request) -> set[str]:
    """Return the columns whose numbers are read as groups between edges."""
    edges: Any = request.values.get("edges")
    return {*(dict(edges) if _is_by_column(edges) else ()), *(request.rows.bin or ())[:1]}


def _name_values(names: Sequence[str]) -> tuple[str, str]:
    if len(names) != 1:
        return f"combination of {_join(names)}", f"combinations of {_join(names)}"
    name = names[0]
    return (name, pluralize(name)) if reads_as_noun(name) else (f"value of {name}", f"values of {name}")


def name_group(request: Request, columns: Sequence[str] | None = None) -> str:
    """Return what one group is called in sentences: a month, a ward; a group where the column's name is no word for it.

    The group is one of --by, or of these columns.

    >>> from lastbit.questions.kinds import KINDS
    >>> options = {"source": "v.csv", "unit": "patient", "epsilon": 1}
    >>> name_group(KINDS["count"].parse({**options, "month": "day", "domain": "2026-01..2026-12"}))
    'month'
    >>> name_group(KINDS["count"].parse({**options, "edges": {"age": [0, 18]}}))
    'group'
    """
    names = group_names(request.values.get("by")) if columns is None else columns
    if len(names) != 1 or names[0] in _read_in_groups(request):
        return "group"
    (name,) = _rename(request, names, request.rows.periods)
    return name if name.isalpha() and reads_as_noun(name) else "group"


def name_number(request: Request) -> str:
    """Return what the number of each group is, for an axis: "" where people or rows are counted.

    >>> from lastbit.questions.kinds import KINDS
    >>> name_number(KINDS["mean"].parse({"source": "v.csv", "unit": "patient", "of": "cost", "bounds": [0, 9]}))
    'mean cost per person'
    """
    if request.kind.name == "share":
        words = request.words
        return f"percent of {words.rows if request.values.get('rows') or request.rows.unit is None else words.people}"
    if request.kind.name not in ("sum", "mean", "median", "quantile"):
        return ""
    return f"{_number(request).partition(', quantile')[0]}{_measure(request).replace('(in ', '(')}"


def _number(request: Request) -> str:
    """Return what is said of one number of each person."""
    from lastbit.questions.sums import choose_rule

    name, words, of = request.kind.name, request.words, request.values.get("of")
    if name == "share":
        if request.values.get("rows") or request.rows.unit is None:
            return f"share of {words.rows} where {of}"
        return f"share of {words.people} with at least one {words.row} where {of}"
    rule = choose_rule(request, "total" if name == "sum" else "mean")
    rows = rule == "row" or request.values.get("rows")
    column = _call(request, of)
    if name == "sum":
        what = "sum" if isinstance(of, str) else "sums"
        return f"{what} of {column} of all {words.rows if rows else words.people}"
    own = column if rule in ("row", "mean") else f"{rule} {column}"
    per = f"per {words.row if rows else words.person}"
    if name == "quantile" and [*map(Fraction, request["at"])] == [Fraction(1, 2)]:
        name = "median"
    if name == "quantile":
        at = ", ".join(map(str, request["at"]))
        return f"{own} {per}, quantile{'s' if len(request['at']) > 1 else ''} {at}"
    return f"{name} {own} {per}"


def _by(request: Request) -> str:
    """Return by what the answer is grouped."""
    get = request.values.get
    names: list[str] = [*group_names(get("by"))]
    periods: dict[str, Any] = request.rows.periods
    if request.kind.name == "histogram" and not names:
        column = get("of") or next(iter(periods.values()), None)
        names = [column] if column else []
        every = get("every")
        periods = periods if every is None else {every: column}
    edges = get("edges")
    more = [column for column, _ in edges] if edges and _is_by_column(edges) else []
    names += [column for column in more if column not in names and column != get("different")]
    words = _rename(request, names, periods)
    listed = f" by {_join(words)}" if words else ""
    return (
        f",{listed}" if listed and get("of") is not None and request.kind.name not in ("histogram", "count") else listed
    )


def name_groups(request: Request | None, names: Sequence[str]) -> list[str]:
    """Return what groups are called: a column of dates that is read as months is called month."""
    return (
        list(names)
        if request is None or "source" not in request.values
        else _rename(request, names, request.rows.periods)
    )


def head_groups(request: Request, labels: Mapping[str, Any], numbers: Iterable[str]) -> dict[str, Any]:
    """Return columns of labels under what people call them, unless a column of numbers has that name."""
    names = name_groups(request, list(labels))
    is_clear = len({*names} - {*numbers}) == len(labels)
    return dict(zip(names, labels.values(), strict=True)) if is_clear else dict(labels)


def _rename(request: Request, names: Sequence[str], periods: Mapping[str, Any]) -> list[str]:
    called = {column: period for period, column in periods.items()}
    return [str(called.get(name) or _call(request, name)) for name in names]


def _call(request: Request, columns: Any) -> str:
    """Return what columns of the table are called in sentences: as --columns labels them, or by their names."""
    names = [columns] if isinstance(columns, str) else columns
    return _join([str(request.facts[name].get("label", name)) for name in names])


def _measure(request: Request) -> str:
    """Return the unit of measure of the numbers, where --columns says it."""
    get = request.values.get
    of = get("weights") or (get("of") if request.kind.name not in ("histogram", "share") else None)
    units = {request.facts[name].get("in") for name in ([of] if isinstance(of, str) else of or ())}
    return f" (in {units.pop()})" if len(units) == 1 and None not in units else ""


def _is_by_column(edges: Any) -> bool:
    """Return whether edges name their columns."""
    return bool(edges) and all(isinstance(part, tuple) and len(part) == 2 for part in edges)


def _where(request: Request) -> str:
    where, words = request.values.get("where"), request.words
    if not where:
        return ""
    counts_people = request.rows.unit is not None and not request.values.get("rows")
    counts_people = counts_people and request.values.get("different") is None
    if counts_people and request.kind.name in ("count", "histogram", "tables", *_SELECTIONS):
        return f", with at least one {words.row} where {where}"
    return f", of {words.rows} where {where}"


def _each_in_one(request: Request) -> str:
    get = request.values.get
    # Of tables, each person is in one cell unless more are asked for.
    usual = request.kind.name == "tables" and request.rows.unit is not None and get("most_items") is None
    if get("different") is not None:
        return ""
    if not get("by"):
        return ""
    return " (each in one)" if get("one_each") or get("most_items") == 1 or usual or request.each_in_one else ""


def _join(names: Any) -> str:
    """Write names as a list in a sentence.

    >>> _join(["region"]), _join(["region", "age", "sex"])
    ('region', 'region, age and sex')
    """
    if isinstance(names, str):
        return names
    *first, last = map(str, names)
    return f"{', '.join(first)} and {last}" if first else last
