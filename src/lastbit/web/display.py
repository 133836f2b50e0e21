"""How a result is shown: options that cost nothing, in the address of the result. The release stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from lastbit.questions.option import Face, parse_options
from lastbit.questions.output_options import PRESENTATION
from lastbit.questions.request import Request
from lastbit.questions.value_types import Flag
from lastbit.web.visit import make_address

_PRESENTATION: Final = frozenset(("whole", *(option.name for option in PRESENTATION)))
_TRUTHS: Final[dict[str, Any]] = {"yes": True, "true": True, "no": False, "false": False, "": None}


def display_texts(request: Request) -> dict[str, str]:
    """Return the options of a request that say how its release is shown, as an address writes them."""
    shown = request.kind.display_options
    return {
        option.name: "yes" if isinstance(option.type, Flag) else ",".join(option.type.arguments(value)[0])
        for option, value in request.explicit_options
        if option in shown
    }


def apply_display(request: Request, texts: Mapping[str, str], face: Face = "page") -> Request:
    """Return the request with these options of its display, or refuse the first that is wrong."""
    options = request.kind.display_options
    flags = {option.name for option in options if isinstance(option.type, Flag)}
    values = {name: _TRUTHS.get(text, text) if name in flags else text or None for name, text in texts.items()}
    return replace(request, values={**request.values, **parse_options(options, values, face, request.kind.name)})


def without_presentation(texts: Mapping[str, str]) -> dict[str, str]:
    """Return the options without those that take other numbers, titles or orders than the release has.

    >>> without_presentation({"level": "0.9", "round": "10"})
    {'level': '0.9'}
    """
    return {name: text for name, text in texts.items() if name not in _PRESENTATION}


def result_address(entry: int, request: Request | None, ending: str = "") -> str:
    """Return the address of a result, as a request wants it shown."""
    return make_address(f"/results/{entry}{ending}", {} if request is None else display_texts(request))
