"""Held-out before/after pairs for checking predictions: nothing was changed because of them.

Other models, sizes and operators than in illness_cases.py; the functions are made in the same way.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from illness_cases import Case, Steps, mlp, train
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset


def convolutions(channels: int, depth: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for index in range(depth):
        layers += [nn.Conv2d(channels if index else 3, channels, 3, padding=1), nn.ReLU()]
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 10))


class Decoded(Dataset[tuple[Tensor, Tensor]]):
    """Each sample costs processor time in Python, as decoding does."""

    def __len__(self) -> int:
        return 100_000

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        values = [math.sin(index + place) for place in range(3 * 24 * 24)]
        return torch.tensor(values).view(3, 24, 24), torch.tensor(index % 10)


def kept_decoding(cured: bool) -> Steps:
    workers = {"num_workers": 1, "persistent_workers": True, "prefetch_factor": 4} if cured else {}
    loader = DataLoader(Decoded(), batch_size=24, **workers)  # type: ignore[arg-type]
    model = convolutions(24, 4)
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    for x, y in loader:
        train(model, sgd, x, y)
        yield


def kept_momentum(cured: bool) -> Steps:
    model = nn.Sequential(*(nn.Sequential(nn.Linear(80, 80), nn.LayerNorm(80), nn.GELU()) for _ in range(10)))
    how = {"fused": True} if cured else {"foreach": False}
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9, weight_decay=0.01, **how)  # type: ignore[arg-type]
    x, y = torch.randn(24, 80), torch.randint(80, (24,))
    while True:
        train(model, sgd, x, y)
        yield


@torch.no_grad()
def kept_rows(cured: bool) -> Steps:
    scores, mixer = torch.randn(90, 12, 200), nn.Linear(512, 512)
    state = torch.randn(96, 512)
    while True:
        if cured:
            weights = torch.softmax(scores * 0.3, dim=-1).amax(dim=-1)
        else:
            weights = torch.stack([torch.softmax(scores[i] * 0.3, dim=-1).amax(dim=-1) for i in range(90)])
        state = torch.tanh(mixer(state)) * weights.mean()
        yield


@torch.no_grad()
def kept_silu(cured: bool) -> Steps:
    up, down = nn.Linear(192, 512), nn.Linear(512, 192)
    x = torch.randn(1024, 192)
    while True:
        y = x
        for _ in range(4):
            y = up(y)
            y = F.silu(y) if cured else y * (1.0 / (1.0 + torch.exp(-y)))
            y = down(y)
        yield


@torch.no_grad()
def kept_causal(cured: bool) -> Steps:
    q, k, v = (torch.randn(2, 6, 512, 48) for _ in range(3))
    project = nn.Linear(288, 288)
    mask = torch.full((512, 512), float("-inf")).triu(1)
    while True:
        for _ in range(2):
            if cured:
                out = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
            else:
                out = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(48) + mask, dim=-1) @ v
            q = project(out.transpose(1, 2).reshape(2, 512, 288)).view(2, 512, 6, 48).transpose(1, 2)
        yield


def kept_double(cured: bool) -> Steps:
    dtype = torch.float32 if cured else torch.float64
    layer = nn.TransformerEncoderLayer(128, 4, 512, dropout=0.0, batch_first=True)
    model = nn.Sequential(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Flatten(), nn.Linear(6144, 10))
    model = model.to(dtype)
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    x, y = torch.randn(12, 48, 128, dtype=dtype), torch.randint(10, (12,))
    while True:
        train(model, sgd, x, y)
        yield


def kept_statistics(cured: bool) -> Steps:
    """The program keeps statistics of its own in Python after each step."""
    model = nn.Sequential(nn.Linear(384, 384), nn.ReLU(), nn.Linear(384, 384), nn.ReLU(), nn.Linear(384, 10))
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    x, y = torch.randn(96, 384), torch.randint(10, (96,))
    history: list[float] = []
    while True:
        train(model, sgd, x, y)
        if not cured:
            history = [math.sqrt(place % 97) for place in range(40_000)]
            history.sort()
        yield


def kept_filled(cured: bool) -> Steps:
    layers = [nn.Sequential(nn.Linear(768, 768), nn.Tanh()) for _ in range(5)]
    model = nn.Sequential(*layers, nn.Linear(768, 10))
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    x, y = torch.randn(8, 768), torch.randint(10, (8,))
    while True:
        train(model, sgd, x, y, set_to_none=cured)
        yield


@torch.no_grad()
def kept_masks(cured: bool) -> Steps:
    """A causal mask is made in each layer."""
    layers = nn.ModuleList([nn.Linear(96, 96) for _ in range(8)])
    constant = torch.ones(640, 640).tril() / torch.arange(1, 641).unsqueeze(1)
    x = torch.randn(640, 96)
    while True:
        y = x
        for layer in layers:
            mask = constant if cured else torch.ones(640, 640).tril() / torch.arange(1, 641).unsqueeze(1)
            y = torch.tanh(layer(mask @ y))
        yield


@torch.no_grad()
def kept_heads(cured: bool) -> Steps:
    """Heads are moved to the front and back with copies."""
    project = nn.ModuleList([nn.Linear(320, 320) for _ in range(5)])
    x = torch.randn(8, 160, 320)
    while True:
        y = x
        for layer in project:
            z = layer(y).view(8, 160, 5, 64)
            if not cured:
                z = z.permute(0, 2, 1, 3).contiguous().permute(0, 2, 1, 3).contiguous()
            y = F.gelu(z.reshape(8, 160, 320))
        yield


@torch.no_grad()
def kept_lengths(cured: bool) -> Steps:
    """Each step has a longer sequence, and is compiled anew."""
    torch._dynamo.config.recompile_limit = 64
    model = nn.Sequential(nn.Linear(256, 768), nn.LayerNorm(768), nn.GELU(), nn.Linear(768, 256), nn.LayerNorm(256))
    compiled = torch.compile(model, backend="aot_eager", dynamic=cured)
    length = 600
    while True:
        length += 3
        compiled(torch.randn(4, length, 256))
        yield


def kept_straggler(cured: bool) -> Steps:
    """Runs in every rank of a gloo group; rank 1 computes more."""
    rank = torch.distributed.get_rank()
    model = nn.parallel.DistributedDataParallel(mlp(512, 3))
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    x, y = torch.randn(48, 512), torch.randint(10, (48,))
    more = torch.randn(420, 420)
    while True:
        if rank == 1 and not cured:
            for _ in range(6):
                more = torch.tanh(more @ more)
        train(model, sgd, x, y)
        yield


def kept_losses(cured: bool) -> Steps:
    model = mlp(384, 4)
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    x, y = torch.randn(112, 384), torch.randint(10, (112,))
    while True:
        sgd.zero_grad()
        scores = model(x)
        if cured:
            loss = F.cross_entropy(scores, y)
        else:
            loss = torch.stack([F.cross_entropy(scores[i : i + 1], y[i : i + 1]) for i in range(112)]).mean()
        torch.autograd.backward(loss)
        sgd.step()
        yield


class Mixer(nn.Module):
    """A layer of a transformer that is trained: with one operator for attention, or with its parts."""

    def __init__(self, width: int, heads: int, fused: bool) -> None:
        super().__init__()
        self.heads, self.fused = heads, fused
        self.norm, self.qkv, self.out = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        batch, length, width = x.shape
        parts = self.qkv(self.norm(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        q, k, v = parts.unbind()
        if self.fused:
            mixed = F.scaled_dot_product_attention(q, k, v)
        else:
            mixed = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(width / self.heads), dim=-1) @ v
        return x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))


def kept_trained_attention(cured: bool) -> Steps:
    model = nn.Sequential(*(Mixer(96, 6, cured) for _ in range(3)))
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    x = torch.randn(3, 224, 96)
    while True:
        sgd.zero_grad()
        torch.autograd.backward(model(x).square().mean())
        sgd.step()
        yield


def kept_norm(cured: bool) -> Steps:
    """Layer normalisation, trained: one operator, or written out."""
    up, down = nn.Linear(192, 768), nn.Linear(768, 192)
    scale, shift = nn.Parameter(torch.ones(768)), nn.Parameter(torch.zeros(768))
    sgd = torch.optim.SGD([*up.parameters(), *down.parameters(), scale, shift], lr=0.01, fused=True)
    x = torch.randn(320, 192)
    while True:
        sgd.zero_grad()
        hidden = up(x)
        if cured:
            hidden = F.layer_norm(hidden, (768,), scale, shift)
        else:
            mean = hidden.mean(-1, keepdim=True)
            variance = ((hidden - mean) ** 2).mean(-1, keepdim=True)
            hidden = (hidden - mean) / torch.sqrt(variance + 1e-5) * scale + shift
        torch.autograd.backward(down(hidden).square().mean())
        sgd.step()
        yield


KEPT = (
    Case("kept_decoding", "samples are decoded in the training process; cure: a worker", kept_decoding, stacks=True),
    Case("kept_momentum", "SGD with momentum parameter by parameter; cure: fused", kept_momentum),
    Case("kept_rows", "softmax of 90 slices in a Python loop; cure: all at once", kept_rows, steps=3),
    Case("kept_silu", "SiLU written out in five operators; cure: F.silu", kept_silu),
    Case("kept_causal", "masked attention by products and softmax; cure: one operator", kept_causal),
    Case("kept_double", "a transformer in double precision; cure: float", kept_double),
    Case("kept_statistics", "Python keeps statistics after each step; cure: not", kept_statistics),
    Case("kept_filled", "gradients are filled with zeros; cure: set to None", kept_filled),
    Case("kept_masks", "a causal mask is made in each layer; cure: once", kept_masks),
    Case("kept_heads", "two transposing copies of heads in each layer; cure: not", kept_heads),
    Case("kept_lengths", "each step is longer and compiled anew; cure: dynamic shapes", kept_lengths, steps=4),
    Case("kept_losses", "a loss per sample in a Python loop, trained; cure: one loss", kept_losses, steps=3),
    Case("kept_trained_attention", "attention in parts, trained; cure: one operator", kept_trained_attention),
    Case("kept_norm", "layer normalisation written out, trained; cure: one operator", kept_norm),
    Case("kept_straggler", "two gloo ranks, one of them computes more; cure: not", kept_straggler, ranks=2),
)
