"""Lightning's trainer on samples that each take 3 ms to come."""

import logging
import time
import warnings

import lightning
import torch
from torch.utils.data import DataLoader, Dataset

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Slow(Dataset):
    def __len__(self):
        return 320

    def __getitem__(self, index):
        time.sleep(0.003)
        return torch.full((64,), float(index)), index % 4


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 4)
        )

    def training_step(self, batch, _):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


torch.set_num_threads(1)
trainer = lightning.Trainer(
    max_epochs=1,
    accelerator="cpu",
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(Classifier(), DataLoader(Slow(), 8))
