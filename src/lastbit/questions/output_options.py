"""The options that say how an answer leaves: as files of data, and what is done to published numbers beforehand."""

from __future__ import annotations

from typing import Final

from lastbit.questions.option import COMMAND, OWNER, Option
from lastbit.questions.value_types import Flag, Number, OneOf, Place, Share, Text
from lastbit.questions.whole_number_types import WholeNumber

FILES: Final = (
    Option("csv", Place("FILE"), "Write the table as CSV, with the columns of to_frame.", None, "output", COMMAND),
    Option("parquet", Place("FILE"), "Write the same table as Parquet.", None, "output", COMMAND),
    Option("methods", Flag(), "Add the paragraph for a paper: the method and whom to cite.", False, "output"),
)
PIVOT: Final = Option("pivot", Text("A,B"), "Show the numbers of these two columns crosswise.", None, "output")
PRESENTATION: Final = (
    Option("title", Text("TEXT"), "The title, instead of one made of the question.", None, "output"),
    Option("together", Flag(), "Intervals that all hold together, instead of each one on its own.", False, "output"),
    Option(
        "hide_below", Number(), "Hide numbers below this, or of groups with fewer people. It protects nobody.",
        None, "output",
    ),
    Option(
        "hide_wider", Share("WIDTH"), "Hide numbers with an interval wider than this, such as 50% of the number.",
        None, "output",
    ),
    Option("non_negative", Flag(), "Show numbers below 0 as 0.", False, "output"),
    Option("round", Number(), "Round numbers to multiples of this, and intervals outwards.", None, "output"),
    Option(
        "sort", OneOf("WHAT", choices=("value", "listed")), "value puts the largest numbers first.", None, "output"
    ),
    Option("first", WholeNumber(), "Show so many rows.", None, "output"),
    Option(
        "rate", Place("FILE"), "Divide by public numbers: a CSV with the groups and one column of numbers.",
        None, "output", OWNER,
    ),
    Option("per_residents", Number(), "With --rate: per so many.", "1000", "output", OWNER),
    PIVOT,
    *FILES,
)  # fmt: skip

NUMBERS_TAKEN: Final = (
    "csv", "parquet", "hide_below", "hide_wider", "non_negative", "round", "sort", "first", "rate",
)  # fmt: skip
"""Options that take the numbers of an answer row by row."""
