"""A training loop in lines that allocate and compute what is known."""

import torch


def forward(model, x):
    hidden = model[0](x)  # first
    return model[1](hidden)  # second


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.Linear(512, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(8):
        x = torch.randn(64, 256)  # input
        y = forward(model, x)
        loss = y.square().mean()  # loss
        loss.backward()  # backward
        optimizer.step()
        optimizer.zero_grad()  # zeroes


main()
