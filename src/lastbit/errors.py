"""Every exception lastbit raises, in one tree.

A message says what was expected, what came, and what to do. Parameters may be shown; private values never.
"""

from __future__ import annotations

from fractions import Fraction


class LastbitError(Exception):
    """The root: `except lastbit.LastbitError` catches every error of lastbit and nothing else."""


class ParameterError(LastbitError, ValueError):
    """A public parameter cannot be used. Nothing was drawn and nothing was charged."""


class MechanismError(LastbitError, TypeError):
    """A class or an object cannot be used as a mechanism. Nothing was drawn and nothing was charged."""


class TapeEnded(LastbitError):
    """A `Tape` has no more words. Only a test that builds its tape too short sees this error."""


class BitsError(LastbitError):
    """A source of random words broke its contract: `words(n)` must give n unsigned 64-bit integers."""


class AuditError(LastbitError):
    """The auditor cannot follow a program: the program depends on more than its draws, or asks for raw words."""


class RunExhausted(LastbitError):
    """A run has spent its budget and answers no more. Nothing was drawn."""


class RunBound(LastbitError, TypeError):
    """A run holds secret noise, so it stays where it began: no copy, no pickle, no use in a forked process."""


class DataError(LastbitError):
    """A table cannot be read or counted. The message names columns and kinds of errors, never a value of a row."""


class LedgerError(LastbitError):
    """A ledger cannot be opened, or has no such account. Nothing was drawn and nothing was charged."""


class AlreadyCharged(LedgerError):
    """A key that pays once has paid before, for the entry `entry`. Nothing was drawn and nothing was charged."""

    def __init__(self, message: str, entry: int) -> None:
        self.entry = entry
        super().__init__(message)

    def __reduce__(self) -> tuple[type[AlreadyCharged], tuple[str, int]]:
        return AlreadyCharged, (str(self), self.entry)


class BudgetExceeded(LedgerError):
    """A data set's limit does not allow a release. Nothing was drawn and nothing was charged.

    `requested`, `spent` and `limit` are exact, in the `currency` that does not fit: epsilon, rho or delta.
    """

    def __init__(
        self,
        dataset: str,
        requested: Fraction,
        spent: Fraction,
        limit: Fraction,
        currency: str = "epsilon",
        message: str = "",
    ) -> None:
        self.dataset, self.requested, self.spent, self.limit = dataset, requested, spent, limit
        self.currency = currency
        super().__init__(
            message
            or f"the budget of {dataset!r} allows no more than {currency} {limit - spent}: requested {requested}, "
            f"spent {spent}, limit {limit}. Nothing was drawn and nothing was charged. Ask for less, or raise the "
            "limit."
        )

    def __reduce__(self) -> tuple[type[BudgetExceeded], tuple[str, Fraction, Fraction, Fraction, str, str]]:
        return BudgetExceeded, (self.dataset, self.requested, self.spent, self.limit, self.currency, str(self))
