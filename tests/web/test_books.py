"""Books to take away, rates, cancelling on the page, and errors of others that stay untold."""

from __future__ import annotations

import csv
import io
import json
import threading
from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.questions.reading import Reading
from lastbit.web.guard import RateLimit
from lastbit.web.jobs import Jobs
from tests.web.test_tables import Client, client, place

__all__ = ["place"]


@pytest.fixture
def page(place: Path) -> Client:
    return client(place, tables=("visits",))


def confirmed(page: Client) -> str:
    asked = {"question": "count", "options": {"epsilon": "1/4"}, "table": "visits"}
    return str(page.post("/api/confirmations", json=asked).json()["key"])


def test_the_books_are_exported_as_they_are_kept(page: Client, place: Path) -> None:
    page.post("/api/releases", json={"key": confirmed(page)})
    account, rows = lb.Ledger(place / "budget.db").export("clinic")
    entries = list(rows)
    assert page.get("/budget/export.json?account=clinic").json() == {"account": account, "entries": entries}
    lines = list(csv.DictReader(io.StringIO(page.get("/budget/export.csv?account=clinic").text)))
    assert [line["digest"] for line in lines] == [entry["digest"] for entry in entries]
    assert page.get("/budget/export.txt?account=clinic").status_code == 404
    assert page.get("/budget?account=nobody").status_code == 404


def test_whoever_asks_too_often_waits(page: Client) -> None:
    page.app.rate = RateLimit(burst=3, a_second=0.0)
    assert [page.get("/api/table").status_code for _ in range(5)] == [200, 200, 200, 429, 429]


def test_errors_of_others_are_not_told(page: Client, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = Reading.run
    failures: list[bool] = []

    def fail_once(reading: Any, watcher: Any, **more: Any) -> Any:
        if not failures:
            failures.append(True)
            raise ValueError("row 7: a secret")
        return run(reading, watcher, **more)

    monkeypatch.setattr(Reading, "run", fail_once)
    key = confirmed(page)
    answer = page.post("/api/releases", json={"key": key})
    assert (answer.status_code, answer.json()["error"]) == (409, "unexpected ValueError.")
    assert "secret" not in page.get(f"/work/{key}").text
    assert lb.Ledger(place / "budget.db").account("clinic").spent == 0
    # Nothing was charged, so the same key may be tried again.
    assert page.post("/api/releases", json={"key": key}).status_code == 201


def test_a_release_that_is_done_cannot_be_cancelled(page: Client, place: Path) -> None:
    key = confirmed(page)
    page.post("/api/releases", json={"key": key})
    assert json.loads(page.request("DELETE", f"/api/work/{key}").text)["state"] == "done"
    assert page.post(f"/work/{key}/cancel").headers["location"] == f"/work/{key}"
    assert lb.Ledger(place / "budget.db").history("clinic")[-1].done == "yes"


@pytest.mark.parametrize(
    ("origin", "allowed"), [("http://server", True), ("https://server", True), ("ftp://server", False)]
)
def test_a_proxy_may_speak_https_under_our_name(origin: str, allowed: bool, page: Client) -> None:
    answer = page.post("/api/plan", json={}, headers={"origin": origin})
    assert (answer.status_code != 403) == allowed


def test_a_server_that_ends_cancels_what_is_not_charged() -> None:
    jobs, reading, stopped = Jobs(), threading.Event(), threading.Event()

    def doing(job: Any) -> int:
        job.listen(lambda: -1.0, stopped.set)
        reading.set()
        assert stopped.wait(600)
        job.last_moment()
        return 1

    job = jobs.start("key", doing)
    assert reading.wait(600)
    jobs.close()
    assert job.state == "cancelled"
