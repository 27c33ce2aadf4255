"""Span rescoring: a log-linear model that changes the posteriors of span labels before trees are decoded.

The input is the posteriors of brackets in a sentence's forests and the marginals of its chart cells
(``options``). The words, tags and likely neighbours of a bracket (``values``) are combined by ``templates``
into hashed features. A softmax over the options of each span, added to their log posteriors, gives the
posteriors that the decoder uses (``scores``, ``rescorer``).

The model scores spans, not lists of k best trees (Charniak and Johnson 2005; Collins and Koo 2005), because
forests contain nearly all gold brackets and such lists do not. The features extend those of Hall, Durrett and
Klein (2014). :mod:`spectralnlp.estimators.parser.span_scorer` learns the weights.
"""

# No module of this package is public: a parser that has a span scorer applies it automatically.
__all__: list[str] = []
