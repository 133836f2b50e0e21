"""The exceptions of the library, in one tree. The pages of the server add a few of their own to it.

A message says what was expected, what came, and what to do. Parameters may be shown; private values never.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final, NoReturn

ASK_FOR_LESS: Final = "Ask for less, or raise the limit (lastbit budget raise, or ledger.raise_limit)."


class LastbitError(Exception):
    """The root: `except lastbit.LastbitError` catches every error of lastbit and nothing else.

    To do:    read the message: it says what was expected, what came, and what to type next.

    >>> import lastbit as lb
    >>> try:
    ...     lb.NoisyMax(epsilon=0)
    ... except lb.LastbitError as error:
    ...     print(error)
    epsilon must be positive: got 0. A release that costs nothing cannot use the data.
    """


class ParameterError(LastbitError, ValueError):
    """A public parameter cannot be used. Nothing was drawn and nothing was charged.

    To do:    change the parameter that the message names to the kind of value that the message asks for.

    >>> import lastbit as lb
    >>> lb.NoisyTopK(k=0, epsilon=1)
    Traceback (most recent call last):
    lastbit.errors.ParameterError: k must be a whole number of at least 1: got 0.
    """


class StudyError(ParameterError):
    """A study file declares what cannot be. Nothing was drawn and nothing was charged.

    To do:    change each key that the message names. `problems` has them one by one.

    >>> import lastbit as lb
    >>> lb.Publication.from_text('[budget]\\nepsilon = 1')
    Traceback (most recent call last):
    lastbit.errors.StudyError: data: a study needs [data].
    question: a study needs [[question]].
    """

    def __init__(self, problems: Sequence[object]) -> None:
        super().__init__("\n".join(map(str, problems)))
        self.problems = tuple(problems)


class MechanismError(LastbitError, TypeError):
    """A class or an object cannot be used as a mechanism. Nothing was drawn and nothing was charged.

    To do:    pass an object of a mechanism, not its class. A mechanism of your own defines `ready`, not `release`.

    >>> import lastbit as lb
    >>> lb.Ledger("budget.db").release("clinic", lb.NoisyMax, [3, 4])
    Traceback (most recent call last):
    lastbit.errors.MechanismError: a ledger charges a Mechanism, such as DiscreteLaplace(epsilon=1): got the class ...
    """


class TapeEnded(LastbitError):
    """A `Tape` has no more words. Only a test that builds its tape too short sees this error.

    To do:    give the tape more words. Outside of tests, leave out `draw=`: then the system's randomness is used.

    >>> import lastbit as lb
    >>> lb.NoisyMax(epsilon=1).release([3, 4], lb.Sampler(lb.Tape([])))
    Traceback (most recent call last):
    lastbit.errors.TapeEnded: ...
    """


class BitsError(LastbitError):
    """A source of random words broke its contract: `words(n)` must give n unsigned 64-bit integers.

    To do:    mend the source: `words(n)` returns a NumPy array of n uint64. Outside of tests, use `SystemBits`. Where
              the operating system itself gives no words, a ledger says so before it charges.

    >>> import lastbit as lb
    >>> class Short:
    ...     def words(self, n):
    ...         return []
    >>> lb.NoisyMax(epsilon=1).release([3, 4], lb.Sampler(Short()))
    Traceback (most recent call last):
    lastbit.errors.BitsError: ...
    """


class AuditError(LastbitError):
    """The auditor cannot follow a program: the program depends on more than its draws, or asks for raw words.

    To do:    take all randomness from the `Draw` that the program is given, and keep nothing from one run to the next.

    >>> import lastbit as lb
    >>> import itertools
    >>> runs = itertools.count()
    >>> lb.audit.law(lambda draw: draw.integer(2) + next(runs))
    Traceback (most recent call last):
    lastbit.errors.AuditError: ...
    """


class RunExhausted(LastbitError):
    """A run has spent its budget and answers no more. Nothing was drawn.

    To do:    start a new run, which is charged again, or ask `run.exhausted` before each query.

    >>> import lastbit as lb
    >>> run = lb.SparseVector(threshold=100, limit=1, epsilon=9).start()
    >>> run.ask(900).above
    True
    >>> run.ask(900)
    Traceback (most recent call last):
    lastbit.errors.RunExhausted: ...
    """


class RunBound(LastbitError, TypeError):
    """A run holds secret noise, so it stays where it began: no copy, no pickle, no use in a forked process.

    To do:    start a run in the process that asks it. To share answers, share what `ask` returned.

    >>> import lastbit as lb
    >>> import copy
    >>> copy.copy(lb.SparseVector(threshold=100, limit=1, epsilon=9).start())
    Traceback (most recent call last):
    lastbit.errors.RunBound: ...
    """


class DataError(LastbitError):
    """A table cannot be read or counted. The message names columns and kinds of errors, never a value of a row.

    To do:    check the file, the column or the type that the message names. Nothing was drawn and nothing was charged.

    >>> import lastbit as lb
    >>> lb.ask("count", "no-such-file.csv", unit="patient", epsilon=1)
    Traceback (most recent call last):
    lastbit.errors.DataError: there is no file no-such-file.csv. ...
    """


class LedgerError(LastbitError):
    """A ledger cannot be opened, or its books cannot be used. Nothing was drawn and nothing was charged.

    To do:    check the path or the address of the ledger, and do what the message says.

    >>> import lastbit as lb
    >>> lb.Ledger("mysql://db/budget")
    Traceback (most recent call last):
    lastbit.errors.LedgerError: a ledger lives in SQLite or PostgreSQL: got mysql. ...
    """


class LedgerNotFound(LedgerError):
    """There is no ledger at this path or address. Nothing was drawn and nothing was charged.

    To do:    check the path or the address; or create an account with a limit, which makes the ledger.

    >>> import lastbit as lb
    >>> lb.Ledger("no-such-ledger.db").account("clinic")
    Traceback (most recent call last):
    lastbit.errors.LedgerNotFound: there is no ledger at no-such-ledger.db. ...
    """


class AccountNotFound(LedgerError):
    """A ledger has no account of this name. Nothing was drawn and nothing was charged.

    To do:    check the name of the account, `lastbit budget show` lists all; or create the account with a limit.

    >>> import lastbit as lb
    >>> import pathlib, tempfile
    >>> ledger = lb.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> account = ledger.create("clinic", epsilon=1)
    >>> ledger.account("school")
    Traceback (most recent call last):
    lastbit.errors.AccountNotFound: there is no account named 'school'. ...
    """


class EntryNotFound(LedgerError):
    """The books have no entry of this number. Nothing was drawn and nothing was charged.

    To do:    check the number of the entry: `lastbit budget history` lists the entries of an account.

    >>> import lastbit as lb
    >>> import pathlib, tempfile
    >>> ledger = lb.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> account = ledger.create("clinic", epsilon=1)
    >>> ledger.published(7)
    Traceback (most recent call last):
    lastbit.errors.EntryNotFound: there is no entry 7 in the books. ...
    """


class AlreadyCharged(LedgerError):
    """A key that pays once has paid before, for the entry `entry`. Nothing was drawn and nothing was charged.

    To do:    read the release of that entry, `ledger.published(error.entry)`; for a new release, take a new key.

    >>> import lastbit as lb
    >>> import pathlib, tempfile
    >>> ledger = lb.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> account = ledger.create("clinic", epsilon=1)
    >>> charge = ledger.charge("clinic", lb.NoisyMax(epsilon="1/4"), once="report-7")
    >>> ledger.charge("clinic", lb.NoisyMax(epsilon="1/4"), once="report-7")
    Traceback (most recent call last):
    lastbit.errors.AlreadyCharged: this key has paid for entry 2 already. ...
    """

    def __init__(self, message: str, entry: int) -> None:
        self.entry = entry
        super().__init__(message)

    def __reduce__(self) -> tuple[type[AlreadyCharged], tuple[str, int]]:
        return AlreadyCharged, (str(self), self.entry)


class BudgetExceeded(LedgerError):
    """A data set's limit does not allow a release. Nothing was drawn and nothing was charged.

    `requested`, `spent` and `limit` are exact, in the `currency` that does not fit: epsilon, rho or delta.

    To do:    ask for a smaller cost, take an answer that is already in the books (`reuse=True`), or have the owner of
              the data raise the limit.

    >>> import lastbit as lb
    >>> import pathlib, tempfile
    >>> ledger = lb.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> account = ledger.create("clinic", epsilon=1)
    >>> try:
    ...     ledger.release("clinic", lb.NoisyMax(epsilon=2), [3, 4])
    ... except lb.BudgetExceeded as refusal:
    ...     print(refusal.currency, refusal.requested, refusal.spent, refusal.limit)
    epsilon 2 0 1
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
            f"spent {spent}, limit {limit}. Nothing was drawn and nothing was charged. {ASK_FOR_LESS}"
        )

    def __reduce__(self) -> tuple[type[BudgetExceeded], tuple[str, Fraction, Fraction, Fraction, str, str]]:
        return BudgetExceeded, (self.dataset, self.requested, self.spent, self.limit, self.currency, str(self))


