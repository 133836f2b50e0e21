"""The questions that are asked: every kind in every form that says something else, of populations hard on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MONTHS = tuple(map(str, range(24)))
ITEMS = ("all", *(f"i{place}" for place in range(7)), "rare", "nobody has it")
GROUPS = ("a", "b", "c", "d", "e")


@dataclass(frozen=True)
class Case:
    """One question of one population."""

    name: str
    kind: str
    population: str
    options: dict[str, Any] = field(default_factory=dict)
    lots: bool = False
    """Whether a lot decides who counts: then lots vary too."""
    long: bool = False
    """Whether it is left to the long run."""


_UNSAID = ("unit", "epsilon", "by", "domain", "of", "bounds", "weights", "edges", "counts", "numbers", "dates", "texts",
           "noun")  # fmt: skip
"""Options that a name does not spell out."""


def _case(
    kind: str, population: str, *, lots: bool = False, long: bool = False, name: str = "", **options: Any
) -> Case:
    """Return a case with a name made of its options; None leaves an option out."""
    options = {"unit": "person", **({} if "rho" in options else {"epsilon": 1}), **options}
    options = {key: value for key, value in options.items() if value is not None}
    shown = [key if value is True else f"{key} {value}" for key, value in options.items() if key not in _UNSAID]
    columns = [key for key in ("by", "of", "weights", "edges", "counts") if key in options]
    words = [kind, *columns, *shown, "of", population, name]
    if "by" in options and "domain" not in options:
        words.insert(1, "unlisted")
    if "unit" not in options:
        words.insert(1, "rows")
    return Case(" ".join(words).strip(), kind, population, options, lots, long)


def _by(domain: tuple[str, ...] | None) -> dict[str, Any]:
    return {"by": "item", "domain": domain}


COUNTS = [
    _case("count", "crowd"),
    _case("count", "crowd", rho="1/8", level="0.8"),
    _case("count", "nobody", long=True),
    _case("count", "crowd", rows=True, most_rows=3),
    _case("count", "crowd", rows=True, most_rows=100, rho="1/2", long=True),
    _case("count", "crowd", rows=True, most_rows=3, people_share=0),
    _case("count", "crowd", lots=True, rows=True, most_rows=3, **_by(ITEMS)),
    _case("count", "crowd", lots=True, rows=True, most_rows=2, **_by(ITEMS[:4]), rho="1/2", level="0.8"),
    _case("count", "same rows", lots=True, rows=True, most_rows=2, **_by(("a", "b")), people_share=0),
    _case("count", "crowd", lots=True, different="item", most_items=2),
    _case("count", "clinic", lots=True, different="day", most_items=2, people_share=0, rho="1/2", long=True),
    _case("count", "crowd", different="item", domain={"item": ITEMS}, long=True),
    _case("count", "crowd", lots=True, different="number", **_by(ITEMS[:4]), most_items=2, level="0.8"),
    _case("count", "crowd", different="item", unit=None),
    _case("count", "crowd", **_by(ITEMS)),
    _case("count", "crowd", **_by(ITEMS), rho="1/2"),
    _case("count", "crowd", **_by(ITEMS), unit=None),
    _case("count", "ties", **_by(("i0",)), long=True),
    _case("count", "clinic", lots=True, **_by(MONTHS), one_each=True),
    _case("count", "clinic", lots=True, **_by(MONTHS), one_each=True, people_share=0),
    _case("count", "crowd", lots=True, **_by(ITEMS), most_items=2),
    _case("count", "crowd", lots=True, **_by(ITEMS), most_items=2, level="0.5", rho="1/8", long=True),
    _case("count", "crowd", lots=True, **_by(ITEMS), most_items="auto"),
    _case("count", "ties", lots=True, **_by(("i0", "i1", "nobody has it")), one_each=True, long=True),
    _case("count", "nobody", lots=True, **_by(("a", "b")), one_each=True),
    _case("histogram", "clinic", lots=True, month="day", bounds=("2024-01", "2025-12"), most_items=1),
    _case("histogram", "clinic", month="day", bounds=("2024-01", "2024-12")),
    _case("histogram", "crowd", month="day", bounds=("2024-02", "2024-08"), lots=True, most_items=3),
    _case("histogram", "tenths", of="number", edges=("0", "0.1", "0.3"), name="on an edge"),
    _case("count", "stated", **_by(tuple("abcdef")), counts="number", sensitivity=2, unit=None),
    _case("top", "stated", **_by(tuple("abcdef")), counts="number", sensitivity=2, monotone=True, k=2, unit=None),
    _case("histogram", "crowd", of="number", bounds=(0, 100), bins=4),
    _case("histogram", "crowd", of="number", bounds=(0, 100), bins=4, unit=None, long=True),
    _case("histogram", "crowd", of="number", bounds="auto", bins=4, epsilon=4, name="chosen"),
    _case("histogram", "crowd", of="number", bounds="auto", bins=5, lots=True, most_items=1, rho=1, name="chosen",
          long=True),
    _case("histogram", "torn", of="number", bounds="auto", bins=3, people_share=0, name="chosen", long=True),
    _case("histogram", "crowd", of="number", edges=(0, 50, 60, 100), missing="bin", lots=True, most_items=1),
    _case("histogram", "crowd", of="number", edges=(0, 50, 60, 100), missing="lowest", lots=True, most_items="auto",
          long=True),
]  # fmt: skip
WEIGHTS = [
    _case("count", "clinic", **_by(MONTHS), weights="number", bounds=(0, 20)),
    _case("count", "clinic", **_by(MONTHS), weights="number", bounds=(0, 20), people_share=0),
    _case("count", "crowd", **_by(ITEMS), weights="number", bounds=(-10, 60), missing=50, rho="1/2"),
    _case("count", "crowd", **_by(ITEMS), weights="number", bounds=(0, 60), unit=None),
    _case("count", "clinic", lots=True, **_by(MONTHS), weights="number", bounds=(0, 20), most_items=2),
    _case("count", "crowd", lots=True, **_by(ITEMS), weights="number", bounds=(0, 100), most_items=2),
    _case("count", "clinic", lots=True, **_by(MONTHS), weights="number", bounds=(-5, 20), most_items="auto", long=True),
    _case("measure", "clinic", **_by(MONTHS), weights="number", bounds=(0, 20), k=3),
    _case("top", "clinic", **_by(MONTHS), weights="number", bounds=(0, 20), k=3),
    _case("choose", "clinic", **_by(MONTHS), weights="number", bounds=(0, 20), k=2, long=True),
    _case("above", "clinic", **_by(MONTHS), weights="number", bounds=(0, 20), threshold=900, limit=2),
    _case("histogram", "popular", by="item", weights="number", bounds=(0, 10), most_items=1, delta="1e-6", lots=True),
]
FRACTIONS = [
    _case("count", "below a step", **_by(("a", "b")), weights="number", bounds=(0, 1)),
    _case("count", "tenths", **_by(("a", "b")), weights="number", bounds=(0, 1), resolution="1/128"),
    _case("measure", "below a step", **_by(("a", "b")), weights="number", bounds=(0, 1), k=1),
    _case("top", "below a step", **_by(("a", "b")), weights="number", bounds=(0, 1), k=1),
    _case("above", "below a step", **_by(("a", "b")), weights="number", bounds=(0, 1), threshold=10),
    _case(
        "top", "below a step", by="item", weights="number", bounds=(0, 1), k=1, delta="1e-6", most_items=1, lots=True
    ),
    _case("count", "below a step", by="item", weights="number", bounds=(0, 1), delta="1e-6", most_items=1, lots=True),
]
"""Weights between two steps."""
SUMS = [
    _case("sum", "crowd", of="number", bounds=(0, 100)),
    _case("sum", "crowd", of="number", bounds=(-10, 100), per="mean", rho="1/8", missing="lowest"),
    _case("sum", "crowd", of="number", bounds=(0, 100), per="latest", latest_by="day", people_share=0, long=True),
    _case("sum", "below a step", of="number", bounds=(0, 1)),
    _case("sum", "tenths", of="number", bounds=(0, 1), resolution="1/128"),
    _case("sum", "tenths", of="number", bounds=("0.1", "0.7"), long=True),
    _case("sum", "same rows", of="number", bounds=(0, 100), per="row", most_rows=2, lots=True),
    _case("sum", "crowd", of="number", bounds=(0, 100), unit=None),
    _case("sum", "nobody", of="number", bounds=(0, 100)),
    _case("mean", "crowd", of="number", bounds=(0, 100)),
    _case("mean", "crowd", of="number", bounds=(0, 100), per="total", missing=20),
    _case("mean", "below a step", of="number", bounds=(0, 1)),
    _case("mean", "tenths", of="number", bounds=("0.1", "0.9"), rho="1/2"),
    _case("mean", "same rows", of="number", bounds=(0, 100), per="row", most_rows=2, lots=True),
    _case("mean", "crowd", of="number", bounds=(0, 100), unit=None, long=True),
    _case("mean", "nobody", of="number", bounds=(0, 100)),
    _case("sum", "crowd", of="number", bounds="auto", name="with automatic bounds"),
    _case("sum", "spread out", of="number", bounds="auto", resolution=1, rho="1/8", level="0.8",
          name="chosen in rho", long=True),
    _case("mean", "crowd", of="number", bounds="auto", bounds_share="1/8", name="with automatic bounds"),
    _case("mean", "nobody", of="number", bounds="auto", name="with automatic bounds", long=True),
    _case("mean", "alone", of="number", bounds=(0, 10), epsilon="1/100", name="at a tiny cost"),
    _case("mean", "torn", of="number", bounds="auto", **_by(GROUPS), epsilon=4, name="chosen"),
    _case("sum", "crowd", of="number", bounds="auto", **_by(ITEMS), most_items=2, rho=1, lots=True, name="chosen",
          long=True),
    _case("mean", "same rows", of="number", bounds="auto", **_by(("a", "b", "c", "d")), per="row", most_rows=2,
          lots=True, epsilon=4, name="chosen", long=True),
    _case("sum", "same rows", of="number", bounds="auto", per="row", most_rows=2, lots=True, people_share=0,
          name="chosen", long=True),
]  # fmt: skip
GROUP_NUMBERS = [
    _case("mean", "torn", of="number", bounds=(0, 100), **_by(GROUPS)),
    _case("mean", "torn", of="number", bounds=(0, 100), **_by(GROUPS), rho="1/8", level="0.8"),
    _case("mean", "torn", of="number", bounds=(0, 100), **_by(GROUPS), one_each=True, lots=True),
    _case("mean", "torn", of="number", bounds=(0, 100), **_by(GROUPS), most_items="auto", lots=True),
    _case("mean", "torn", of="number", bounds=(0, 100), **_by(GROUPS), one_each=True, lots=True, people_share=0),
    _case("mean", "crowd", of="number", bounds=(0, 100), **_by(ITEMS), most_items=2, lots=True, rho="1/2"),
    _case("mean", "crowd", of="number", bounds=(0, 100), **_by(ITEMS), per="total", missing=20, epsilon=5),
    _case("mean", "crowd", of="number", bounds=(0, 100), **_by(ITEMS), unit=None),
    _case("mean", "same rows", of="number", bounds=(0, 100), **_by(("a", "b", "c", "d")), per="row", most_rows=2,
          lots=True),
    _case("mean", "tenths", of="number", bounds=("0.05", "0.9"), **_by(("a", "b")), epsilon=20),
    _case("mean", "below a step", of="number", bounds=(0, 1), **_by(("a", "b")), rho=8, long=True),
    _case("mean", "nobody", of="number", bounds=(0, 100), **_by(("a", "b"))),
    _case("mean", "crowd", of="number", bounds=(0, 100), **_by(ITEMS), per="any", rho="1/2"),
    _case("mean", "crowd", of="number", bounds=(0, 100), sd=True),
    _case("mean", "torn", of="number", bounds=(-10, 100), **_by(GROUPS), sd=True, rho=2, level="0.8"),
    _case("mean", "torn", of="number", bounds=(0, 100), **_by(GROUPS), sd=True, one_each=True, lots=True, epsilon=20),
    _case("mean", "crowd", of="number", bounds=(0, 100), **_by(ITEMS), sd=True, most_items=2, lots=True,
          people_share=0, epsilon=8),
    _case("mean", "same rows", of="number", bounds=(0, 100), **_by(("a", "b", "c", "d")), sd=True, per="row",
          most_rows=2, lots=True, epsilon=8),
    _case("mean", "tenths", of="number", bounds=("0.05", "0.9"), **_by(("a", "b")), sd=True, epsilon=20),
    _case("mean", "torn", of="number", bounds="auto", **_by(GROUPS), sd=True, epsilon=20, name="chosen with sd",
          long=True),
    _case("sum", "below a step", of="number", bounds=(0, 1), sd=True, epsilon=8, long=True),
    _case("sum", "torn", of="number", bounds=(0, 100), **_by(GROUPS), most_items=2, lots=True),
    _case("sum", "crowd", of="number", bounds=(-10, 100), **_by(ITEMS), per="latest", latest_by="day", epsilon=5),
    _case("sum", "crowd", of="number", bounds=(-100, 100), **_by(ITEMS), rho="1/2"),
    _case("sum", "tenths", of="number", bounds=(0, 1), **_by(("a", "b")), epsilon=30, long=True),
    _case("sum", "same rows", of="number", bounds=(0, 100), **_by(("a", "b", "c", "d")), per="row", most_rows=2,
          lots=True, rho="1/8"),
]  # fmt: skip
_LETTERS: dict[str, Any] = {"of": ("number", "letters"), "bounds": {"number": (0, 100), "letters": (0, 3)}}
SEVERAL = [
    _case("mean", "crowd", **_LETTERS, epsilon=4, name="and letters", long=True),
    _case("sum", "crowd", **_LETTERS, rho="1/2", level="0.8", name="and letters", long=True),
    _case("mean", "torn", **_LETTERS, **_by(GROUPS), one_each=True, lots=True, epsilon=8, name="and letters",
          long=True),
    _case("sum", "crowd", of=("letters", "number"), bounds={"number": "auto", "letters": (1, 3)}, **_by(ITEMS),
          most_items=2, lots=True, epsilon=8, name="and letters", long=True),
    _case("mean", "same rows", **_LETTERS, per="row", most_rows=2, lots=True, rho=1, name="and letters"),
]  # fmt: skip
"""Two columns of numbers, each with half of the cost."""
SHARES = [
    _case("share", "crowd", of="number = '50'"),
    _case("share", "crowd", of="number = '50'", rho="1/8", level="0.8", **_by(ITEMS)),
    _case("share", "crowd", of="number = '50'", **_by(ITEMS), most_items=2, lots=True),
    _case("share", "crowd", of="number = '50'", **_by(ITEMS), one_each=True, people_share=0, lots=True),
    _case("share", "crowd", of="number = '50'", **_by(ITEMS), unit=None),
    _case("share", "same rows", of="number = '50'", **_by(("a", "b", "c", "d")), rows=True, most_rows=2, lots=True),
    _case("share", "nobody", of="number = '50'"),
]
QUANTILES = [
    _case("median", "crowd", of="number", bounds=(0, 100)),
    _case("median", "below a step", of="number", bounds=(0, 10)),
    _case("median", "a hair below a step", of="number", bounds=(0, 10), resolution=1),
    _case("median", "ties", of="number", bounds=(0, 100), rho="1/2"),
    _case("quantile", "spread out", of="number", bounds=(0, 1000), at=("0", "1"), level="0.99"),
    _case("median", "nobody", of="number", bounds=(0, 100)),
    _case("quantile", "spread out", of="number", bounds=(0, 1000), at=("0.1", "0.5", "0.9")),
    _case("quantile", "crowd", of="number", bounds=(0, 100), at=("0.25", "0.75"), long=True),
    _case("quantile", "same rows", of="number", bounds=(0, 100), at=("1/3",), per="row", most_rows=2, lots=True),
    _case("quantile", "crowd", of="number", bounds=(0, 100), at=("0.95",), per="total", people_share=0, long=True),
    _case("median", "torn", of="number", bounds=(0, 100), **_by(GROUPS)),
    _case("median", "torn", of="number", bounds=(0, 100), **_by(GROUPS), one_each=True, lots=True),
    _case("quantile", "torn", of="number", bounds=(0, 100), **_by(GROUPS), at=("0.25", "0.5"), most_items=2, lots=True),
    _case("median", "torn", of="number", bounds=(0, 100), **_by(GROUPS), most_items="auto", lots=True),
    _case("quantile", "spread out", of="number", bounds=(0, 1000), **_by(("a", "b", "c")), at=("0.2", "0.8"),
          one_each=True, lots=True),
    _case("median", "torn", of="number", bounds=(0, 100), **_by(GROUPS), unit=None, long=True),
    _case("median", "torn", of="number", bounds=(0, 100), **_by(GROUPS), one_each=True, lots=True, people_share=0),
]  # fmt: skip
SELECTIONS = [
    _case("top", "crowd", **_by(ITEMS), k=3),
    _case("top", "ties", **_by(tuple(f"i{place}" for place in range(6))), k=6, rho="1/8"),
    _case("top", "crowd", **_by(ITEMS), k=3, set=True),
    _case("top", "crowd", **_by(ITEMS), k=3, set=True, form="left-out", rho="1/8"),
    _case("choose", "crowd", **_by(ITEMS)),
    _case("choose", "crowd", **_by(ITEMS), k=3, delta="1e-6"),
    _case("choose", "ties", **_by((*(f"i{place}" for place in range(6)), "no", "never")), k=7, rho="1/8"),
    _case("measure", "crowd", **_by(ITEMS), k=3),
    _case("measure", "crowd", **_by(ITEMS), k=3, set=True, rho="1/8"),
    _case("above", "crowd", **_by(ITEMS), threshold=60, limit=3),
    _case("above", "ties", **_by(tuple(f"i{place}" for place in range(6))), threshold=42, limit=2, level="0.8"),
    _case("above", "crowd", **_by(ITEMS), threshold=60, limit=3, rho="1/8", long=True),
]
_MONTHLY: dict[str, Any] = {
    "by": "item", "in_each": "day", "month": "day", "k": 2,
    "domain": {"item": ("heart", "lung", "skin", "eye", "burns"), "day": ("2024-01", "2024-05", "2024-08")},
}  # fmt: skip
IN_EACH = [
    _case("top", "ward", **_MONTHLY),
    _case("top", "ward", **_MONTHLY, rho="1/2", unit=None, level="0.8"),
    _case("top", "ward", **_MONTHLY, numbers=True, epsilon=3, name="with numbers"),
    _case("top", "ward", lots=True, **_MONTHLY, one_each=True, rho="1/2"),
    _case("top", "ward", lots=True, **_MONTHLY, most_items=2, numbers=True, epsilon=6, name="with numbers"),
    _case("top", "ward", lots=True, **_MONTHLY, most_items="auto", numbers=True, epsilon=6, name="with numbers"),
    _case("top", "ward", lots=True, **_MONTHLY, most_items=1, numbers=True, people_share=0, name="with numbers"),
    _case("top", "ward", lots=True, **_MONTHLY, most_items=2, weights="number", bounds=(-5, 50), epsilon=6),
    _case("top", "ward", lots=True, **_MONTHLY, most_items=2, weights="number", bounds=(0, 50), epsilon=6,
          numbers=True, name="with numbers"),
    _case("top", "nobody", **_MONTHLY, long=True),
]  # fmt: skip
UNLISTED = [
    _case("top", "popular", by="item", k=3, delta="1e-6"),
    _case("top", "popular", by="item", k=3, delta="1e-6", most_items=1, lots=True),
    _case("top", "popular", by="item", k=3, delta="1e-6", most_items=1, lots=True, people_share=0, long=True),
    _case("top", "popular", by="item", k=3, delta="1e-6", most_items="auto", lots=True),
    _case("top", "alone", by="item", k=3, delta="1e-6", unit=None),
    _case("choose", "popular", by="item", k=2, delta="1e-6", rho="1/8", most_items=2, lots=True),
    _case("histogram", "popular", by="item", delta="1e-6", most_items=1, lots=True),
    _case("histogram", "popular", by="item", delta="1e-6", most_items=2, lots=True, rho="1/2"),
    _case("count", "popular", by="item", delta="1e-6", most_items="auto", lots=True),
    _case("count", "popular", by="item", delta="1e-6", most_items=1, lots=True, people_share=0, long=True),
    _case("histogram", "popular", by="item", delta="1e-6", unit=None),
    _case("histogram", "alone", by="item", delta="1e-6", most_items=1, lots=True, long=True),
]
_PAGE = {"numbers": ("number",), "dates": ("day",), "texts": ("item",)}
DESCRIPTIONS = [
    _case("describe", "crowd", **_PAGE, delta="1e-6", epsilon=20, lots=True),
    _case("describe", "crowd", **_PAGE, rho="1/2", level="0.8", long=True),
    _case("describe", "spread out", numbers=("number",), of=("number",), epsilon=4),
    _case("describe", "spread out", numbers=("number",), of=("number",), delta="1e-6", resolution=1, long=True),
    _case("describe", "popular", **_PAGE, of=("item",), delta="1e-6", lots=True),
    _case("describe", "nobody", **_PAGE),
    _case("describe", "alone", **_PAGE, delta="1e-6", lots=True, long=True),
]

_AXES: dict[str, Any] = {
    "by": ("item",), "domain": {"item": ITEMS}, "edges": {"number": (0, 50, 60)}, "rho": "1/2",
}  # fmt: skip
TABLES = [
    _case("tables", "crowd", lots=True, **_AXES),
    _case("tables", "crowd", lots=True, **_AXES, ways=1),
    _case("tables", "crowd", lots=True, **_AXES, ways=1, most_items=2),
    _case("tables", "crowd", lots=True, **_AXES, most_items=3, level="0.8", long=True),
    _case("tables", "crowd", lots=True, **_AXES, ways=1, latest_by="day"),
    _case("tables", "crowd", lots=True, **_AXES, ways=1, people_share=0),
    _case("tables", "crowd", **_AXES, ways=1, unit=None),
    _case("tables", "crowd", lots=True, **_AXES, missing="show", one_each=True, long=True),
    _case("tables", "clinic", lots=True, by=("item",), domain={"item": MONTHS}, ways=1, rho="1/2"),
    _case("tables", "nobody", lots=True, **_AXES, ways=1),
    _case("tables", "ties", **{**_AXES, "rho": None}, ways=1, epsilon=1, delta="1e-6", lots=True, level="0.5"),
]
"""Cross-tabulations; of the clinic each person is in four cells."""
PLACES = ("heart", "lung", "skin", "eye", "burns")
YEAR = tuple(f"2024-{place:02}" for place in range(1, 13))
_COST: dict[str, Any] = {"of": "number", "bounds": (0, 100)}
_PLACES: dict[str, Any] = {"by": "item", "domain": PLACES}
WARD = [
    _case("count", "ward", **_PLACES),
    _case("count", "ward", lots=True, **_PLACES, one_each=True),
    _case("count", "ward", lots=True, **_PLACES, most_items="auto", rho="1/2"),
    _case("histogram", "ward", lots=True, month="day", bounds=("2024-01", "2024-12"), most_items=3),
    _case("count", "ward", **_PLACES, weights="number", bounds=(0, 100)),
    _case("count", "ward", lots=True, **_PLACES, weights="number", bounds=(-1, 50), most_items=2, missing=10),
    _case("mean", "ward", **_COST),
    _case("mean", "ward", lots=True, **_COST, **_PLACES, one_each=True, epsilon=8),
    _case("sum", "ward", **_COST, **_PLACES, per="total"),
    _case("median", "ward", lots=True, **_COST, **_PLACES, most_items=2),
    _case("measure", "ward", **_PLACES, k=2),
    _case("count", "ward", lots=True, by="item", delta="1e-6", most_items=2, epsilon=3),
    _case("tables", "ward", lots=True, by=("item",), domain={"item": PLACES}, edges={"number": (0, 20, 60)},
          rho="1/2", long=True),
    _case("tables", "ward", lots=True, by=("item", "day"), domain={"item": PLACES, "day": YEAR}, month="day", ways=1,
          rho="1/2"),
    _case("tables", "ward", lots=True, by=("item", "day"), domain={"item": PLACES, "day": YEAR}, month="day", ways=1,
          rho="1/2", most_items=4, missing="show"),
]  # fmt: skip
"""A clinic that was made up to find what the other populations do not."""

_BOTH: dict[str, Any] = {"by": "item", "domain": ("a", "b")}
REGULARS = [
    _case("tables", "regulars", lots=True, by=("item",), domain={"item": ("a", "b")}, ways=1, rho=2),
    _case("tables", "regulars", lots=True, by=("item", "day"), domain={"item": ("a", "b"), "day": YEAR[:2]},
          month="day", most_items=2, rho=2),
    _case("count", "regulars", lots=True, **_BOTH, one_each=True, epsilon=4),
    _case("mean", "regulars", lots=True, of="number", bounds="auto", **_BOTH, one_each=True, epsilon=20),
    _case("sum", "regulars", lots=True, **_COST, **_BOTH, per="row", most_rows=3, epsilon=4),
    _case("share", "regulars", lots=True, of="number = '50'", **_BOTH, one_each=True, epsilon=4),
    _case("median", "regulars", lots=True, **_COST, **_BOTH, one_each=True, epsilon=4),
    _case("top", "regulars", lots=True, by="item", in_each="day", month="day", k=1, one_each=True, numbers=True,
          domain={"item": ("a", "b"), "day": YEAR[:3]}, epsilon=6, name="with numbers"),
]  # fmt: skip
"""Whoever has more rows than there are groups is still in no more groups than there are."""

_DAYS: dict[str, Any] = {"unit": ("person", "day"), "noun": "person,people"}
COMBINATIONS = [
    _case("count", "crowd", **_DAYS, name="and a day"),
    _case("count", "crowd", **_DAYS, rows=True, most_rows=1, name="and a day"),
    _case("count", "crowd", **_DAYS, **_by(ITEMS), name="and a day"),
    _case("count", "crowd", **_DAYS, lots=True, **_by(ITEMS), one_each=True, name="and a day"),
    _case("mean", "ward", **_DAYS, **_COST, name="and a day"),
    _case("sum", "crowd", **_DAYS, **_COST, name="and a day"),
    _case("median", "crowd", **_DAYS, **_COST, name="and a day"),
    _case("share", "crowd", **_DAYS, of="number = '50'", name="and a day"),
    _case("measure", "ward", **_DAYS, **_PLACES, k=2, name="and a day"),
    _case("tables", "ward", lots=True, **_DAYS, by=("item",), domain={"item": PLACES}, ways=1, rho="1/2",
          name="and a day"),
]  # fmt: skip
"""What is counted are combinations of a person and a day."""

CASES = [
    *COUNTS,
    *WEIGHTS,
    *FRACTIONS,
    *SUMS,
    *GROUP_NUMBERS,
    *SEVERAL,
    *SHARES,
    *QUANTILES,
    *SELECTIONS,
    *IN_EACH,
    *UNLISTED,
    *DESCRIPTIONS,
    *TABLES,
    *WARD,
    *REGULARS,
    *COMBINATIONS,
]
