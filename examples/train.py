"""Trains a small convolutional network on made pictures, as most first training loops do it.

    fathom run -- python examples/train.py

It needs PyTorch alone. Nothing in it speaks of Fathom.
"""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    """Pictures of noise, each brightened, turned and blurred when it is asked for."""

    def __init__(self, number: int) -> None:
        self.pictures = torch.rand(number, 3, 64, 64)
        self.labels = torch.randint(0, 10, (number,))

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        picture = self.pictures[index] * (0.8 + 0.4 * torch.rand(()))
        if torch.rand(()) < 0.5:
            picture = picture.flip(-1)
        for _ in range(4):
            picture = nn.functional.avg_pool2d(picture, 3, stride=1, padding=1)
        return (picture - picture.mean()) / picture.std(), self.labels[index]


def main() -> None:
    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, stride=2), nn.BatchNorm2d(16), nn.ReLU(),
        nn.Conv2d(16, 32, 3, stride=2), nn.BatchNorm2d(32), nn.ReLU(),
        nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    loader = DataLoader(Pictures(2048), batch_size=64, shuffle=True)
    for epoch in range(2):
        for pictures, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(pictures), labels)
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
