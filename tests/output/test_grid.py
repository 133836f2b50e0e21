"""Answers by two columns of many groups as a grid of numbers: all are there, and how far they may be off."""

from __future__ import annotations

import re
from pathlib import Path

import lastbit as lb
from lastbit.output.chart import chart
from lastbit.output.picture import Panel, draw_figure, png

DEPARTMENTS = [f"department of the number {place}" for place in range(12)]
MONTHS = [f"2024-{month:02d}" for month in range(1, 13)]


def make_table(folder: Path) -> Path:
    file = folder / "visits.csv"
    rows = (f"{who},{DEPARTMENTS[who % 12]},2024-{who % 11 + 1:02d}-03\n" for who in range(1320))
    file.write_text("patient,department,day\n" + "".join(rows))
    return file


def draw(svg: str) -> tuple[list[str], list[float]]:
    """The texts of a picture, and how dark its cells are."""
    texts = re.findall(r"<text [^>]*>([^<]*)", svg)
    return texts, [float(text) for text in re.findall(r'class="cell"[^>]*fill-opacity="([\d.]+)"', svg)]


def test_every_number_of_a_grid_is_printed_and_no_label_is_cut(tmp_path: Path) -> None:
    domain = {"department": DEPARTMENTS, "day": "2024-01..2024-12"}
    options = {"unit": "patient", "by": "department", "month": "day", "domain": domain, "rho": 2}
    answer = lb.ask("count", make_table(tmp_path), **options)
    texts, shades = draw(answer.chart)
    values = [round(value) for value in answer.to_frame()["value"]]
    assert len(shades) == len(values) == 144
    assert sorted(int(text) for text in texts if re.fullmatch(r"-?\d+", text)) == sorted(values)
    assert {*MONTHS} <= {*texts}
    assert "".join(texts).replace(" ", "").count(DEPARTMENTS[0].replace(" ", "")) >= 1
    assert max(shades) == 0.35
    widths = {high - low for low, high in zip(answer.to_frame()["low"], answer.to_frame()["high"], strict=True)}
    width = max(widths)  # intervals of people end at 0
    assert any(f"reaches {width / 2:,.0f} or less to each side" in text for text in texts)


def test_the_edges_of_cells_and_texts_are_in_the_picture(tmp_path: Path) -> None:
    panel = Panel(
        "people",
        [f"{a}, {b}" for a in range(9) for b in MONTHS * 3],
        [1234567] * 324,
        cells=[(f"group {a}", f"{b} {c}") for a in range(9) for c in range(3) for b in MONTHS],
        legend=["A long legend " * 20],
    )
    svg = chart([panel], "title")
    cells = re.findall(r'class="cell" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', svg)
    rights = [float(x) + float(width) for x, width in cells]
    assert len(rights) == 324
    assert max(rights) <= 640
    bottom = float(re.findall(r'viewBox="0 0 640 (\d+)"', svg)[0])
    assert max(map(float, re.findall(r'<text x="[\d.]+" y="([\d.]+)"', svg))) <= bottom
    picture = png(draw_figure([panel], "title"))
    assert picture.startswith(b"\x89PNG")


def test_a_cell_without_a_number_has_a_dash_and_the_legend_says_why(tmp_path: Path) -> None:
    answer = lb.ask(
        "count", make_table(tmp_path), unit="patient", by=["department", "day"], month="day",
        domain={"department": DEPARTMENTS, "day": "2024-01..2024-12"}, rho=2,
    ).hide(below=5)  # fmt: skip
    texts, _ = draw(answer.chart)
    assert texts.count("–") == sum(not shown for shown in answer.to_frame()["shown"]) > 10
    assert "–: fewer than 5." in texts


def test_crosswise_tables_draw_all_groups(tmp_path: Path) -> None:
    answer = lb.ask(
        "tables", make_table(tmp_path), unit="patient", by=["department", "day"], month="day",
        domain={"department": DEPARTMENTS, "day": "2024-01..2024-12"}, rho=2, one_each=True, pivot="department,day",
    )  # fmt: skip
    _, shades = draw(answer.chart)
    assert len(shades) == 144
