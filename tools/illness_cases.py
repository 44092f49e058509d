"""Small PyTorch programs with a known illness, each beside its cure; tools/record_illness.py records them.

A case is a function of `cured` that returns an iterator: each `next` of it runs one step. The two of a
pair do the same work but for the illness. Sizes are chosen for steps of about 5 to 50 ms on one core.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.profiler import record_function
from torch.utils.data import DataLoader, Dataset

Steps = Iterator[None]


@dataclass(frozen=True)
class Case:
    name: str
    about: str
    make: Callable[[bool], Steps]
    stacks: bool = False  # Python frames: for what happens between operators
    steps: int = 5  # recorded
    warm: int = 3  # steps before anything is recorded or measured; 0: the cure alone is warm
    cost: bool = True  # the cure changes the step time; without, only findings are compared
    ranks: int = 1


def mlp(width: int, depth: int, out: int = 10) -> nn.Sequential:
    layers: list[nn.Module] = []
    for _ in range(depth):
        layers += [nn.Linear(width, width), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(width, out))


def train(model: nn.Module, optimizer: torch.optim.Optimizer, x: Tensor, y: Tensor, set_to_none: bool = True) -> None:
    optimizer.zero_grad(set_to_none=set_to_none)
    with record_function("## forward ##"):
        loss = F.cross_entropy(model(x), y)
    with record_function("## backward ##"):
        torch.autograd.backward(loss)
    optimizer.step()


class SlowFiles(Dataset[tuple[Tensor, Tensor]]):
    """Each sample waits as long as a read from a slow disk takes."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds

    def __len__(self) -> int:
        return 100_000

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        time.sleep(self.seconds)
        return torch.full((512,), float(index % 7)), torch.tensor(index % 10)


def loading(cured: bool) -> Steps:
    workers = {"num_workers": 3, "persistent_workers": True, "prefetch_factor": 4} if cured else {}
    loader = DataLoader(SlowFiles(0.002), batch_size=16, **workers)  # type: ignore[arg-type]
    model = mlp(512, 5)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for x, y in loader:
        train(model, optimizer, x.repeat(24, 1), y.repeat(24))
        yield


def optimizer(cured: bool) -> Steps:
    model = mlp(48, 16)
    how = {"fused": True} if cured else {"foreach": False, "fused": False}
    adam = torch.optim.Adam(model.parameters(), lr=1e-3, **how)  # type: ignore[arg-type]
    x, y = torch.randn(32, 48), torch.randint(10, (32,))
    while True:
        train(model, adam, x, y)
        yield


def zero_grad(cured: bool) -> Steps:
    model = mlp(512, 12)
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    x, y = torch.randn(2, 512), torch.randint(10, (2,))
    while True:
        train(model, sgd, x, y, set_to_none=cured)
        yield


@torch.no_grad()
def python_loop(cured: bool) -> Steps:
    x, weight = torch.randn(240, 64, 16), torch.randn(16, 16)
    layer = nn.Linear(256, 256)
    rows = torch.randn(256, 256)
    while True:
        if cured:
            y = torch.relu(x @ weight)
        else:
            y = torch.stack([torch.relu(x[i] @ weight) for i in range(x.shape[0])])
        rows = torch.tanh(layer(rows)) + y.mean()
        yield


def graph_loop(cured: bool) -> Steps:
    """Each of 200 nodes sums its neighbours, beside a network that works on all of them."""
    nodes, width, edges = 200, 32, 1200
    embed, classify, rest = nn.Linear(width, width), nn.Linear(width, 10), mlp(512, 6)
    source = torch.randint(0, nodes, (edges,))
    target = torch.randint(0, nodes, (edges,))
    neighbours = [source[target == node] for node in range(nodes)]
    sgd = torch.optim.SGD([*embed.parameters(), *classify.parameters(), *rest.parameters()], lr=0.01, fused=True)
    x, y = torch.randn(nodes, width), torch.randint(10, (nodes,))
    more, more_y = torch.randn(64, 512), torch.randint(10, (64,))
    while True:
        sgd.zero_grad()
        hidden = torch.relu(embed(x))
        if cured:
            sums = torch.zeros(nodes, width).index_add(0, target, hidden[source])
        else:
            sums = torch.stack([hidden[neighbours[node]].sum(0) for node in range(nodes)])
        loss = F.cross_entropy(classify(hidden + sums), y) + F.cross_entropy(rest(more), more_y)
        torch.autograd.backward(loss)
        sgd.step()
        yield


