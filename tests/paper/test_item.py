import json
from dataclasses import dataclass

import pytest
from matplotlib.figure import Figure

from ghr.paper.item import Place, Report, check_progress, report_files, write_report


@dataclass(frozen=True)
class Drawn:
    """An item of nothing but a text and a figure."""

    text: str
    figure: Figure | None
    name: str = "drawn"
    title: str = "Drawn"
    rows: tuple = ()

    def report(self, place):
        return Report(self.text, {"value": 1}, self.figure)


class Broken(Figure):
    def savefig(self, *args, **kwargs):
        raise OSError(28, "No space left on device")


def test_page_record_and_picture_are_written(tmp_path):
    files = report_files(Drawn("", None), tmp_path)
    assert write_report(Drawn("1 ± 2", Figure()), Place(), tmp_path) == [files["md"], files["json"], files["png"]]
    text = files["md"].read_text(encoding="utf-8")
    assert text == "# Drawn\n\n`ghr reproduce drawn`\n\n![Drawn](drawn.png)\n\n1 ± 2\n"
    assert json.loads(files["json"].read_text())["value"] == 1
    assert write_report(Drawn("without", None), Place(), tmp_path) == [files["md"], files["json"]]


def test_a_failure_leaves_what_was_there(tmp_path):
    write_report(Drawn("before", Figure()), Place(), tmp_path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    with pytest.raises(OSError, match="No space left on device"):
        write_report(Drawn("after", Broken()), Place(), tmp_path)
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before


@pytest.mark.parametrize("text", ["", "[]", "{", '{"finished_runs": null}'])
def test_what_says_nothing_of_runs_may_be_replaced(tmp_path, text):
    report_files(Drawn("", None), tmp_path)["json"].write_text(text)
    check_progress(Drawn("", None), tmp_path, 0)


def test_fewer_runs_are_refused(tmp_path):
    report_files(Drawn("", None), tmp_path)["json"].write_text('{"finished_runs": 2}')
    check_progress(Drawn("", None), tmp_path, 2)
    with pytest.raises(ValueError, match="was made of 2 finished runs, but here are 1; give another folder"):
        check_progress(Drawn("", None), tmp_path, 1)
