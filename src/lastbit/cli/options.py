"""The options that commands share, each written once."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from typing import Annotated, Any, get_type_hints

import typer


@dataclass(frozen=True, kw_only=True)
class Table:
    """Where the rows are."""

    source: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help="CSV, TSV, JSON, Parquet, a DuckDB or SQLite file, or a postgresql:// address."
        ),
    ]
    unit: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="Whom a row belongs to. Without it only single rows are protected."),
    ] = None
    table: Annotated[str | None, typer.Option(metavar="NAME", help="The table, when FILE is a database.")] = None


@dataclass(frozen=True, kw_only=True)
class Items:
    """What is counted."""

    by: Annotated[list[str], typer.Option(metavar="COLUMN", help="The column with the items; several multiply.")]
    domain: Annotated[
        list[str],
        typer.Option(metavar="FILE", help="The public items: a file with one per line, or 1..12. One for each --by."),
    ]

    @property
    def domains(self) -> Any:
        """The domain as `count` takes it."""
        each = [_domain(text) for text in self.domain]
        return each[0] if len(self.by) == len(each) == 1 else each


@dataclass(frozen=True, kw_only=True)
class Spending:
    """What it costs, who pays, and where the answer goes."""

    epsilon: Annotated[str, typer.Option(metavar="NUMBER", help="What it may cost, such as 1, 0.5 or 1/3.")]
    ledger: Annotated[
        str | None, typer.Option(metavar="FILE", help="Charge this ledger first: a file or a postgresql:// address.")
    ] = None
    dataset: Annotated[str | None, typer.Option(metavar="NAME", help="The account to charge.")] = None
    note: Annotated[str, typer.Option(metavar="TEXT", help="A word for the ledger's history.")] = ""
    level: Annotated[str, typer.Option(metavar="NUMBER", help="How sure the intervals are.")] = "0.95"
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False
    plot: Annotated[str | None, typer.Option(metavar="FILE", help="Draw the release into a picture.")] = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what it would cost; read and spend nothing.")] = False


def _domain(text: str) -> Any:
    ends = re.fullmatch(r"(-?\d+)\.\.(-?\d+)", text)
    return range(int(ends[1]), int(ends[2]) + 1) if ends else text


def with_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options of its parameters whose types are groups of options."""
    own = inspect.signature(function, eval_str=True).parameters
    groups = {name: each.annotation for name, each in own.items() if each.annotation in (Table, Items, Spending)}
    parameters = []
    for name, each in own.items():
        if name not in groups:
            parameters.append(each.replace(kind=inspect.Parameter.KEYWORD_ONLY))
            continue
        hints = get_type_hints(groups[name], include_extras=True)
        for field in fields(groups[name]):
            default = inspect.Parameter.empty if field.default is MISSING else field.default
            parameters.append(
                inspect.Parameter(
                    field.name, inspect.Parameter.KEYWORD_ONLY, annotation=hints[field.name], default=default
                )
            )

    def command(**given: Any) -> None:
        built = {
            name: group(**{field.name: given.pop(field.name) for field in fields(group)})
            for name, group in groups.items()
        }
        function(**built, **given)

    command.__name__, command.__doc__ = function.__name__, function.__doc__
    command.__annotations__ = {each.name: each.annotation for each in parameters}
    command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return command
