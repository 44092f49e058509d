#!/usr/bin/env python3
"""Records small models with batches of 1, 2, 4 and 8 times a size on the CPU, and measures each without a profiler.

    build/torch/bin/python tools/record_batches.py tests/illness/batches          every model
    build/torch/bin/python tools/record_batches.py tests/illness/batches mlp      this one, keeping the others

They check what the rule small-batch predicts (tools/eval). Recorded and measured as tools/record_illness.py does it: one thread,
the recording with the smallest mean step, the smallest of many blocks, sizes in turn.
"""

from __future__ import annotations

import argparse
import json
import platform
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from illness_cases import Case, Steps, mlp, train
from record_illness import block, mean_step, processor, record, start, write
from torch import nn

FACTORS = (1, 2, 4, 8)
RECORDINGS = 12
BLOCKS = 60


def mlp_training(batch: int) -> Steps:
    model = mlp(96, 8)
    sgd = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(batch, 96), torch.randint(10, (batch,))
    while True:
        train(model, sgd, x, y)
        yield


def conv_training(batch: int) -> Steps:
    layers: list[nn.Module] = []
    for depth in range(6):
        layers += [nn.Conv2d(3 if depth == 0 else 16, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU()]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 10))
    sgd = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(batch, 3, 16, 16), torch.randint(10, (batch,))
    while True:
        train(model, sgd, x, y)
        yield


def transformer_inference(batch: int) -> Steps:
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = nn.TransformerEncoder(layer, 6, enable_nested_tensor=False).eval()
    x = torch.randn(batch, 16, 64)
    while True:
        with torch.no_grad():
            model(x)
        yield


MODELS: dict[str, tuple[Callable[[int], Steps], int]] = {
    "mlp": (mlp_training, 2),
    "conv": (conv_training, 1),
    "transformer": (transformer_inference, 1),
}


def run_one(name: str, folder: Path) -> dict[str, float]:
    make, size = MODELS[name]
    cases = {size * factor: Case(f"{name}.{size * factor}", "", lambda _, n=size * factor: make(n), warm=20) for factor in FACTORS}
    for batch, case in cases.items():
        texts = []
        for _ in range(RECORDINGS):
            with tempfile.TemporaryDirectory() as scratch:
                path = Path(scratch, "t.json")
                record(case, "ill", path)
                texts.append(path.read_text())
        write(folder / f"{name}.batch{batch}.trace.json.gz", min(texts, key=mean_step))
    running = {batch: start(case, "ill") for batch, case in cases.items()}
    blocks: dict[int, list[float]] = {batch: [] for batch in cases}
    for _ in range(BLOCKS):
        for batch, steps in running.items():
            blocks[batch].append(block(steps)[0])
    return {str(batch): round(min(times), 4) for batch, times in blocks.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("models", nargs="*", help="names; without any, all")
    args = parser.parse_args()
    torch.set_num_threads(1)
    args.folder.mkdir(parents=True, exist_ok=True)
    file = args.folder / "measured.json"
    measured = json.loads(file.read_text()) if file.exists() else {"schema": "fathom-batches-measured/1", "models": {}}
    for name in args.models or MODELS:
        times = run_one(name, args.folder.resolve())
        about = {"torch": torch.__version__, "python": platform.python_version(), "processor": processor(), "threads": 1}
        measured["models"][name] = {**about, "step_ms_min": times}
        file.write_text(json.dumps(measured, indent=1, ensure_ascii=False) + "\n")
        print(name, json.dumps(times), flush=True)


if __name__ == "__main__":
    main()
