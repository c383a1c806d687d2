from ghr.paper.equal import SEED
from ghr.paper.lrgb import LRGB_COLUMNS, LRGB_SYSTEMS
from ghr.paper.trees import TreeRow

(COLUMN,) = LRGB_COLUMNS
ROWS = {system.key: COLUMN.row(system) for system in LRGB_SYSTEMS}


def test_all_rows_can_be_built_and_all_numbers_belong_to_a_system():
    assert len(ROWS) == len(LRGB_SYSTEMS)
    assert {*COLUMN.epochs} == {*ROWS}
    assert {*COLUMN.published} <= {*ROWS}
    for row in ROWS.values():
        row.experiment(SEED)  # refuses what no option is named


def test_published_numbers_are_those_of_the_paper():
    assert COLUMN.published["graph-vit"] == "0.2449"
    assert COLUMN.published["ghr-gated-gine"] == "0.2821"
    assert "cannot be compared" in COLUMN.caution


def test_all_systems_see_the_same_molecules():
    data = [row.experiment(SEED).data for row in ROWS.values()]
    assert all(one == data[0] for one in data)
    assert data[0].describe()["options"]["molecules"] == "lrgb"


def test_networks_are_of_one_size_and_the_starts_of_ghr_are_all_that_differs_between_its_rows():
    budgets = {key: row.experiment(SEED).options.get("budget") for key, row in ROWS.items()}
    none = {"ghr-gated-gine", "ghr-gated-gine-scaled", "constant", "ecfp-trees"}
    assert {key: budget for key, budget in budgets.items() if budget is None}.keys() == none
    assert {budget for budget in budgets.values() if budget is not None} == {20_000}
    paper, scaled = (ROWS[key].experiment(SEED) for key in ("ghr-gated-gine", "ghr-gated-gine-scaled"))
    assert {**paper.options} == {**scaled.options, "start": "paper"}
    assert paper.train == scaled.train


def test_trees_are_rows_of_their_own_kind():
    assert [key for key, row in ROWS.items() if isinstance(row, TreeRow)] == ["ecfp-trees"]
    assert ROWS["ecfp-trees"].size_unit == "trees"
