"""The optimizer steps after each fourth backward."""

import torch
from nets import Net, Samples, loss_of
from torch.utils.data import DataLoader

model = Net()
optimizer = torch.optim.AdamW(model.parameters())
for number, (x, y) in enumerate(DataLoader(Samples(), batch_size=2)):
    loss_of(model, x, y).backward()
    if number % 4 == 3:
        optimizer.step()
        optimizer.zero_grad()
