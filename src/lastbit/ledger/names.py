"""The names of accounts: two that a person would read as one are one, so that no data set gets two budgets."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable


def normal_form(name: str) -> str:
    """Return the name without what the eye does not see: Unicode form, case, spaces around it and runs of spaces.

    >>> normal_form("  The\\tClinic ") == normal_form("ｔｈｅ clinic")
    True
    """
    visible = "".join(letter for letter in name if unicodedata.category(letter) != "Cf")  # zero width, direction
    # Before folding marks come in their order; folding may undo a normal form, so that it is made again.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", visible).casefold())
    return " ".join(folded.split())


def find_same_name(name: str, others: Iterable[str]) -> str | None:
    """Return the first of the others that is this name, in any spelling; None where there is none.

    >>> find_same_name("CLINIC", ["school", "Clinic"])
    'Clinic'
    """
    form = normal_form(name)
    return next((other for other in others if normal_form(other) == form), None)
