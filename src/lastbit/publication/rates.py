"""Public numbers that published ones are divided by, such as the residents of a region: read from the study's files."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.exact.numbers import positive
from lastbit.publication.study import Study
from lastbit.questions.answer_view import AnswerView
from lastbit.questions.group_types import group_names
from lastbit.questions.rates import read_sizes
from lastbit.questions.request import Request

_KEYS: Final = frozenset(("table", "column", "per"))


@dataclass(frozen=True)
class PublicRate:
    """A table of public numbers, and per how many of them an answer is said."""

    columns: Mapping[str, list[str]]
    per: str

    def apply(self, view: AnswerView) -> AnswerView:
        """Return the answer divided by the public numbers."""
        return view.rate(self.columns, per=self.per)

    def to_dict(self) -> dict[str, Any]:
        """Return the rate as a certificate has it: with the numbers, and without the file."""
        return {"columns": {name: list(column) for name, column in self.columns.items()}, "per": self.per}


def read_rate(study: Study, typed: object, request: Request) -> PublicRate | None:
    """Return the rate that a question asks for; None where it asks for none.

    It is written as `rate = { table = "residents.csv", column = "residents", per = 1000 }`.
    """
    if typed is None:
        return None
    if not isinstance(typed, Mapping) or not typed.keys() <= _KEYS or not isinstance(typed.get("table"), str):
        raise ParameterError('rate must look like { table = "residents.csv", column = "residents", per = 1000 }.')
    labels = group_names(request.values.get("by"))
    try:
        with open(study.place(typed["table"]), encoding="utf-8-sig", newline="") as file:
            names, *rows = csv.reader(file)
    except (OSError, UnicodeDecodeError, ValueError, csv.Error) as error:
        reason = getattr(error, "strerror", None) or "it is no CSV with a line of names"
        raise ParameterError(f"rate: the table {typed['table']} cannot be read: {reason}.") from None
    wanted = [*labels, *([typed["column"]] if "column" in typed else [name for name in names if name not in labels])]
    missing = [name for name in wanted if name not in names]
    if missing or any(len(row) != len(names) for row in rows):
        raise ParameterError(
            f"rate: the table {typed['table']} must have the columns {', '.join(map(str, wanted))} in every row."
        )
    columns = {str(name): [row[names.index(name)] for row in rows] for name in wanted}
    read_sizes(columns, labels)
    per = positive(typed.get("per", 1000), "per", "It is how many residents a rate is for, such as 1000.")
    return PublicRate(columns, str(per))
