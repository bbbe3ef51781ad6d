import gzip
from pathlib import Path

import pytest

from kanon_pg.core.hierarchy import hierarchy_of
from kanon_pg.errors import InputError
from kanon_pg.hierarchies.sources import read_csv, taxonomy

_TREE = [("I21", "I"), ("I22", "I"), ("J10", "J"), ("I", "all"), ("J", "all"), ("all", None)]


def test_a_table_of_parents_is_a_hierarchy_whose_root_is_the_top() -> None:
    found = taxonomy(_TREE)
    assert sorted(found.rows()) == [["I21", "I"], ["I22", "I"], ["J10", "J"]]
    assert found.height == 2


def test_several_roots_have_a_top_above_them_and_need_no_row_of_their_own() -> None:
    found = taxonomy(_TREE[:3])
    assert sorted(found.rows()) == [["I21", "I"], ["I22", "I"], ["J10", "J"]]


def test_entries_of_different_depth_repeat_themselves_if_they_may() -> None:
    uneven = [*_TREE, ("K", "all")]
    with pytest.raises(InputError, match="1 of 4 values are less deep than 3 levels"):
        taxonomy(uneven)
    assert ["K", "K"] in taxonomy(uneven, repeats=True).rows()


def test_inner_entries_can_be_values_that_share_their_own_node() -> None:
    rows = taxonomy(_TREE, with_inner=True).rows()
    assert {tuple(row) for row in rows} == {
        ("I21", "I"),
        ("I22", "I"),
        ("J10", "J"),
        ("I", "I"),
        ("J", "J"),
        ("all", "all"),
    }


def test_a_long_chain_is_no_cycle() -> None:
    chain = [(f"n{number}", f"n{number + 1}") for number in range(50)]
    assert taxonomy(chain).height == 50


_SECRET = "secret"


@pytest.mark.parametrize(
    ("entries", "sentence"),
    [
        ([(_SECRET, _SECRET)], "has a cycle"),
        ([(_SECRET, "a"), ("a", "b"), ("b", _SECRET)], "has a cycle"),
        ([("a", "b"), ("b", "a"), (_SECRET, "a")], "has a cycle"),
        ([(_SECRET, "a"), (_SECRET, "b")], "1 rows give an entry a second parent"),
        ([(_SECRET, "a"), (_SECRET, None)], "1 rows give an entry a second parent"),
        ([(_SECRET, "a"), (_SECRET, "a")], "1 rows repeat an entry"),
        ([(None, "a"), (_SECRET, "a")], "1 of its entries are NULL"),
        ([], "has no values"),
    ],
)
def test_hostile_tables_of_parents_are_refused(
    entries: list[tuple[str | None, str | None]], sentence: str
) -> None:
    with pytest.raises(InputError) as refused:
        taxonomy(entries)
    assert sentence in refused.value.message
    assert _SECRET not in str(refused.value)


_ROWS = [["13053", "130**", "*"], ["a, b", "x", "*"]]


@pytest.mark.parametrize(
    "text",
    [
        'level_0,level_1,level_2\n13053,130**,*\n"a, b",x,*\n',
        '"level_0","level_1","level_2"\r\n13053,130**,*\r\n"a, b",x,*',
        '\ufefflevel_0,level_1,level_2\n13053,130**,*\n\n"a, b",x,*\n',
        "level_0;level_1;level_2\n13053;130**;*\na, b;x;*\n",
        "13053;130**;*\na, b;x;*\n",
    ],
)
def test_both_formats_are_recognized(tmp_path: Path, text: str) -> None:
    file, packed = tmp_path / "plain.csv", tmp_path / "packed.csv.gz"
    file.write_text(text, encoding="utf-8", newline="")
    packed.write_bytes(gzip.compress(text.encode()))
    assert read_csv(file) == read_csv(packed) == _ROWS


def test_delimiter_and_header_can_be_given(tmp_path: Path) -> None:
    file = tmp_path / "one.csv"
    file.write_text("value|node\nlevel_0|x\n", encoding="utf-8")
    assert read_csv(file, "|", header=True) == [["level_0", "x"]]
    assert read_csv(file, "|", header=False) == [["value", "node"], ["level_0", "x"]]


@pytest.mark.parametrize("sign", [",", "\t", "|"])
def test_another_delimiter_is_not_taken_for_part_of_the_values(tmp_path: Path, sign: str) -> None:
    file = tmp_path / "other.csv"
    file.write_text(f"Oncology{sign}internal\nSurgery{sign}surgical\n", encoding="utf-8")
    with pytest.raises(InputError, match="one field") as refused:
        read_csv(file)
    assert "Oncology" not in str(refused.value)
    assert len(read_csv(file, sign)[0]) == 2
    assert len(read_csv(file, ";")[0]) == 1


DATA = Path(__file__).resolve().parents[4] / "shared" / "data" / "hierarchies" / "adult"


@pytest.mark.skipif(not DATA.is_dir(), reason="the public hierarchies are not beside this checkout")
def test_public_hierarchies_are_hierarchies() -> None:
    found = {path.name: hierarchy_of(read_csv(path)) for path in sorted(DATA.glob("*.csv.gz"))}
    assert found["age.csv.gz"].height == 4
    assert found["education.csv.gz"].node_counts == (16, 5, 3, 1)
    assert len(found) >= 8


def test_empty_fields_are_gaps(tmp_path: Path) -> None:
    file = tmp_path / "gaps.csv"
    file.write_text("a;;*\nb;x;*\n", encoding="utf-8")
    with pytest.raises(InputError, match="gaps: 1 of its cells at level 1"):
        hierarchy_of(read_csv(file))


@pytest.mark.parametrize("content", [b"\xff\xfe;x\n", b'"secret;x\n', gzip.compress(b"a;b\n", mtime=0)[:-9]])
def test_what_cannot_be_read_is_refused_without_its_content(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "broken.csv"
    file.write_bytes(content)
    with pytest.raises(InputError) as refused:
        read_csv(file)
    assert "secret" not in str(refused.value)


def test_a_missing_file_and_a_strange_delimiter_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_csv(tmp_path / "none.csv")
    with pytest.raises(InputError, match="delimiter"):
        read_csv(tmp_path / "none.csv", ";;")
