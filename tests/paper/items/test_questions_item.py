from ghr.paper.item import Place
from ghr.paper.items.questions import Questions
from ghr.paper.questions import QUESTIONS, QuestionRow
from ghr.paper.runs import RowRun


def test_every_question_has_its_line_and_those_without_a_run_say_so(tmp_path):
    rows = tuple(QuestionRow.on(question, seeds=(0,), graphs=5, epochs=1, tests=2) for question in QUESTIONS[:2])
    RowRun(rows[1], 0, tmp_path / "runs").work(tmp_path, quiet=True)
    report = Questions(rows=rows).report(Place(runs=tmp_path / "runs", data=tmp_path))
    assert [len(row["seeds"]) for row in report.record["rows"]] == [0, 1]
    lengths, nearest = (line for line in report.text.splitlines() if line.startswith(("| lengths", "| nearest")))
    assert "not run" in lengths
    assert f"{report.record['rows'][1]['seeds'][0]['beyond']:.4f}" in nearest
    assert "of 2 questions" in report.text
