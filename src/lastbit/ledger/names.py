"""The names of accounts: two that a person would read as one are one, so that no data set gets two budgets."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable


def normal_form(name: str) -> str:
    """The name without what the eye does not see: Unicode form, case, spaces around and runs of spaces inside.

    >>> normal_form("  The\\tClinic ") == normal_form("ｔｈｅ clinic")
    True
    """
    folded = unicodedata.normalize("NFKC", name)
    # Folding may undo a normal form, and a form may show what is to be folded: twice is enough (Unicode 3.13, D147).
    for _ in range(2):
        folded = unicodedata.normalize("NFKC", folded.casefold())
    seen = (letter for letter in folded if unicodedata.category(letter) != "Cf")  # zero width, direction
    return " ".join("".join(seen).split())


def same(name: str, others: Iterable[str]) -> str | None:
    """The first of the others that is this name in another spelling, or the same; None where there is none.

    >>> same("CLINIC", ["school", "Clinic"])
    'Clinic'
    """
    wanted = normal_form(name)
    return next((other for other in others if normal_form(other) == wanted), None)
