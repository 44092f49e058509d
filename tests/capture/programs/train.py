"""A training loop: train.py WORKERS [START-METHOD]."""

import sys

import torch
from nets import Net, Samples, loss_of
from torch.utils.data import DataLoader

if __name__ == "__main__":
    torch.manual_seed(7)
    workers = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    method = sys.argv[2] if len(sys.argv) > 2 else None
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    loader = DataLoader(Samples(), 8, num_workers=workers, multiprocessing_context=method)
    for x, y in loader:
        loss = loss_of(model, x, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()
    print("trained")
