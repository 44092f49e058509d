"""Three hundred short steps, in an annotation each."""

import torch
from nets import Net, loss_of

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 16), torch.zeros(8, dtype=torch.long)
for _ in range(300):
    with torch.profiler.record_function("one iteration"):
        optimizer.zero_grad()
        loss_of(model, x, y).backward()
        optimizer.step()
