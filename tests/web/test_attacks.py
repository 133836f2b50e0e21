"""What a hostile analyst or page may try: conditions that undo others, odd numbers, formulas, keys used again."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import duckdb
import pytest

import lastbit as lb
from lastbit.ledger import Identity
from lastbit.questions.domain import Domain
from lastbit.questions.kinds import KINDS
from lastbit.questions.row_options import RowOptions
from lastbit.web.app import application
from lastbit.web.desk import Desk
from tests import processes
from tests.web.test_tables import TOKENS, Client

EVIL = ("=cmd|' /C calc'!A0", "<script>alert(1)</script>", "]]><b>x", "flu")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as made:
        made.execute(
            "create table visits as select i as patient, 'flu' as item, i % 2 = 0 as agreed, 'x' || i as code, "
            "i % 7 as score from range(2000) as t(i)"
        )
    lb.Ledger(tmp_path / "budget.db").create("clinic", epsilon=1000)
    place = str(tmp_path / "clinic.duckdb")
    rows = RowOptions(source=(place,), unit="patient", table="visits", where="agreed")
    return Desk(rows, str(tmp_path / "budget.db"), "clinic")


@pytest.fixture
def page(desk: Desk) -> Client:
    return Client(application(desk, TOKENS, frozenset({"server"}), secure=False))


def release(page: Client, question: str, **options: Any) -> Any:
    confirmed = page.post("/api/confirmations", json={"question": question, "options": options})
    assert confirmed.status_code == 201, confirmed.text
    return page.post("/api/releases", json={"key": confirmed.json()["key"]})


OPENED = ["true) or (true", "true) or true or (true", "true) --", "true /*", "true order by item", "true; select 1"]


@pytest.mark.parametrize("where", OPENED)
def test_no_condition_undoes_the_one_of_the_server(where: str, page: Client, desk: Desk) -> None:
    asked = {"question": "count", "options": {"epsilon": "1", "where": where}}
    assert page.post("/api/plan", json=asked).status_code == 400
    assert page.get(f"/plan?{urlencode({'topic': 'count', 'where': where})}").status_code == 400
    with pytest.raises(lb.ParameterError, match="--where"):
        desk.parse("count", {"epsilon": "1", "where": where}, "service")


def test_conditions_narrow_the_one_of_the_server(page: Client, desk: Desk) -> None:
    # The noise at this epsilon is below 1 but for a probability far below 2^-100.
    data = release(page, "count", epsilon="100", where="patient < 100 or true -- all").json()
    text = data["texts"]["The same in Python"].replace("\\n", "\n")
    assert "(agreed) and (patient < 100 or true -- all\n)" in text
    assert desk.ledger.published(data["entry"]).values[0] == 1000


def test_a_condition_that_fails_on_a_row_shows_nothing(page: Client) -> None:
    for where in ("cast(code as int) > 3", "1 / (patient - 7) > 0", "patient * 1e300 * 1e300 > 0"):
        answer = release(page, "count", epsilon="1", where=where)
        assert answer.status_code == 201, answer.text
        assert "x7" not in answer.text


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/audit/gallery/000001999", 404),
        ("/audit/gallery/" + "1" * 5000, 404),
        ("/plan?topic=count&people=000000000001" + "9" * 5000, 400),
        ("/results/" + "9" * 5000, 404),
        ("/plan?topic=top&by=item&k=1&domain_from=typed&domain=1..99999999", 400),
    ],
    ids=lambda value: str(value)[:40],
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
    for place in range(300):
        request = desk.parse("top", {**top, "domain": ["flu", str(place)]}, "service")
        desk._remember_lists(request)
    assert len(desk._recent.clear()) <= 100


@pytest.mark.parametrize("origin", ["http://[::1", "http://server.evil", "http://evil@server", "server", "", "null"])
def test_an_origin_that_nobody_can_read_is_refused(origin: str, page: Client) -> None:
    assert page.request("POST", "/api/plan", headers={"origin": origin}, json={}).status_code == 403


def test_downloads_hold_no_formula_and_no_markup(page: Client, desk: Desk) -> None:
    options = {"by": "item", "domain": list(EVIL), "k": 4, "epsilon": "1"}
    asked = {"question": "top", "options": options, "note": "=HYPERLINK(1)"}
    key = page.post("/api/confirmations", json=asked).json()["key"]
    entry = page.post("/api/releases", json={"key": key}).json()["entry"]
    cells = [cell for row in csv.reader(io.StringIO(page.get(f"/results/{entry}.csv").text)) for cell in row]
    books = [
        cell for row in csv.reader(io.StringIO(page.get("/budget/export.csv?account=clinic").text)) for cell in row
    ]
    assert "'=HYPERLINK(1)" in books
    assert [cell for cell in (*cells, *books) if cell[:1] in ("=", "@", "+")] == []
    exact = json.loads(page.get("/budget/export.json?account=clinic").text)["entries"]
    assert exact[-1]["note"] == "=HYPERLINK(1)"
    for path in (f"/results/{entry}.html", f"/results/{entry}", "/budget?account=clinic"):
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
    asked = {"source": "visits.csv", "by": "item", "domain": list(items), "k": 1, "epsilon": "1"}
    text = KINDS["top"].parse(asked).command
    if text.startswith("#"):
        assert any(not item or item != item.strip() or "\n" in item or "\ufeff" in item for item in items)
        return
    monkeypatch.chdir(tmp_path)
    shell = text.replace("lastbit top ", "printf '%s\\0' ")
    words = processes.run(["sh", "-c", shell], capture_output=True, text=True, check=True).stdout.split("\0")
    assert tuple(Domain.parse(words[words.index("--domain") + 1]).items) == items


def test_one_file_is_read_by_two_at_once(desk: Desk) -> None:
    from concurrent.futures import ThreadPoolExecutor
    from dataclasses import replace

    from lastbit.data.duckdb.relation import ColumnSelection
    from lastbit.data.files.open_table import open_table

    rows = replace(desk.rows, where="patient < 10")
    with ThreadPoolExecutor(8) as pool:
        tables = list(
            pool.map(
                lambda _: open_table(rows.source, ColumnSelection(("patient",)), rows.table, rows.form, rows.plan),
                "12345678",
            )
        )
    assert {len(table.relation.fetchall()) for table in tables} == {10}
    for table in tables:
        table.connection.close()
