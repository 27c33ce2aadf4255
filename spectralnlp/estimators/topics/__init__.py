"""Topics of documents by moments."""

from spectralnlp.estimators.topics.estimator import TopicModel, mixtures_of

__all__ = ["TopicModel", "mixtures_of"]
