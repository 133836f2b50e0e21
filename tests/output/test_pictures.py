"""Pictures: bars with their intervals, gaps as gaps, labels of any script, and what a notebook shows."""

from __future__ import annotations

import sys
from dataclasses import replace
from fractions import Fraction
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import polars as pl
import pytest

import lastbit as lb
from lastbit.output import picture
from lastbit.output.chart import chart
from lastbit.output.picture import Panel
from lastbit.questions.drawing import split_panel
from tests import processes
from tests.ledger.test_published import RELEASES

EXPLANATION = "The wide interval allows for everybody, the narrow one for the noise alone."
UNCERTAIN = "Dashed: the order of these two is not certain."

ODD = ["flu", "co$l_d$ \\frac{", "流感", "🤒", "ألم", "\ud800\n", "<b>&", "x" * 100]


def bars(axes: Any) -> list[tuple[float, float, float]]:
    """Place, bottom and top of each bar."""
    return [(bar.get_x() + bar.get_width() / 2, bar.get_y(), bar.get_y() + bar.get_height()) for bar in axes.patches]


def ends(axes: Any) -> list[tuple[float, float, float]]:
    """Place, lower and upper end of each interval."""
    lines = [line for container in axes.containers for line in getattr(container, "lines", (0, 0, ()))[2]]
    return [(path[0][0], path[0][1], path[1][1]) for line in lines for path in line.get_segments()]


def top(gaps: list[int], k: int, n: int) -> lb.TopK:
    release = lb.NoisyTopK(k=k, epsilon=1, monotone=True, resolution="1/2").release(list(range(n)))
    return replace(release, ahead=np.array(gaps))


def test_gaps_are_drawn_from_one_item_to_the_next() -> None:
    release = top([4, 6, 10], 3, 5)
    (axes,) = release.plot().axes
    assert bars(axes) == [(0, 8, 10), (1, 5, 8), (2, 0, 5)]
    for (place, low, high), (bottom, pair) in zip(
        ends(axes), zip([8, 5, 0], release.gap_intervals(), strict=True), strict=True
    ):
        assert (low, high) == pytest.approx([bottom + float(end) for end in pair if end is not None])
        assert place in (0, 1, 2)


def test_an_item_without_a_next_one_has_no_bar() -> None:
    (axes,) = top([4, 6], 3, 3).plot().axes
    assert bars(axes) == [(0, 3, 5), (1, 0, 3)]
    assert len(axes.get_xticks()) == 3
    assert len(ends(axes)) == 2


def test_a_mean_is_drawn_and_not_the_sums_behind_it() -> None:
    release = lb.NoisyMean(epsilon=1, bounds=(0, 10)).release([5] * 1000)
    mean, people = release.plot().axes
    assert [bar[2] for bar in bars(mean)] == [float(release.mean)]
    assert [bar[2] for bar in bars(people)] == [float(release.people)]
    ((_, low, high),) = ends(mean)
    assert [low, high] == pytest.approx([float(end or 0) for end in release.interval()])
    assert (mean.get_ylabel(), people.get_ylabel()) == ("mean", "people")


def test_estimates_and_values_have_the_intervals_that_are_stated() -> None:
    measured = lb.SelectAndMeasure(k=2, epsilon=1, monotone=True).release([50, 40, 3])
    noisy = lb.DiscreteLaplace(epsilon=1, bounds=(0, 10)).release([5, 0, 10])
    for release, values, intervals in (
        (measured, measured.estimates, measured.intervals("0.9")),
        (noisy, noisy.values, noisy.interval("0.9")),
    ):
        (axes,) = release.plot(level="0.9").axes
        assert [bar[2] for bar in bars(axes)] == [float(value) for value in values]
        for (_, low, high), pair in zip(ends(axes), intervals, strict=True):
            for drawn, end in zip((low, high), pair, strict=True):
                # An interval without an end goes on to the edge.
                assert end is None or drawn == pytest.approx(float(end))


