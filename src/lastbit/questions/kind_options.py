"""The options that one kind of question has, or a few, and those that it words in its own way."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from lastbit.questions.edge_types import EdgeLists
from lastbit.questions.list_types import PairOrAuto
from lastbit.questions.number_types import BoundsByColumn, NumberColumns
from lastbit.questions.option import Option
from lastbit.questions.shared_options import (
    BOUNDS,
    DOMAIN,
    EDGES,
    GROUPS,
    GROUPS_BY,
    MISSING_GROUPS,
    MOST_ITEMS,
    NUMBERS,
    OF,
    ONE_EACH,
    READING,
    STEP,
)
from lastbit.questions.value_types import Flag, Number, OneOf, Rule, Text
from lastbit.questions.whole_number_types import WholeNumber

K: Final = Option("k", WholeNumber(most=2 * 10**7), "How many items.", 10)
K_OF_LIMIT: Final = Option("k", WholeNumber(), "As --limit.", server_help="As limit.")
SET: Final = (
    Option("set", Flag(), "List the k items as a set, without ranks and gaps: it often finds more of them.", False),
    Option(
        "form",
        OneOf("FORM", choices=("both", "left-out")),
        "With --set: weigh a set by the best item left out and the worst one listed, or by the first alone.",
        "both",
    ),
)
IN_EACH: Final = (
    Option("in_each", Text("COLUMN"), "List the k items in each public group of this column: it needs a list too."),
    replace(ONE_EACH, help="Each person counts in one item, or in one group of --in-each, picked at random."),
)
WITH_NUMBERS: Final = Option(
    "numbers", Flag(), "Measure each listed item too: half of the cost goes to its number and its interval.", False
)
DIFFERENT: Final = Option(
    "different",
    Text("COLUMN"),
    "Count the different values of this column that people have, each once. Say with --most-items how many one person "
    "brings at most, in all groups together; or list the values with --domain.",
)
STEP_OF_ANSWERS: Final = replace(
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
QUANTILE_NUMBERS: Final = tuple(option for number in NUMBERS for option in (_RANGE if number is BOUNDS else (number,)))
BOUNDS_SHARE: Final = Option(
    "bounds_share", Number(), "With --bounds auto: the share of the cost that chooses the bounds.", "1/4"
)
NUMBERS_OF_SUMS: Final = (
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
    BOUNDS_SHARE,
    Option("sd", Flag(), "The standard deviation too: 25% of the cost of the answer measures it.", False),
)
GROUP_OPTIONS: Final = (
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
EDGES_OF_COUNTS: Final = replace(
    EDGES,
    type=EdgeLists(automatic=True),
    help=f"{EDGES.help} age auto:10 says ten equal bins, whose bounds a share of the cost chooses.",
    server_help=f'{EDGES.server_help} {{"age": "auto:10"}} says ten equal bins, whose bounds a share of the cost '
    "chooses.",
)
OF_BINS: Final = {
    "missing": replace(MISSING_GROUPS, type=Rule("RULE", rules=("leave-out", "show", "bin", "lowest"))),
    "edges": replace(
        EDGES_OF_COUNTS,
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
BINS: Final = (
    Option("of", Text("COLUMN"), "A column of numbers or dates to count by bins; or, with --by, the column to add up."),
    Option("bins", WholeNumber(), "So many equal bins between the --bounds."),
    Option(
        "every",
        OneOf("PERIOD", choices=("day", "week", "month", "year")),
        "For dates: one bin for each day, week, month or year.",
    ),
)
