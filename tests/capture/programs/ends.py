"""A training loop that does not get to its end: ends.py HOW."""

import os
import signal
import sys
import threading

import torch
from nets import Net, loss_of


def leave(how):
    if how == "_exit":
        os._exit(3)
    elif how == "handled":
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
        os.kill(os.getpid(), signal.SIGTERM)
    elif how == "thread":
        thread = threading.Thread(target=sys.exit, args=(4,))
        thread.start()
        thread.join()
    else:
        os.kill(os.getpid(), getattr(signal, how))


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
x, y = torch.randn(8, 16), torch.zeros(8, dtype=torch.long)
for number in range(8):
    optimizer.zero_grad()
    loss_of(model, x, y).backward()
    optimizer.step()
    if number == 5:
        leave(sys.argv[1])
