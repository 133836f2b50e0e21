"""Several files, patterns, pipes, packings, separators, encodings: the same rows, or a refusal in words."""

from __future__ import annotations

import gzip
import io
import json
import random
import shlex
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet
import pytest

import lastbit as lb
from lastbit import cli
from lastbit.data.files import paths
from lastbit.data.files.lines import LONGEST_LINE
from tests.table_readers import count_rows, make_items, make_rows

HEADER = "unit,item,weight"
ROWS = ["1,flu,2", "2,flu,3", "3,cold,4", "1,cold,5"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(paths, "_PIPE", [])
    Path("items.txt").write_text("flu\ncold\n", encoding="utf-8")
    yield tmp_path
    forget()


def forget() -> None:
    while paths._PIPE:
        paths._PIPE.pop().close()


def write(name: str, rows: list[str] | None = None, header: str = HEADER) -> str:
    Path(name).write_text("\n".join([header, *(ROWS if rows is None else rows), ""]), encoding="utf-8")
    return name


def numbers(*source: str, weights: str | None = None, **options: Any) -> list[Any]:
    items = make_items(
        by=["item"], domain=["items.txt"], weights=weights, bounds=None if weights is None else ("0", "100")
    )
    given: Any = source[0] if len(source) == 1 else list(source)
    return list(count_rows(make_rows(source=given, unit="unit", **options), items).values)


def test_a_name_with_brackets_is_that_file_and_a_pattern_only_where_there_is_none() -> None:
    write("data1.csv", ["8,flu,1"])
    with pytest.raises(lb.DataError, match=r"no file data\[2\]\.csv, and no file whose name fits it as a pattern"):
        numbers("data[2].csv")
    assert numbers("data[1].csv") == [1, 0]
    write("data[1].csv")
    assert numbers("data[1].csv") == [2, 2]
    write("what?.csv", ["9,cold,1"])
    write("whats.csv")
    assert numbers("what?.csv") == [0, 1]
    assert numbers("dat*.csv") == [3, 2]
    pa.parquet.write_table(pa.table({"unit": [1, 2], "item": [5, 5]}), "n[1].parquet")
    pa.parquet.write_table(pa.table({"unit": [1], "item": [5]}), "n1.parquet")
    items = make_items(by=["item"], domain=["5..6"])
    assert count_rows(make_rows(source=["n[1].parquet"], unit="unit"), items).values.tolist() == [2, 0]


def test_several_files_are_one_table() -> None:
    write("a.csv", ROWS[:2])
    write("b.tsv", ["cold\t3\tx", "cold\t1\tx"], header="item\tunit\tmore")
    Path("c.jsonl").write_text('{"unit": 1, "item": "flu"}\n{"unit": "7", "item": "cold"}\n', encoding="utf-8")
    assert numbers("a.csv", "b.tsv", "c.jsonl") == [2, 3]
    assert numbers("a.csv", "b.tsv", where="unit = 1") == [1, 1]
    with pytest.raises(lb.ParameterError, match="a file is named twice"):
        numbers("a.csv", "./a.csv")
    with pytest.raises(lb.ParameterError, match="no column 'item': the table has unit"):
        numbers("a.csv", write("d.csv", [], header="unit,other"))
    pa.parquet.write_table(pa.table({"unit": [1], "item": ["flu"]}), "e.parquet")
    with pytest.raises(lb.ParameterError, match=r"same types in all files: e\.parquet differs from a\.csv"):
        numbers("a.csv", "e.parquet")
    with pytest.raises(lb.ParameterError, match="a database is read alone"):
        numbers("a.csv", "postgresql://host/x")
    pa.parquet.write_table(pa.table({"unit": [2, 3], "item": ["flu", "flu"]}), "f.parquet")
    assert numbers("e.parquet", "f.parquet") == [3, 0]
    for number in range(60):
        write(f"many-{number}.csv", [f"{number},flu,1"])
    assert numbers("many-*.csv") == [60, 0]


def pipe(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    forget()
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(data)))


