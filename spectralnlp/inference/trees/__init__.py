"""Constituency parsing: charts, packed forests, posteriors under latent-variable grammars, and decoders."""

# The public modules; the others are private.
__all__ = ["decoders", "forest", "scored_forest"]
