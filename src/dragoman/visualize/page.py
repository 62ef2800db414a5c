"""The frame of every page: one HTML file, light and dark, without a network and without a library."""

from collections.abc import Sequence
from functools import cache
from html import escape
from importlib import resources


def html_page(title: str, body: Sequence[str], *, style: str = "", scripted: bool = False) -> str:
    """Return a whole page.

    Args:
        title: As plain text.
        body: Parts of HTML, one after the other.
        style: CSS that is added to that of all pages.
        scripted: Whether scripts of the page itself may run; nothing from elsewhere ever may.
    """
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    policy += "; script-src 'unsafe-inline'" if scripted else ""
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width">'
        f"<title>{escape(title)}</title><style>{asset('page.css')}{style}</style></head>"
        f"<body>{''.join(body)}</body></html>\n"
    )


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, kind: str = "") -> str:
    """Return a table of plain texts.

    Args:
        heads: Names of the columns; none, and the table has no head.
        rows: Texts of the cells.
        kind: "numbers" sets all cells to the right, "findings" does not break the last column.
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return f'<div class="wide"><table class="{kind}"><tr>{head}</tr>{body}</table></div>'


@cache
def asset(name: str) -> str:
    """Return a file that lies beside the pages' modules."""
    return (resources.files(__package__) / "assets" / name).read_text("utf-8")
