"""What a hostile analyst or page may try: conditions that undo others, odd numbers, formulas, keys used again."""

from __future__ import annotations

import csv
import io
import json
import subprocess
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import pytest

import lastbit as lb
from lastbit.ledger import Identity
from lastbit.questions.kinds import KINDS
from lastbit.questions.options import domain_of
from lastbit.questions.texts import as_command
from lastbit.web.app import application
from lastbit.web.desk import Desk
from tests.web.test_tables import TOKENS, Client

EVIL = ("=cmd|' /C calc'!A0", "<script>alert(1)</script>", "]]><b>x", "flu")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as made:
        made.execute(
            "create table visits as select i as patient, 'flu' as item, i % 2 = 0 as agreed, 'x' || i as code "
            "from range(2000) as t(i)"
        )
    lb.Ledger(tmp_path / "budget.db").create("clinic", epsilon=1000)
    rows = {"source": [str(tmp_path / "clinic.duckdb")], "unit": "patient", "table": "visits", "where": "agreed"}
    return Desk(rows, str(tmp_path / "budget.db"), "clinic")


@pytest.fixture
def page(desk: Desk) -> Client:
    return Client(application(desk, TOKENS, frozenset({"server"}), secure=False))


def released(page: Client, question: str, **options: Any) -> Any:
    confirmed = page.post("/api/confirmations", json={"question": question, "options": options})
    assert confirmed.status_code == 201, confirmed.text
    return page.post("/api/releases", json={"key": confirmed.json()["key"]})


OPENED = ["true) or (true", "true) or true or (true", "true) --", "true /*", "true order by item", "true; select 1"]


@pytest.mark.parametrize("where", OPENED)
def test_no_condition_undoes_the_one_of_the_server(where: str, page: Client, desk: Desk) -> None:
    asked = {"question": "count", "options": {"epsilon": "1", "where": where}}
    assert page.post("/api/plan", json=asked).status_code == 400
    run = {"about": "table", "threshold": "1500", "limit": 1, "epsilon": "50", "key": "a key of sixteen letters"}
    assert page.post("/api/runs", json=run).status_code == 201
    assert page.post(f"/api/runs/{run['key']}/ask", json={"query": where}).status_code == 400
    with pytest.raises(lb.ParameterError, match="--where"):
        desk.ask("count", {"epsilon": "1", "where": where})


def test_conditions_narrow_the_one_of_the_server(page: Client, desk: Desk) -> None:
    # The noise at this epsilon is below 1 but for a probability far below 2^-100.
    found = released(page, "count", epsilon="100", where="patient < 100 or true -- all")
    assert "(agreed) and (patient < 100 or true -- all\n)" in found.json()["texts"]["The same in Python"].replace(
        "\\n", "\n"
    )
    assert desk.ledger.published(found.json()["entry"]).values[0] == 1000


def test_a_condition_that_fails_on_a_row_shows_nothing(page: Client) -> None:
    for where in ("cast(code as int) > 3", "1 / (patient - 7) > 0", "patient * 1e300 * 1e300 > 0"):
        found = released(page, "count", epsilon="1", where=where)
        assert found.status_code == 201, found.text
        assert "x7" not in found.text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/audit/gallery/000001999", 404),
        ("/audit/gallery/" + "1" * 5000, 404),
        ("/plan?topic=count&units=000000000001" + "9" * 5000, 400),
        ("/results/" + "9" * 5000, 404),
        ("/plan?topic=top&by=item&k=1&domain_from=typed&domain=1..99999999", 400),
    ],
    ids=lambda each: str(each)[:40],
)
def test_odd_numbers_are_refused_in_words(path: str, status: int, page: Client) -> None:
    answer = page.get(path)
    assert answer.status_code == status
    assert "unexpected" not in answer.text


def test_large_questions_are_refused_before_they_keep_the_server_busy(page: Client, desk: Desk) -> None:
    top = {"by": "item", "domain": ["flu", "cold"], "k": 1, "epsilon": "1"}
    for options in (
        {**top, "k": 10**30},
        {**top, "domain": ["1..90000000"]},
        {**top, "by": ["item", "code"], "domain": [["1..1000"], ["1..1000"]]},
    ):
        answer = page.post("/api/plan", json={"question": "top", "options": options})
        assert answer.status_code == 400, options
    for each in range(300):
        desk.ask("top", {**top, "by": ["item"], "domain": [("flu", str(each))]})
        desk.remember(("flu", str(each)))
    assert len(desk._known) <= 100


