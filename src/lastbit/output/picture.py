"""Pictures of releases: bars, their intervals, and labels of any script. matplotlib is loaded when one is drawn."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.util import find_spec
from textwrap import fill
from typing import Any, Final

from lastbit.errors import LastbitError
from lastbit.output.numbers import Interval, format_column
from lastbit.output.table import one_line

_MOST_BARS: Final = 60
MOST_POINTS: Final = 400
"""A series has so many points at most."""
_LONGEST: Final = 300
"""Characters of a label; a longer one ends with an ellipsis."""
_IN_A_LINE: Final = 32
_WIDTH: Final = 6.3
"""Inches: the width of a page of A4 without its margins."""
_GREY: Final = "#7f9fdc"
"""A blue that is a light grey in print, on which black intervals are seen."""
_DASHES: Final = (0, (4, 3))
_DARKEST: Final = 0.35
DOTS: Final = 300
"""Dots per inch of a picture of dots, as journals ask for."""
EXPLANATION: Final = "The wide interval allows for everybody, the narrow one for the noise alone."
UNCERTAIN: Final = "Dashed: the order of these two is not certain."


@dataclass(frozen=True)
class Panel:
    """A row of bars: a label and a height for each, None where there is no number, and intervals where there are any.

    `bottoms` are the heights at which the bars begin: those of gaps begin where the next bar ends.
    """

    name: str
    labels: Sequence[object]
    heights: Sequence[Any]
    label_name: str = ""
    intervals: Sequence[Interval | None] = ()
    bottoms: Sequence[Any] = ()
    noise: Sequence[Interval | None] = ()
    """The intervals of the noise alone, where those of all people are wider."""
    is_series: bool = False
    """Whether the labels are times, one after the other."""
    is_points: bool = False
    """Whether the numbers are points, below each other: means, medians, shares, ranks."""
    reasons: Sequence[str] = ()
    """Why a row has no number, in words, which stand beside a hollow mark; "" where it has one."""
    sizes: Sequence[Any] = ()
    """How many people each row is about, for the right edge."""
    size_name: str = ""
    doubts: Sequence[int] = ()
    """The places of rows whose order with the next row is not certain."""
    heading: str = ""
    """What stands above the panel, where there are several like it."""
    reach: Any = None
    """Where the numbers end, so that several panels have one scale."""
    from_zero: bool = False
    """Whether no true number is below 0: then the picture begins there, whatever the noise."""
    cells: Sequence[tuple[Any, Any]] = ()
    """The two labels of each number, where they stand in a table of two columns: then it is a grid of shades."""
    legend: Sequence[str] = ()
    """What stands below a grid: how far its numbers may be off, and why some are missing."""
    rows: Sequence[int] = ()
    """Which rows of the answer's table these are, where they do not follow each other as there; -1 for none of it."""


def grid_of(panel: Panel) -> tuple[list[Any], list[Any], dict[tuple[Any, Any], int]]:
    """Return the labels of the rows and of the columns of a grid, and where the number of each pair is.

    The longer list goes down: there is room.

    >>> grid_of(Panel("people", ["", ""], [5, 8], cells=[("a", "x"), ("a", "y")]))
    (['x', 'y'], ['a'], {('x', 'a'): 0, ('y', 'a'): 1})
    """
    pairs = [tuple(pair) for pair in panel.cells]
    down, across = (list(dict.fromkeys(pair[end] for pair in pairs)) for end in (0, 1))
    if len(across) > len(down):
        down, across, pairs = across, down, [(b, a) for a, b in pairs]
    return down, across, {pair: row for row, pair in enumerate(pairs)}


def shade(values: Sequence[Any]) -> list[float]:
    """Return how dark each cell of a grid is: at most a third, so that its number is read on it, also in grey.

    >>> shade([0, 5, 10, None, -2])
    [0.0, 0.175, 0.35, 0.0, 0.0]
    """
    known = [max(0.0, float(value)) for value in values if value is not None]
    most = max(known, default=0.0) or 1.0
    return [0.0 if value is None else _DARKEST * max(0.0, float(value)) / most for value in values]


