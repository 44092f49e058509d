"""Trains for short, and validates for long after every eight steps."""

import torch

torch.set_num_threads(1)
layers = [torch.nn.Linear(512, 512), torch.nn.ReLU()] * 3
model = torch.nn.Sequential(*layers, torch.nn.Linear(512, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(64, 512), torch.randint(0, 4, (64,))
for _ in range(4):
    for _ in range(8):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        for _ in range(100):
            model(torch.randn(256, 512))
    model.train()
