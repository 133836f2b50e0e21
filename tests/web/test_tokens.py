"""Tokens with a name and an end, the sessions that they open, and who asked in the books."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.web import server as starter
from lastbit.web.app import application
from lastbit.web.desk import Desk
from lastbit.web.sessions import Sessions
from lastbit.web.token_file import TokenFile
from lastbit.web.tokens import Token, Tokens
from tests import processes
from tests.web.conftest import Served
from tests.web.test_attacks import desk
from tests.web.test_guard import at_home, enter
from tests.web.test_tables import SECRETS, TOKENS, Client

__all__ = ["desk"]

COUNT = {"question": "count", "options": {"epsilon": "1/16"}}
TICKET = re.compile(r"\?ticket=([\w-]+)")


@pytest.fixture
def file(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path / "tokens.json")


def cli(*words: str) -> Any:
    command = [sys.executable, "-m", "lastbit", *words]
    return processes.run(command, capture_output=True, text=True, check=False)


def test_named_tokens_are_made_listed_and_withdrawn_while_the_server_runs(served: Served) -> None:
    place = str(served.folder / "tokens.json")
    made = cli("token", "create", "anna", "--role", "release", "--days", "30", "--tokens", place, "--json")
    secret = json.loads(made.stdout)["token"]
    assert secret not in Path(place).read_text()
    again = cli("token", "create", "anna", "--tokens", place)
    assert (again.returncode, "there is a token named 'anna' already" in again.stderr) == (2, True)
    headers = {"authorization": f"Bearer {secret}"}
    with served.client("") as client:
        confirmed = client.post("api/confirmations", json=COUNT, headers=headers)
        released = client.post("api/releases", json={"key": confirmed.json()["key"]}, headers=headers)
        assert released.status_code == 201
        history = client.get("api/accounts/clinic", headers=headers).json()["history"]
        assert [entry["asker"] for entry in history if entry["id"] == released.json()["entry"]] == ["anna"]
        assert client.post("api/accounts/clinic/limit", json={}, headers=headers).status_code == 403
        served.tokens["anna"] = secret
        cookie = enter(served, "anna")[1]
        assert client.get("budget", headers={**at_home(served), "cookie": cookie}).status_code == 200

        assert "anna" in cli("token", "list", "--tokens", place).stdout
        assert cli("token", "withdraw", "anna", "--tokens", place).returncode == 0
        assert client.get("budget", headers=headers).status_code == 401
        assert client.get("budget", headers={**at_home(served), "cookie": cookie}).status_code == 401
    listed = json.loads(cli("token", "list", "--tokens", place, "--json").stdout)["tokens"]
    assert [(token["name"], token["withdrawn"] is not None) for token in listed][-1] == ("anna", True)
    shown = cli("budget", "history", "clinic", "--ledger", str(served.folder / "budget.db")).stdout
    assert "anna" in shown
    assert served.ledger.verify() == ()


def test_whoever_raises_a_limit_is_in_the_books(served: Served) -> None:
    served.ledger.create("raised by", epsilon=1)
    with served.client("raise") as client:
        assert client.post("api/accounts/raised by/limit", json={"epsilon": "2"}).status_code == 200
    assert [entry.asker for entry in served.ledger.history("raised by")] == ["", "raise"]


@pytest.mark.parametrize("name", ["2026/survey", "/", "a//b", "a/limit", "a/raise", "..", "a?b#c%2F", "über/uns"])
def test_accounts_of_every_name_open(name: str, served: Served) -> None:
    served.ledger.create(name, epsilon=1)
    with served.client("raise") as client:
        page = client.get("budget", params={"account": name})
        assert page.status_code == 200
        address = re.search(r'href="(/budget/export.json[^"]*)"', page.text)
        assert address is not None
        assert client.get(address[1].replace("&amp;", "&")).json()["account"]["dataset"] == name
        links = re.findall(r'href="(/budget\?account=[^"]*)"', client.get("budget").text)
        assert all(client.get(link.replace("&amp;", "&")).status_code == 200 for link in links)
        raised = client.post("budget/raise", data={"account": name, "limit": "2", "note": "more"})
        assert raised.status_code == 303
        if name not in ("..", "/"):  # a client cleans such a path before it asks
            from urllib.parse import quote

            path = f"api/accounts/{quote(name, safe='')}"
            assert client.get(path).json()["dataset"] == name
            assert client.post(f"{path}/limit", json={"epsilon": "3"}).status_code == 200
    assert served.ledger.account(name).limit == (2 if name in ("..", "/") else 3)


def test_a_token_ends_and_a_clock_that_is_set_back_revives_none(file: TokenFile) -> None:
    now = datetime.now(UTC)
    token, secret = Token.make("anna", "look", now + timedelta(days=1))
    file.add(token)
    clock = [now]
    tokens = Tokens(file=file, now=lambda: clock[0])
    assert tokens.find(secret) == token
    clock[0] = now + timedelta(days=1)
    assert tokens.find(secret) is None
    clock[0] = now
    assert tokens.find(secret) is None


def test_a_token_file_that_is_damaged_or_gone_opens_nothing(
    file: TokenFile, capsys: pytest.CaptureFixture[str]
) -> None:
    token, secret = Token.make("anna", "raise")
    file.add(token)
    tokens, whole = Tokens(file=file), file.path.read_text()
    assert tokens.find(secret) == token
    for text in (
        whole[:-30], "[]", "{}", whole.replace('"raise"', '"owner"'), whole.replace('"expires": null', '"expires": 3'),
        json.dumps({"tokens": json.loads(whole)["tokens"] * 2}),
    ):  # fmt: skip
        file.path.write_text(text + " ")
        assert tokens.find(secret) is None, text
    assert "no token of" in capsys.readouterr().err
    file.path.write_text(whole)
    assert tokens.find(secret) == token
    file.path.unlink()
    assert tokens.find(secret) is None
    file.path.write_text("{}")
    with pytest.raises(lb.ParameterError, match="must be a file that lastbit has written"):
        file.add(token)


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "x" * 101, "a\u202eb"])
def test_names_of_tokens_are_plain(name: str, file: TokenFile) -> None:
    with pytest.raises(lb.ParameterError, match="from 1 to 100 printable characters"):
        file.add(Token.make(name, "look")[0])
    assert not file.path.exists()


def test_commands_at_once_lose_no_token(file: TokenFile) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda place: TokenFile(file.path).add(Token.make(f"t{place}", "look")[0]), range(40)))
    assert sorted(token.name for token in file.load()) == sorted(f"t{place}" for place in range(40))
    assert file.path.stat().st_mode & 0o777 == 0o600


def test_a_ticket_opens_one_session_within_a_minute_and_sessions_end() -> None:
    clock = [0.0]
    sessions = Sessions(TOKENS, now=lambda: clock[0])
    token = TOKENS.find(SECRETS["release"])
    assert token is not None
    late, ticket = sessions.issue_ticket(token), sessions.issue_ticket(token)
    key = sessions.open(ticket)
    assert key is not None
    assert (sessions.find(key), sessions.open(ticket)) == (token, None)
    clock[0] = 60.0
    assert sessions.open(late) is None
    clock[0] = 12 * 3600.0
    assert sessions.find(key) is None
    keys = [sessions.open(sessions.issue_ticket(token)) or "" for _ in range(201)]
    assert [sessions.find(each) for each in keys] == [None] + 200 * [token]
    sessions.close(keys[1])
    assert sessions.find(keys[1]) is None


def test_the_cookie_is_a_session_of_this_server_only(served: Served, serve: Callable[..., Served]) -> None:
    _, cookie = enter(served, "look")
    assert cookie.partition("=")[2] not in served.tokens.values()
    other = serve("--tokens", "tokens.json")
    other.tokens = served.tokens
    with served.client("") as client, other.client("") as elsewhere:
        assert client.get("budget", headers={**at_home(served), "cookie": cookie}).status_code == 200
        assert client.get("budget", headers={"cookie": cookie}).status_code == 401  # the host of every other port
        assert elsewhere.get("budget", headers={**at_home(other), "cookie": cookie}).status_code == 401
        secret = cookie.partition("=")[2]
        assert client.get("budget", headers={"authorization": f"Bearer {secret}"}).status_code == 401
        origin = {"origin": served.home.rstrip("/")}
        left = client.post("leave", headers={**at_home(served), **origin, "cookie": cookie})
        assert (left.status_code, "Signed out" in left.text) == (200, True)
        assert client.get("budget", headers={**at_home(served), "cookie": cookie}).status_code == 401


def test_the_browser_is_opened_once_and_may_not_raise_a_limit(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []
    guards: list[Any] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr(starter._Server, "run", lambda self, sockets: sockets[0].close())
    monkeypatch.setattr(
        starter, "application", lambda *args, **more: guards.append(application(*args, **more)) or guards[0]
    )
    tokens, secrets = Tokens.make()
    starter.serve(desk, starter.ServerAddress(port=0), tokens, secrets, open_browser=True)
    (address,) = opened
    assert re.match(r"http://lastbit-\w{8}\.localhost:\d+/\?ticket=", address)
    assert not any(secret in address for secret in secrets.values())
    ticket = TICKET.search(address)
    assert ticket is not None
    key = guards[0].sessions.open(ticket[1])
    assert guards[0].sessions.find(key).role == "release"
    assert guards[0].sessions.open(ticket[1]) is None
    assert len(re.findall(r"http://127\.0\.0\.1:\d+/\?token=\S+", capsys.readouterr().out)) == 3


def test_too_many_requests_of_one_token_at_once_are_refused(desk: Desk) -> None:
    page = Client(application(desk, TOKENS, frozenset({"server"}), secure=False))
    page.app._under_way["release"] = 64
    assert page.get("/budget").status_code == 429
    assert page.request("GET", "/budget", headers={"authorization": f"Bearer {SECRETS['look']}"}).status_code == 200