def fp64(cured: bool) -> Steps:
    dtype = torch.float32 if cured else torch.float64
    model = mlp(768, 5).to(dtype)
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    x, y = torch.randn(128, 768, dtype=dtype), torch.randint(10, (128,))
    while True:
        train(model, sgd, x, y)
        yield


def fp64_convolutions(cured: bool) -> Steps:
    dtype = torch.float32 if cured else torch.float64
    layers: list[nn.Module] = []
    for index in range(4):
        layers += [nn.Conv2d(24 if index else 3, 24, 3, padding=1), nn.ReLU()]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 10)).to(dtype)
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    x, y = torch.randn(4, 3, 48, 48, dtype=dtype), torch.randint(10, (4,))
    while True:
        train(model, sgd, x, y)
        yield


def small_batches(cured: bool) -> Steps:
    """Gradients of 64 samples: of 16 batches of four, or of one batch."""
    model = mlp(256, 6)
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    x, y = torch.randn(64, 256), torch.randint(10, (64,))
    parts = 1 if cured else 16
    while True:
        sgd.zero_grad()
        for part, part_y in zip(x.chunk(parts), y.chunk(parts), strict=True):
            torch.autograd.backward(F.cross_entropy(model(part), part_y) / parts)
        sgd.step()
        yield


def served(cured: bool) -> Steps:
    """Requests are answered one by one, or as a batch."""
    model, x = mlp(192, 6).eval(), torch.randn(48, 192)
    while True:
        with torch.no_grad():
            if cured:
                model(x)
            else:
                for i in range(48):
                    model(x[i : i + 1])
        yield


def rotary_angles(length: int, width: int) -> Tensor:
    steps = torch.arange(0, width, 2, dtype=torch.float32)
    angles = torch.outer(torch.arange(length, dtype=torch.float32), torch.exp(steps * (-math.log(1e4) / width)))
    return torch.cat([torch.sin(angles), torch.cos(angles)], dim=1)


@torch.no_grad()
def redundant(cured: bool) -> Steps:
    layers = nn.ModuleList([nn.Linear(128, 128) for _ in range(12)])
    constant = rotary_angles(2048, 128)
    x = torch.randn(2048, 128)
    while True:
        y = x
        for layer in layers:
            y = torch.relu(layer(y * (constant if cured else rotary_angles(2048, 128))))
        yield


def bias_before_norm(cured: bool) -> Steps:
    layers: list[nn.Module] = []
    for index in range(6):
        layers += [nn.Conv2d(32 if index else 3, 32, 3, padding=1, bias=not cured), nn.BatchNorm2d(32), nn.ReLU()]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10))
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    x, y = torch.randn(8, 3, 32, 32), torch.randint(10, (8,))
    while True:
        train(model, sgd, x, y)
        yield


@torch.no_grad()
def attention(cured: bool) -> Steps:
    q, k, v = (torch.randn(4, 8, 384, 32) for _ in range(3))
    project = nn.Linear(256, 256)
    while True:
        for _ in range(2):
            if cured:
                out = F.scaled_dot_product_attention(q, k, v)
            else:
                out = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(32), dim=-1) @ v
            q = project(out.transpose(1, 2).reshape(4, 384, 256)).view(4, 384, 8, 32).transpose(1, 2)
        yield


def tiny_operators(cured: bool) -> Steps:
    pieces = torch.randn(120, 64)
    weight = torch.randn(64, 64)
    while True:
        if cured:
            (torch.tanh(pieces) * 0.5 + 1.0).clamp_(max=1.4).sum()
        else:
            for piece in pieces.unbind():
                (torch.tanh(piece) * 0.5 + 1.0).clamp_(max=1.4).sum()
        for _ in range(10):
            weight = F.normalize(weight @ weight)
        yield


