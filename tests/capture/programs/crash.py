"""Raises in its sixth step."""

import torch
from nets import Net, loss_of

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for number in range(10):
    loss = loss_of(model, torch.randn(8, 16), torch.zeros(8, dtype=torch.long))
    loss.backward()
    if number == 4:
        raise ValueError("on purpose")
    optimizer.step()
