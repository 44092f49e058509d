"""Trains, and forks while it does."""

import os

import torch
from nets import Net, loss_of

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for number in range(8):
    loss_of(model, torch.randn(8, 16), torch.zeros(8, dtype=torch.long)).backward()
    optimizer.step()
    if number in (0, 3):
        child = os.fork()
        if child == 0:
            model(torch.randn(8, 16))
            os._exit(5)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
