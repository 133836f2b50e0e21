"""A line about each kind of question. The kinds are elsewhere: a list of commands is printed before they are loaded."""

from __future__ import annotations

from typing import Final

SUMMARIES: Final[dict[str, str]] = {
    "describe": "One page about a table: people, rows, missing values, quartiles.",
    "top": "The k most common items, and how far each is ahead.",
    "above": "The first items of a list that are above a threshold.",
    "choose": "The best item, or the k best, without gaps.",
    "measure": "The k most common items, with their numbers.",
    "histogram": "How many people have each item, or are in each bin.",
    "count": "How many people there are, or rows; or by group.",
    "sum": "The sum of a number over all people, or by group.",
    "mean": "The mean of a number over all people, or by group.",
    "share": "The share of people for whom a condition is true, or by group.",
    "median": "The median of a number over all people, or by group.",
    "quantile": "Quantiles of a number, such as quartiles.",
    "tables": "All tables of some columns at once, which agree.",
    "watch": "Which numbers of a stream are above a threshold.",
}
"""In the order in which people read them; the kinds come in the same order."""
