"""Train a model of Ising lattices further, with the law of scale up to factor eight; made the bundled ``lrim-16-hard``.

python studies/lrim_further/further.py FOLDER --out OTHER [--minutes 10] [--lr 1e-3] [--data data]

With ``--minutes 0`` it only tests. The learning rate falls as a cosine over the processor time, so no two machines do
the same number of updates.
"""

import argparse
import math
import time

import torch
from torch import Tensor, nn
from torch_geometric.data import Data

import ghr
from ghr.datasets import BENCHMARKS, LRIM
from ghr.models.scale_law import ScaleLaw
from ghr.train.evaluate import collate_list

LAW = {2: (1.0, 0.5), 4: (0.5, 0.5), 8: (0.5, 0.15)}  # factor: weight, and how often
BATCH, SIDES = 25, {16: 125, 32: 40, 64: 16, 128: 6, 256: 3}


def measure_law(law: ScaleLaw, model: ghr.GraphModel, data: Data) -> Tensor:
    """Return the penalty of one batch, by factors drawn at random."""
    x, target = data.x.view(BATCH, 16, 16, -1), data.y.view(BATCH, 16, 16)
    total = x.new_zeros(())
    for factor, (weight, often) in LAW.items():
        if torch.rand(()) < often:
            total = total + weight * law.compare_apart(lambda x: law._run(model, model.prepare, x), x, target, factor)
    return total


def train(model: ghr.GraphModel, graphs: list[Data], *, minutes: float, lr: float) -> int:
    """Train for so many minutes of processor time; return the number of updates."""
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    started, updates = time.process_time(), 0
    while True:
        order = torch.randperm(len(graphs))
        for first in range(0, len(graphs) - BATCH + 1, BATCH):
            part = (time.process_time() - started) / (60 * minutes)
            if part >= 1:
                return updates
            for group in optimizer.param_groups:
                group["lr"] = lr * (1 + math.cos(math.pi * part)) / 2 + 1e-6
            data = model.augment(collate_list([graphs[int(index)] for index in order[first : first + BATCH]]))
            loss = ((model(data) - data.y.view(-1, 1)).square().mean() + 1e-12).log10()
            optimizer.zero_grad()
            (loss + measure_law(model.scale_law, model, data)).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            updates += 1


def main() -> None:
    """Train, save, and print the error at every side."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--out", required=True)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--lr", type=float, default=1e-3)
    parser.add_argument("--data", default="data")
    given = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = ghr.load(given.folder).train()
    graphs = BENCHMARKS["lrim-16-hard"].splits(given.data, graphs=1000, pre_transform=model.transform).train
    examples = [graphs[index] for index in range(len(graphs))]
    updates = train(model, examples, minutes=given.minutes, lr=given.lr) if given.minutes > 0 else 0
    model.eval().save_pretrained(given.out)
    print(f"{updates} updates, {model.scale_law}")
    for side, count in SIDES.items():
        tests = LRIM(given.data, side, 0.6, "test", source="generate", num_graphs=count, seed=1)
        errors = []
        for index in range(count):
            graph = model.prepare(tests[index])
            with torch.no_grad():
                errors.append((model(graph) - graph.y.view(-1, 1)).square().mean().item())
        print(side, f"{math.log10(sum(errors) / count):.2f}")


if __name__ == "__main__":
    main()
