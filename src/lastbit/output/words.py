"""Numbers with a noun, as a sentence has them."""

from __future__ import annotations


def plural(number: int, one: str, more: str = "") -> str:
    """Write a number and its noun.

    >>> plural(1, "item"), plural(1200, "item"), plural(0, "query", "queries")
    ('1 item', '1,200 items', '0 queries')
    """
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def nth(number: int) -> str:
    """Write a place in an order, such as 1st.

    >>> [nth(number) for number in (1, 2, 3, 11, 31, 112, 1001)]
    ['1st', '2nd', '3rd', '11th', '31st', '112th', '1,001st']
    """
    teens = number % 100 in (11, 12, 13)
    return f"{number:,}{'th' if teens else {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th')}"
