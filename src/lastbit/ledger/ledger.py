"""`Ledger`: what was spent on each data set, what may still be, and a record of every release."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

from lastbit.chance.bits import check_system
from lastbit.chance.draw import Draw
from lastbit.chance.sampler import Sampler
from lastbit.errors import LedgerError, MechanismError, ParameterError, add_charge_note
from lastbit.exact.numbers import Number, flag
from lastbit.ledger import codec, keys, query_identity, table_rows, validation
from lastbit.ledger.account import Account
from lastbit.ledger.entry import Charge, Entry
from lastbit.ledger.identity import Identity, check_identity
from lastbit.ledger.parts import PartRecords
from lastbit.ledger.price import write_terms
from lastbit.mechanisms.mechanism import Mechanism, resolve_draw
from lastbit.mechanisms.sparse_vector.mechanism import AboveThreshold, StreamMechanism, WholeRun
from lastbit.mechanisms.sparse_vector.run import Run
from lastbit.mechanisms.tick import Tick
from lastbit.release import Release, say_of_whom
from lastbit.values.adjacency import Adjacency

Published = TypeVar("Published")


class NotRecordedWarning(UserWarning):
    """A release is charged and drawn, and the books could not keep it."""


class Ledger(PartRecords):
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
        asker: str = "",
    ) -> Charge:
        """Take a mechanism's cost from the budget, or raise BudgetExceeded. When this returns, it is on disk.

        `adjacency` says for which neighbours the mechanism's cost holds; None means the account's own. What a cost for
        others is in the account's notion, `Account.prices` says. `question` is what `answer` finds the release by, and
        what the history says of it.

        `once` is a key that pays once: a second charge with the same key raises AlreadyCharged, in any process and
        after any crash, and charges nothing. `charged(once)` finds the entry. `asker` is the name of whoever asks, for
        the history.
        """
        return self._charge(
            dataset, mechanism, adjacency, note=note, question=question, once=once, asker=asker, settle=True
        )

    def _charge(
        self,
        dataset: str,
        mechanism: Mechanism[Any],
        adjacency: Adjacency | None,
        *,
        note: str,
        question: Identity | None,
        once: str,
        asker: str,
        settle: bool,
    ) -> Charge:
        cost, note = getattr(validation.check_mechanism(mechanism), "cost", None), validation.check_text(note, "note")
        question, once = check_identity(question), validation.check_text(once, "once")
        asker = validation.check_text(asker, "asker")
        adjacency = validation.common_adjacency(mechanism.adjacency, adjacency)
        with self._store.transaction(settle=settle) as connection:
            if once:
                # Before the account: all who hold the two take them in this order.
                self._store.lock(connection)
                keys.check_unused(connection, once)
            before = table_rows.parse_account(table_rows.find_account_row(connection, dataset, lock=True))
            price = before.prices(cost, adjacency)
            account = before.protecting("" if question is None else question.protects).after_price(price)
            entry, entry_digest = table_rows.add_entry(
                connection,
                account,
                "charge",
                account.amount_of(price),
                write_terms(epsilon=price.epsilon, rho=price.rho, delta=price.delta),
                adjacency=adjacency,
                mechanism=mechanism,
                note=note,
                question=question,
                asker=asker,
            )
            if once:
                keys.use(connection, once, entry)
        try:
            self._remember(dataset, (entry, entry_digest))
        except BaseException as error:
            self._store.settle()  # it is charged, and nothing will follow that would do it
            add_charge_note(error, _say_charged(dataset, entry))
            raise
        return Charge(entry, replace(account, digest=entry_digest))

    def charged(self, once: str) -> Entry | None:
        """Return the entry of the charge that was made with a key that pays once; None where there is none.

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
        with self._store.read_transaction() as connection:
            entry = keys.find_entry(connection, once)
            row = None if entry is None else table_rows.find_history_row(connection, entry)
        return None if row is None else table_rows.parse_entry(row, self._read_published)

    def record(self, charge: Charge, published: object = None) -> None:
        """Note that the release of a charge was done, and keep what was published: it is public.

        Only a Release is kept. `published(charge.id)` gives it back. Every program sees it at once. It is on disk with
        the next charge at the latest: what a failing machine loses is this note, and never the charge.
        """
        text = codec.encode(published) if isinstance(published, Release) else None
        text_digest = None if text is None else codec.digest(charge.account.digest, text)
        with self._store.transaction(durable=False) as connection:
            table_rows.mark_released(connection, charge.id, text, text_digest)

    def answer(
        self,
        dataset: str,
        mechanism: Mechanism[Any],
        *,
        question: Identity | None,
        adjacency: Adjacency | None = None,
    ) -> Entry | None:
        """Return the last entry by an equal mechanism that answered this very question; None where there is none.

        Two questions are the same where all their facts are. Nothing is charged here.

        >>> import tempfile, lastbit as lb
        >>> from lastbit.ledger import Identity
        >>> ledger = Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> account, mechanism = ledger.create("clinic", epsilon=1), lb.DiscreteLaplace(epsilon="1/4")
        >>> question = Identity({"version": 1, "of": "beds"}, about="how many beds")
        >>> noisy = ledger.spend("clinic", mechanism, mechanism.ready([120]), question=question)
        >>> entry = ledger.answer("clinic", mechanism, question=question)
        >>> entry.about, entry.published == noisy
        ('how many beds', True)
        """
        adjacency = validation.common_adjacency(validation.check_mechanism(mechanism).adjacency, adjacency)
        question = check_identity(question)
        if question is None:
            return None
        with self._store.read_transaction() as connection:
            row = table_rows.find_answer_row(connection, dataset, mechanism, adjacency, question)
        return None if row is None else table_rows.parse_entry(row, self._read_published)

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
        asker: str = "",
    ) -> Published:
        """Charge a mechanism's cost, then draw, then record: the one way from a budget to a release.

        `ready` is the second half of a release of this mechanism, such as `mechanism.ready(values)` gives; `adjacency`
        is that of the values, `values.adjacency`. Without it the values count as the account's own notion. What is
        published is in the books when this returns. What a sparse vector has not spent on a whole list comes back, as
        `close` says.

        >>> import tempfile, lastbit as lb
        >>> ledger = Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> account, mechanism = ledger.create("clinic", epsilon=1), lb.ExponentialMechanism(epsilon="1/2")
        >>> ledger.spend("clinic", mechanism, mechanism.ready_ranking([0, 1000, 500], 2)).indices
        (1, 2)
        """
        validation.check_mechanism(mechanism)
        if not callable(ready):
            raise ParameterError(
                "ready must be a function of a Draw, such as mechanism.ready(values). Nothing was drawn."
            )
        draw = resolve_draw(draw)
        if isinstance(draw, Sampler) and draw.uses_system_bits:
            check_system()
        charge = self._charge(
            dataset, mechanism, adjacency, note=note, question=question, once=once, asker=asker, settle=False
        )
        try:
            published = ready(draw)
            if isinstance(published, Run) and published.is_of(mechanism):
                self._runs[published] = charge
            if isinstance(published, Release) and published.cost != mechanism.cost:
                raise LedgerError(
                    f"the release states {published.cost.text}, and {mechanism.cost.text} was charged: ready belongs "
                    "to another mechanism. It is not handed out. Pass the ready(values) of the mechanism that is "
                    "charged."
                )
        except BaseException as error:
            self._store.settle()  # no record will follow that would do it
            add_charge_note(error, _say_charged(dataset, charge.id))
            raise
        try:
            self.record(charge, published)
            if isinstance(ready, WholeRun) and ready.is_of(mechanism) and isinstance(published, AboveThreshold):
                self._give_back(charge, ready.unspent_share(published), note="")
        except LedgerError:
            # It is paid for and drawn: whoever asked must have it.
            warnings.warn(
                f"entry {charge.id} of the ledger is charged, and its release stands, but the books could not be "
                "written again to keep the release. Save the release yourself, and check the disk or the database.",
                NotRecordedWarning,
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
            query_identity.check_reuse(validation.check_mechanism(mechanism), query, values, options)
        tick = None if hold is None else Tick(hold)
        known = (value.adjacency for value in query_identity.find_known((*values, *options.values())))
        adjacency = validation.common_adjacency(validation.check_mechanism(mechanism).adjacency, adjacency, *known)
        question = None if query is None else query_identity.identify_query(query, values, options)
        entry = self.answer(dataset, mechanism, question=question, adjacency=adjacency) if reuse else None
        if entry is None:
            ready = mechanism.ready(*values, **options)
            published = self.spend(
                dataset, mechanism, ready, adjacency=adjacency, note=note, draw=draw, question=question
            )
        else:
            published = entry.published
        say_of_whom(published, *values)
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

        `close(run)` ends the run and gives back what its answers have not spent.

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
        if not isinstance(validation.check_mechanism(mechanism), StreamMechanism):
            raise MechanismError(
                f"start takes a mechanism that answers a stream, such as SparseVector: got {type(mechanism).__name__}. "
                "Use release. Nothing was drawn and nothing was charged."
            )
        question = None if query is None else query_identity.identify_query(query, (), {})
        return self.spend(
            dataset, mechanism, mechanism.start, adjacency=adjacency, note=note, draw=draw, question=question
        )

    def close(self, run: Run, *, note: str = "") -> Account:
        """End a run that this ledger started, and give back the epsilon that its answers have not spent.

        The noise of the run is destroyed first: a closed run answers nothing more. An account of epsilon gets all of it
        back, an account of epsilon and delta the epsilon alone, and an account of rho nothing. Nothing comes back where
        an answer was cut short, since nobody knows what it told. A run is closed in the process that started it.

        >>> import tempfile, lastbit as lb
        >>> ledger = Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> account = ledger.create("clinic", epsilon=1)
        >>> mechanism = lb.SparseVector(threshold=1000, limit=2, epsilon=1, split="even")
        >>> run = ledger.start("clinic", mechanism)
        >>> run.ask(2000).above, ledger.account("clinic").remaining
        (True, Fraction(0, 1))
        >>> ledger.close(run).remaining, ledger.history("clinic")[-1].kind
        (Fraction(1, 4), 'refund')
        """
        note = validation.check_text(note, "note")
        charge = self._runs.get(run) if isinstance(run, Run) else None
        if charge is None:
            raise LedgerError(
                "close takes a run that this ledger started, and has not closed yet: got another. Nothing was given "
                "back. Start runs with ledger.start(dataset, mechanism)."
            )
        unspent = run.close()
        share = Fraction(0) if run.answers_lost else unspent / (run.spent + unspent)
        account = self._give_back(charge, share, note)
        self._runs.pop(run, None)
        return account

    def _give_back(self, charge: Charge, share: Fraction, note: str) -> Account:
        """Return the account after this share of a charge has come back, once: none of it where a rho counts.

        Whoever calls this has destroyed the noise of the run, and published what each answer cost.
        """
        if share == 0:
            return self.account(charge.account.dataset)
        with self._store.transaction() as rows:
            account = table_rows.parse_account(table_rows.find_account_row(rows, charge.account.dataset, lock=True))
            paid = table_rows.parse_entry(table_rows.find_history_row(rows, charge.id), self._read_published).epsilon
            back = account.gives_back(Fraction(0) if paid is None else paid * share)
            terms = write_terms(epsilon=back, of=Fraction(charge.id))
            last = None
            # Whoever asks again after a lost connection may find it in the books.
            if back > 0 and not table_rows.has_refund(rows, account.dataset, terms):
                account = account.refunded(back)
                last = table_rows.add_entry(rows, account, "refund", back, terms, note=note)
        if last is not None:
            self._remember(account.dataset, last)
            account = replace(account, digest=last[1])
        return account


def _say_charged(dataset: str, entry: int) -> str:
    return f"Entry {entry} of {dataset!r} is charged, and stays so: to ask again costs again."
