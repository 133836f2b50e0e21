"""A kind of question: its name, its options, and how a request of it is parsed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.questions.apply_columns import apply_columns
from lastbit.questions.domain import Domain
from lastbit.questions.domains import list_combinations
from lastbit.questions.group_types import PERIODS, READINGS, add_columns, group_columns, split_groups
from lastbit.questions.number_types import ColumnBounds, assign_bounds
from lastbit.questions.old_words import choose_limit, choose_weights
from lastbit.questions.option import OWNER, Face, Option, parse_options
from lastbit.questions.request import Request
from lastbit.questions.row_units import takes_rows
from lastbit.questions.spelling import spell_notes

if TYPE_CHECKING:
    from lastbit.questions.question import Question

_STAND_INS: Final[dict[str, Any]] = {
    "source": (), "by": ("item",), "of": "number", "threshold": "0", "at": ("1/2",),
}  # fmt: skip
"""What a plan takes for required options that change no accuracy."""


@dataclass(frozen=True)
class Kind:
    """A kind of question: its name, its options, and the function that builds a question of a request."""

    name: str
    options: tuple[Option, ...]
    build: Callable[[Request], Question]
    summary: str
    """One line, for lists."""
    examples: tuple[str, ...] = ()
    """Commands, without `lastbit` in front."""
    canonicalize: Callable[[dict[str, Any]], tuple[str, dict[str, Any]]] | None = None
    """The name and the facts of the same question in its other spelling, where it has one."""
    respell: Callable[[Request], Request] | None = None
    """The same request in the words of the grammar, where this kind is an old word for another."""

    @property
    def display_options(self) -> tuple[Option, ...]:
        """The options that say how a release is shown, whoever looks at it: they cost nothing, at any time."""
        return tuple(option for option in self.options if option.part == "output" and "service" in option.faces)

    def explain(self, option: Option, face: Face) -> str:
        """Return the help of an option in the words of a face, without advice about options that it does not have.

        >>> from lastbit.questions.kinds import KINDS
        >>> top = KINDS["top"]
        >>> form = next(option for option in top.options if option.name == "form")
        >>> top.explain(form, "page").partition(":")[0]
        'With “A set without ranks”'
        """
        text = option.server_help if option.server_help and face not in OWNER else option.help
        return " ".join(spell_notes([text], self.options, face))

    @property
    def help(self) -> str:
        """What the question finds, in a few sentences."""
        return self.build.__doc__ or ""

    def parse(
        self, values: Mapping[str, Any], face: Face = "python", fixed: Mapping[str, Any] | None = None
    ) -> Request:
        """Return the request with these options; an option that is not given has its default. No row is read.

        `fixed` are options that the owner of the table has set. Whoever asks a server cannot change them. `by` may be
        a mapping from columns to their values.
        """
        values = self._apply_columns(split_groups(values), face)
        return self._request(parse_options(self._options(values), values, face, self.name, fixed), face)

    def _apply_columns(self, values: Mapping[str, Any], face: Face) -> Mapping[str, Any]:
        """Return the options with the facts of --columns, where the face may give it."""
        options = {option.name: option for option in self.options}
        if values.get("columns") is None or "columns" not in options or face not in options["columns"].faces:
            return values
        return apply_columns(self.name, options, values, face)

    def _options(self, values: Mapping[str, Any]) -> Sequence[Option]:
        """Return the options. A column whose reading is said needs no --by."""
        if all(values.get(name) is None for name in READINGS):
            return self.options
        return [replace(option, default=()) if option.name == "by" else option for option in self.options]

    def _complete(self, parsed: dict[str, Any]) -> dict[str, Any]:
        """Return the options with every column of groups in `by`, and the column to add up in `of`, where it is one."""
        if "weights" in parsed and "of" in parsed and "every" not in parsed and parsed["weights"] is not None:
            parsed = {**parsed, "of": choose_weights(parsed["of"], parsed["weights"]), "weights": None}
        if "limit" in parsed and parsed.get("k") is not None:
            parsed = {**parsed, "limit": choose_limit(parsed["limit"], parsed["k"]), "k": None}
        if isinstance(parsed.get("bounds"), ColumnBounds) or (
            "bounds" in parsed and isinstance(parsed.get("of"), tuple)
        ):
            parsed = {**parsed, "bounds": assign_bounds(parsed["of"], parsed["bounds"])}
        if "by" not in parsed:
            return parsed
        parsed = add_columns(parsed)
        typed = parsed.get("domain")
        return {**parsed, "domain": list_combinations(typed, group_columns(parsed))} if typed else parsed

    def parse_plan(self, values: Mapping[str, Any], face: Face = "python", *, items: int | None = None) -> Request:
        """Return the request of a plan: columns may be left out, and a number of items may stand for a domain."""
        options = {option.name: option for option in self.options}
        values = {
            name: value for name, value in self._apply_columns(split_groups(values), face).items() if value is not None
        }
        stand_ins = {name: value for name, value in _STAND_INS.items() if name in options and options[name].required}
        if "unit" in options and not {"source", "counts"} & values.keys():
            # Whoever names the table has said whose the rows are.
            stand_ins["unit"] = "unit"
        groups = () if values.get("different") is not None else ("item",)  # a list may be that of the values
        if "domain" in options and {"domain", "delta"} & values.keys():
            stand_ins["by"] = groups
        by_dates = "every" in options and items is None and not {"by", "domain", "delta"} & values.keys()
        if "weights" in options and "bounds" in values and not (by_dates and {"of", *PERIODS} & values.keys()):
            stand_ins["weights" if values.get("of") is None or by_dates else "of"] = "number"
        if items is not None:
            if "domain" not in options or "domain" in values:
                raise ParameterError(
                    "--items says how long a domain is that is not listed here. Leave it or --domain out."
                )
            stand_ins |= {"by": groups, "domain": (Domain(range(items), f"0..{items - 1}"),)}
            values.pop("by", None)
        elif "by" in stand_ins and "delta" not in options and "domain" not in values:
            # The accuracy does not depend on how many items there are.
            size = (options["k"].parse(values.get("k"), face) if "k" in options else None) or 1
            stand_ins["domain"] = (Domain(range(size), f"0..{size - 1}"),)
        if "by" in options and any(values.get(name) is not None for name in READINGS):
            stand_ins["by"] = ()
        planned = [replace(option, default=stand_ins.get(name, option.default)) for name, option in options.items()]
        return self._request(parse_options(planned, values, face, self.name), face)

    def _request(self, parsed: dict[str, Any], face: Face) -> Request:
        if parsed.get("within") is not None and (parsed["epsilon"] is not None or parsed["rho"] is not None):
            raise ParameterError(
                "exactly one of --epsilon, --rho and --within must be given: --within says how accurate the answer "
                "should be, and finds its cost. Leave the others out. Nothing was read and nothing was charged."
            )
        parsed = self._complete(parsed)
        each_row = takes_rows(parsed)
        return Request(self, {**parsed, "unit": None} if each_row else parsed, face, each_row=each_row)
