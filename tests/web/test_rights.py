"""Who may do what: roles by route, tokens, TLS, options, and keys and prices that mean what they say."""

from __future__ import annotations

import re
import threading
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.questions.reading import Reading
from lastbit.web.app import PAGES, application
from lastbit.web.desk import Desk
from lastbit.web.guard import RateLimit
from lastbit.web.jobs import Job, Jobs
from lastbit.web.tokens import Tokens
from tests.web.test_attacks import desk, page
from tests.web.test_tables import SECRETS, TOKENS, Client

ROLES = ("look", "release", "raise")

__all__ = ["desk", "page"]

COUNT = {"question": "count", "options": {"epsilon": "1/4"}}
PLANS = ("POST", "/api/plan")
"""The one request with a body that changes nothing."""


def as_role(role: str) -> dict[str, str]:
    return {"authorization": f"Bearer {SECRETS[role]}"}


def test_whoever_may_look_changes_nothing(page: Client, desk: Desk) -> None:
    desk.jobs.start("key", lambda job: 1).wait(600)
    changing = [
        (method, route.path)
        for route in PAGES
        for method in sorted(route.methods or ())
        if method not in ("GET", "HEAD") and (method, route.path) != PLANS
    ]
    assert len(changing) >= 8
    refused: dict[str, set[str]] = {role: set() for role in ROLES}
    for method, path in changing:
        address = re.sub(r"\{(\w+)(?::path)?\}", lambda part: {"dataset": "clinic"}.get(part[1], "key"), path)
        for role in ROLES:
            if page.request(method, address, headers=as_role(role), content=b"account=clinic").status_code == 403:
                refused[role].add(path)
    assert refused["look"] == {path for _, path in changing}
    assert refused["release"] == {"/budget/raise", "/api/accounts/{dataset:path}/limit"}
    assert refused["raise"] == set()


def test_only_the_token_itself_is_one() -> None:
    tokens, secrets = Tokens.make()
    assert tuple(secrets) == ROLES
    for role, secret in secrets.items():
        token = tokens.find(secret)
        assert token is not None
        assert token.role == role
        for wrong in ("", secret[:1], secret[:-1], secret + "s", " " + secret, secret.swapcase(), token.digest):
            assert tokens.find(wrong) is None


def test_guessing_ends_and_keeps_out_nobody_who_has_a_token(page: Client) -> None:
    page.app.guesses = RateLimit(burst=3, a_second=0.0)  # a real rate fills up again while a slow machine guesses
    wrong = {"authorization": "Bearer wrong"}
    assert [page.request("GET", "/budget", headers=wrong).status_code for _ in range(5)] == [401, 401, 401, 429, 429]
    assert page.get("/budget").status_code == 200


def test_with_tls_nothing_goes_in_the_clear(desk: Desk) -> None:
    page = Client(application(desk, TOKENS, frozenset({"server"}), secure=True))
    for origin, allowed in (("https://server", True), ("http://server", False)):
        answer = page.post("/api/plan", json=COUNT, headers={"origin": origin})
        assert answer.status_code == (200 if allowed else 403)
    entered = page.request("GET", f"/?token={SECRETS['look']}", headers={"authorization": ""})
    assert "; Secure" in entered.headers["set-cookie"]


ASKED = {
    "at", "bin", "bins", "bounds", "bounds_share", "by", "closed", "dates", "day", "delta", "different", "discover",
    "domain", "edges", "epsilon", "every", "first", "first_by", "form", "hide_below", "hide_wider", "hour",
    "in_each", "k", "latest_by", "level", "limit", "methods", "missing", "month", "most_items", "most_rows",
    "non_negative", "noun", "numbers", "of", "one_each", "others", "people", "people_share", "per", "pivot",
    "resolution", "rho", "round", "row_noun", "rows", "rule", "scale", "sd", "set", "sort", "tables", "texts",
    "threshold", "title", "together", "ways", "week", "weekday", "weight", "weights", "where", "whole", "within",
    "year",
}  # fmt: skip
"""Options that whoever asks may choose. A new option must be put here, or be the server's alone."""


