"""Computes for three seconds, without steps."""

import time

import torch

end = time.monotonic() + 3
while time.monotonic() < end:
    torch.randn(32, 32) @ torch.randn(32, 32)
