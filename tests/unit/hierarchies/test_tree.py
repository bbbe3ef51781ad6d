import pytest

from kanon_pg.core.hierarchy import GeneralizationHierarchy, hierarchy_of
from kanon_pg.hierarchies.operations import MOST_LINES, tree_lines, tree_of


def ages() -> GeneralizationHierarchy:
    rows = [[str(age), f"[{age // 5 * 5},{age // 5 * 5 + 5})"] for age in range(-5, 15)]
    return hierarchy_of(rows)


def test_a_tree_shows_each_node_below_its_parent_in_the_order_of_numbers() -> None:
    assert list(tree_lines(tree_of(ages(), "int4range"), most=2)) == [
        "*  (20 values)",
        "├── [-5,0)  (5 values)",
        "│   ├── -5",
        "│   ├── -4",
        "│   └── ... 3 more",
        "├── [0,5)  (5 values)",
        "│   ├── 0",
        "│   ├── 1",
        "│   └── ... 3 more",
        "└── ... 2 more",
    ]


def test_one_more_than_shown_is_shown_rather_than_counted() -> None:
    top = tree_of(hierarchy_of([["a"], ["b"], ["c"]]))
    assert list(tree_lines(top, most=2)) == ["*  (3 values)", "├── a", "├── b", "└── c"]


def test_an_open_beginning_comes_first() -> None:
    top = tree_of(hierarchy_of([["5", "[3,9)"], ["1", "(,3)"], ["10", "[9,)"]]), "int4range")
    assert [child.label for child in top.children] == ["(,3)", "[3,9)", "[9,)"]


def test_a_large_tree_is_cut_off() -> None:
    top = tree_of(hierarchy_of([[str(number)] for number in range(3 * MOST_LINES)]))
    lines = list(tree_lines(top, most=10 * MOST_LINES))
    assert (len(lines), lines[-1]) == (MOST_LINES + 1, "...")


@pytest.mark.parametrize("leaves", [3, 5_000])
def test_a_drawing_covers_every_level_from_side_to_side(leaves: int) -> None:
    from kanon_pg.reports.plots import draw_hierarchy

    rows = [[str(leaf), f"{leaf // 10} tens", f"{leaf // 1000} thousands"] for leaf in range(leaves)]
    top = tree_of(hierarchy_of(rows))
    (axes,) = draw_hierarchy(top, "$numbers").axes
    covered = [0.0] * (top.level + 1)
    for patch in axes.patches:
        covered[round(patch.get_y())] += patch.get_width()
    assert covered == [float(leaves)] * (top.level + 1)
    assert len(axes.patches) < 3_000
