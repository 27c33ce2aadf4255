"""Dense Cohort of Terms: frequent terms reconstructed from the rest of a document."""
