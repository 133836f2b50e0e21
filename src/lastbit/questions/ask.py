"""`ask`: a question to a table in one call, as the command of the same name asks it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from lastbit.errors import LastbitError, ParameterError

_SHOWN: Final = ("as_json", "plot", "html", "dry_run")
_LISTS: Final = ("by", "domain")


def ask(kind: str, *source: str, **options: Any) -> Any:
    """Ask what the command of this name asks of a file or a database, and return the release.

    The options are those of the command, by name: `lastbit top --help` lists them. `by` and `domain` may be lists; the
    items of a domain may be given as a list. With `ledger` and `dataset` an account is charged first; with `reuse=True`
    the books answer a question that was asked before, for nothing.

    >>> from tempfile import TemporaryDirectory
    >>> from pathlib import Path
    >>> with TemporaryDirectory() as folder:
    ...     file = Path(folder, "visits.csv")
    ...     _ = file.write_text("patient,diagnosis\\n" + "".join(f"{each},flu\\n" for each in range(500)))
    ...     ask("top", str(file), by="diagnosis", unit="patient", domain=["flu", "cold"], k=1, epsilon=1).items
    ('flu',)
    """
    try:
        from lastbit.questions.answering import Book, answer
        from lastbit.questions.kinds import KINDS
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("lastbit"):
            raise
        raise LastbitError(f"ask needs {error.name}. Install it with: pip install 'lastbit[cli]'") from None
    if kind not in KINDS:
        raise ParameterError(f"there is no question {kind!r}. Use one of {', '.join(KINDS)}.")
    for name in _SHOWN:
        if name in options:
            raise ParameterError(f"{name} is for the command: ask returns the release. Leave it out.")
    built = KINDS[kind].build(source=list(source), **{name: _typed(name, each) for name, each in options.items()})
    book = Book.of(built.spending)
    found = book.found(built.question) if book is not None and built.spending.reuse else None
    return answer(built.question, built.spending, book) if found is None else found.published


def _typed(name: str, value: Any) -> Any:
    """An option as a person would type it: so the books know the question again."""
    if name == "domain" and not isinstance(value, str):
        # A list of items, or a list with the items of each column.
        nested = any(not isinstance(each, str) for each in value)
        return [each if isinstance(each, str) else tuple(each) for each in value] if nested else [tuple(value)]
    if name in _LISTS and isinstance(value, str):
        return [value]
    if name in ("bounds", "bin"):
        return tuple(str(each) for each in value)
    return str(value) if isinstance(value, float | Fraction) else value
