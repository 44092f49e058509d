"""Lightning with two optimizers that the module steps itself, and validation in between."""

import logging
import warnings

import lightning
import torch
from nets import Net, Samples
from torch.utils.data import DataLoader

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Pair(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.maker = torch.nn.Linear(16, 16)
        self.judge = Net()

    def training_step(self, batch, _):
        first, second = self.optimizers()
        x, _ = batch
        self.toggle_optimizer(first)
        loss = self.judge(self.maker(torch.randn_like(x))).mean()
        first.zero_grad()
        self.manual_backward(loss)
        first.step()
        self.untoggle_optimizer(first)
        self.toggle_optimizer(second)
        with torch.no_grad():
            made = self.maker(torch.randn_like(x))
        loss = self.judge(x).mean() - self.judge(made).mean()
        second.zero_grad()
        self.manual_backward(loss)
        second.step()
        self.untoggle_optimizer(second)

    def validation_step(self, batch, _):
        self.log("score", self.judge(batch[0]).mean())

    def configure_optimizers(self):
        return [
            torch.optim.Adam(self.maker.parameters()),
            torch.optim.Adam(self.judge.parameters()),
        ]


trainer = lightning.Trainer(
    max_epochs=1,
    accelerator="cpu",
    val_check_interval=3,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(Pair(), DataLoader(Samples(48), 4), DataLoader(Samples(32), 8))
