"""`Ledger`: what was spent on each data set, what may still be, and a record of every release."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import sqlalchemy as sa

from lastbit.chance.draw import Draw
from lastbit.errors import LedgerError, MechanismError, ParameterError
from lastbit.exact.numbers import Number, flag, positive
from lastbit.ledger import books, chain, keys, names, questions, refusals
from lastbit.ledger import published as codec
from lastbit.ledger.account import Account
from lastbit.ledger.entry import Charge, Entry
from lastbit.ledger.history import History
from lastbit.ledger.price import written
from lastbit.ledger.store import Store
from lastbit.ledger.tables import ACCOUNTS, ENTRIES
from lastbit.mechanisms.mechanism import Mechanism, chance
from lastbit.mechanisms.sparse_vector.mechanism import StreamMechanism
from lastbit.mechanisms.sparse_vector.run import Run
from lastbit.mechanisms.tick import Tick
from lastbit.release import Release
from lastbit.values.adjacency import Adjacency, named
from lastbit.values.known import Known

Published = TypeVar("Published")


class Ledger:
    """Accounts with limits, in a SQLite file or a PostgreSQL database, that no number of processes can overdraw.

    A charge is committed to disk before anything is drawn. A release that fails or crashes stays charged: that may
    waste budget and can never exceed it. Sums are exact fractions. What is recorded is public: mechanism, parameters,
    cost, time, note, and the published release; never a private value. `verify=True` checks the books when the ledger
    is opened.

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

    def __init__(self, place: str | os.PathLike[str], *, verify: bool = False) -> None:
        self._store = Store(place)
        if verify and (found := self.verify()):
            more = f" And {len(found) - 1} more: see verify()." if len(found) > 1 else ""
            raise LedgerError(f"the books of the ledger do not add up: {found[0]}{more} Nothing was drawn.")

    def __repr__(self) -> str:
        return f"<Ledger: {self._store!r}>"

    def create(
        self,
        dataset: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        delta: Number | None = None,
        adjacency: Adjacency = "add-remove",
        note: str = "",
    ) -> Account:
        """Open an account with a limit in epsilon, in rho, or in epsilon and delta. The first one makes the ledger.

        `adjacency` says for which neighbours the account adds up: one person comes or goes ("add-remove"), or replaces
        a record of a public number of records ("replace"). A name that another account has in another spelling (case,
        spaces, Unicode form) is refused: one data set has one budget. What each kind of limit accepts, `Account.within`
        says.

        >>> import tempfile
        >>> ledger = Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> ledger.create("clinic", rho="1/10").text, ledger.create("school", epsilon=3, delta="1e-6").text
        ('rho 1/10', 'epsilon 3, delta 1/1000000')
        """
        account = Account.opened(
            refusals.name_of(dataset), epsilon=epsilon, rho=rho, delta=delta, adjacency=named(adjacency)
        )
        note = refusals.text_of(note, "note")
        with self._store.transaction(create=True) as rows:
            self._store.lock(rows)  # of two who create the same account at once, the second sees the first
            taken = names.same(dataset, rows.scalars(sa.select(ACCOUNTS.c.dataset)))
            if taken is None:
                first = books.columns_of(account)
                rows.execute(
                    ACCOUNTS.insert().values(dataset=dataset, adjacency=account.adjacency, digest="", seal="", **first)
                )
                terms = written(
                    epsilon=account.epsilon_limit,
                    rho=account.rho_limit,
                    delta=account.delta_limit,
                    delta_of_rho=account.delta_of_rho,
                )
                _, digest = books.write(rows, account, "create", account.limit, terms, note=note)
        if taken is not None:
            spelled = "" if taken == dataset else f", and {dataset!r} is the same name in another spelling"
            raise LedgerError(
                f"there is an account named {taken!r} already{spelled}. Raise its limit, or choose another name."
            )
        return replace(account, digest=digest)

    def account(self, dataset: str) -> Account:
        """The state of one account."""
        with self._store.transaction() as rows:
            return books.account_of(books.row_of(rows, dataset))

    def accounts(self) -> tuple[Account, ...]:
        """The state of all accounts, by name."""
        with self._store.transaction() as rows:
            found = rows.execute(sa.select(ACCOUNTS).order_by(ACCOUNTS.c.dataset)).all()
        return tuple(books.account_of(row) for row in found)

    def history(self, dataset: str) -> History:
        """Everything that happened to an account, oldest first: a tuple of entries, and a table in a notebook."""
        with self._store.transaction() as rows:
            books.row_of(rows, dataset)
            found = books.rows_of(rows, dataset)
        return History(books.entry_of(row) for row in found)

    def export(self, dataset: str) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """The whole books of an account: its row and the rows of its entries, exactly as they are kept.

        Numbers are exact, as text. Whoever has this can compute every digest again: docs/data-and-budget.md says how.
        """
        with self._store.transaction() as rows:
            account = books.row_of(rows, dataset, lock=True)
            entries = books.rows_of(rows, dataset)
        return dict(account._mapping), [dict(entry._mapping) for entry in entries]

    def verify(self, dataset: str | None = None, *, expected: str | None = None) -> tuple[str, ...]:
        """What is wrong with the books of one account, or of all: nothing when the result is empty.

        Every entry must fit the running hash over the entries before it, and the account must be, exactly, what its
        entries add up to. `expected` is a digest that somebody wrote down earlier, `ledger.account(name).digest`: one
        of the entries must have it still. Without it, nobody notices a file that was rewritten as a whole, with all
        its digests.

        >>> import tempfile
        >>> ledger = Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> written_down = ledger.create("clinic", epsilon=1).digest
        >>> ledger.raise_limit("clinic", epsilon=2).limit, ledger.verify("clinic", expected=written_down)
        (Fraction(2, 1), ())
        >>> ledger.verify(expected="0" * 64)
        ('no entry has the digest 000...: the entry that had it was changed or removed.',)
        """
        found: list[str] = []
        digests: set[str] = set()
        with self._store.transaction() as rows:
            if dataset is None:
                wanted = rows.scalars(sa.select(ACCOUNTS.c.dataset).order_by(ACCOUNTS.c.dataset)).all()
                of_nobody = sa.select(ENTRIES.c.id).where(ENTRIES.c.dataset.not_in(sa.select(ACCOUNTS.c.dataset)))
                found += [f"entry {each} belongs to no account." for each in rows.scalars(of_nobody)]
            else:
                wanted = [books.row_of(rows, dataset).dataset]
        for name in wanted:
            with self._store.transaction() as rows:
                # Nobody may charge the account between the two looks at it.
                account = books.row_of(rows, name, lock=True)
                entries = books.rows_of(rows, name)
            found += chain.problems(account, entries)
            digests.update(str(entry.digest) for entry in entries)
        if expected is not None and expected not in digests:
            found.append(f"no entry has the digest {expected}: the entry that had it was changed or removed.")
        return tuple(found)

    def raise_limit(
        self, dataset: str, *, epsilon: Number | None = None, rho: Number | None = None, note: str = ""
    ) -> Account:
        """Set a higher limit, in the account's own currency. The history records it.

        The limit of an account of epsilon and delta cannot be raised: which sums it allows was decided when it was
        created, before anything was published.
        """
        note = refusals.text_of(note, "note")
        for given, name in ((epsilon, "epsilon"), (rho, "rho")):
            if given is not None:
                positive(given, name, "An account that allows nothing is of no use.")
        with self._store.transaction() as rows:
            account = books.account_of(books.row_of(rows, dataset, lock=True)).raised(epsilon=epsilon, rho=rho)
            _, digest = books.write(rows, account, "raise", account.limit, "{}", note=note)
        return replace(account, digest=digest)

    def charge(
        self,
        dataset: str,
        mechanism: Mechanism[Any],
        *,
        adjacency: Adjacency | None = None,
        note: str = "",
        question: str = "",
        once: str = "",
    ) -> Charge:
        """Take a mechanism's cost from the budget, or raise BudgetExceeded. When this returns, it is on disk.

        `adjacency` says for which neighbours the mechanism's cost holds; None means the account's own. What a cost for
        others is in the account's notion, `Account.prices` says. `question` is what `answer` finds the release by.

        `once` is a key that pays once: a second charge with the same key raises AlreadyCharged, in any process and
        after any crash, and charges nothing. `charged(once)` finds the entry.
        """
        cost, note = getattr(refusals.mechanism_of(mechanism), "cost", None), refusals.text_of(note, "note")
        question, once = refusals.text_of(question, "question"), refusals.text_of(once, "once")
        adjacency = refusals.common(mechanism.adjacency, adjacency)
        with self._store.transaction() as rows:
            if once:
                # Before the account: all who hold the two take them in this order.
                self._store.lock(rows)
                keys.check_unused(rows, once)
            before = books.account_of(books.row_of(rows, dataset, lock=True))
            account, price = before.charged(cost, adjacency), before.prices(cost, adjacency)
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
        with self._store.transaction() as rows:
            found = keys.entry_of(rows, once)
            row = None if found is None else books.entry_row(rows, found)
        return None if row is None else books.entry_of(books.whole(row))

    def record(self, charge: Charge, published: object = None) -> None:
        """Note that the release of a charge was done, and keep what was published: it is public.

        Only a Release is kept. `published(charge.id)` gives it back.
        """
        kept = codec.write(published) if isinstance(published, Release) else None
        made = None if kept is None else codec.digest(charge.account.digest, kept)
        with self._store.transaction() as rows:
            rows.execute(
                ENTRIES.update()
                .where(ENTRIES.c.id == charge.id)
                .values(released=books.now(), published=kept, published_digest=made)
            )

    def published(self, entry: int) -> Any:
        """What the entry with this id published, as it was; its `to_dict()` where its class is unknown.

        >>> import tempfile, lastbit as lb
        >>> ledger = Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> account = ledger.create("clinic", epsilon=1)
        >>> noisy = ledger.release("clinic", lb.DiscreteLaplace(epsilon="1/2"), [120, 45])
        >>> ledger.published(ledger.history("clinic")[-1].id) == noisy
        True
        """
        with self._store.transaction() as rows:
            row = books.entry_row(rows, entry)
        if row is None or row.published is None:
            raise LedgerError(f"entry {entry} has no published release in the books. The history lists those that do.")
        return books.entry_of(books.whole(row)).published

    def answer(
        self,
        dataset: str,
        mechanism: Mechanism[Any],
        *,
        question: str,
        adjacency: Adjacency | None = None,
    ) -> Entry | None:
        """The last entry of a release by an equal mechanism that answered this question; None where there is none.

        `release` with `query` makes its questions of public facts only. Nothing is charged here.
        """
        adjacency = refusals.common(refusals.mechanism_of(mechanism).adjacency, adjacency)
        if not refusals.text_of(question, "question"):
            return None
        with self._store.transaction() as rows:
            row = books.answer_to(rows, dataset, mechanism, adjacency, question)
        return None if row is None else books.entry_of(row)

    def spend(
        self,
        dataset: str,
        mechanism: Mechanism[Any],
        ready: Callable[[Draw], Published],
        *,
        adjacency: Adjacency | None = None,
        note: str = "",
        draw: Draw | None = None,
        question: str = "",
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
        charge = self.charge(dataset, mechanism, adjacency=adjacency, note=note, question=question, once=once)
        published = ready(draw)
        if isinstance(published, Release) and published.cost != mechanism.cost:
            raise LedgerError(
                f"the release states {published.cost.text}, and {mechanism.cost.text} was charged: ready belongs to "
                "another mechanism. It is not handed out. Pass the ready(values) of the mechanism that is charged."
            )
        self.record(charge, published)
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
            questions.check_reuse(refusals.mechanism_of(mechanism), query, options)
        tick = None if hold is None else Tick(hold)
        known = (each.adjacency for each in (*values, *options.values()) if isinstance(each, Known))
        adjacency = refusals.common(refusals.mechanism_of(mechanism).adjacency, adjacency, *known)
        question = "" if query is None else questions.question_of(query, values, options)
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
        question = "" if query is None else questions.question_of(query, (), {})
        return self.spend(
            dataset, mechanism, mechanism.start, adjacency=adjacency, note=note, draw=draw, question=question
        )
