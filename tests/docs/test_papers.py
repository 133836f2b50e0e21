"""The map of the papers: complete, true, and every call in it runs."""

from __future__ import annotations

import importlib
import re
import shlex
from pathlib import Path

import pytest

import lastbit as lb
from experiments.harness import EXPERIMENTS
from lastbit.papers import errata
from lastbit.papers.errata import EXP, GAP, SNAP, SV, TOPK
from lastbit.papers.registry import ENTRIES, FROM_B2DP, FROM_FREEGAP, FROM_SNAPPING, NOT_HERE, PAPERS, entry_for
from tools.pages import papers

ROOT = Path(__file__).parents[2]

INVENTORY = {
    EXP: "Mechanism 1; Mechanism 2; Mechanism 3; Mechanism 4; Algorithm 1; Algorithm 2; Algorithm 3; Algorithm 4; "
    "Definition 3.1; Lemma 3.2; Proposition 3.3; Lemma 3.4; Lemma 3.5; Proposition 3.6; Lemma 3.7; Proposition 3.8; "
    "Proposition 3.9; Lemma A.1; Lemma A.2; Attack 1; Attack 2; Figures 4 to 7; Figure 8; Figure 9; Figures 10 and 11",
    SV: "Mechanism 1; Mechanism 2; Algorithm 1; Algorithm 2; Algorithm 3; Algorithm 4; Algorithm 5; Algorithm 6; "
    "Algorithm 7; Lemma 3.1; Lemma 3.2; Theorem 3.3; Theorem 5.5; Lemma 6.1; Proposition A.1",
    GAP: "Algorithm 1; Algorithm 2; Algorithm 3; Algorithm 4; Theorem 1; Theorem 2; Theorem 3; Theorem 4; "
    "Corollary 1; Definition 7; Figures 1 and 2; Figure 3; " + "; ".join(f"Lemma {number}" for number in range(1, 15)),
    TOPK: "Algorithm 1; Algorithm 2; Algorithm 3; Algorithm 4; Algorithm 5; Lemma 4.1; Lemma 4.2; Theorem 4.3; "
    "Theorem 5.2; Theorem 5.3; Lemma 5.4; Lemma 5.5; Lemma 5.6; Lemma 5.7; Lemma 5.8; Table 4; Table 5; Table 6",
    SNAP: "Section 2.2; Section 3; Section 4.1; Section 4.2; Section 5; Section 6.1; Section 6.3; Section 6.4; "
    "Section 6.5; Section 7.1; Section 7.2; Section 7.4",
}
"""What the papers number, from their texts: written apart from the registry."""


@pytest.mark.parametrize("paper", INVENTORY)
def test_every_item_of_the_inventory_has_an_entry(paper: str) -> None:
    named = {part.strip() for entry in ENTRIES if entry.paper == paper for part in entry.item.split(",")}
    assert {part.strip() for part in INVENTORY[paper].split(";")} <= named


def test_every_paper_is_in_the_inventory_and_every_entry_says_something() -> None:
    assert {paper.key for paper in PAPERS} == {*INVENTORY} == {entry.paper for entry in ENTRIES}
    assert all(entry.about and (entry.call or entry.function or entry.experiment) for entry in ENTRIES)
    assert len({(entry.paper, entry.item) for entry in ENTRIES}) == len(ENTRIES)
    assert {paper for paper, _, _ in NOT_HERE} <= {*INVENTORY}
    assert entry_for(TOPK, "Algorithm 5").function == "secure_top_k.geometric_of_coins"


CALLS = [
    *(entry.call for entry in ENTRIES if entry.call),
    *(row[1] for row in (*FROM_B2DP, *FROM_FREEGAP, *FROM_SNAPPING)),
]


@pytest.mark.parametrize("call", sorted(set(CALLS)))
def test_every_call_runs(call: str) -> None:
    if call.startswith("lastbit "):
        assert shlex.split(call)[1:] == ["audit", "--gallery"]  # a test of its own runs it
        return
    assert eval(call, {"lb": lb}) is not None


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: f"{entry.paper}, {entry.item}")
def test_every_function_experiment_and_erratum_is_there(entry: object) -> None:
    if entry.function:
        module, _, name = entry.function.partition(".")
        assert callable(getattr(importlib.import_module(f"lastbit.papers.{module}"), name))
    assert not entry.experiment or entry.experiment in EXPERIMENTS
    for label in entry.errata:
        assert errata.find(label).paper in (entry.paper, EXP, SNAP)  # A8 is about Laplace noise, in two papers


def test_every_erratum_and_every_function_of_the_papers_is_on_the_map() -> None:
    assert {label for entry in ENTRIES for label in entry.errata} == {each.label for each in errata.ERRATA}
    modules = {entry.function.partition(".")[0] for entry in ENTRIES if entry.function}
    assert modules == {*lb.papers.__all__} - {"errata", "registry"}


def test_the_page_is_what_the_registry_gives() -> None:
    assert papers.page() == (ROOT / "docs/papers.md").read_text(encoding="utf-8"), (
        "run: python -m tools.pages.papers > docs/papers.md"
    )


def test_the_papers_are_named_where_people_look_first() -> None:
    first_screen = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:40])
    assert "docs/papers.md" in first_screen
    pages = ("docs/index.md", "docs/first-release.md", "docs/learn/which-mechanism.md", "docs/architecture.md")
    texts = [first_screen, *((ROOT / page).read_text(encoding="utf-8") for page in pages)]
    for text in texts:
        assert "papers.md)" in text
        assert all(name in text for name in ("Ilvento", "Ding", "Covington"))


def test_a_released_eta_of_b2dp_costs_what_the_table_says() -> None:
    """Its Eta(1, 1, 1) is η = 1, and its mechanism costs 2η: the weights are 2^-u, ours at Eta(1, 1, 2) are 2^s."""
    ours = lb.audit.law(lb.ExponentialMechanism(eta=lb.Eta(1, 1, 2)).program([-2, 0, -1]), 0)
    assert sorted(mass * 7 for mass in ours.masses.values()) == [1, 2, 4]
    theirs = lb.audit.law(
        lambda draw: lb.papers.base2_exponential.exponential_mechanism(
            draw, [2, 0, 1], eta=lb.Eta(1, 1, 1), u_min=0, u_max=2, o_max=3,
            sample=lambda draw, weights, p: draw.index([lb.papers.base2_exponential.Fraction(str(w)) for w in weights]),
        ), 0,
    )  # fmt: skip
    assert sorted(theirs.masses.values()) == sorted(ours.masses.values())
    assert re.search(r"twice its eta", FROM_B2DP[0][2])
