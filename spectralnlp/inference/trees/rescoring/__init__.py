"""Span rescoring: a log-linear model that scores the labels of spans anew, between forests and decoder.

A sentence's forests hold posteriors of brackets, and its bracketings marginals (``options``). What words,
tags and likely neighbours say about a bracket (``values``) is taken together in ``templates`` and hashed; a
softmax over the options of each span, on top of their log posteriors, gives the posteriors that a decoder
sees (``scores``, ``rescorer``).
Spans, not lists of k best trees (Charniak and Johnson 2005; Collins and Koo 2005), are scored, because
forests hold nearly all gold brackets and lists do not; features are those of Hall, Durrett and Klein (2014)
and more. The weights are learned by :mod:`spectralnlp.estimators.parser.span_scorer`.
"""

# No module of this package is public: a parser with a span scorer uses it by itself.
__all__: list[str] = []
