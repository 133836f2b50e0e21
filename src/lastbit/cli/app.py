"""The commands and their examples."""

from __future__ import annotations

import os
from collections.abc import Callable
from copy import copy
from typing import Annotated, Any

import typer

from lastbit.cli import audit, budget, completion, history, plan, publish, serve, tokens, watch
from lastbit.cli.commands import question_command
from lastbit.cli.completion import VARIABLE
from lastbit.questions.kinds import KINDS, WATCH

_SETTINGS: dict[str, Any] = {
    "add_completion": False,
    "no_args_is_help": True,
    "rich_markup_mode": None,  # plain help comes in half the time
    "pretty_exceptions_enable": False,
}
_BUDGET = "--ledger budget.db --dataset clinic"
_PLANS = {
    "top": (
        "plan top -k 10 --items 10000 --epsilon 1",
        "plan top -k 10 --items 10000 --within 50",
        "plan top -k 10 --epsilon 1 --delta 1e-6 --most-items 5",
        "plan top -k 10 --items 10000 --weights cost --bounds 0 1000 --within 50000",
    ),
    "choose": ("plan choose -k 50 --items 10000 --epsilon 1 --delta 1e-6",),
    "measure": ("plan measure -k 3 --items 100 --epsilon 1",),
    "histogram": ("plan histogram --items 12 --most-items 1 --epsilon 1",),
    "count": ("plan count --epsilon 1", "plan count --within 2% --people 5000"),
    "sum": ("plan sum --bounds 0 1000 --epsilon 1",),
    "mean": (
        "plan mean --of cost --bounds 0 1000 --people 5000 --within 10",
        "plan mean visits.csv --of cost --unit patient --bounds 0 1000 --people 5000 --epsilon 1",
    ),
    "tables": ("plan tables --by sex --by age --domain f,m --edges age=0,18,65 --rho 1/20",),
    "quantile": ("plan quantile --at 0.25,0.5,0.75 --bounds 0 1000 --epsilon 1",),
    "watch": ("plan watch --limit 3 --sensitivity 5 --within 100",),
}
_SUMMARIES = {
    **{kind.name: kind.summary for kind in (*KINDS.values(), WATCH)},
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
holders = typer.Typer(help="Who may ask a server of lastbit serve, and until when.", **_SETTINGS)
app.add_typer(holders, name="token")
plans = typer.Typer(
    help="How accurate a command will be, or what an accuracy costs. No row is read and nothing is spent.",
    short_help="How accurate a command will be, before it is run.",
    **_SETTINGS,
)
app.add_typer(plans, name="plan")

publications = typer.Typer(
    help="A whole study from one file: its questions, its budget, its report and the proof of it.",
    short_help="A whole study from one file.",
    **_SETTINGS,
)
app.add_typer(publications, name="publish")


def _print_version(show: bool) -> None:
    if show:
        from lastbit import __version__

        print(f"lastbit {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def _add(parent: typer.Typer, name: str, function: Callable[..., None], *examples: str) -> None:
    lines = "\n".join(f"  lastbit {example}" for example in examples)
    summary = None if parent in (holders, publications) else _SUMMARIES.get(name)
    if parent is app and name == "verify":
        summary = "Check a published folder, without the data."
    parent.command(name, short_help=summary, epilog=f"\b\nExample:\n{lines}")(function)


for _kind in KINDS.values():
    _add(app, _kind.name, question_command(_kind), *_kind.examples)
_add(app, "watch", watch.watch_command(), *WATCH.examples)
for _kind in plan.PLAN_KINDS:
    _add(plans, _kind.name, plan.plan_command(_kind), *_PLANS.get(_kind.name, ()))
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
_add(accounts, "raise", budget.raise_limit, "budget raise clinic --ledger budget.db --epsilon 4 --note 'agreed in May'")
_add(publications, "new", publish.new, "publish new visits.csv --unit patient -o new-study.toml")
_add(publications, "check", publish.check, "publish check study.toml")
_add(publications, "plan", publish.plan, "publish plan study.toml", "publish plan study.toml --improve")
_add(publications, "run", publish.run, "publish run study.toml --folder report-2024 --key signing.key")
_add(publications, "render", publish.render, "publish render study.toml --folder report-again")
_add(publications, "key", publish.create_key, "publish key signing.key")
_add(app, "verify", publish.verify, "verify report-2024", "verify report-2024 --key signing.key.pub")
audit.register(app)
_add(
    app,
    "serve",
    serve.serve_command(),
    f"serve visits.csv --unit patient {_BUDGET}",
    f"serve visits.csv --unit patient {_BUDGET} --domain diagnosis=diagnoses.txt --port 0 --no-open",
)
_add(
    holders,
    "create",
    tokens.create,
    "token create anna --role release --days 30 --tokens tokens.json",
)
_add(holders, "list", tokens.show, "token list --tokens tokens.json")
_add(holders, "withdraw", tokens.withdraw, "token withdraw anna --tokens tokens.json")
_add(app, "completion", completion.completion, "completion bash", "completion fish")


def expand_arguments(arguments: list[str]) -> list[str]:
    """Return the words of a command in full: `plan` without a question plans `top`.

    >>> expand_arguments(["plan", "-k", "3"]), expand_arguments(["plan", "count"])
    (['plan', 'top', '-k', '3'], ['plan', 'count'])
    """
    if arguments[:1] == ["plan"] and len(arguments) > 1 and arguments[1].startswith("-") and arguments[1] != "--help":
        return ["plan", "top", *arguments[1:]]
    return arguments


def app_for(arguments: list[str]) -> typer.Typer:
    """Return an app with only the command that these words name: to make the options of all commands takes longer.

    >>> [command.name for command in app_for(["top", "visits.csv"]).registered_commands]
    ['top']
    """
    if VARIABLE in os.environ:
        return app
    single = copy(app)
    single.registered_commands = [command for command in app.registered_commands if command.name in arguments[:1]]
    single.registered_groups = []
    if arguments[:1] == ["plan"] and len(arguments) > 1:
        single_plan = copy(plans)
        single_plan.registered_commands = [
            command for command in plans.registered_commands if command.name == arguments[1]
        ]
        if single_plan.registered_commands:
            single.registered_groups = [copy(group) for group in app.registered_groups if group.typer_instance is plans]
            single.registered_groups[0].typer_instance = single_plan
    return single if single.registered_commands or single.registered_groups else app
