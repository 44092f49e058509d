"""Prepares for three seconds before it trains for one."""

import time

import torch

torch.set_num_threads(1)


def build_vocabulary():
    end = time.monotonic() + 3
    words = {}
    while time.monotonic() < end:
        words[len(words) % 1000] = len(words)


build_vocabulary()
model = torch.nn.Sequential(torch.nn.Linear(512, 512), torch.nn.Linear(512, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(256, 512), torch.randint(0, 4, (256,))
end = time.monotonic() + 1
while time.monotonic() < end:
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
