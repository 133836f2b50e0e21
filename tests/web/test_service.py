"""The service: the same as JSON, many at once, and a server that is killed."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction
from pathlib import Path
from typing import Any

import lastbit as lb
from lastbit.questions.kinds import KINDS
from lastbit.questions.row_options import RowOptions
from lastbit.web.app import PAGES
from lastbit.web.openapi import describe_service
from tests.web.conftest import Served

OPTIONS = {"by": "diagnosis", "domain": ["influenza", "gout"], "k": 1, "epsilon": "1/8"}
TOP = {"question": "top", "options": OPTIONS}


def spent(served: Served) -> Fraction:
    found = served.ledger.account("clinic").spent_epsilon
    assert found is not None
    return found


def test_plan_confirm_release_and_again(served: Served) -> None:
    before = spent(served)
    with served.client("release") as client:
        plan = client.post("api/plan", json={**TOP, "options": {**OPTIONS, "people": 300}}).json()
        assert plan["allowed"] is True
        assert plan["sample"]["item"][0] in ("influenza", "gout")
        both = client.post("api/plan", json={**TOP, "options": {**OPTIONS, "within": 5}})
        assert (both.status_code, "exactly one of" in both.json()["error"]) == (400, True)
        free = {name: value for name, value in OPTIONS.items() if name != "epsilon"}
        better = client.post("api/plan", json={"question": "top", "options": {**free, "within": 5}}).json()
        assert better["within"] <= 5
        assert spent(served) == before
        confirmed = client.post("api/confirmations", json=TOP)
        assert confirmed.status_code == 201
        key = {"key": confirmed.json()["key"]}
        first, second = client.post("api/releases", json=key), client.post("api/releases", json=key)
        assert (first.status_code, second.status_code) == (201, 200)
        assert first.json() == second.json()
        assert client.get(f"api/releases/{first.json()['entry']}").json() == first.json()
        assert client.post("api/releases", json={"key": "never seen before"}).status_code == 404
    assert spent(served) == before + Fraction(1, 8)
    entry = served.ledger.history("clinic")[-1]
    assert first.json()["release"]["item"] == list(entry.published.items)


def test_the_python_text_asks_the_books_the_same(served: Served, monkeypatch: Any) -> None:
    with served.client("release") as client:
        confirmed = client.post("api/confirmations", json=TOP).json()
        entry = client.post("api/releases", json={"key": confirmed["key"]}).json()["entry"]
    monkeypatch.chdir(served.folder)
    before = spent(served)
    names: dict[str, Any] = {}
    exec(confirmed["python"].replace("\n)\n", "\n    reuse=True,\n)\n"), names)
    assert names["release"] == served.ledger.published(entry)
    assert spent(served) == before


def test_two_hundred_plans_at_once_and_releases_stay_correct(served: Served) -> None:
    before = spent(served)

    def look(place: int) -> int:
        with served.client("look") as client:
            path = f"plan?topic=top&by=diagnosis&domain_from=list&k={1 + place % 5}&epsilon={1 + place % 3}"
            return client.get(path).status_code

    def release(_: int) -> int:
        with served.client("release") as client:
            key = client.post("api/confirmations", json=TOP).json()["key"]
            return client.post("api/releases", json={"key": key}).json()["entry"]

    # A token has at most 64 requests at once.
    with ThreadPoolExecutor(48) as many, ThreadPoolExecutor(2) as two:
        codes = many.map(look, range(200))
        entries = list(two.map(release, range(4)))
        assert set(codes) == {200}
    assert len(set(entries)) == 4
    assert spent(served) == before + Fraction(4, 8)
    assert served.ledger.verify() == ()


def test_what_is_asked_wrongly_is_said_and_costs_nothing(served: Served) -> None:
    before = spent(served)
    with served.client("release") as client:
        for path, body in (
            ("api/plan", {"question": "guess"}),
            ("api/plan", {"question": "top", "options": {"by": "diagnosis", "epsilon": "1", "unit": "visit"}}),
            ("api/plan", {**TOP, "options": {**TOP["options"], "epsilon": "-1"}}),  # type: ignore[dict-item]
        ):
            answer = client.post(path, json=body)
            assert answer.status_code == 400, path
            assert answer.json()["error"]
        assert client.post("api/plan", content=b"[1]").status_code == 400
        assert client.get("api/audit?mechanism=/tmp/program.py:f&values=1&neighbour=0").status_code == 400
    assert spent(served) == before


def test_the_description_has_every_operation(served: Served) -> None:
    routes: set[tuple[str, str]] = set()
    for route in PAGES:
        if route.path.startswith("/api/") and route.path != "/api/openapi.json":
            routes |= {
                (route.path.replace(":path", ""), method.lower()) for method in route.methods or () if method != "HEAD"
            }
    with served.client("look") as client:
        description = client.get("api/openapi.json").json()
        questions = client.get("api/questions").json()["questions"]
    assert description == describe_service()
    assert {(path, method) for path, methods in description["paths"].items() for method in methods} == routes
    schemas = description["components"]["schemas"]
    for name, question in questions.items():
        described = schemas[f"question-{name}"]["properties"]["options"]
        options = [option for option in KINDS[name].options if "service" in option.faces]
        assert list(question["options"]) == list(described["properties"]) == [option.name for option in options]
        assert described["required"] == [option.name for option in options if option.required]


def test_killed_in_the_middle_it_never_spends_over_the_limit(served: Served, serve: Callable[..., Served]) -> None:
    served.ledger.create("killed", epsilon=1)
    keys: list[str] = []
    for _ in range(3):
        server = serve(dataset="killed")

        def release(_: int, server: Served = server) -> None:
            try:
                with server.client("release") as client:
                    key = client.post("api/confirmations", json=TOP).json()["key"]
                    keys.append(key)
                    client.post("api/releases", json={"key": key})
            except Exception:
                return

        with ThreadPoolExecutor(4) as pool:
            doing = [pool.submit(release, place) for place in range(4)]
            doing[0].result()
            server.kill()
    account = served.ledger.account("killed")
    charges = [each for each in served.ledger.history("killed") if each.kind == "charge"]
    assert sum(each.amount for each in charges) == account.spent <= account.limit
    assert served.ledger.verify() == ()
    # Every key has paid at most once, and every charge of a key is in the books.
    paid = [each.id for key in keys if (each := served.ledger.charged(key)) is not None]
    assert sorted(paid) == sorted(each.id for each in charges)
    # A server that is started anew shows what was paid, and does not pay again.
    server = serve(dataset="killed")
    with server.client("release") as client:
        for key in keys:
            again = client.post("api/releases", json={"key": key})
            assert again.status_code == (200 if served.ledger.charged(key) else 404)
    assert served.ledger.account("killed") == account


def test_work_is_cancelled_before_it_is_charged() -> None:
    from lastbit.web.jobs import Jobs

    jobs, reading, stopped = Jobs(), threading.Event(), threading.Event()

    def doing(job: Any) -> int:
        job.listen(lambda: 40.0, stopped.set)
        reading.set()
        assert stopped.wait(600)
        job.last_moment()
        raise AssertionError("it was charged")

    job = jobs.start("key", doing)
    assert reading.wait(600)
    assert job.progress == 40
    assert jobs.start("key", doing) is job
    assert job.cancel()
    job.wait(600)
    assert (job.state, job.entry) == ("cancelled", None)
    charged = jobs.start("key", lambda job: (job.last_moment(), 7)[1])
    charged.wait(600)
    assert (charged.state, charged.entry, charged.cancel()) == ("done", 7, False)
    jobs.close()


def test_a_long_reading_is_cancelled_on_the_page_and_costs_nothing(served: Served, tmp_path: Path) -> None:
    import duckdb

    from lastbit.web.desk import Desk

    ledger = lb.Ledger(tmp_path / "budget.db")
    ledger.create("clinic", epsilon=1)
    place = tmp_path / "long.duckdb"
    with duckdb.connect(str(place)) as made:
        # A view of numbers without end, as far as a test can tell.
        made.execute("create view visits as select i as patient, i % 7 as item from range(1000000000000) as t(i)")
    rows = RowOptions(source=(str(place),), unit="patient", table="visits")
    desk = Desk(rows, str(tmp_path / "budget.db"), "clinic")
    job = desk.release("a key", desk.parse("count", {"epsilon": "1"}, "service"))
    while job.state == "waiting" or not job.has_reader:
        job.wait(0.05)
    assert job.cancel()
    job.wait(600)
    assert job.state == "cancelled"
    assert ledger.account("clinic").spent == 0
    desk.jobs.close()
