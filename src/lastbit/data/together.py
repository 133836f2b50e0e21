"""Several files as one table: all their rows, in the columns wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from lastbit.data.relation import Opened
from lastbit.errors import ParameterError

if TYPE_CHECKING:
    import duckdb


def together(found: Sequence[Opened], places: Sequence[str]) -> Opened:
    """The rows of all files. The columns must have the same types in all of them, by declaration.

    One engine reads all files; which file a row is in changes nothing.
    """
    first = found[0]
    for each, place in zip(found, places, strict=True):
        if each.relation.types != first.relation.types:
            raise ParameterError(
                f"the columns must have the same types in all files: {place} differs from {places[0]}. "
                "Read them apart, or write them alike."
            )

    def read() -> float:
        parts = [each.read() for each in found if each.read is not None]
        return sum(parts) / len(parts) if parts else -1.0

    def problem() -> str | None:
        return next((said for each in found if (said := each.problem()) is not None), None)

    known = any(each.read is not None for each in found)
    relation = _joined([each.relation for each in found])
    repeats = [each.again for each in found if each.again is not None]
    again = (lambda: _joined([each() for each in repeats])) if len(repeats) == len(found) else None
    return Opened(relation, first.connection, read if known else None, problem, again)


def _joined(relations: Sequence[duckdb.DuckDBPyRelation]) -> duckdb.DuckDBPyRelation:
    """In halves, so that many files do not nest deeply."""
    if len(relations) == 1:
        return relations[0]
    half = len(relations) // 2
    return _joined(relations[:half]).union(_joined(relations[half:]))
