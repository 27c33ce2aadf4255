"""Leverage scores: exact, sketched, and in two passes over a stream."""
