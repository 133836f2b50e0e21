"""The generated pages are what a run produces."""

from pathlib import Path

import pytest

from lastbit.audit.target import all_mechanisms
from tools.pages import costs, errata, gallery, guarantees

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.xdist_group("gallery")
@pytest.mark.usefixtures("laws_once")
def test_the_page_of_the_gallery_is_what_the_gallery_gives():
    assert gallery.page() == (DOCS / "gallery.md").read_text(encoding="utf-8"), (
        "run: python -m tools.pages.gallery > docs/gallery.md"
    )


def test_the_errata_page_is_what_the_list_gives():
    assert errata.page() == (DOCS / "errata.md").read_text(encoding="utf-8"), (
        "run: python -m tools.pages.errata > docs/errata.md"
    )


def test_the_guarantees_page_is_what_the_mechanisms_give():
    assert guarantees.page() == (DOCS / "guarantees.md").read_text(encoding="utf-8"), (
        "run: python -m tools.pages.guarantees > docs/guarantees.md"
    )


def test_every_instance_belongs_to_a_mechanism_and_holds():
    known = {mechanism.__name__ for mechanism in all_mechanisms()}
    # A private selection or search has candidates in place of values, and parts are other mechanisms: their laws are
    # in their own tests.
    assert set(guarantees.INSTANCES) == known - {"Parts", "PrivateSearch", "PrivateSelection"}
    page = (DOCS / "guarantees.md").read_text(encoding="utf-8")
    assert all(f"## {name}" in page for name in known)
    assert "(violated)" not in page
    assert "(undecided)" not in page
    assert {type(mechanism).__name__ for mechanism in costs.ASKED.values()} == known
    assert page.count("(holds)") == sum(len(guarantees.INSTANCES.get(name, ())) for name in known)
