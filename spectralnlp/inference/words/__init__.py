"""Vectors of words, known or spelled."""
