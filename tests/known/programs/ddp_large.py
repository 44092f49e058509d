"""Two ranks train with gloo, for torchrun: 64 MiB of gradients, and next to nothing to compute."""

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

torch.set_num_threads(1)
dist.init_process_group("gloo")
model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(4096, 4096, bias=False)))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x = torch.randn(1, 4096)
for _ in range(16):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
dist.destroy_process_group()