@pytest.mark.parametrize("origin", ["http://[::1", "http://server.evil", "http://evil@server", "server", "", "null"])
def test_an_origin_that_nobody_can_read_is_refused(origin: str, page: Client) -> None:
    assert page.request("POST", "/api/plan", headers={"origin": origin}, json={}).status_code == 403


def test_one_key_is_one_run_and_words_are_no_truth(page: Client, desk: Desk) -> None:
    run = {
        "about": "numbers",
        "sensitivity": "1",
        "threshold": "5",
        "limit": 1,
        "epsilon": "1",
        "key": "a key of sixteen letters",
    }
    endless = {name: each for name, each in run.items() if name != "limit"}
    assert "needs limit" in page.post("/api/runs", json=endless).json()["error"]
    for name in ("monotone", "adaptive"):
        for wrong in ("false", "no", 0, 1, []):
            assert page.post("/api/runs", json={**run, name: wrong}).status_code == 400
    assert desk.ledger.account("clinic").spent == 0
    assert page.post("/api/runs", json=run).status_code == 201
    changed = page.post("/api/runs", json={**run, "threshold": "6"})
    assert (changed.status_code, "another run" in changed.text) == (400, True)
    assert desk.ledger.account("clinic").spent == Fraction(1)


def test_downloads_hold_no_formula_and_no_markup(page: Client, desk: Desk) -> None:
    options = {"by": "item", "domain": list(EVIL), "k": 4, "epsilon": "1"}
    asked = {"question": "top", "options": options, "note": "=HYPERLINK(1)"}
    key = page.post("/api/confirmations", json=asked).json()["key"]
    entry = page.post("/api/releases", json={"key": key}).json()["entry"]
    cells = [cell for row in csv.reader(io.StringIO(page.get(f"/results/{entry}.csv").text)) for cell in row]
    books = [cell for row in csv.reader(io.StringIO(page.get("/budget/clinic/export.csv").text)) for cell in row]
    assert "'=HYPERLINK(1)" in books
    assert [each for each in (*cells, *books) if each[:1] in ("=", "@", "+")] == []
    exact = json.loads(page.get("/budget/clinic/export.json").text)["entries"]
    assert exact[-1]["note"] == "=HYPERLINK(1)"
    for path in (f"/results/{entry}.html", f"/results/{entry}", "/budget/clinic"):
        text = page.get(path).text
        assert "<script>alert" not in text
        assert "<b>x" not in text


def test_a_release_with_a_question_in_words_is_shown(page: Client, desk: Desk) -> None:
    for words in ("how many are there?", "[1]", "{", '{"command": 5}'):
        noise = lb.DiscreteLaplace(epsilon="1/2")
        desk.ledger.spend("clinic", noise, noise.ready([3]), question=Identity({"version": 1, "query": words}))
        entry = desk.ledger.history("clinic")[-1].id
        assert page.get(f"/results/{entry}").status_code == 200


@pytest.mark.parametrize(
    "items",
    [("a b", "c,d"), ("it's", 'd"q,'), ("-x", "--help"), ("$HOME`id`,", "%s\\n"), ("é☃,", "\u2028"), ("a\nb", "c"),
     ("a ", "b"), ("a\r", "b"), ("", "b"), ("\ufeffa,", "b")],
    ids=repr,
)  # fmt: skip
def test_the_command_names_the_same_items_or_says_that_it_cannot(
    items: tuple[str, ...], tmp_path: Path, monkeypatch: Any
) -> None:
    built = KINDS["top"].build(source=["visits.csv"], by=["item"], domain=[items], k=1, epsilon="1")
    text = as_command(built.spending)
    if text.startswith("#"):
        assert any(not each or each != each.strip() or "\n" in each or "\ufeff" in each for each in items)
        return
    monkeypatch.chdir(tmp_path)
    shell = text.replace("lastbit top ", "printf '%s\\0' ")
    words = subprocess.run(["sh", "-c", shell], capture_output=True, text=True, check=True).stdout.split("\0")
    assert tuple(domain_of(words[words.index("--domain") + 1])) == items


def test_one_file_is_read_by_two_at_once(desk: Desk) -> None:
    from concurrent.futures import ThreadPoolExecutor
    from dataclasses import replace

    from lastbit.data.source import Wanted, opened
    from lastbit.questions.options import Table

    table = replace(Table(**desk.rows), where="patient < 10")
    with ThreadPoolExecutor(8) as pool:
        held = list(
            pool.map(
                lambda _: opened(table.places, Wanted(("patient",)), table.table, table.form, table.plan), "12345678"
            )
        )
    assert {len(each.relation.fetchall()) for each in held} == {10}
    for each in held:
        each.connection.close()