def test_labels_of_any_script_warn_nobody_and_lose_nothing() -> None:
    counts = lb.Counts(items=ODD, values=[0] * len(ODD))
    release = lb.NoisyTopK(k=len(ODD), epsilon=1).release(counts)
    figure = release.plot()
    assert picture.png(figure).startswith(b"\x89PNG")
    shown = {label.get_text() for label in figure.axes[0].get_xticklabels()}
    assert len(shown) == len(ODD)
    assert {"flu", "co$l_d$ \\frac{", "<b>&", "\\ud800\\n", "\n".join(["x" * 32] * 3 + ["x" * 4])} <= shown
    assert all(not label.get_parse_math() for label in figure.axes[0].get_xticklabels())


def test_a_character_that_no_font_has_is_written_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture, "_characters", lambda path: frozenset(map(ord, "abc")))
    picture._fonts.cache_clear()
    assert picture._fonts(("ab流c",))[1] == ("ab\\u6d41c",)
    monkeypatch.setattr(picture, "_characters", lambda path: frozenset(map(ord, "abc流")))
    picture._fonts.cache_clear()
    assert picture._fonts(("ab流c",))[1] == ("ab流c",)
    picture._fonts.cache_clear()


def test_many_rows_are_drawn_as_far_as_people_can_read_them() -> None:
    (axes,) = lb.DiscreteLaplace(epsilon=1).release([7] * 1000).plot().axes
    assert len(bars(axes)) == 60
    assert axes.get_xlabel() == "place (the first 60 of 1,000)"


@pytest.mark.parametrize("name", RELEASES)
def test_a_notebook_shows_the_table_and_the_picture_where_there_are_numbers(name: str) -> None:
    release: Any = RELEASES[name]()
    page = release._repr_html_()
    assert page.startswith(release.to_html())
    assert ("<svg" in page) == (name not in ("Choice", "Ranking", "Discovered", "nobody", "TopSet", "TopSetItems"))
    parsed = ElementTree.fromstring(f"<div>{page}</div>")
    kinds = [part.tag for part in parsed]
    assert kinds[:2] == ["p", "table"]
    assert kinds.count("svg") == page.count("<svg")


def test_a_notebook_shows_the_table_whatever_the_chart_does(monkeypatch: pytest.MonkeyPatch) -> None:
    release = RELEASES["TopK"]()
    monkeypatch.setattr("lastbit.output.chart.chart", lambda panels, title: 1 / 0)
    assert release._repr_html_() == release.to_html()


def test_a_chart_shows_numbers_of_any_size_and_labels_as_text() -> None:
    huge = Fraction(10) ** 400
    panel = Panel("n", ["<script>", "b" * 50, "c"], [huge, None, Fraction(1, 10**400)], intervals=[(None, huge), None])
    parsed = ElementTree.fromstring(chart([panel], "a & b"))
    words = "".join(parsed.itertext())
    assert "<script>" in words
    assert "b" * 50 in words  # the title of a label that has several lines
    assert "inf" not in ElementTree.tostring(parsed, "unicode")
    assert "nan" not in ElementTree.tostring(parsed, "unicode")


def test_matplotlib_is_loaded_when_a_picture_is_drawn_and_not_before() -> None:
    program = """
import sys, lastbit as lb
release = lb.NoisyMax(epsilon=1).release([1, 500])
str(release), release.to_json(), release.to_html()
print("matplotlib" in sys.modules, release._repr_png_()[:4], "matplotlib" in sys.modules)
"""
    done = processes.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False b'\\x89PNG' True\n"


