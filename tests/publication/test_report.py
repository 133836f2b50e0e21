"""The report shows nothing that is hidden, and a made-up one says so on every page."""

from __future__ import annotations

import lastbit as lb
from lastbit.publication.simulation import simulate_report
from tests.publication.studies import TEXT, make_study

CROSSED = """
[[question]]
name = "crossed"
ask = "tables"
by = ["region", "cost"]
domain = { region = ["north", "south"] }
edges = { cost = [0, 500] }

[[question]]
name = "typical"
ask = "quantile"
at = [0.25, 0.5]
of = "cost"
by = "region"
domain = ["north", "south"]
bounds = [0, 1000]
"""


def test_a_hidden_number_is_in_no_picture(tmp_path):
    (tmp_path / "all").mkdir()
    text = TEXT.replace("[output]", f"{CROSSED}\n[output]\nhide_below = 100000")
    written = lb.Publication.from_file(make_study(tmp_path, text)).run()
    for name in ("regions", "crossed", "typical"):
        view = written[name]
        assert not any(view.to_frame()["shown"])
        assert all(height is None for panel in view.panels for height in panel.heights), name
        assert not any(pair for panel in view.panels for pair in (*panel.intervals, *panel.noise)), name
        assert view.chart == ""
        assert not (tmp_path / "report" / "answers" / f"{name}.svg").exists()
        assert "any number" not in str(view)
    shown = lb.Publication.from_file(make_study(tmp_path / "all", text.replace("100000", "0"))).run()
    assert all(shown[name].chart for name in ("regions", "crossed", "typical"))


def test_a_made_up_report_says_so_on_every_page_and_pages_have_numbers(tmp_path):
    publication = lb.Publication.from_file(make_study(tmp_path))
    mark = "SIMULATED: these numbers are made up."
    page = simulate_report(publication)
    assert page.count(mark) == 2  # above the title, and in the margin of all pages
    assert "@top-center" in page
    publication.run()
    report = (tmp_path / "report" / "report.html").read_text()
    assert mark not in report
    assert 'counter(page) " of " counter(pages)' in report
