"""The generated pages are what a run produces."""

from pathlib import Path

from lastbit.audit import errata

DOCS = Path(__file__).parents[2] / "docs"


def test_the_errata_page_is_what_the_gallery_gives():
    assert errata.page() == (DOCS / "errata.md").read_text(encoding="utf-8"), (
        "run: python -m lastbit.audit.errata > docs/errata.md"
    )
