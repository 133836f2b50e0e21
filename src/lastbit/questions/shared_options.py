"""Every option that questions share, each written once."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from lastbit.questions.column_facts import Columns
from lastbit.questions.domains import Domains
from lastbit.questions.edge_types import EdgeLists
from lastbit.questions.group_types import DiscoverList, GroupList
from lastbit.questions.join_types import JoinColumns, JoinedTables
from lastbit.questions.let_types import Lets
from lastbit.questions.list_types import NumberList, Pair, TextList
from lastbit.questions.option import COMMAND, OWNER, REQUIRED, Option
from lastbit.questions.output_options import PRESENTATION
from lastbit.questions.output_types import JsonPlace, NounPair
from lastbit.questions.unit_types import UnitColumns
from lastbit.questions.value_types import Flag, Number, OneOf, Place, Probability, Rule, Share, Text
from lastbit.questions.whole_number_types import WholeNumber, WholeNumberOrAll

COLUMN: Final = Text("COLUMN")
_DISCOVERED: Final = Text("[COLUMN]")


def _calendar_option(unit: str, example: str) -> Option:
    help_text = f"Group by the {unit} of the times in this column, such as {example}."
    return Option(unit, COLUMN, help_text, part="table")


SOURCE: Final = Option(
    "source",
    TextList(Place("FILE...")),
    "CSV, TSV, JSON lines, Parquet, a DuckDB or SQLite file, a postgresql:// address, or - for a pipe. Several files, "
    "or a pattern in quotes, are one table.",
    REQUIRED,
    part="table",
    faces=OWNER,
    positional=True,
)
UNIT: Final = Option(
    "unit",
    UnitColumns(),
    "The column that says whom a row belongs to: all rows of a person are protected together. Repeat it to protect "
    "each combination, as single days of a user. --unit row says that each row is one person, unless a column has this "
    "name.",
    part="table",
    faces=OWNER,
)
COLUMNS: Final = (
    Option(
        "columns",
        Columns(),
        "A TOML file of public facts about columns: values, labels, edges, bounds. lastbit columns new writes one.",
        None,
        "output",
        OWNER,
    ),
    Option("override", Flag(), "What is typed may contradict --columns.", False, "output", OWNER),
)
"""Facts that fill in other options, and so take no part in a question themselves; labels are shown."""
TABLE: Final = (
    SOURCE,
    UNIT,
    Option(
        "most_units", WholeNumber(),
        "With several --unit: of whoever the first one names, at most so many combinations are read, picked at random. "
        "Then the cost of all of them together is stated, and an account for persons pays it.",
        part="table", faces=OWNER,
    ),
    Option("table", Text("NAME"), "The table, when FILE is a database.", part="table", faces=OWNER),
    Option(
        "split", Pair("COLUMN SEPARATOR", COLUMN, Text("SEPARATOR")),
        "Each text of this column has several items, with the separator between them: each item is a row.",
        part="table", faces=OWNER,
    ),
    Option(
        "join", JoinedTables(),
        "Another table, a file or DATABASE#TABLE: public facts with each key once, or, joined by --unit, more rows of "
        "the same people. Repeat it, each with its --on.",
        part="table", faces=OWNER,
    ),
    Option(
        "on", JoinColumns(COLUMN),
        "The column by which --join finds the rows of the other table; several of one table with commas.",
        part="table", faces=OWNER,
    ),
    Option(
        "let", Lets(), "Make a column of the rows of one person: 'visits = count(*)', 'late = any(hour(day) >= 22)'.",
        part="table", faces=OWNER,
    ),
    Option(
        "where", Text("CONDITION"), "Read only rows for which this is true: \"country = 'DE' and age >= 18\".",
        part="table",
    ),
    Option(
        "sql", Text("QUERY"), 'Make columns, each of one row: "select *, year(date) as year from data".',
        part="table", faces=OWNER,
    ),
    _calendar_option("day", "2026-01-31"),
    _calendar_option("week", "2026-W05"),
    _calendar_option("month", "2026-01"),
    _calendar_option("year", "2026"),
    _calendar_option("hour", "0 to 23"),
    _calendar_option("weekday", "Monday"),
    Option(
        "bin", Pair("COLUMN WIDTH", COLUMN, Number()), "Group by the lower ends of bins of the numbers in this column.",
        part="table",
    ),
    Option(
        "read_as", Text("KIND"), "csv, tsv, jsonl or parquet, whatever the name: also csv.gz.",
        part="table", faces=OWNER,
    ),
    Option(
        "separator", Text("CHARACTER"), "What stands between the fields of a text file: ';' or tab.",
        part="table", faces=OWNER,
    ),
    Option(
        "encoding", Text("NAME"), "The encoding of a text file, such as latin-1 or cp1252.", part="table", faces=OWNER
    ),
    Option(
        "decimal_comma", Flag(), "Numbers in a text file are written as 1.234,5.", False, part="table", faces=OWNER
    ),
    *COLUMNS,
)  # fmt: skip
"""Where the rows are, and which of them are read."""

BY: Final = Option(
    "by",
    GroupList(),
    "The column that holds the items; several as a,b for combinations. Or an expression of a row: 'EXPR as NAME'.",
    REQUIRED,
    labels=("Column of items",),
)
GROUPS_BY: Final = Option(
    "by",
    GroupList(),
    "The column that holds the groups; several as a,b for combinations. Or an expression of a row: 'EXPR as NAME'.",
    (),
    labels=("Column of groups",),
)
DOMAIN: Final = Option(
    "domain",
    Domains(),
    "The public items: a file with one item per line, 1..12, 0..90:10, 2026-01..2026-12, or a,b,c. Give one for each "
    "--by; or one CSV file of combinations, whose header names the columns.",
    server_help="The public items: a list of them, or a range such as 1..12, 0..90:10 or 2026-01..2026-12. With "
    "several columns, one for each; or a list of combinations, each an object. The list must be public: it may not "
    "come from the table itself.",
)
EDGES: Final = Option(
    "edges",
    EdgeLists(),
    "Group by the numbers of a column, as age 0,18,65 says: under 18, 18 to 64, 65 and over.",
    server_help="Group by the numbers of columns: age=0,18,65 says under 18, 18 to 64, 65 and over.",
)
CLOSED: Final = Option("closed", Flag(), "Leave numbers outside the --edges out.", False)
OTHERS: Final = Option(
    "others",
    OneOf("RULE", choices=("leave-out", "show")),
    "Rows of a group that is not listed are left out. With show they are one group, (others).",
    "leave-out",
)
DISCOVER: Final = Option(
    "discover",
    DiscoverList(_DISCOVERED),
    "Nobody listed the groups of this column, or of all columns without a list: --delta pays for showing those that "
    "are found.",
)
READING: Final = (EDGES, CLOSED, OTHERS)
"""How columns of groups are read."""
MOST_ITEMS: Final = Option(
    "most_items",
    WholeNumberOrAll(),
    "One person counts in at most this many items, picked at random. Without it, or with all, a person counts in all "
    "of their items. With auto a share of the cost finds a number that leaves 95% of people whole, at most 200 "
    "with auto:200, and at most 1,000 with auto where nobody listed the items.",
)
ONE_EACH: Final = Option(
    "one_each", Flag(), "Each person counts in one group, picked at random where they have several.", False
)
PEOPLE_SHARE: Final = Option(
    "people_share",
    Number(),
    "The share of the cost that measures whom a bound leaves out, or whose numbers are clamped. With 0 nobody knows.",
    "1/10",
)
MISSING: Final = Option(
    "missing",
    Rule("RULE", rules=("leave-out", "lowest")),
    "A number that is missing (blank, null, NaN, text) is left out. Or 'lowest', or a number that it counts as.",
    "leave-out",
)
MISSING_GROUPS: Final = replace(
    MISSING,
    type=Rule("RULE", rules=("leave-out", "show", "lowest")),
    help="Rows without a group or a number (blank, null, NaN, text) are left out. With show, rows without a group are "
    "the group (missing). Or what a missing number counts as: 'lowest', or a number.",
)
COUNTS: Final = (
    Option(
        "counts", COLUMN, "The table has one row for each item, and this column has its count. No --unit then.",
        faces=OWNER,
    ),
    Option("sensitivity", Number(), "With --counts: one person moves each count by at most this.", faces=OWNER),
    Option(
        "monotone", Flag(), "With --counts: one person who comes makes no count smaller.", False, faces=OWNER
    ),
)  # fmt: skip
"""A table that somebody counted already."""
_CLAMPING_HELP: Final = (
    "Numbers outside this range count as its nearer end. Choose the range without the table; a tight one is precise."
)
_SUMS: Final = (
    Option("weights", COLUMN, "Add up this column instead of counting people: an old word."),
    Option(
        "bounds",
        Pair(),
        "Each row's weight, and each person's total per item, is clamped to this range.",
        server_help=_CLAMPING_HELP,
    ),
    MISSING_GROUPS,
    Option(
        "resolution",
        Number(),
        "The step of sums, noise and gaps: for weights as --bounds say, else 1, or 1/10 for gaps.",
    ),
)
ITEMS: Final = (
    *COUNTS,
    BY,
    DOMAIN,
    *READING,
    MOST_ITEMS,
    Option("of", COLUMN, "Rank by the sums of this column instead of by people."),
    *_SUMS,
    PEOPLE_SHARE,
)
"""Which items are counted, and how."""
GROUPS: Final = (*COUNTS, GROUPS_BY, DOMAIN, *READING, MOST_ITEMS, *_SUMS, ONE_EACH, PEOPLE_SHARE)
"""Items that may be left out, where a question counts everybody without them."""
DELTA: Final = Option(
    "delta",
    Number(),
    "Without --domain: the probability, such as 1e-6, that one person's presence shows.",
    server_help="For items that nobody listed: the probability, such as 1e-6, that one person's presence shows.",
)

OF: Final = Option("of", COLUMN, "The column of numbers.", REQUIRED)
BOUNDS: Final = Option(
    "bounds", Pair(), "The number of each person is clamped to this range.", REQUIRED, server_help=_CLAMPING_HELP
)
PER: Final = Option(
    "per",
    OneOf("RULE", choices=("mean", "total", "latest", "first", "any", "row")),
    "The number that a person with several rows has: mean, total, latest, first, or any, the largest. With row, each "
    "row is a number.",
)
LATEST_BY: Final = Option("latest_by", COLUMN, "For --per latest: the row with the largest value here counts.")
FIRST_BY: Final = Option("first_by", COLUMN, "For --per first: the row with the smallest value here counts.")
ROWS: Final = Option("rows", Flag(), "Each row is a number, as with --per row; needs --most-rows.", False)
MOST_ROWS: Final = Option(
    "most_rows", WholeNumber(), "Where rows count: at most this many rows of a person, picked at random."
)
NUMBERS: Final = (OF, BOUNDS, PER, LATEST_BY, FIRST_BY, ROWS, MOST_ROWS, MISSING_GROUPS, PEOPLE_SHARE)
"""The one number of each person, or of each row."""
STEP: Final = Option("resolution", Number(), "The step of the noise. Without it the step follows from the bounds.")
AT: Final = Option("at", NumberList("NUMBERS"), "The quantiles, such as 0.5 or 0.25,0.5,0.75.", REQUIRED)

PRICE: Final = (
    Option("epsilon", Number(), "The cost of the release, such as 1, 0.5 or 1/3.", part="cost"),
    Option("rho", Number(), "The cost in zCDP instead: for many releases under one budget.", part="cost"),
)
WITHIN: Final = Option(
    "within",
    Share(),
    "How accurate the answer should be, instead of a cost: a number such as 15, or a share such as 5%. The least "
    "epsilon that reaches it is the cost, and is said.",
    part="cost",
)
GUESS: Final = Option(
    "people",
    WholeNumber(),
    "A public guess how many people there are, for an accuracy that depends on it: before a release, or with --within.",
    part="cost",
)
COST: Final = (*PRICE, WITHIN)
LEDGER: Final = (
    Option(
        "ledger", Place("FILE"), "The ledger to charge first: a file or a postgresql:// address.",
        part="account", faces=OWNER,
    ),
    Option("dataset", Text("NAME"), "The account to charge.", part="account", faces=OWNER),
    Option(
        "new_table", Flag(), "The account may pay for a table of a name that it has not paid for before.", False,
        part="account", faces=OWNER,
    ),
    Option("note", Text("TEXT", empty=True), "A note for the ledger's history.", "", part="account", faces=OWNER),
    Option(
        "witness", Place("FILE"), "A file elsewhere that learns of each charge. A ledger that lost some is refused.",
        part="account", faces=OWNER,
    ),
    Option(
        "reuse", Flag(), "Show the release again, for nothing, if the ledger has this very question.", False,
        part="account", faces=OWNER,
    ),
)  # fmt: skip
LEVEL: Final = Option("level", Probability(), "The probability that an interval holds.", "0.95", part="output")
OUTPUT: Final = (
    LEVEL,
    Option("json", JsonPlace(), "Print JSON instead of a table, or write it into this file.", None, "output", COMMAND),
    Option("plot", Place("FILE"), "Draw the release into a picture.", None, "output", COMMAND),
    Option(
        "html", Place("FILE"), "Write a report to send on: one page that needs nothing else.", None, "output", COMMAND
    ),
    Option(
        "dry_run", Flag(), "Show the cost and the accuracy, and check the columns. Read no row, spend nothing.", False,
        "output", COMMAND,
    ),
    GUESS,
    Option(
        "noun", NounPair("ONE,MORE"), "What the people are called, such as patient,patients.", None, "output",
    ),
    Option("row_noun", NounPair("ONE,MORE"), "What the rows are called, such as visit,visits.", None, "output"),
    *PRESENTATION,
)  # fmt: skip
PAYMENT: Final = (*COST, *LEDGER, *OUTPUT)
"""What a release costs, which account pays, and how the release is shown."""

THRESHOLD: Final = Option(
    "threshold", Number(), "List items with more people, or a larger sum, than this number.", REQUIRED
)
LIMIT: Final = Option("limit", WholeNumber(), "Stop after this many listed items.", 1)
