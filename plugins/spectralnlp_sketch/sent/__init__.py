"""Sentence representations by sketching of unlabelled queries (Kim, Stratos and Sarikaya 2015)."""
