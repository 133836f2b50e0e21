"""A line of an account's history, and the proof that something is charged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from fractions import Fraction
from typing import Any

from lastbit.errors import LedgerError
from lastbit.ledger.account import Account
from lastbit.ledger.codec import decode
from lastbit.values.adjacency import Adjacency


@dataclass(frozen=True)
class Entry:
    """One line of the history: an account created, a charge, a limit raised, what a closed run gave back, or a part.

    A part is one release of a charge that pays for several.

    Nothing private is in it.

    >>> import lastbit as lb
    >>> import pathlib, tempfile
    >>> ledger = lb.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> account = ledger.create("clinic", epsilon=1)
    >>> [(entry.kind, str(entry.amount)) for entry in ledger.history("clinic")]
    [('create', '1')]
    """

    id: int
    dataset: str
    kind: str
    """create, charge, raise, refund or part."""
    time: datetime
    mechanism: str
    parameters: Mapping[str, str]
    cost: str
    """As the mechanism states it."""
    amount: Fraction
    """What was charged, in the account's own currency (see `Account.price`), or given back; for create and raise, the
    new limit."""
    note: str
    released: datetime | None
    """When the release was done; None when it failed, was cut short, or is under way. It is charged all the same."""
    adjacency: Adjacency
    """For which neighbours the mechanism's cost holds; for create and raise, those of the account."""
    digest: str
    """SHA-256 over the digest of the entry before and everything here but `released` and `published`."""
    epsilon: Fraction | None = None
    """What was charged in epsilon, below 0 where it was given back; None for a release without an epsilon."""
    rho: Fraction | None = None
    """What was charged in rho; None for create and raise."""
    delta: Fraction = Fraction(0)
    """What was charged in delta."""
    question: str = ""
    """The facts of the question as JSON, where somebody said what was asked: see `Identity`."""
    about: str = ""
    """The question as people read it: the command with its public arguments, or the query; "" where nobody said."""
    protects: str = ""
    """What the release protects: "person" (a unit with all its rows), a single "row", or each combination of columns,
    such as "day and user"; "" where nobody said."""
    asker: str = ""
    """Who asked: the name of the token that a server was asked with; "" where nobody said."""
    recorded: bool = False
    """Whether the books keep the published release."""
    source: Callable[[int], str] | None = field(default=None, repr=False, compare=False)
    """Reads the published release of an entry, when somebody asks: it may be long."""

    @property
    def charged(self) -> Fraction:
        """`amount`, below 0 where it was given back."""
        return -self.amount if self.kind == "refund" else self.amount

    @property
    def done(self) -> str:
        """Whether a release was done: yes or no; "" for entries that are no release."""
        return "" if self.kind != "charge" else "yes" if self.released else "no"

    @property
    def published(self) -> Any:
        """The release that was published, as it was; its `to_dict()` where lastbit does not know its class.

        None where nothing was kept: for runs of sparse vectors, and for what is no Release.
        """
        text = self.published_text
        return None if text is None else decode(text)

    @property
    def published_text(self) -> str | None:
        """The published release as the books keep it; None where none was kept."""
        if not self.recorded:
            return None
        if self.source is None:
            raise LedgerError(f"this entry came without its ledger. Ask the ledger: ledger.published({self.id}).")
        return self.source(self.id)

    def __getstate__(self) -> dict[str, Any]:
        # A copy in another process has no connection to the books.
        return {**self.__dict__, "source": None}


@dataclass(frozen=True)
class Charge:
    """Proof that a cost is in the books: whoever holds one may draw.

    >>> import lastbit as lb
    >>> import pathlib, tempfile
    >>> ledger = lb.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> account = ledger.create("clinic", epsilon=1)
    >>> charge = ledger.charge("clinic", lb.NoisyMax(epsilon="1/4"))
    >>> charge.id, str(charge.account.remaining)
    (2, '3/4')
    """

    id: int
    account: Account
