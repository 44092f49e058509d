"""Small PyTorch programs with a known illness of the GPU, each beside its cure.

tools/record_gpu_pairs.py records them. Made as those of illness_cases.py: a function of `cured`
returns an iterator whose `next` runs one step, and the two of a pair do the same work but for the
illness. Sizes are chosen for steps of 2 to 30 ms on a large GPU. Without a GPU the same functions
run on the CPU in a small size, which only shows that they run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from illness_cases import Case, Steps, mlp
from torch import Tensor, nn
from torch.profiler import record_function
from torch.utils.data import DataLoader, Dataset

ON_GPU = torch.cuda.is_available()
DEVICE = torch.device("cuda" if ON_GPU else "cpu")
if not ON_GPU:
    torch.set_num_threads(1)


def size(large: int, small: int) -> int:
    return large if ON_GPU else small


@dataclass(frozen=True)
class GpuCase:
    case: Case
    tf32: bool = False  # 32-bit products may use tensor cores, in both recordings
    needs_gpu: bool = False  # the cure does not exist on a CPU
    reserve_s: float = 12.0  # time that recording and measuring it takes at most


def on_device(model: nn.Module) -> nn.Module:
    return model.to(DEVICE)


def train(
    model: nn.Module, optimizer: torch.optim.Optimizer, x: Tensor, y: Tensor, to_none: bool = True
) -> Tensor:
    optimizer.zero_grad(set_to_none=to_none)
    with record_function("## forward ##"):
        loss = F.cross_entropy(model(x), y)
    with record_function("## backward ##"):
        torch.autograd.backward(loss)
    optimizer.step()
    return loss.detach()


def sgd(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(model.parameters(), lr=0.01, fused=True)


def classes(count: int) -> Tensor:
    return torch.randint(10, (count,), device=DEVICE)


def gpu_item(cured: bool) -> Steps:
    """The loss of each of four small batches is read on the host; cure: their sum is, once."""
    width = size(1024, 64)
    model = on_device(mlp(width, 3))
    optimizer = sgd(model)
    rows = size(512, 8)
    x, y = torch.randn(rows, width, device=DEVICE), classes(rows)
    while True:
        total, on_host = torch.zeros((), device=DEVICE), 0.0
        for _ in range(4):
            loss = train(model, optimizer, x, y)
            if cured:
                total += loss
            else:
                on_host += loss.item()
        if cured:
            on_host = total.item()
        assert math.isfinite(on_host)
        yield


def gpu_pageable(cured: bool) -> Steps:
    """Batches of 38 MB come from pageable memory; cure: pinned, copied beside the step before."""
    rows, edge = size(256, 2), size(112, 16)
    model = on_device(
        nn.Sequential(nn.Conv2d(3, 32, 3, stride=2), nn.ReLU(), nn.Conv2d(32, 64, 3, stride=2))
    )
    head = on_device(nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10)))
    whole = nn.Sequential(model, head)
    optimizer = sgd(whole)
    batches = [torch.randn(rows, 3, edge, edge) for _ in range(4)]
    y = classes(rows)
    if not cured or not ON_GPU:
        while True:
            for batch in batches:
                train(whole, optimizer, batch.to(DEVICE), y)
                yield
    pinned = [batch.pin_memory() for batch in batches]
    side = torch.cuda.Stream()
    following = pinned[0].to(DEVICE, non_blocking=True)
    number = 0
    while True:
        torch.cuda.current_stream().wait_stream(side)
        x = following
        x.record_stream(torch.cuda.current_stream())
        number += 1
        with torch.cuda.stream(side):
            following = pinned[number % 4].to(DEVICE, non_blocking=True)
        train(whole, optimizer, x, y)
        yield


def gpu_optimizer(cured: bool) -> Steps:
    """Adam loops over 66 parameters; cure: one fused kernel for many."""
    width = size(512, 32)
    model = on_device(mlp(width, size(32, 4)))
    how = {"fused": True} if cured else {"foreach": False, "fused": False}
    adam = torch.optim.Adam(model.parameters(), lr=1e-3, **how)  # type: ignore[arg-type]
    x, y = torch.randn(size(256, 8), width, device=DEVICE), classes(size(256, 8))
    while True:
        train(model, adam, x, y)
        yield


def gpu_tf32(cured: bool) -> Steps:
    """Large 32-bit matrix multiplications without Tensor Cores; change: TF32."""
    torch.backends.cuda.matmul.allow_tf32 = cured
    width = size(4096, 64)
    model = on_device(mlp(width, 4))
    optimizer = sgd(model)
    x, y = torch.randn(size(4096, 16), width, device=DEVICE), classes(size(4096, 16))
    while True:
        # Pairs run in turn in one process, where the switch is the process's.
        torch.backends.cuda.matmul.allow_tf32 = cured
        train(model, optimizer, x, y)
        yield


def gpu_bf16(cured: bool) -> Steps:
    """A transformer in 32 bits; cure: autocast to bfloat16."""
    width, length = size(1024, 32), size(128, 8)
    layer = nn.TransformerEncoderLayer(width, size(16, 4), 4 * width, dropout=0.0, batch_first=True)
    body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    model = on_device(nn.Sequential(body, nn.Flatten(), nn.Linear(width * length, 10)))
    optimizer = sgd(model)
    x, y = torch.randn(size(32, 2), length, width, device=DEVICE), classes(size(32, 2))
    while True:
        with torch.autocast(DEVICE.type, torch.bfloat16, enabled=cured):
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), y)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        yield


class SlowTransforms(Dataset[tuple[Tensor, Tensor]]):
    """Each sample costs processor time in Python, as decoding and augmenting do."""

    def __len__(self) -> int:
        return 1_000_000

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        # No function is called, so that a recording with Python frames stays small.
        state, values = index, [0.0] * (3 * 16 * 16)
        for place in range(len(values)):
            for _ in range(6):
                state = (state * 1103515245 + 12345) & 0x7FFFFFFF
            values[place] = state / 0x7FFFFFFF
        return torch.tensor(values).view(3, 16, 16).repeat(1, 7, 7), torch.tensor(index % 10)


def gpu_loading(cured: bool) -> Steps:
    """Samples are made in the training process; cure: eight workers and pinned memory."""
    workers = (
        {"num_workers": size(8, 1), "persistent_workers": True, "prefetch_factor": 4}
        if cured
        else {}
    )
    loader = DataLoader(
        SlowTransforms(), batch_size=size(64, 4), pin_memory=cured and ON_GPU, **workers
    )  # type: ignore[arg-type]
    layers: list[nn.Module] = []
    for index in range(4):
        layers += [nn.Conv2d(64 if index else 3, 64, 3, padding=1), nn.ReLU()]
    model = on_device(
        nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))
    )
    optimizer = sgd(model)
    for x, y in loader:
        train(model, optimizer, x.to(DEVICE, non_blocking=True), y.to(DEVICE, non_blocking=True))
        yield


def gpu_attention(cured: bool) -> Steps:
    """Attention through the matrix of all scores; cure: scaled_dot_product_attention."""
    heads, length, wide = size(16, 2), size(2048, 32), 64
    project = on_device(nn.Linear(heads * wide, 3 * heads * wide)).to(torch.bfloat16)
    x = torch.randn(size(4, 1), length, heads * wide, device=DEVICE, dtype=torch.bfloat16)
    while True:
        y = x
        for _ in range(2):
            q, k, v = project(y).view(-1, length, 3, heads, wide).permute(2, 0, 3, 1, 4)
            if cured:
                out = F.scaled_dot_product_attention(q, k, v)
            else:
                out = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(wide), dim=-1) @ v
            y = out.transpose(1, 2).reshape(-1, length, heads * wide)
        y.float().mean().backward()  # type: ignore[no-untyped-call]
        project.zero_grad()
        yield


@torch.no_grad()
def gpu_launches(cured: bool) -> Steps:
    """Two hundred operators of a few microseconds; cure: one CUDA graph."""
    weights = [torch.randn(64, 64, device=DEVICE) / 8 for _ in range(50)]
    x = torch.randn(64, 64, device=DEVICE)

    def forward() -> Tensor:
        y = x
        for weight in weights:
            y = torch.tanh(y @ weight) + 0.5 * y
        return y

    if not cured or not ON_GPU:
        while True:
            forward()
            yield
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        forward()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    # Threads of other pairs may still use the device.
    with torch.cuda.graph(graph, capture_error_mode="thread_local"):
        forward()
    while True:
        graph.replay()
        yield


@torch.no_grad()
def gpu_elementwise(cured: bool) -> Steps:
    """An activation written out in seven operators; cure: compiled into one kernel."""

    def activation(y: Tensor) -> Tensor:
        return 0.5 * y * (1.0 + torch.tanh(0.79788456 * (y + 0.044715 * y * y * y)))

    apply = torch.compile(activation) if cured else activation
    linear = on_device(nn.Linear(2048, 2048)).to(torch.bfloat16) if ON_GPU else nn.Linear(32, 32)
    x = torch.randn(
        size(16384, 8),
        size(2048, 32),
        device=DEVICE,
        dtype=torch.bfloat16 if ON_GPU else torch.float32,
    )
    while True:
        y = x
        for _ in range(4):
            y = apply(linear(y))
        yield


def gpu_zero_grad(cured: bool) -> Steps:
    """Gradients are filled with zeros; cure: dropped."""
    width = size(8192, 64)
    model = on_device(
        nn.Sequential(*(nn.Linear(width, width) for _ in range(6)), nn.Linear(width, 10))
    )
    optimizer = sgd(model)
    x, y = torch.randn(64, width, device=DEVICE), classes(64)
    while True:
        train(model, optimizer, x, y, to_none=cured)
        yield


def gpu_allocator(cured: bool) -> Steps:
    """Each step empties the allocator's cache, so that the next calls cudaMalloc; cure: no."""
    width = size(4096, 64)
    model = on_device(mlp(width, 8))
    optimizer = sgd(model)
    x, y = torch.randn(size(1024, 8), width, device=DEVICE), classes(size(1024, 8))
    while True:
        train(model, optimizer, x, y)
        if not cured and ON_GPU:
            torch.cuda.empty_cache()
        yield


