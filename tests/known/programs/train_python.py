"""Trains a small network; between its operators each step counts words in pure Python."""

import torch


def count_words(text):
    counts = {}
    for word in text.split(" "):
        counts[word] = counts.get(word, 0) + 1
    return counts


torch.set_num_threads(1)
text = " ".join(f"w{number % 997}" for number in range(150_000))
model = torch.nn.Linear(64, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(32, 64), torch.randint(0, 4, (32,))
for _ in range(60):
    optimizer.zero_grad()
    count_words(text)
    torch.nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()
