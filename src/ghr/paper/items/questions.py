"""Questions beside shortest paths, beyond the range of the training."""

import logging
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from ghr.paper.item import Place, Report
from ghr.paper.markdown import markdown_table
from ghr.paper.questions import LARGE, QUESTIONS, SMALL, Question, ask
from ghr.paper.row import Row
from ghr.threads import use_threads
from ghr.train.provenance import machine, versions

logger = logging.getLogger(__name__)
TARGET = 0.1

_CLAIM = f"""\
`ghr-select` is trained on random geometric graphs of {SMALL[0][0]}-{SMALL[0][1]} nodes to answer a question about every
node, 40 epochs over 1,000 graphs, and tested on graphs of {LARGE[0][0]}-{LARGE[0][1]} nodes with four times the
updates.
"Beyond" are the nodes there whose answer is larger than any in training. Nothing in the model knows the question: it
learns whom to listen to, what a step adds and where values start. Mean absolute errors; the constant is the best one
for those nodes. The aim is an error of at most a tenth of it. One thread; the worst seed of those named."""


@dataclass(frozen=True)
class Questions:
    """Every question, asked with several seeds.

    Args:
        questions: What is asked.
        seeds: Of graphs, weights and batches.
        graphs: Graphs for training.
        epochs: Epochs.
        tests: Graphs of each test.
    """

    name: str = "table-questions"
    title: str = "Questions beside shortest paths, beyond the range of the training"
    rows: tuple[Row, ...] = ()  # trained when the table is made
    questions: tuple[Question, ...] = QUESTIONS
    seeds: tuple[int, ...] = (0, 1)
    graphs: int = 1000
    epochs: int = 40
    tests: int = 40

    def report(self, place: Place) -> Report:
        """Train and test all of them."""
        measured: list[dict[str, Any]] = []
        with use_threads(1), tempfile.TemporaryDirectory() as folder:
            for question in self.questions:
                for seed in self.seeds:
                    out = Path(folder, f"{question.name}-{seed}".replace(" ", "-"))
                    answer = ask(question, out, graphs=self.graphs, epochs=self.epochs, tests=self.tests, seed=seed)
                    logger.info("%s, seed %d: %s.", question.name, seed, answer)
                    measured.append({"question": question.name, "seed": seed, "ratio": answer.ratio, **asdict(answer)})
        lines = [self._line(question, measured) for question in self.questions]
        header = [
            "question",
            "trained to",
            "in range",
            "beyond",
            "constant",
            "beyond / constant",
            "parameters",
            "CPU s",
        ]
        met = sum(
            all(row["ratio"] <= TARGET for row in measured if row["question"] == question.name)
            for question in self.questions
        )
        text = (
            f"{_CLAIM}\n\n{markdown_table(header, lines)}\n\nSeeds: {', '.join(map(str, self.seeds))}. At most a tenth "
            f"of the constant's error with every seed: {met} of {len(self.questions)} questions."
        )
        return Report(text, {"measured": measured, "versions": versions(), "machine": machine(torch.device("cpu"))})

    def _line(self, question: Question, measured: list[dict[str, Any]]) -> list[str]:
        rows = [row for row in measured if row["question"] == question.name]
        worst = max(rows, key=lambda row: float(row["ratio"]))
        return [
            f"{question.name}: {question.text}",
            f"{worst['largest']:.1f}",
            f"{worst['in_range']:.4f}",
            f"{worst['beyond']:.4f}",
            f"{worst['constant']:.3f}",
            f"{worst['ratio']:.4f}",
            f"{worst['parameters']:,}",
            f"{sum(row['cpu_seconds'] for row in rows) / len(rows):.0f}",
        ]
