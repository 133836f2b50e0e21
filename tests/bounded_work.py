"""Bounded work: a count of calls and of the size of what they return, in place of a clock."""

from __future__ import annotations

import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any, TypeVar

Result = TypeVar("Result")


class TooMuchWork(Exception):
    """More was done than was allowed."""


def within(limit: int, function: Callable[[], Result]) -> Result:
    """The result of a function that does no more than so much work.

    Each call is one unit, and a number that a call returns is one more for each 64 bits of it. So a search that does
    not end and numbers that grow without end are both stopped, on every machine at the same place.
    """
    done = 0

    def count(frame: Any, event: str, argument: Any) -> None:
        nonlocal done
        if event in ("call", "c_call"):
            done += 1
        elif event == "return":
            done += sum(map(_words, argument)) if isinstance(argument, tuple) else _words(argument)
        if done > limit:
            sys.setprofile(None)
            raise TooMuchWork

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        return function()
    except Exception as error:
        # Compiled code that was interrupted may say something else.
        if done > limit:
            raise TooMuchWork(f"more than {limit:,} units of work") from error
        raise
    finally:
        sys.setprofile(before)


def _words(value: Any) -> int:
    if type(value) is int:
        return value.bit_length() >> 6
    if type(value) is Fraction:
        return (value.numerator.bit_length() + value.denominator.bit_length()) >> 6
    return 0
