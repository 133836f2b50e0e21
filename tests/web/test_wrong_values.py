"""A wrong value of any option gets the refusal of `lb.ask` from the service and from the page, and costs nothing."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

import lastbit as lb
from lastbit.questions.kinds import KINDS
from lastbit.questions.output_options import PRESENTATION
from lastbit.questions.row_options import RowOptions
from lastbit.questions.spelling import spell_options
from lastbit.web.app import application
from lastbit.web.desk import Desk
from lastbit.web.forms import TOPICS, fill_form, input_names, read_form
from tests.web.test_tables import TOKENS, Client

RIGHT: dict[str, dict[str, Any]] = {
    "top": {"by": "item", "domain": ["flu", "cold"], "k": 1},
    "above": {"by": "item", "domain": ["flu", "cold"], "threshold": 3},
    "choose": {"by": "item", "domain": ["flu", "cold"]},
    "measure": {"by": "item", "domain": ["flu", "cold"], "k": 1},
    "histogram": {"by": "item", "domain": ["flu", "cold"]},
    "count": {},
    "sum": {"of": "cost", "bounds": [0, 10]},
    "mean": {"of": "cost", "bounds": [0, 10]},
    "median": {"of": "cost", "bounds": [0, 10]},
    "quantile": {"of": "cost", "bounds": [0, 10], "at": 0.5},
    "describe": {"numbers": "cost"},
    "share": {"of": "cost > 5"},
    "tables": {"by": "item", "domain": ["flu", "cold"], "delta": "1e-6"},
}
"""A question of each kind that can be asked, without its cost."""

HOSTILE: dict[str, Any] = {
    "word": "x",
    "empty": "",
    "blank": "  ",
    "flag": "--epsilon",
    "false as text": "false",
    "zero": 0,
    "one": 1,
    "negative": -1,
    "share": 1.5,
    "ratio": "1/0",
    "huge": 10**30,
    "larger": 2**63,
    "enormous": 10**4000,
    "negative enormous": -(10**400),
    "huge text": "9" * 5000,
    "exponent": "1e999999999",
    "true": True,
    "false": False,
    "null": None,
    "list": [],
    "list of lists": [[[]]],
    "list of null": [None],
    "list of truth": [True, False],
    "two": [1, 2],
    "backwards": [2, 1],
    "three": ["a", "b", "c"],
    "mixed": [1, "a", None, []],
    "object": {},
    "object of lists": {"a": [1], "b": {}},
    "surrogate": "\ud800",
    "code 0": "a\0b",
    "long": "x" * 20_000,
    "formula": "=1+1",
    "query": "1; drop table visits",
    "bracket": "true) or (true",
    "range": "1..9999999999",
    "long range": f"1..{'9' * 5000}",
    "file": "/etc/passwd",
    "emoji": "☃",
}


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{patient},flu,{patient % 10}\n" for patient in range(30))
    Path("visits.csv").write_text(f"patient,item,cost\n{rows}")
    lb.Ledger("budget.db").create("clinic", epsilon=100)
    desk = Desk(RowOptions(source=("visits.csv",), unit="patient"), "budget.db", "clinic")
    yield desk
    assert [entry.kind for entry in desk.ledger.history("clinic")] == ["create"]
    desk.jobs.close()


@pytest.fixture
def page(desk: Desk) -> Client:
    return Client(application(desk, TOKENS, frozenset({"server"}), secure=False, cookie="lastbit"))


@pytest.fixture(autouse=True)
def _patient(page: Client) -> None:
    """So many requests are nobody's attack here."""
    from lastbit.web.guard import RateLimit

    page.app.rate = RateLimit(burst=10**6, a_second=0.0)


