"""Results from the books: the page builds the question again from what the books know of it, or shows their words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lastbit as lb
from lastbit.questions.row_options import RowOptions
from lastbit.web.app import application
from lastbit.web.desk import Desk
from lastbit.web.results import find_result
from tests.web.test_tables import TOKENS, Client

DOMAIN = ["flu", "cold"]
CASES: list[tuple[str, str, dict[str, Any]]] = [
    ("The most common item of people", "top", {"by": "item", "domain": DOMAIN, "k": 1}),
    ("The most common item of people", "measure", {"by": "item", "domain": DOMAIN, "k": 1}),
    ("The first item with more people than 3", "above", {"by": "item", "domain": DOMAIN, "threshold": 3}),
    ("The most common item of people", "choose", {"by": "item", "domain": DOMAIN}),
    ("People by item (each in one)", "histogram", {"by": "item", "domain": DOMAIN, "one_each": True}),
    ("People by item and code", "count", {"by": ["item", "code"], "domain": [DOMAIN, ["1..3"]]}),
    ("People by cost", "histogram", {"of": "cost", "bounds": [0, 10], "bins": 5, "missing": "bin"}),
    ("Median cost per row", "median", {"of": "cost", "bounds": [0, 10], "per": "row", "most_rows": 2}),
    (
        "Mean cost per person, of rows where code = 'x' or cost > 3",
        "mean",
        {"of": "cost", "bounds": ["0.0", "10"], "where": "code = 'x' or cost > 3"},
    ),
    ("Sum of cost of all people", "sum", {"of": "cost", "bounds": [0, 1e1], "rho": "1/8"}),
    ("Rows", "count", {"rows": True, "most_rows": 3}),
    ("Rows by item", "count", {"rows": True, "most_rows": 3, "by": "item", "domain": DOMAIN}),
]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{patient},flu,{patient % 10},{patient % 3}\n" for patient in range(30))
    Path("visits.csv").write_text(f"patient,item,cost,code\n{rows}")
    lb.Ledger("budget.db").create("clinic", epsilon=100, delta="1e-3")
    return new_desk()


def new_desk() -> Desk:
    return Desk(RowOptions(source=("visits.csv",), unit="patient"), "budget.db", "clinic")


@pytest.mark.parametrize(("heading", "kind", "options"), CASES)
def test_every_kind_is_built_again(heading: str, kind: str, options: dict[str, Any], desk: Desk) -> None:
    cost = {} if "rho" in options else {"epsilon": "1/2"}
    page = Client(application(desk, TOKENS, frozenset({"server"}), secure=False))
    asked = {"question": kind, "options": {**options, **cost}}
    confirmation = page.post("/api/confirmations", json=asked).json()
    release = page.post("/api/releases", json={"key": confirmation["key"]}).json()
    result = find_result(desk, release["entry"])
    assert result.answer is not None
    assert result.heading == heading
    # The text may have another spelling, but it asks the same: the books know it again.
    python = release["texts"]["The same in Python"]
    names: dict[str, Any] = {}
    exec(python.replace("\n)\n", "\n    reuse=True,\n)\n"), names)
    assert names["release"] == desk.ledger.published(release["entry"])
    assert len(desk.ledger.history("clinic")) == 2
    # A new server has forgotten typed lists, and nothing else.
    again = find_result(new_desk(), release["entry"])
    assert again.heading == (result.entry.about if "domain" in options else heading)
    assert again.answer is not None
    known = {"The same as a command", "The same in Python"}
    assert set(dict(again.answer.texts)) == ({"The question, as the books know it"} if "domain" in options else known)
    assert dict(again.answer.texts).get("The question, as the books know it", result.entry.about) == result.entry.about
    desk.jobs.close()


def test_a_question_to_another_table_is_shown_in_the_words_of_the_books(desk: Desk) -> None:
    Path("others.csv").write_text("patient,cost\n1,2\n")
    lb.ask("count", "others.csv", unit="patient", epsilon=1, ledger="budget.db", dataset="clinic")
    result = find_result(desk, desk.ledger.history("clinic")[-1].id)
    assert result.answer is not None
    assert dict(result.answer.texts) == {"The question, as the books know it": "count others.csv --unit patient"}
