"""What the server refuses: no token, a wrong one, another role's work, foreign pages and names, too much at once."""

from __future__ import annotations

import re
import socket
from collections.abc import Callable

import httpx
import pytest

import lastbit as lb
from lastbit.web.server import ServerAddress, listen
from tests import processes
from tests.web.conftest import Served

MOST_BYTES = 1 << 20

PAGES = ["", "ask/top", "plan?topic=count", "results/1", "budget", "budget?account=clinic", "audit", "audit/gallery"]
SERVICE = ["api", "api/openapi.json", "api/table", "api/questions", "api/accounts", "api/accounts/clinic"]


@pytest.mark.parametrize("path", [*PAGES, *SERVICE])
def test_nothing_without_a_token(path: str, served: Served) -> None:
    with served.client("") as client:
        answer = client.get(path)
    assert answer.status_code == 401
    assert "clinic" not in answer.text


def test_a_wrong_token_sees_nothing(served: Served) -> None:
    with served.client("") as client:
        answer = client.get("budget", headers={"authorization": "Bearer wrong"})
    assert (answer.status_code, "clinic" in answer.text) == (401, False)


def test_the_address_with_the_token_becomes_a_cookie_of_this_page_only(served: Served) -> None:
    answer, cookie = enter(served, "look")
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "SameSite=strict" in answer.headers["set-cookie"]
    assert answer.headers["referrer-policy"] == "same-origin"
    with served.client("") as client:
        assert client.get("budget", headers={**at_home(served), "cookie": cookie}).status_code == 200


def at_home(served: Served) -> dict[str, str]:
    """The headers of a browser that asks under the name of the sessions, which only browsers know the way to."""
    return {"host": served.home.split("/")[2]}


def enter(served: Served, role: str) -> tuple[httpx.Response, str]:
    """Follow the address of a token. The answer that sets the cookie, and the cookie."""
    with served.client("") as client:
        first = client.get("", params={"token": served.tokens[role]})
        assert "set-cookie" not in first.headers  # every port of this host would get it
        ticket = re.search(r"\?ticket=([\w-]+)", first.text)
        assert ticket is not None
        answer = client.get("", params={"ticket": ticket[1]}, headers=at_home(served))
    return answer, answer.headers["set-cookie"].partition(";")[0]


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "https://example.com"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:1"},
        {"host": "example.com"},
        {"host": "127.0.0.1:1"},
        {"host": "localhost.example.com:80"},
    ],
    ids=str,
)
def test_foreign_pages_and_names_are_refused(headers: dict[str, str], served: Served) -> None:
    before = served.ledger.account("clinic")
    with served.client("raise") as client:
        asked = client.post("budget/raise", data={"account": "clinic", "limit": "99"}, headers=headers)
        looked = client.get("budget", headers=headers)
    assert asked.status_code == looked.status_code == (421 if "host" in headers else 403)
    assert served.ledger.account("clinic") == before


def test_a_form_of_another_page_has_a_cookie_and_no_origin_of_ours(served: Served) -> None:
    headers = {**at_home(served), "cookie": enter(served, "raise")[1]}
    with served.client("") as client:
        answer = client.post("budget/raise", data={"account": "clinic", "limit": "99"}, headers=headers)
        assert answer.status_code == 403
        here = {"origin": served.home.rstrip("/"), **headers}
        assert client.post("confirm", data={"topic": "nothing"}, headers=here).status_code == 400


@pytest.mark.parametrize(
    ("role", "method", "path"),
    [
        ("look", "POST", "confirm"),
        ("look", "POST", "confirm/key"),
        ("look", "POST", "work/key/cancel"),
        ("look", "POST", "api/confirmations"),
        ("look", "POST", "api/releases"),
        ("release", "POST", "budget/raise"),
        ("release", "POST", "api/accounts/clinic/limit"),
    ],
)
def test_roles(role: str, method: str, path: str, served: Served) -> None:
    with served.client(role) as client:
        assert client.request(method, path).status_code == 403


