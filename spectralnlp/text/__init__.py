"""Text: tokens with offsets, tokenisation in a treebank's conventions, sentences, rare-word signatures."""

# The public modules; the others are private.
__all__ = [
    "blocks",
    "conll",
    "constraints",
    "conventions",
    "detokenizer",
    "inputs",
    "ngrams",
    "sentences",
    "signatures",
    "spans",
    "tokenizer",
    "tokens",
]