def test_laws_verdicts_and_stability_are_tables_in_a_notebook() -> None:
    law = lb.audit.law(lambda draw: ("<b>", draw.bernoulli("1/3")))
    page = law._repr_html_()
    assert "<td>0.333333</td><td>1/3</td>" in page
    assert "&lt;b&gt;" in page
    assert "2 outcomes on 2 branches" in page
    verdict = lb.audit.check(lb.DiscreteLaplace(epsilon=1), [3], [4], cost="1/2", tolerance="1/1000")
    assert "<td>verdict</td><td>violated</td>" in verdict._repr_html_()
    assert "<td>witness</td>" in verdict._repr_html_()
    verdicts = lb.audit.check_all(lb.DiscreteLaplace(epsilon=1), [3], "1/1000")
    assert verdicts._repr_html_().count("<tr>") == 1 + len(verdicts.each)
    rows = [{"who": 1, "what": "a"}, {"who": 2, "what": "a"}]
    stable = lb.audit.stability(lambda table: {"n": len({row["who"] for row in table})}, rows, unit="who", hostile=[])
    assert "<td>verdict</td><td>holds</td>" in stable._repr_html_()
    broken = lb.audit.stability(lambda table: {"n": 5 * len(table)}, rows, unit="who", hostile=[])
    assert "<td>witness</td>" in broken._repr_html_()


COLUMN = ["flu"] * 500 + ["cold"] * 300 + ["gout"]


@pytest.mark.parametrize(
    "counted",
    [
        pd.Series(COLUMN).value_counts(),
        pd.Series(pd.Categorical(COLUMN)).value_counts(),
        pd.Series(COLUMN, name="what").value_counts().reset_index(),
        pl.Series("what", COLUMN).value_counts(sort=True),
    ],
    ids=["pandas", "categories", "pandas table", "polars"],
)
def test_value_counts_keep_their_labels(counted: Any) -> None:
    assert lb.NoisyTopK(k=2, epsilon=9).release(counted).items == ("flu", "cold")
    assert lb.SelectAndMeasure(k=2, epsilon=9).release(counted).items == ("flu", "cold")
    assert lb.ExponentialMechanism(epsilon=9).release(counted).outcome == "flu"
    assert lb.SparseVector(threshold=400, limit=1, epsilon=9).release(counted).items == ("flu",)
    noisy = lb.DiscreteLaplace(epsilon=1).release(counted)
    assert noisy.on_grid
    assert noisy.items == ("flu", "cold", "gout")
    assert noisy.columns()["item"] == noisy.items
    assert abs(noisy.values[0] - 500) < 100


def test_other_series_and_tables_have_no_labels() -> None:
    for other in (
        pd.Series([1, 500], index=["patient 1", "patient 2"]),
        pd.Series([1, 500], name="count"),
        pl.Series("count", [1, 500]),
    ):
        assert lb.NoisyMax(epsilon=9).release(other).items is None
    with pytest.raises(lb.ParameterError):
        lb.NoisyMax(epsilon=9).release(pd.DataFrame({"a": ["x"], "b": [Fraction(1)]}))


def test_a_series_is_a_line_with_two_bands_and_ends_where_a_number_is_missing() -> None:
    months = [f"2024-{month:02}" for month in range(1, 8)]
    wide = [(0, 9), (1, None), None, (2, 9), (3, 9), (3, 9), (None, None)]
    narrow = [(2, 3), (2, 4), None, (4, 5), (5, 6), (5, 6), None]
    panel = Panel("people <b>", months, [2, 3, None, 5, 6, 6, 7], "month", wide, noise=narrow, is_series=True)
    page = chart([panel], "a title")
    parsed = ElementTree.fromstring(page)
    assert page.count("<polygon") == 4  # both bands, before and after the month without a number
    assert page.count("<polyline") == 2
    assert page.count("<circle") == 6
    words = [*parsed.itertext()]
    assert {*months, "people <b>", EXPLANATION} <= {*words}
    (axes,) = picture.draw_figure([panel], "a title").axes
    assert [label.get_text() for label in axes.get_xticklabels()] == months
    assert axes.get_ylim()[0] <= 0
    assert len(axes.collections) == 2


def test_the_noise_alone_is_drawn_beside_the_interval_of_all_people() -> None:
    panel = Panel("people", ["a", "b"], [5, 8], "item", [(3, 20), (6, 30)], noise=[(4, 6), (7, 9)])
    page = chart([panel], "a title")
    assert page.count('stroke-width="5"') == 2
    assert page.count('stroke-width="1.5"') == 2
    assert EXPLANATION in page
    assert EXPLANATION not in chart([replace(panel, noise=())], "a title")