def test_only_the_token_for_limits_raises_one(served: Served) -> None:
    lb.Ledger(served.folder / "budget.db").create("raised", epsilon=1)
    with served.client("raise") as client:
        answer = client.post("api/accounts/raised/limit", json={"epsilon": "5/2", "note": "agreed"})
        assert answer.status_code == 200
        lower = client.post("api/accounts/raised/limit", json={"epsilon": "2"})
        assert lower.status_code == 409
    assert served.ledger.account("raised").limit == lb.Ledger(served.folder / "budget.db").account("raised").limit
    assert served.ledger.history("raised")[-1].note == "agreed"


def test_every_answer_is_guarded(served: Served) -> None:
    with served.client("look") as client:
        for path in ("", "api/table", "static/page.css", "no such page"):
            headers = client.get(path).headers
            assert "default-src 'none'" in headers["content-security-policy"]
            assert "unsafe" not in headers["content-security-policy"]
            assert headers["x-content-type-options"] == "nosniff"
            assert "server" not in headers


def test_too_large_requests_are_refused(served: Served) -> None:
    with served.client("release") as client:
        assert client.post("api/plan", content=b"x" * (MOST_BYTES + 1)).status_code == 413
        parts = iter([b"x" * 1000] * (MOST_BYTES // 1000 + 2))  # without a length
        assert client.post("api/plan", content=parts).status_code == 413
        assert client.get("plan", params={"domain": "x" * 65_000}).status_code in (400, 414)


def test_no_file_of_the_server_is_read_as_a_domain(served: Served) -> None:
    secret = served.folder / "secret.txt"
    secret.write_text("concealed one\nconcealed two\n")
    question = {"question": "top", "options": {"by": "diagnosis", "k": 1, "epsilon": "1"}}
    with served.client("look") as client:
        for domain in (str(secret), [str(secret)], [[str(secret)]], ["secret.txt"]):
            body = {**question, "options": {**question["options"], "domain": domain}}  # type: ignore[dict-item]
            answer = client.post("api/plan", json=body)
            assert "concealed" not in answer.text
        form = {"topic": "top", "by": "diagnosis", "k": "1", "domain_from": "typed", "domain": str(secret)}
        assert "concealed" not in client.get("plan", params=form).text
        body = {**question, "options": {"source": ["secret.txt"], "by": "diagnosis", "epsilon": "1"}}
        assert "there is no option 'source'" in client.post("api/plan", json=body).json()["error"]


def test_errors_show_no_value_of_a_row(served: Served) -> None:
    form = {"topic": "mean", "of": "diagnosis", "bounds_low": "0", "bounds_high": "10", "where": "cost >"}
    with served.client("look") as client:
        answer = client.get("plan", params=form)
    assert answer.status_code == 400
    assert "influenza" not in answer.text


def test_it_listens_to_this_machine_only_unless_told_otherwise() -> None:
    with pytest.raises(lb.ParameterError, match=r"--certfile and --keyfile, or say --without-tls"):
        ServerAddress(host="0.0.0.0")
    assert ServerAddress(host="0.0.0.0", without_tls=True, names=("lab.example",)).hosts(8777) == frozenset(
        {"lab.example", "lab.example:8777"}
    )
    assert ServerAddress(host="0.0.0.0", certfile="c", keyfile="k").secure
    assert "127.0.0.1:8777" in ServerAddress().hosts(8777)
    assert "127.0.0.1" not in ServerAddress().hosts(8777)


def test_tls_and_kept_tokens(served: Served, serve: Callable[..., Served]) -> None:
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost"]
    make += ["-keyout", "key.pem", "-out", "cert.pem"]
    try:
        processes.run(make, cwd=served.folder, check=True, capture_output=True)
    except FileNotFoundError:
        pytest.skip("there is no openssl on this machine")
    server = serve("--certfile", "cert.pem", "--keyfile", "key.pem", "--tokens", "tokens.json")
    assert server.tokens == {}  # nobody can print them again
    server.tokens = served.tokens
    assert server.address.startswith("https://")
    with server.client("look", verify=False) as client:
        assert client.get("budget").status_code == 200
    assert ((served.folder / "tokens.json").stat().st_mode & 0o777) == 0o600


def test_a_port_that_is_taken_is_said_so() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(lb.ParameterError, match="Try another --port"):
            listen(ServerAddress(port=taken.getsockname()[1]))
