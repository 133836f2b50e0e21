"""Every command: its words, its line in the list, its examples, and where it is. None of them is loaded here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from lastbit.questions.summaries import SUMMARIES

if TYPE_CHECKING:
    from lastbit.questions.kind import Kind

_BUDGET = "--ledger budget.db --dataset clinic"
_PLANS = {
    "describe": ("plan describe --unit patient --numbers cost --dates day --texts diagnosis --epsilon 1 --delta 1e-6",),
    "top": (
        "plan top -k 10 --items 10000 --epsilon 1",
        "plan top -k 10 --items 10000 --within 50",
        "plan top -k 10 --epsilon 1 --delta 1e-6 --most-items 5",
        "plan top -k 10 --items 10000 --of cost --bounds 0 1000 --within 50000",
    ),
    "choose": ("plan choose -k 50 --items 10000 --epsilon 1 --delta 1e-6",),
    "measure": ("plan measure -k 3 --items 100 --epsilon 1",),
    "histogram": ("plan histogram --items 12 --most-items 1 --epsilon 1",),
    "count": (
        "plan count --epsilon 1",
        "plan count --within 2% --people 5000",
        "plan count --times 40 --epsilon 3 --delta 1e-6",
    ),
    "sum": ("plan sum --bounds 0 1000 --epsilon 1",),
    "mean": (
        "plan mean --of cost --bounds 0 1000 --people 5000 --within 10",
        "plan mean visits.csv --of cost --unit patient --bounds 0 1000 --people 5000 --epsilon 1",
    ),
    "tables": ("plan tables --by sex --by age --domain f,m --edges age 0,18,65 --rho 1/20",),
    "quantile": ("plan quantile --at 0.25,0.5,0.75 --bounds 0 1000 --epsilon 1",),
    "watch": ("plan watch --limit 3 --sensitivity 5 --within 100",),
}
GROUPS: Final[dict[str, dict[str, Any]]] = {
    "budget": {"help": "Accounts with limits, and all charges to them."},
    "token": {"help": "Who may ask a server of lastbit serve, and until when."},
    "plan": {
        "help": "How accurate a command will be, or what an accuracy costs. No row is read and nothing is spent.",
        "short_help": "How accurate a command will be, before it is run.",
    },
    "columns": {"help": "Public facts about columns, typed once for --columns."},
    "publish": {
        "help": "A whole study from one file: its questions, its budget, its report and the proof of it.",
        "short_help": "A whole study from one file.",
    },
}

Function = Callable[..., None]


@dataclass(frozen=True)
class Command:
    """A command of one word or two, its line in the list of commands, and how it loads: with what its help ends."""

    words: tuple[str, ...]
    summary: str
    load: Callable[[], tuple[Function, str]]


def _examples(examples: Iterable[str]) -> str:
    lines = "\n".join(f"  lastbit {example}" for example in examples)
    return f"\b\nExample:\n{lines}"


def _command(words: str, summary: str, home: str, *examples: str) -> Command:
    """Return a command that is a function of a module of `lastbit.cli`."""
    module, _, name = home.partition(".")

    def load() -> tuple[Function, str]:
        return getattr(import_module(f"lastbit.cli.{module}"), name), _examples(examples)

    return Command(tuple(words.split()), summary, load)


def _load_kind(name: str) -> Kind:
    from lastbit.questions.kinds import KINDS, WATCH

    return WATCH if name == WATCH.name else KINDS[name]


def _load_question(name: str) -> tuple[Function, str]:
    kind = _load_kind(name)
    if name == "watch":
        from lastbit.cli.watch import watch_command

        return watch_command(), _examples(kind.examples)
    from lastbit.cli.commands import question_command

    return question_command(kind), _examples(kind.examples)


def _load_plan(name: str) -> tuple[Function, str]:
    from lastbit.cli.plan import plan_command

    return plan_command(_load_kind(name)), _examples(_PLANS.get(name, ()))


def _load_audit() -> tuple[Function, str]:
    from lastbit.cli.audit import EPILOG, audit

    return audit, EPILOG


def _load_serve() -> tuple[Function, str]:
    from lastbit.cli.serve import serve_command

    return serve_command(), _examples(
        (
            f"serve visits.csv --unit patient {_BUDGET}",
            f"serve visits.csv --unit patient {_BUDGET} --domain diagnosis=diagnoses.txt --port 0 --no-open",
        )
    )


COMMANDS: Final[tuple[Command, ...]] = (
    *(Command((name,), summary, partial(_load_question, name)) for name, summary in SUMMARIES.items()),
    _command(
        "verify",
        "Check a published folder, without the data.",
        "publish.verify",
        "verify report-2024",
        "verify report-2024 --key signing.key.pub",
    ),
    _command(
        "compare",
        "Two published answers against each other, for nothing.",
        "compare.compare_answers",
        "compare 2023.json 2024.json --as percent",
        "compare 2023.json 2024.json --as difference --csv change.csv",
    ),
    Command(("audit",), "Follow every branch of a program with exact probabilities.", _load_audit),
    Command(("serve",), "A page in the browser to plan, release and watch.", _load_serve),
    _command("completion", "A script for the Tab key.", "completion.completion", "completion bash", "completion fish"),
    _command(
        "budget create",
        "Open an account with a limit.",
        "budget.create",
        "budget create clinic --ledger new.db --epsilon 3",
        "budget create school --ledger new.db --rho 1/10",
        "budget create survey --ledger new.db --epsilon 3 --delta 1e-6",
    ),
    _command(
        "budget show",
        "Show how much was spent and how much is left, in each currency.",
        "budget.show",
        "budget show --ledger budget.db",
        "budget show clinic --ledger budget.db --after-epsilon 1/2",
    ),
    _command(
        "budget history",
        "What happened to an account.",
        "history.history",
        "budget history clinic --ledger budget.db",
    ),
    _command(
        "budget export",
        "The whole books of an account, as they are kept.",
        "history.export",
        "budget export clinic --ledger budget.db --format csv",
        "budget export clinic --ledger budget.db --format json",
    ),
    _command(
        "budget verify",
        "Whether the books add up and were not changed.",
        "budget.verify",
        "budget verify clinic --ledger budget.db",
        "budget verify --ledger budget.db",
    ),
    _command(
        "budget raise",
        "Set a higher limit, in the account's own currency.",
        "budget.raise_limit",
        "budget raise clinic --ledger budget.db --epsilon 4 --note 'agreed in May'",
    ),
    _command(
        "token create",
        "Make a token for a person or a program, and print it.",
        "tokens.create",
        "token create anna --role release --days 30 --tokens tokens.json",
    ),
    _command("token list", "Whose the tokens are, and until when.", "tokens.show", "token list --tokens tokens.json"),
    _command(
        "token withdraw",
        "End a token and every session that was opened with it.",
        "tokens.withdraw",
        "token withdraw anna --tokens tokens.json",
    ),
    *(Command(("plan", name), summary, partial(_load_plan, name)) for name, summary in SUMMARIES.items()),
    _command(
        "columns new",
        "Write a file of facts about columns, from their names.",
        "columns.new",
        "columns new visits.csv -o columns.toml",
    ),
    _command(
        "publish new",
        "Write a first study file from the names of the columns.",
        "publish.new",
        "publish new visits.csv --unit patient -o new-study.toml",
    ),
    _command(
        "publish check",
        "Say everything in a study file that cannot be.",
        "publish.check",
        "publish check study.toml",
    ),
    _command(
        "publish plan",
        "Show what every question costs and how accurate it will be.",
        "publish.plan",
        "publish plan study.toml",
        "publish plan study.toml --improve",
    ),
    _command(
        "publish run",
        "Charge the whole study at once, and answer every question.",
        "publish.run",
        "publish run study.toml --folder report-2024 --key signing.key",
    ),
    _command(
        "publish render",
        "Write the folder again from the books, for nothing.",
        "publish.render",
        "publish render study.toml --folder report-again",
    ),
    _command(
        "publish key",
        "Make the pair of keys that signs publications.",
        "publish.create_key",
        "publish key signing.key",
    ),
)
"""Every command, in the order of the list."""
