"""Numbers with a noun, as a sentence has them."""

from __future__ import annotations


def several(number: int, one: str, more: str = "") -> str:
    """A number and its noun.

    >>> several(1, "item"), several(1200, "item"), several(0, "query", "queries")
    ('1 item', '1,200 items', '0 queries')
    """
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def nth(number: int) -> str:
    """The place of one among others.

    >>> [nth(number) for number in (1, 2, 3, 11, 31, 112, 1001)]
    ['1st', '2nd', '3rd', '11th', '31st', '112th', '1,001st']
    """
    teens = number % 100 in (11, 12, 13)
    return f"{number:,}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
