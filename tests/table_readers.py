"""Tables and items as a person types them, for tests that read."""

from __future__ import annotations

from typing import Any

from lastbit.questions.item_options import ItemOptions
from lastbit.questions.option import parse_options
from lastbit.questions.reading import read_counts, read_unlisted_items
from lastbit.questions.row_options import RowOptions
from lastbit.questions.shared_options import GROUPS, TABLE


def make_rows(source: Any, **options: Any) -> RowOptions:
    """The options of a table."""
    return RowOptions.of(parse_options(TABLE, {"source": source, **options}, "python", "a test"))


def make_items(**options: Any) -> ItemOptions:
    """The options of items."""
    return ItemOptions.of(parse_options(GROUPS, options, "command", "a test"))


def count_rows(rows: RowOptions, items: ItemOptions) -> Any:
    """The counts of listed items."""
    return read_counts(rows, items).run()


def discover_rows(rows: RowOptions, items: ItemOptions, most: int | None) -> Any:
    """The items that nobody listed."""
    return read_unlisted_items(rows, items, most).run()
