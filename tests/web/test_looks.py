"""For every eye and every hand: axe finds nothing serious, and no page is wider than its window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.web.conftest import Served

PAGES = {
    "ask": "",
    "topic": "ask/top",
    "refused": "plan?topic=top&by=diagnosis&k=0&domain_from=list",
    "plan": "plan?topic=top&by=diagnosis&domain_from=list&k=3",
    "mean": "plan?topic=mean&of=cost",
    "accounts": "budget",
    "account": "budget/clinic",
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
        page.goto(f"{served.address}{path}")
        serious = [
            f"{each['id']}: {each['nodes'][0]['html'][:200]}"
            for each in Axe().run(page).response["violations"]
            if each["impact"] in ("serious", "critical")
        ]
        wide = page.evaluate("document.documentElement.scrollWidth")
        if serious or wide > width:
            found[name] = [*serious, f"{wide} px wide"]
    assert found == {}


def test_the_keyboard_reaches_everything_in_order(visit: Callable[..., Any], served: Served) -> None:
    page = visit("look")
    page.goto(f"{served.address}plan?topic=count")
    seen = []
    for _ in range(14):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("document.activeElement.id || document.activeElement.textContent.trim()"))
    for each in ("Skip to the content", "Ask", "Budget", "epsilon", "Accuracy of this cost", "stop", "within"):
        assert each in seen
    assert seen.index("epsilon") < seen.index("stop") < seen.index("within")
