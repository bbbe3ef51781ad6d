from __future__ import annotations

from kanon_pg.core.solving import KERNELS
from kanon_pg.runner.parent import COMPILED


def test_the_notice_about_compiling_says_for_each_set_what_it_is_for() -> None:
    assert set(COMPILED) == set(KERNELS)
    assert len(set(COMPILED.values())) == len(KERNELS)
