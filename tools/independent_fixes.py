"""Judges whether a fix applies to the program that was recorded, by facts that are read from the trace's events alone.

Facts are part of a label (`facts`): devices, frameworks, optimizers, types of matrix multiplications, masks, loaders, what was recorded. A fix
that needs something else would change results or does not apply. Knows nothing of Fathom but the words of a fix.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from independent_events import COMMUNICATION, FETCH, Events

Facts = dict[str, Any]
Finding = dict[str, Any]

PRODUCTS = re.compile(r"aten::(mm|addmm|bmm|baddbmm|linear|matmul|conv\w*|_convolution|cudnn_convolution|miopen_convolution)$")
FRAMEWORKS = {
    "FSDP": re.compile(r"FSDP|FullyShardedDataParallel|fully_shard"),
    "DDP": re.compile(r"DistributedDataParallel|c10d::Reducer|DDP"),
    "TorchRec": re.compile(r"fbgemm|torchrec|EmbeddingBagCollection|sparse_data_dist", re.IGNORECASE),
    "DeepSpeed": re.compile(r"deepspeed", re.IGNORECASE),
}
COLLECTIVES = {
    "all_reduce": re.compile(r"all_?reduce", re.IGNORECASE),
    "all_gather": re.compile(r"all_?gather", re.IGNORECASE),
    "reduce_scatter": re.compile(r"reduce_?scatter", re.IGNORECASE),
    "all_to_all": re.compile(r"all_?to_?all", re.IGNORECASE),
    "broadcast": re.compile(r"(nccl|rccl|c10d|gloo).*broadcast", re.IGNORECASE),
}
# Those that torch has a fused or a foreach implementation of.
FUSED = {"Adam", "AdamW", "SGD", "Adagrad"}
# Before PyTorch 2.9 or so Adagrad's is one of the processor alone.
FUSED_ON_DEVICES = FUSED - {"Adagrad"}
FOREACH = FUSED | {"Adadelta", "Adafactor", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop"}
SAME_CAUSE = (
    {"data-loading", "data-loader-workers"},
    {"host-bound", "cuda-graph-inference"},
    {"recompilation", "warmup-in-window"},
    {"late-rank", "exposed-communication"},
)


def facts_of(events: Events) -> Facts:
    every = [*events.work, *events.frames, *events.activities]
    names = {each.name for each in every}
    calls = {each.name for each in events.work if each.category in ("cuda_runtime", "cuda_driver", "Runtime", "hip_runtime")}
    platform = None
    if events.activities or events.properties:
        platform = "hip" if any(name.startswith("hip") for name in calls) else "cuda"
    if events.activities and calls and not any(name.startswith(("cuda", "cu", "hip")) for name in calls):
        platform = "other"
    shapes = any("Input Dims" in each.arguments for each in events.work)
    return {
        "device": platform if events.activities else None,
        "loader": any(FETCH.search(name) for name in names),
        "optimizers": sorted({m[1] for name in names if (m := re.match(r"Optimizer\.step#(\w+)", name))}),
        "frameworks": sorted(f for f, pattern in FRAMEWORKS.items() if any(pattern.search(name) for name in names)),
        "collectives": sorted(kind for kind, pattern in COLLECTIVES.items() if any(pattern.search(name) for name in collective_names(events))),
        "product_types": product_types(events) if shapes else None,
        "causal": any(re.search(r"causal|aten::(tril|triu)", name) for name in names),
        "stacks": bool(events.frames) or any("Call stack" in each.arguments for each in events.work),
        "backward": any("Backward" in name for name in names),
        "embeddings": any("embedding" in name.lower() for name in names),
    }


def collective_names(events: Events) -> set[str]:
    return {a.name for a in events.activities if COMMUNICATION.search(a.name)} | {
        each.name + str(each.arguments.get("Collective name", "")) for each in events.work if re.search("nccl|gloo|c10d|record_param", each.name)
    }


def product_types(events: Events) -> list[str]:
    found = set()
    for each in events.work:
        if PRODUCTS.match(each.name):
            types = each.arguments.get("Input type") or []
            dims = each.arguments.get("Input Dims") or []
            found |= {kind for kind, of in zip(types, dims, strict=False) if kind and of not in ([], [[]])}
    return sorted(found)


def only_low_precision(facts: Facts) -> bool:
    types = facts["product_types"]
    return bool(types) and not {"float", "double"} & set(types)


def names_other_optimizer(facts: Facts, text: str) -> bool:
    named = set(re.findall(r"optim\.(\w+)\(", text))
    return bool(named) and bool(facts["optimizers"]) and not named & set(facts["optimizers"])


Check = tuple[str, Callable[[Facts, str], bool]]
CHECKS: list[Check] = [
    ("no mask is known to be causal", lambda f, text: "is_causal=True" in text and not f["causal"]),
    ("nothing is copied to a device", lambda f, text: "pin_memory" in text and f["device"] is None),
    ("no loader runs", lambda f, text: bool(re.search(r"num_workers|DataLoader\((?!.*batch_size)", text)) and not f["loader"] and "pin" not in text),
    ("the optimizer is another", names_other_optimizer),
    ("the optimizer has no fused implementation", lambda f, text: "fused=True" in text and bool(f["optimizers"]) and "optim." in text
     and not set(f["optimizers"]) & (FUSED if f["device"] is None else FUSED_ON_DEVICES)),
    ("the optimizer has no foreach implementation", lambda f, text: "foreach=True" in text and bool(f["optimizers"]) and "optim." in text
     and not set(f["optimizers"]) & FOREACH),
    ("no FSDP", lambda f, text: bool(re.search(r"FSDP|forward_prefetch|fully_shard", text)) and "FSDP" not in f["frameworks"]),
    ("no TorchRec", lambda f, text: "TorchRec" in text and "TorchRec" not in f["frameworks"]),
    ("nothing is broadcast", lambda f, text: "dist.broadcast" in text and "broadcast" not in f["collectives"]),
    ("products are in 16 bits or fewer already", lambda f, text: bool(re.search(r"allow_tf32|float32_matmul_precision|autocast", text))
     and only_low_precision(f)),
    ("no embedding", lambda f, text: "vocab_size" in text and not f["embeddings"]),
    ("no CUDA or HIP", lambda f, text: bool(re.search(r"CUDA graph|cuda\.graph|reduce-overhead|torch\.cuda\.", text))
     and f["device"] not in ("cuda", "hip")),
    ("stacks are recorded", lambda f, text: "with_stack=True" in text and "with_stack=False" not in text and f["stacks"]
     and not re.search(r"schedule\(", text)),
]  # fmt: skip


def harms(facts: Facts | None, finding: Finding) -> list[str]:
    """Why the fix of a finding does not apply to the program of these facts."""
    text = "\n".join(finding.get("fix", {}).values())
    if not facts or not text or finding.get("rule") == "profiling-mistakes" and "eval-mode" in finding.get("id", ""):
        return []
    return [reason for reason, wrong in CHECKS if wrong(facts, text)]


def said_twice(findings: list[Finding]) -> list[str]:
    """Causes that are two of the first three findings."""
    first = {each["rule"] for each in sorted(findings, key=lambda each: each.get("family") == "capture")[:3]}
    return [" and ".join(sorted(same)) for same in SAME_CAUSE if same <= first]
