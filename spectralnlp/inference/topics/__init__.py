"""Inference of the topic mixtures of documents."""

# Nothing here is public.
__all__: list[str] = []
