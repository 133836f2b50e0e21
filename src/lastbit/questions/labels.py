"""What stands above the inputs of the page: the words of each option there, for its form and for advice about it."""

from __future__ import annotations

from typing import Final

from lastbit.questions.option import Option

_LABELS: Final[dict[str, tuple[str, ...]]] = {
    "at": ("Which quantiles",),
    "bin": ("Column of numbers in bins", "Width of a bin"),
    "bins": ("Number of bins",),
    "bounds": ("Lowest number", "Highest number"),
    "bounds_share": ("Share of the cost that finds the bounds",),
    "by": ("Columns, with commas between them",),
    "closed": ("Leave numbers outside the edges out",),
    "dates": ("Columns of dates",),
    "day": ("Column of days",),
    "different": ("Column of values",),
    "discover": ("Columns that nobody listed",),
    "domain": ("Public items",),
    "edges": ("Edges of columns of numbers, as age=0,18,65",),
    "every": ("Bins of dates",),
    "first": ("So many rows",),
    "first_by": ("The first row has the smallest",),
    "form": ("Weigh a set by",),
    "hide_below": ("Hide numbers below",),
    "hide_wider": ("Hide intervals wider than",),
    "hour": ("Column of hours",),
    "in_each": ("Lists in each group of",),
    "k": ("How many items",),
    "latest_by": ("The latest row has the largest",),
    "level": ("Intervals hold with probability",),
    "limit": ("Stop after",),
    "missing": ("What is missing",),
    "month": ("Column of months",),
    "most_items": ("Items of one person that count",),
    "most_rows": ("Rows of one person that count",),
    "non_negative": ("Numbers below 0 are shown",),
    "noun": ("The people are called",),
    "numbers": ("Numbers of the items",),
    "of": ("Column of numbers",),
    "one_each": ("One group for each person",),
    "others": ("Groups that are not listed",),
    "people": ("A guess how many people there are",),
    "people_share": ("Share of the cost that finds whom a bound leaves out",),
    "per": ("A person with several rows counts with",),
    "pivot": ("Two columns crosswise",),
    "resolution": ("Step of the numbers",),
    "round": ("Round to multiples of",),
    "row_noun": ("The rows are called",),
    "rows": ("Rows instead of people",),
    "rule": ("Share the cost for",),
    "scale": ("Answers are alike",),
    "sd": ("The standard deviation too",),
    "set": ("A set without ranks",),
    "sort": ("Rows stand",),
    "tables": ("These tables only",),
    "texts": ("Columns of text",),
    "title": ("Title",),
    "together": ("Intervals that hold together",),
    "ways": ("Tables of at most so many columns",),
    "week": ("Column of weeks",),
    "weekday": ("Column of days of the week",),
    "weight": ("What is more important",),
    "where": ("Only rows where",),
    "whole": ("Numbers are",),
    "within": ("Accuracy",),
    "year": ("Column of years",),
}  # fmt: skip


def label_of(option: Option) -> tuple[str, ...]:
    """Return what stands above each input of an option: one of two values has two.

    >>> from lastbit.questions.shared_options import BOUNDS, DELTA
    >>> label_of(BOUNDS), label_of(DELTA)
    (('Lowest number', 'Highest number'), ('Delta',))
    """
    return option.labels or _LABELS.get(option.name) or (option.name.replace("_", " ").capitalize(),)