def test_what_the_server_decides_is_no_option_of_whoever_asks(page: Client) -> None:
    known = {name for kind in page.get("/api/questions").json()["questions"].values() for name in kind["options"]}
    assert known == ASKED
    for name in ("source", "unit", "ledger", "dataset", "sensitivity", "monotone", "reuse"):
        answer = page.post("/api/plan", json={"question": "top", "options": {**COUNT["options"], name: "1"}})  # type: ignore[dict-item]
        assert (answer.status_code, f"there is no option '{name}'" in answer.text) == (400, True)


def test_no_text_inside_a_list_is_the_name_of_a_file(page: Client, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("concealed one\nconcealed two\n")
    top: dict[str, Any] = {"by": ["item", "code"], "k": 1, "epsilon": "1"}
    for domain in ([["flu"], str(tmp_path / "secret.txt")], [str(tmp_path / "secret.txt"), ["flu"]]):
        answer = page.post("/api/plan", json={"question": "top", "options": {**top, "domain": domain}})
        assert (answer.status_code, "concealed" in answer.text) == (400, False)


def test_whoever_cancels_in_time_pays_nothing(page: Client, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Reading.run
    keys: list[str] = []

    def cancel_after(reading: Any, watcher: Any, **more: Any) -> Any:
        job = desk.jobs.find(keys[0])
        assert job is not None
        values = run(reading, watcher, **more)
        threading.Thread(target=job.cancel).start()
        while not job._cancelled:
            pass
        return values

    monkeypatch.setattr(Reading, "run", cancel_after)
    keys.append(page.post("/api/confirmations", json=COUNT).json()["key"])
    answer = page.post("/api/releases", json={"key": keys[0]})
    assert (answer.status_code, answer.json()["state"]) == (409, "cancelled")
    assert desk.ledger.account("clinic").spent == 0


def test_one_key_is_one_piece_of_work() -> None:
    jobs, begun = Jobs(), []

    def doing(job: Job) -> int:
        begun.append(job)
        if len(begun) == 1:
            raise lb.LedgerError("the first time it is refused")
        return 7

    refused = jobs.start("key", doing)
    refused.wait(600)
    assert refused.state == "refused"
    for _ in range(2):
        job = jobs.start("key", doing)
        job.wait(600)
        assert (job.state, job.entry, len(begun)) == ("done", 7, 2)
    jobs.close()


LIMITS: list[dict[str, Any]] = [
    {"epsilon": 100},
    {"epsilon": 100, "adjacency": "replace"},
    {"rho": 50},
    {"epsilon": 100, "delta": "1e-6"},
]


QUESTIONS: list[dict[str, Any]] = [
    COUNT,
    {"question": "sum", "options": {"of": "score", "bounds": ["-10", "10"], "epsilon": "1/4"}},
]
"""One whose mechanism says itself for which neighbours its cost holds, and one whose values say it."""


@pytest.mark.parametrize("limits", LIMITS, ids=str)
def test_the_price_that_is_asked_is_the_price_that_is_charged(
    limits: dict[str, Any], desk: Desk, tmp_path: Path
) -> None:
    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("priced", **limits)
    priced = Desk(desk.rows, desk.ledger_place, "priced")
    page = Client(application(priced, TOKENS, frozenset({"server"}), secure=False))
    for question in QUESTIONS:
        planned = page.post("/api/confirmations", json=question).json()
        answer = page.post("/api/releases", json={"key": planned["key"]})
        assert answer.status_code == 201, answer.text
        entry, account = ledger.history("priced")[-1], ledger.account("priced")
        assert Fraction(planned["exact"]["charged"]) == entry.amount
        assert {name: Fraction(left) for name, left in planned["left_after"]["exact"].items()} == account.left


def test_a_key_is_charged_what_its_confirmation_says_whatever_the_books_have(page: Client, desk: Desk) -> None:
    for answered in (False, True):
        confirmation = page.post("/api/confirmations", json=COUNT).json()
        assert (confirmation["answered_by"] is not None) == answered
        assert confirmation["charged"] == 0.25
        assert page.post("/api/releases", json={"key": confirmation["key"]}).status_code == 201
        assert desk.ledger.history("clinic")[-1].amount == Fraction(1, 4)