def missing_column_error(name: str, present: Iterable[object], hint: str = "") -> ParameterError:
    """Return the error for a table that lacks a column that somebody named.

    >>> print(missing_column_error("ward", ["patient", "diagnosis"]))
    there is no column 'ward': the table has patient, diagnosis.
    """
    return ParameterError(f"there is no column {name!r}: the table has {', '.join(map(str, present))}.{hint}")


def raise_alone(error: LastbitError) -> NoReturn:
    """Raise an error without the one that is being handled: a message of others may quote a row.

    In a context manager Python attaches the error that ended the block, also where the manager has caught it.

    >>> try:
    ...     int("row 7")
    ... except ValueError:
    ...     try:
    ...         raise_alone(DataError("the table could not be read."))
    ...     except DataError as alone:
    ...         print(alone.__context__)
    None
    """
    try:
        raise error
    except LastbitError:
        error.__context__ = None
        raise


def add_charge_note(error: BaseException, sentence: str) -> None:
    """Say with an error that came after a charge what stays charged. The first who says it is right.

    >>> error = MemoryError()
    >>> add_charge_note(error, "Entry 7 is charged.")
    >>> find_charge_note(error), find_charge_note(MemoryError())
    ('Entry 7 is charged.', '')
    """
    if not find_charge_note(error):
        error.add_note(sentence)
        vars(error)["charge_note"] = sentence  # notes of others may quote a row


def find_charge_note(error: BaseException) -> str:
    """Return what is charged, where an error came after a charge; "" for all other errors."""
    return str(vars(error).get("charge_note", ""))
