"""Topic models, learned by the method of moments."""

from spectralnlp.estimators.topics.estimator import TopicModel
from spectralnlp.inference.topics.mixtures import mixtures_of

__all__ = ["TopicModel", "mixtures_of"]
