import json
import os
import pickle

import numpy as np
import pytest

from ghr.datasets.generators.molecules.split import choose_split, read_split

WANTED = {"train": [0, 3, 4], "val": [1], "test": [2]}


def test_three_kinds_of_file_say_the_same(tmp_path):
    (tmp_path / "a.json").write_text(json.dumps(WANTED))
    (tmp_path / "a.csv").write_text("split\ntrain\nval\ntest\ntrain\ntrain\n")
    (tmp_path / "a.pickle").write_bytes(pickle.dumps({name: np.array(rows) for name, rows in WANTED.items()}))
    for name in ("a.json", "a.csv", "a.pickle"):
        assert read_split(tmp_path / name, 5) == WANTED


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("dtype", ["int64", "int32", "uint32"])
def test_pickles_of_every_protocol_are_read(tmp_path, protocol, dtype):
    content = {name: np.array(rows, dtype=dtype) for name, rows in WANTED.items()}
    path = tmp_path / "a.pickle"
    path.write_bytes(pickle.dumps(content, protocol))
    if protocol < 3 or protocol == 5:  # these write the bytes by a call of Python's own, or out of the array's memory
        with pytest.raises(ValueError, match="it asks for"):
            read_split(path, 5)
    else:
        assert read_split(path, 5) == WANTED


def test_old_numpy_wrote_another_name(tmp_path):
    content = pickle.dumps({name: np.array(rows) for name, rows in WANTED.items()}, 4)
    old = content.replace(b"\x8c\x16numpy._core.multiarray", b"\x8c\x15numpy.core.multiarray")
    assert old != content
    (tmp_path / "a.pickle").write_bytes(
        old[:3] + (int.from_bytes(old[3:11], "little") - 1).to_bytes(8, "little") + old[11:]
    )
    assert read_split(tmp_path / "a.pickle", 5) == WANTED


class Payload:
    def __init__(self, path):
        self.path = str(path)

    def __reduce__(self):
        return os.mkdir, (self.path,)


@pytest.mark.parametrize("protocol", range(6))
def test_a_pickle_that_would_run_code_is_refused_by_name(tmp_path, protocol):
    path, target = tmp_path / "a.pickle", tmp_path / "made by the file"
    path.write_bytes(pickle.dumps({"train": [], "val": [], "test": Payload(target)}, protocol))
    with pytest.raises(ValueError, match=r"it asks for (posix|nt|os)\.mkdir, which could run code"):
        read_split(path, 5)
    assert not target.exists()


@pytest.mark.parametrize("content", [3, [1, 2], {"train": [0]}, {"train": np.array([0.5]), "val": [], "test": []}])
def test_other_pickles_are_refused(tmp_path, content):
    (tmp_path / "a.pkl").write_bytes(pickle.dumps(content, 4))
    with pytest.raises(ValueError, match="is not a split"):
        read_split(tmp_path / "a.pkl", 5)


@pytest.mark.parametrize("content", [b"", b"garbage", pickle.dumps(WANTED)[:-9]])
def test_damaged_pickles_are_refused(tmp_path, content):
    (tmp_path / "a.pickle").write_bytes(content)
    with pytest.raises(ValueError, match="is not a split"):
        read_split(tmp_path / "a.pickle", 5)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.txt", "", "a file of the kind .json, .csv, .pickle, .pkl; got"),
        ("a.csv", "set\ntrain\n", "needs a column named split; it has set"),
        ("a.csv", "split\ntrain\ndev\n", "unknown splits dev"),
        ("a.json", "{", "is not a split"),
        ("a.json", '{"train": [0], "val": [0], "test": []}', "a row occurs more than once"),
        ("a.json", '{"train": [0], "val": [5], "test": []}', "has the rows 0 to 5, but the data has 0 to 4"),
    ],
)
def test_wrong_files_are_refused(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=message):
        read_split(tmp_path / name, 5)


def test_choose_split_is_eight_one_one_and_fixed():
    found = [choose_split(f"C{index}", 0) for index in range(5000)]
    assert found == [choose_split(f"C{index}", 0) for index in range(5000)]
    shares = [found.count(name) / 5000 for name in ("train", "val", "test")]
    assert shares == pytest.approx([0.8, 0.1, 0.1], abs=0.02)
    assert found != [choose_split(f"C{index}", 1) for index in range(5000)]
