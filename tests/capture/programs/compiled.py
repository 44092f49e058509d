"""Trains a compiled model; its backend is the one that needs no compiler."""

import torch
from nets import Net, loss_of

torch.set_num_threads(1)
model = torch.compile(Net(), backend="aot_eager", dynamic=False)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for number in range(14):
    rows = 8 if number < 4 else 12  # another shape compiles again
    loss_of(model, torch.randn(rows, 16), torch.zeros(rows, dtype=torch.long)).backward()
    optimizer.step()
    optimizer.zero_grad()
