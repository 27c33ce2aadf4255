"""Mixtures of topics in documents."""

# Nothing here is public.
__all__: list[str] = []
