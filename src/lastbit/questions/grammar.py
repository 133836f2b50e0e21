"""The grammar of questions as one small table: the parts of a question, and the options that say each."""

from __future__ import annotations

from typing import Final

GRAMMAR: Final[dict[str, tuple[str, str]]] = {
    "what": ("", "count, share, sum, mean, median, quantile, top, tables, describe"),
    "of what": (
        "--of --per --rows --most-rows --different --bounds --at",
        "people, rows, different values, or a number of each person",
    ),
    "of whom": (
        "--unit --most-units --split --join --on --let --where --columns",
        "whose rows are protected, what is made of them, which are read, what is known of columns",
    ),
    "by what": (
        "--by --domain --edges --closed --bin --day --week --month --year --hour --weekday --discover --others "
        "--missing",
        "groups: listed, between edges, by time, or found",
    ),
    "how many of each": ("--one-each --most-items", "in how many groups one person counts"),
    "cost": ("--epsilon --rho --delta --within", "a price, or the accuracy that it buys"),
    "out": ("--json --csv --parquet --plot --html --methods --title --noun", "what is written, and in which words"),
}
"""For each part its options, and what they say. Old words for the same: histogram, measure and --weights."""


def list_grammar(width: int = 18) -> str:
    """Return the table as lines of text.

    >>> print(list_grammar().splitlines()[0])
    what              count, share, sum, mean, median, quantile, top, tables, describe
    """
    return "\n".join(
        f"{part:<{width}}{' '.join(text for text in (options, f'({says})' if options else says) if text)}"
        for part, (options, says) in GRAMMAR.items()
    )


def tabulate_grammar() -> str:
    """Return the table as Markdown.

    >>> tabulate_grammar().splitlines()[2]
    '| what | | count, share, sum, mean, median, quantile, top, tables, describe |'
    """
    lines = ["| part | options | says |", "| --- | --- | --- |"]
    for part, (options, says) in GRAMMAR.items():
        flags = " ".join(f"`{flag}`" for flag in options.split())
        lines.append(f"| {part} | {flags} | {says} |".replace("|  |", "| |"))
    return "\n".join(lines)
