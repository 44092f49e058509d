"""Works with tensors until a trace of it is there, and never steps."""

import glob
import os
import time

import torch

end = time.monotonic() + 120
x = torch.randn(64, 64)
while not glob.glob(os.environ["FATHOM_SESSION"] + "/*.pt.trace.json") and time.monotonic() < end:
    for _ in range(200):
        x = torch.tanh(x @ x)
