"""The running hash over the entries of an account, and what it and the sums say about the books.

The digest of an entry is the SHA-256 of the digest before it and of everything the entry says, as it is stored. So
nobody changes, adds or removes an entry without changing every digest after it. `released` and `published` are left
out: they are filled in later, and a charge counts with or without them. A digest of its own covers `published`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

from lastbit.errors import LastbitError
from lastbit.ledger import published
from lastbit.ledger.account import Account
from lastbit.ledger.identity import digest_of
from lastbit.ledger.price import Price, parsed
from lastbit.privacy import zcdp

FIELDS: Final = (
    "id", "dataset", "kind", "time", "mechanism", "parameters", "cost", "amount", "note", "adjacency", "terms",
    "question", "question_digest", "about", "protects",
)  # fmt: skip
"""What a digest covers, after the digest before it."""


def digest(before: str, entry: Any) -> str:
    """The digest of an entry, a row of the table, after the digest of the entry before; "" where there is none."""
    # JSON of a list tells any two lists apart. What is no text or number was put there by hand: it shows its type.
    written = json.dumps([before, *(getattr(entry, name) for name in FIELDS)], default=lambda odd: [repr(odd)])
    return hashlib.sha256(written.encode("ascii")).hexdigest()


SEALED: Final = (
    "dataset", "budget", "spent", "adjacency", "digest",
    "rho_budget", "delta_budget", "delta_of_rho", "spent_rho", "spent_delta",
)  # fmt: skip
"""What the seal of an account covers: all that its row says."""


def seal(row: Any) -> str:
    """The seal of an account's row. A sum that somebody changed by hand does not fit it, and pays for nothing."""
    written = json.dumps([getattr(row, each) for each in SEALED], default=lambda odd: [repr(odd)])
    return hashlib.sha256(written.encode("ascii")).hexdigest()


def problems(row: Any, entries: Iterable[Any]) -> Iterator[str]:
    """What is wrong with the books of one account, from its row and the rows of its entries, oldest first."""
    name, before = row.dataset, ""
    account: Account | None = None
    for entry in entries:
        if entry.digest != digest(before, entry):
            yield (
                f"entry {entry.id} of {name!r} does not fit its digest: this entry was changed, or one before it was "
                "added or removed."
            )
        before = entry.digest
        after = _after(account, entry) if entry.question_digest == digest_of(entry.question) else None
        if after is None:
            yield f"entry {entry.id} of {name!r} is none that lastbit writes: its kind is {entry.kind!r}."
        else:
            account = after
            if not account.within:
                yield f"entry {entry.id} of {name!r} goes over the limit: {_sums(account)} were spent then."
        if entry.published is not None and entry.published_digest != published.digest(entry.digest, entry.published):
            yield f"what entry {entry.id} of {name!r} published does not fit its digest: it was changed."
    differ = [
        (what, added) for what, stated, added in _compared(row, account, before) if stated is None or stated != added
    ]
    for what, added in differ:
        yield f"the account {name!r} and its entries differ in: {what}. The entries say {added}."
    if not differ and row.seal != seal(row):
        yield f"the account {name!r} does not fit its seal: somebody wrote to its row by hand."


def _after(account: Account | None, entry: Any) -> Account | None:
    """The account after an entry; None where no lastbit writes such an entry."""
    amount = exact(entry.amount)
    if amount is None or amount <= 0 or (entry.kind == "create") != (account is None):
        return None
    try:
        if account is None:
            return _created(entry, amount)
        if entry.kind == "raise" and entry.terms == "{}":
            return account.raised(**{account.currency: amount})
        if entry.kind == "charge":
            price = price_of(entry.terms)
            if price is not None and account.own(price) == amount:
                return account.plus(price)
    except LastbitError:
        pass
    return None


def _created(entry: Any, amount: Fraction) -> Account | None:
    found = parsed(entry.terms, "epsilon", "rho", "delta", "delta_of_rho")
    if found is None or found["delta"] is None or found["delta_of_rho"] is None:
        return None
    epsilon, rho, delta, of_rho = (found[name] for name in ("epsilon", "rho", "delta", "delta_of_rho"))
    if epsilon is None or rho is None:
        if of_rho or (epsilon is not None and delta):
            return None
        account = Account.opened(entry.dataset, epsilon=epsilon, rho=rho, delta=delta, adjacency=entry.adjacency)
    else:
        account = Account.opened(entry.dataset, epsilon=epsilon, adjacency=entry.adjacency)
        # The certificate and not the number: another lastbit may find a larger rho.
        if not 0 < of_rho < delta < 1 or rho <= 0 or zcdp.epsilon_at(rho, of_rho) > epsilon:
            return None
        account = replace(account, rho_limit=rho, delta_limit=delta, delta_of_rho=of_rho)
    return account if account.limit == amount else None


@lru_cache(4096)
def price_of(terms: str) -> Price | None:
    """What a charge took from the account in each currency; None where no lastbit writes it so.

    Most entries of an account state one of a few.
    """
    found = parsed(terms, "epsilon", "rho", "delta")
    if found is None or found["rho"] is None or found["delta"] is None:
        return None
    epsilon, rho, delta = found["epsilon"], found["rho"], found["delta"]
    if rho <= 0 or not 0 <= delta < 1 or (epsilon is not None and epsilon <= 0):
        return None
    return Price(epsilon, rho, delta)


def _sums(account: Account) -> str:
    if account.currency == "epsilon":
        return f"{account.spent} of {account.limit}"
    return f"epsilon {account.spent_epsilon}, rho {account.spent_rho}, delta {account.spent_delta} of {account.text}"


def _compared(row: Any, account: Account | None, digest: str) -> Iterator[tuple[str, Any, Any]]:
    """What an account's row states and what its entries add up to, by name."""
    for what, stated, added in (
        ("limit", row.budget, None if account is None else account.epsilon_limit),
        ("spent", row.spent, Fraction(0) if account is None else account.spent_epsilon),
        ("limit of rho", row.rho_budget, None if account is None else account.rho_limit),
        ("limit of delta", row.delta_budget, Fraction(0) if account is None else account.delta_limit),
        ("delta of rho", row.delta_of_rho, Fraction(0) if account is None else account.delta_of_rho),
        ("spent rho", row.spent_rho, Fraction(0) if account is None else account.spent_rho),
        ("spent delta", row.spent_delta, Fraction(0) if account is None else account.spent_delta),
    ):
        yield what, "none" if stated == "none" else exact(stated), "none" if added is None else added
    yield "adjacency", row.adjacency, None if account is None else account.adjacency
    yield "last digest", row.digest, digest


def exact(text: Any) -> Fraction | None:
    """A stored number; None where it is none.

    >>> exact("1/7"), exact("much")
    (Fraction(1, 7), None)
    """
    try:
        return Fraction(text) if isinstance(text, str) else None
    except (ValueError, ZeroDivisionError):
        return None
