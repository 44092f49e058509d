"""Two ranks train with gloo, for torchrun; rank 1 takes 60 ms longer in each step."""

import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

torch.set_num_threads(1)
dist.init_process_group("gloo")
late = dist.get_rank() == 1
model = DistributedDataParallel(
    torch.nn.Sequential(torch.nn.Linear(256, 256), torch.nn.Linear(256, 4))
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(64, 256), torch.randint(0, 4, (64,))
for _ in range(24):
    optimizer.zero_grad()
    if late:
        time.sleep(0.06)
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
dist.destroy_process_group()
