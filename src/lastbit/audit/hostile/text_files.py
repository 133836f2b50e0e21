"""Hostile lines for text files. Each list holds all lines of one unit, as bytes without the end of the line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from lastbit.audit.hostile.kinds import values
from lastbit.errors import ParameterError

_SEPARATORS: Final = {"csv": ",", "tsv": "\t"}

_LONG: Final = 3_000_000
"""Longer than the lines that most readers of text accept by default."""


def lines(
    kind: str, columns: Sequence[str], unit: str, item: str, *, key: str = "stranger", known: str = "flu"
) -> Iterator[list[bytes]]:
    """Yield lists of lines that one hostile unit may bring to a text file with these columns.

    kind: "csv", "tsv" or "json" (one object on each line).
    columns: the names in the header, in order. `unit` and `item` are two of them, the other columns are weights.
    key, known: the unit's key, which no unit of the table has, and an item of the domain.

    >>> next(lines("csv", ["patient", "diagnosis"], "patient", "diagnosis"))
    [b'stranger,"flu"x']
    """
    if kind not in (*_SEPARATORS, "json"):
        raise ParameterError(f'kind must be "csv", "tsv" or "json": got {kind!r}.')
    for name in (unit, item):
        if name not in columns:
            raise ParameterError(f"unit and item must be columns: got {name!r}. The columns are {', '.join(columns)}.")
    ordinary = {name: key if name == unit else known if name == item else "1" for name in columns}
    yield from (_json_lines if kind == "json" else _delimited_lines)(kind, ordinary, unit, item)


def _delimited_lines(kind: str, ordinary: dict[str, str], unit: str, item: str) -> Iterator[list[bytes]]:
    separator = _SEPARATORS[kind]

    def line(**changes: str) -> bytes:
        return separator.join({**ordinary, **changes}.values()).encode("utf-8", "surrogatepass")

    known = ordinary[item]
    quoted = [
        f'"{known}"x',
        f'"{known}',
        f'{known}"',
        f'"{known}""',
        f'""{known}""',
        '"',
        '""',
        '"""',
        '"\\"',
        f"'{known}",
    ]
    returns = [f"{known}\r", f"\r{known}", f"{known[0]}\r{known[1:]}", "\r", f'"{known}\r', f"{known}\r\r"]
    for text in (*quoted, *returns):
        yield [line(**{item: text})]
        yield [line(**{item: text})] * 2
        yield [line(**{unit: text.replace(known, ordinary[unit])})]
    for text in values("text", "broken text"):
        if "\n" not in text and separator not in text:
            yield [line(**{item: text})]
            yield [line(**{item: '"' + text.replace('"', '""') + '"'})]
    for name in ordinary.keys() - {unit, item}:
        for number in (
            "",
            "x",
            "nan",
            "-nan",
            "inf",
            "-inf",
            "1e400",
            "-1e400",
            "1e-400",
            "9" * 400,
            "0x1",
            "1_0",
            "１",
            '"1',
            "-0",
        ):
            yield [line(**{name: number})]
    whole, ends = line(), separator.encode()
    for raw in (
        b"",
        b" ",
        b"\xff",
        b"\x00",
        b"\xef\xbb\xbf",
        b"#",
        b"\\",
        b"\x1a",
        b"\x80",
        b"\xed\xa0\x80",
        b"\xff\xfe\x00",
    ):
        yield [raw]
        yield [raw + whole]
        yield [whole + raw]
    yield [whole + ends]
    yield [whole + ends * 500]
    yield [whole.rsplit(ends, 1)[0]]
    yield [ends * 10]
    yield [line(**{item: "x" * _LONG})]
    yield [line(**{item: '"' + "x" * _LONG})]
    yield [whole] * 1_000


def _json_lines(kind: str, ordinary: dict[str, str], unit: str, item: str) -> Iterator[list[bytes]]:
    def line(**changes: Any) -> bytes:
        return json.dumps({**ordinary, **changes}).encode()

    whole, known = line(), ordinary[item]
    for raw in (
        b"5",
        b"null",
        b"true",
        b'"flu"',
        b"1e999",
        b"[]",
        b"{}",
        b"[1]",
        b"[" + whole + b"]",
        b"NaN",
        b"-Infinity",
    ):
        yield [raw]
    for raw in (
        b"",
        b" ",
        b"{",
        b"}",
        b"[",
        b'"',
        b"\\",
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"//",
        b"\r",
        b"x",
        b"\xed\xa0\x80",
    ):
        yield [raw]
        yield [raw + whole]
        yield [whole + raw]
    yield [whole + whole]
    yield [whole + b"," + whole]
    yield [whole.replace(b"{", b"[").replace(b"}", b"]")]
    yield [json.dumps({"other": 1}).encode()]
    yield [json.dumps({f"key {place}": place for place in range(500)}).encode()]
    yield [line(**{f"key {place}": place for place in range(500)})]
    yield [json.dumps({name.upper(): value for name, value in ordinary.items()}).encode()]
    # The same name twice in one object.
    yield [whole[:-1] + b', "' + item.encode() + b'": "other"}', whole]
    yield [b"[" * 2_000 + b"]" * 2_000]
    yield [b"[" * 200_000]
    yield [whole.replace(f'"{known}"'.encode(), b'{"a":' * 500 + b"1" + b"}" * 500)]
    for escape in (
        b'"\\ud800"',
        b'"\\udfff\\ud800"',
        b'"\\u0000"',
        b'"\\x"',
        b'"\\u12"',
        b'"\xff"',
        b'"\xed\xa0\x80"',
        b'"\t"',
        b'"flu',
    ):
        yield [whole.replace(f'"{known}"'.encode(), escape)]
    for value in (None, 5, -0.0, 1.5, True, [], [known], {}, {known: 1}, 10**400, 1 << 64, *values("text")):
        yield [line(**{item: value})]
    for value in (None, 7_770_777, 1.5, True, [], {}, [1], {"a": 1}, 1 << 64, *values("broken text")):
        yield [line(**{unit: value})]
    for name in ordinary.keys() - {unit, item}:
        for value in (
            None,
            "x",
            "1",
            True,
            [],
            {},
            10**400,
            -(10**400),
            1 << 63,
            1e308,
            "nan",
            float("nan"),
            float("inf"),
        ):
            yield [line(**{name: value})]
    yield [line(**{item: "x" * _LONG})]
    yield [line(**{item: "x" * 20_000_000})]
    yield [whole] * 1_000
