"""The commands and their examples."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import copy
from typing import Annotated, Any

import typer

from lastbit.cli import audit, budget, completion, history, planning, serving, watching
from lastbit.cli.commands import command_of
from lastbit.cli.completion import VARIABLE
from lastbit.questions.kinds import KINDS

_SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "no_args_is_help": True,
    "rich_markup_mode": None,  # plain help comes in half the time
    "pretty_exceptions_enable": False,
}
_TABLE = "visits.csv --by diagnosis --unit patient --domain diagnoses.txt"
_SUMS = f"{_TABLE} --weights cost --bounds 0 1000"
_BUDGET = "--ledger budget.db --dataset clinic"
_SHORT = {
    "top": "The k most common items, and how far each is ahead.",
    "above": "The first items of a list that are above a threshold.",
    "choose": "The best item, or the k best, without gaps.",
    "measure": "The k most common items, with their numbers.",
    "histogram": "How many units have each item, or are in each bin.",
    "count": "How many units there are, or rows.",
    "sum": "The sum of a number over all units.",
    "mean": "The mean of a number over all units.",
    "median": "The median of a number over all units, or by group.",
    "quantile": "Quantiles of a number, such as quartiles.",
    "watch": "Which numbers of a stream are above a threshold.",
    "plan": "How accurate a command will be, before it is run.",
    "serve": "A page in the browser to plan, release and watch.",
    "completion": "A script for the Tab key.",
    "create": "Open an account with a limit.",
    "history": "What happened to an account.",
    "export": "The whole books of an account, as they are kept.",
    "verify": "Whether the books add up and were not changed.",
}
"""A line for the list of commands, which cuts off longer ones."""

app = typer.Typer(
    name="lastbit",
    help="Differential privacy that holds to the last bit: from a table to a release in one command.",
    epilog="--debug, anywhere, shows where an error comes from. It never shows data.",
    **_SETTINGS,
)
accounts = typer.Typer(help="Accounts with limits, and all charges to them.", **_SETTINGS)
app.add_typer(accounts, name="budget")


def _version(wanted: bool) -> None:
    if wanted:
        from lastbit import __version__

        print(f"lastbit {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def _add(to: typer.Typer, name: str, function: Callable[..., None], *examples: str) -> None:
    lines = "\n".join(f"  lastbit {example}" for example in examples)
    to.command(name, short_help=_SHORT.get(name), epilog=f"\b\nExample:\n{lines}")(function)


_add(
    app,
    "top",
    command_of(KINDS["top"]),
    f"top {_TABLE} -k 3 --epsilon 1",
    f"top {_TABLE} -k 3 --epsilon 0.5 {_BUDGET} --note weekly --json",
    f"top {_SUMS} -k 3 --epsilon 1",
    f"top {_TABLE} -k 3 --rho 1/10",
    "top visits.csv --by diagnosis --unit patient -k 3 --epsilon 1 --delta 1e-6",
    f"top {_TABLE} --where 'cost >= 100 and month(date) <= 6' -k 3 --epsilon 1",
)
_add(
    app,
    "above",
    command_of(KINDS["above"]),
    f"above {_TABLE} --threshold 50 --limit 3 --epsilon 1",
    f"above {_SUMS} --threshold 20000 --limit 3 --epsilon 1",
)
_add(
    app,
    "choose",
    command_of(KINDS["choose"]),
    f"choose {_TABLE} --epsilon 0.1",
    f"choose {_SUMS} --epsilon 0.1",
    f"choose {_TABLE} -k 3 --epsilon 1 --delta 1e-6",
)
_add(
    app,
    "measure",
    command_of(KINDS["measure"]),
    f"measure {_TABLE} -k 3 --epsilon 1 {_BUDGET}",
    f"measure {_SUMS} -k 3 --epsilon 1",
)
_add(
    app,
    "histogram",
    command_of(KINDS["histogram"]),
    f"histogram {_TABLE} --most-items 3 --epsilon 1",
    "histogram visits.csv --by diagnosis --unit patient --most-items 3 --epsilon 1 --delta 1e-6",
    f"histogram {_TABLE} --rho 1/10",
    "histogram visits.csv --of cost --unit patient --bounds 0 1000 --bins 10 --epsilon 1",
    "histogram visits.csv --of cost --unit patient --edges 0,50,100,500 --missing bin --epsilon 1",
    "histogram visits.csv --month date --unit patient --bounds 2024-01 2024-12 --most-items 3 --epsilon 1",
)
_add(
    app,
    "count",
    command_of(KINDS["count"]),
    "count visits.csv --unit patient --epsilon 1",
    "count visits.csv --unit patient --rows --most-rows 10 --epsilon 1",
    f"count {_TABLE} --one-each --epsilon 1",
    "count visits.csv --unit patient --by diagnosis --domain 'influenza,common cold' --most-items 2 --epsilon 1",
)
_add(
    app,
    "sum",
    command_of(KINDS["sum"]),
    "sum visits.csv --of cost --unit patient --bounds 0 1000 --epsilon 1",
)
_add(
    app,
    "mean",
    command_of(KINDS["mean"]),
    "mean visits.csv --of cost --unit patient --bounds 0 1000 --epsilon 1",
    "mean visits.csv --of cost --unit patient --per latest --latest-by date --bounds 0 1000 --epsilon 1",
    "mean visits.csv --of cost --unit patient --per row --most-rows 5 --bounds 0 1000 --epsilon 1",
)
_add(
    app,
    "median",
    command_of(KINDS["median"]),
    "median visits.csv --of cost --unit patient --bounds 0 1000 --epsilon 1",
    "median visits.csv --of cost --unit patient --bounds 0 1000 --by diagnosis --domain diagnoses.txt --one-each "
    "--epsilon 1",
)
_add(
    app,
    "quantile",
    command_of(KINDS["quantile"]),
    "quantile visits.csv --at 0.25,0.5,0.75 --of cost --unit patient --bounds 0 1000 --epsilon 1",
    "quantile visits.csv --at 0.95 --of cost --unit patient --per total --bounds 0 5000 --resolution 10 --epsilon 1",
    "quantile visits.csv --at 0.5,0.9 --of cost --unit patient --per row --most-rows 3 --bounds 0 1000 --rho 1/10",
)
_add(
    app,
    "watch",
    watching.watch,
    "watch --threshold 1000 --limit 3 --epsilon 1",
    "watch --threshold 1000 --limit 3 --epsilon 1 --monotone --json",
    f"watch --threshold 1000 --limit 3 --epsilon 1 --sensitivity 5 --adaptive {_BUDGET}",
)
_add(
    app,
    "plan",
    planning.plan,
    "plan -k 10 --items 10000 --epsilon 1",
    "plan -k 10 --items 10000 --within 50",
    "plan -k 50 --items 10000 --epsilon 1 --delta 1e-6",
    "plan -k 10 --epsilon 1 --delta 1e-6 --most-items 5",
    "plan -k 10 --items 10000 --bounds 0 1000 --within 50000",
    "plan measure -k 3 --epsilon 1",
    "plan histogram --items 12 --most-items 1 --epsilon 1",
    "plan count --epsilon 1",
    "plan sum --bounds 0 1000 --epsilon 1",
    "plan mean --bounds 0 1000 --units 5000 --within 10",
    "plan quantile --at 0.25,0.5,0.75 --bounds 0 1000 --epsilon 1",
    "plan watch --limit 3 --sensitivity 5 --within 100",
)
_add(
    accounts,
    "create",
    budget.create,
    "budget create clinic --ledger new.db --epsilon 3",
    "budget create school --ledger new.db --rho 1/10",
    "budget create survey --ledger new.db --epsilon 3 --delta 1e-6",
)
_add(
    accounts,
    "show",
    budget.show,
    "budget show --ledger budget.db",
    "budget show clinic --ledger budget.db --after-epsilon 1/2",
)
_add(accounts, "history", history.history, "budget history clinic --ledger budget.db")
_add(
    accounts,
    "export",
    history.export,
    "budget export clinic --ledger budget.db --format csv",
    "budget export clinic --ledger budget.db --format json",
)
_add(accounts, "verify", budget.verify, "budget verify clinic --ledger budget.db", "budget verify --ledger budget.db")
_add(accounts, "raise", budget.raise_, "budget raise clinic --ledger budget.db --epsilon 4 --note 'agreed in May'")
audit.register(app)
_add(
    app,
    "serve",
    serving.command(),
    f"serve visits.csv --unit patient {_BUDGET}",
    f"serve visits.csv --unit patient {_BUDGET} --domain diagnosis=diagnoses.txt --port 0 --no-open",
)
_add(app, "completion", completion.completion, "completion bash", "completion fish")


def app_for(arguments: list[str]) -> typer.Typer:
    """The app, with nothing but the command that these words name: to make the options of all of them takes longer.

    >>> [command.name for command in app_for(["top", "visits.csv"]).registered_commands]
    ['top']
    """
    named = [command for command in app.registered_commands if command.name in arguments[:1]]
    if not named or VARIABLE in os.environ:
        return app
    one = copy(app)
    one.registered_commands, one.registered_groups = named, []
    return one
