"""transformers' Trainer on a small BERT with weights of its own: the processor computes."""

import logging
import os
import tempfile

os.environ["HF_HUB_OFFLINE"] = "1"
import torch
import transformers

transformers.logging.set_verbosity_error()
logging.disable(logging.WARNING)
torch.set_num_threads(1)


class Texts(torch.utils.data.Dataset):
    def __len__(self):
        return 160

    def __getitem__(self, index):
        words = torch.arange(128) * (index + 1) % 1000
        return {"input_ids": words, "attention_mask": torch.ones(128).long(), "labels": index % 2}


config = transformers.BertConfig(
    vocab_size=1000,
    hidden_size=256,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=1024,
    num_labels=2,
)
with tempfile.TemporaryDirectory() as folder:
    arguments = transformers.TrainingArguments(
        folder,
        per_device_train_batch_size=8,
        num_train_epochs=1,
        report_to=[],
        use_cpu=True,
        save_strategy="no",
        logging_strategy="no",
        disable_tqdm=True,
    )
    model = transformers.BertForSequenceClassification(config)
    transformers.Trainer(model, arguments, train_dataset=Texts()).train()
