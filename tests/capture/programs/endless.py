"""Steps until something happens: endless.py SECONDS|steps N|crash N|abort N|kill N."""

import ctypes
import os
import signal
import sys
import time

import torch
from nets import Net, loss_of

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 16), torch.zeros(8, dtype=torch.long)
how = sys.argv[1]
began = time.monotonic()
number = 0


def ends():
    if how == "steps":
        return number >= int(sys.argv[2])
    if how not in ("crash", "abort", "kill"):
        return time.monotonic() - began > float(how)
    if number >= int(sys.argv[2]):
        if how == "crash":
            ctypes.string_at(0)
        os.abort() if how == "abort" else os.kill(os.getpid(), signal.SIGKILL)
    return False


while not ends():
    loss_of(model, x, y).backward()
    optimizer.step()
    optimizer.zero_grad()
    number += 1
    if number > 50:
        time.sleep(0.005)
print(number)
