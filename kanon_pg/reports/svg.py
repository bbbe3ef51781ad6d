"""Elements of inline SVG that keep their text size at every width.

There is no viewBox: places across are shares of the width, heights and text sizes are pixels. So a drawing
fits a phone, a screen and paper, and its words stay as large as those around it. Colours are classes of
the page's style sheet, for light, dark and paper.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement

from kanon_pg.reports.wording import visible

Place = float | str
"""Pixels as a number; a share of the width as text, see `across`."""


def across(share: float) -> str:
    """Return a share of the width, 0 to 1, as SVG writes it."""
    return f"{100 * share:.2f}%"


def drawing(height: int) -> Element:
    """Return an empty drawing as wide as its place.

    Parameters
    ----------
    height : int
        Pixels.
    """
    return Element("svg", {"width": "100%", "height": str(height)})


def add_text(
    parent: Element,
    x: Place,
    y: float,
    text: str,
    kind: str = "label",
    anchor: str = "start",
    shift: float = 0,
) -> None:
    """Write a text.

    Parameters
    ----------
    parent : Element
        The drawing.
    x, y : float or str
        Where the base line begins, or ends if `anchor` is 'end'.
    text : str
        What to write.
    kind : str
        Class in the style sheet.
    anchor : {'start', 'middle', 'end'}
        Which part of the text is at `x`.
    shift : float
        Pixels to the right.
    """
    attributes = {"x": _place(x), "y": _place(y), "class": kind, "text-anchor": anchor}
    if shift:
        attributes["dx"] = _place(shift)
    SubElement(parent, "text", attributes).text = visible(text)


def add_bar(parent: Element, x: Place, y: float, width: Place, height: float, kind: str) -> None:
    """Draw a filled rectangle."""
    SubElement(
        parent,
        "rect",
        {
            "x": _place(x),
            "y": _place(y),
            "width": _place(width),
            "height": _place(height),
            "rx": "2",
            "class": kind,
        },
    )


def add_line(parent: Element, start: tuple[Place, float], end: tuple[Place, float], kind: str) -> None:
    """Draw a line between two places."""
    (x1, y1), (x2, y2) = start, end
    SubElement(
        parent,
        "line",
        {"x1": _place(x1), "y1": _place(y1), "x2": _place(x2), "y2": _place(y2), "class": kind},
    )


def add_dot(parent: Element, x: Place, y: float, radius: float, kind: str) -> None:
    """Draw a disc."""
    SubElement(parent, "circle", {"cx": _place(x), "cy": _place(y), "r": _place(radius), "class": kind})


def add_upright_text(parent: Element, x: Place, y: float, text: str, kind: str = "label") -> None:
    """Write a text that runs upwards from a place."""
    # A rotation cannot have a share of the width as its centre: the nested drawing moves there first.
    inside = SubElement(parent, "svg", {"x": _place(x), "y": _place(y), "overflow": "visible"})
    SubElement(inside, "text", {"transform": "rotate(-90)", "dy": "4", "class": kind}).text = visible(text)


def add_share_plot(parent: Element, y: float, height: float, left: float, right: float) -> Element:
    """Return a nested drawing in which x and y run from 0 to 1000 and 0 to `height`, stretched to its place.

    Parameters
    ----------
    parent : Element
        The drawing.
    y, height : float
        Pixels.
    left, right : float
        Shares of the width.
    """
    return SubElement(
        parent,
        "svg",
        {
            "x": across(left),
            "y": _place(y),
            "width": across(right - left),
            "height": _place(height),
            "viewBox": f"0 0 1000 {height:g}",
            "preserveAspectRatio": "none",
            "overflow": "visible",
        },
    )


def _place(place: Place) -> str:
    return place if isinstance(place, str) else f"{place:.2f}".rstrip("0").rstrip(".")
