"""`lastbit budget`: accounts and their history."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Place = Annotated[str, typer.Option("--ledger", metavar="FILE", help="A file, or a postgresql:// address.")]
Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="The name of the account.")]
Limit = Annotated[str, typer.Option(metavar="NUMBER", help="The limit: what all releases together may cost.")]
Note = Annotated[str, typer.Option(metavar="TEXT", help="The reason, for the history.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def create(
    dataset: Dataset,
    ledger: Place,
    epsilon: Limit,
    adjacency: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="What one person may change: add-remove (come or go), or replace (another record)."
        ),
    ] = "add-remove",
    note: Note = "",
    as_json: Json = False,
) -> None:
    """Open an account with a limit. The first account makes the ledger file."""
    from lastbit.ledger import Ledger
    from lastbit.values.adjacency import named

    _show(Ledger(ledger).create(dataset, epsilon=epsilon, adjacency=named(adjacency), note=note), as_json)


def show(
    ledger: Place,
    dataset: Annotated[
        str | None, typer.Argument(metavar="[DATASET]", help="The account. Leave it out to see all.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show how much was spent and how much is left."""
    from lastbit.cli.showing import Report, account_data
    from lastbit.ledger import Ledger

    books = Ledger(ledger)
    accounts = books.accounts() if dataset is None else (books.account(dataset),)
    columns: dict[str, list[Any]] = {
        "dataset": [account.dataset for account in accounts],
        "limit": [account.limit for account in accounts],
        "spent": [account.spent for account in accounts],
        "left": [account.remaining for account in accounts],
        "neighbours": [account.adjacency for account in accounts],
    }
    data = {"accounts": [account_data(account) for account in accounts]}
    Report("Budgets, in epsilon", columns, [], data).show(as_json=as_json)


def history(dataset: Dataset, ledger: Place, as_json: Json = False) -> None:
    """Show everything that happened to an account."""
    from lastbit.cli.showing import Report
    from lastbit.ledger import Ledger

    books = Ledger(ledger)
    entries, own = books.history(dataset), books.account(dataset).adjacency
    dearer = [entry.adjacency != own for entry in entries]
    columns: dict[str, list[Any]] = {
        "time": [entry.time.isoformat(" ", "seconds") for entry in entries],
        "what": [entry.mechanism or entry.kind for entry in entries],
        "epsilon": [entry.amount for entry in entries],
        "parameters": [", ".join(f"{name}={value}" for name, value in entry.parameters.items()) for entry in entries],
        "done": ["" if entry.kind != "charge" else "yes" if entry.released else "no" for entry in entries],
        "note": [entry.note for entry in entries],
    }
    if any(dearer):
        columns["charged for"] = [
            f"{entry.cost}, {entry.adjacency}" if more else "" for entry, more in zip(entries, dearer, strict=True)
        ]
    data = {
        "history": [
            {
                "id": entry.id,
                "time": entry.time.isoformat(),
                "kind": entry.kind,
                "mechanism": entry.mechanism,
                "parameters": dict(entry.parameters),
                "cost": entry.cost,
                "amount": str(entry.amount),
                "note": entry.note,
                "released": None if entry.released is None else entry.released.isoformat(),
                "adjacency": entry.adjacency,
                "digest": entry.digest,
            }
            for entry in entries
        ]
    }
    Report(f"History of {dataset}", columns, [], data).show(as_json=as_json)


def verify(
    ledger: Place,
    dataset: Annotated[str | None, typer.Argument(metavar="[DATASET]", help="One account; all without it.")] = None,
    expected: Annotated[
        str | None, typer.Option(metavar="DIGEST", help="A digest written down earlier: an entry must still have it.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Whether the books add up, and fit the running hash over the entries."""
    from lastbit.cli.showing import Report, account_data
    from lastbit.ledger import Ledger

    books = Ledger(ledger)
    problems = books.verify(dataset, expected=expected)
    if problems:
        Report("The books do not add up.", {}, problems, {"problems": problems}).show(as_json=as_json)
        raise typer.Exit(1)
    accounts = books.accounts() if dataset is None else (books.account(dataset),)
    columns: dict[str, list[Any]] = {
        "dataset": [account.dataset for account in accounts],
        "last digest": [account.digest for account in accounts],
    }
    notes = [
        "Write the digests down elsewhere: --expected finds them again. Without one, nobody notices a ledger that was "
        "rewritten as a whole."
    ]
    data = {"problems": (), "accounts": [account_data(account) for account in accounts]}
    Report("The books add up.", columns, notes, data).show(as_json=as_json)


def raise_(dataset: Dataset, ledger: Place, epsilon: Limit, note: Note = "", as_json: Json = False) -> None:
    """Set a higher limit. The history records the change."""
    from lastbit.ledger import Ledger

    _show(Ledger(ledger).raise_limit(dataset, epsilon=epsilon, note=note), as_json)


def _show(account: Any, as_json: bool) -> None:
    from lastbit.cli.showing import Report, account_data, account_line

    Report(account_line(account), {}, [], {"account": account_data(account)}).show(as_json=as_json)
