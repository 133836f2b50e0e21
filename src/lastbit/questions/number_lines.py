"""Numbers from a stream, one a line, as plain text or as JSON. No line raises, and no line is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from decimal import Decimal
from typing import IO, Any, Final

LONGEST: Final = 1 << 16
"""A longer line is no number. So memory stays small, whatever comes."""

_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,9})?", re.ASCII)


def parse_lines(stream: IO[bytes], key: str) -> Iterator[Decimal | None]:
    """Yield the number of each line, as soon as the line is there; None for a line without one.

    >>> from io import BytesIO
    >>> list(parse_lines(BytesIO(b'12.5\\n{"value": 1e3}\\n\\nn/a\\n-7'), "value"))
    [Decimal('12.5'), Decimal('1E+3'), None, None, Decimal('-7')]
    """
    while line := stream.readline(LONGEST):
        whole = line.endswith(b"\n") or len(line) < LONGEST
        while not whole:
            more = stream.readline(LONGEST)
            whole = more.endswith(b"\n") or len(more) < LONGEST
            line = b""
        yield parse_line(line.decode("utf-8-sig", "replace").strip(), key)


def parse_line(text: str, key: str) -> Decimal | None:
    """Return the number of a line: a decimal, or the number under a key of a JSON object; None where there is none.

    True and false are no numbers, nor is text that reads NaN or Infinity. A number in quotes counts, as databases write
    it. When an object has a key twice, the first one counts.

    >>> parse_line('{"n": "3", "n": 4}', "n"), parse_line("1,000", "n"), parse_line("Infinity", "n")
    (Decimal('3'), None, None)
    """
    if _NUMBER.fullmatch(text):
        return Decimal(text)
    if not text.startswith("{"):
        return None
    try:
        fields = json.loads(text, parse_float=str, parse_int=str, object_pairs_hook=_keep_first)
    except (ValueError, RecursionError):
        return None
    value = fields.get(key)
    return Decimal(value) if isinstance(value, str) and _NUMBER.fullmatch(value.strip()) else None


def _keep_first(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the object in which the first of two equal keys counts."""
    return dict(reversed(pairs))
