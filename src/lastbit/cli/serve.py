"""`lastbit serve`: a page and a service to plan, release and watch the budget."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from lastbit.cli.commands import make_command
from lastbit.errors import LastbitError, ParameterError
from lastbit.questions.domain import Domain
from lastbit.questions.list_types import TextList
from lastbit.questions.option import REQUIRED, Option, parse_options
from lastbit.questions.row_options import RowOptions
from lastbit.questions.row_units import require_unit
from lastbit.questions.shared_options import LEDGER, TABLE
from lastbit.questions.value_types import Flag, Place, Text
from lastbit.questions.whole_number_types import WholeNumber

if TYPE_CHECKING:
    from lastbit.web.tokens import Tokens

_HELP: Final = """Start a server on this machine that holds the table and the ledger, and show a page in the browser.

    Whoever has its address may plan, release and watch the budget there, and never sees a row of the table.
    """

OPTIONS: Final = (
    *(option for option in TABLE if option.name != "table" and option.part == "table"),
    Option("ledger", Place("FILE"), "The ledger to charge: a file or a postgresql:// address.", REQUIRED),
    Option("dataset", Text("NAME"), "The account that pays.", REQUIRED),
    Option(
        "tables", TextList(Text("NAME")), "A table of the database. Repeat it to offer several.", (), spelling="--table"
    ),
    Option(
        "domain", TextList(Text("COLUMN=FILE")), "A public list of the items of a column, to offer on the page.", ()
    ),
    Option("host", Text("ADDRESS"), "Where to listen.", "127.0.0.1"),
    Option("port", WholeNumber(least=0), "The port; 0 takes a free one.", 8777),
    Option("no_open", Flag(), "Do not open a browser.", False),
    Option("certfile", Place("FILE"), "A certificate, for TLS."),
    Option("keyfile", Place("FILE"), "The key of the certificate."),
    Option("without_tls", Flag(), "Listen to other machines in the clear: behind a proxy that encrypts.", False),
    Option("name", TextList(Text("HOST")), "Another name under which the server is asked, such as a proxy's.", ()),
    Option("tokens", Place("FILE"), "The file of the tokens, which lastbit token writes: they outlive the server."),
    *(option for option in LEDGER if option.name == "witness"),
)  # fmt: skip


def serve_command() -> Callable[..., None]:
    """Return the command, with the options of a table and its own."""
    return make_command(OPTIONS, _serve, "serve", _HELP)


def _serve(arguments: dict[str, Any]) -> None:
    """Start the server. It holds the table and the ledger, and ends when it is stopped."""
    try:
        from lastbit.data.duckdb.relation import ColumnSelection
        from lastbit.web.desk import Desk
        from lastbit.web.server import ServerAddress, serve
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("lastbit"):
            raise
        raise LastbitError(f"serve needs {error.name}. Install it with: pip install 'lastbit[web]'") from None
    values = parse_options(OPTIONS, arguments, "command", "serve")
    require_unit(values)
    rows = RowOptions.of({**values, "table": None})
    if rows.is_piped:
        raise ParameterError("serve reads the table more than once: standard input cannot be. Save it as a file first.")
    names = ("host", "port", "certfile", "keyfile", "without_tls")
    address = ServerAddress(**{name: values[name] for name in names}, names=values["name"])
    lists = _parse_lists(values["domain"])
    desk = Desk(rows, values["ledger"], values["dataset"], values["tables"], lists, values["witness"])
    for columns in desk.columns.values():
        if desk.unit and rows.sql is None and columns:
            ColumnSelection(rows.unit_only(())).check(columns)
    tokens, texts = _find_tokens(values["tokens"])
    serve(desk, address, tokens, texts, open_browser=not values["no_open"])


def _find_tokens(path: str | None) -> tuple[Tokens, dict[str, str]]:
    """Return the tokens of a file, or new ones with their secrets: one for each role."""
    from lastbit.web.token_file import TokenFile
    from lastbit.web.tokens import Tokens

    if path is None:
        return Tokens.make()
    file = TokenFile(path)
    try:
        file.load()
    except FileNotFoundError:
        made, texts = Tokens.make()
        file.add(*made.own.values())
        return Tokens(file=file), texts
    return Tokens(file=file), {}


def _parse_lists(texts: tuple[str, ...]) -> dict[str, Domain]:
    """Return the public lists by their columns."""
    lists = {}
    for text in texts:
        column, equals, items = text.partition("=")
        if not equals or not column:
            raise ParameterError(f"--domain must be COLUMN=FILE, such as diagnosis=diagnoses.txt: got {text}.")
        lists[column] = Domain.parse(items)
    return lists
