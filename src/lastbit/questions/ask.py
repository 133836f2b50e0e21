"""`ask`: a question to a table in one call, as the command of the same name asks it."""

from __future__ import annotations

import os
from typing import Any

from lastbit.errors import LastbitError, ParameterError


def ask(kind: str, *source: str | os.PathLike[str], **options: Any) -> Any:
    """Ask what the command of this name asks of a file or a database, and return the release.

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
        from lastbit.questions.answer import Payer, answer
        from lastbit.questions.kinds import find_kind
        from lastbit.questions.rendering import render_answer
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("lastbit"):
            raise
        raise LastbitError(f"ask needs {error.name}. Install it with: pip install 'lastbit[cli]'") from None
    if source and options.get("source") is not None:
        raise ParameterError("source must be given once: name the files behind the question, or with source=.")
    request = find_kind(kind).parse({"source": list(source) or None, **options}, "python")
    _ = request.question  # refuses what cannot be asked, before a ledger is opened
    payer = Payer.of(request)
    entry = payer.find_answer(request) if payer is not None and request["reuse"] else None
    published = answer(request, payer) if entry is None else entry.published
    return render_answer(request, payer, published, entry=entry)
