"""A pool of two threads answers requests with a model; others wait for their answers."""

import concurrent.futures
import time

import torch

torch.set_num_threads(1)
layers = [torch.nn.Linear(512, 512), torch.nn.ReLU()] * 4
model = torch.nn.Sequential(*layers).eval()


def answer(_):
    with torch.inference_mode():
        return model(torch.randn(128, 512)).sum().item()


with concurrent.futures.ThreadPoolExecutor(2) as pool:
    for _ in range(200):
        list(pool.map(answer, range(2)))
        time.sleep(0.005)
