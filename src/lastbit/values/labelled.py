"""Counts of pandas and Polars with their labels: what `value_counts()` gives, as a Series or a table of two columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

_COUNT: Final = "count"
"""The name that value_counts() gives to the counts. By this name alone are labels told from other indices."""


def labelled(values: Any) -> tuple[Any, Sequence[Any] | None]:
    """The bare values, and the labels that a count of pandas or Polars has for them; None for all other values.

    The labels of value_counts() are published where they are selected. Only what occurs has a label, and what occurs is
    private: give the counts of a public list, value_counts().reindex(items, fill_value=0), or use `count`.

    >>> import pandas
    >>> visits = pandas.Series(["flu", "cold", "flu"]).value_counts().reindex(["cold", "flu", "gout"], fill_value=0)
    >>> labelled(visits)[1], labelled([1, 2])[1]
    (['cold', 'flu', 'gout'], None)
    """
    kind = type(values).__name__
    if kind == "Series" and getattr(values, "name", None) == _COUNT and hasattr(values, "index"):
        # An index that only numbers the rows is no label.
        return values, None if type(values.index).__name__ == "RangeIndex" else values.index.tolist()
    if kind == "DataFrame":
        names = list(values.columns)
        if len(names) == 2 and names[1] == _COUNT:
            first = values[names[0]]
            return values[_COUNT], first.to_list() if hasattr(first, "to_list") else list(first)
    return values, None
