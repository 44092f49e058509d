"""Trains a small network; each step waits 40 ms for something outside of the process."""

import time

import torch


def ask_the_store():
    time.sleep(0.04)


torch.set_num_threads(1)
model = torch.nn.Linear(256, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(128, 256), torch.randint(0, 4, (128,))
for _ in range(60):
    optimizer.zero_grad()
    torch.nn.functional.cross_entropy(model(x), y).backward()
    ask_the_store()
    optimizer.step()
