"""`lastbit budget`: accounts, what is left in them, and whether their books are whole."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any

import typer

from lastbit.errors import ParameterError


def check_text(parameter: typer.CallbackParam, value: str | None) -> str | None:
    """Refuse what is no text, or too long, as the commands that release do."""
    from lastbit.questions.value_types import Text

    flag = parameter.opts[0] if parameter.param_type_name == "option" else (parameter.metavar or "").strip("[]")
    return None if value is None else Text(parameter.metavar or "TEXT", empty=True).parse(value, flag, "command")


LedgerAddress = Annotated[
    str,
    typer.Option("--ledger", metavar="FILE", help="A file, or a postgresql:// address.", callback=check_text),
]
Witness = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="A file elsewhere that learns of each entry. A ledger that lost some is refused.",
        callback=check_text,
    ),
]
Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="The name of the account.", callback=check_text)]
Epsilon = Annotated[
    str | None, typer.Option(metavar="NUMBER", help="The limit: what all releases together may cost, in epsilon.")
]
Rho = Annotated[str | None, typer.Option(metavar="NUMBER", help="The limit in rho of zCDP instead.")]
Note = Annotated[str, typer.Option(metavar="TEXT", help="The reason, for the history.", callback=check_text)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def create(
    dataset: Dataset,
    address: LedgerAddress,
    epsilon: Epsilon = None,
    rho: Rho = None,
    delta: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="With --epsilon or --rho: what may fail. Most use 1e-6 or less."),
    ] = None,
    adjacency: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="What one person may change: add-remove (come or go), or replace (another record)."
        ),
    ] = "add-remove",
    note: Note = "",
    witness: Witness = None,
    as_json: Json = False,
) -> None:
    """Open an account with a limit in epsilon, in rho, or in epsilon and delta. The first account makes the file."""
    from lastbit.ledger import Ledger
    from lastbit.values.adjacency import parse_adjacency

    account = Ledger(address, witness=witness).create(
        dataset, epsilon=epsilon, rho=rho, delta=delta, adjacency=parse_adjacency(adjacency), note=note
    )
    _show_account(account, as_json)


def show(
    address: LedgerAddress,
    dataset: Annotated[
        str | None,
        typer.Argument(metavar="[DATASET]", help="The account. Leave it out to see all.", callback=check_text),
    ] = None,
    after_epsilon: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Show what one more release of this epsilon would leave.")
    ] = None,
    after_rho: Annotated[str | None, typer.Option(metavar="NUMBER", help="The same for a release of this rho.")] = None,
    after_delta: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="With one of the two: the delta of the release.")
    ] = None,
    witness: Witness = None,
    as_json: Json = False,
) -> None:
    """Show how much was spent and how much is left, in each currency."""
    from lastbit.ledger import Ledger
    from lastbit.questions.report import Report, account_data

    ledger = Ledger(address, witness=witness)
    accounts = ledger.accounts() if dataset is None else (ledger.account(dataset),)
    cost = _parse_next_cost(after_epsilon, after_rho, after_delta)
    after = [None if cost is None else _account_after(account, cost) for account in accounts]
    data = [
        account_data(account) | ({} if outcome is None else {"after": _after_data(outcome)})
        for account, outcome in zip(accounts, after, strict=True)
    ]
    rows = [row for account, outcome in zip(accounts, after, strict=True) for row in _rows(account, outcome)]
    only_epsilon = all(account.currency == "epsilon" for account in accounts)
    names = ["dataset", "currency", "limit", "spent", "left", *(["after"] if cost is not None else []), "neighbours"]
    columns = {name: [row[name] for row in rows] for name in names if not (only_epsilon and name == "currency")}
    title = "Budgets, in epsilon" if only_epsilon else "Budgets"
    Report(title, columns, [line for account in accounts for line in _notes(account)], {"accounts": data}).show(
        as_json=as_json
    )


def _parse_next_cost(epsilon: str | None, rho: str | None, delta: str | None) -> Any:
    """Return the cost of one more release; None where nobody asks."""
    from lastbit.exact.numbers import number
    from lastbit.privacy.cost import Cost, positive_rho

    if epsilon is None and rho is None:
        if delta is not None:
            raise ParameterError("--after-delta goes with --after-epsilon or --after-rho: give one of them too.")
        return None
    exact_delta = Fraction(0) if delta is None else number(delta, "--after-delta")
    exact_epsilon = None if epsilon is None else Cost.of(epsilon).epsilon
    return Cost(exact_epsilon, None if rho is None else positive_rho(rho), exact_delta)


def _account_after(account: Any, cost: Any) -> Any:
    """Return the account after one more release of people who come or go, or the text of its refusal."""
    from lastbit.errors import LedgerError

    try:
        return account.charged(cost, "add-remove")
    except LedgerError as refusal:
        return str(refusal)


def _after_data(after: Any) -> dict[str, Any]:
    if isinstance(after, str):
        return {"allowed": False, "refusal": after}
    return {"allowed": True, "left": after.left}


def _rows(account: Any, after: Any) -> list[dict[str, Any]]:
    """Return a row for each currency that the account has a limit in."""
    from lastbit.questions.report import format_value

    # Amounts in several currencies are no numbers of one column: each is written on its own.
    limits = {
        "epsilon": (account.epsilon_limit, account.spent_epsilon),
        "rho": (account.rho_limit, account.spent_rho),
        "delta": (account.delta_limit - account.delta_of_rho, account.spent_delta),
    }
    return [
        {
            "dataset": account.dataset,
            "currency": name,
            "limit": format_value(limits[name][0], "down"),
            "spent": "no sum" if limits[name][1] is None else format_value(limits[name][1], "up"),
            "left": format_value(left, "down"),
            "after": "refused"
            if isinstance(after, str)
            else None
            if after is None
            else format_value(after.left[name], "down"),
            "neighbours": account.adjacency,
        }
        for name, left in account.left.items()
    ]


def _notes(account: Any) -> list[str]:
    if account.currency != "epsilon and delta":
        return []
    from lastbit.ledger.price import format_up
    from lastbit.privacy.cost import Cost

    lines = [
        f"{account.dataset} promises {account.text} for all its releases together. It takes a release while the deltas "
        "fit and, besides, the epsilons fit or the rhos fit. Another delta of "
        f"{format_up(account.delta_of_rho)} turns the rhos into epsilon."
    ]
    if account.spent_rho:
        sums = Cost(account.spent_epsilon, account.spent_rho, account.spent_delta)
        lines.append(
            f"So far {account.dataset} adds up to epsilon {sums.epsilon_at(account.delta_limit):.4g} at delta "
            f"{format_up(account.delta_limit)}. This sum is for orientation only. Where earlier "
            "releases decide which release comes next, the promise is the limit, and not this sum."
        )
    return lines


def verify(
    address: LedgerAddress,
    dataset: Annotated[
        str | None, typer.Argument(metavar="[DATASET]", help="One account; all without it.", callback=check_text)
    ] = None,
    expected: Annotated[
        str | None,
        typer.Option(
            metavar="DIGEST", help="A digest written down earlier: an entry must still have it.", callback=check_text
        ),
    ] = None,
    witness: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Compare with this file, then write the last digests into it. Keep it elsewhere.",
            callback=check_text,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Return whether the books add up, and fit the running hash over the entries."""
    from lastbit.ledger import Ledger
    from lastbit.questions.report import Report, account_data

    ledger = Ledger(address)
    problems = ledger.verify(dataset, expected=expected, witness=witness)
    if problems:
        Report("The books do not add up.", {}, problems, {"problems": problems}).show(as_json=as_json)
        raise typer.Exit(1)
    accounts = ledger.accounts() if dataset is None else (ledger.account(dataset),)
    columns: dict[str, list[Any]] = {
        "dataset": [account.dataset for account in accounts],
        "last digest": [account.digest for account in accounts],
    }
    notes = [
        "Write the digests down elsewhere: --expected finds them again, and --witness FILE does both. Without one, "
        "nobody notices a ledger that was rewritten as a whole, or an older copy in its place."
    ]
    if witness is not None:
        notes = [f"{witness} holds the last digests. Keep it where nobody restores it together with the ledger."]
    data = {"problems": (), "accounts": [account_data(account) for account in accounts]}
    Report("The books add up.", columns, notes, data).show(as_json=as_json)


def raise_limit(
    dataset: Dataset,
    address: LedgerAddress,
    epsilon: Epsilon = None,
    rho: Rho = None,
    note: Note = "",
    witness: Witness = None,
    as_json: Json = False,
) -> None:
    """Set a higher limit, in the account's own currency. The history records the change."""
    from lastbit.ledger import Ledger

    _show_account(Ledger(address, witness=witness).raise_limit(dataset, epsilon=epsilon, rho=rho, note=note), as_json)


def _show_account(account: Any, as_json: bool) -> None:
    from lastbit.questions.report import Report, account_data, account_line

    Report(account_line(account), {}, [], {"account": account_data(account)}).show(as_json=as_json)
