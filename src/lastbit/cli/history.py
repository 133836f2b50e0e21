"""`lastbit budget history` and `export`: what happened to an account, and what it published."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Annotated, Any, Final

import typer

from lastbit.cli.budget import Dataset, Json, Place
from lastbit.errors import EntryNotFound, ParameterError

_SPARSE: Final = ("about", "protects", "note")
_MOST: Final = (1 << 63) - 2
"""No ledger counts further. The entry after it has a number, too."""


def history(
    dataset: Dataset,
    ledger: Place,
    release: Annotated[
        int | None, typer.Option(metavar="ID", max=_MOST, help="Show again what this entry published, for nothing.")
    ] = None,
    last: Annotated[int, typer.Option(metavar="N", max=_MOST, help="How many entries to show, the newest.")] = 100,
    before: Annotated[int | None, typer.Option(metavar="ID", max=_MOST, help="Only entries before this one.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="All entries, however many there are.")] = False,
    as_json: Json = False,
) -> None:
    """Show what happened to an account, the newest 100 entries if no number is given."""
    from lastbit.ledger import Ledger
    from lastbit.questions.report import Report

    books = Ledger(ledger)
    if release is not None:
        return _show_release(books, dataset, release, as_json)
    entries, account = books.history(dataset, last=None if everything else last, before=before), books.account(dataset)
    older = bool(entries) and bool(books.history(dataset, last=1, before=entries[0].id))
    dearer = [entry.adjacency != account.adjacency for entry in entries]
    alone = account.currency == "epsilon"
    columns: dict[str, list[Any]] = {
        "id": [entry.id for entry in entries],
        "time": [entry.time.isoformat(" ", "seconds") for entry in entries],
        "what": [entry.mechanism or entry.kind for entry in entries],
        "epsilon" if alone else "charged": [entry.amount if alone else _charged(entry, account) for entry in entries],
        "about": [entry.about for entry in entries],
        "protects": [entry.protects for entry in entries],
        "parameters": [", ".join(f"{name}={value}" for name, value in entry.parameters.items()) for entry in entries],
        "done": [entry.done for entry in entries],
        "note": [entry.note for entry in entries],
    }
    if any(dearer):
        columns["charged for"] = [
            f"{entry.cost}, {entry.adjacency}" if more else "" for entry, more in zip(entries, dearer, strict=True)
        ]
    # Most accounts have no notes, and some are charged by programs that say nothing of their questions.
    columns = {name: column for name, column in columns.items() if name not in _SPARSE or any(column)}
    notes = [f"There are older entries. To see them: --before {entries[0].id}, or --all."] if older else []
    if any(entry.recorded for entry in entries):
        notes.append(f"To see a release again: lastbit budget history {dataset} --ledger … --release ID")
    data = {"history": [_data(entry) for entry in entries], "older": older}
    Report(f"History of {dataset}", columns, notes, data).show(as_json=as_json)
    return None


def _charged(entry: Any, account: Any) -> str:
    from lastbit.ledger.price import above

    if entry.kind != "charge":
        loss = "rho" if account.currency == "rho" else "epsilon"
        apart = f", delta {account.delta_limit}" if account.delta_limit and entry.kind == "create" else ""
        return f"{loss} {entry.amount}{apart}"
    losses = [] if entry.epsilon is None else [f"epsilon {above(entry.epsilon)}"]
    deltas = [f"delta {above(entry.delta)}"] if entry.delta else []
    return ", ".join([*losses, f"rho {above(entry.rho)}", *deltas])


def _data(entry: Any) -> dict[str, Any]:
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


def _show_release(books: Any, dataset: str, wanted: int, as_json: bool) -> None:
    from lastbit.questions.report import Report
    from lastbit.release import Release

    (entry,) = books.history(dataset, last=1, before=wanted + 1) or (None,)
    if entry is None or entry.id != wanted:
        raise EntryNotFound(f"the account {dataset!r} has no entry {wanted}. See: lastbit budget history {dataset}")
    published = books.published(wanted)
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
    ledger: Place,
    form: Annotated[str, typer.Option("--format", metavar="NAME", help="csv or json.")] = "json",
) -> None:
    """Write the whole books of an account, exactly as they are kept, with all that was published."""
    from lastbit.ledger import Ledger

    if form not in ("csv", "json"):
        raise ParameterError(f"--format must be csv or json: got {form}.")
    account, entries = Ledger(ledger).export(dataset)
    if form == "json":
        import json

        # As they are kept, exact: each number is a text. Entry by entry, because there may be many.
        print(f'{{"account": {json.dumps(account)}, "entries": [', end="")
        for place, entry in enumerate(entries):
            print("," if place else "", json.dumps(entry), sep="\n", end="")
        print("\n]}")
        return
    import csv

    first = next(entries, {})
    lines = csv.DictWriter(sys.stdout, list(first), lineterminator="\n")
    lines.writeheader()
    lines.writerows(chain([first] if first else [], entries))