def refusal_of_ask(kind: str, values: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> str | None:
    """What `lb.ask` says of these values before it reads; None where it would read."""

    class WouldRead(Exception):
        pass

    def stop(*_: Any) -> Any:
        raise WouldRead

    with monkeypatch.context() as patch:
        patch.setattr("lastbit.questions.answer.answer", stop)
        patch.setattr("lastbit.questions.ask.answer", stop, raising=False)
        try:
            lb.ask(kind, "visits.csv", unit="patient", **values)
        except WouldRead:
            return None
        except lb.LastbitError as error:
            return str(error)
    raise AssertionError("the table was read")


ALL = [option for kind in KINDS.values() for option in kind.options]
OPEN = [
    (kind.name, option.name)
    for kind in KINDS.values()
    for option in kind.options
    if "service" in option.faces and (option not in PRESENTATION or kind.name in ("top", "count", "tables"))
]
FILES = {"word", "flag", "huge text", "exponent", "long range", "file", "formula", "query", "bracket", "emoji", "blank",
         "false as text", "ratio", "surrogate", "code 0", "long", "empty"}  # fmt: skip
"""Texts that `lb.ask` takes for the name of a file with items, and the service for no list at all."""


@pytest.mark.parametrize(("kind", "name"), OPEN)
def test_the_service_refuses_as_ask_does(kind: str, name: str, page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    refused = 0
    for label, value in HOSTILE.items():
        options = {"epsilon": 1, **RIGHT[kind], name: value}
        expected = refusal_of_ask(kind, options, monkeypatch)
        body = json.dumps({"question": kind, "options": options})
        answer = page.post("/api/plan", content=body)
        if name == "domain" and label in FILES:
            assert answer.status_code == 400, (label, answer.text)
            assert answer.json()["error"].startswith('"domain" must')
        elif expected is None:
            assert answer.status_code == 200, (label, answer.text)
        else:
            expected = spell_options(expected, (*ALL, *KINDS[kind].options), "service")
            assert (answer.status_code, answer.json()) == (400, {"error": expected}), label
            assert "\n" not in expected
            refused += 1
            wrong = body
    assert refused > 10
    assert page.post("/api/confirmations", content=wrong).status_code == 400


CLOSED = [
    (kind.name, option.name) for kind in KINDS.values() for option in kind.options if "service" not in option.faces
]


def test_options_of_the_owner_are_refused_whatever_they_are(page: Client) -> None:
    for kind, name in CLOSED:
        for value in ("x", 0, 1, True, False, [], {}, "visits.csv"):
            options = {"epsilon": 1, **RIGHT[kind], name: value}
            answer = page.post("/api/plan", json={"question": kind, "options": options})
            assert answer.status_code == 400, (kind, name, value)
            assert answer.json()["error"].startswith(f"there is no option '{name}' for {kind} here. Use some of ")


QUESTION = {"question": "count", "options": {"epsilon": 1}}


def in_options(**values: Any) -> dict[str, Any]:
    return {"question": "count", "options": {"epsilon": 1, **values}}


BODIES: dict[str, Any] = {
    "no question": {},
    "a number for a question": {"question": 1},
    "a list for a question": {"question": ["count"]},
    "null for a question": {"question": None},
    "a stream": {"question": "watch", "options": {"threshold": 1, "epsilon": 1}},
    "a list of options": {**QUESTION, "options": [["epsilon", 1]]},
    "text for options": {**QUESTION, "options": "epsilon=1"},
    "a number for options": {**QUESTION, "options": 0},
    "no cost": {"question": "count", "options": None},
    "an unknown option": {"question": "count", "options": {"epsilon": 1, "Epsilon": 1}},
    "an option of odd characters": {"question": "count", "options": {"epsilon": 1, "\ud800\n": 1}},
    "an unknown field": {**QUESTION, "option": {}},
    "a table that is not there": {**QUESTION, "table": "visits"},
    "a list for a table": {**QUESTION, "table": ["visits"]},
    "a number for a note": {**QUESTION, "note": 1},
    "a list for a note": {**QUESTION, "note": ["a"]},
    "a long note": {**QUESTION, "note": "x" * 20_000},
    **{f"people {value!r}"[:40]: in_options(people=value) for value in ("x", 0, -1, 1.5, [], {}, True, 2**63, "")},
    **{
        f"within {value!r}"[:40]: in_options(epsilon=None, within=value)
        for value in ("x", 0, -1, [], {}, True, "", "%", "x%", "0%", "1e99999", 10**4000, "-2%")
    },
    "both costs": in_options(within=5),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_what_stands_around_the_options_is_refused_too(body: Any, page: Client) -> None:
    for path in ("/api/plan", "/api/confirmations"):
        answer = page.post(path, content=json.dumps(body))
        assert answer.status_code == 400, answer.text
        assert "\n" not in answer.json()["error"]


@pytest.mark.parametrize(
    "body",
    [b"", b"[1]", b"1", b"null", b"NaN", b'{"question": NaN}', b"{", b"[" * 100_000, b"\xff", b"9" * 5000],
    ids=range(10),  # the text would be a name of 100,000 characters, which pytest hands on to every program
)
def test_what_is_no_object_is_no_question(body: bytes, page: Client) -> None:
    for path in ("/api/plan", "/api/confirmations"):
        assert page.post(path, content=body).status_code == 400


@pytest.mark.parametrize("key", ["x", 1, [], {}, True, "a\0b", "\ud800", "x" * 20_000], ids=range(8))
def test_what_is_no_key_pays_for_nothing(key: Any, page: Client) -> None:
    answer = page.post("/api/releases", content=json.dumps({"key": key}))
    assert answer.status_code == (404 if key == "x" else 400), answer.text


def test_numbers_in_other_spellings_are_the_same(page: Client, desk: Desk) -> None:
    right: dict[str, Any] = {"epsilon": 1, **RIGHT["top"]}
    for k in (1, "1", 1.0, " 1 "):
        for epsilon in (0.5, "1/2", "0.50", " 5e-1"):
            body = {"question": "top", "options": {**right, "k": k, "epsilon": epsilon}}
            answer = page.post("/api/plan", json=body)
            assert (answer.status_code, answer.json()["parameters"]["k"]) == (200, "1"), answer.text
            assert answer.json()["parameters"]["epsilon"] == "1/2"
    # A number of many digits is exact: no float stands between.
    precise = page.post("/api/plan", content='{"question": "count", "options": {"epsilon": 0.10000000000000000001}}')
    assert precise.json()["parameters"]["epsilon"] == "10000000000000000001/100000000000000000000"
    large = page.post("/api/plan", content='{"question": "top", "options": {"by": "item", "k": 1e999999999}}')
    assert (large.status_code, large.json()["error"][:25]) == (400, '"k" must be a whole numbe')


FORMS = [
    (topic.name, field.name)
    for topic in TOPICS.values()
    for field in (*topic.fields, *(topic.more if topic.name in ("top", "mean", "tables") else ()))
    if field.name not in ("domain", "tables")  # on the page several tables stand in one text
]
FORMS += [(name, field.name) for name in ("top", "histogram") for field in TOPICS[name].display]
FORM = {"by": "item", "domain": "flu\ncold", "k": "1", "ways": ""}
NUMBERS = {"of": "cost", "bounds_low": "0", "bounds_high": "10"}


@pytest.mark.parametrize(("topic", "name"), FORMS)
def test_the_page_refuses_as_ask_does(topic: str, name: str, page: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    card = TOPICS[topic]
    option = card.options[name]
    texts = [value.encode("utf-8", "surrogatepass").decode("utf-8", "replace") for value in HOSTILE.values()
             if isinstance(value, str) and value.strip()]  # fmt: skip
    texts += [str(value) for value in HOSTILE.values() if isinstance(value, int | float)]
    own = {"bins": {"bins": 10, "of": "cost", "bounds": [0, 10]}, "different": {"different": "item", "most_items": 5}}
    right = own.get(topic, RIGHT[card.kind])
    if any(field.name == "domain" for field in card.fields):
        right = {"by": "item", "domain": ["flu", "cold"], **right}
    for text in texts:
        form = {**FORM, "topic": topic, "epsilon": "1"} | ({"numbers": "cost"} if topic == "describe" else {})
        form |= NUMBERS if topic in ("bins", "quantile", "mean", "sum", "share") else {}
        form |= {"different": "item"} if topic == "different" else {}
        form |= dict.fromkeys(input_names(option), text)
        value = text.strip() if len(input_names(option)) == 1 else [text.strip()] * 2
        answer = page.get(f"/plan?{urlencode(form)}")
        if len(answer.request.url.query) > 64_000:
            assert answer.status_code == 414
            continue
        expected = refusal_of_ask(card.kind, {"epsilon": 1, **right, name: value}, monkeypatch)
        if expected is None:
            assert answer.status_code == 200, (text[:40], shown_refusal(answer.text))
        else:
            expected = spell_options(expected, KINDS[card.kind].options, "page")
            assert (answer.status_code, shown_refusal(answer.text)) == (400, expected), text[:40]
            wrong = form
    assert page.post("/confirm", data=wrong).status_code == 400


def shown_refusal(text: str) -> str:
    """The refusal that a page shows."""
    match = re.search(r'<p class="bad" role="alert">(.*?)</p>', text, re.DOTALL)
    return "" if match is None else html.unescape(match[1])


@pytest.mark.parametrize("dial", ["within", "drag", "stop", "epsilon", "people", "domain_from", "table", "note"])
def test_the_dials_of_the_page_take_anything(dial: str, page: Client) -> None:
    for value in HOSTILE.values():
        text = str(value)[:5000].encode("utf-8", "replace").decode()
        form = {**FORM, "topic": "top", "epsilon": "1", "from": dial, dial: text}
        for path in ("/plan", "/plan/numbers"):
            answer = page.get(f"{path}?{urlencode(form)}")
            assert answer.status_code in (200, 400), (text[:40], answer.text[-300:])


def test_an_accuracy_of_tables_is_bought_in_epsilon(page: Client) -> None:
    tables = {
        "topic": "tables",
        "by": "item",
        "domain": "item: flu, cold",
        "edges": "",
        "from": "within",
        "within": "20",
    }
    assert page.get(f"/plan?{urlencode({**tables, 'delta': '1e-6'})}").status_code == 200
    answer = page.get(f"/plan?{urlencode({**tables, 'delta': ''})}")
    assert (answer.status_code, shown_refusal(answer.text)[:40]) == (400, "the page pays in epsilon, which needs a ")


def test_groups_are_left_out_where_no_column_of_groups_is_typed() -> None:
    values = read_form({"topic": "mean", "of": "cost", "bounds_low": "0", "bounds_high": "10", "domain": "flu"}, {})
    assert "domain" not in values
    assert fill_form({"topic": "share"})["of"] == "kind = 'emergency'"
