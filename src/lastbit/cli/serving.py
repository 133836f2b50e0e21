"""`lastbit serve`: a page and a service to plan, release and watch the budget."""

from __future__ import annotations

from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

from lastbit.errors import LastbitError, ParameterError
from lastbit.questions.options import Table, domain_of


def serve(
    table: Table,
    ledger: str,
    dataset: str,
    tables: list[str] | None,
    domain: list[str] | None,
    host: str,
    port: int,
    no_open: bool,
    certfile: str | None,
    keyfile: str | None,
    without_tls: bool,
    name: list[str] | None,
    tokens: str | None,
) -> None:
    """Start the server. It holds the table and the ledger, and ends when it is stopped."""
    try:
        from lastbit.data.relation import Wanted
        from lastbit.web.desk import Desk
        from lastbit.web.server import Place
        from lastbit.web.server import serve as start
        from lastbit.web.tokens import Tokens
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("lastbit"):
            raise
        raise LastbitError(f"serve needs {error.name}. Install it with: pip install 'lastbit[web]'") from None
    if table.places == ["-"]:
        raise ParameterError("serve reads the table more than once: standard input cannot be. Save it as a file first.")
    place = Place(
        host=host, port=port, certfile=certfile, keyfile=keyfile, without_tls=without_tls, names=tuple(name or ())
    )
    rows = {field.name: getattr(table, field.name) for field in fields(Table)}
    rows["source"] = table.places
    desk = Desk(rows, ledger, dataset, tables or (), _lists(domain or []))
    for columns in desk.columns.values():
        if table.unit is not None and table.sql is None and columns:
            Wanted((table.unit,)).check(columns)
    held = Tokens.new() if tokens is None else Tokens.kept(Path(tokens))
    start(desk, place, held, opened=not no_open)


def _lists(given: list[str]) -> dict[str, tuple[str, ...]]:
    """The public lists by their columns."""
    found = {}
    for text in given:
        column, equals, items = text.partition("=")
        if not equals or not column:
            raise ParameterError(f"--domain must be COLUMN=FILE, such as diagnosis=diagnoses.txt: got {text}.")
        found[column] = tuple(str(item) for item in domain_of(items))
    return found


_OWN: dict[str, tuple[Any, Any]] = {
    "ledger": (
        Annotated[str, typer.Option(metavar="FILE", help="The ledger to charge: a file or a postgresql:// address.")],
        MISSING,
    ),
    "dataset": (Annotated[str, typer.Option(metavar="NAME", help="The account that pays.")], MISSING),
    "tables": (
        Annotated[
            list[str] | None,
            typer.Option("--table", metavar="NAME", help="A table of the database. Repeat it to offer several."),
        ],
        None,
    ),
    "domain": (
        Annotated[
            list[str] | None,
            typer.Option(metavar="COLUMN=FILE", help="A public list of the items of a column, to offer on the page."),
        ],
        None,
    ),
    "host": (Annotated[str, typer.Option(metavar="ADDRESS", help="Where to listen.")], "127.0.0.1"),
    "port": (Annotated[int, typer.Option(metavar="NUMBER", help="The port; 0 takes a free one.")], 8777),
    "no_open": (Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")], False),
    "certfile": (Annotated[str | None, typer.Option(metavar="FILE", help="A certificate, for TLS.")], None),
    "keyfile": (Annotated[str | None, typer.Option(metavar="FILE", help="The key of the certificate.")], None),
    "without_tls": (
        Annotated[
            bool,
            typer.Option("--without-tls", help="Listen to other machines in the clear: behind a proxy that encrypts."),
        ],
        False,
    ),
    "name": (
        Annotated[
            list[str] | None,
            typer.Option(metavar="HOST", help="Another name under which the server is asked, such as a proxy's."),
        ],
        None,
    ),
    "tokens": (
        Annotated[
            str | None,
            typer.Option(metavar="FILE", help="Keep the tokens in this file, so that addresses stay the same."),
        ],
        None,
    ),
}


def command() -> Any:
    """The command, with the options of a table and its own."""
    import inspect

    hints = get_type_hints(Table, include_extras=True)
    shared = [field for field in fields(Table) if field.name != "table"]
    parameters = [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=hints[field.name],
            default=inspect.Parameter.empty if field.default is MISSING else field.default,
        )
        for field in shared
    ] + [
        inspect.Parameter(
            name,
            inspect.Parameter.KEYWORD_ONLY,
            annotation=kind,
            default=inspect.Parameter.empty if default is MISSING else default,
        )
        for name, (kind, default) in _OWN.items()
    ]

    def serve_command(**given: Any) -> None:
        """Start a server on this machine that holds the table and the ledger, and show a page in the browser.

        Whoever has its address may plan, release and watch the budget there, and never sees a row of the table.
        """
        table = Table(**{field.name: given.pop(field.name) for field in shared})
        table.check()
        serve(table, **given)

    serve_command.__name__ = "serve"
    serve_command.__annotations__ = {each.name: each.annotation for each in parameters}
    serve_command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return serve_command
