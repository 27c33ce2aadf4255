"""Classifiers of texts that learn from few labels and much text without any."""