def gpu_channels(cured: bool) -> Steps:
    """Convolutions in bfloat16 in the layout NCHW, which cuDNN transposes; cure: channels_last."""
    layout = torch.channels_last if cured else torch.contiguous_format
    wide = size(128, 8)
    layers: list[nn.Module] = [nn.Conv2d(3, wide, 3, padding=1)]
    for _ in range(6):
        layers += [nn.BatchNorm2d(wide), nn.ReLU(), nn.Conv2d(wide, wide, 3, padding=1, bias=False)]
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(wide, 10))
    model = on_device(model).to(memory_format=layout)  # type: ignore[call-overload]
    optimizer = sgd(model)
    x = torch.randn(size(64, 2), 3, size(56, 8), size(56, 8), device=DEVICE).contiguous(
        memory_format=layout
    )
    y = classes(size(64, 2))
    while True:
        optimizer.zero_grad()
        with torch.autocast(DEVICE.type, torch.bfloat16):
            loss = F.cross_entropy(model(x), y)
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        yield


@torch.no_grad()
def gpu_small_copies(cured: bool) -> Steps:
    """A hundred rows are copied one by one; cure: together."""
    rows = [torch.randn(1024) for _ in range(100)]
    mixer = on_device(nn.Linear(1024, 1024))
    while True:
        x = torch.stack(rows).to(DEVICE) if cured else torch.stack([row.to(DEVICE) for row in rows])
        for _ in range(8):
            x = torch.tanh(mixer(x))
        yield


