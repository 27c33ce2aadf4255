"""Tasks: what ``train`` and ``evaluate`` need to know of parsing, vectors and other kinds of models."""
