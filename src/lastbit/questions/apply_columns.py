"""What `--columns` knows, put into the options of a question that nobody typed; a contradiction is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from lastbit.errors import ParameterError
from lastbit.questions.column_facts import ColumnFacts
from lastbit.questions.domain import Domain
from lastbit.questions.domains import assign_domains, list_combinations
from lastbit.questions.group_types import PERIODS, TIMES, add_columns, group_columns
from lastbit.questions.list_types import AUTO
from lastbit.questions.number_types import ColumnBounds
from lastbit.questions.option import Face, Option

_SELECTIONS: Final = ("top", "above", "choose", "measure")
"""Questions whose noise does not fall with a bound on the items of a person, where the items are listed."""
_READ: Final = (
    "by",
    "domain",
    "edges",
    "bin",
    *TIMES,
    "discover",
    "of",
    "weights",
    "bounds",
    "one_each",
    "most_items",
    "in_each",
    "different",
)


def apply_columns(kind: str, options: Mapping[str, Option], values: Mapping[str, Any], face: Face) -> dict[str, Any]:
    """Return the options with what is known about the columns that they name. What is typed stays.

    With `override` what is typed may contradict what is known.
    """
    facts: ColumnFacts = options["columns"].parse(values["columns"], face)
    typed = {name: options[name].parse(values.get(name), face) for name in _READ if name in options}
    typed["by"] = typed.get("by") if isinstance(typed.get("by"), tuple) else ()
    filling = _Filling(facts, typed, override=values.get("override") is True)
    if "by" in options:
        filling.fill_groups(group_columns(add_columns(typed)), can_discover="discover" in options)
        rows = values.get("rows") is True or values.get("per") == "row" or values.get("most_rows") is not None
        listed = kind in _SELECTIONS and not filling.values.get("discover") and typed.get("in_each") is None
        if "most_items" in options and not rows and not listed:
            filling.fill_bound(values, one_each="one_each" in options)
    if "bounds" in options:
        of = typed.get("of") or typed.get("weights")
        if isinstance(of, tuple):
            filling.fill_all_bounds(of)
        else:
            filling.fill_bounds(of)
    return {**values, **filling.values, "columns": facts}


class _Filling:
    """The options that facts say, beside those that are typed."""

    def __init__(self, facts: ColumnFacts, typed: Mapping[str, Any], *, override: bool) -> None:
        self.facts, self.typed, self.override = facts, typed, override
        self.values: dict[str, Any] = {}

    def fill_groups(self, by: tuple[str, ...], *, can_discover: bool) -> None:
        """Fill in the lists, the edges, the periods and what is to be discovered."""
        typed_domains = list_combinations(self.typed.get("domain") or (), by)
        if typed_domains and typed_domains[0].columns:
            self._fill_readings(by)
            return
        known = {column: Domain(()) for column in by if self.facts[column]}
        named = assign_domains(by, typed_domains, known)
        domains = {column: domain for column, domain in named.items() if domain.items}
        edges, wanted = dict(self.typed.get("edges") or ()), self.typed.get("discover")
        discover = [] if wanted in (None, True) else list(wanted)
        for column in by:
            facts, typed = self.facts[column], domains.get(column)
            if "values" in facts:
                if column in edges or wanted is True or column in discover:
                    self._refuse(column, "values")
                elif typed is None:
                    domains[column] = facts["values"]
                elif typed != facts["values"]:
                    self._refuse(column, "values")
            elif "edges" in facts:
                if typed is not None or edges.get(column, facts["edges"]) != facts["edges"]:
                    self._refuse(column, "edges")
                elif column not in self._times:
                    edges[column] = facts["edges"]
            elif "every" in facts:
                self._fill_periods(column, facts, domains)
            elif facts.get("discover") and can_discover and column != self.typed.get("different"):
                if typed is not None:
                    self._refuse(column, "discover")
                elif wanted is not True and column not in discover:
                    discover.append(column)
        if edges:
            self.values["edges"] = edges
        if domains:
            self.values["domain"] = domains
        if discover:
            self.values["discover"] = discover

    def _fill_readings(self, by: tuple[str, ...]) -> None:
        """Fill in how columns are read whose combinations are listed: edges and periods."""
        edges = {column: self.facts[column]["edges"] for column in by if "edges" in self.facts[column]}
        if edges:
            self.values["edges"] = {**dict(self.typed.get("edges") or ()), **edges}
        self.values |= {self.facts[column]["every"]: column for column in by if "every" in self.facts[column]}

    @property
    def _times(self) -> dict[str, str]:
        return {self.typed[unit]: unit for unit in TIMES if self.typed.get(unit) is not None}

    def _fill_periods(self, column: str, facts: Mapping[str, Any], domains: dict[str, Domain]) -> None:
        from lastbit.data.duckdb.bins import Periods

        every = facts["every"]
        if self._times.get(column, every) != every:
            self._refuse(column, "every")
            return
        self.values[every] = column
        if "from" in facts and every in PERIODS:
            labels = Periods.of(every, (facts["from"], facts["to"])).labels
            listed = Domain(labels, f"{labels[0]}..{labels[-1]}")
            if domains.setdefault(column, listed) != listed:
                self._refuse(column, "from and to")

    def fill_bound(self, values: Mapping[str, Any], *, one_each: bool) -> None:
        """Fill in how many groups of each person count, where every column says it."""
        within = self.typed.get("in_each")  # then a person counts in so many of its groups
        by = group_columns(add_columns({**self.typed, **self._parsed_readings})) if within is None else (within,)
        most = self.facts.bound(by) if by else None
        if most is None:
            return
        typed = 1 if self.typed.get("one_each") else self.typed.get("most_items")
        if typed is None and values.get("most_items") is None:
            self.values |= {"one_each": True} if most == 1 and one_each else {"most_items": most}
        elif typed != most:
            self._refuse(", ".join(by), "one_each or most_items")

    @property
    def _parsed_readings(self) -> dict[str, Any]:
        """What is filled in of how columns are read, in the form of parsed options."""
        edges = self.values.get("edges")
        return {} if edges is None else {"edges": tuple(edges.items())}

    def fill_bounds(self, column: str | None) -> None:
        """Fill in the bounds of the column of numbers."""
        known = None if column is None else self.facts[column].get("bounds")
        typed = self.typed.get("bounds")
        if known is None or column is None:
            return
        if not isinstance(typed, tuple):
            self.values["bounds"] = known
        elif typed != known:
            self._refuse(column, "bounds")

    def fill_all_bounds(self, columns: tuple[str, ...]) -> None:
        """Fill in the bounds of each of several columns of numbers. A pair that is typed without a name is for all."""
        typed, known = self.typed.get("bounds"), {column: self.facts[column].get("bounds") for column in columns}
        own = dict(typed.pairs) if isinstance(typed, ColumnBounds) else {}
        if isinstance(typed, tuple):
            own = dict.fromkeys(columns, typed)
        for column, bounds in known.items():
            if bounds is None:
                continue
            if not isinstance(own.get(column), tuple):
                own[column] = bounds
            elif own[column] != bounds:
                self._refuse(column, "bounds")
        if typed == AUTO:
            own = {**dict.fromkeys(columns, typed), **own}
        if own:
            self.values["bounds"] = own

    def _refuse(self, column: str, fact: str) -> None:
        if not self.override:
            raise ParameterError(
                f"the question contradicts what --columns says of {column}: its {fact}. Leave out what is typed, or "
                "add --override, which lets it stand. Nothing was read."
            )
