"""Model cards: what a model is, what it was made from, and how."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def model_card(about: Mapping[str, Any], data: str, description: str, default: str) -> str:
    """A model card, Markdown.

    Args:
        about: the model's ``about``: version, estimator and its parameters.
        data: what it was learned from, such as ``171 trees of 1,530 tokens``.
        description: Markdown to begin with.
        default: what to begin with if there is no description.
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
