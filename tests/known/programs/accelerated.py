"""Accelerate's loop, on samples made by a slow function in Python, in the process that trains."""

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader, Dataset


class Made(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        words = [str(number * index) for number in range(8_000)]
        return torch.full((64,), float(len("".join(words)))) / 1e6, index % 4


torch.set_num_threads(1)
accelerator = Accelerator(cpu=True)
model = torch.nn.Linear(64, 4)
optimizer = torch.optim.AdamW(model.parameters())
model, optimizer, loader = accelerator.prepare(model, optimizer, DataLoader(Made(), 8))
for x, y in loader:
    accelerator.backward(torch.nn.functional.cross_entropy(model(x), y))
    optimizer.step()
    optimizer.zero_grad()
