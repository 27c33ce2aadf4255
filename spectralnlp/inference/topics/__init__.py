"""Mixtures of topics in documents."""
