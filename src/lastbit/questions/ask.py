"""`ask`: a question to a table in one call, as the command of the same name asks it."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

from lastbit.errors import LastbitError, ParameterError


def ask(kind: str, *source: Any, **options: Any) -> Any:
    """Ask what the command of this name asks of a file, a database or a table in memory, and return the release.

    A table in memory is one of pandas, Polars, Arrow, DuckDB, Ibis or Dask. A table of Spark is counted there, where
    Spark can: people of groups, selections, tables, descriptions.

    The options are those of the command, by name: `lastbit top --help` lists them. Values are Python's own: numbers,
    text, lists; `domain` may be a list of items, or a dict from columns to items. With `ledger` and `dataset` an
    account is charged first; with `reuse=True` the books answer a question that was asked before, for nothing.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "visits.csv")
    ...     _ = file.write_text("patient,diagnosis\\n" + "".join(f"{patient},flu\\n" for patient in range(500)))
    ...     ask("top", file, by="diagnosis", unit="patient", domain=["flu", "cold"], k=1, epsilon=1).items
    ('flu',)
    """
    try:
        from lastbit.data.engines import declare_columns
        from lastbit.questions.answer import Payer, answer
        from lastbit.questions.kinds import find_kind
        from lastbit.questions.rendering import check_presentation, render_answer
        from lastbit.questions.row_units import settle_unit
        from lastbit.questions.within import buy_accuracy
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("lastbit"):
            raise
        raise LastbitError(f"ask needs {error.name}. Install it with: pip install 'lastbit[cli]'") from None
    if source and options.get("source") is not None:
        raise ParameterError("source must be given once: name the files behind the question, or with source=.")
    frames = [place for place in source if not isinstance(place, str | os.PathLike)]
    if frames and len(source) > 1:
        raise ParameterError("source must be one table of a library, or the names of files. Put tables together first.")
    # A table of a library has no name, as what comes through a pipe has none.
    places = ["-"] if frames else list(source) or None
    request = find_kind(kind).parse({"source": places, **options}, "python")
    if frames:
        if request.values.get("table") is not None:
            raise ParameterError("table names a table of a database: a table in memory is one already. Leave it out.")
        request = settle_unit(replace(request, frame=frames[0]), lambda: declare_columns(frames[0]))
    request = buy_accuracy(request)
    _ = request.question  # refuses what cannot be asked, before a ledger is opened
    check_presentation(request)
    payer = Payer.of(request)
    entry = payer.find_answer(request) if payer is not None and request["reuse"] else None
    if entry is not None:
        published = entry.published
    else:
        published = answer(request, payer, frame=frames[0]) if frames else answer(request, payer)
    return render_answer(request, payer, published, entry=entry)


def describe(*source: Any, **options: Any) -> Any:
    """Describe a table on one page, as the command `lastbit describe` does: people, rows, and every column.

    >>> import pandas as pd
    >>> visits = pd.DataFrame({"patient": range(1000), "age": range(1000)})
    >>> release = describe(visits, unit="patient", epsilon=1)
    >>> release.to_frame()["column"].tolist()
    ['age']
    """
    return ask("describe", *source, **options)
