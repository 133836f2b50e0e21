"""A report as one HTML page that needs nothing else: no script, no network, no font."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from html import escape
from importlib.resources import files
from typing import Final

from lastbit.output.table import html_table

_HEAD: Final = '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>'
_END: Final = '<p class="faint">Made by lastbit. No row of a table is in this file.</p>'
_CLOSE: Final = "</main></body></html>\n"


@dataclass(frozen=True)
class Page:
    """The parts of a report, in the order in which people read them. All texts are text, and no HTML."""

    title: str
    summary: Sequence[str]
    """The answer in words."""
    chart: str = ""
    """An SVG element; "" where there is nothing to draw."""
    names: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    price: Sequence[str] = ()
    """What the release cost, and who paid."""
    texts: Sequence[tuple[str, str]] = field(default=())
    """Headings, and the text under each as it is: a command, a program, JSON."""

    def html(self) -> str:
        """Render the whole page.

        >>> page = Page("Top <3>", ["All is well."], names=["item"], rows=[["flu"]]).html()
        >>> "<h1>Top &lt;3&gt;</h1>" in page, "<td>flu</td>" in page, "src=" in page
        (True, True, False)
        """
        parts = [f"<h1>{escape(self.title)}</h1>"]
        if self.chart:
            parts.append(f'<figure class="wide" tabindex="0">{self.chart}</figure>')
        if self.names:
            parts.append(f'<div class="wide">{html_table(self.names, self.rows, "The release")}</div>')
        parts += map(_paragraph, self.summary)
        if self.price:
            parts += ["<h2>The price</h2>", *map(_paragraph, self.price)]
        for heading, text in self.texts:
            parts += [f"<h2>{escape(heading)}</h2>", f"<pre>{escape(text)}</pre>"]
        return assemble_page(self.title, parts)


def assemble_page(title: str, parts: Sequence[str], style: str = "") -> str:
    """Return a page of these parts, which are HTML. Nothing is loaded and nothing runs, whatever a text holds.

    >>> assemble_page("Top", ["<p>flu</p>"]).endswith("in this file.</p></main></body></html>\\n")
    True
    """
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    return (
        f"{_HEAD}{escape(title)}</title>"
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>\n{style_sheet()}{style}</style></head>\n<body><main>{''.join(parts)}{_END}{_CLOSE}"
    )


def is_report(head: bytes, tail: bytes) -> bool:
    """Return whether a file that begins and ends with these bytes is a page of lastbit.

    >>> page = Page("Top 3", []).html().encode()
    >>> is_report(page, page), is_report(page, page[:-30]), is_report(b"item,count", b"flu,3")
    (True, False, False)
    """
    return head.startswith(_HEAD.encode()) and tail.endswith(f"{_END}{_CLOSE}".encode())


@cache
def style_sheet() -> str:
    """Return the style sheet of reports and pages."""
    return files("lastbit.output").joinpath("report.css").read_text("utf-8")


def _paragraph(text: str) -> str:
    return f"<p>{escape(text)}</p>"
