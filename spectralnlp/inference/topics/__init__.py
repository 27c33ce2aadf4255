"""Inference of the topics of documents, given a topic model."""

# Nothing here is public.
__all__: list[str] = []
