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
from lastbit.ledger import codec
from lastbit.ledger.account import Account
from lastbit.ledger.identity import digest_of
from lastbit.ledger.price import Price, parse_terms
from lastbit.privacy import zcdp

FIELDS: Final = (
    "id", "dataset", "kind", "time", "mechanism", "parameters", "cost", "amount", "note", "adjacency", "terms",
    "question", "question_digest", "about", "protects", "asker",
)  # fmt: skip
"""What a digest covers, after the digest before it."""


def digest(before: str, entry: Any) -> str:
    """Return the digest of an entry, a row of the table; `before` is the digest of the entry before it, or ""."""
    # JSON of a list tells any two lists apart. What is no text or number was put there by hand: it shows its type.
    text = json.dumps([before, *(getattr(entry, name) for name in FIELDS)], default=lambda odd: [repr(odd)])
    return hashlib.sha256(text.encode("ascii")).hexdigest()


SEALED: Final = (
    "dataset", "budget", "spent", "adjacency", "digest",
    "rho_budget", "delta_budget", "delta_of_rho", "spent_rho", "spent_delta", "protects",
)  # fmt: skip
"""What the seal of an account covers: all that its row says."""


def seal(row: Any) -> str:
    """Return the seal of an account's row. A sum that was changed by hand does not fit it, and pays for nothing."""
    text = json.dumps([getattr(row, name) for name in SEALED], default=lambda odd: [repr(odd)])
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def find_problems(row: Any, entries: Iterable[Any]) -> Iterator[str]:
    """Yield what is wrong with the books of one account, from its row and the rows of its entries, oldest first."""
    name, before = row.dataset, ""
    account: Account | None = None
    charges: dict[int, Fraction] = {}
    for entry in entries:
        if entry.digest != digest(before, entry):
            yield (
                f"entry {entry.id} of {name!r} does not fit its digest: this entry was changed, or one before it was "
                "added or removed."
            )
        before = entry.digest
        after = _account_after(account, entry, charges) if entry.question_digest == digest_of(entry.question) else None
        if after is None:
            yield f"entry {entry.id} of {name!r} is none that lastbit writes: its kind is {entry.kind!r}."
        else:
            account = after
            if not account.within:
                yield f"entry {entry.id} of {name!r} goes over the limit: {_sums(account)} were spent then."
        if entry.published is not None and entry.published_digest != codec.digest(entry.digest, entry.published):
            yield f"what entry {entry.id} of {name!r} published does not fit its digest: it was changed."
    differences = [
        (field, added)
        for field, stated, added in _comparisons(row, account, before)
        if stated is None or stated != added
    ]
    for field, added in differences:
        yield f"the account {name!r} and its entries differ in: {field}. The entries say {added}."
    if not differences and row.seal != seal(row):
        yield f"the account {name!r} does not fit its seal: somebody wrote to its row by hand."


def _account_after(account: Account | None, entry: Any, charges: dict[int, Fraction]) -> Account | None:
    """Return the account after an entry; None where no lastbit writes such an entry.

    `charges` are the epsilons of the charges before, by their entries. Each may be given back once, and not all of it.
    """
    amount = parse_fraction(entry.amount)
    if account is not None and entry.kind == "part":
        terms = parse_terms(entry.terms, "of")
        # A part is paid for by its charge, and changes no sum.
        return account if amount == 0 and terms is not None and terms["of"] in charges else None
    if amount is None or amount <= 0 or (entry.kind == "create") != (account is None):
        return None
    try:
        if account is None:
            return _parse_creation(entry, amount)
        if entry.kind == "raise" and entry.terms == "{}":
            return account.with_higher_limit(**{account.currency: amount})
        if entry.kind == "charge":
            price = parse_price(entry.terms)
            if price is not None and account.amount_of(price) == amount:
                charges[entry.id] = price.epsilon or Fraction(0)
                return account.protecting(entry.protects).plus(price)
        if entry.kind == "refund":
            terms = parse_terms(entry.terms, "epsilon", "of")
            if terms is not None and terms["epsilon"] == amount < charges.pop(terms["of"], Fraction(0)):
                return account.refunded(amount)
    except LastbitError:
        pass
    return None


def _parse_creation(entry: Any, amount: Fraction) -> Account | None:
    terms = parse_terms(entry.terms, "epsilon", "rho", "delta", "delta_of_rho")
    if terms is None or terms["delta"] is None or terms["delta_of_rho"] is None:
        return None
    epsilon, rho, delta, delta_of_rho = (terms[name] for name in ("epsilon", "rho", "delta", "delta_of_rho"))
    if epsilon is None or rho is None:
        if delta_of_rho or (epsilon is not None and delta):
            return None
        account = Account.with_limit(entry.dataset, epsilon=epsilon, rho=rho, delta=delta, adjacency=entry.adjacency)
    else:
        account = Account.with_limit(entry.dataset, epsilon=epsilon, adjacency=entry.adjacency)
        # The certificate and not the number: another lastbit may find a larger rho.
        if not 0 < delta_of_rho < delta < 1 or rho <= 0 or zcdp.epsilon_at(rho, delta_of_rho) > epsilon:
            return None
        account = replace(account, rho_limit=rho, delta_limit=delta, delta_of_rho=delta_of_rho)
    return account if account.limit == amount else None


@lru_cache(4096)
def parse_price(terms: str) -> Price | None:
    """Return what a charge took from the account in each currency; None where no lastbit writes it so.

    Most entries of an account state one of a few.
    """
    numbers = parse_terms(terms, "epsilon", "rho", "delta")
    if numbers is None or numbers["rho"] is None or numbers["delta"] is None:
        return None
    epsilon, rho, delta = numbers["epsilon"], numbers["rho"], numbers["delta"]
    if rho <= 0 or not 0 <= delta < 1 or (epsilon is not None and epsilon <= 0):
        return None
    return Price(epsilon, rho, delta)


def _sums(account: Account) -> str:
    if account.currency == "epsilon":
        return f"{account.spent} of {account.limit}"
    return f"epsilon {account.spent_epsilon}, rho {account.spent_rho}, delta {account.spent_delta} of {account.text}"


def _comparisons(row: Any, account: Account | None, digest: str) -> Iterator[tuple[str, Any, Any]]:
    """Yield, for each field of an account, its name, what the row states, and what the entries add up to."""
    for field, stated, added in (
        ("limit", row.budget, None if account is None else account.epsilon_limit),
        ("spent", row.spent, Fraction(0) if account is None else account.spent_epsilon),
        ("limit of rho", row.rho_budget, None if account is None else account.rho_limit),
        ("limit of delta", row.delta_budget, Fraction(0) if account is None else account.delta_limit),
        ("delta of rho", row.delta_of_rho, Fraction(0) if account is None else account.delta_of_rho),
        ("spent rho", row.spent_rho, Fraction(0) if account is None else account.spent_rho),
        ("spent delta", row.spent_delta, Fraction(0) if account is None else account.spent_delta),
    ):
        yield field, "none" if stated == "none" else parse_fraction(stated), "none" if added is None else added
    yield "adjacency", row.adjacency, None if account is None else account.adjacency
    yield "protects", row.protects, "" if account is None else account.protects
    yield "last digest", row.digest, digest


def parse_fraction(text: Any) -> Fraction | None:
    """Return a stored number; None where the text is no number.

    >>> parse_fraction("1/7"), parse_fraction("much")
    (Fraction(1, 7), None)
    """
    try:
        return Fraction(text) if isinstance(text, str) else None
    except (ValueError, ZeroDivisionError):
        return None
