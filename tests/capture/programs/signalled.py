"""A training loop that signals itself when to be recorded: in its steps 3 and 8."""

import os
import signal

import torch
from nets import Net, loss_of

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 16), torch.zeros(8, dtype=torch.long)
for number in range(12):
    optimizer.zero_grad()
    loss_of(model, x, y).backward()
    if number in (3, 8):
        os.kill(os.getpid(), signal.SIGUSR2)
    optimizer.step()
