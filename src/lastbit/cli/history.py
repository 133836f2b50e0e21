"""`lastbit budget history` and `export`: what happened to an account, and what it published."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, Final

import typer

from lastbit.cli.budget import Dataset, Json, LedgerAddress, Witness
from lastbit.errors import EntryNotFound, ParameterError

_OPTIONAL_COLUMNS: Final = ("about", "protects", "asker", "note")
_LARGEST_ID: Final = (1 << 63) - 2
"""No ledger counts further. The entry after it has a number, too."""


def history(
    dataset: Dataset,
    address: LedgerAddress,
    release: Annotated[
        int | None,
        typer.Option(metavar="ID", max=_LARGEST_ID, help="Show again what this entry published, for nothing."),
    ] = None,
    last: Annotated[
        int, typer.Option(metavar="N", max=_LARGEST_ID, help="How many entries to show, the newest.")
    ] = 100,
    before: Annotated[
        int | None, typer.Option(metavar="ID", max=_LARGEST_ID, help="Only entries before this one.")
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="All entries, however many there are.")] = False,
    witness: Witness = None,
    as_json: Json = False,
) -> None:
    """Show what happened to an account, the newest 100 entries if no number is given."""
    from lastbit.ledger import Ledger
    from lastbit.questions.report import Report

    ledger = Ledger(address, witness=witness)
    if release is not None:
        return _show_release(ledger, dataset, release, as_json)
    entries = ledger.history(dataset, last=None if everything else last, before=before)
    account = ledger.account(dataset)
    has_older = bool(entries) and bool(ledger.history(dataset, last=1, before=entries[0].id))
    other_adjacency = [entry.adjacency != account.adjacency for entry in entries]
    only_epsilon = account.currency == "epsilon"
    columns: dict[str, list[Any]] = {
        "id": [entry.id for entry in entries],
        "time": [entry.time.isoformat(" ", "seconds") for entry in entries],
        "what": [entry.mechanism or entry.kind for entry in entries],
        "epsilon" if only_epsilon else "charged": [
            entry.charged if only_epsilon else _charge_text(entry, account) for entry in entries
        ],
        "about": [entry.about for entry in entries],
        "protects": [entry.protects for entry in entries],
        "asker": [entry.asker for entry in entries],
        "parameters": [", ".join(f"{name}={value}" for name, value in entry.parameters.items()) for entry in entries],
        "done": [entry.done for entry in entries],
        "note": [entry.note for entry in entries],
    }
    if any(other_adjacency):
        columns["charged for"] = [
            f"{entry.cost}, {entry.adjacency}" if differs else ""
            for entry, differs in zip(entries, other_adjacency, strict=True)
        ]
    # Most accounts have no notes, and some are charged by programs that say nothing of their questions.
    columns = {name: column for name, column in columns.items() if name not in _OPTIONAL_COLUMNS or any(column)}
    notes = [f"There are older entries. To see them: --before {entries[0].id}, or --all."] if has_older else []
    if any(entry.recorded for entry in entries):
        notes.append(f"To see a release again: lastbit budget history {dataset} --ledger … --release ID")
    data = {"history": [_entry_data(entry) for entry in entries], "older": has_older}
    Report(f"History of {dataset}", columns, notes, data).show(as_json=as_json)
    return None


def _charge_text(entry: Any, account: Any) -> str:
    from lastbit.ledger.price import format_up

    if entry.kind != "charge":
        loss = "rho" if account.currency == "rho" else "epsilon"
        delta_text = f", delta {account.delta_limit}" if account.delta_limit and entry.kind == "create" else ""
        return f"{loss} {entry.charged}{delta_text}"
    losses = [] if entry.epsilon is None else [f"epsilon {format_up(entry.epsilon)}"]
    deltas = [f"delta {format_up(entry.delta)}"] if entry.delta else []
    return ", ".join([*losses, f"rho {format_up(entry.rho)}", *deltas])


def _entry_data(entry: Any) -> dict[str, Any]:
    from lastbit.questions.report import entry_data

    return {
        **entry_data(entry),
        "epsilon": entry.epsilon,
        "rho": entry.rho,
        "delta": entry.delta,
        "question": entry.question,
        "protects": entry.protects,
        "released": None if entry.released is None else entry.released.isoformat(),
        "adjacency": entry.adjacency,
    }


def _show_release(ledger: Any, dataset: str, number: int, as_json: bool) -> None:
    from lastbit.questions.report import Report
    from lastbit.release import Release

    (entry,) = ledger.history(dataset, last=1, before=number + 1) or (None,)
    if entry is None or entry.id != number:
        raise EntryNotFound(f"the account {dataset!r} has no entry {number}. See: lastbit budget history {dataset}")
    published = ledger.published(number)
    when = (entry.released or entry.time).isoformat(" ", "seconds")
    columns: Mapping[str, Sequence[Any]]
    if isinstance(published, Release):
        title, columns, data = published.title, published.columns(), published.to_dict()
    else:
        columns = {name: published[name] for name in published.get("columns", ())}
        title, data = f"{entry.mechanism}, {entry.cost}", dict(published)
    more = {"entry": entry.id, "released": None if entry.released is None else entry.released.isoformat()}
    Report(title, columns, [f"From the books: released on {when}. Nothing was charged."], data | more).show(
        as_json=as_json
    )


def export(
    dataset: Dataset,
    address: LedgerAddress,
    form: Annotated[str, typer.Option("--format", metavar="NAME", help="csv or json.")] = "json",
    witness: Witness = None,
) -> None:
    """Write the whole books of an account, exactly as they are kept, with all that was published."""
    from lastbit.ledger import Ledger

    if form not in ("csv", "json"):
        raise ParameterError(f"--format must be csv or json: got {form}.")
    account, entries = Ledger(address, witness=witness).export(dataset)
    if form == "json":
        import json

        # As they are kept, exact: each number is a text. Entry by entry, because there may be many.
        print(f'{{"account": {json.dumps(account)}, "entries": [', end="")
        for position, entry in enumerate(entries):
            print("," if position else "", json.dumps(entry), sep="\n", end="")
        print("\n]}")
        return
    import csv

    first = next(entries, {})
    writer = csv.DictWriter(sys.stdout, list(first), lineterminator="\n")
    writer.writeheader()
    writer.writerows(chain([first] if first else [], entries))
