"""`Accounts`: opened, raised, shown and checked. `Ledger` adds the ways to spend."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import nullcontext, suppress
from dataclasses import replace
from typing import Any, NoReturn
from weakref import WeakKeyDictionary

import sqlalchemy as sa

from lastbit.errors import EntryNotFound, LedgerError, LedgerNotFound
from lastbit.exact.numbers import Number, positive, whole
from lastbit.ledger import chain, keys, names, table_rows, validation
from lastbit.ledger.account import Account
from lastbit.ledger.codec import decode
from lastbit.ledger.entry import Charge, Entry
from lastbit.ledger.history import History
from lastbit.ledger.price import write_terms
from lastbit.ledger.store import Store
from lastbit.ledger.tables import ACCOUNTS, ENTRIES
from lastbit.ledger.witness import LastEntry, Witness, two_histories_problem, witness_problem
from lastbit.mechanisms.sparse_vector.run import Run
from lastbit.values.adjacency import Adjacency, parse_adjacency


class Accounts:
    """Accounts in a SQLite file or a PostgreSQL database, and their books."""

    def __init__(
        self,
        place: str | os.PathLike[str],
        *,
        verify: bool = False,
        witness: str | os.PathLike[str] | None = None,
    ) -> None:
        self._store = Store(place)
        self._latest: dict[str, LastEntry] = {}
        """The last entry of each account that this program has written or verified."""
        self._runs: WeakKeyDictionary[Run, Charge] = WeakKeyDictionary()
        """The charge of each run that this program has started and not closed."""
        self._witness = None if witness is None else Witness(witness)
        if self._witness is not None:
            self._check_witness(self._witness)
        if verify and (problems := self.verify()):
            more = f" And {len(problems) - 1} more: see verify()." if len(problems) > 1 else ""
            raise LedgerError(f"the books of the ledger do not add up: {problems[0]}{more} Nothing was drawn.")

    def _check_witness(self, witness: Witness) -> None:
        """Refuse books that lack what the witness has seen, and tell the witness what they have."""
        witness_entries, newest = witness.read(), {}
        with (
            suppress(LedgerNotFound) if not witness_entries else nullcontext(),
            self._store.read_transaction() as connection,
        ):
            problems = [
                witness_problem(witness, name, last)
                for name, last in witness_entries.items()
                if not table_rows.has_entry(connection, name, *last)
            ]
            if problems:
                raise LedgerError(f"{problems[0]} Nothing was drawn and nothing was charged.")
            for name in connection.scalars(sa.select(ACCOUNTS.c.dataset)).all():
                account, last = table_rows.read_account_state(connection, name)
                newest[name] = (last, str(account.digest))
        if newest:
            witness.add(newest)

    def _remember(self, dataset: str, last: LastEntry) -> None:
        """Keep in mind what was written, and tell the witness before anything is drawn."""
        self._latest[dataset] = max(last, self._latest.get(dataset, last))
        if self._witness is not None:
            self._witness.add({dataset: last})

    def __repr__(self) -> str:
        return f"<Ledger: {self._store!r}>"

    def __reduce__(self) -> NoReturn:
        raise LedgerError(
            "a Ledger is not pickled and not copied: it may hold a password, and it has files open. Make one in each "
            "process: lastbit.Ledger(place)."
        )

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

        >>> import tempfile, lastbit as lb
        >>> ledger = lb.Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> ledger.create("clinic", rho="1/10").text, ledger.create("school", epsilon=3, delta="1e-6").text
        ('rho 1/10', 'epsilon 3, delta 1/1000000')
        """
        account = Account.with_limit(
            validation.check_name(dataset), epsilon=epsilon, rho=rho, delta=delta, adjacency=parse_adjacency(adjacency)
        )
        note = validation.check_text(note, "note")
        with self._store.transaction(create=True) as connection:
            self._store.lock(connection)  # of two who create the same account at once, the second sees the first
            existing = names.find_same_name(dataset, connection.scalars(sa.select(ACCOUNTS.c.dataset)))
            if existing is None:
                columns = table_rows.account_columns(account)
                connection.execute(
                    ACCOUNTS.insert().values(
                        dataset=dataset, adjacency=account.adjacency, digest="", seal="", **columns
                    )
                )
                terms = write_terms(
                    epsilon=account.epsilon_limit,
                    rho=account.rho_limit,
                    delta=account.delta_limit,
                    delta_of_rho=account.delta_of_rho,
                )
                last = table_rows.add_entry(connection, account, "create", account.limit, terms, note=note)
        if existing is not None:
            hint = "" if existing == dataset else f", and {dataset!r} is the same name in another spelling"
            raise LedgerError(
                f"there is an account named {existing!r} already{hint}. Raise its limit, or choose another name."
            )
        self._remember(dataset, last)
        return replace(account, digest=last[1])

    def account(self, dataset: str) -> Account:
        """Return the state of one account."""
        with self._store.read_transaction() as connection:
            return table_rows.parse_account(table_rows.find_account_row(connection, dataset))

    def accounts(self) -> tuple[Account, ...]:
        """Return the state of all accounts, by name."""
        with self._store.read_transaction() as connection:
            account_rows = connection.execute(sa.select(ACCOUNTS).order_by(ACCOUNTS.c.dataset)).all()
        return tuple(table_rows.parse_account(row) for row in account_rows)

    def history(self, dataset: str, *, last: int | None = None, before: int | None = None) -> History:
        """Return what happened to an account, oldest first: a tuple of entries, and a table in a notebook.

        All of it, or a page: the `last` so many entries, of those `before` an entry's id. What an entry published is
        read when somebody asks for `entry.published`.

        >>> import tempfile, lastbit as lb
        >>> ledger = lb.Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> account = ledger.create("clinic", epsilon=1)
        >>> charges = [ledger.charge("clinic", lb.NoisyMax(epsilon="1/9")).id for _ in range(4)]
        >>> page = ledger.history("clinic", last=2)
        >>> [entry.id for entry in page], [entry.id for entry in ledger.history("clinic", last=2, before=page[0].id)]
        ([4, 5], [2, 3])
        """
        last = None if last is None else whole(last, "last", least=1)
        before = None if before is None else whole(before, "before", least=1)
        with self._store.read_transaction() as connection:
            table_rows.find_account_row(connection, dataset)
            entry_rows = table_rows.read_history(connection, dataset, last=last, before=before)
        return History(table_rows.parse_entry(row, self._read_published) for row in entry_rows)

    def entry(self, number: int) -> Entry | None:
        """Return the entry with this id, of any account; None where there is none.

        >>> import tempfile, lastbit as lb
        >>> ledger = lb.Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> account = ledger.create("clinic", epsilon=1)
        >>> ledger.entry(1).kind, ledger.entry(2)
        ('create', None)
        """
        with self._store.read_transaction() as connection:
            row = table_rows.find_history_row(connection, whole(number, "number", least=0))
        return None if row is None else table_rows.parse_entry(row, self._read_published)

    def export(self, dataset: str) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
        """Return the whole books of an account: its row and the rows of its entries, exactly as they are kept.

        Numbers are exact, as text. The entries are read while you go through them. Whoever has this can compute every
        digest again: docs/books.md says how.
        """
        with self._store.read_transaction() as connection:
            account, last = table_rows.read_account_state(connection, dataset)
        entries = table_rows.read_entries(self._store, dataset, last)
        return {name: account._mapping[name] for name in account._fields if name != "last"}, (
            dict(entry._mapping) for entry in entries
        )

    def verify(
        self, dataset: str | None = None, *, expected: str | None = None, witness: str | os.PathLike[str] | None = None
    ) -> tuple[str, ...]:
        """Return what is wrong with the books of one account, or of all: nothing when the result is empty.

        Every entry must fit the running hash over the entries before it, and the account must be, exactly, what its
        entries add up to. Every entry that this program has written or verified must still be there. Other books that
        were rewritten as a whole, and an older copy put in their place, show only to somebody who knows a later digest:

        - `expected` is a digest that somebody wrote down, `ledger.account(name).digest`. An entry must still have it.
        - `witness` is a file that this method keeps, best on another machine. It holds the last entry of each account
          that was ever verified with it. Each must still be there; then the file takes the newest. Without it, the
          witness that the ledger was opened with is asked.

        >>> import tempfile, lastbit as lb
        >>> folder = tempfile.mkdtemp()
        >>> ledger = lb.Ledger(folder + "/budget.db")
        >>> written_down = ledger.create("clinic", epsilon=1).digest
        >>> ledger.raise_limit("clinic", epsilon=2).limit, ledger.verify("clinic", expected=written_down)
        (Fraction(2, 1), ())
        >>> ledger.verify(expected="0" * 64)
        ('no entry has the digest 000...: the entry that had it was changed or removed.',)
        >>> ledger.verify(witness=folder + "/witness.json")
        ()
        """
        problems: list[str] = []
        observer = self._witness if witness is None else Witness(witness)
        witness_entries = {} if observer is None else observer.read()
        with self._store.read_transaction() as connection:
            if dataset is None:
                problems += self._store.file_problems(connection)
                datasets = list(connection.scalars(sa.select(ACCOUNTS.c.dataset).order_by(ACCOUNTS.c.dataset)))
                orphans = sa.select(ENTRIES.c.id).where(ENTRIES.c.dataset.not_in(sa.select(ACCOUNTS.c.dataset)))
                problems += [f"entry {entry_id} belongs to no account." for entry_id in connection.scalars(orphans)]
                problems += keys.find_problems(connection)
            else:
                datasets = [table_rows.find_account_row(connection, dataset).dataset]
        newest = {}
        for name in datasets:
            with self._store.read_transaction() as connection:
                # Both of one moment: somebody may charge the account meanwhile.
                account, last = table_rows.read_account_state(connection, name)
            newest[name] = (last, str(account.digest))
            problems += chain.find_problems(account, table_rows.read_entries(self._store, name, last))
        with self._store.read_transaction() as connection:
            if expected is not None and not table_rows.has_digest(connection, datasets, expected):
                problems.append(f"no entry has the digest {expected}: the entry that had it was changed or removed.")
            for name, entry in self._latest.items():
                if dataset in (None, name) and not table_rows.has_entry(connection, name, *entry):
                    problems.append(two_histories_problem(name, entry))
            for name, entry in witness_entries.items():
                if observer and dataset in (None, name) and not table_rows.has_entry(connection, name, *entry):
                    problems.append(witness_problem(observer, name, entry))
        if not problems:
            self._latest |= newest
            if observer is not None:
                observer.add(newest)
        return tuple(problems)

    def raise_limit(
        self,
        dataset: str,
        *,
        epsilon: Number | None = None,
        rho: Number | None = None,
        note: str = "",
        asker: str = "",
    ) -> Account:
        """Set a higher limit, in the account's own currency. The history records it.

        The limit of an account of epsilon and delta cannot be raised: which sums it allows was decided when it was
        created, before anything was published. `asker` is the name of whoever asks for it, for the history.
        """
        note, asker = validation.check_text(note, "note"), validation.check_text(asker, "asker")
        for limit, name in ((epsilon, "epsilon"), (rho, "rho")):
            if limit is not None:
                positive(limit, name, "An account that allows nothing is of no use.")
        with self._store.transaction() as connection:
            row = table_rows.find_account_row(connection, dataset, lock=True)
            account = table_rows.parse_account(row).with_higher_limit(epsilon=epsilon, rho=rho)
            last = table_rows.add_entry(connection, account, "raise", account.limit, "{}", note=note, asker=asker)
        self._remember(dataset, last)
        return replace(account, digest=last[1])

    def published(self, entry: int) -> Any:
        """Return what the entry with this id published, as it was; its `to_dict()` where its class is unknown.

        >>> import tempfile, lastbit as lb
        >>> ledger = lb.Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> account = ledger.create("clinic", epsilon=1)
        >>> noisy = ledger.release("clinic", lb.DiscreteLaplace(epsilon="1/2"), [120, 45])
        >>> ledger.published(ledger.history("clinic")[-1].id) == noisy
        True
        """
        return decode(self._read_published(entry))

    def _read_published(self, entry: int) -> str:
        with self._store.read_transaction() as connection:
            row = table_rows.find_entry_row(connection, entry)
        if row is None:
            raise EntryNotFound(f"there is no entry {entry} in the books. The history lists all of them.")
        if row.published is None:
            raise LedgerError(f"entry {entry} has no published release in the books. The history lists those that do.")
        return str(table_rows.check_published(row).published)