@torch.no_grad()
def elementwise(cured: bool) -> Steps:
    layer = nn.Linear(256, 256)
    x = torch.randn(2048, 256)
    while True:
        y = x
        for _ in range(3):
            y = layer(y)
            if cured:
                y = F.gelu(y, approximate="tanh")
            else:
                y = 0.5 * y * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (y + 0.044715 * y * y * y)))
        yield


@torch.no_grad()
def growing(cured: bool) -> Steps:
    query, steps = torch.randn(8, 1, 256), 96
    parts = [torch.randn(8, 1, 256) for _ in range(steps)]
    while True:
        cache = torch.empty(8, 32 + steps, 256) if cured else torch.zeros(8, 32, 256)
        cache[:, :32] = 0
        for step, part in enumerate(parts):
            length = 33 + step
            if cured:
                cache[:, length - 1 : length] = part
                filled = cache[:, :length]
            else:
                filled = cache = torch.cat([cache, part], dim=1)
            filled @ query.transpose(1, 2)
        yield


@torch.no_grad()
def one_hot(cured: bool) -> Steps:
    table, model = torch.randn(4096, 256), mlp(256, 4)
    ids = torch.randint(4096, (1024,))
    while True:
        model(F.embedding(ids, table) if cured else F.one_hot(ids, 4096).float() @ table)
        yield


@torch.no_grad()
def drawn(cured: bool) -> Steps:
    model = nn.Linear(64, 16)
    once = torch.randn(16384, 64)
    while True:
        model(once if cured else torch.randn(16384, 64))
        yield


@torch.no_grad()
def converted_weights(cured: bool) -> Steps:
    model = mlp(1024, 6).eval()
    x = torch.randn(4, 1024)
    if cured:
        model, x = model.to(torch.bfloat16), x.to(torch.bfloat16)
    while True:
        if cured:
            model(x)
        else:
            with torch.autocast("cpu", dtype=torch.bfloat16):
                model(x)
        yield


@torch.no_grad()
def layout(cured: bool) -> Steps:
    convolutions = nn.ModuleList([nn.Conv2d(32, 32, 3, padding=1) for _ in range(6)]).to(
        memory_format=torch.channels_last
    )
    x = torch.randn(8, 32, 48, 48).to(memory_format=torch.channels_last)
    while True:
        y = x
        for convolution in convolutions:
            y = torch.relu(convolution(y))
            if not cured:
                y = y.contiguous().contiguous(memory_format=torch.channels_last)
        yield


@torch.no_grad()
def transposes(cured: bool) -> Steps:
    layers = nn.ModuleList([nn.Linear(192, 192) for _ in range(8)])
    x = torch.randn(16, 192, 192)
    while True:
        y = x
        for layer in layers:
            if not cured:
                y = y.transpose(1, 2).contiguous().transpose(1, 2).contiguous()
            y = torch.relu(layer(y))
        yield


TEXT = ["the quick brown fox jumps over the lazy dog " * 40 for _ in range(32)]


def tokens_of(text: str) -> list[int]:
    return [sum(ord(letter) * 31**place for place, letter in enumerate(word)) % 4096 for word in text.split()]


@torch.no_grad()
def tokenisation(cured: bool) -> Steps:
    embedding, model = nn.Embedding(4096, 256), mlp(256, 6)
    ready = torch.tensor([tokens_of(text) for text in TEXT])
    while True:
        tokens = ready if cured else torch.tensor([tokens_of(text) for text in TEXT])
        model(embedding(tokens).mean(dim=1).repeat(8, 1))
        yield


def eval_mode(cured: bool) -> Steps:
    model = nn.Sequential(
        nn.Conv2d(3, 24, 3),
        nn.BatchNorm2d(24),
        nn.ReLU(),
        nn.Conv2d(24, 24, 3),
        nn.BatchNorm2d(24),
        nn.ReLU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Dropout(),
        nn.Linear(24, 10),
    )
    model.train(cured)
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    x, y = torch.randn(16, 3, 48, 48), torch.randint(10, (16,))
    while True:
        train(model, sgd, x, y)
        yield


