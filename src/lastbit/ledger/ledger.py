"""`Ledger`: what was spent on each data set, what may still be, and a record of every release."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from lastbit.chance.draw import Draw
from lastbit.errors import LedgerError, MechanismError, ParameterError
from lastbit.exact.numbers import Number, flag
from lastbit.ledger import books, keys, questions, refusals
from lastbit.ledger import published as codec
from lastbit.ledger.accounts import Accounts
from lastbit.ledger.entry import Charge, Entry
from lastbit.ledger.identity import Identity, check_identity
from lastbit.ledger.price import written
from lastbit.mechanisms.mechanism import Mechanism, chance
from lastbit.mechanisms.sparse_vector.mechanism import StreamMechanism
from lastbit.mechanisms.sparse_vector.run import Run
from lastbit.mechanisms.tick import Tick
from lastbit.release import Release
from lastbit.values.adjacency import Adjacency
from lastbit.values.known import Known

Published = TypeVar("Published")


class NotKept(UserWarning):
    """A release is charged and drawn, and the books could not keep it."""


class Ledger(Accounts):
    """Accounts with limits, in a SQLite file or a PostgreSQL database, that no number of processes can overdraw.

    A charge is committed to disk before anything is drawn. A release that fails or crashes stays charged: that may
    waste budget and can never exceed it. Sums are exact fractions. What is recorded is public: mechanism, parameters,
    cost, time, note, and the published release; never a private value. `verify=True` checks the books when the ledger
    is opened. `witness=` names a file, best on another machine, that learns of each charge before anything is drawn; a
    ledger that lacks what its witness has seen, as an older copy or a server that lagged does, is refused.

    >>> import tempfile, lastbit as lb
    >>> ledger = Ledger(tempfile.mkdtemp() + "/budget.db")
    >>> ledger.create("clinic", epsilon=1)
    Account(dataset='clinic', limit=Fraction(1, 1), spent=Fraction(0, 1), adjacency='add-remove')
    >>> noisy = ledger.release("clinic", lb.DiscreteLaplace(epsilon="0.7"), [120, 45], note="weekly")
    >>> ledger.account("clinic").remaining
    Fraction(3, 10)
    >>> ledger.release("clinic", lb.DiscreteLaplace(epsilon="0.7"), [120, 45])
    Traceback (most recent call last):
    lastbit.errors.BudgetExceeded: the budget of 'clinic' allows no more than epsilon 3/10: requested 7/10, ...
    """

    def charge(
        self,
        dataset: str,
        mechanism: Mechanism[Any],
        *,
        adjacency: Adjacency | None = None,
        note: str = "",
        question: Identity | None = None,
        once: str = "",
    ) -> Charge:
        """Take a mechanism's cost from the budget, or raise BudgetExceeded. When this returns, it is on disk.

        `adjacency` says for which neighbours the mechanism's cost holds; None means the account's own. What a cost for
        others is in the account's notion, `Account.prices` says. `question` is what `answer` finds the release by, and
        what the history says of it.

        `once` is a key that pays once: a second charge with the same key raises AlreadyCharged, in any process and
        after any crash, and charges nothing. `charged(once)` finds the entry.
        """
        return self._charge(dataset, mechanism, adjacency, note, question, once, settle=True)

    def _charge(
        self,
        dataset: str,
        mechanism: Mechanism[Any],
        adjacency: Adjacency | None,
        note: str,
        question: Identity | None,
        once: str,
        *,
        settle: bool,
    ) -> Charge:
        cost, note = getattr(refusals.mechanism_of(mechanism), "cost", None), refusals.text_of(note, "note")
        question, once = check_identity(question), refusals.text_of(once, "once")
        adjacency = refusals.common(mechanism.adjacency, adjacency)
        with self._store.transaction(settle=settle) as rows:
            if once:
                # Before the account: all who hold the two take them in this order.
                self._store.lock(rows)
                keys.check_unused(rows, once)
            before = books.account_of(books.row_of(rows, dataset, lock=True))
            price = before.prices(cost, adjacency)
            account = before.paid(price)
            entry, digest = books.write(
                rows,
                account,
                "charge",
                account.own(price),
                written(epsilon=price.epsilon, rho=price.rho, delta=price.delta),
                adjacency=adjacency,
                mechanism=mechanism,
                note=note,
                question=question,
            )
            if once:
                keys.use(rows, once, entry)
        try:
            self._remember(dataset, (entry, digest))
        except BaseException:
            self._store.settle()  # it is charged, and nothing will follow that would do it
            raise
        return Charge(entry, replace(account, digest=digest))

    def charged(self, once: str) -> Entry | None:
        """The entry of the charge that was made with a key that pays once; None where there is none.

        >>> import tempfile, lastbit as lb
        >>> ledger = Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> account, mechanism = ledger.create("clinic", epsilon=1), lb.DiscreteLaplace(epsilon="1/4")
        >>> charge = ledger.charge("clinic", mechanism, once="a key")
        >>> ledger.charge("clinic", mechanism, once="a key")
        Traceback (most recent call last):
        lastbit.errors.AlreadyCharged: this key has paid for entry 2 already. Nothing was drawn and nothing was charged.
        >>> ledger.charged("a key").id == charge.id, ledger.charged("another key"), ledger.account("clinic").spent
        (True, None, Fraction(1, 4))
        """
        with self._store.look() as rows:
            found = keys.entry_of(rows, once)
            row = None if found is None else books.line_row(rows, found)
        return None if row is None else books.entry_of(row, self._kept)

    def record(self, charge: Charge, published: object = None) -> None:
        """Note that the release of a charge was done, and keep what was published: it is public.

        Only a Release is kept. `published(charge.id)` gives it back. Every program sees it at once. It is on disk with
        the next charge at the latest: what a failing machine loses is this note, and never the charge.
        """
        kept = codec.write(published) if isinstance(published, Release) else None
        made = None if kept is None else codec.digest(charge.account.digest, kept)
        with self._store.transaction(durable=False) as rows:
            books.record(rows, charge.id, kept, made)

    def answer(
        self,
        dataset: str,
        mechanism: Mechanism[Any],
        *,
        question: Identity | None,
        adjacency: Adjacency | None = None,
    ) -> Entry | None:
        """The last entry of a release by an equal mechanism that answered this very question; None where there is none.

        Two questions are the same where all their facts are. Nothing is charged here.

        >>> import tempfile, lastbit as lb
        >>> from lastbit.ledger import Identity
        >>> ledger = Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> account, mechanism = ledger.create("clinic", epsilon=1), lb.DiscreteLaplace(epsilon="1/4")
        >>> asked = Identity({"version": 1, "of": "beds"}, about="how many beds")
        >>> noisy = ledger.spend("clinic", mechanism, mechanism.ready([120]), question=asked)
        >>> entry = ledger.answer("clinic", mechanism, question=asked)
        >>> entry.about, entry.published == noisy
        ('how many beds', True)
        """
        adjacency = refusals.common(refusals.mechanism_of(mechanism).adjacency, adjacency)
        question = check_identity(question)
        if question is None:
            return None
        with self._store.look() as rows:
            row = books.answer_to(rows, dataset, mechanism, adjacency, question)
        return None if row is None else books.entry_of(row, self._kept)

    def spend(
        self,
        dataset: str,
        mechanism: Mechanism[Any],
        ready: Callable[[Draw], Published],
        *,
        adjacency: Adjacency | None = None,
        note: str = "",
        draw: Draw | None = None,
        question: Identity | None = None,
        once: str = "",
    ) -> Published:
        """Charge a mechanism's cost, then draw, then record: the one way from a budget to a release.

        `ready` is the second half of a release of this mechanism, such as `mechanism.ready(values)` gives; `adjacency`
        is that of the values, `values.adjacency`. Without it the values count as the account's own notion. What is
        published is in the books when this returns.

        >>> import tempfile, lastbit as lb
        >>> ledger = Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> account, mechanism = ledger.create("clinic", epsilon=1), lb.ExponentialMechanism(epsilon="1/2")
        >>> ledger.spend("clinic", mechanism, mechanism.ready_ranking([0, 1000, 500], 2)).indices
        (1, 2)
        """
        refusals.mechanism_of(mechanism)
        if not callable(ready):
            raise ParameterError(
                "ready must be a function of a Draw, such as mechanism.ready(values). Nothing was drawn."
            )
        draw = chance(draw)
        charge = self._charge(dataset, mechanism, adjacency, note, question, once, settle=False)
        try:
            published = ready(draw)
            if isinstance(published, Release) and published.cost != mechanism.cost:
                raise LedgerError(
                    f"the release states {published.cost.text}, and {mechanism.cost.text} was charged: ready belongs "
                    "to another mechanism. It is not handed out. Pass the ready(values) of the mechanism that is "
                    "charged."
                )
        except BaseException:
            self._store.settle()  # no record will follow that would do it
            raise
        try:
            self.record(charge, published)
        except LedgerError:
            # It is paid for and drawn: whoever asked must have it.
            warnings.warn(
                f"entry {charge.id} of the ledger is charged, and its release stands, but the books could not be "
                "written again to keep the release. Save the release yourself, and check the disk or the database.",
                NotKept,
                stacklevel=2,
            )
        return published

    def release(
        self,
        dataset: str,
        mechanism: Mechanism[Published],
        *values: Any,
        adjacency: Adjacency | None = None,
        note: str = "",
        draw: Draw | None = None,
        hold: Number | None = None,
        query: str | None = None,
        reuse: bool = False,
        **options: Any,
    ) -> Published:
        """Charge, then draw, then record. What the mechanism refuses is refused before, and costs nothing.

        Values, options and `hold` are those of `mechanism.release`. Counts and Statistics say themselves for which
        neighbours the cost holds. Bare values count as the account's own notion, unless `adjacency` says otherwise.

        `query` says in words what is asked, for the history. With `reuse=True` a question that was answered before is
        answered from the books for nothing: the same data set, mechanism, parameters, adjacency, query, and items of
        Counts. No private value is compared, so the answer is the old one even where the data have changed since.

        >>> import tempfile, numpy, lastbit as lb
        >>> ledger = Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> account = ledger.create("survey", epsilon=1, adjacency="replace")
        >>> ages = numpy.array([20, 30, 70])
        >>> total, mean = lb.exact_sum(ages, bounds=(0, 100)), lb.exact_mean(ages, bounds=(0, 100))
        >>> noisy = ledger.release("survey", lb.DiscreteLaplace.of(mean, epsilon="1/4"), mean)
        >>> noisy = ledger.release("survey", lb.DiscreteLaplace.of(total, epsilon="1/4"), total)
        >>> [str(entry.amount) for entry in ledger.history("survey")[1:]]  # the sum is private for add-remove: twice
        ['1/4', '1/2']
        >>> again = [
        ...     ledger.release("survey", lb.DiscreteLaplace.of(mean, epsilon="1/8"), mean, query="age", reuse=True)
        ...     for _ in range(5)
        ... ]
        >>> ledger.account("survey").remaining, len(set(again))
        (Fraction(1, 8), 1)
        """
        if flag(reuse, "reuse"):
            questions.check_reuse(refusals.mechanism_of(mechanism), query, values, options)
        tick = None if hold is None else Tick(hold)
        known = (each.adjacency for each in (*values, *options.values()) if isinstance(each, Known))
        adjacency = refusals.common(refusals.mechanism_of(mechanism).adjacency, adjacency, *known)
        question = None if query is None else questions.identify_query(query, values, options)
        found = self.answer(dataset, mechanism, question=question, adjacency=adjacency) if reuse else None
        if found is None:
            ready = mechanism.ready(*values, **options)
            published = self.spend(
                dataset, mechanism, ready, adjacency=adjacency, note=note, draw=draw, question=question
            )
        else:
            published = found.published
        if tick is not None:
            tick.wait()
        return published

    def start(
        self,
        dataset: str,
        mechanism: StreamMechanism,
        *,
        adjacency: Adjacency | None = None,
        note: str = "",
        draw: Draw | None = None,
        query: str | None = None,
    ) -> Run:
        """Charge the whole cost of a sparse vector, then start a run. The books do not keep its answers.

        `adjacency` is that of all the values which the run will be asked about; without it, the account's own notion.
        `query` says in words what is asked, for the history.

        >>> import tempfile, lastbit as lb
        >>> ledger = Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> account = ledger.create("clinic", epsilon=1)
        >>> mechanism = lb.SparseVector(threshold=1000, limit=1, epsilon="1/2")
        >>> run = ledger.start("clinic", mechanism, query="visits each minute")
        >>> run.ask(2000).above, ledger.account("clinic").remaining, ledger.history("clinic")[-1].about
        (True, Fraction(1, 2), 'visits each minute')
        """
        if not isinstance(refusals.mechanism_of(mechanism), StreamMechanism):
            raise MechanismError(
                f"start takes a mechanism that answers a stream, such as SparseVector: got {type(mechanism).__name__}. "
                "Use release. Nothing was drawn and nothing was charged."
            )
        question = None if query is None else questions.identify_query(query, (), {})
        return self.spend(
            dataset, mechanism, mechanism.start, adjacency=adjacency, note=note, draw=draw, question=question
        )
