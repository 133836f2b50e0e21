"""The pages of the auditor: exact verdicts on small values, and the gallery of broken mechanisms."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any, Final

from starlette.responses import Response

from lastbit.audit.broken.case import KINDS
from lastbit.audit.broken.gallery import GALLERY, TOLERANCE, count_kinds, hear
from lastbit.audit.laws import Law, law
from lastbit.audit.laws import render_outcome as outcome_text
from lastbit.audit.progress import TimeBudget
from lastbit.audit.target import Target
from lastbit.audit.verdict import Verdict
from lastbit.errors import LastbitError, ParameterError
from lastbit.output.chart import draw_pairs
from lastbit.output.numbers import format_digits
from lastbit.web.visit import NotThere, Visit, safe

MECHANISMS: Final = (
    "DiscreteLaplace", "DiscreteGaussian", "NoisyTopK", "NoisyMax", "SelectAndMeasure", "SparseVector",
    "AdaptiveSparseVector", "ExponentialMechanism", "Quantile", "Quantiles", "NoisyMean",
)  # fmt: skip
"""Mechanisms that plain numbers can be given to. No other name is looked up: a name could be that of a program."""

_SMALL: Final = {"k": "1", "limit": "1", "resolution": "1"}
"""On small inputs these say the same in fewer branches."""
_USUAL: Final = {"mechanism": "NoisyMax", "settings": "epsilon=1 resolution=1", "values": "0,1", "neighbour": "1,1"}
_SECONDS: Final = 6.0
_TOLERANCE: Final = "1e-6"
_MOST_BARS: Final = 14


def audit(visit: Visit) -> Response:
    """Show the form; with all of its fields, the verdict."""
    values = {**_USUAL, **{name: text for name, text in visit.query.items() if text}}
    if values["mechanism"] not in MECHANISMS:
        values["mechanism"] = _USUAL["mechanism"]
        values["settings"] = _USUAL["settings"]
    if values.pop("small", ""):
        values["settings"] = _shrink(values["settings"])
        if values["mechanism"] in ("Quantile", "Quantiles", "NoisyMean"):
            values["values"], values["neighbour"] = "0,1", "0"
    parts: dict[str, Any] = {"verdict": None, "chart": "", "error": ""}
    status = 200
    if visit.query:
        try:
            parts |= find_verdict(values)
        except LastbitError as error:
            parts["error"], status = str(error), 400
    return visit.page("audit.html", here="/audit", mechanisms=MECHANISMS, values=values, status=status, **parts)


def find_verdict(values: dict[str, str]) -> dict[str, Any]:
    """Return the exact verdict on a mechanism and two small inputs, with both laws drawn."""
    name = values.get("mechanism", "")
    if name not in MECHANISMS:
        raise ParameterError(f"mechanism must be one of {', '.join(MECHANISMS)}.")
    texts = [values.get("values", ""), values.get("neighbour", "")]
    if any(text.count(",") > 3 or len(text) > 80 for text in texts):
        raise ParameterError("values must be at most four small numbers with commas between them: 0,1.")
    settings = values.get("settings", "").split()
    target = Target.find(name, settings, None)
    time = TimeBudget(_SECONDS)
    one, other = target.laws(texts[0], texts[1], _TOLERANCE, time)
    judged = target.judge(one, other, _TOLERANCE, time)
    if not isinstance(judged, Verdict):
        raise ParameterError("this mechanism claims no cost.")
    chart, said = _draw_laws(one, other)
    line = {"word": judged.verdict, "line": str(judged), "explored": _describe_search(one, other), "shown": said}
    return {"verdict": line, "chart": chart}


def _draw_laws(one: Law, other: Law) -> tuple[Any, str]:
    """Return both laws in pairs of bars: the outcomes that are likeliest in one of the two."""
    masses = one.masses, other.masses
    outcomes = {value: max(mass.get(value, Fraction(0)) for mass in masses) for mass in masses for value in mass}
    likeliest = set(sorted(outcomes, key=lambda value: -outcomes[value])[:_MOST_BARS])
    first = [value for value in outcomes if value in likeliest]
    both = [[mass.get(value, Fraction(0)) for value in first] for mass in masses]
    said = f"The {len(first)} likeliest of {len(outcomes):,} outcomes." if len(outcomes) > len(first) else ""
    drawn = draw_pairs(
        [outcome_text(value) for value in first], both[0], both[1], ("on the values", "on the neighbour")
    )
    return safe(drawn), said


def _describe_search(one: Law, other: Law) -> str:
    left = max(one.unexplored, other.unexplored)
    followed = f"{one.branches + other.branches:,} branches followed"
    if not left:
        return f"{followed}, all of them."
    return f"{followed}; {format_digits(left, 3, 'up')} of the probability is open."


def _shrink(settings: str) -> str:
    """Return parameters for small inputs: one item instead of many, and a grid of whole numbers."""
    parts = [setting.partition("=") for setting in settings.split()]
    return " ".join(f"{name}={_SMALL.get(name, value)}" for name, _, value in parts)


def gallery(visit: Visit) -> Response:
    """Return all broken mechanisms."""
    return visit.page("gallery.html", here="/audit", cases=GALLERY, counts=count_kinds())


def case(visit: Visit) -> Response:
    """Return one broken mechanism: the exact proof, and both laws."""
    text = visit.part("number")
    if not text.isascii() or not text.isdigit() or len(text) > 6 or not 1 <= int(text) <= len(GALLERY):
        raise NotThere("there is no such case in the gallery.")
    place = int(text) - 1
    broken = GALLERY[place]
    kind = KINDS[broken.kind].capitalize()
    return visit.page("case.html", here="/audit", case=broken, kind=kind, **_hear_case(place))


@cache
def _hear_case(place: int) -> dict[str, Any]:
    broken = GALLERY[place]
    hearing = hear(broken)
    chart, said = _draw_laws(law(broken.program, TOLERANCE), law(broken.neighbour, TOLERANCE))
    repaired = "" if hearing.repaired is None else str(hearing.repaired)
    return {"line": str(hearing.published), "repaired": repaired, "chart": chart, "shown": said}
