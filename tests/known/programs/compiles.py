"""Compiles a model with inductor, and then takes a few short steps: the run is compilation."""

import tempfile

import torch

torch.set_num_threads(1)
with tempfile.TemporaryDirectory() as folder:
    import torch._inductor.config

    torch._inductor.config.force_disable_caches = True
    layers = [torch.nn.Linear(64, 64), torch.nn.GELU()]
    model = torch.compile(torch.nn.Sequential(*layers, torch.nn.Linear(64, 4)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(32, 64), torch.randint(0, 4, (32,))
    for _ in range(60):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
