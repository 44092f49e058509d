"""Every finding of a diagnosis in JSON: cards, and the alternatives that were found of the same cause."""

from __future__ import annotations

from typing import Any


def of_card(card: dict[str, Any]) -> list[dict[str, Any]]:
    return [card, *card.get("alternatives", [])]


def of(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [finding for card in document.get("findings", []) for finding in of_card(card)]
