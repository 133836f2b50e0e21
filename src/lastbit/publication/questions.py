"""The questions of a study file as requests: every option is parsed by the one list that all faces have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from lastbit.errors import LastbitError, ParameterError, StudyError
from lastbit.publication.certificate import SHOWN_OPTIONS
from lastbit.publication.keys import locate_problem, remove_repeats
from lastbit.publication.pricing import (
    Budget,
    Priced,
    Wish,
    at_price,
    parse_weight,
    price_of_accuracy,
    share_delta,
    share_rest,
)
from lastbit.publication.rates import read_rate
from lastbit.publication.study import Problem, Study, check_comparison, check_name, shorten
from lastbit.questions.answer import refuse_same_file
from lastbit.questions.kind import Kind
from lastbit.questions.kinds import KINDS
from lastbit.questions.option import Option
from lastbit.questions.presentation import counts_somebody
from lastbit.questions.rendering import check_presentation, sample_view
from lastbit.questions.request import Request

OWN_KEYS: Final = frozenset(("name", "ask", "weight", "within", "rate"))
"""What a question of a file has besides the options of its kind."""
_DATA: Final = {"files": "source", "row": "row_noun"}
"""The keys of [data] that an option has another name for."""
_FOR_ALL: Final = ("hide_below", "hide_wider", "round", "non_negative")
"""Keys of [output] that are options of each question, where it can be shown so and says nothing else itself."""
PEOPLE: Final = 1000
"""How many people there are, where [data] about does not say it."""


def parse_questions(study: Study) -> tuple[list[Wish], list[Problem]]:
    """Return the questions of a study, and everything in them that cannot be. No row is read."""
    wishes: list[Wish] = []
    problems: list[Problem] = []
    names: set[str] = set()
    for place, typed in enumerate(study.questions, 1):
        name = typed.get("name")
        wrong = check_name(name, names)
        if wrong is not None:
            problems.append(study.problem(f"question[{place}].name", wrong))
        else:
            names.add(str(name))
        wish, own = _parse_question(study, place, typed, str(name))
        problems += own
        if wish is not None:
            wishes.append(wish)
    for place, comparison in enumerate(study.comparisons, 1):
        key = f"compare[{place}]"
        problems += [study.problem(f"{key}.{part}", wrong) for part, wrong in check_comparison(comparison)]
        wrong = check_name(comparison.get("name"), names)
        if wrong is not None:
            problems.append(study.problem(f"{key}.name", wrong))
        names.add(str(comparison.get("name")))
        if comparison.get("of") not in {wish.name for wish in wishes}:
            problems.append(study.problem(f"{key}.of", "it must be the name of a question of this file."))
    return wishes, remove_repeats(problems)


def people_of(study: Study) -> int:
    """Return the public guess how many people there are."""
    about = study.data.get("about", PEOPLE)
    if type(about) is not int or about < 1:
        raise ParameterError(f"about must be a whole number of people, a public guess: got {about!r}.")
    return about


def _parse_question(study: Study, place: int, typed: Mapping[str, Any], name: str) -> tuple[Wish | None, list[Problem]]:
    key = f"question[{place}]"
    kind = KINDS.get(str(typed.get("ask")))
    if kind is None:
        message = f"it must be one of {', '.join(KINDS)}: got {shorten(repr(typed.get('ask')))}."
        return None, [study.problem(f"{key}.ask", message)]
    problems = list(_option_problems(study, key, typed, kind))
    problems += [
        study.problem(section, f"{kind.name} takes nothing from [{section}] here. Leave the section out.")
        for section in ("columns", "let")
        if study.sections.get(section) and not any(option.name == section for option in kind.options)
    ]
    if "weight" in typed and "within" in typed:
        problems.append(study.problem(f"{key}.within", "a question has a weight or a wished accuracy, not both."))
    weight = Fraction(1)
    try:
        weight = parse_weight(typed.get("weight", 1))
    except ParameterError as error:
        problems.append(study.problem(f"{key}.weight", str(error)))
    within = typed.get("within")
    if within is not None and (isinstance(within, bool) or not isinstance(within, str | int | float)):
        problems.append(
            study.problem(f"{key}.within", f'it must be a number such as 15, or a share such as "5%": got {within}.')
        )
    if problems:
        return None, problems
    try:
        request = _build_request(study, typed, kind)
        _ = request.rows
        try:
            rate = read_rate(study, typed.get("rate"), request)
        except ParameterError as error:
            return None, [study.problem(f"{key}.rate", str(error))]
        wished = None if within is None else str(within)
        return Wish(name, request, weight, wished, discovers(request), rate), []
    except LastbitError as error:
        return None, [locate_problem(study, place, str(error))]


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
                if name == "delta" or (option is not None and option.part in ("cost", "account"))
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
    if option.name == "delta":
        return False  # the file has one, and the plan shares it out
    if option.name in SHOWN_OPTIONS or option.name == "override":
        return True
    return option.part == "question" or (
        option.part == "table" and option.name not in ("source", "unit", "most_units", "table")
    )


def _build_request(study: Study, typed: Mapping[str, Any], kind: Kind) -> Request:
    """Return the request of a question: its own options, and those of [data], [columns] and [let]."""
    options = {option.name: option for option in kind.options}
    values: dict[str, Any] = {
        _DATA.get(name, name): _place_joins(study, value) if name == "join" else value
        for name, value in study.data.items()
        if _DATA.get(name, name) in options and name not in ("files", "where", "about")
    }
    values["source"] = study.sources
    values |= {
        name: _find_files(study, options[name], value)
        for name, value in typed.items()
        if name in options and name not in OWN_KEYS
    }
    values |= {
        name: study.output[name] for name in _FOR_ALL if name in study.output and name in options.keys() - values
    }
    if study.columns and "columns" in options:
        values["columns"] = _place_lists(study)
    if study.let and "let" in options:
        values["let"] = _add_lets(study.let, values.get("let"))
    if "level" in study.output:
        values["level"] = study.output["level"]
    request = kind.parse({name: value for name, value in values.items() if value is not None}, "python")
    where = study.data.get("where")
    return request if where is None else request.narrow(str(where))


def _add_lets(shared: Mapping[str, Any], own: Any) -> dict[str, Any]:
    """Return the columns that all questions have, and those of one question."""
    if own is not None and not isinstance(own, Mapping):
        raise ParameterError('--let must be a table here: let = { visits = "count(*)" }.')
    twice = next((name for name in own or () if name in shared), None)
    if twice is not None:
        raise ParameterError(f"--let makes {twice!r}, and so does [let]. Leave it out of one of them.")
    return {**shared, **(own or {})}


def _place_lists(study: Study) -> dict[str, Any]:
    """Return the facts of [columns], with files of values found from the folder of the study file."""

    def place(facts: Any) -> Any:
        values = facts.get("values") if isinstance(facts, dict) else None
        in_folder = isinstance(values, str) and (study.folder / values).is_file()
        return {**facts, "values": study.folder / str(values)} if in_folder else facts

    return {column: place(facts) for column, facts in study.columns.items()}


def price_questions(study: Study, budget: Budget, wishes: Sequence[Wish], people: int) -> list[Priced]:
    """Return all questions at their prices, or raise a StudyError that says at which key the price cannot be."""
    places = {wish.name: place for place, wish in enumerate(wishes, 1)}
    problems: list[Problem] = []
    bought: dict[str, Fraction] = {}
    try:
        deltas = share_delta(budget, wishes)
    except LastbitError as error:
        raise StudyError([study.problem("budget.delta", str(error))]) from None

    def ask(wish: Wish, price: Fraction) -> Request | None:
        """Return the question at a price; None where it cannot be asked so."""
        try:
            return at_price(budget, wish, price, deltas.get(wish.name), people)
        except LastbitError as error:
            problems.append(locate_problem(study, places[wish.name], str(error)))
            return None

    for wish in wishes:
        if wish.within is not None and ask(wish, budget.total) is not None:
            try:
                bought[wish.name] = price_of_accuracy(budget, wish, deltas.get(wish.name), people)
            except LastbitError as error:
                problems.append(study.problem(f"question[{places[wish.name]}].within", str(error)))
    if not problems:
        try:
            prices = share_rest(budget, wishes, bought)
        except LastbitError as error:
            raise StudyError([study.problem("budget", str(error))]) from None
        questions = []
        for wish in wishes:
            request = ask(wish, prices[wish.name])
            if request is not None:
                shown = _apply_output(request, _shared_output(study, study.questions[places[wish.name] - 1]))
                questions.append(Priced(wish, prices[wish.name], shown))
        if not problems:
            return questions
    raise StudyError(remove_repeats(problems))


def _shared_output(study: Study, typed: Mapping[str, Any]) -> dict[str, Any]:
    """Return what [output] says of every answer, and the question does not say itself."""
    return {name: study.output[name] for name in _FOR_ALL if name in study.output and name not in typed}


def _apply_output(request: Request, shared: Mapping[str, Any]) -> Request:
    """Return the question with what [output] says of every answer, as far as this one can be shown so."""
    known = {name: value for name, value in shared.items() if name in request.values}
    request = request.change(**dict.fromkeys(known))
    for name, value in known.items():
        wanted = request.change(**{name: value})
        try:
            # A study hides small numbers of people: not a small mean, of which nobody says of how many it is.
            if name == "hide_below" and not counts_somebody(sample_view(request).report):
                continue
            check_presentation(wanted)
            request = wanted
        except ParameterError:  # an answer without intervals has none that is too wide
            continue
    return request


def _find_files(study: Study, option: Option, value: Any) -> Any:
    """Return the value with the paths that it names found from the folder of the study file."""
    if option.name == "domain" and isinstance(value, str) and (study.folder / value).is_file():
        return study.place(value)
    return _place_joins(study, value) if option.name == "join" else value


def _place_joins(study: Study, value: Any) -> Any:
    """Return tables that are joined, found from the folder of the study file."""
    if isinstance(value, list):
        return [_place_joins(study, part) for part in value]
    return study.place(value) if isinstance(value, str) else value


def discovers(request: Request) -> bool:
    """Return whether a question shows items that nobody listed."""
    return "delta" in request.values and "by" in request.values and bool(request.items.unlisted_columns)


def check_budget(study: Study) -> tuple[Budget | None, list[Problem]]:
    """Return the budget of a study, and what is wrong with it."""
    try:
        budget = Budget.of({name: study.budget.get(name) for name in ("epsilon", "rho", "delta")})
    except LastbitError as error:
        return None, [study.problem("budget", str(error))]
    problems = []
    if "ledger" in study.budget:
        try:
            refuse_same_file(study.place(study.budget["ledger"]), study.sources)
        except LastbitError as error:
            problems.append(study.problem("budget.ledger", str(error)))
    if ("ledger" in study.budget) != ("dataset" in study.budget):
        problems.append(study.problem("budget", "ledger and dataset go together: the file, and the account in it."))
    return budget, problems
