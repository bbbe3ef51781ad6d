"""What a limit cut short is marked where it stands."""

from __future__ import annotations

from dataclasses import replace

from kanon_pg.cli.analyses import curve_table
from kanon_pg.core.termination import Termination
from kanon_pg.reports.assemble import report
from kanon_pg.reports.document import html_page
from tests.fixtures.audit_reports import audit_of, curve_of


def test_a_page_marks_points_whose_search_was_cut() -> None:
    """Once, a page said "k = 5 costs 35.2 %" of what costs half of that."""
    whole, cut = (
        html_page(report(audit_of(), curve=curve_of((2, 5, 10, 50), ended=ended)))
        for ended in (Termination.EXHAUSTED, Termination.TIME)
    )
    assert "cut by" not in whole
    assert "5.6% (cut by the time limit: a longer search may find less)." in cut
    assert cut.count(">cut by the time limit</td>") == 2
    assert cut.count("% cut</span>") == 2
    assert "2 from searches that a limit cut." in cut


def test_a_terminal_marks_them_in_their_row() -> None:
    cells = list(curve_table(curve_of((2, 5, 10, 50), ended=Termination.MEMORY)).columns[-1].cells)
    assert [str(cell) for cell in cells] == [
        "proven",
        "cut by the memory budget",
        "proven",
        "cut by the memory budget",
    ]


def test_a_list_of_sets_says_that_the_time_cut_it() -> None:
    unfinished = replace(audit_of(), is_complete=False, complete_columns=2)
    assert "cut" not in (unfinished.limitation() or "")
    cut = replace(unfinished, termination=Termination.TIME)
    assert (cut.limitation() or "").endswith("may be missing (cut by the time limit).")
