"""`lastbit token`: who may ask a server, what each may do, and until when. A server that runs takes changes at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from lastbit.cli.budget import Json, check_text
from lastbit.errors import LastbitError, ParameterError

if TYPE_CHECKING:
    from lastbit.web.token_file import TokenFile

_MOST_DAYS: Final = 3650
TokenPlace = Annotated[
    str,
    typer.Option("--tokens", metavar="FILE", help="The file that lastbit serve --tokens names.", callback=check_text),
]
Name = Annotated[
    str, typer.Argument(metavar="NAME", help="Whose token it is: the history says it.", callback=check_text)
]


def create(
    name: Name,
    tokens: TokenPlace,
    role: Annotated[
        str, typer.Option(metavar="ROLE", help="look, release or raise: what the holder may do.", callback=check_text)
    ] = "look",
    days: Annotated[
        int, typer.Option(metavar="N", min=1, max=_MOST_DAYS, help="The token ends after so many days.")
    ] = 90,
    as_json: Json = False,
) -> None:
    """Make a token for a person or a program, and print it. It is printed once: the file holds a digest of it."""
    from lastbit.questions.report import Report

    file = _open(tokens)
    from lastbit.web.tokens import ROLES, Token

    if role not in ROLES:
        raise ParameterError(f"--role must be look, release or raise: got {role}.")
    token, secret = Token.make(name, role, datetime.now(UTC) + timedelta(days=days))
    file.add(token)
    lines = [
        secret,
        "Send it with care. A browser opens the address of the server with ?token= and this text behind it.",
    ]
    title = f"{name} may {role} until {_day(token.expires)}. The token, this once:"
    Report(title, {}, lines, {**_data(token), "token": secret}).show(as_json=as_json)


def show(tokens: TokenPlace, as_json: Json = False) -> None:
    """List the tokens: whose they are, what they may do, and until when."""
    from lastbit.questions.report import Report

    entries = _load(_open(tokens))
    now = datetime.now(UTC)
    columns: dict[str, list[Any]] = {
        "name": [token.name for token in entries],
        "may": [token.role for token in entries],
        "until": [_day(token.expires) for token in entries],
        "state": ["withdrawn" if token.withdrawn else "open" if token.is_valid(now) else "ended" for token in entries],
    }
    Report("Tokens", columns, [], {"tokens": [_data(token) for token in entries]}).show(as_json=as_json)


def withdraw(name: Name, tokens: TokenPlace, as_json: Json = False) -> None:
    """End a token and every session that was opened with it. A server that runs refuses it from now on."""
    from lastbit.questions.report import Report

    file = _open(tokens)
    _load(file)
    token = file.withdraw(name)
    Report(f"The token of {name} opens nothing any more.", {}, [], {"withdrawn": token.name}).show(as_json=as_json)


def _open(tokens: str) -> TokenFile:
    try:
        from lastbit.web.token_file import TokenFile
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("lastbit"):
            raise
        raise LastbitError(f"token needs {error.name}. Install it with: pip install 'lastbit[web]'") from None
    return TokenFile(tokens)


def _load(file: TokenFile) -> list[Any]:
    try:
        return list(file.load())
    except FileNotFoundError:
        raise ParameterError(
            f"there is no file {file.path}. Make a token: lastbit token create NAME --tokens {file.path}"
        ) from None


def _day(moment: datetime | None) -> str:
    return "no end" if moment is None else moment.date().isoformat()


def _data(token: Any) -> dict[str, Any]:
    times = {name: getattr(token, name) for name in ("created", "expires", "withdrawn")}
    written = {name: None if time is None else time.isoformat() for name, time in times.items()}
    return {"name": token.name, "role": token.role, **written}
