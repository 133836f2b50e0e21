"""The questions of a study file as requests: every option is parsed by the one list that all faces have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any, Final

from lastbit.errors import LastbitError, ParameterError
from lastbit.publication.pricing import Budget, Wish, parse_weight
from lastbit.publication.study import Problem, Study, check_comparison, check_name
from lastbit.questions.kinds import KINDS
from lastbit.questions.option import Option
from lastbit.questions.request import Kind, Request

OWN_KEYS: Final = frozenset(("name", "ask", "weight", "within", "rate", "override", "title"))
"""What a question of a file has besides the options of its kind."""
_DATA: Final = {"files": "source", "row": "row_noun"}
"""The keys of [data] that an option has another name for."""
PEOPLE: Final = 1000
"""How many people there are, where [data] about does not say it."""


def parse_questions(study: Study) -> tuple[list[Wish], list[Problem]]:
    """Return the questions of a study, and everything in them that cannot be. No row is read."""
    wishes: list[Wish] = []
    problems: list[Problem] = []
    names: set[str] = set()
    for place, typed in enumerate(study.questions, 1):
        key = f"question[{place}]"
        name = typed.get("name")
        wrong = check_name(name, names)
        if wrong is not None:
            problems.append(study.problem(f"{key}.name", wrong))
        else:
            names.add(str(name))
        wish, own = _parse_question(study, key, typed, str(name))
        problems += own
        if wish is not None:
            wishes.append(wish)
    for place, comparison in enumerate(study.comparisons, 1):
        key = f"compare[{place}]"
        problems += [study.problem(f"{key}.{part}", wrong) for part, wrong in check_comparison(comparison)]
        wrong = check_name(comparison.get("name"), names)
        if wrong is not None:
            problems.append(study.problem(f"{key}.name", wrong))
        if comparison.get("of") not in {wish.name for wish in wishes}:
            problems.append(study.problem(f"{key}.of", "it must be the name of a question of this file."))
    return wishes, problems


def people_of(study: Study) -> int:
    """Return the public guess how many people there are."""
    about = study.data.get("about", PEOPLE)
    if type(about) is not int or about < 1:
        raise ParameterError(f"about must be a whole number of people, a public guess: got {about!r}.")
    return about


def _parse_question(
    study: Study, key: str, typed: Mapping[str, Any], name: str
) -> tuple[Wish | None, list[Problem]]:  # fmt: skip
    kind = KINDS.get(str(typed.get("ask")))
    if kind is None:
        message = f"it must be one of {', '.join(KINDS)}: got {typed.get('ask')!r}."
        return None, [study.problem(f"{key}.ask", message)]
    problems = list(_option_problems(study, key, typed, kind))
    if "weight" in typed and "within" in typed:
        problems.append(study.problem(f"{key}.within", "a question has a weight or a wished accuracy, not both."))
    weight = Fraction(1)
    try:
        weight = parse_weight(typed.get("weight", 1))
    except ParameterError as error:
        problems.append(study.problem(f"{key}.weight", str(error)))
    if problems:
        return None, problems
    try:
        request = _build_request(study, typed, kind)
        _ = request.rows
        within = None if typed.get("within") is None else str(typed["within"])
        return Wish(name, request, weight, within, discovers(request)), []
    except LastbitError as error:
        return None, [study.problem(key, str(error))]


def _option_problems(study: Study, key: str, typed: Mapping[str, Any], kind: Kind) -> Iterator[Problem]:
    """Yield the options of a question that its kind does not have, or whose values cannot be."""
    options = {option.name: option for option in kind.options}
    for name, value in typed.items():
        if name in OWN_KEYS:
            continue
        option = options.get(name)
        if option is None or not _belongs_to_questions(option):
            advice = (
                "the whole file has one budget: say weight or within here."
                if option is not None and option.part in ("cost", "account")
                else f"{kind.name} has no such option. Use some of "
                + ", ".join(sorted(name for name, option in options.items() if _belongs_to_questions(option)))
                + "."
            )
            yield study.problem(f"{key}.{name}", advice)
            continue
        try:
            option.parse(_find_files(study, option, value), "python")
        except ParameterError as error:
            yield study.problem(f"{key}.{name}", str(error))


def _belongs_to_questions(option: Option) -> bool:
    return option.part == "question" or (option.part == "table" and option.name not in ("source", "unit", "table"))


def _build_request(study: Study, typed: Mapping[str, Any], kind: Kind) -> Request:
    """Return the request of a question: its own options, and those of [data] and [columns]."""
    options = {option.name: option for option in kind.options}
    values: dict[str, Any] = {
        _DATA.get(name, name): value
        for name, value in study.data.items()
        if _DATA.get(name, name) in options and name not in ("files", "where", "about")
    }
    values["source"] = study.sources
    values |= {
        name: _find_files(study, options[name], value)
        for name, value in typed.items()
        if name in options and (name not in OWN_KEYS or name == "title")
    }
    if study.columns and "columns" in options:
        values["columns"] = study.columns
    if study.let and "let" in options:
        values["let"] = dict(study.let)
    if "level" in study.output:
        values["level"] = study.output["level"]
    request = kind.parse({name: value for name, value in values.items() if value is not None}, "python")
    where = study.data.get("where")
    return request if where is None else request.narrow(str(where))


def _find_files(study: Study, option: Option, value: Any) -> Any:
    """Return the value with the paths that it names found from the folder of the study file."""
    if option.name == "domain" and isinstance(value, str) and (study.folder / value).is_file():
        return study.place(value)
    return value


def discovers(request: Request) -> bool:
    """Return whether a question shows items that nobody listed."""
    if request.values.get("discover"):
        return True
    return "delta" in request.values and bool(request.values.get("by")) and not request.values.get("domain")


def check_budget(study: Study) -> tuple[Budget | None, list[Problem]]:
    """Return the budget of a study, and what is wrong with it."""
    try:
        budget = Budget.of({name: study.budget.get(name) for name in ("epsilon", "rho", "delta")})
    except LastbitError as error:
        return None, [study.problem("budget", str(error))]
    problems = [
        study.problem(f"budget.{name}", "it must be a text.")
        for name in ("ledger", "dataset", "witness")
        if not isinstance(study.budget.get(name, ""), str)
    ]
    if ("ledger" in study.budget) != ("dataset" in study.budget):
        problems.append(study.problem("budget", "ledger and dataset go together: the file, and the account in it."))
    return budget, problems
