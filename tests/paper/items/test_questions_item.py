from ghr.paper.item import Place
from ghr.paper.items.questions import Questions
from ghr.paper.questions import QUESTIONS


def test_every_question_has_its_line(tmp_path):
    item = Questions(questions=QUESTIONS[:2], seeds=(0,), graphs=5, epochs=1, tests=2)
    report = item.report(Place(data=tmp_path))
    assert [row["question"] for row in report.record["measured"]] == ["lengths", "nearest"]
    assert "| nearest: hops to the nearest of 3 marked nodes |" in report.text
    assert "of 2 questions" in report.text
