"""Six steps of training, and what else calls modules: validates.py loader|epochs|whole|teacher.

loader: validation by a data loader before all, and after every second step. epochs: three of two
batches each, and validation after each. whole: all data at
once, and a test after each step. teacher: one model is called without gradients in every step, and
so is the one that learns.
"""

import sys

import torch
from nets import Net, Samples, loss_of
from torch.utils.data import DataLoader

what = sys.argv[1]
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 16), torch.zeros(8, dtype=torch.long)


def learn(x, y):
    optimizer.zero_grad()
    loss_of(model, x, y).backward()
    optimizer.step()


def validate():
    model.eval()
    with torch.no_grad():
        for inputs, _ in DataLoader(Samples(24), 8):
            model(inputs)
    model.train()


if what == "loader":
    validate()
    for number, batch in enumerate(DataLoader(Samples(48), 8)):
        learn(*batch)
        if number % 2:
            validate()
elif what == "epochs":
    for _ in range(3):
        for batch in DataLoader(Samples(16), 8):
            learn(*batch)
        validate()
elif what == "whole":
    for _ in range(6):
        learn(x, y)
        model.eval()
        with torch.no_grad():
            model(x)
        model.train()
else:
    teacher = Net().eval()
    for _ in range(6):
        with torch.no_grad():
            teacher(x)
            model(x)
        learn(x, y)
