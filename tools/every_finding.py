"""Every finding of a diagnosis in JSON: cards, and the alternatives that were found of the same cause."""

from __future__ import annotations

from typing import Any


def of_card(card: dict[str, Any]) -> list[dict[str, Any]]:
    return [card, *card.get("alternatives", [])]


def shown(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Cards in the order of the screen; remarks on the recording take no place among the first. What the verdict is
    about is none, even where it is of the family of such remarks: that the model is on the processor, say."""
    return sorted(document.get("findings", []), key=lambda card: card.get("part", card.get("family")) == "capture")


def of(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [finding for card in document.get("findings", []) for finding in of_card(card)]
