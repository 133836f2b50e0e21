"""`lastbit plan`: how accurate a command will be, or what an accuracy costs, before anything is read or spent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from lastbit.cli.commands import make_command
from lastbit.errors import LastbitError
from lastbit.questions.kind import Kind
from lastbit.questions.kinds import KINDS
from lastbit.questions.option import Option
from lastbit.questions.output_options import PRESENTATION
from lastbit.questions.output_types import prints_json
from lastbit.questions.request import Request
from lastbit.questions.value_types import Number
from lastbit.questions.whole_number_types import WholeNumber

_ITEMS: Final = Option(
    "items",
    WholeNumber("NUMBER"),
    "How many items the domain has, where the items are not listed here.",
    spelling="--items",
)
_TIMES: Final = Option(
    "times",
    WholeNumber("NUMBER", most=10**6),
    "The cost is for so many releases like this together: show what each may cost. Without a cost: what the account "
    "has left.",
)
_LARGEST: Final = Option(
    "largest",
    Number(),
    "A guess of the largest number, where the i-th item has an i-th of it: says which way of selecting finds most.",
)
_OUTPUT: Final = ("plot", "html", "dry_run", "reuse", "note", *(option.name for option in PRESENTATION))
_SIBLINGS: Final = {"top": ("choose", "histogram"), "choose": ("top",)}
"""What a plan is compared with, where the same options ask it."""
_HELP: Final = """Show how accurate `lastbit {name}` will be at a cost, or the epsilon of an accuracy. Spend nothing.

    It takes the options of the command. The table and its columns may be left out: no row is read.
    """


def plan_command(kind: Kind) -> Callable[..., None]:
    """Return the command that plans this kind of question."""
    has_domain = any(option.name == "domain" for option in kind.options)
    selects = any(option.name == "set" for option in kind.options)
    plan_options = (_TIMES, *([_ITEMS] if has_domain else []), *([_LARGEST] if selects else []))
    options = [
        replace(option, default=None) if option.name in ("source", "by", "of", "threshold", "at") else option
        for option in kind.options
        if "command" in option.faces and option.name not in _OUTPUT
    ]

    def run(values: dict[str, Any]) -> None:
        plan_values = {option.name: option.parse(values.pop(option.name, None), "command") for option in plan_options}
        _show_plan(
            kind,
            values,
            plan_values.get("items"),
            plan_values.get("largest"),
            times=plan_values["times"],
        )

    return make_command([*options, *plan_options], run, kind.name, _HELP.format(name=kind.name))


def _show_plan(
    kind: Kind,
    values: dict[str, Any],
    items: int | None,
    largest: str | None,
    *,
    times: int | None = None,
) -> None:
    from lastbit.questions.plan import compare_selections, plan_accuracy

    share = ""
    if times is not None:
        values, share = _share(kind, values, times, items)
    plan = plan_accuracy(kind.parse_plan(values, "command", items=items))
    request, report = plan.request, plan.report
    siblings = _compare_siblings(request, values, plan.units, items)
    comparison = None if largest is None else compare_selections(request, largest)
    more: dict[str, Any] = {} if comparison is None else {"found": comparison.data}
    more |= {"compared": {name: accuracy.within for name, accuracy in siblings.items()}} if siblings else {}
    notes = [
        *([share] if share else []),
        *report.notes,
        *([] if comparison is None else [comparison.sentence]),
        *(f"`{name}`: {accuracy.sentence}" for name, accuracy in siblings.items()),
    ]
    replace(report, notes=notes, data={**report.data, **more}).show(as_json=prints_json(request["json"]))


def _share(kind: Kind, values: dict[str, Any], times: int, items: int | None) -> tuple[dict[str, Any], str]:
    """Return the options with the cost of one of so many releases, in the currency that is more accurate."""
    from lastbit.questions.answer import Payer
    from lastbit.questions.budget_words import describe_share, share_cost
    from lastbit.questions.within import UNITS

    costs = ("epsilon", "rho", "delta")
    asked = {name: values[name] for name in costs if values.get(name) is not None}
    others = {name: value for name, value in values.items() if name not in costs}
    payer = None
    if not asked and others.get("ledger"):
        payer = Payer.of(kind.parse_plan({**others, "epsilon": "1"}, "command", items=items))
    account = None if payer is None else payer.account
    total = ", ".join(f"{name} {amount}" for name, amount in asked.items()) or f"what {others.get('dataset')} has left"
    plans, problem = [], None
    for cost in share_cost(times, asked, account):
        try:
            request = kind.parse_plan({**others, **cost}, "command", items=items)
            plans.append((request.question.accuracy(request.values.get("people") or UNITS).within, cost))
        except LastbitError as error:
            problem = error
    if not plans and problem is not None:
        raise problem
    _, best = min(plans, key=lambda plan: plan[0])
    return {**others, **best}, describe_share(times, best, total)


def _compare_siblings(request: Request, values: dict[str, Any], units: int, items: int | None) -> dict[str, Any]:
    """Return the accuracy of questions that answer nearly the same, at the same cost; none of those that cannot."""
    accuracies = {}
    cost = {name: request[name] for name in ("epsilon", "rho") if request[name] is not None}
    for name in _SIBLINGS.get(request.kind.name, ()):
        option_names = {option.name for option in KINDS[name].options}
        sibling_values = {**values, **cost}
        if "k" in option_names:
            sibling_values["k"] = request["k"]
        try:
            sibling = KINDS[name].parse_plan(
                {key: sibling_values[key] for key in sibling_values if key in option_names}, "command", items=items
            )
            accuracies[f"{name} -k {request['k']}" if "k" in option_names else name] = sibling.question.accuracy(units)
        except LastbitError:
            continue
    return accuracies
