"""What a tagger learns from unlabelled text: vectors of words, and clusters of words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spectralnlp.estimators.eigenwords.of_text import learn_vectors, load_vectors
from spectralnlp.inference.chains.unlabelled import UnlabelledFeatures
from spectralnlp.inference.words.lookup import VectorLookup, unit_rows
from spectralnlp.linalg.kmeans import kmeans
from spectralnlp.parameters import WordVectors
from spectralnlp.progress import fit_pass

# Length of the vectors of words in small letters, of which clusters are made, and of words as written, which
# names and chunks need (benchmarks/experiments/taggers.md).
_LENGTHS = {True: 100, False: 50}
# Clusters of words, as far as there are words; 200 gain the same in n-grams
# (benchmarks/experiments/taggers.md).
_N_CLUSTERS = 500


def features_of_text(text: str | Sequence[str], random_state: int) -> UnlabelledFeatures:
    """Learn vectors of words in small letters, and of words as they are written.

    Args:
        text: files, folders and globs.
        random_state: seed.

    Raises:
        InputError: a file cannot be read, or holds too few words.
    """
    both = [
        learn_vectors(text, lowercase=lowercase, dimensions=dimensions, random_state=random_state)
        for lowercase, dimensions in _LENGTHS.items()
    ]
    return _features_of(both, random_state)


def features_of_folders(folders: Sequence[str], random_state: int) -> UnlabelledFeatures:
    """Read vectors that were learned before.

    Args:
        folders: of vectors; clusters are those of the first.
        random_state: seed of the clusters.

    Raises:
        ModelError: a folder holds no vectors of words.
    """
    return _features_of([load_vectors(folder) for folder in folders], random_state)


def _features_of(vectors: Sequence[WordVectors], random_state: int) -> UnlabelledFeatures:
    """Cluster the first vectors, and leave out what is not used of any."""
    used = [replace(each, contexts=(), blocks=(), context_vectors=None, clusters=None) for each in vectors]
    if used:
        with fit_pass("clusters of words"):
            points = unit_rows(used[0].vectors)
            clusters, _ = kmeans(points, min(_N_CLUSTERS, len(points)), random_state=random_state)
            used[0] = replace(used[0], clusters=clusters)
    return UnlabelledFeatures(tuple(VectorLookup(each) for each in used))
