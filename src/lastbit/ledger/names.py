"""The names of accounts: two that a person would read as one are one, so that no data set gets two budgets."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable


def normal_form(name: str) -> str:
    """The name without what the eye does not see: Unicode form, case, spaces around and runs of spaces inside.

    >>> normal_form("  The\\tClinic ") == normal_form("ｔｈｅ clinic")
    True
    """
    seen = "".join(letter for letter in name if unicodedata.category(letter) != "Cf")  # zero width, direction
    # Before folding marks come in their order; folding may undo a normal form, so that it is made again.
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", seen).casefold())
    return " ".join(folded.split())


def same(name: str, others: Iterable[str]) -> str | None:
    """The first of the others that is this name in another spelling, or the same; None where there is none.

    >>> same("CLINIC", ["school", "Clinic"])
    'Clinic'
    """
    wanted = normal_form(name)
    return next((other for other in others if normal_form(other) == wanted), None)
