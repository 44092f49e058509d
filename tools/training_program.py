"""A small training program as people write them: a transformer that learns texts of letters, on the CPU, one thread.

tools/measure_line_steps.py measures its steps. Its lines are what `--with lines` records.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Iterator

import torch
from torch import nn
from torch.nn import functional

LETTERS = "abcdefghijklmnopqrstuvwxyz ,.\n"


@dataclasses.dataclass(frozen=True)
class Config:
    width: int
    heads: int
    layers: int
    length: int
    batch: int
    rate: float = 3e-4
    warm_up: int = 100
    most_norm: float = 1.0


CONFIGS = {
    "small": Config(width=64, heads=4, layers=2, length=32, batch=8),
    "large": Config(width=256, heads=4, layers=3, length=64, batch=8),
}


class Texts:
    """Sentences of made-up words, cut into pieces of one length."""

    def __init__(self, length: int, seed: int = 0) -> None:
        self.length = length
        self.random = random.Random(seed)
        self.numbers = {letter: number for number, letter in enumerate(LETTERS)}

    def word(self) -> str:
        size = self.random.randint(2, 9)
        return "".join(self.random.choices(LETTERS[:26], k=size))

    def piece(self) -> torch.Tensor:
        words: list[str] = []
        left = self.length + 1
        while left > 0:
            word = self.word()
            words.append(word)
            left -= len(word) + 1
        text = " ".join(words)[: self.length + 1].ljust(self.length + 1)
        return torch.tensor([self.numbers[letter] for letter in text])

    def batches(self, size: int) -> Iterator[tuple[torch.Tensor, torch.Tensor]]:
        while True:
            rows = torch.stack([self.piece() for _ in range(size)])
            yield rows[:, :-1], rows[:, 1:]


class Attention(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads = config.heads
        self.project = nn.Linear(config.width, 3 * config.width)
        self.out = nn.Linear(config.width, config.width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        query, key, value = self.project(x).split(width, dim=2)
        shape = (batch, length, self.heads, width // self.heads)
        query = query.view(shape).transpose(1, 2)
        key = key.view(shape).transpose(1, 2)
        value = value.view(shape).transpose(1, 2)
        mixed = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        mixed = mixed.transpose(1, 2).reshape(batch, length, width)
        return self.out(mixed)


class Block(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.before = nn.LayerNorm(config.width)
        self.attention = Attention(config)
        self.between = nn.LayerNorm(config.width)
        self.widen = nn.Linear(config.width, 4 * config.width)
        self.narrow = nn.Linear(4 * config.width, config.width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attention(self.before(x))
        hidden = self.widen(self.between(x))
        hidden = functional.gelu(hidden)
        return x + self.narrow(hidden)


class Model(nn.Module):
    def __init__(self, config: Config) -> None:
        super().__init__()
        self.letters = nn.Embedding(len(LETTERS), config.width)
        self.places = nn.Embedding(config.length, config.width)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.last = nn.LayerNorm(config.width)
        self.head = nn.Linear(config.width, len(LETTERS))

    def forward(self, letters: torch.Tensor) -> torch.Tensor:
        places = torch.arange(letters.shape[1], device=letters.device)
        x = self.letters(letters) + self.places(places)
        for block in self.blocks:
            x = block(x)
        x = self.last(x)
        return self.head(x)


class Mean:
    """A running mean, as training loops keep one."""

    def __init__(self) -> None:
        self.total = 0.0
        self.count = 0

    def add(self, value: float, count: int) -> None:
        self.total += value * count
        self.count += count

    @property
    def value(self) -> float:
        return self.total / max(1, self.count)


class Trainer:
    def __init__(self, config: Config) -> None:
        torch.manual_seed(0)
        self.config = config
        self.model = Model(config)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=config.rate)
        self.batches = Texts(config.length).batches(config.batch)
        self.loss = Mean()
        self.right = Mean()
        self.steps = 0

    def rate(self) -> float:
        if self.steps < self.config.warm_up:
            return self.config.rate * (self.steps + 1) / self.config.warm_up
        turn = (self.steps - self.config.warm_up) / 10_000
        return self.config.rate * 0.5 * (1 + math.cos(math.pi * min(1.0, turn)))

    def step(self) -> None:
        letters, wanted = next(self.batches)
        for group in self.optimizer.param_groups:
            group["lr"] = self.rate()
        self.optimizer.zero_grad(set_to_none=True)
        logits = self.model(letters)
        loss = functional.cross_entropy(
            logits.flatten(0, 1),
            wanted.flatten(),
        )
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), self.config.most_norm)
        self.optimizer.step()
        with torch.no_grad():
            right = (logits.argmax(-1) == wanted).float().mean()
        self.loss.add(loss.item(), len(letters))
        self.right.add(right.item(), len(letters))
        self.steps += 1


def trainer(size: str) -> Trainer:
    torch.set_num_threads(1)
    return Trainer(CONFIGS[size])