@torch.no_grad()
def gpu_created(cured: bool) -> Steps:
    """Noise and masks are made on the CPU and copied; cure: made on the device."""
    width = size(2048, 32)
    mixer = on_device(nn.Linear(width, width))
    x = torch.randn(1024, width, device=DEVICE)
    while True:
        y = x
        for _ in range(4):
            noise = (
                torch.randn(1024, width, device=DEVICE)
                if cured
                else torch.randn(1024, width).to(DEVICE)
            )
            y = torch.tanh(mixer(y) + 0.1 * noise)
        yield


@torch.no_grad()
def gpu_round_trip(cured: bool) -> Steps:
    """A result goes to the CPU, is clipped there and comes back; cure: clipped on the device."""
    width = size(2048, 32)
    mixer = on_device(nn.Linear(width, width))
    x = torch.randn(2048, width, device=DEVICE)
    while True:
        y = x
        for _ in range(3):
            y = mixer(y)
            y = y.clamp(-1, 1) if cured else y.cpu().clamp(-1, 1).to(DEVICE)
        yield


def gpu_fp64(cured: bool) -> Steps:
    """A network in double precision; cure: float."""
    dtype = torch.float32 if cured else torch.float64
    width = size(4096, 32)
    model = on_device(mlp(width, 4)).to(dtype)
    optimizer = sgd(model)
    x, y = torch.randn(size(1024, 8), width, device=DEVICE, dtype=dtype), classes(size(1024, 8))
    while True:
        train(model, optimizer, x, y)
        yield


@torch.no_grad()
def gpu_host_work(cured: bool) -> Steps:
    """The program keeps statistics in Python after each step while the device waits; cure: none."""
    width = size(1024, 32)
    layers = on_device(mlp(width, 8))
    x = torch.randn(1024, width, device=DEVICE)
    total = 0.0
    while True:
        total += layers(x).sum().item()
        if not cured:
            for place in range(size(60_000, 600)):
                total += place % 97 * 0.5
        yield


def plain(make: object, **more: object) -> Case:
    about = (getattr(make, "__doc__", None) or "").strip()
    # Decorated by no_grad, a generator function keeps its name.
    name = make.__name__  # type: ignore[attr-defined]
    return Case(name, about, make, steps=3, warm=5, **more)  # type: ignore[arg-type]


# What each should be found and called stands in tests/illness/gpu.pairs.json.
GPU_CASES: tuple[GpuCase, ...] = (
    GpuCase(plain(gpu_item), tf32=True),
    GpuCase(plain(gpu_pageable)),
    GpuCase(plain(gpu_optimizer), tf32=True),
    GpuCase(plain(gpu_tf32)),
    GpuCase(plain(gpu_bf16)),
    GpuCase(plain(gpu_loading), reserve_s=20),
    GpuCase(plain(gpu_attention)),
    GpuCase(plain(gpu_launches), needs_gpu=True),
    GpuCase(plain(gpu_zero_grad), tf32=True),
    GpuCase(plain(gpu_allocator), tf32=True, needs_gpu=True),
    GpuCase(plain(gpu_channels)),
    GpuCase(plain(gpu_small_copies), tf32=True),
    GpuCase(plain(gpu_created), tf32=True),
    GpuCase(plain(gpu_round_trip), tf32=True),
    GpuCase(plain(gpu_fp64), tf32=True),
    GpuCase(plain(gpu_host_work, stacks=True), tf32=True),
    # Last: it compiles.
    GpuCase(plain(gpu_elementwise), needs_gpu=True, reserve_s=50),
)
