"""Pieces of DuckDB's SQL: numbers and times in text, and long texts in their normal form."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from lastbit.data.duckdb.relation import ColumnSelection
from lastbit.data.long_texts import DIGEST_LENGTH, LONGEST_TEXT, PREFIX, PREFIX_END, PREFIX_TEXT
from lastbit.data.sql import quote_identifier

COMMA: Final = r"[+-]?([0-9]+(,[0-9]+)?([eE][+-]?[0-9]+)?|[0-9]{1,3}([.][0-9]{3})+(,[0-9]+)?)"
"""A number with a comma before its fraction, and perhaps a point between thousands, or a power of ten as in 1e+05."""


def parse_number(text: str, *, comma: bool = False) -> str:
    """Return the float that a text is, in SQL; null where it is none.

    >>> parse_number("cost")
    'TRY_CAST(cost AS DOUBLE)'
    """
    if comma:
        plain = f"replace(replace(trim({text}), '.', ''), ',', '.')"
        text = f"CASE WHEN regexp_full_match(trim({text}), '{COMMA}') THEN {plain} END"
    return f"TRY_CAST({text} AS DOUBLE)"


def parse_timestamp(text: str) -> str:
    """Return the time that a text in ISO form is, in SQL; null where it is none. Its zone is passed over.

    The engine does so only behind seconds.
    """
    zone = r"([T ][0-9]{2}:[0-9]{2})(Z|[+-][0-9]{2}(:?[0-9]{2})?)$"
    return f"TRY_CAST(regexp_replace({text}, '{zone}', '\\1') AS TIMESTAMP)"


def select_columns(selection: ColumnSelection, expressions: Sequence[str], *, comma: bool = False) -> str:
    """Return the SQL of columns of text: as many expressions as names. Weights that are no number are null."""
    chosen = [
        f"{shorten_varchar(text)} AS {quote_identifier(name)}"
        for text, name in zip(expressions, selection.columns, strict=False)
    ]
    if selection.weights is not None:
        chosen.append(f"{parse_number(expressions[-1], comma=comma)} AS {quote_identifier(selection.weights)}")
    return ", ".join(chosen)


def shorten_blob(data: str) -> str:
    """Return bytes in their normal form, in the SQL of DuckDB."""
    first, behind = (f"CAST('{text.decode()}' AS BLOB)" for text in (PREFIX, PREFIX_END))
    like = f"octet_length({data}) = {DIGEST_LENGTH} AND {data} >= {first} AND {data} < {behind}"
    form = f"encode('{PREFIX_TEXT}' || sha256({data}))"
    return f"CASE WHEN octet_length({data}) > {LONGEST_TEXT} OR ({like}) THEN {form} ELSE {data} END"


def shorten_varchar(text: str) -> str:
    """Return a text in its normal form, in the SQL of DuckDB."""
    like = f"strlen({text}) = {DIGEST_LENGTH} AND starts_with({text}, '{PREFIX_TEXT}')"
    form = f"'{PREFIX_TEXT}' || sha256({text})"
    return f"CASE WHEN strlen({text}) > {LONGEST_TEXT} OR ({like}) THEN {form} ELSE {text} END"
