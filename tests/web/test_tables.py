"""A database with several tables, a typed list that a new server does not know, and sums in a file of columns."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import httpx
import pytest

import lastbit as lb
from lastbit.questions.row_options import RowOptions
from lastbit.web.app import application
from lastbit.web.desk import Desk
from lastbit.web.tokens import Tokens

TOKENS, SECRETS = Tokens.make()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as made:
        made.execute("create table visits as select i as patient, 'item ' || i % 3 as item from range(300) as t(i)")
        made.execute("create table staff as select i as person, i % 40 as age from range(30) as t(i)")
    lb.Ledger(tmp_path / "budget.db").create("clinic", epsilon=3)
    return tmp_path


class Client:
    """Asks an application that runs in this process."""

    def __init__(self, app: Any) -> None:
        self.app = app

    def request(self, method: str, path: str, **more: Any) -> httpx.Response:
        async def asked() -> httpx.Response:
            headers = {"authorization": f"Bearer {SECRETS['release']}"}
            transport = httpx.ASGITransport(self.app)
            async with httpx.AsyncClient(transport=transport, base_url="http://server", headers=headers) as client:
                return await client.request(method, path, **more)

        # In a thread of its own: the driver of the browser keeps a loop in this one.
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(lambda: asyncio.run(asked())).result()

    def get(self, path: str) -> httpx.Response:
        return self.request("GET", path)

    def post(self, path: str, **more: Any) -> httpx.Response:
        return self.request("POST", path, **more)


def client(place: Path, **more: Any) -> Client:
    rows = RowOptions(source=(str(place / "clinic.duckdb"),), unit="patient")
    desk = Desk(rows, str(place / "budget.db"), "clinic", **more)
    return Client(application(desk, TOKENS, frozenset({"server"}), secure=False))


def test_a_table_is_picked_among_several(place: Path) -> None:
    page = client(place, tables=("visits", "staff"))
    form = page.get("/ask/count").text
    assert '<select id="table" name="table"' in form
    assert page.get("/api/table").json()["columns"] == {"visits": ["patient", "item"], "staff": ["person", "age"]}
    asked = {"question": "count", "options": {"epsilon": "1/4"}}
    assert "there is no table" in page.post("/api/plan", json=asked).json()["error"]
    key = page.post("/api/confirmations", json={**asked, "table": "visits"}).json()["key"]
    done = page.post("/api/releases", json={"key": key})
    assert done.status_code == 201
    assert "--table visits" in done.json()["texts"]["The same as a command"]


def test_a_new_server_shows_old_results_without_knowing_their_lists(place: Path) -> None:
    options = {"by": "item", "domain": ["item 0", "item 1", "other"], "k": 2, "epsilon": "1"}
    page = client(place, tables=("visits",))
    confirmed = {"question": "top", "options": options, "table": "visits", "note": "first"}
    key = page.post("/api/confirmations", json=confirmed).json()["key"]
    entry = page.post("/api/releases", json={"key": key}).json()["entry"]
    told = page.get(f"/results/{entry}").text
    again = client(place, tables=("visits",)).get(f"/results/{entry}").text
    for item in lb.Ledger(place / "budget.db").published(entry).items:
        assert item in told
        assert item in again
    assert "top" in again
    # The confirmation leads to the result on the new server, too, and pays no more.
    moved = client(place, tables=("visits",)).get(f"/confirm/{key}")
    assert (moved.status_code, moved.headers["location"]) == (303, f"/results/{entry}")
    assert lb.Ledger(place / "budget.db").account("clinic").spent == Fraction(1)
    assert client(place, tables=("visits",)).get(f"/results/{entry}.csv").text.startswith("item,index,gap")


def test_an_entry_that_was_cut_short_says_so(place: Path) -> None:
    ledger = lb.Ledger(place / "budget.db")
    charge = ledger.charge("clinic", lb.DiscreteLaplace(epsilon="1/2"), once="a key that was used")
    page = client(place, tables=("visits",))
    assert "Charged, but not finished" in page.get(f"/results/{charge.id}").text
    assert page.get(f"/results/{charge.id}.json").status_code == 404
    moved = page.get("/confirm/a key that was used")
    assert moved.headers["location"] == f"/results/{charge.id}"
