"""Text processing: tokenisation in a treebank's conventions, sentence splitting, rare-word signatures."""

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
