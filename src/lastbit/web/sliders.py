"""The dials of the plan: the cost that a form asks for, by a number, a stop of a slider, or an accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from lastbit.errors import ParameterError
from lastbit.exact.numbers import number
from lastbit.questions.plan import Plan, plan_accuracy
from lastbit.web.forms import find_topic, read_form

if TYPE_CHECKING:
    from lastbit.web.desk import Desk

_DIGITS: Final = ("1", "1.2", "1.5", "2", "2.5", "3", "4", "5", "6", "8")
STOPS: Final = tuple(str(Fraction(digit) * Fraction(10) ** power) for power in (-2, -1, 0) for digit in _DIGITS)
"""The epsilons that the slider stops at, from 1/100 to 8."""
_START: Final = "1"
"""The epsilon that a plan begins with."""


def plan_form(desk: Desk, form: Mapping[str, str]) -> Plan:
    """Return the plan of a form: at its epsilon, at a stop of the slider, or at the accuracy that it asks for."""
    values = read_form(form, desk.lists)
    dial = form.get("from", "")
    wish = form.get(dial, "").strip() if dial in ("within", "drag") else None
    if wish is not None:
        values["within"] = wish
    else:
        stop = _parse_stop(form.get("stop", ""))
        values["epsilon"] = STOPS[stop] if dial == "stop" else form.get("epsilon", "").strip() or _START
    request = desk.parse(
        find_topic(form).kind, values, "page", table=form.get("table") or None, note=form.get("note")
    )  # fmt: skip
    plan = plan_accuracy(request, desk.ledger)
    if plan.request["epsilon"] is None:  # what takes no epsilon alone would be bought in rho
        raise ParameterError("the page pays in epsilon, which needs a Delta here, such as 1e-6. Nothing was charged.")
    return plan


def _parse_stop(text: str) -> int:
    """Return the place of a stop; a place that the slider does not have is the middle."""
    return int(text) if text in map(str, range(len(STOPS))) else len(STOPS) // 2


def nearest_stop(plan: Plan) -> int:
    """Return the place of the stop that is nearest to the epsilon of a plan."""
    epsilon = number(plan.request["epsilon"], "--epsilon")
    stops = [Fraction(stop) for stop in STOPS]
    return min(range(len(stops)), key=lambda place: abs(stops[place] - epsilon) / stops[place])


def make_slider(plan: Plan) -> dict[str, Any]:
    """Return the slider of the accuracy: from a quarter of what it is to four times; none where it is zero."""
    within = plan.accuracy.within
    if not within:
        return {}
    ends = {"low": within / 4, "high": within * 4, "now": within, "step": within / 20}
    return {name: _decimal(value) for name, value in ends.items()}


def _decimal(value: Fraction) -> str:
    """Return a position of the slider, which the browser takes for a float."""
    try:
        return f"{float(value):.4g}" if float(value) < 1e15 else f"{float(value):e}"
    except OverflowError:
        raise ParameterError("this is so inaccurate that it tells nothing. Choose a higher epsilon.") from None
