"""Says itself what to record."""

import torch
from nets import Net, loss_of

from fathom_recorder import api

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for number in range(10):
    if number == 4:
        api.start()
    with api.annotate("work"):
        loss_of(model, torch.randn(8, 16), torch.zeros(8, dtype=torch.long)).backward()
        optimizer.step()
    if number == 6:
        api.stop()