def drop_hidden_rows(panels: Sequence[Panel], shown: Sequence[bool]) -> list[Panel]:
    """Return panels without the numbers and intervals of hidden rows, which follow each other as in the table.

    >>> panels = [Panel("people", ["flu", "cold"], [12, 5], intervals=[(10, 14), (3, 7)])]
    >>> [panel] = drop_hidden_rows(panels, [True, False])
    >>> panel.heights, panel.intervals
    ([12, None], [(10, 14), None])
    """
    flags, blanked = iter(shown), []
    for panel in panels:
        if panel.rows:
            own = [shown[row] if 0 <= row < len(shown) else True for row in panel.rows]
        else:
            own = [next(flags, True) for _ in panel.heights]
        parts = {
            name: [cell if flag else None for cell, flag in zip(cells, own, strict=False)]
            for name, cells in (("heights", panel.heights), ("intervals", panel.intervals), ("noise", panel.noise))
        }
        blanked.append(panel if all(own) else replace(panel, **parts))  # type: ignore[arg-type]
    return blanked


def is_installed() -> bool:
    """Return whether matplotlib is installed. It is not loaded."""
    return find_spec("matplotlib") is not None


def draw_figure(panels: Sequence[Panel], title: str, note: str = "") -> Any:
    """Draw a figure with the panels side by side."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise LastbitError("plot needs matplotlib. Install it with: pip install 'lastbit[plot]'") from None
    bars = max(min(len(panel.heights), _MOST_BARS) for panel in panels)
    labels = [one_line(label) for panel in panels for label in panel.labels[:_MOST_BARS]]
    longest = min(max(map(len, labels), default=0), _IN_A_LINE)
    across = len(panels) if len(panels) <= 2 else 2
    down = -(-len(panels) // across)
    lying = all(panel.is_points for panel in panels)
    wide = _WIDTH if lying else max(_WIDTH, 0.22 * bars * across)
    tall = 1.3 + 0.3 * bars if lying else (3.5 if down == 1 else 2.2) + 0.06 * longest
    if panels[0].cells:
        grids = [grid_of(panel) for panel in panels]
        wide = max(_WIDTH, 2.2 + 0.42 * max(len(columns) for _, columns, _ in grids))
        tall = 1.8 + 0.27 * max(len(rows) for rows, _, _ in grids)
        across, down = 1, len(panels)
    figure = Figure(figsize=(wide, 0.4 + down * tall), layout="constrained")
    for place, panel in enumerate(panels, 1):
        _draw(figure.add_subplot(down, across, place), panel)
    _write(figure.suptitle("", fontsize=11), f"{title}{note}", wrap=int(wide * 12))
    explained = [EXPLANATION] if any(any(panel.noise) for panel in panels) else []
    explained += [UNCERTAIN] if any(panel.doubts for panel in panels) else []
    explained += dict.fromkeys(line for panel in panels for line in panel.legend)
    if explained:
        figure.supxlabel(fill(" ".join(explained), int(wide * 18)), fontsize=7, parse_math=False)
    return figure


def png(figure: Any) -> bytes:
    """Return the figure as a PNG file."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=DOTS)
    return file.getvalue()


def _draw(axes: Any, panel: Panel) -> None:
    rows = range(min(len(panel.heights), MOST_POINTS if panel.is_series else _MOST_BARS))
    there = [row for row in rows if panel.heights[row] is not None]
    families, texts = _fonts(tuple(_shorten(one_line(panel.labels[row])) for row in rows))
    labels = [fill(text, _IN_A_LINE) for text in texts]
    left = len(panel.heights) - len(rows)
    more = f" (the first {len(rows):,} of {len(panel.heights):,})" if left else ""
    if panel.heading:
        _write(axes.set_title("", fontsize=10), panel.heading)
    if panel.cells:
        _draw_grid(axes, panel)
        return
    if panel.is_points:
        _draw_points(axes, panel, there)
        axes.set_yticks(list(rows), labels, parse_math=False, fontfamily=families)
        axes.set_ylim(len(rows) - 0.4, -0.6)
        _begin_at_zero(panel, axes.get_xlim, axes.set_xlim)
        axes.xaxis.set_major_formatter(lambda tick, _: f"{tick:,.12g}")
        _write(axes.set_xlabel(""), panel.name)
        _write(axes.set_ylabel(""), f"{panel.label_name}{more}")
        return
    if panel.is_series:
        _draw_line(axes, panel, there)
    else:
        _draw_bars(axes, panel, there)
    # Short labels of a few rows have room beside each other.
    slanted = len(rows) > 1 and sum(map(len, labels)) > 40
    slant: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    axes.set_xticks(list(rows), labels, parse_math=False, fontfamily=families, **slant)
    axes.set_xlim(-0.6, len(rows) - 0.4)
    _begin_at_zero(panel, axes.get_ylim, axes.set_ylim)
    axes.yaxis.set_major_formatter(lambda tick, _: f"{tick:,.12g}")
    _write(axes.set_xlabel(""), f"{panel.label_name}{more}")
    _write(axes.set_ylabel(""), panel.name)


