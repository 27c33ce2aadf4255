"""Charts, forests, latent scores and decoders of trees."""
