"""Learn word clusters from unlabelled text, and the tag distribution of rare words in each cluster.

Coarse and fine clusters are computed by k-means on eigenwords. The tags of a rare word are adjusted towards
those of other rare words in its cluster: tag probabilities are multiplied by p(tag | cluster) / p(tag), which
is Bayes' rule if spelling and cluster are independent given the tag.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import numpy as np
from typing_extensions import Doc

from spectralnlp.estimators.eigenwords.of_text import check_one_source, learn_vectors, load_vectors
from spectralnlp.estimators.parser.component import Component, Context
from spectralnlp.estimators.shared import settings
from spectralnlp.linalg.kmeans import kmeans
from spectralnlp.parameters import WordClusters, WordVectors
from spectralnlp.progress import fit_pass
from spectralnlp.trees import lowest_label
from spectralnlp.trees.treelog import TreeTable

# Maximum numbers of coarse and of fine clusters.
N_CLUSTERS = (32, 512)
_PRIOR = 1.0  # pseudo-count of the tag distribution of all rare words in that of a cluster


@dataclass(kw_only=True)
class WordClustering(Component):
    """Component that learns word clusters from eigenwords, and the tags of the rare words in each cluster."""

    name = "word_clusters"
    learned = "before"

    eigenwords: Annotated[
        str | None,
        Doc(
            "Folder of eigenwords. Clusters of their words improve the tags of rare words, and are features "
            "of the span scorer."
        ),
    ] = None
    unlabelled: Annotated[
        str | list[str] | None,
        Doc("Files of unlabelled text to learn eigenwords from, instead of giving ``eigenwords``."),
    ] = None

    @property
    def is_on(self) -> bool:
        """Whether eigenwords, or text to learn them from, are given."""
        return self.eigenwords is not None or self.unlabelled is not None

    def check_combination(self) -> None:
        """Raise `ConfigError` if both ``unlabelled`` and ``eigenwords`` are given."""
        check_one_source(self.eigenwords, self.unlabelled)

    def learn(self, context: Context) -> WordClusters:
        """Cluster the words, and estimate p(tag | cluster) / p(tag) from the trees.

        A jackknife fold reuses the word clusters of the whole treebank.
        """
        if context.whole is None:
            vectors = self._vectors(context.random_state)
            with fit_pass("clusters of words"):
                clusters = cluster_words(vectors, context.random_state)
        else:
            clusters = context.whole.components[self.name]
        return with_tag_factors(clusters, context.trees.first, settings.RARE)

    def _vectors(self, random_state: int) -> WordVectors:
        if self.unlabelled is not None:
            return learn_vectors(self.unlabelled, random_state=random_state)
        assert self.eigenwords is not None
        return load_vectors(self.eigenwords)


def cluster_words(vectors: WordVectors, random_state: int) -> WordClusters:
    """Cluster words by their vectors; the result has no tag factors (see `with_tag_factors`).

    Args:
        vectors: word vectors.
        random_state: seed of k-means.
    """
    points = vectors.vectors.astype(np.float64)
    points /= np.maximum(np.linalg.norm(points, axis=1, keepdims=True), 1e-9)
    columns = [kmeans(points, min(k, len(points)), random_state=random_state)[0] + 1 for k in N_CLUSTERS]
    clusters = np.stack(columns, axis=1).astype(np.int32)
    return WordClusters(
        words=vectors.words, clusters=clusters, tag_factors=np.ones((1 + int(clusters.max()), 0))
    )


def with_tag_factors(clusters: WordClusters, table: TreeTable, rare: int) -> WordClusters:
    """Return word clusters with factors p(tag | cluster) / p(tag), estimated from rare words of a treebank.

    Args:
        clusters: word clusters, whose present factors are replaced.
        table: table of the treebank's trees.
        rare: largest frequency of a rare word.
    """
    leaves = np.flatnonzero(table.word >= 0)
    word, symbol = table.word[leaves], table.symbol[leaves]
    labels = list(map(lowest_label, table.symbols))
    tags = sorted({labels[s] for s in np.unique(symbol).tolist()})
    number = {tag: n for n, tag in enumerate(tags)}
    tag = np.array([number.get(label, -1) for label in labels])[symbol]
    cluster = np.array([clusters.of(each)[1] for each in table.words])[word]
    once = table.share[table.tree[leaves]]
    counted = (np.bincount(word, once, len(table.words))[word] <= rare) & (cluster > 0)
    counts = np.zeros((len(clusters.tag_factors), len(tags)))
    np.add.at(counts, (cluster[counted], tag[counted]), once[counted])
    share = counts.sum(0) / max(counts.sum(), 1.0)
    smoothed = (counts + _PRIOR * share) / (counts.sum(1, keepdims=True) + _PRIOR)
    factors = np.divide(smoothed, share, out=np.ones_like(counts), where=share > 0)
    factors[0] = 1.0
    return replace(clusters, tags=tuple(tags), tag_factors=factors)
