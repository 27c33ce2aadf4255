"""Dense Cohort of Terms (dCoT): reconstruct frequent terms from the other terms of a document."""

# Nothing here is public: import public names from `spectralnlp_sketch`.
__all__: list[str] = []
