"""How a result is shown is chosen in every face, before a release and after it: it costs nothing, and it is said."""

from __future__ import annotations

import html
import re
from typing import Any
from urllib.parse import urlencode

import pytest

from lastbit.questions.kinds import KINDS
from lastbit.web.app import application
from lastbit.web.desk import Desk
from lastbit.web.forms import DISPLAY, DISPLAY_OF_NUMBERS, TOPICS
from tests.web.test_results import desk as desk
from tests.web.test_tables import TOKENS, Client

COUNTS = {"by": "item", "domain": ["flu", "cold"], "epsilon": "1"}
SAMPLES = {
    "title": "Winter", "noun": "patient,patients", "row_noun": "visit", "together": "yes", "hide_below": "5",
    "hide_wider": "50%", "round": "10", "non_negative": "yes", "sort": "value", "first": "1", "pivot": "item,code",
    "whole": "yes",
}  # fmt: skip
TABLES = {"by": "item,code", "domain": "item: flu, cold\ncode: 0, 1, 2", "edges": "", "delta": "1e-6"}


@pytest.fixture
def page(desk: Desk) -> Client:
    from lastbit.web.guard import RateLimit

    client = Client(application(desk, TOKENS, frozenset({"server"}), secure=False))
    client.app.rate = RateLimit(burst=10**6, a_second=0.0)
    return client


def release(page: Client, **options: Any) -> Any:
    question = {"question": "histogram", "options": {**COUNTS, **options}}
    key = page.post("/api/confirmations", json=question).json()["key"]
    return page.post("/api/releases", json={"key": key}).json()


def test_the_service_returns_the_release_and_what_is_shown_of_it(page: Client, desk: Desk) -> None:
    answer = release(page, round="10", level="0.9", title="Winter", noun="patient")
    assert answer["release"]["title"] != "Winter"
    assert answer["release"]["level"] == answer["presented"]["data"]["level"] == 0.9
    presented = answer["presented"]
    assert presented["title"] == presented["data"]["title"] == "Winter"
    assert [row[0] for row in presented["rows"]] == ["flu", "cold"]
    assert all(value % 10 == 0 for value in presented["data"]["value"])
    assert "Numbers are rounded to multiples of 10, and intervals outwards." in presented["notes"]
    assert "Numbers are rounded" not in str(answer["release"]["notes"])
    spent = desk.account.spent
    # Later it is shown otherwise, for nothing. Without options there is the release alone.
    again = page.get(f"/api/releases/{answer['entry']}?sort=value&first=1&non_negative=true").json()
    assert len(again["presented"]["rows"]) == 1
    assert "patients" not in str(again)
    assert "presented" not in page.get(f"/api/releases/{answer['entry']}").json()
    wrong = page.get(f"/api/releases/{answer['entry']}?round=0")
    assert (wrong.status_code, wrong.json()["error"][:24]) == (400, '"round" must be above 0:')
    assert page.get(f"/api/releases/{answer['entry']}?epsilon=9").status_code == 400
    assert desk.account.spent == spent
    desk.jobs.close()


def test_the_page_goes_to_the_result_as_it_was_asked_for(page: Client, desk: Desk) -> None:
    form = {"topic": "histogram", "by": "item", "domain": "flu\ncold", "epsilon": "1", "round": "10", "level": "0.9"}
    confirmation = page.post("/confirm", data={**form, "together": "yes"})
    paid = page.post(confirmation.headers["location"], data={})
    job = desk.jobs.find(paid.headers["location"].rpartition("/")[2])
    assert job is not None
    job.wait(600)
    place = page.get(paid.headers["location"]).headers["location"]
    entry = desk.ledger.history("clinic")[-1].id
    assert place == f"/results/{entry}?level=0.9&together=yes&round=10"
    shown = html.unescape(page.get(place).text)
    assert "Numbers are rounded to multiples of 10" in shown
    assert "All 2 hold together with probability 90% or more." in shown
    assert '<details class="display" open>' in shown
    files = re.findall(rf'href="(/results/{entry}\.\w+\?[^"]+)"', shown)
    assert len(files) == 3
    assert "rounded to multiples of 10" in page.get(files[0]).text
    assert "rounded" in page.get(files[1]).json()["notes"][-2]
    assert "Numbers are rounded" not in page.get(f"/results/{entry}").text
    assert page.get(f"/results/{entry}?round=x").status_code == 400
    desk.jobs.close()


OFFERED = [(topic.name, place.name) for topic in TOPICS.values() for place in topic.display]


@pytest.mark.parametrize(("topic", "name"), OFFERED)
def test_whatever_a_card_offers_can_be_planned(topic: str, name: str, page: Client) -> None:
    more = {
        "tables": TABLES,
        "describe": {"numbers": "cost"},
        "bins": {"bounds_low": "0", "bounds_high": "10"},
        "share": {"of": "cost > 3"},
        "different": {"different": "item"},
        **{name: {"of": "cost"} for name in ("mean", "sum", "quantile")},
    }
    more["bins"] |= {"of": "cost"}
    form = {"topic": topic, "by": "item", "domain": "flu\ncold", "k": "1", **more.get(topic, {})}
    answer = page.get(f"/plan?{urlencode({**form, name: SAMPLES[name]})}")
    assert answer.status_code == 200, re.findall(r'role="alert">(.*?)</p>', answer.text)
    assert "How the answer is shown" in page.get(f"/ask/{topic}").text


def test_every_option_of_the_display_is_on_the_page() -> None:
    for kind in KINDS.values():
        words = {"level", "pivot", "methods", *(place.name for place in (*DISPLAY, *DISPLAY_OF_NUMBERS))}
        assert {option.name for option in kind.display_options} - {"whole"} == words, kind.name
