"""Lines of JSON: plain ones are read by a kernel, the others by the engine, and both read a line alike."""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from lastbit.data._objects import split_objects
from lastbit.data.duckdb.relation import ColumnSelection, connect
from lastbit.data.files.formats import TextFormat
from lastbit.data.files.json_lines import _preserve_numbers, open_json_lines
from lastbit.data.long_texts import DIGEST_LENGTH, LONGEST_TEXT, PREFIX_TEXT, shorten_text

NAMES = ("unit", "item", "a/b", "~0", "cost")
NUMBERS = [
    "0",
    "1",
    "-1",
    "-0",
    "0.0",
    "-0.0",
    "1.0",
    "1.50",
    "12.3400",
    "0.0001",
    "0.00001",
    "0.00010",
    "123456789012345",
    "1234567890123456",
    "12345678901234567",
    "123456789012345678",
    "1234567890123456789",
    "18446744073709551615",
    "18446744073709551616",
    "0.10000000000000000001",
    "0.123456789012345",
    "0.1234567890123456",
    "1e5",
    "1E5",
    "1e-7",
    "1.5e300",
    "1e999",
    "1.",
    "01",
    "00",
    "+1",
    ".5",
    "-",
    "1_0",
    "0x1",
    "-0.5",
    "-0.00001",
    "-0.0001",
    "999999999999999.9",
    "99999999999999.9",
    "9007199254740993",
    "2.675",
    "1000000000000000.0",
    "100000000000000.0",
    "NaN",
    "Infinity",
    "nan",
    "1.0000000000000000000000000",
    "123.0000000000000000000001",
    "5e-324",
    "0.000123456789012345",
    "0.00012345678901234500",
]
TEXTS = [
    '""', '"a"', '"é"', '"日本"', '"a\\"b"', '"\\u00e9"', '"\\ud83d\\ude00"', '"\\ud800"', '"x\\\\"', '"12"', '"1.5"',
    '"null"', '"a', '"\x01"', '"\x7f"', "'a'", '"\\x"', '"{"', '"a,b"', f'"{"y" * LONGEST_TEXT}"',
    f'"{"y" * (LONGEST_TEXT + 1)}"', f'"{PREFIX_TEXT + "a" * (DIGEST_LENGTH - len(PREFIX_TEXT))}"',
]  # fmt: skip
OTHERS = [
    "true", "false", "null", "True", "nul", "tru", "[]", "{}", "[1]", "[1,]", '{"a":1}', '{"a":1,}', "[[[]]]", "",
    '[1, "x", {"unit": 3}]', "[-0.0]", "[1e400]", "[01]", '{"a"}', "{1:2}", "[" * 40 + "]" * 40, '{"unit": 1}',
]  # fmt: skip
KEYS = ['"unit"', '"cost"', '"item"', '"a/b"', '"~0"', '"un\\u0069t"', '"Unit"', '""', '"0"', '"unit', "unit"]
ENDS = ["x", "{}", ",", "}", " {}", "\r", " ", "\x0b"]
BROKEN = ["[1]", "1", '"a"', "", "null", "{", "}", "\r{}", '\r {"unit": 1}']


def write_number(chance: random.Random) -> str:
    text = chance.choice(["", "-"]) + str(chance.randrange(10 ** chance.randrange(1, 20)))
    if chance.random() < 0.7:
        text += "." + "".join(chance.choices("0123456789", k=chance.randrange(1, 20)))
    return text + (f"e{chance.randrange(-400, 400)}" if chance.random() < 0.05 else "")


def write_line(chance: random.Random, *, mild: bool) -> str:
    """A line: mild ones are mostly plain, and of the others every part may be odd."""

    def blank() -> str:
        return chance.choice(["", "", " ", "\t"] if mild else ["", "", "", "", " ", "\t", "\r", "\x0b"])

    def value() -> str:
        choice = chance.random()
        if choice < 0.5:
            return write_number(chance)
        if mild:
            return chance.choice(['"a7"', "null", "true", '[1, 2.5, "x"]', '{"unit": [3]}', "{}", *NUMBERS[:9]])
        return chance.choice(NUMBERS if choice < 0.7 else TEXTS if choice < 0.9 else OTHERS)

    keys = KEYS[:5] if mild else KEYS
    pairs = [
        f"{blank()}{chance.choice(keys)}{blank()}:{blank()}{value()}{blank()}"
        for _ in range(chance.choice([0, 1, 1, 2, 2, 3, 5]))
    ]
    comma = "" if mild or chance.random() < 0.95 else ","
    line = f"{blank()}{{{','.join(pairs)}{comma}}}{blank()}"
    if not mild and chance.random() < 0.1:
        line = chance.choice([line + chance.choice(ENDS), *BROKEN])
    return line


