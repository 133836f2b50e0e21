"""Budgets in words: how many more releases of a cost fit into an account, and what each of so many may cost."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import LedgerError, ParameterError
from lastbit.exact.numbers import number
from lastbit.output.numbers import format_digits
from lastbit.output.words import plural
from lastbit.questions.question import TABLE_ADJACENCY

if TYPE_CHECKING:
    from lastbit.ledger import Account
    from lastbit.privacy.cost import Cost
    from lastbit.values.adjacency import Adjacency

_MOST: Final = 1000
"""More releases than these are not counted."""


def describe_more(account: Account, cost: Cost, adjacency: Adjacency | None = TABLE_ADJACENCY) -> str:
    """Return how many more releases of this cost fit, in words.

    >>> from lastbit.ledger import Account
    >>> from lastbit.privacy.cost import Cost
    >>> describe_more(Account.with_limit("clinic", epsilon=3), Cost.of("1/2"))
    '6 more like this fit.'
    """
    fits = count_more(account, cost, adjacency)
    if fits == 0:
        return "No more like this fits."
    return f"{'More than ' if fits == _MOST else ''}{fits:,} more like this {'fits' if fits == 1 else 'fit'}."


def count_more(account: Account, cost: Cost, adjacency: Adjacency | None = TABLE_ADJACENCY) -> int:
    """Return how many more releases of this cost fit, up to 1,000."""
    try:
        price = account.prices(cost, adjacency)
    except LedgerError:  # the account takes no such cost
        return 0
    for fits in range(_MOST):
        account = account.plus(price)
        if not account.within:
            return fits
    return _MOST


def share_cost(times: int, asked: Mapping[str, Any], account: Account | None) -> list[dict[str, Any]]:
    """Return what each of so many releases may cost, in each currency: typed costs, rounded down.

    `asked` is the cost of all together; without one it is what the account has left.

    >>> share_cost(40, {"epsilon": "3"}, None)
    [{'epsilon': '0.075'}]
    >>> share_cost(40, {"epsilon": "3", "delta": "1e-6"}, None)
    [{'epsilon': '0.075'}, {'rho': '0.004393'}]
    """
    from lastbit.ledger import Account

    if asked:
        if not {"epsilon", "rho"} & asked.keys() or {"epsilon", "rho"} <= asked.keys():
            raise ParameterError("--times shares one cost: give --epsilon, --epsilon and --delta, or --rho.")
        account = Account.with_limit("all together", **asked)
    if account is None:
        raise ParameterError("--times shares a cost: give --epsilon 3, or an account with --ledger and --dataset.")
    left = {name: amount / times for name, amount in account.left.items() if name != "delta" and amount > 0}
    if not left:
        raise ParameterError(f"nothing is left in {account.dataset}: the budget allows no release like this.")
    return [{name: _round_down(amount)} for name, amount in left.items()]


def describe_share(times: int, cost: Mapping[str, Any], account: str) -> str:
    """Return what each may cost, in words.

    >>> describe_share(40, {"rho": "0.0035"}, "epsilon 3, delta 1e-6")
    'Each of 40 releases like this may cost rho 0.0035: all 40 together fit into epsilon 3, delta 1e-6.'
    """
    ((name, amount),) = cost.items()
    one = f"Each of {plural(times, 'release')} like this may cost {name} {amount}"
    return f"{one}: all {times:,} together fit into {account}."


def _round_down(amount: Fraction) -> str:
    """Return an amount as a person types it: not more than it is."""
    exact = str(amount)
    short = format_digits(amount, 4, "down")
    return short if number(short, "cost") > 0 else exact
