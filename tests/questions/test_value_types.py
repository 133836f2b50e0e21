"""Each type of value by itself: what it takes, what it refuses at its ends, and what the books keep of it."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest

import lastbit as lb
from lastbit.questions.list_types import NumberList, Pair
from lastbit.questions.value_types import Flag, Number, OneOf, Probability, Scalar, Share, Text
from lastbit.questions.whole_number_types import WholeNumber, WholeNumberOrAll

REFUSED: dict[str, tuple[Any, list[Any]]] = {
    "a probability": (Probability(), [0, 1, 2, -1, "0", "1", "1.0", "7/6", 1.5]),
    "a number": (Number(), [None, True, "", "one", [1], "--5", float("nan"), "1" * 2049]),
    "a share": (Share(), ["%", "two%", None, "--2%"]),
    "a whole number": (WholeNumber(), [0, -1, "0", "2.5", 2.5, Fraction(1, 2), Decimal("1.5"), 1 << 63, True]),
    "at least 4": (WholeNumber(least=4), [3, "3", 0, -4]),
    "at most 9": (WholeNumber(most=9), [10, "10", 18, 1 << 40]),
    "a bound": (WholeNumberOrAll(), ["auto:1", "auto:1000001", "auto:-3", "auto:2.5", "auto:", "some", 0]),
    "two values": (Pair(), [[1], [1, 2, 3], [], "1,2", 7, {"low": 1, "high": 2}]),
    "a flag": (Flag(), ["false", "true", 0, 1, None, ""]),
    "a text": (Text(), ["", "a\0b", "x" * 10_001, 5, None, "\ud800"]),
    "one of some": (OneOf(choices=("a", "b")), ["c", "A", "", None, 1]),
    "numbers": (NumberList(), ["", "1,,2", [], [None], "a,b", [True]]),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    kind, wrong = REFUSED[name]
    for value in wrong:
        with pytest.raises(lb.ParameterError, match="--asked"):
            kind.parse(value, "--asked", "python")


TAKEN: dict[str, tuple[Any, list[tuple[Any, Any, Any]]]] = {
    # What comes, its normal form, and what the books keep: one fact for every spelling of a value.
    "a probability": (
        Probability(),
        [("1/2", "1/2", "1/2"), (0.5, "0.5", "1/2"), ("0.999", "0.999", "999/1000")],
    ),
    "a number": (
        Number(),
        [("1/2", "1/2", "1/2"), ("0.50", "0.50", "1/2"), (" 3 ", "3", "3"), (Fraction(6, 4), "3/2", "3/2")],
    ),
    "a share": (Share(), [("2%", "2%", None), (" 1/2 % ".replace(" %", "%"), "1/2%", None), (50, "50", None)]),
    "a value": (Scalar(), [("10.0", "10.0", "10"), (10, "10", "10"), ("2024-01", "2024-01", "2024-01")]),
    "a whole number": (
        WholeNumber(),
        [(1, 1, 1), ("7", 7, 7), (7.0, 7, 7), ((1 << 63) - 1, (1 << 63) - 1, (1 << 63) - 1)],
    ),
    "at least 4": (WholeNumber(least=4), [(4, 4, 4)]),
    "at most 9": (WholeNumber(most=9), [(9, 9, 9), ("9", 9, 9)]),
    "a bound": (
        WholeNumberOrAll(),
        [("all", None, None), ("auto:2", "auto:2", "auto:2"), ("auto:1000000", "auto:1000000", "auto:1000000")],
    ),
    "two values": (Pair(), [([0, "10.0"], ("0", "10.0"), ["0", "10"]), (("1/2", 3), ("1/2", "3"), ["1/2", "3"])]),
    "numbers": (NumberList(), [("1/2, 0.9", ("1/2", "0.9"), ["1/2", "9/10"]), (3, ("3",), ["3"])]),
}


@pytest.mark.parametrize("name", TAKEN)
def test_what_is_taken_and_what_the_books_keep_of_it(name: str) -> None:
    kind, given = TAKEN[name]
    for value, normal, fact in given:
        assert kind.parse(value, "--asked", "python") == normal
        assert fact is None or kind.fact(normal) == fact
        if normal is not None:
            assert kind.parse(kind.plain(normal), "--asked", "python") == normal
