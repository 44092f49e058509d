"""The program of scalene#634: lines that launch work, one that computes on the host, and one that waits for all of it. Prints
how long each line takes where the program waits after it, and which lines are which in the rounds without these waits."""

from __future__ import annotations

import argparse
import inspect
import json
import time

import torch
from torch import Tensor, nn


def asynchronous(model: nn.Module, head: nn.Module, x: Tensor, y: Tensor, count: int) -> float:
    y_hat = model(x)  # model
    loss = head(y - y_hat).pow(2).mean()  # loss
    total = sum(range(count))  # host
    return loss.cpu().item() + total  # wait


def synchronised(model: nn.Module, head: nn.Module, x: Tensor, y: Tensor, spent: dict[str, int]) -> None:
    begin = settled()
    y_hat = model(x)
    middle = settled()
    head(y - y_hat).pow(2).mean()
    end = settled()
    spent["model"] += middle - begin
    spent["loss"] += end - middle


def settled() -> int:
    """The time, once the device has nothing to do."""
    if torch.cuda.is_available():
        torch.cuda.synchronize()
    return time.monotonic_ns()


def work(width: int, count: int, device: torch.device) -> nn.Module:
    """Library code: what it launches is of the line that calls it."""
    return nn.Sequential(*(nn.Linear(width, width, bias=False, device=device) for _ in range(count)))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--count", type=int, default=0, help="of the sum that the host computes meanwhile")
    args = parser.parse_args()
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(1)
    x, y = (torch.randn(args.width, args.width, device=device) for _ in range(2))
    model, head = work(args.width, 18, device), work(args.width, 4, device)
    spent = {"model": 0, "loss": 0}
    with torch.no_grad():
        # What comes once only is before what fathom run --range rounds records.
        asynchronous(model, head, x, y, 0)
        settled()
        with torch.profiler.record_function("rounds"):
            for _ in range(args.rounds):
                asynchronous(model, head, x, y, args.count)
                synchronised(model, head, x, y, spent)
    text, first = inspect.getsourcelines(asynchronous)
    lines = {line.rpartition("# ")[2].strip(): first + at for at, line in enumerate(text) if "  # " in line}
    print(json.dumps({"rounds": args.rounds, "lines": lines, "spent_ns": spent}))


if __name__ == "__main__":
    main()
