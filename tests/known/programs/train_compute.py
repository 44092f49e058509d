"""Trains a wide network on one thread: nearly all of a step is matrix multiplication."""

import torch

torch.set_num_threads(1)
layers = [torch.nn.Linear(1024, 1024), torch.nn.ReLU()] * 4
model = torch.nn.Sequential(*layers, torch.nn.Linear(1024, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(512, 1024), torch.randint(0, 10, (512,))
for _ in range(16):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
