"""Write model cards: Markdown that says what a model is, which data it was trained on, and how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def model_card(about: Mapping[str, Any], data: str, description: str, default: str) -> str:
    """Return a model card in Markdown.

    Args:
        about: metadata of the model: package version, estimator, and the estimator's parameters.
        data: the training data in words, such as ``171 trees of 1,530 tokens``.
        description: Markdown that opens the card.
        default: Markdown that opens the card if the description is empty.
    """
    parameters = "\n".join(f"| `{name}` | `{value}` |" for name, value in about["parameters"].items())
    return f"""{description.strip() or default}

## Training

spectralnlp {about["spectralnlp"]}, estimator `{about["estimator"]}`, {data}.

| setting | value |
|---|---|
{parameters}

If `moments.safetensors` lies beside the model, it reveals what the model was learned from; the model works
without it.
"""
