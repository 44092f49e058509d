"""What must go on working: pickling a model, TorchScript with annotations, torch.fx, deep
copies."""

import copy
import io

import torch
from nets import Net

model = Net()
for _ in range(8):
    model(torch.randn(2, 16))
buffer = io.BytesIO()
torch.save(model, buffer)
assert b"fathom" not in buffer.getvalue()
buffer.seek(0)
torch.load(buffer, weights_only=False)(torch.randn(2, 16))
copy.deepcopy(model)(torch.randn(2, 16))


@torch.jit.script
def scripted(x):
    with torch.autograd.profiler.record_function("scripted"):
        return x + 1


assert scripted(torch.zeros(1)).item() == 1
traced = torch.fx.symbolic_trace(model)
assert traced(torch.randn(2, 16)).shape == (2, 4)
script = torch.jit.script(model)
for _ in range(4):
    script(torch.randn(2, 16))
print("works")
