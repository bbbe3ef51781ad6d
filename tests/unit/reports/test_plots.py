"""Figures show what they say and what was found, need no screen, and only files that they know."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.colors import to_hex

from kanon_pg.core.termination import Termination
from kanon_pg.curves import Curve, CurvePoint
from kanon_pg.errors import InputError
from kanon_pg.grouping.classes import Grouped, GroupedValue, ValueClass
from kanon_pg.reports.plots import COLOURS, draw_curve, draw_grouping, figure_format, write_figure


def point(
    k: int,
    cost: float,
    bound: float | None,
    *,
    classes: int = 10,
    termination: Termination = Termination.EXHAUSTED,
) -> CurvePoint:
    return CurvePoint(
        k=k,
        suppressed_cells=int(cost),
        suppressed_share=cost / 400,
        weighted_cost=cost,
        lower_bound=bound,
        gap=None if bound is None else (cost - bound) / cost,
        optimal=bound == cost,
        classes=classes,
        average_class=3.0,
        method="greedy",
        elapsed=0.1,
        termination=termination,
    )


CURVE = Curve(
    relation='"public"."pay $ roll$"',
    rows=100,
    people=90,
    row_types=40,
    quasi_identifiers=("age", "sex", "zip", "ward"),
    row_weight=4.0,
    points=(point(2, 20, 20.0, classes=300), point(5, 50, 40.0), point(10, 80, None, classes=4)),
)


@pytest.mark.parametrize(
    ("suffix", "start"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF"), (".PNG", b"\x89PNG")]
)
def test_the_suffix_chooses_the_format(tmp_path: Path, suffix: str, start: bytes) -> None:
    path = tmp_path / f"curve{suffix}"
    write_figure(draw_curve(CURVE), path)
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize("name", ["curve", "curve.gif", "curve.png.txt"])
def test_other_formats_are_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="which format") as refused:
        write_figure(draw_curve(CURVE), tmp_path / name)
    assert ".svg" in (refused.value.hint or "")
    assert not list(tmp_path.iterdir())


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="folder does not exist"):
        figure_format(tmp_path / "nowhere" / "curve.png")


def test_a_file_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "curve.png").mkdir()
    with pytest.raises(InputError, match="cannot be written"):
        write_figure(draw_curve(CURVE), tmp_path / "curve.png")


def test_a_figure_that_is_not_finished_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    figure = draw_curve(CURVE)

    def stop(file: IO[bytes], **_: object) -> None:
        file.write(b"half")
        raise OSError(28, "No space left on device")

    figure.savefig = stop  # type: ignore[assignment, method-assign]
    path = tmp_path / "curve.png"
    path.write_bytes(b"before")
    with pytest.raises(InputError, match="cannot be written: No space left"):
        write_figure(figure, path)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_share_and_bound_are_shares_of_what_suppressing_everything_costs() -> None:
    above, below = draw_curve(CURVE).axes
    proven, found = above.lines[:2]
    assert list(found.get_xdata()) == [2, 5, 10]
    assert list(found.get_ydata()) == [0.05, 0.125, 0.2]
    assert list(proven.get_ydata()) == [0.05, 0.1, 0.0]
    assert list(below.lines[0].get_ydata()) == [300, 10, 4]


def test_axes_say_what_they_show() -> None:
    above, below = draw_curve(CURVE).axes
    assert above.get_xscale() == below.get_xscale() == "log"
    assert above.get_ylim()[0] == 0
    assert above.get_ylabel() == "suppressed cells"
    assert below.get_ylabel() == "classes"
    assert [text.get_text() for text in below.get_xticklabels()] == ["2", "5", "10"]
    assert below.get_yscale() == "log"


def test_weights_are_said() -> None:
    above, _ = draw_curve(replace(CURVE, row_weight=8.0)).axes
    assert above.get_ylabel() == "suppressed cells, by weight"
    assert list(above.lines[1].get_ydata()) == [0.025, 0.0625, 0.1]


def test_the_legend_explains_only_what_is_there() -> None:
    def legend(*points: CurvePoint) -> list[str]:
        drawn = draw_curve(replace(CURVE, points=points)).axes[0].get_legend()
        assert drawn is not None
        return [text.get_text() for text in drawn.get_texts()]

    assert legend(point(2, 20, 20.0), point(5, 40, 40.0)) == ["found, proven to be the least"]
    assert legend(point(2, 20, 10.0)) == ["found", "proven bound", "possibly avoidable"]


def test_a_curve_of_one_point_without_any_loss_can_be_drawn(tmp_path: Path) -> None:
    write_figure(
        draw_curve(replace(CURVE, points=(replace(point(2, 1, 1.0), weighted_cost=0.0),))),
        tmp_path / "one.png",
    )
    assert (tmp_path / "one.png").stat().st_size > 1000


def test_drawing_neither_needs_a_screen_nor_touches_the_state_of_pyplot() -> None:
    program = "import sys, kanon_pg.reports.plots\nassert 'matplotlib.pyplot' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_nobody_else_loads_matplotlib() -> None:
    program = "import sys, kanon_pg.client, kanon_pg.cli.analyses\nassert 'matplotlib' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_point_whose_search_was_cut_has_a_mark_of_its_own() -> None:
    cut = replace(CURVE, points=(CURVE.points[0], point(5, 50, 40.0, termination=Termination.TIME)))
    above, _ = draw_curve(cut).axes
    marks = [line.get_marker() for line in above.lines[2:]]
    assert marks == ["o", "v"]
    labels = [text.get_text() for text in above.get_legend().get_texts()]
    assert "found until a limit cut the search" in labels
    assert "found until a limit cut the search" not in [
        text.get_text() for text in draw_curve(CURVE).axes[0].get_legend().get_texts()
    ]


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
        "classes": (ValueClass(1, "one", 3, 2), ValueClass(2, "two", 5, 2)),
        "values": tuple(GroupedValue(str(n), 1 + n // 2, 2) for n in range(4)),
    }
    return Grouped(**(defaults | fields))  # type: ignore[arg-type]


PLACED = tuple(GroupedValue(str(n), 1 + n // 2, 2, float(n), float(n % 2)) for n in range(4))


def test_without_places_there_are_only_sizes() -> None:
    (axes,) = draw_grouping(grouped()).axes
    assert [bar.get_height() for bar in axes.patches] == [5, 3]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["k = 3", "largest class: at least"]
    assert [line.get_ydata()[0] for line in axes.lines] == [3, 4]
    assert "at most 1.250 times the least" in axes.get_title(loc="left")


@pytest.mark.parametrize(("height", "aspect"), [(1.0, 1.0), (0.001, "auto")])
def test_a_map_of_uneven_scales_has_room_for_both(height: float, aspect: object) -> None:
    values = tuple(GroupedValue(str(n), 1 + n // 2, 2, float(n), height * (n % 2)) for n in range(4))
    assert draw_grouping(grouped("regions", values=values)).axes[0].get_aspect() == aspect


def test_rectangles_are_drawn_where_they_are() -> None:
    boxes = ((0.0, 0.0, 1.5, 1.0), (1.5, 0.0, 3.0, 1.0))
    classes = tuple(ValueClass(n + 1, None, 3, 2, box) for n, box in enumerate(boxes))
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
    classes = (ValueClass(1, "one", 3, 2), ValueClass(2, "two", 500, 2))
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
