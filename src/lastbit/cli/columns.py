"""`lastbit columns`: a file of public facts about columns."""

from __future__ import annotations

from typing import Annotated

import typer

from lastbit.cli.budget import check_text
from lastbit.cli.publish import Output, write_once


def new(
    source: Annotated[str, typer.Argument(metavar="TABLE", help="A file, or an address.", callback=check_text)],
    output: Output = None,
    table: Annotated[
        str | None, typer.Option(metavar="NAME", help="The table, when TABLE is a database.", callback=check_text)
    ] = None,
) -> None:
    """Write a file of facts about columns to fill in, from the names of the columns. No row is read."""
    from lastbit.questions.columns_file import write_columns

    write_once(output, write_columns(source, table), f"Fill in what is public, then: --columns {output}")
