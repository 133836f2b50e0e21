"""The one way from a question to a release: look at the budget, read, charge, draw, record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.questions.identity import identity_of, list_sources, parse_identity
from lastbit.questions.join_types import NO_NAME, read_joined
from lastbit.questions.option import OWNER
from lastbit.questions.question import TABLE_ADJACENCY
from lastbit.questions.refusals import refuse_in_words_of_options
from lastbit.questions.unit_types import UnitColumns

if TYPE_CHECKING:
    from lastbit.ledger import Account, Entry, Identity, Ledger
    from lastbit.questions.progress import Watcher
    from lastbit.questions.request import Request


_LAST: Final = 1000
"""So many entries of an account are looked at for the names of its tables."""


@dataclass(frozen=True)
class Payer:
    """The account in a ledger that pays for a question, and the question as the ledger knows it."""

    ledger: Ledger
    dataset: str
    identity: Identity
    note: str = ""
    asker: str = ""
    """The name of whoever asks a server, for the history."""

    @classmethod
    def of(cls, request: Request, asker: str = "", ledger: Ledger | None = None) -> Payer | None:
        """Return the account that a request names; None where nobody pays.

        `ledger` is that of the request, where it is open already.
        """
        location, dataset = request["ledger"], request["dataset"]
        reuse = request.values.get("reuse", False)
        if (location is None) != (dataset is None):
            raise ParameterError(
                "--ledger and --dataset must be given together: got only one of them. --ledger names the file, "
                "--dataset the account to charge."
            )
        if location is None:
            if request["witness"] is not None:
                raise ParameterError("--witness watches over a ledger: pass --ledger FILE --dataset NAME too.")
            if reuse:
                raise ParameterError(
                    "--reuse looks for the release in a ledger: pass --ledger FILE --dataset NAME too."
                )
            return None
        if reuse and not _has_names(request):
            raise ParameterError(
                "--reuse needs a table that has a name: through - comes another table each time, and a table of a "
                "library has none. Save it as a file first, or leave --reuse out."
            )
        joined = (path for other in request.values.get("join") or () for path in read_joined(other).paths)
        refuse_same_file(location, [*(request.values.get("source") or ()), *joined])
        from lastbit.ledger import Identity, Ledger

        identity = Identity(identity_of(request), request.about, protects_of(request))
        ledger = Ledger(location, witness=request["witness"]) if ledger is None else ledger
        return cls(ledger, dataset, identity, request["note"], asker)

    @property
    def account(self) -> Account:
        """The account as it is now."""
        return self.ledger.account(self.dataset)

    def check_table(self, request: Request) -> None:
        """Refuse a table that this account has never paid for, where it has paid for others: perhaps a slip.

        Names are public, and no row is looked at. What the last thousand entries paid for is known. The owner of a
        server has named its table once for all.
        """
        if request.face not in OWNER or request.values.get("new_table", True):
            return
        table = list_sources(identity_of(request))
        paid = [parse_identity(entry.question) for entry in self.ledger.history(self.dataset, last=_LAST)]
        known = [names for facts in paid if facts and (names := list_sources(facts)) and "-" not in names]
        if known and "-" not in table and table not in known:
            raise ParameterError(
                f"the account {self.dataset!r} has only paid for tables of other names so far. If the same budget "
                "should pay for this table too, add --new-table, once. Otherwise name the account of this table with "
                "--dataset. Nothing was read and nothing was charged."
            )

    def find_answer(self, request: Request) -> Entry | None:
        """Return the entry that has answered this very question before, of the same files, by whatever name.

        None for a table without a name: nobody could say that it was the same one.
        """
        if NO_NAME in self.identity.facts["table"]:
            return None
        return self.ledger.answer(
            self.dataset, request.question.mechanism, adjacency=TABLE_ADJACENCY, question=self.identity
        )  # fmt: skip


def _has_names(request: Request) -> bool:
    """Return whether all tables that a request reads have names."""
    return NO_NAME not in identity_of(request)["table"]


def protects_of(request: Request) -> str:
    """Return what a request protects, as the books write it: a person, a row, or each combination of columns."""
    from lastbit.ledger.identity import name_combination

    if "source" not in request.values:
        return ""
    if request.rows.unit_parts and request.rows.most_units is None:
        return name_combination(UnitColumns().fact(request.rows.unit_parts))
    return "person" if request.values.get("unit") or request.values.get("counts") else "row"


def answer(
    request: Request,
    payer: Payer | None,
    *,
    once: str = "",
    watcher: Watcher | None = None,
    last_moment: Callable[[], None] = lambda: None,
    frame: Any = None,
) -> Any:
    """Read, charge, draw, record, and return what is published. `last_moment` may refuse before anything is charged.

    `once` is a key that pays once: see `Ledger.charge`. `watcher` is told how far the reading is. `frame` is a table of
    a library, in place of a file.
    """
    from lastbit.mechanisms.mechanism import resolve_draw

    question = request.question
    if question.reading is None:
        raise ParameterError(f"{request.kind.name} reads a stream: use the command, or SparseVector.start().")
    if payer is not None:
        # Reading may take long, so a budget that is too small refuses first. The charge checks the budget again.
        payer.check_table(request)
        payer.account.protecting(payer.identity.protects).charged(question.mechanism.cost, TABLE_ADJACENCY)
    with refuse_in_words_of_options():
        if frame is None or question.read_frame is None or request.rows.unit_parts:
            values = question.reading.run(watcher, frame=frame)
        else:
            values = question.read_frame(frame)
        ready = question.prepare(values)
    last_moment()
    if payer is None:
        return ready(resolve_draw(None))
    return payer.ledger.spend(
        payer.dataset,
        question.mechanism,
        ready,
        adjacency=TABLE_ADJACENCY,
        note=payer.note,
        question=payer.identity,
        once=once,
        asker=payer.asker,
    )


def refuse_same_file(ledger: str, sources: Sequence[str]) -> None:
    """Refuse a ledger that is the table: whoever copies, restores or replaces the table would do so with the books."""
    same = False
    for source in sources:
        with suppress(OSError, ValueError):
            same |= Path(ledger.removeprefix("sqlite:///")).samefile(source)
    if same:
        raise ParameterError(
            f"--ledger must be a file of its own: got the table itself, {ledger}. Name another file. Nothing was "
            "charged."
        )
