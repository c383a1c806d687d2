import json
from dataclasses import replace

import pytest
import torch
from rdkit import Chem

import ghr
from ghr.datasets import PeptidesStruct
from ghr.models import Constant
from ghr.paper.equal import Column, System
from ghr.paper.export import export_best
from ghr.paper.item import Place
from ghr.paper.items.equal import EqualTable
from ghr.paper.kept import bring, keep
from ghr.paper.runs import RowRun, list_runs, work_on
from ghr.paper.trees import NAME, TreeExperiment, TreeRow

pytest.importorskip("sklearn")
SYSTEMS = (
    System("constant", "best constant", "constant", family="floor", own_recipe=True),
    System("trees", "trees", NAME, {"size": 64}, family="floor", own_recipe=True, row=TreeRow),
)
COLUMN = Column(
    "peptides-struct", "Peptides-struct, MAE", "peptides-struct", {"train": 50, "val": 6, "test": 8}, 8, "mae",
    {"batch_size": 16}, {"constant": 2, "trees": 5}, {"constant": "0.5"}, digits=4, caution="They are other peptides.",
)  # fmt: skip
TABLE = EqualTable("table-tiny", "Tiny", "Tiny molecules.", SYSTEMS, (COLUMN,))
TREES = COLUMN.row(SYSTEMS[1])


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trees")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ghr.datasets.generators.molecules.sequences.RESIDUES", (1, 3))
        place = Place(folder / "runs", folder / "data")
        assert work_on(list_runs(TABLE.rows, place.runs), place.data, quiet=True) == []
        yield place


def targets(place, split):
    graphs = PeptidesStruct(place.data, split, num_graphs=COLUMN.graphs[split])
    return torch.cat([graph.y for graph in graphs])


def test_trees_beat_the_best_constant(place):
    result = RowRun(TREES, 42, place.runs).result()
    median = targets(place, "train").quantile(0.5, dim=0)
    assert 0 < result["metrics"]["mae"] < float((targets(place, "test") - median).abs().mean())


def test_where_no_tree_can_split_the_error_is_that_of_the_median(place, tmp_path):
    few = replace(TREES, setup=replace(TREES.setup, graphs={"train": 9, "val": 6, "test": 8}))
    result = few.experiment(42).run(tmp_path, place.data, quiet=True).result
    median = targets(place, "train")[:9].quantile(0.5, dim=0)
    assert result["metrics"]["mae"] == pytest.approx(float((targets(place, "test") - median).abs().mean()), rel=1e-5)
    assert result["best_val"] == pytest.approx(float((targets(place, "val") - median).abs().mean()), rel=1e-5)
    assert (result["best_epoch"], result["parameters"]) == (1, 11)


def test_a_run_says_what_it_was_and_is_the_same_again(place, tmp_path):
    seen = []
    run = RowRun(TREES, 42, place.runs)
    again = run.experiment.run(tmp_path / "again", place.data, quiet=True, callback=seen.append)
    result = run.result()
    assert again.result["metrics"] == result["metrics"]
    lines = [json.loads(line) for line in (run.path / "metrics.jsonl").read_text().splitlines()]
    assert lines == seen
    assert [line["epoch"] for line in lines] == [1, 2, 3, 4, 5]
    assert result["best_val"] == min(line["val"] for line in lines)
    assert result["parameters"] == 11 * result["best_epoch"]
    assert {"scikit-learn", "rdkit", "ghr"} <= {*result["versions"]}
    assert result["config"]["experiment"]["options"] == {"radius": 2, "size": 64}
    assert result["config"]["train"] == {"epochs": 5, "lr": 0.1, "seed": 42}
    assert result["cpu_seconds"] > 0
    before = (tmp_path / "again" / "result.json").read_bytes()
    run.experiment.run(tmp_path / "again", place.data, quiet=True)
    assert (tmp_path / "again" / "result.json").read_bytes() == before, "a finished run is not grown again"


def test_trees_are_passed_over_in_an_export_since_they_keep_no_weights(place, tmp_path, caplog):
    runs = list_runs(TABLE.rows, place.runs, seeds=1)
    best = export_best(runs, tmp_path / "model")
    assert best.row.title == "best constant"
    assert isinstance(ghr.load(tmp_path / "model"), Constant)
    assert "passed over although better: trees, seed 42 (" in caplog.text
    with pytest.raises(ValueError, match=r"none of 1 finished runs has weights: .*/trees\. Trees keep none"):
        export_best([run for run in runs if run.row == TREES], tmp_path / "other")


def test_a_run_of_other_trees_is_refused(place, tmp_path):
    other = replace(TREES, settings={**TREES.settings, "size": 32})
    with pytest.raises(ValueError, match=r"belongs to another run: options is \{'radius': 2, 'size': 64\} there"):
        RowRun(other, 42, place.runs).result()


def test_fingerprints_count_fragments(place):
    graphs = PeptidesStruct(place.data, "val", num_graphs=6)
    counts = TREES.experiment()._count_fragments(graphs)
    assert counts.shape == (6, 64)
    for smiles, row in zip(graphs.list_smiles(), counts, strict=True):
        atoms = Chem.MolFromSmiles(smiles).GetNumAtoms()
        assert row.sum() >= atoms, "every atom is a fragment of radius 0"
        assert row.max() > 1


def test_the_table_counts_trees_and_is_made_again_from_what_is_kept(place, tmp_path):
    text = TABLE.report(place).text
    result = RowRun(TREES, 42, place.runs).result()
    shown = f"| trees | {result['metrics']['mae']:.4f} | - | - | {result['parameters']} trees | 5 |"
    assert shown in text
    assert "Peptides-struct, MAE / published (not comparable) |" in text
    assert "**They are other peptides.**" in text
    keep(list_runs(TABLE.rows, place.runs), tmp_path / "results")
    bring(list_runs(TABLE.rows, tmp_path / "runs"), tmp_path / "results")
    assert TABLE.report(Place(tmp_path / "runs", tmp_path / "no-data")).text == text


def test_a_row_says_what_it_costs_before_it_is_run():
    assert TREES.budget == "5 rounds, 55 trees, learning rate 0.1"
    with pytest.raises(ValueError, match="trees has no option 'layers'"):
        replace(TREES, settings={"layers": 3}).experiment()


def test_graphs_without_smiles_are_refused(tmp_path):
    row = replace(TREES, setup=replace(TREES.setup, benchmark="echo-diam"))
    with pytest.raises(ValueError, match="Fingerprints need the SMILES of molecules, which ECHOSynth does not have"):
        row.experiment().run(tmp_path / "run", tmp_path / "data", quiet=True)
    with pytest.raises(ValueError, match="ecfp-trees has no option 'bits'"):
        TreeExperiment(row.experiment().data, options={"bits": 3})
