"""What a ledger tells: the state of an account, a line of its history, and that something is charged."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from fractions import Fraction
from numbers import Rational

from lastbit.errors import BudgetExceeded, LedgerError, MechanismError
from lastbit.privacy.cost import Cost
from lastbit.values.adjacency import Adjacency, named


@dataclass(frozen=True)
class Account:
    """What a data set may cost in all, and what it has cost so far: exact, in epsilon.

    >>> account = Account("clinic", Fraction(3), Fraction(1), "replace")
    >>> account.remaining, account.price(Cost.of(1)), account.price(Cost.of(1), "add-remove")
    (Fraction(2, 1), Fraction(1, 1), Fraction(2, 1))
    """

    dataset: str
    limit: Fraction
    spent: Fraction
    adjacency: Adjacency = "add-remove"
    """For which neighbours the sum holds: for data sets that differ by one person more, or by one replaced record."""
    digest: str = field(default="", repr=False)
    """The digest of the last entry: whoever writes it down elsewhere can check later that nothing before it changed."""

    @property
    def remaining(self) -> Fraction:
        """What may still be spent."""
        return self.limit - self.spent

    def price(self, cost: Cost | None, adjacency: Adjacency | None = None) -> Fraction:
        """What a release costs here, that costs so much for neighbours of this adjacency; None means the account's own.

        To replace a record is to remove one and to add one: a cost for add-remove counts twice where neighbours
        replace. The other way round nothing is promised, and the release is refused. See docs/data-and-budget.md.
        """
        amount = cost.amount if isinstance(cost, Cost) else None
        if not isinstance(amount, Rational) or amount <= 0:
            raise MechanismError(
                "a mechanism's cost must be a positive Cost. A release that costs nothing cannot use the data. Build "
                "it with Cost.of(epsilon). Nothing was drawn and nothing was charged."
            )
        own = Fraction(amount)
        if adjacency is None or named(adjacency) == self.adjacency:
            return own
        if self.adjacency == "replace":
            return 2 * own
        raise LedgerError(
            f"the account {self.dataset!r} adds up what is promised when a person comes or goes (add-remove). This "
            "release promises something only when a person replaces a record, as the number of records is public. "
            "Use values with a private number of records (exact_sum or histogram without replaces=True, mean_sums with "
            "NoisyMean), or an account created with adjacency='replace'. Nothing was drawn and nothing was charged."
        )

    def allows(self, cost: Cost | None, adjacency: Adjacency | None = None) -> bool:
        """Whether the limit leaves room for a cost."""
        return self.price(cost, adjacency) <= self.remaining

    def charged(self, cost: Cost | None, adjacency: Adjacency | None = None) -> Account:
        """The account as it would be after a charge, or BudgetExceeded. This writes nothing."""
        amount = self.price(cost, adjacency)
        if amount > self.remaining:
            raise BudgetExceeded(self.dataset, amount, self.spent, self.limit)
        return replace(self, spent=self.spent + amount)


@dataclass(frozen=True)
class Entry:
    """One line of the history: an account created, a charge, or a limit raised. Nothing private is in it."""

    id: int
    dataset: str
    kind: str
    """create, charge or raise."""
    time: datetime
    mechanism: str
    parameters: Mapping[str, str]
    cost: str
    """As the mechanism states it."""
    amount: Fraction
    """What was charged, in epsilon; for create and raise, the new limit."""
    note: str
    released: datetime | None
    """When the release was done; None when it failed, was cut short, or is under way. It is charged all the same."""
    adjacency: Adjacency
    """For which neighbours the mechanism's cost holds; for create and raise, those of the account."""
    digest: str
    """SHA-256 over the digest of the entry before and everything here but `released`."""


@dataclass(frozen=True)
class Charge:
    """Proof that a cost is in the books: whoever holds one may draw."""

    id: int
    account: Account
