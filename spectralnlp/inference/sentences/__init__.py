"""Ends of sentences in raw text: tokens as numbers, hashed features of gaps between tokens, decisions."""
