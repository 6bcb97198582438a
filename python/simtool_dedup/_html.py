"""Results as HTML for notebooks. It has no scripts, and fits narrow screens."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple, Protocol

SIDES = "display:flex;flex-wrap:wrap;gap:.5em 1.5em;max-height:24em;overflow:auto;text-align:left"
"""Two texts side by side, or one below the other on a narrow screen. Long ones are scrolled."""
SIDE = "flex:1 1 18em;min-width:0;overflow-wrap:anywhere"
TEXT = "white-space:pre-wrap"


class Side(NamedTuple):
    """A text with its id and its role. ``html`` has its text escaped."""

    name: str
    role: str
    html: str


class HasHtml(Protocol):
    """What a notebook can show."""

    def _repr_html_(self) -> str:
        """The HTML."""
        ...


def sides(*texts: Side) -> str:
    """Texts beside each other."""
    boxes = (
        f'<div style="{SIDE}"><div><b>{escape(name)}</b> {escape(role)}</div>'
        f'<div style="{TEXT}">{html}</div></div>'
        for name, role, html in texts
    )
    return f'<div style="{SIDES}">{"".join(boxes)}</div>'


def counted(counts: Sequence[tuple[str, int]]) -> str:
    """Counts with their names, in as many lines as the screen needs."""
    cells = (
        f'<div style="padding-right:1.5em"><div>{escape(name)}</div><b>{count:,}</b></div>'
        for name, count in counts
    )
    return f'<div style="display:flex;flex-wrap:wrap">{"".join(cells)}</div>'


def shown(counts: Sequence[tuple[str, int]], pairs: Sequence[HasHtml], what: str = "The least similar duplicates:") -> str:
    """Counts, and pairs of texts below them."""
    listed = "<hr>".join(pair._repr_html_() for pair in pairs)
    return counted(counts) + (f"<p>{escape(what)}</p>{listed}" if pairs else "")
