"""The whole way in a real browser: ask, plan, confirm, result, report. Nothing spends twice."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Error, expect

import lastbit as lb
from tests.web.conftest import Served

Visit = Callable[..., Any]


def spent(served: Served, dataset: str = "clinic") -> Fraction:
    found = served.ledger.account(dataset).spent_epsilon
    assert found is not None
    return found


def follow(page: Any, role: str, name: str) -> None:
    """Press a button or a link, and wait until the next page is whole: before, its scripts hear nothing."""
    page.evaluate("window.left = true")
    page.get_by_role(role, name=name).first.click()
    # Asked again and again: an event of the browser may come before somebody listens, and then never.
    for _ in range(6000):
        with suppress(Error):  # the page was on its way out
            if page.evaluate("!window.left && document.readyState === 'complete'"):
                return
        page.wait_for_timeout(100)
    raise AssertionError("the next page did not come")


def plan(page: Any, topic: str, epsilon: str = "0.5", **fields: str) -> None:
    """From the first page to the plan, as a person goes."""
    page.get_by_role("link", name="Ask", exact=True).click()
    page.locator(f"a[href='/ask/{topic}']").click()
    for name, value in fields.items():
        field = page.locator(f"[name={name}]").first
        if name == "domain_from":
            page.locator(f"[name=domain_from][value={value}]").check()
        elif field.evaluate("each => each.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)
    follow(page, "button", "Plan")
    page.locator("#epsilon").fill(epsilon)
    follow(page, "button", "Accuracy of this cost")


def arrived(page: Any, place: str) -> None:
    """Wait for a page. A second click may break off the way that the first one began, and begin it again."""
    expect(page).to_have_url(re.compile(f"/{place}/"))
    page.wait_for_load_state()


def confirm(page: Any) -> None:
    page.get_by_role("button", name="Go on to confirm").click()
    arrived(page, "confirm")


def release(page: Any) -> None:
    confirm(page)
    page.get_by_role("button", name="Spend and release").click()
    arrived(page, "results")


def test_from_the_question_to_the_report(served: Served, visit: Visit, tmp_path: Path) -> None:
    page, before = visit(), spent(served)
    plan(page, "top", by="diagnosis", domain_from="list", k="3")
    assert "With probability 95% no item left out" in page.inner_text("#planned")
    assert page.locator("#planned figure svg .bar").count() == 3
    release(page)
    assert spent(served) == before + Fraction(1, 2)
    entry = served.ledger.history("clinic")[-1]
    told = page.inner_text("main")
    for item in entry.published.items:
        assert item in told
    assert page.locator("figure svg .interval").count() == 3
    assert f"entry {entry.id}" in told
    assert "lastbit top visits.csv --unit patient" in told
    assert "lb.ask(" in told
    with page.expect_download() as download:
        page.get_by_role("link", name="Report to send on").click()
    report = download.value.path().read_text()
    with page.expect_download() as download:
        page.get_by_role("link", name="JSON").click()
    data = json.loads(download.value.path().read_text())
    assert data["item"] == list(entry.published.items)
    with page.expect_download() as download:
        page.get_by_role("link", name="CSV").click()
    assert download.value.path().read_text().startswith("rank,diagnosis,gap,gap_low,gap_high\n")
    assert "<svg" in report
    assert "lastbit top visits.csv" in report
    assert not re.search(r"<script|src=|href=|url\(|@import", report)
    # The history has it, and shows it again for nothing.
    for link in ("Budget", "clinic", "look again"):
        follow(page, "link", link)
    assert page.inner_text("main") == told
    assert spent(served) == before + Fraction(1, 2)


@pytest.mark.parametrize(
    ("topic", "fields"),
    [
        ("above", {"by": "diagnosis", "domain_from": "list", "threshold": "20"}),
        ("above", {"by": "diagnosis", "domain_from": "list", "threshold": "20", "numbers": "yes"}),
        ("choose", {"by": "diagnosis", "domain_from": "typed", "domain": "influenza\ncommon cold"}),
        ("histogram", {"by": "diagnosis", "domain_from": "unknown", "delta": "1e-4", "most_items": "1"}),
        ("quantile", {"of": "cost"}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_other_topics_are_released(topic: str, fields: dict[str, str], served: Served, visit: Visit) -> None:
    page = visit()
    plan(page, topic, "0.25", **fields)
    release(page)
    entry = [entry for entry in served.ledger.history("clinic") if entry.kind == "charge"][-1]
    assert entry.done == "yes"
    assert isinstance(entry.published, lb.MeasuredAbove) == ("numbers" in fields)
    assert "What it means" in page.inner_text("main")
    name = "count" if topic == "histogram" else topic  # the books have one name for a histogram of items
    assert f"lastbit {name} visits.csv" in page.inner_text("main")


def test_tables_are_released_for_a_rho(served: Served, serve: Callable[..., Served], visit: Visit) -> None:
    served.ledger.create("report", rho=1)  # tables cost a rho, of which other tests' account has no epsilon
    page = visit(at=serve(dataset="report"))
    plan(page, "tables", "0.25", by="diagnosis", domain="diagnosis: influenza, common cold")
    release(page)
    (_, entry) = served.ledger.history("report")
    assert entry.done == "yes"
    assert "What it means" in page.inner_text("main")
    assert "lastbit tables visits.csv" in page.inner_text("main")


def moved(page: Any, before: str) -> str:
    """The epsilon that follows a dial, once the page hears what its new parts say: htmx takes a moment to settle."""
    expect(page.locator("#epsilon")).not_to_have_value(before)
    expect(page.locator(".htmx-added")).to_have_count(0)
    return str(page.input_value("#epsilon"))


def test_drag_one_and_the_other_follows(visit: Visit) -> None:
    page = visit("look")
    plan(page, "top", "1", by="diagnosis", domain_from="list", k="3")
    first = float(page.input_value("#within"))
    page.locator("#stop").fill("15")
    epsilon = moved(page, "1")
    assert float(page.input_value("#within")) > first
    assert Fraction(epsilon) < 1
    page.locator("#drag").evaluate("each => { each.value = each.max; each.dispatchEvent(new Event('input')); }")
    assert Fraction(moved(page, epsilon)) < Fraction(epsilon)
    page.locator("#within").fill("10")
    follow(page, "button", "Cost of this accuracy")
    assert float(page.input_value("#within")) <= 10


def test_two_clicks_a_reload_and_the_back_button_spend_once(served: Served, visit: Visit) -> None:
    page, before = visit(), spent(served)
    plan(page, "count", "0.125")
    confirm(page)
    here = page.url
    page.evaluate(
        """async place => {
            const twice = () => fetch(place, {method: 'POST'});
            await Promise.all([twice(), twice(), twice(), twice()]);
        }""",
        here,
    )
    page.get_by_role("button", name="Spend and release").dblclick()
    arrived(page, "results")
    result = page.url
    assert spent(served) == before + Fraction(1, 8)
    page.reload()
    page.go_back()
    button = page.get_by_role("button", name="Spend and release")
    if "/confirm/" in page.url and button.count():  # from the browser's own memory
        button.click()
        arrived(page, "results")
    page.goto(here)
    assert page.url == result
    page.goto(here.replace("/confirm/", "/work/"))
    assert page.url == result
    assert spent(served) == before + Fraction(1, 8)
    # The plan says that the books have the answer.
    plan(page, "count", "0.125")
    follow(page, "link", "look at it again")
    assert page.url == result


def test_a_budget_that_is_too_small_refuses_and_says_why(served: Served, serve: Any, visit: Visit) -> None:
    small = serve(dataset="small")
    page = visit("release", small)
    plan(page, "count", "2")
    assert "allows no more than epsilon" in page.inner_text(".bad")
    assert page.get_by_role("button", name="Go on to confirm").is_disabled()
    # Another user is faster: what was allowed at the plan is refused at the release.
    plan(page, "count", "0.75")
    confirm(page)
    other = visit("release", small)
    plan(other, "mean", "0.75", of="cost")
    release(other)
    page.get_by_role("button", name="Spend and release").click()
    page.wait_for_selector("text=Refused")
    assert "allows no more than epsilon 1/4" in page.inner_text("main")
    assert spent(served, "small") == Fraction(3, 4)


def test_whoever_may_look_cannot_go_on(visit: Visit) -> None:
    page = visit("look")
    plan(page, "count", "0.5")
    assert page.get_by_role("button", name="Go on to confirm").is_disabled()
    assert "you may look" in page.inner_text("header")


def test_without_scripts(served: Served, visit: Visit) -> None:
    page, before = visit("release", java_script_enabled=False), spent(served)
    page.locator("a[href='/ask/sum']").click()
    page.locator("[name=of]").fill("cost")
    follow(page, "button", "Plan")
    assert page.locator("#stop").is_hidden()
    page.locator("#within").fill("100000")
    follow(page, "button", "Cost of this accuracy")
    page.locator("#epsilon").fill("0.0625")
    follow(page, "button", "Accuracy of this cost")
    page.get_by_role("button", name="Go on to confirm").click()
    page.get_by_role("button", name="Spend and release").click()
    arrived(page, "results")
    assert spent(served) == before + Fraction(1, 16)


def test_raise_a_limit(served: Served, serve: Any, visit: Visit) -> None:
    served.ledger.create("other", epsilon=1)
    page = visit("raise")
    page.goto(f"{served.home}budget?account=other")
    page.locator("#limit").fill("1/2")
    page.locator("#why").fill("a mistake")
    follow(page, "button", "Raise the limit")
    assert page.locator(".bad").count() == 1
    page.locator("#limit").fill("2")
    page.locator("#why").fill("agreed in May")
    follow(page, "button", "Raise the limit")
    assert "agreed in May" in page.inner_text("table")
    assert served.ledger.account("other").limit == 2


def test_the_auditor_convicts_and_acquits(visit: Visit) -> None:
    page = visit("look")
    plan(page, "top", "1", by="diagnosis", domain_from="list", k="3")
    follow(page, "link", "The exact verdict")
    assert page.locator(".good").count() == 1, page.inner_text("main")
    assert page.locator("figure svg .other").count() > 2
    follow(page, "link", "The gallery")
    with page.expect_navigation():
        page.locator("a[href='/audit/gallery/9']").click()
    assert "violated" in page.inner_text(".bad")
    assert page.locator("figure svg .bar").count() > 2
