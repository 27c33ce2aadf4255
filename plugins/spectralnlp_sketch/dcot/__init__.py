"""Dense Cohort of Terms: frequent terms reconstructed from the rest of a document."""

# Nothing here is public: the door is the package above.
__all__: list[str] = []
