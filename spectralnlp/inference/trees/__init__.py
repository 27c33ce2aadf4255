"""Charts, forests, latent scores and decoders of trees."""

# The public modules; the others are private.
__all__ = ["decoders", "forest", "scored_forest"]
