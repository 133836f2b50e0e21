"""How the pictures look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import matplotlib
from matplotlib.figure import Figure

matplotlib.rcParams.update({"svg.hashsalt": "lastbit", "svg.fonttype": "none", "font.size": 9, "axes.grid": True})
matplotlib.rcParams.update({"grid.alpha": 0.3, "legend.fontsize": 8, "lines.markersize": 4})

OURS, QUOTED, OTHER, FOURTH = "#0b6e4f", "#b5482a", "#7a7a7a", "#2f5d9b"


def spread_log(panel: Any, places: Sequence[float]) -> None:
    """A logarithmic x axis whose ticks are the places measured."""
    panel.set_xscale("log")
    panel.set_xticks(places, [f"{place:g}" for place in places])
    panel.minorticks_off()


def legend_outside(figure: Figure, panel: Any, place: str, columns: int, title: str | None = None) -> None:
    """The legend of a panel beside all panels, where it covers no bar: "upper" or "lower"."""
    figure.legend(*panel.get_legend_handles_labels(), loc=f"outside {place} center", ncols=columns, title=title)


def panels(rows: int, columns: int, width: float = 3.4, height: float = 2.7) -> tuple[Figure, Any]:
    """A figure of so many panels; the axes come as an array of two dimensions."""
    figure = Figure(figsize=(width * columns, height * rows), layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)
