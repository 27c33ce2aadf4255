"""Text: tokens with offsets, tokenisation in a treebank's conventions, sentences, rare-word signatures."""