def warm_up(_cured: bool) -> Steps:
    model = mlp(512, 4)
    sgd = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(64, 512), torch.randint(10, (64,))
    model = torch.compile(model, backend="aot_eager")  # type: ignore[assignment]
    while True:
        train(model, sgd, x, y)
        yield


def outlier(cured: bool) -> Steps:
    model = mlp(512, 6)
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    x, y = torch.randn(64, 512), torch.randint(10, (64,))
    count = 0
    while True:
        train(model, sgd, x, y)
        count += 1
        if count % 6 == 0 and not cured:
            torch.linalg.svdvals(torch.randn(350, 350))  # an evaluation now and then
        yield


@torch.no_grad()
def recompilation(cured: bool) -> Steps:
    torch._dynamo.config.recompile_limit = 64
    model = mlp(512, 6)
    compiled = torch.compile(model, backend="aot_eager", dynamic=cured)
    rows = 512
    while True:
        rows += 1
        compiled(torch.randn(rows, 512))
        yield


def late_rank(cured: bool) -> Steps:
    """Runs in every rank of a gloo group; rank 1 comes late."""
    rank = torch.distributed.get_rank()
    model = nn.parallel.DistributedDataParallel(mlp(256, 4))
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, fused=True)
    x, y = torch.randn(64, 256), torch.randint(10, (64,))
    while True:
        if rank == 1 and not cured:
            time.sleep(0.02)
        train(model, sgd, x, y)
        yield


CASES = (
    Case("loading", "samples are read in the training process; cure: three workers", loading, stacks=True, steps=4),
    Case("optimizer", "Adam parameter by parameter; cure: fused", optimizer),
    Case("zero_grad", "gradients are filled with zeros; cure: set to None", zero_grad),
    Case("python_loop", "a product per slice in a Python loop; cure: one batched product", python_loop, steps=3),
    Case("graph_loop", "nodes of a graph sum their neighbours in a loop; cure: index_add", graph_loop, steps=3),
    Case("fp64", "double precision by accident; cure: float", fp64),
    Case("fp64_convolutions", "convolutions in double precision; cure: float", fp64_convolutions),
    Case(
        "small_batches",
        "gradients of 16 small batches are accumulated; cure: one batch",
        small_batches,
        steps=3,
        cost=False,
    ),
    Case("served", "requests one by one; cure: as a batch", served, steps=3),
    Case("redundant", "a constant is computed anew in each layer; cure: once", redundant),
    Case("bias_before_norm", "convolutions have a bias before batch norm; cure: none", bias_before_norm),
    Case("attention", "attention by products and softmax; cure: scaled_dot_product_attention", attention),
    Case("tiny_operators", "120 rows one by one, five operators each; cure: all at once", tiny_operators, steps=3),
    Case("elementwise", "GELU written out in eight operators; cure: F.gelu", elementwise),
    Case("growing", "a tensor grows by torch.cat; cure: written into a buffer", growing),
    Case("one_hot", "rows are looked up by products with one-hot vectors; cure: an embedding", one_hot),
    Case("converted_weights", "autocast converts weights in each pass; cure: once", converted_weights),
    Case("drawn", "random numbers are drawn anew in each step; cure: once", drawn),
    Case("layout", "channels_last to NCHW and back after each convolution; cure: not", layout),
    Case("transposes", "two transposing copies before each layer; cure: not", transposes),
    Case("tokenisation", "text is tokenised in Python in each step; cure: before", tokenisation),
    Case("eval_mode", "training with the model in eval mode; cure: train mode", eval_mode, cost=False),
    Case(
        "warm_up",
        "only the first steps, compilation included; cure: recorded when warm",
        warm_up,
        steps=3,
        warm=0,
        cost=False,
    ),
    Case("outlier", "every sixth step does something long; cure: not", outlier, steps=12, cost=False),
    Case(
        "recompilation", "each step has a new shape and is compiled anew; cure: dynamic shapes", recompilation, steps=4
    ),
    Case("late_rank", "two gloo ranks, one of them late in each step; cure: not", late_rank, ranks=2),
)
