"""The kinds of questions, each with its options. From this list come the command, the page, the service and `ask`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Final

from lastbit.errors import ParameterError
from lastbit.questions import streams
from lastbit.questions.kind import Kind
from lastbit.questions.kind_options import (
    BINS,
    BOUNDS_SHARE,
    DIFFERENT,
    EDGES_OF_COUNTS,
    GROUP_OPTIONS,
    IN_EACH,
    K_OF_LIMIT,
    NUMBERS_OF_SUMS,
    OF_BINS,
    QUANTILE_NUMBERS,
    SET,
    STEP_OF_ANSWERS,
    WITH_NUMBERS,
    K,
)
from lastbit.questions.old_words import respell_histogram, respell_measure, respell_top
from lastbit.questions.option import REQUIRED, Option
from lastbit.questions.shared_options import (
    AT,
    DELTA,
    DISCOVER,
    EDGES,
    GROUPS,
    ITEMS,
    LIMIT,
    MOST_ROWS,
    PAYMENT,
    PEOPLE_SHARE,
    ROWS,
    STEP,
    TABLE,
    THRESHOLD,
)
from lastbit.questions.summaries import SUMMARIES
from lastbit.questions.value_types import Flag, Text

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
        (*TABLE, *ITEMS, *PAYMENT, K, WITH_NUMBERS, *IN_EACH, DISCOVER, DELTA, *SET),
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
        (*TABLE, *ITEMS, *PAYMENT, THRESHOLD, LIMIT, K_OF_LIMIT, WITH_NUMBERS),
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
            replace(K, help="How many items, one after the other.", default=1),
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
        (*TABLE, *ITEMS, *PAYMENT, K, *SET),
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
            *(OF_BINS.get(option.name, option) for option in GROUPS),
            *PAYMENT,
            DISCOVER,
            DELTA,
            *BINS,
            BOUNDS_SHARE,
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
            *(EDGES_OF_COUNTS if option is EDGES else option for option in GROUPS),
            *PAYMENT,
            replace(BOUNDS_SHARE, help="With --edges COLUMN auto:10: the share of the cost that chooses the bounds."),
            Option("rows", Flag(), "Count rows instead of people; needs --most-rows.", False),
            MOST_ROWS,
            DIFFERENT,
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
        (*TABLE, *PAYMENT, *NUMBERS_OF_SUMS, STEP, *GROUP_OPTIONS),
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
        (*TABLE, *PAYMENT, *NUMBERS_OF_SUMS, STEP, *GROUP_OPTIONS),
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
            *GROUP_OPTIONS,
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
        (*TABLE, *PAYMENT, *QUANTILE_NUMBERS, STEP_OF_ANSWERS, *GROUP_OPTIONS),
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
        (*TABLE, *PAYMENT, *QUANTILE_NUMBERS, STEP_OF_ANSWERS, *GROUP_OPTIONS, AT),
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
