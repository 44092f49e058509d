"""Lightning's trainer: two batches make a step, two of validation come before all."""

import logging
import warnings

import lightning
import torch
from nets import Net, Samples, loss_of
from torch.utils.data import DataLoader

warnings.simplefilter("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def training_step(self, batch, _):
        return loss_of(self.net, *batch)

    def validation_step(self, batch, _):
        self.log("loss", loss_of(self.net, *batch))

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


trainer = lightning.Trainer(
    max_epochs=1,
    accelerator="cpu",
    accumulate_grad_batches=2,
    logger=False,
    enable_checkpointing=False,
    enable_progress_bar=False,
    enable_model_summary=False,
)
trainer.fit(Classifier(), DataLoader(Samples(96), 4), DataLoader(Samples(32), 8))
print(trainer.global_step)
