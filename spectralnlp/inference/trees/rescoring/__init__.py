"""Span rescoring: a log-linear model that changes the posteriors of span labels before trees are decoded.

The input is the posteriors of brackets in a sentence's forests and the marginals of its chart cells
(``options``). The words, tags and likely neighbours of a bracket (``values``) are combined by ``templates``
into hashed features. The weights of a label's features are added to its log posterior; a softmax over the
candidate labels of each span gives the posteriors that the decoder uses (``scores``, ``rescorer``).

The model scores spans, not lists of k best trees (Charniak and Johnson 2005; Collins and Koo 2005), because
forests contain nearly all gold brackets, while lists of k trees lack many. The features extend those of Hall,
Durrett and Klein (2014). :mod:`spectralnlp.estimators.parser.span_scorer` learns the weights.
"""

# No module of this package is public: a parser that has a span scorer applies it automatically.
__all__: list[str] = []
