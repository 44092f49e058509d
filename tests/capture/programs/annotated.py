"""Annotations of torch and of fathom around and inside its steps."""

import torch
from nets import Net, loss_of

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    with torch.profiler.record_function("one iteration"):
        with torch.profiler.record_function("forward"):
            loss = loss_of(model, torch.randn(8, 16), torch.zeros(8, dtype=torch.long))
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
