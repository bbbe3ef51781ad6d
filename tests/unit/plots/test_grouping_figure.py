"""Figures of classes: what is drawn is what was found."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.colors import to_hex

from kanon_pg.errors import InputError
from kanon_pg.grouping.found import FoundClass, FoundValue, Grouped
from kanon_pg.reports.plots import COLOURS, draw_grouping, write_figure


def grouped(kind: str = "labels", **fields: object) -> Grouped:
    defaults = {
        "relation": '"public"."costs in $ and $"',
        "columns": ("a$b$c",),
        "kind": kind,
        "k": 3,
        "unit": "pay$$",
        "cost_kind": "max",
        "cost": 5,
        "lower_bound": 4,
        "ratio": 1.25,
        "optimal": False,
        "method": "found",
        "bound_method": "proven",
        "classes": (FoundClass(1, "one", 3, 2), FoundClass(2, "two", 5, 2)),
        "values": tuple(FoundValue(str(n), 1 + n // 2, 2) for n in range(4)),
    }
    return Grouped(**(defaults | fields))  # type: ignore[arg-type]


PLACED = tuple(FoundValue(str(n), 1 + n // 2, 2, float(n), float(n % 2)) for n in range(4))


def test_without_places_there_are_only_sizes() -> None:
    (axes,) = draw_grouping(grouped()).axes
    assert [bar.get_height() for bar in axes.patches] == [5, 3]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["k = 3", "largest class: at least"]
    assert [line.get_ydata()[0] for line in axes.lines] == [3, 4]
    assert "at most 1.250 times the least" in axes.get_title(loc="left")


@pytest.mark.parametrize(("height", "aspect"), [(1.0, 1.0), (0.001, "auto")])
def test_a_map_of_uneven_scales_has_room_for_both(height: float, aspect: object) -> None:
    values = tuple(FoundValue(str(n), 1 + n // 2, 2, float(n), height * (n % 2)) for n in range(4))
    assert draw_grouping(grouped("regions", values=values)).axes[0].get_aspect() == aspect


def test_rectangles_are_drawn_where_they_are() -> None:
    boxes = ((0.0, 0.0, 1.5, 1.0), (1.5, 0.0, 3.0, 1.0))
    classes = tuple(FoundClass(n + 1, None, 3, 2, box) for n, box in enumerate(boxes))
    figure = draw_grouping(grouped("rectangles", classes=classes, values=PLACED))
    (drawn,) = [one for one in figure.axes[0].collections if isinstance(one, PatchCollection)]
    extents = [path.get_extents().extents.round(9).tolist() for path in drawn.get_paths()]
    assert extents == [list(box) for box in boxes]


def test_regions_are_joined_within_and_differ_from_their_neighbours() -> None:
    figure = draw_grouping(grouped("regions", values=PLACED, edges=((0, 1), (1, 2), (2, 3))))
    (lines,) = [one for one in figure.axes[0].collections if isinstance(one, LineCollection)]
    assert [path.vertices.tolist() for path in lines.get_paths()] == [[[0, 0], [1, 1]], [[2, 0], [3, 1]]]
    tints = [to_hex(tint).upper() for tint in lines.get_colors()]
    assert len({*tints}) == 2
    assert {*tints} <= {colour.upper() for colour in COLOURS}


def test_the_bound_is_drawn_only_where_it_says_something() -> None:
    for fields in ({"cost_kind": "sum"}, {"lower_bound": 3}):
        (axes,) = draw_grouping(grouped(**fields)).axes
        assert len(axes.lines) == 1


def test_large_classes_do_not_hide_the_others() -> None:
    classes = (FoundClass(1, "one", 3, 2), FoundClass(2, "two", 500, 2))
    (axes,) = draw_grouping(grouped(classes=classes)).axes
    assert axes.get_yscale() == "log"


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_files_are_written_in_each_format(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"figure{suffix}"
    write_figure(draw_grouping(grouped("regions", values=PLACED, edges=((0, 1),))), path)
    assert path.stat().st_size > 1000


def test_other_formats_and_folders_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "figure.txt", tmp_path / "none" / "figure.png"):
        with pytest.raises(InputError):
            write_figure(draw_grouping(grouped()), path)
