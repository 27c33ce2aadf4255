"""Tasks: parsing, tagging, vectors and others, as ``train`` and ``evaluate`` see them."""
