"""Tree-structured multi-stage PCA: a sequence of vectors to one vector."""
