"""For every eye and every hand: axe finds nothing serious, and no page is wider than its window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import lastbit as lb
from tests.web.conftest import Served

PAGES = {
    "ask": "",
    "topic": "ask/top",
    "refused": "plan?topic=top&by=diagnosis&k=0&domain_from=list",
    "plan": "plan?topic=top&by=diagnosis&domain_from=list&k=3",
    "mean": "plan?topic=mean&of=cost",
    "accounts": "budget",
    "account": "budget?account=clinic",
    "audit": "audit?mechanism=NoisyMax&settings=epsilon%3D1+resolution%3D1&values=0,1&neighbour=1,1",
    "gallery": "audit/gallery",
    "api": "api",
}


@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 1200), ("light", 400)])
def test_axe_finds_nothing_serious(scheme: str, width: int, served: Served, visit: Callable[..., Any]) -> None:
    from axe_playwright_python.sync_playwright import Axe

    page = visit("raise", color_scheme=scheme, viewport={"width": width, "height": 900}, bypass_csp=True)
    found: dict[str, list[str]] = {}
    for name, path in PAGES.items():
        page.goto(f"{served.home}{path}")
        serious = [
            f"{each['id']}: {each['nodes'][0]['html'][:200]}"
            for each in Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]
            if each["impact"] in ("serious", "critical")
        ]
        wide = page.evaluate("document.documentElement.scrollWidth")
        if serious or wide > width:
            found[name] = [*serious, f"{wide} px wide"]
    assert found == {}


def test_the_keyboard_reaches_everything_in_order(visit: Callable[..., Any], served: Served) -> None:
    page = visit("look")
    page.goto(f"{served.home}plan?topic=count")
    seen = []
    for _ in range(14):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))
    for each in ("Skip to the content", "Ask", "Budget", "epsilon", "Accuracy of this cost", "stop", "within"):
        assert each in seen
    assert seen.index("epsilon") < seen.index("stop") < seen.index("within")


NOTEBOOKS = {"light": ("#ffffff", "#212121"), "dark": ("#111111", "#e0e0e0")}
"""The page and the text of a notebook in each theme, which need not be the theme of the browser."""


@pytest.mark.parametrize("theme", NOTEBOOKS)
def test_a_notebook_shows_tables_and_charts_in_either_theme(theme: str, browser: Any, served: Served) -> None:
    mechanism = lb.DiscreteLaplace(epsilon=1)
    values = [
        lb.NoisyTopK(k=2, epsilon=1).release([4100, 2600, 90]), mechanism.release([10, 20]),
        lb.audit.law(lambda draw: draw.bernoulli("1/3")), lb.audit.check(mechanism, [3], [4], tolerance="1/1000"),
        lb.audit.check_all(mechanism, [3], "1/1000"), served.ledger.history("clinic"),
    ]  # fmt: skip
    cells = "".join(f"<section>{each._repr_html_()}</section>" for each in values)  # type: ignore[attr-defined]
    ground, ink = NOTEBOOKS[theme]
    window = browser.new_context(color_scheme="light" if theme == "dark" else "dark")
    page = window.new_page()
    page.set_default_timeout(600_000)
    page.set_content(f'<body style="background: {ground}; color: {ink}">{cells}')
    assert page.locator("section").count() == page.locator("section > table").count() == len(values)
    drawn = page.evaluate(SHOWN)
    window.close()
    red, green, blue = (int(ink[at : at + 2], 16) for at in (1, 3, 5))
    assert len(drawn) > 20
    assert {each["fill"] for each in drawn} == {f"rgb({red}, {green}, {blue})"}
    assert all(each["wide"] > 0 and each["inside"] for each in drawn), drawn


SHOWN = """[...document.querySelectorAll("svg text, td, th, caption")].filter(each => each.textContent).map(each => {
    const chart = each.closest("svg"), box = each.getBoundingClientRect()
    const around = chart ? chart.getBoundingClientRect() : box
    return {fill: getComputedStyle(each)[chart ? "fill" : "color"], wide: box.width, text: each.textContent,
            inside: box.left >= around.left - 1 && box.right <= around.right + 1}
})"""
