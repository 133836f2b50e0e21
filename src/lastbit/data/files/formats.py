"""How a text file is written: its format, its packing, its separator, its encoding, its numbers: all public."""

from __future__ import annotations

import codecs
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Final

from lastbit.errors import ParameterError

SEPARATORS: Final = {".csv": ",", ".tsv": "\t"}
JSON_LINES: Final = (".jsonl", ".ndjson")
PACKINGS: Final = (".gz", ".zst")

_ENCODINGS: Final = (
    "utf-8 ascii iso8859-1 cp1252 gbk gb2312 gb18030 big5 shift_jis cp932 euc_jp euc_kr cp949 tis-620 koi8-r koi8-u "
    "mac-roman cp437 cp850 cp852 cp866"
)
"""Besides the families: those in which a line feed is one byte and part of no other character."""
_FAMILIES: Final = ("iso8859-", "cp125")


@dataclass(frozen=True)
class TextFormat:
    """What a person says about a text file, where its name does not say it.

    >>> TextFormat(read_as="csv.gz").endings("export")
    ('.csv', '.gz')
    >>> TextFormat(separator=";").endings("prices.txt")
    ('.csv', '')
    """

    separator: str | None = None
    encoding: str = "utf-8"
    comma: bool = False
    """Whether a comma stands before the fraction of a number."""
    read_as: str | None = None

    def __post_init__(self) -> None:
        if self.separator is not None:
            plain = {"tab": "\t", "\\t": "\t"}.get(self.separator, self.separator)
            if len(plain) != 1 or not plain.isascii() or plain.isalnum() or plain in '"\r\n\0':
                raise ParameterError(
                    f"--separator must be one character such as ';' or tab: got {self.separator!r}. It is neither a "
                    "letter, a digit, a quote nor the end of a line."
                )
            object.__setattr__(self, "separator", plain)
        object.__setattr__(self, "encoding", _check_encoding(self.encoding))
        if self.read_as is not None and self._split_endings(f".{self.read_as}")[0] is None:
            raise ParameterError(
                f"--read-as must be csv, tsv, jsonl or parquet, or packed, as in csv.gz or csv.zst: got {self.read_as}."
            )

    @property
    def is_plain(self) -> bool:
        """Whether nothing is said: files of other kinds take nothing else."""
        return self == TextFormat()

    def endings(self, name: str) -> tuple[str | None, str]:
        """Return the ending of a file that says its format, None where its first bytes must say it; and its packing."""
        if self.read_as is not None:
            return self._split_endings(f".{self.read_as}")
        ending, packing = self._split_endings(name)
        if name == "-" or (ending is None and self.separator is not None):
            return ".csv", packing
        return ending, packing

    @staticmethod
    def _split_endings(name: str) -> tuple[str | None, str]:
        path = PurePath(name.lower() if not name.startswith(".") else f"x{name.lower()}")
        packing = path.suffix if path.suffix in PACKINGS else ""
        suffix = PurePath(path.stem).suffix if packing else path.suffix
        known = suffix in SEPARATORS or suffix in JSON_LINES or (suffix == ".parquet" and not packing)
        return (suffix if known else None), packing


def _check_encoding(name: str) -> str:
    """Return Python's name of an encoding in which a line feed is one byte, and means nothing else."""
    try:
        known = codecs.lookup(name).name
    except LookupError:
        known = ""
    if known in _ENCODINGS.split() or known.startswith(_FAMILIES):
        return known
    raise ParameterError(
        f"--encoding must be one in which a line ends with one byte, such as utf-8, latin-1 or cp1252: got {name}. "
        "Write the file anew in UTF-8, for instance with: iconv -f UTF-16 -t UTF-8"
    )


def detect_format(path: Path) -> str:
    """Return "parquet", "sqlite" or "duckdb" by the first bytes of a file; refuse any other."""
    suffix = (Path(path.stem) if path.suffix.lower() in PACKINGS else path).suffix.lower()
    if suffix == ".json":
        # By its name alone: the first byte may already be somebody's.
        raise ParameterError(
            f"{path} must be JSON lines: in one long list a row that is broken breaks all others. "
            "Write one object in each line and name the file .jsonl, for instance with: jq -c '.[]'"
        )
    with path.open("rb") as file:
        start = file.read(16)
    if start.startswith(b"PAR1"):
        return "parquet"
    if start.startswith(b"SQLite format 3\0"):
        return "sqlite"
    if start[8:12] == b"DUCK":
        return "duckdb"
    raise ParameterError(
        f"{path} must be CSV, TSV, Parquet, JSON lines, or a DuckDB or SQLite file. "
        "Name text files .csv, .tsv or .jsonl, or say --read-as csv."
    )
