"""The pages that people write stay few enough to be kept true, and each says what kind of page it is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
GENERATED = {DOCS / name for name in ("errata.md", "guarantees.md", "experiments.md", "gallery.md", "papers.md")} | {
    *(DOCS / "experiments").glob("*.md")
}
PAGES = [ROOT / "README.md", *sorted(set(DOCS.rglob("*.md")) - GENERATED)]


def words(page: Path) -> int:
    """The words of a page and of its examples. The bars of a table and the prompts of an example are no words."""
    return sum(any(letter.isalnum() for letter in word) for word in page.read_text(encoding="utf-8").split())


def test_the_pages_have_at_most_25_000_words_together() -> None:
    counts = {page.relative_to(ROOT).as_posix(): words(page) for page in PAGES}
    longest = sorted(counts, key=lambda name: counts[name], reverse=True)[:5]
    assert sum(counts.values()) <= 25_000, f"Replace before you add. The longest pages: {longest}"


def test_no_page_has_more_than_2_500_words() -> None:
    assert [page.name for page in PAGES if words(page) > 2_500] == []


def test_the_readme_is_short() -> None:
    assert words(ROOT / "README.md") <= 800


def test_the_contents_say_of_each_page_what_kind_it_is() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    captions = re.findall(r"^:caption: (.+)$", index, re.MULTILINE)
    assert captions == ["Tutorial", "How-to", "Explanation", "Reference", "Take part"]
    entries = re.findall(r"^[\w/-]+$", re.sub(r"^:.*$", "", index, flags=re.MULTILINE), re.MULTILINE)
    assert len(entries) == len(set(entries)), "a page is of one kind"
    kinds, _, _ = index.partition(":caption: Take part")
    assert [entry for entry in entries if f"\n{entry}\n" in kinds and f"]({entry}.md)" not in kinds] == []


@pytest.mark.parametrize(
    "word",
    ["confidence interval", "margin of error", "histogram", "average", "p-value", "median", "error bar", "composition",
     "sensitivity", "contribution bound", "anonymous", "gdpr"],
)  # fmt: skip
def test_a_word_that_readers_search_for_is_on_a_page(word: str) -> None:
    assert any(word in " ".join(page.read_text(encoding="utf-8").lower().split()) for page in PAGES)