def _draw_grid(axes: Any, panel: Panel) -> None:
    """Draw a table of two columns: its numbers in cells, which are darker where a number is larger."""
    down, across, places = grid_of(panel)
    shades, numbers = shade(panel.heights), format_column(panel.heights, panel.intervals)
    table = [[shades[places[row, column]] if (row, column) in places else 0.0 for column in across] for row in down]
    axes.pcolormesh(table, cmap="Greys", vmin=0, vmax=1, edgecolors="white", linewidth=0.5)
    for (row, column), place in places.items():
        text = "–" if panel.heights[place] is None else numbers[place]
        middle = across.index(column) + 0.5, down.index(row) + 0.5
        axes.text(*middle, text, ha="center", va="center", fontsize=7)
    families, texts = _fonts(tuple(_shorten(one_line(label)) for label in (*down, *across)))
    room = (axes.figure.get_figwidth() - 2.6) / len(across)
    slanted = max(map(len, texts[len(down) :])) * 0.09 > room
    turn: dict[str, Any] = {"rotation": 45, "ha": "right", "rotation_mode": "anchor"} if slanted else {}
    heads = [fill(text, _IN_A_LINE) for text in texts[: len(down)]]
    axes.set_yticks([place + 0.5 for place in range(len(down))], heads, parse_math=False, fontfamily=families)
    columns = [place + 0.5 for place in range(len(across))]
    axes.set_xticks(columns, texts[len(down) :], parse_math=False, fontfamily=families, **turn)
    axes.tick_params(length=0)
    axes.set_frame_on(False)
    axes.invert_yaxis()
    _write(axes.set_title("", fontsize=10), ", ".join(filter(None, (panel.heading, panel.name))))


def _begin_at_zero(panel: Panel, get_limits: Any, set_limits: Any) -> None:
    """Begin an axis at 0, or below where numbers are; several panels of one scale end alike."""
    low, high = get_limits()
    lowest = 0.0 if panel.from_zero else min(0.0, low)
    highest = max(high if panel.reach is None else float(panel.reach), lowest)
    # A point at the edge would be cut in half.
    room = 0.04 * (highest - lowest) if panel.is_points or panel.reach is not None else 0.0
    set_limits(lowest, (highest + room) if highest > lowest else lowest + 1)


def _draw_points(axes: Any, panel: Panel, there: Sequence[int]) -> None:
    """Draw points below each other, with their intervals; a hollow mark where there is no number."""
    axes.plot([float(panel.heights[row]) for row in there], there, "o", color="black", markersize=5)
    edges = axes.get_xlim()
    for row in there:
        for intervals, width in ((panel.intervals, 1.2), (panel.noise, 4)):
            pair = intervals[row] if row < len(intervals) else None
            if pair is not None:
                ends = [edge if end is None else float(end) for end, edge in zip(pair, edges, strict=True)]
                axes.hlines([row], *ends, colors="black", linewidth=width)
    beside = axes.get_yaxis_transform()
    for row, reason in enumerate(panel.reasons[: len(panel.heights)]):
        if reason:
            axes.plot([0.015], [row], "o", mfc="none", color="black", markersize=5, transform=beside, clip_on=False)
            axes.text(0.035, row, one_line(reason), transform=beside, va="center", fontsize=8, parse_math=False)
    for row, size in enumerate(panel.sizes[: len(panel.heights)]):
        axes.text(1.02, row, write_size(size), transform=beside, va="center", fontsize=9)
    if panel.sizes:
        axes.text(1.02, -0.75, panel.size_name, transform=beside, va="bottom", fontsize=8, parse_math=False)
    for row in panel.doubts:
        axes.axhline(row + 0.5, color="black", linewidth=0.8, linestyle=_DASHES)
    axes.grid(axis="x", color="black", alpha=0.12)
    axes.set_axisbelow(True)


