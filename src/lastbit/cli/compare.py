"""`lastbit compare`: two published answers against each other. It reads no table and costs nothing."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

import typer

from lastbit.cli.budget import check_text
from lastbit.cli.words import GrammarCommand
from lastbit.errors import ParameterError
from lastbit.questions.output_types import prints_json

File = Annotated[
    str | None, typer.Option(metavar="FILE", help="Write the comparison into this file too.", callback=check_text)
]


def compare_answers(
    first: Annotated[str, typer.Argument(metavar="A", help="An answer as JSON.", callback=check_text)],
    second: Annotated[str, typer.Argument(metavar="B", help="The one that is compared with it.", callback=check_text)],
    way: Annotated[
        str, typer.Option("--as", metavar="WAY", help="difference, ratio or percent.", callback=check_text)
    ] = "difference",
    of: Annotated[
        str | None,
        typer.Option("--of", metavar="NAME", help="The question, where A and B are release.json of a publication."),
    ] = None,
    title: Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Another title.")] = None,
    json: Annotated[
        str | None,
        typer.Option(metavar="[FILE.json]", help="Print JSON instead of a table, or write it into this file."),
    ] = None,
    csv: File = None,
    parquet: File = None,
    html: File = None,
    plot: File = None,
) -> None:
    """Compare two published answers, group by group: what B has more than A. It reads no table and costs nothing.

    A and B are what --json printed, or release.json of a publication with --of. A ratio whose first number may be 0 has
    no upper limit.
    """
    from lastbit.cli.files import check_outputs
    from lastbit.cli.release import output_files, show_answer
    from lastbit.questions.compare import compare

    paths = output_files({"html": html, "plot": plot, "csv": csv, "parquet": parquet, "json": json})
    check_outputs(paths, [first, second])
    if way not in ("difference", "ratio", "percent"):
        raise ParameterError(f"--as must be difference, ratio or percent: got {way}. Nothing was compared.")
    view = compare(first, second, as_=way, of=of)  # type: ignore[arg-type]
    if title is not None:
        view = replace(view, report=replace(view.report, title=title, data={**view.report.data, "title": title}))
    show_answer(view, prints_json(json), paths)


compare_answers.typer_class = GrammarCommand  # type: ignore[attr-defined]
