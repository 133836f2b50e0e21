"""`lastbit budget`: accounts and their history."""

from __future__ import annotations

from typing import Annotated, Any

import typer

Place = Annotated[str, typer.Option("--ledger", metavar="FILE", help="A file, or a postgresql:// address.")]
Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="The name of the account.")]
Limit = Annotated[str, typer.Option(metavar="NUMBER", help="The limit: what all releases together may cost.")]
Note = Annotated[str, typer.Option(metavar="TEXT", help="The reason, for the history.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def create(dataset: Dataset, ledger: Place, epsilon: Limit, note: Note = "", as_json: Json = False) -> None:
    """Open an account with a limit. The first account makes the ledger file."""
    from lastbit.ledger import Ledger

    _show(Ledger(ledger).create(dataset, epsilon=epsilon, note=note), as_json)


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
    }
    data = {"accounts": [account_data(account) for account in accounts]}
    Report("Budgets, in epsilon", columns, [], data).show(as_json=as_json)


def history(dataset: Dataset, ledger: Place, as_json: Json = False) -> None:
    """Show everything that happened to an account."""
    from lastbit.cli.showing import Report
    from lastbit.ledger import Ledger

    entries = Ledger(ledger).history(dataset)
    columns: dict[str, list[Any]] = {
        "time": [entry.time.isoformat(" ", "seconds") for entry in entries],
        "what": [entry.mechanism or entry.kind for entry in entries],
        "epsilon": [entry.amount for entry in entries],
        "parameters": [", ".join(f"{name}={value}" for name, value in entry.parameters.items()) for entry in entries],
        "done": ["" if entry.kind != "charge" else "yes" if entry.released else "no" for entry in entries],
        "note": [entry.note for entry in entries],
    }
    data = {
        "history": [
            {
                "time": entry.time.isoformat(),
                "kind": entry.kind,
                "mechanism": entry.mechanism,
                "parameters": dict(entry.parameters),
                "cost": entry.cost,
                "amount": str(entry.amount),
                "note": entry.note,
                "released": None if entry.released is None else entry.released.isoformat(),
            }
            for entry in entries
        ]
    }
    Report(f"History of {dataset}", columns, [], data).show(as_json=as_json)


def raise_(dataset: Dataset, ledger: Place, epsilon: Limit, note: Note = "", as_json: Json = False) -> None:
    """Set a higher limit. The history records the change."""
    from lastbit.ledger import Ledger

    _show(Ledger(ledger).raise_limit(dataset, epsilon=epsilon, note=note), as_json)


def _show(account: Any, as_json: bool) -> None:
    from lastbit.cli.showing import Report, account_data, account_line

    Report(account_line(account), {}, [], {"account": account_data(account)}).show(as_json=as_json)
