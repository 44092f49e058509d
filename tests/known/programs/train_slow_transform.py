"""Trains a small network with a worker whose transform, in Python, takes longer than the step."""

import torch
from torch.utils.data import DataLoader, Dataset


class Transformed(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        total = 0.0
        for number in range(60_000):
            total += (number * index) % 7
        return torch.full((64,), total), index % 4


if __name__ == "__main__":
    torch.set_num_threads(1)
    model = torch.nn.Linear(64, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x, y in DataLoader(Transformed(), batch_size=8, num_workers=1):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