def read(folder: Path, lines: list[str], selection: ColumnSelection, text_format: TextFormat) -> list[Any]:
    path = folder / "visits.jsonl"
    path.write_bytes(b"".join(line.encode() + b"\n" for line in lines))
    return open_json_lines(connect(), path, selection, text_format, str(path)).relation.fetchall()


def read_in_engine(lines: list[str]) -> list[Any]:
    """The values of all lines as the engine has them, with no line read by the kernel; numbers of `cost` last."""
    own = pa.array([line.removesuffix("\r") for line in lines], pa.string())
    table = pa.table({"line": _preserve_numbers(own)})
    keys = [f"/{name.replace('~', '~0').replace('/', '~1')}" for name in NAMES]
    begins = "ltrim(line, chr(32) || chr(9) || chr(13)) ^@ '{'"
    query = f"select unnest([try(json_extract_string(line, {keys!r}))]) as e from lines where {begins}"
    values = ", ".join(f"e[{place + 1}]" for place in range(len(NAMES)))
    with duckdb.connect() as engine:
        engine.register("lines", table)
        return engine.sql(f"select {values}, try_cast(e[5] as double) from ({query}) where e is not null").fetchall()


def shorten(row: tuple[Any, ...]) -> list[Any]:
    return [shorten_text(value) if isinstance(value, str) else value for value in row]


@pytest.mark.parametrize("mild", [True, False])
@pytest.mark.parametrize("seed", range(30 if "LASTBIT_FUZZ" in os.environ else 2))
def test_a_line_has_the_values_that_the_engine_reads(seed: int, mild: bool, tmp_path: Path) -> None:
    chance = random.Random(seed)
    lines = [write_line(chance, mild=mild) for _ in range(2000)]
    expected = [shorten(row) for row in read_in_engine(lines)]
    found = read(tmp_path, lines, ColumnSelection(NAMES[:4], "cost"), TextFormat())
    assert [repr([*row[:4], row[5]]) for row in expected] == [repr([*row]) for row in found]
    texts = read(tmp_path, lines, ColumnSelection(("cost", "unit"), "cost"), TextFormat())
    assert [repr([row[4], row[0], row[5]]) for row in expected] == [repr([*row]) for row in texts]
    block = "".join(f"{line}\n" for line in lines).encode()
    keys = [name.encode() for name in NAMES]
    plain, unusual, *_ = split_objects(block, keys, 4, 10**6, LONGEST_TEXT, DIGEST_LENGTH)
    # Both ways are tried: what each reads is compared above.
    assert plain > (500 if mild else 50)
    assert unusual > 50


def test_numbers_with_a_comma_are_texts(tmp_path: Path) -> None:
    lines = ['{"unit": 1, "cost": "1.234,5"}', '{"unit": 2, "cost": 12}', '{"unit": 3, "cost": "\\u0031,5"}']
    rows = read(tmp_path, lines, ColumnSelection(("unit",), "cost"), TextFormat(comma=True))
    assert rows == [("1", 1234.5), ("2", 12.0), ("3", 1.5)]


def test_what_one_line_says_changes_no_other_line(tmp_path: Path) -> None:
    """Each line alone has the values that it has among all others, wherever a block of the file ends."""
    chance = random.Random(7)
    lines = [write_line(chance, mild=False) for _ in range(60)]
    selection = ColumnSelection(("unit", "item"), "cost")
    alone = [row for line in lines for row in read(tmp_path, [line], selection, TextFormat())]
    together = read(tmp_path, lines, selection, TextFormat())
    assert repr(alone) == repr(together)
    assert len(together) > 10
