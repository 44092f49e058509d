"""Profiles itself: own_profiler.py export|forget|schedule|tensorboard [FILE|FOLDER]."""

import sys

import torch
from nets import Net, loss_of
from torch.profiler import ProfilerActivity, profile, schedule, tensorboard_trace_handler

model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


def step():
    loss_of(model, torch.randn(8, 16), torch.zeros(8, dtype=torch.long)).backward()
    optimizer.step()


how = sys.argv[1]
if how == "tensorboard":
    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    save = tensorboard_trace_handler(sys.argv[2])
    with profile(activities=[ProfilerActivity.CPU], schedule=plan, on_trace_ready=save) as p:
        for _ in range(10):
            step()
            p.step()
elif how == "schedule":
    plan = schedule(wait=3, warmup=1, active=2, repeat=1)
    done = []
    with profile(activities=[ProfilerActivity.CPU], schedule=plan, on_trace_ready=done.append) as p:
        for _ in range(10):
            step()
            p.step()
    assert len(done) == 1
else:
    for _ in range(3):
        step()
    with profile(activities=[ProfilerActivity.CPU]) as p:
        for _ in range(6):
            step()
    if how == "export":
        p.export_chrome_trace(sys.argv[2])
print(len(p.key_averages()) > 0)
