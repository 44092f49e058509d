"""Accelerate's loop: three batches make a step, in bfloat16."""

import torch
from accelerate import Accelerator
from nets import Net, Samples, loss_of
from torch.utils.data import DataLoader

accelerator = Accelerator(cpu=True, gradient_accumulation_steps=3, mixed_precision="bf16")
model = Net()
optimizer = torch.optim.AdamW(model.parameters())
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(Samples(72), 4))
for x, y in loader:
    with accelerator.accumulate(model):
        accelerator.backward(loss_of(model, x, y))
        optimizer.step()
        optimizer.zero_grad()
