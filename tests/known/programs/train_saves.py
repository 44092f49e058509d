"""Trains a network of 80 MiB, and writes it to a file after each step."""

import os
import tempfile

import torch

torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.EmbeddingBag(20_000, 1024), torch.nn.Linear(1024, 4))
optimizer = torch.optim.SGD(model[1].parameters(), lr=0.01)
x, y = torch.randint(0, 20_000, (16, 4)), torch.randint(0, 4, (16,))
with tempfile.TemporaryDirectory() as folder:
    for _ in range(20):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
        torch.save(model.state_dict(), os.path.join(folder, "model.pt"))