def test_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = Path(write("a.csv")).read_bytes()
    pipe(monkeypatch, raw)
    assert numbers("-") == [2, 2]
    assert numbers("-", weights="weight") == [5, 9]  # held: it can be read again
    pipe(monkeypatch, gzip.compress(raw))
    assert numbers("-", read_as="csv.gz") == [2, 2]
    pipe(monkeypatch, b'{"unit": 1, "item": "flu"}\n')
    assert numbers("-", "a.csv", read_as="jsonl") == [1, 0]
    pipe(monkeypatch, b"")
    with pytest.raises(lb.ParameterError, match="the first line of standard input must name its columns"):
        numbers("-")
    forget()
    monkeypatch.setattr("sys.stdin", None)
    with pytest.raises(lb.DataError, match="standard input is closed"):
        numbers("-")


def test_a_pipe_is_used_up_by_a_dry_run_and_has_no_name(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    raw = Path(write("a.csv")).read_bytes()
    lb.Ledger("budget.db").create("clinic", epsilon=30)
    command = "top {} --unit row --by item --domain items.txt -k 1 --epsilon 1 --ledger budget.db --dataset clinic {}"
    for source, said in {"-": True, "a.csv -": True, "a.csv": False}.items():
        pipe(monkeypatch, raw)
        assert cli._run(shlex.split(command.format(source, "--dry-run")), debug=False) == 0
        assert ("What came through standard input is used up" in capsys.readouterr().out) == said
        for more in ("", "--dry-run"):
            assert (cli._run(shlex.split(command.format(source, f"--reuse {more}")), debug=False) == 2) == said
            assert ("--reuse needs a table that has a name" in capsys.readouterr().err) == said
    assert lb.Ledger("budget.db").account("clinic").spent == 1


def test_the_password_of_an_address_of_another_database_is_not_shown() -> None:
    with pytest.raises(lb.DataError, match="there is no file mysql") as caught:
        numbers("mysql://anna:hunter2@host/clinic")
    assert "hunter2" not in str(caught.value)


def test_packed_files() -> None:
    raw = Path(write("a.csv")).read_bytes()
    Path("a.csv.gz").write_bytes(gzip.compress(raw[:30]) + gzip.compress(raw[30:]))
    Path("b.CSV.ZST").write_bytes(
        pa.compress(raw[:30], "zstd", asbytes=True) + pa.compress(raw[30:], "zstd", asbytes=True)
    )
    Path("c.jsonl.zst").write_bytes(pa.compress(b'{"unit": 1, "item": "flu"}\n', "zstd", asbytes=True))
    assert numbers("a.csv.gz") == numbers("b.CSV.ZST") == [2, 2]
    assert numbers("c.jsonl.zst") == [1, 0]
    assert numbers("a.csv.gz", "c.jsonl.zst", where="unit = '1'") == [1, 1]


def damages(raw: bytes, packed: bytes) -> dict[str, bytes]:
    return {
        "half": packed[: len(packed) // 2],
        "all but its last byte": packed[:-1],
        "all but its last eight bytes": packed[:-8],
        "another byte inside": packed[: len(packed) // 2] + b"\0\0\0\0" + packed[len(packed) // 2 + 4 :],
        "something after its end": packed + b"garbage",
        "not packed at all": raw,
        "nothing": b"" if packed[:2] != b"\x1f\x8b" else packed[:5],
    }


@pytest.mark.parametrize("ending", ["gz", "zst"])
def test_a_packed_file_that_is_not_whole_is_refused_and_nothing_is_charged(ending: str, capsys: Any) -> None:
    choice = random.Random(1)
    lines = [HEADER, *(f"{number},flu,{choice.random()}" for number in range(60_000)), ""]
    raw = "\n".join(lines).encode()
    packed = gzip.compress(raw, 1) if ending == "gz" else pa.compress(raw, "zstd", asbytes=True)
    lb.Ledger("budget.db").create("clinic", epsilon=3)
    command = f"top a.csv.{ending} --by item --unit unit --domain items.txt -k 1 --epsilon 1"
    for damage, content in damages(raw, packed).items():
        if ending == "zst" and damage in ("another byte inside", "all but its last eight bytes", "nothing"):
            continue  # without a checksum; a byte less is found above, and nothing at all is an empty file
        Path(f"a.csv.{ending}").write_bytes(content)
        assert cli._run(shlex.split(f"{command} --ledger budget.db --dataset clinic"), debug=False) == 2, damage
        shown = capsys.readouterr()
        assert shown.out == ""
        assert f"a.csv.{ending} is not whole: its packing ({ending}) is cut off or damaged." in shown.err
    assert lb.Ledger("budget.db").account("clinic").spent == 0
    Path(f"a.csv.{ending}").write_bytes(packed)
    assert numbers(f"a.csv.{ending}") == [60_000, 0]


def test_a_name_of_a_column_that_is_too_long() -> None:
    write("a.csv", header="unit,item," + "x" * 200_000)
    with pytest.raises(lb.ParameterError, match="name its columns, each in at most 131,072 bytes"):
        numbers("a.csv")


def test_separators() -> None:
    write("a.csv", ["1;flu", '2;"fl;u"', '3;"cold"'], header="unit;item")
    assert numbers("a.csv", separator=";") == [1, 1]
    write("b.txt", ["1\tflu"], header="unit\titem")
    assert (
        numbers("b.txt", separator="tab")
        == numbers("b.txt", separator="\\t")
        == numbers("b.txt", read_as="tsv")
        == [1, 0]
    )
    for wrong in (";;", '"', "\n", "a", "1", "é"):
        with pytest.raises(lb.ParameterError, match="--separator must be one character"):
            numbers("a.csv", separator=wrong)
    for wrong in ("xml", "csv.bz2", "gz", "parquet.gz"):
        with pytest.raises(lb.ParameterError, match="--read-as must be csv"):
            numbers("a.csv", read_as=wrong)
    pa.parquet.write_table(pa.table({"unit": [1], "item": ["flu"]}), "c.bin")
    assert numbers("c.bin", read_as="parquet") == [1, 0]
    for options in ({"separator": ";", "read_as": "parquet"}, {"encoding": "latin-1"}, {"decimal_comma": True}):
        with pytest.raises(lb.ParameterError, match=r"are for text files: c\.bin is none"):
            numbers("c.bin", **options)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "shift_jis", "gb18030", "utf-8", "ISO-8859-15", "koi8-r"])
def test_encodings(encoding: str) -> None:
    word = {"shift_jis": "ソ能", "gb18030": "é表\U0001f600", "koi8-r": "грипп"}.get(encoding, "grippé")
    Path("items.txt").write_text(f"{word}\ncold\n", encoding="utf-8")
    lines = [f"unit,item,{word}", f"1,{word},1", f'2,"{word}",1', "3,cold,1"]
    good = "\r\n".join(lines).encode(encoding)
    Path("a.csv").write_bytes(good)
    assert numbers("a.csv", encoding=encoding) == [2, 1]
    # Bytes that are no text in it take one line away and no other.
    Path("a.csv").write_bytes(good + b"\n4,\x81\n5," + word.encode(encoding) + b",1\n6,\xff\x00,1\n\x80")
    assert numbers("a.csv", encoding=encoding) == [3, 1]


def test_a_long_line_is_left_out_however_its_encoding_grows_or_shrinks() -> None:
    long = "表" * (LONGEST_LINE // 2)  # in gb18030 a million bytes, half as much again in UTF-8
    short = "\U0001f600" * (LONGEST_LINE // 4)  # four bytes in both
    Path("items.txt").write_text(f"{short[:-3]}\ncold\n", encoding="utf-8")
    lines = ["unit,item,weight", f"1,{long},1", f"2,{short[:-3]},1", f"3,{short},1", "4,cold,1"]
    Path("a.csv").write_bytes("\n".join(lines).encode("gb18030"))
    assert numbers("a.csv", encoding="gb18030") == [1, 1]
    shrinks = "ñ" * (LONGEST_LINE // 4 + 5_000)  # four bytes there, two in UTF-8
    Path("items.txt").write_text(f"{shrinks}\ncold\n", encoding="utf-8")
    Path("a.csv").write_bytes(f"unit,item\n1,{shrinks}\n4,cold\n".encode("gb18030"))
    assert numbers("a.csv", encoding="gb18030") == [0, 1]


def test_encodings_that_have_line_feeds_inside_are_refused() -> None:
    for wrong in ("utf-16", "utf-32-le", "utf-7", "rot13", "zlib", "unicode_escape", "idna", "nonsense", "hz"):
        with pytest.raises(lb.ParameterError, match="--encoding must be one in which a line ends with one byte"):
            numbers(write("a.csv"), encoding=wrong)


def test_a_decimal_comma() -> None:
    amounts = ["2,5", "1.234,5", "-1", "+1", "1.5", "12.34,5", "1,2,3", " 3 ", "1e3", "x", "", ",5", "1.2345"]
    write("a.csv", [f'{number};flu;"{amount}"' for number, amount in enumerate(amounts)], header="unit;item;weight")
    options: dict[str, Any] = {"separator": ";", "decimal_comma": True, "weights": "weight"}
    found = {}
    for number, each in enumerate(amounts):
        found[each] = numbers("a.csv", **options, where=f"unit = '{number}'")[0]
    expected = {"2,5": 2.5, "1.234,5": 100, "+1": 1, " 3 ": 3, "1e3": 100}
    assert found == {each: expected.get(each, 0) for each in amounts}
    assert numbers("a.csv", separator=";", decimal_comma=True, where="weight > 2.4 and weight < 1234.6") == [4, 0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--where 'sum(weight) > 3'", "--where is refused: sum looks at all rows."),
        ("--sql 'select item from data limit 1'", "--sql is refused: a limit depends on other rows."),
        ("--bin item 0", "--bin must have a whole width"),
        ("--separator xx", "--separator must be one character"),
        ("--encoding utf-16", "--encoding must be one in which"),
        (
            "--month item --year item",
            "--day, --week, --month, --year, --hour and --weekday must be for different columns",
        ),
    ],
)
def test_options_that_can_never_work_are_refused_in_a_dry_run_too(options: str, message: str, capsys: Any) -> None:
    command = f"top nowhere.csv --by item --domain items.txt -k 1 --epsilon 1 --dry-run {options}"
    assert cli._run(shlex.split(command), debug=False) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert message in shown.err


def test_the_rule_for_text_that_is_no_number_is_said_before_the_release(capsys: Any) -> None:
    write("a.csv")
    commands = {
        "top a.csv --unit unit --by item --domain items.txt -k 1 --weights weight --bounds 0 9 --epsilon 1": (
            "A row whose weight is missing, or is text that is no number, is left out."
        ),
        "mean a.csv --of weight --unit unit --bounds 0 9 --epsilon 1": "Text in weight that is no number is missing.",
    }
    for command, said in commands.items():
        for more in ("--dry-run", ""):
            assert cli._run(shlex.split(f"{command} {more}"), debug=False) == 0
            assert said in " ".join(capsys.readouterr().out.split())


def test_the_options_of_rows_are_part_of_the_question(capsys: Any) -> None:
    write("a.csv")
    write("b.csv")
    lb.Ledger("budget.db").create("clinic", epsilon=30)
    command = (
        "top {} --unit row --by item --domain items.txt -k 1 --epsilon 1 --ledger budget.db --dataset clinic --reuse {}"
    )
    command += " --new-table"
    asked = ["a.csv", "a.csv b.csv", "b.csv a.csv"]
    more = ["", "--where 'unit > 1'", "--where 'unit > 2'", "--decimal-comma", "--year item", "--encoding latin-1"]
    for number, (source, options) in enumerate(
        [*((each, "") for each in asked), *(("a.csv", each) for each in more[1:])]
    ):
        for _ in range(2):
            assert cli._run(shlex.split(command.format(source, options)), debug=False) == 0, capsys.readouterr().err
        assert lb.Ledger("budget.db").account("clinic").spent == number + 1
    capsys.readouterr()
    first = next(entry.question for entry in lb.Ledger("budget.db").history("clinic") if entry.kind == "charge")
    assert set(json.loads(first)["options"]) == {"by", "domain", "k"}
