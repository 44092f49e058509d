"""Data-parallel training with gloo, for torchrun."""

import torch
import torch.distributed as dist
from nets import Net, Samples, loss_of
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

dist.init_process_group("gloo")
model = DistributedDataParallel(Net())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, y in DataLoader(Samples(), batch_size=8):
    optimizer.zero_grad()
    loss_of(model, x, y).backward()
    optimizer.step()
dist.destroy_process_group()
