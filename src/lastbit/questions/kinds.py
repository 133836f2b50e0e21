"""The kinds of questions, each with its options. From this list come the command, the page, the service and `ask`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Final

from lastbit.errors import ParameterError
from lastbit.questions import streams
from lastbit.questions.edge_types import EdgeLists
from lastbit.questions.kind import Kind
from lastbit.questions.list_types import PairOrAuto
from lastbit.questions.number_types import BoundsByColumn, NumberColumns
from lastbit.questions.old_words import respell_histogram, respell_measure, respell_top
from lastbit.questions.option import REQUIRED, Option
from lastbit.questions.shared_options import (
    AT,
    BOUNDS,
    DELTA,
    DISCOVER,
    DOMAIN,
    EDGES,
    GROUPS,
    GROUPS_BY,
    ITEMS,
    LIMIT,
    MISSING_GROUPS,
    MOST_ITEMS,
    MOST_ROWS,
    NUMBERS,
    OF,
    ONE_EACH,
    PAYMENT,
    PEOPLE_SHARE,
    READING,
    ROWS,
    STEP,
    TABLE,
    THRESHOLD,
)
from lastbit.questions.summaries import SUMMARIES
from lastbit.questions.value_types import Flag, Number, OneOf, Rule, Text
from lastbit.questions.whole_number_types import WholeNumber

_K: Final = Option("k", WholeNumber(most=2 * 10**7), "How many items.", 10)
_K_OF_LIMIT: Final = Option("k", WholeNumber(), "As --limit.", server_help="As limit.")
_SET: Final = (
    Option("set", Flag(), "List the k items as a set, without ranks and gaps: it often finds more of them.", False),
    Option(
        "form",
        OneOf("FORM", choices=("both", "left-out")),
        "With --set: weigh a set by the best item left out and the worst one listed, or by the first alone.",
        "both",
    ),
)
_IN_EACH: Final = (
    Option("in_each", Text("COLUMN"), "List the k items in each public group of this column: it needs a list too."),
    replace(ONE_EACH, help="Each person counts in one item, or in one group of --in-each, picked at random."),
)
_NUMBERS: Final = Option(
    "numbers", Flag(), "Measure each listed item too: half of the cost goes to its number and its interval.", False
)
_DIFFERENT: Final = Option(
    "different",
    Text("COLUMN"),
    "Count the different values of this column that people have, each once. Say with --most-items how many one person "
    "brings at most, in all groups together; or list the values with --domain.",
)
_STEP_OF_ANSWERS: Final = replace(
    STEP,
    help="The step between two answers. Without it the step follows from the bounds, or is 1 for a column of whole "
    "numbers.",
)
_RANGE: Final = (
    replace(
        BOUNDS,
        default=None,
        help="The number of each person is clamped to this range. Leave it out where nobody knows the range.",
        server_help="Numbers outside this range count as its nearer end. Leave it out where nobody knows the range.",
    ),
    Option(
        "scale",
        OneOf("SCALE", choices=("linear", "log")),
        "linear: all answers are alike beforehand. log: each factor of two is. Without it: log where --bounds are "
        "left out, linear else.",
    ),
)
_QUANTILE_NUMBERS: Final = tuple(option for number in NUMBERS for option in (_RANGE if number is BOUNDS else (number,)))
_BOUNDS_SHARE: Final = Option(
    "bounds_share", Number(), "With --bounds auto: the share of the cost that chooses the bounds.", "1/4"
)
_NUMBERS_OF_SUMS: Final = (
    *(
        replace(
            number,
            type=BoundsByColumn(),
            help="The number of each person is clamped to this range. auto: a share of the cost chooses it. Of several "
            "columns each may have its own, as cost=0,5000.",
            server_help=f"{BOUNDS.server_help} auto: a share of the cost chooses it.",
        )
        if number is BOUNDS
        else replace(
            number, type=NumberColumns(), help="The column of numbers. Several, as cost,stay, share one cost evenly."
        )
        if number is OF
        else number
        for number in NUMBERS
    ),
    _BOUNDS_SHARE,
    Option("sd", Flag(), "The standard deviation too: 25% of the cost of the answer measures it.", False),
)
_GROUP_OPTIONS: Final = (
    *READING,
    replace(GROUPS_BY, help="The column that holds the groups. Repeat it for combinations."),
    replace(
        DOMAIN,
        help="The public groups: a file with one per line, or 1..12, or a,b,c. Give one for each --by; or one CSV file "
        "of combinations, whose header names the columns.",
        server_help="The public groups: a list of them, or a range such as 1..12. With several columns, one for each; "
        "or a list of combinations, each an object. The list must be public: it may not come from the table itself.",
        labels=("Public groups",),
    ),
    ONE_EACH,
    replace(MOST_ITEMS, help="One person counts in at most this many groups, picked at random. Without it: in all."),
)
_EDGES_OF_COUNTS: Final = replace(
    EDGES,
    type=EdgeLists(automatic=True),
    help=f"{EDGES.help} age auto:10 says ten equal bins, whose bounds a share of the cost chooses.",
    server_help=f'{EDGES.server_help} {{"age": "auto:10"}} says ten equal bins, whose bounds a share of the cost '
    "chooses.",
)
_OF_BINS: Final = {
    "missing": replace(MISSING_GROUPS, type=Rule("RULE", rules=("leave-out", "show", "bin", "lowest"))),
    "edges": replace(
        _EDGES_OF_COUNTS,
        type=EdgeLists(unnamed=True, automatic=True),
        help=f"{EDGES.help} Without a column: the edges of the column of --of.",
    ),
    "bounds": replace(
        next(option for option in GROUPS if option.name == "bounds"),
        type=PairOrAuto(),
        help="The ends of the --bins, or of the periods. auto: a share of the cost chooses those of bins. Of sums, "
        "each row's weight, and each person's total per item, is clamped to this range.",
        server_help="The ends of the bins: numbers beyond are in the first bin or in the last. auto: a share of the "
        "cost chooses them. Of sums, numbers outside this range count as its nearer end.",
    ),
}
"""Options of groups that take more where bins are counted."""
_BINS: Final = (
    Option("of", Text("COLUMN"), "A column of numbers or dates to count by bins; or, with --by, the column to add up."),
    Option("bins", WholeNumber(), "So many equal bins between the --bounds."),
    Option(
        "every",
        OneOf("PERIOD", choices=("day", "week", "month", "year")),
        "For dates: one bin for each day, week, month or year.",
    ),
)

_LISTED_ITEMS: Final = "visits.csv --by diagnosis --unit patient --domain diagnoses.txt"
_SUMS: Final = f"{_LISTED_ITEMS} --of cost --bounds 0 1000"
_BUDGET: Final = "--ledger budget.db --dataset clinic"
_SHARE: Final = "share visits.csv --of 'cost >= 100' --unit patient"
_COST: Final = "visits.csv --of cost --unit patient"


def _make_describe() -> Kind:
    from lastbit.questions import describe

    return Kind(
        "describe",
        describe.OPTIONS,
        describe.describe,
        SUMMARIES["describe"],
        (
            "describe visits.csv --unit patient --numbers cost --dates date --epsilon 1",
            "describe visits.csv --unit patient --numbers cost --texts diagnosis --of cost --of diagnosis "
            "--weight cost=2 --epsilon 1 --delta 1e-6",
        ),
    )


def _make_top() -> Kind:
    from lastbit.questions import selection

    return Kind(
        "top",
        (*TABLE, *ITEMS, *PAYMENT, _K, _NUMBERS, *_IN_EACH, DISCOVER, DELTA, *_SET),
        selection.top,
        SUMMARIES["top"],
        (
            f"top {_LISTED_ITEMS} -k 3 --epsilon 1",
            f"top {_LISTED_ITEMS} -k 3 --epsilon 0.5 {_BUDGET} --note weekly --json",
            f"top {_SUMS} -k 3 --epsilon 1",
            f"top {_LISTED_ITEMS} -k 3 --rho 1/10",
            f"top {_LISTED_ITEMS} -k 3 --set --epsilon 1",
            "top visits.csv --by diagnosis --unit patient --discover -k 3 --epsilon 1 --delta 1e-6",
            f"top {_LISTED_ITEMS} -k 3 --numbers --epsilon 1",
            "top visits.csv --by diagnosis --unit patient --discover -k 3 --numbers --most-items 5 --epsilon 1 "
            "--delta 1e-6",
            f"top {_LISTED_ITEMS} --in-each date --month date --domain date=2026-01..2026-03 -k 3 --epsilon 1",
            f"top {_LISTED_ITEMS} --where 'cost >= 100 and month(date) <= 6' -k 3 --epsilon 1",
        ),
        respell=respell_top,
    )


def _make_above() -> Kind:
    from lastbit.questions import selection

    return Kind(
        "above",
        (*TABLE, *ITEMS, *PAYMENT, THRESHOLD, LIMIT, _K_OF_LIMIT, _NUMBERS),
        selection.above,
        SUMMARIES["above"],
        (
            f"above {_LISTED_ITEMS} --threshold 50 --limit 3 --epsilon 1",
            f"above {_LISTED_ITEMS} --threshold 50 --limit 3 --numbers --epsilon 1",
            f"above {_SUMS} --threshold 20000 -k 3 --epsilon 1",
        ),
    )


def _make_choose() -> Kind:
    from lastbit.questions import selection

    return Kind(
        "choose",
        (
            *TABLE,
            *ITEMS,
            *PAYMENT,
            replace(_K, help="How many items, one after the other.", default=1),
            DISCOVER,
            replace(
                DELTA,
                help="With --domain and --epsilon: the list may cost (epsilon, delta). Without --domain: the "
                "probability that one person's presence shows.",
                server_help="With domain and epsilon: the list may cost (epsilon, delta). For items that nobody "
                "listed: the probability that one person's presence shows.",
            ),
        ),
        selection.choose,
        SUMMARIES["choose"],
        (
            f"choose {_LISTED_ITEMS} --epsilon 0.1",
            f"choose {_SUMS} --epsilon 0.1",
            f"choose {_LISTED_ITEMS} -k 3 --epsilon 1 --delta 1e-6",
        ),
    )


def _make_measure() -> Kind:
    from lastbit.questions import selection

    return Kind(
        "measure",
        (*TABLE, *ITEMS, *PAYMENT, _K, *_SET),
        selection.measure,
        SUMMARIES["measure"],
        (
            f"measure {_LISTED_ITEMS} -k 3 --epsilon 1 {_BUDGET}",
            f"measure {_LISTED_ITEMS} -k 3 --set --epsilon 1",
            f"measure {_SUMS} -k 3 --epsilon 1",
        ),
        respell=respell_measure,
    )


def _make_histogram() -> Kind:
    from lastbit.questions import counts

    return Kind(
        "histogram",
        (
            *TABLE,
            *(_OF_BINS.get(option.name, option) for option in GROUPS),
            *PAYMENT,
            DISCOVER,
            DELTA,
            *_BINS,
            _BOUNDS_SHARE,
        ),
        counts.histogram,
        SUMMARIES["histogram"],
        (
            f"histogram {_LISTED_ITEMS} --most-items 3 --epsilon 1",
            "histogram visits.csv --by diagnosis --unit patient --most-items 3 --epsilon 1 --delta 1e-6",
            f"histogram {_LISTED_ITEMS} --rho 1/10",
            f"histogram {_COST} --bounds 0 1000 --bins 10 --epsilon 1",
            f"histogram {_COST} --bounds auto --bins 10 --epsilon 1",
            f"histogram {_COST} --edges 0,50,100,500 --missing bin --epsilon 1",
            "histogram visits.csv --month date --unit patient --bounds 2024-01 2024-12 --most-items 3 --epsilon 1",
        ),
        respell=respell_histogram,
    )


def _make_count() -> Kind:
    from lastbit.questions import counts

    return Kind(
        "count",
        (
            *TABLE,
            *(_EDGES_OF_COUNTS if option is EDGES else option for option in GROUPS),
            *PAYMENT,
            replace(_BOUNDS_SHARE, help="With --edges COLUMN auto:10: the share of the cost that chooses the bounds."),
            Option("rows", Flag(), "Count rows instead of people; needs --most-rows.", False),
            MOST_ROWS,
            _DIFFERENT,
            DISCOVER,
            DELTA,
        ),
        counts.count,
        SUMMARIES["count"],
        (
            "count visits.csv --unit patient --epsilon 1",
            "count visits.csv --unit patient --rows --most-rows 10 --epsilon 1",
            f"count {_LISTED_ITEMS} --one-each --epsilon 1",
            "count visits.csv --unit patient --rows --most-rows 12 --month date --domain 2024-01..2024-12 --rho 1/10",
            "count visits.csv --unit patient --by diagnosis --domain 'influenza,common cold' --most-items 2 "
            "--epsilon 1",
            "count visits.csv --unit patient --different diagnosis --most-items 3 --epsilon 1",
            "count visits.csv --unit patient --within 15",
        ),
    )


def _make_sum() -> Kind:
    from lastbit.questions import sums

    return Kind(
        "sum",
        (*TABLE, *PAYMENT, *_NUMBERS_OF_SUMS, STEP, *_GROUP_OPTIONS),
        sums.sum_,
        SUMMARIES["sum"],
        (
            f"sum {_COST} --bounds 0 1000 --epsilon 1",
            f"sum {_COST} --bounds 0 1000 --by diagnosis --domain diagnoses.txt --most-items 2 --epsilon 1",
        ),
        sums.canonicalize_sum,
    )


def _make_mean() -> Kind:
    from lastbit.questions import sums

    return Kind(
        "mean",
        (*TABLE, *PAYMENT, *_NUMBERS_OF_SUMS, STEP, *_GROUP_OPTIONS),
        sums.mean,
        SUMMARIES["mean"],
        (
            f"mean {_COST} --bounds 0 1000 --epsilon 1",
            f"mean {_COST} --bounds 0 1000 --by diagnosis --domain diagnoses.txt --epsilon 1",
            f"mean {_COST} --bounds auto --epsilon 1",
            f"mean {_COST} --per latest --latest-by date --bounds 0 1000 --epsilon 1",
            f"mean {_COST} --per row --most-rows 5 --bounds 0 1000 --epsilon 1",
        ),
        lambda facts: sums.canonicalize_sum(facts, "mean"),
    )


def _make_share() -> Kind:
    from lastbit.questions import shares

    return Kind(
        "share",
        (
            *TABLE,
            *PAYMENT,
            Option(
                "of",
                Text("CONDITION"),
                "The condition, such as \"kind = 'emergency'\".",
                REQUIRED,
                labels=("What is true",),
            ),
            replace(ROWS, help="The share of rows instead of people; needs --most-rows."),
            MOST_ROWS,
            PEOPLE_SHARE,
            *_GROUP_OPTIONS,
        ),
        shares.share,
        SUMMARIES["share"],
        (
            f"{_SHARE} --epsilon 1",
            f"{_SHARE} --by diagnosis --domain diagnoses.txt --epsilon 1",
            f"{_SHARE} --rows --most-rows 5 --epsilon 1",
        ),
    )


def _make_median() -> Kind:
    from lastbit.questions import quantiles

    return Kind(
        "median",
        (*TABLE, *PAYMENT, *_QUANTILE_NUMBERS, _STEP_OF_ANSWERS, *_GROUP_OPTIONS),
        quantiles.median,
        SUMMARIES["median"],
        (
            f"median {_COST} --bounds 0 1000 --epsilon 1",
            f"median {_COST} --bounds 0 1000 --by diagnosis --domain diagnoses.txt --one-each --epsilon 1",
        ),
        quantiles.canonicalize_median,
    )


def _make_quantile() -> Kind:
    from lastbit.questions import quantiles

    return Kind(
        "quantile",
        (*TABLE, *PAYMENT, *_QUANTILE_NUMBERS, _STEP_OF_ANSWERS, *_GROUP_OPTIONS, AT),
        quantiles.quantile,
        SUMMARIES["quantile"],
        (
            f"quantile {_COST} --at 0.25,0.5,0.75 --bounds 0 1000 --epsilon 1",
            f"quantile {_COST} --at 0.25,0.5,0.75 --resolution 0.01 --epsilon 1",
            f"quantile {_COST} --at 0.95 --per total --bounds 0 5000 --resolution 10 --epsilon 1",
            f"quantile {_COST} --at 0.5,0.9 --per row --most-rows 3 --bounds 0 1000 --rho 1/10",
        ),
        quantiles.canonicalize_quantile,
    )


def _make_tables() -> Kind:
    from lastbit.questions import tables

    return Kind(
        "tables",
        tables.OPTIONS,
        tables.tables,
        SUMMARIES["tables"],
        (
            "tables visits.csv --unit patient --by diagnosis --domain diagnoses.txt --month date "
            "--by date --domain 2024-01..2024-12 --rho 1/20",
            "tables visits.csv --unit patient --by diagnosis --domain diagnoses.txt --edges cost 0,50,100,500 "
            "--one-each --epsilon 1 --delta 1e-6 --pivot diagnosis,cost",
        ),
        tables.name_tables,
    )


_MAKERS: Final[dict[str, Callable[[], Kind]]] = {
    "describe": _make_describe,
    "top": _make_top,
    "above": _make_above,
    "choose": _make_choose,
    "measure": _make_measure,
    "histogram": _make_histogram,
    "count": _make_count,
    "sum": _make_sum,
    "mean": _make_mean,
    "share": _make_share,
    "median": _make_median,
    "quantile": _make_quantile,
    "tables": _make_tables,
}


@cache
def _make_once(name: str) -> Kind:
    return _MAKERS[name]()


class _Kinds(Mapping[str, Kind]):
    """The kinds by their names. Each is made when somebody asks for it: a command loads the modules of one."""

    def __getitem__(self, name: str) -> Kind:
        return _make_once(name)

    def __contains__(self, name: object) -> bool:
        return name in _MAKERS

    def __iter__(self) -> Iterator[str]:
        return iter(_MAKERS)

    def __len__(self) -> int:
        return len(_MAKERS)


KINDS: Final = _Kinds()
"""Every question that a command of its name asks."""

WATCH: Final = Kind(
    "watch",
    streams.OPTIONS,
    streams.watch,
    SUMMARIES["watch"],
    (
        "watch --threshold 1000 --limit 3 --epsilon 1",
        "watch --threshold 1000 --limit 3 --epsilon 1 --monotone --json",
        f"watch --threshold 1000 --limit 3 --epsilon 1 --sensitivity 5 --adaptive {_BUDGET}",
    ),
)
"""The question about a stream, which has no table. The command and the library ask it."""


def find_kind(name: object) -> Kind:
    """Return the kind of question with this name, or refuse it."""
    if not isinstance(name, str) or name not in KINDS:
        text = repr(name[:40]) if isinstance(name, str) else f"a {type(name).__name__}"
        raise ParameterError(f"there is no question {text}. Use one of {', '.join(KINDS)}.")
    return KINDS[name]