def _draw_line(axes: Any, panel: Panel, there: Sequence[int]) -> None:
    """Draw a line through the numbers, with a band for the intervals and a darker one for the noise alone."""
    axes.plot(there, [float(panel.heights[row]) for row in there], marker="o", markersize=3, color="black")
    edges = axes.get_ylim()
    for intervals, alpha in ((panel.intervals, 0.18), (panel.noise, 0.35)):
        pairs = [(row, pair) for row, pair in enumerate(intervals[: len(panel.heights)]) if pair is not None]
        if pairs:
            low, high = (
                [edge if pair[end] is None else float(pair[end] or 0) for _, pair in pairs]
                for end, edge in zip((0, 1), edges, strict=True)
            )
            axes.fill_between([row for row, _ in pairs], low, high, color="black", alpha=alpha, linewidth=0)
    axes.set_ylim(bottom=min(0, axes.get_ylim()[0]))


def _draw_bars(axes: Any, panel: Panel, there: Sequence[int]) -> None:
    bottoms = [float(panel.bottoms[row]) if panel.bottoms else 0.0 for row in there]
    axes.bar(there, [float(panel.heights[row]) for row in there], bottom=bottoms, color=_GREY)
    for row in there if panel.noise else ():
        pair = panel.noise[row]
        if pair is not None and None not in pair:
            axes.vlines([row], float(pair[0]), float(pair[1]), colors="black", linewidth=4)  # type: ignore[arg-type]
    ends = [panel.intervals[row] for row in there] if panel.intervals else []
    whiskers = [
        (row, bottom, pair) for row, bottom, pair in zip(there, bottoms, ends, strict=False) if pair is not None
    ]
    for row in panel.doubts:
        axes.axvline(row + 0.5, color="black", linewidth=0.8, linestyle=_DASHES)
    edges = axes.get_ylim()
    for row, bottom, (low, high) in whiskers:
        # An interval without an end goes on to the edge of the picture.
        bounds = [edge if end is None else bottom + float(end) for end, edge in zip((low, high), edges, strict=True)]
        middle, half = sum(bounds) / 2, abs(bounds[1] - bounds[0]) / 2
        axes.errorbar([row], [middle], yerr=[half], fmt="none", ecolor="black", capsize=3)


def write_size(size: Any) -> str:
    """Return a number of people as a picture shows it: noise below 0 is nobody.

    >>> write_size(1560.4), write_size(-3), write_size(None)
    ('1,560', '0', '')
    """
    return "" if size is None else f"{max(0, round(size)):,}"


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _write(place: Any, text: str, wrap: int = 0) -> None:
    """Set a text as it is: a dollar is a dollar, and a character that no font on this machine has is written out.

    `wrap` is the number of characters of a line.
    """
    families, (label,) = _fonts((one_line(text),))
    place.set_parse_math(False)
    place.set_fontfamily(list(families))
    place.set_text(fill(_shorten(label), wrap) if wrap else label)


@cache
def _fonts(texts: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return fonts that together have all characters of the texts, the
    usual one first, and the texts that they can show.
    """
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties, findfont, fontManager

    usual = findfont(FontProperties())
    missing = {character for text in texts for character in text if ord(character) not in _characters(usual)}
    families = list(rcParams["font.family"])
    for font in fontManager.ttflist if missing else ():
        characters = {character for character in missing if ord(character) in _characters(font.fname)}
        # A font that only stands in for others has a box for every character.
        if characters and "last" not in font.name.lower():
            families.append(font.name)
            missing -= characters
        if not missing:
            break
    escapes = {ord(character): character.encode("unicode_escape").decode("ascii") for character in missing}
    return tuple(families), tuple(text.translate(escapes) for text in texts)


@cache
def _characters(path: str) -> frozenset[int]:
    """Return the characters that a font has glyphs for; none where the file cannot be read."""
    from matplotlib.ft2font import FT2Font

    try:
        return frozenset(FT2Font(path).get_charmap())
    except (OSError, RuntimeError):
        return frozenset()
