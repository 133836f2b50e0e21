"""The running hash over the entries of an account, and what it and the sums say about the books.

The digest of an entry is the SHA-256 of the digest before it and of everything the entry says, as it is stored. So
nobody changes, adds or removes an entry without changing every digest after it. `released` is left out: it is filled in
later, and a charge counts with or without it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Any, Final

FIELDS: Final = ("id", "dataset", "kind", "time", "mechanism", "parameters", "cost", "amount", "note", "adjacency")
"""What a digest covers, after the digest before it."""


def digest(before: str, entry: Any) -> str:
    """The digest of an entry, a row of the table, after the digest of the entry before; "" where there is none."""
    # JSON of a list tells any two lists apart. What is no text or number was put there by hand: it shows its type.
    written = json.dumps([before, *(getattr(entry, each) for each in FIELDS)], default=lambda odd: [repr(odd)])
    return hashlib.sha256(written.encode("ascii")).hexdigest()


def problems(account: Any, entries: Iterable[Any]) -> Iterator[str]:
    """What is wrong with the books of one account, from its row and the rows of its entries, oldest first."""
    name, before = account.dataset, ""
    limit, spent, adjacency = None, Fraction(0), None
    for entry in entries:
        if entry.digest != digest(before, entry):
            yield (
                f"entry {entry.id} of {name!r} does not fit its digest: this entry was changed, or one before it was "
                "added or removed."
            )
        before = entry.digest
        amount = exact(entry.amount)
        if amount is None or amount <= 0 or (entry.kind == "create") != (limit is None):
            yield f"entry {entry.id} of {name!r} is none that lastbit writes: its kind is {entry.kind!r}."
        elif entry.kind == "create":
            limit, adjacency = amount, entry.adjacency
        elif entry.kind == "raise" and limit is not None and amount > limit:
            limit = amount
        elif entry.kind == "charge" and limit is not None:
            spent += amount
            if spent > limit:
                yield f"entry {entry.id} of {name!r} goes over the limit: {spent} of {limit} were spent then."
        else:
            yield f"entry {entry.id} of {name!r} is none that lastbit writes: its kind is {entry.kind!r}."
    for what, stated, added in (
        ("limit", exact(account.budget), limit),
        ("spent", exact(account.spent), spent),
        ("adjacency", account.adjacency, adjacency),
        ("last digest", account.digest, before),
    ):
        if stated is None or stated != added:
            yield f"the account {name!r} and its entries differ in: {what}. The entries say {added}."


def exact(text: Any) -> Fraction | None:
    """A stored number; None where it is none.

    >>> exact("1/7"), exact("much")
    (Fraction(1, 7), None)
    """
    try:
        return Fraction(text) if isinstance(text, str) else None
    except (ValueError, ZeroDivisionError):
        return None
