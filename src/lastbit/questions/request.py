"""A request: a kind of question with its options, parsed. It knows its own spelling as a command and in Python."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.output.addresses import public_address
from lastbit.output.words import Words, article
from lastbit.questions.column_facts import ColumnFacts
from lastbit.questions.domain import Domain
from lastbit.questions.domains import assign_domains
from lastbit.questions.group_types import group_columns, imply_domains, puts_each_in_one
from lastbit.questions.item_options import ItemOptions
from lastbit.questions.join_types import describe_joins
from lastbit.questions.option import REQUIRED, Option
from lastbit.questions.refusals import refuse_in_words_of_options
from lastbit.questions.row_options import RowOptions
from lastbit.questions.row_units import ROW, require_unit
from lastbit.questions.shared_options import SOURCE
from lastbit.questions.spelling import Reader, spell_notes
from lastbit.questions.unit_types import describe_combination, join_names, name_combination
from lastbit.questions.value_types import quote_literal
from lastbit.release import EACH_ROW

if TYPE_CHECKING:
    from lastbit.questions.kind import Kind
    from lastbit.questions.question import Question
    from lastbit.questions.reading import Reading
    from lastbit.questions.within import Purchase

_DISPLAY_OPTIONS: Final = (
    "reuse",
    "override",
    "json",
    "plot",
    "html",
    "csv",
    "parquet",
    "methods",
    "dry_run",
    "people",
)
"""Options that change how a release is shown, and not the question."""
_NO_COMMAND: Final = (
    "# A command cannot name these items: some are empty, have blanks at their ends, or have several lines. Use Python."
)


@dataclass(frozen=True, eq=False)
class Request:
    """The parsed options of one question. Nothing in it is private, and passwords are not shown."""

    kind: Kind
    values: Mapping[str, Any]
    face: Reader = "python"
    """Where it was asked, or that its answer is for readers of a report: they cannot ask."""
    frame: Any = None
    """The table of a library that is asked, in place of a file: its columns and their declared types are public."""
    each_row: bool = False
    """Whether somebody insists that each row is one person. The question is the same as without a unit."""
    purchase: Purchase | None = None
    """What an accuracy costs and promises, where it chose the cost; None where a person typed the cost."""

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @cached_property
    def rows(self) -> RowOptions:
        """Which rows are read."""
        return RowOptions.of(self.values)

    @cached_property
    def items(self) -> ItemOptions:
        """Which items are counted."""
        return ItemOptions.of(self.values, self.rows.columns_of_person)

    @property
    def each_in_one(self) -> bool:
        """Whether each person is in one group, because of what the groups are made of."""
        return "by" in self.values and puts_each_in_one(group_columns(self.values), self.rows.columns_of_person)

    @cached_property
    def words(self) -> Words:
        """What people and rows are called. Where nobody named the unit each row is one, and people are called rows.

        Where several columns are the unit, what is counted are their combinations.

        >>> from lastbit.questions.kinds import KINDS
        >>> KINDS["count"].parse({"source": "v.csv", "unit": "patient", "noun": "patient,patients"}).words.people
        'patients'
        """
        row, rows = self.values.get("row_noun") or ("row", "rows")
        if self.values.get("split") is not None:
            row, rows = "item", "items"
        if isinstance(self.values.get("unit"), tuple) and self.values.get("noun") is None:
            return name_combination(self.rows.unit_names, (row, rows))
        person, people = self.values.get("noun") or ("person", "people")
        # Person is the word for whatever is protected; the name of another column would be taken for what is in it.
        own = {*self.rows.unit_names} & {person, people} - {"person", "people"}
        if isinstance(self.values.get("unit"), tuple) and own:
            raise ParameterError(
                f"--noun names what is counted, which are combinations of {join_names(self.rows.unit_names)}: got "
                f"{person!r}, one of the columns. Leave it out, or write --noun {'-'.join(self.rows.unit_names)}. "
                "Nothing was read."
            )
        if self.values.get("unit") is None and self.values.get("counts") is None and "unit" in self.values:
            return Words(row, rows, row, rows)
        return Words(person, people, row, rows)

    def spell(self, notes: Sequence[str]) -> list[str]:
        """Return sentences with their options in the words of the face that asks."""
        return spell_notes(notes, self.kind.options, self.face)

    @property
    def facts(self) -> ColumnFacts:
        """What is publicly known about the columns."""
        return self.values.get("columns") or ColumnFacts({})

    @property
    def level(self) -> str:
        """The probability that an interval holds."""
        return str(self.values["level"])

    @property
    def cost(self) -> dict[str, Any]:
        """The cost that a person asks for, as mechanisms take it."""
        epsilon, rho = self.values["epsilon"], self.values["rho"]
        if (epsilon is None) == (rho is None):
            raise ParameterError(
                "exactly one of --epsilon, --rho and --within must be given. Write --epsilon 1, or --rho 1/100, or "
                "--within 15 for the least epsilon with this accuracy."
            )
        return {"epsilon": epsilon} if rho is None else {"rho": rho}

    @property
    def asks_several(self) -> bool:
        """Whether the question is about several columns of numbers."""
        return self.kind.name in ("sum", "mean") and isinstance(self.values.get("of"), tuple)

    @property
    def typed_domains(self) -> tuple[Domain, ...]:
        """The domains that somebody typed, with the names of their columns, in the order of the columns."""
        return _with_columns(self.values.get("domain") or (), self.values)

    @cached_property
    def question(self) -> Question:
        """The question, built once. A question on a table of rows says who is protected."""
        with refuse_in_words_of_options():
            question = self.kind.build(self)
        require_unit(self.values, each_row=self.each_row)
        notes = [*self._row_notes(question.reading), *([EACH_ROW] if self.each_row else [])]
        most = self.rows.most_units
        if self.rows.unit_parts:
            costs = [] if most is None else [question.mechanism.cost]
            notes += describe_combination(self.rows.unit_names, self.words, most, *costs)
        question = replace(question, notes=[*question.notes, *notes]) if notes else question
        return question if most is None else question.of_groups(most)

    def _row_notes(self, reading: Reading[Any] | None) -> Iterator[str]:
        """Yield what a row is, what columns of people's rows are, and what is public of other tables."""
        split, rows = self.values.get("split"), self.rows
        if split is not None:
            row, _ = self.values.get("row_noun") or ("row", "rows")
            yield (
                f"Items of {split[0]} count one by one: {article(row)} {row} counts once for each of its items, in "
                "sums, totals and numbers of items too."
            )
        for name, text in ({} if reading is None else reading.rows.lets_for(reading.columns)).items():
            yield f"{name} is {' '.join(text.split())}, of the {self.words.rows} of one {self.words.person}."
        yield from describe_joins(rows.join, rows.on, rows.unit_names, self.words)

    @cached_property
    def canonical(self) -> Request:
        """The same request in the words of the grammar: two spellings of one question are equal in them."""
        return self if self.kind.respell is None else self.kind.respell(self)

    def change(self, **values: Any) -> Request:
        """Return the same request with other values of some options."""
        known = {option.name: option for option in self.kind.options}
        parsed = {name: known[name].parse(value, "python") for name, value in values.items()}
        return replace(self, values={**self.values, **parsed})

    def narrow(self, where: str) -> Request:
        """Return the same request about fewer rows: only those for which this condition is true too.

        >>> from lastbit.questions.kinds import KINDS
        >>> KINDS["count"].parse({"source": "v.csv", "where": "age > 60 or ill"}).narrow("agreed")["where"]
        '(agreed) and (age > 60 or ill)'
        """
        from lastbit.data.query.parsing import join_conditions

        own = self.values["where"]
        return replace(self, values={**self.values, "where": join_conditions(where, *([] if own is None else [own]))})

    @property
    def explicit_options(self) -> Iterator[tuple[Option, Any]]:
        """The options that do not have their defaults."""
        for option in self.kind.options:
            value = self.values[option.name]
            if value is not None and value is not REQUIRED and value != option.default:
                yield option, value

    @property
    def command(self) -> str:
        """The command that asks this question.

        >>> from lastbit.questions.kinds import KINDS
        >>> options = {"source": "a b.csv", "by": "item", "domain": ["flu", "cold"], "k": 2, "epsilon": "1/2"}
        >>> KINDS["top"].parse(options).command
        "lastbit top 'a b.csv' --by item --domain flu,cold --epsilon 1/2 -k 2"
        """
        files: list[str] = []
        words = ["lastbit", self.kind.name]
        for option, value in self._public_options:
            if option.name != "domain":
                words += map(_as_argument, value) if option is SOURCE else option.arguments(value)
                continue
            for domain in value:
                word = domain.word
                if word is None:
                    if not all(map(_fits_a_line, domain.lines)):
                        return _NO_COMMAND
                    word = f"items-{len(files) + 1}.{'csv' if domain.columns else 'txt'}"
                    files.append(f"printf '%s\\n' {shlex.join(domain.lines)} > {word}")
                words += [option.flag, word]
        return "\n".join([*files, shlex.join(words)])

    @property
    def about(self) -> str:
        """The question in the words of a command, without its cost, for the books."""
        words = [self.kind.name]
        for option, value in self._public_options:
            if option.part not in ("table", "question"):
                continue
            if option.name == "domain":
                short = [domain.text or f"{len(domain.items):,} items" for domain in value]
                words += [word for text in short for word in (option.flag, text)]
            else:
                words += value if option is SOURCE else option.arguments(value)
        return shlex.join(words)

    @property
    def python(self) -> str:
        """The program that asks this question.

        >>> from lastbit.questions.kinds import KINDS
        >>> print(KINDS["count"].parse({"source": "visits.csv", "unit": "patient", "epsilon": 1}).python)
        import lastbit as lb
        <BLANKLINE>
        release = lb.ask(
            "count",
            "visits.csv",
            unit="patient",
            epsilon="1",
        )
        print(release)
        """
        lines = [f"    {quote_literal(self.kind.name)},"]
        for option, value in self._public_options:
            if option is SOURCE:
                lines += [f"    {quote_literal(source)}," for source in value]
            else:
                lines.append(f"    {option.name}={quote_literal(option.type.plain(value))},")
        return "\n".join(["import lastbit as lb", "", "release = lb.ask(", *lines, ")", "print(release)"])

    @property
    def _public_options(self) -> Iterator[tuple[Option, Any]]:
        """The options that a person would type again, without passwords."""
        typed = replace(self, values={**self.values, "unit": ROW}) if self.each_row else self
        for option, value in typed.explicit_options:
            if option.name in _DISPLAY_OPTIONS or (option.name == "columns" and not value.display):
                continue
            if option.name == "source":
                yield option, tuple(map(public_address, value))
            elif option.name == "ledger":
                yield option, public_address(value)
            elif option.name == "domain":
                yield option, self.typed_domains
            else:
                yield option, value


def _with_columns(domains: Sequence[Domain], values: Mapping[str, Any]) -> tuple[Domain, ...]:
    """Return the domains with the names of their columns, in the order of the columns."""
    if len(domains) == 1 and domains[0].columns:
        return (replace(domains[0], column=", ".join(domains[0].columns)),)
    try:
        assigned = assign_domains(group_columns(values), domains, imply_domains(values))
    except ParameterError:  # whoever asks this question is told so
        return tuple(domains)
    typed = {id(domain.items) for domain in domains}
    return tuple(domain for domain in assigned.values() if id(domain.items) in typed)


def _as_argument(source: str) -> str:
    """Return a source that a command does not take for an option."""
    return f"./{source}" if source.startswith("-") and source != "-" else source


def _fits_a_line(item: str) -> bool:
    """Return whether a file of items can have this one."""
    return bool(item) and item == item.strip() and not {"\n", "\r", "\0", "\ufeff"} & set(item)
