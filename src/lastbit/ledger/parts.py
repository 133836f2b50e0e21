"""Charges that pay for several releases: each is kept as a part, before anybody sees it."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from lastbit.errors import LedgerError
from lastbit.ledger import codec, table_rows, validation
from lastbit.ledger.accounts import Accounts
from lastbit.ledger.entry import Entry
from lastbit.ledger.identity import Identity, check_identity
from lastbit.ledger.price import write_terms
from lastbit.mechanisms.mechanism import Mechanism
from lastbit.release import Release
from lastbit.values.adjacency import Adjacency


class PartRecords(Accounts):
    """Accounts whose charges may pay for several releases, each an entry of its own that costs nothing more."""

    def parts(self, charge: int) -> dict[str, Entry]:
        """Return the parts that a charge has paid for and that are in the books, by name, oldest first.

        >>> import tempfile, lastbit as lb
        >>> ledger = lb.Ledger(tempfile.mkdtemp() + "/budget.db")
        >>> account, mechanism = ledger.create("clinic", epsilon=1), lb.DiscreteLaplace(epsilon="1/2")
        >>> charge = ledger.charge("clinic", lb.Parts(parts={"beds": mechanism, "visits": mechanism}))
        >>> entry = ledger.record_part(charge.id, "beds", mechanism, mechanism.release([120]))
        >>> list(ledger.parts(charge.id)), ledger.account("clinic").remaining, ledger.verify()
        (['beds'], Fraction(0, 1), ())
        """
        with self._store.read_transaction() as connection:
            row = table_rows.find_history_row(connection, charge)
            rows = () if row is None else table_rows.find_part_rows(connection, row.dataset, charge)
        return {part.note: table_rows.parse_entry(part, self._read_published) for part in rows}

    def record_part(
        self,
        charge: int,
        name: str,
        mechanism: Mechanism[Any],
        published: Release,
        *,
        adjacency: Adjacency | None = None,
        question: Identity | None = None,
    ) -> Entry:
        """Keep one release of a charge that pays for several, and return the entry that the books have of this part.

        The first release that is kept stands: where another process was faster, the entry is that one's. Whoever
        shows `entry.published`, and nothing else, shows one answer for one part. When this returns, it is on disk.
        """
        name, question = validation.check_text(name, "name"), check_identity(question)
        adjacency = validation.common_adjacency(validation.check_mechanism(mechanism).adjacency, adjacency)
        text = codec.encode(published)
        if text is None:
            raise LedgerError(
                f"the part {name!r} cannot be kept in the books, because it is too long. It was not shown to anybody. "
                "Ask for less in it: the charge stays."
            )
        with self._store.transaction() as connection:
            row = table_rows.find_history_row(connection, charge)
            if row is None or row.kind != "charge":
                raise LedgerError(f"a part needs a charge that pays for it: entry {charge} is none. Nothing was kept.")
            account = table_rows.parse_account(table_rows.find_account_row(connection, row.dataset, lock=True))
            entries = {part.note: part.id for part in table_rows.find_part_rows(connection, row.dataset, charge)}
            entry = entries.get(name)
            if entry is None:
                entry, digest = table_rows.add_entry(
                    connection,
                    account,
                    "part",
                    Fraction(0),
                    write_terms(of=Fraction(charge)),
                    adjacency=adjacency,
                    mechanism=mechanism,
                    note=name,
                    question=question,
                )
                table_rows.mark_released(connection, entry, text, codec.digest(digest, text))
            else:
                digest = ""
            kept = table_rows.find_history_row(connection, entry)
        if digest:
            self._remember(row.dataset, (entry, digest))
        return table_rows.parse_entry(kept, self._read_published)
