"""What runs/two_ranks was recorded from: data-parallel training on two ranks, of which the second prepares its batches
for longer than the first.

    fathom run --telemetry 0 --no-overhead --with shapes -o FOLDER -- torchrun --nproc-per-node 2 late_rank.py
"""
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

SLOWER = 0.15

dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
torch.set_num_threads(1)
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for _ in range(8):
    with torch.profiler.record_function("prepare"):
        time.sleep(SLOWER * rank)
        batch = torch.randn(32, 64)
    optimizer.zero_grad()
    model(batch).sum().backward()
    optimizer.step()
dist.destroy_process_group()