GROUPS = Panel(
    "Mean cost per patient (euros)", ["oncology", "surgery", "burns"], [650, 600, None], "department",
    [(600, 700), (500, 620), None], is_points=True, reasons=["", "", "too few"], sizes=[1270, 1560.4, 4],
    size_name="patients", doubts=[0], from_zero=True,
)  # fmt: skip


def test_points_have_people_at_the_edge_a_hollow_mark_and_a_dashed_line() -> None:
    svg = chart([GROUPS], "costs")
    parsed = ElementTree.fromstring(svg)
    texts = ["".join(element.itertext()) for element in parsed.iter("text")]
    assert {"too few", "patients", "1,270", "1,560", "4", "Mean cost per patient (euros)"} <= set(texts)
    assert UNCERTAIN in texts
    marks = list(parsed.iter("circle"))
    assert [mark.get("class") for mark in marks] == ["bar", "bar", "hollow"]
    assert marks[2].get("fill") == "none"
    assert svg.count('stroke-dasharray="5 4"') == 1
    figure = picture.draw_figure([GROUPS], "costs")
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == ["oncology", "surgery", "burns"]
    assert axes.get_xlim()[0] == 0
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first group stands on top
    assert axes.get_xlabel() == "Mean cost per patient (euros)"
    written = [text.get_text() for text in axes.texts]
    assert written == ["too few", "1,270", "1,560", "4", "patients"]
    dashed = [line for line in axes.lines if line.get_linestyle() == "--"]
    assert [line.get_ydata()[0] for line in dashed] == [0.5]
    hollow = [line for line in axes.lines if line.get_markerfacecolor() == "none"]
    assert [line.get_ydata()[0] for line in hollow] == [2]
    assert figure.get_supxlabel() == UNCERTAIN


def test_no_true_number_is_below_zero_and_so_is_no_axis() -> None:
    panel = Panel("people", ["a", "b"], [500, 3], "item", [(480, 520), (-17, 23)])
    for from_zero, lowest in ((True, 0.0), (False, -17.0)):
        drawn = replace(panel, from_zero=from_zero)
        (axes,) = picture.draw_figure([drawn], "people").axes
        assert (axes.get_ylim()[0] == 0) == from_zero
        assert axes.get_ylim()[0] <= lowest
        parsed = ElementTree.fromstring(chart([drawn], "people"))
        whisker = [path.get("d") or "" for path in parsed.iter("path")][1]
        axis = next(line.get("x1") for line in parsed.iter("line") if line.get("class") == "axis")
        assert whisker.startswith(f"M{axis} ") == from_zero


def test_panels_of_one_scale_end_alike_and_a_long_title_is_not_cut() -> None:
    panels = split_panel(Panel("people", [], [5, 7, 90], from_zero=True), ["n", "n", "s"], ["f", "m", "f"])
    figure = picture.draw_figure(
        panels, "Share of patients with at least one visit where kind = 'emergency', by region"
    )
    assert len({axes.get_ylim() for axes in figure.axes}) == 1
    assert [axes.get_title() for axes in figure.axes] == ["n", "s"]
    assert "\n" in figure.get_suptitle()
    figure.draw_without_rendering()
    box = figure.texts[0].get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width


def test_a_long_label_has_lines_and_a_very_long_one_an_end() -> None:
    label = "diseases of the musculoskeletal system and connective tissue"
    parsed = ElementTree.fromstring(chart([Panel("people", [label, "y" * 5000], [1, 2])], "a title"))
    texts = [element.text for element in parsed.iter() if element.tag.endswith("text")]
    assert " ".join(text for text in texts if text and text in label and len(text) > 3) == label
    assert sum(len(text or "") for text in texts if text and set(text) <= {"y", "…"}) == 300


def test_pictures_of_dots_are_large_enough_to_print(tmp_path: Any) -> None:
    path = tmp_path / "a.png"
    lb.DiscreteLaplace(epsilon=1).release([10, 20]).plot(str(path))
    head = path.read_bytes()
    assert int.from_bytes(head[16:20], "big") == round(6.3 * picture.DOTS)
