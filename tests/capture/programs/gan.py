"""Two optimizers step in each round."""

import torch
from nets import Net, loss_of

one, two = Net(), Net()
first = torch.optim.Adam(one.parameters())
second = torch.optim.Adam(two.parameters())
y = torch.zeros(8, dtype=torch.long)
for _ in range(12):
    for model, optimizer in ((one, first), (two, second)):
        optimizer.zero_grad()
        loss_of(model, torch.randn(8, 16), y).backward()
        optimizer.step()
