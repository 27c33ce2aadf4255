"""Word vectors and word clusters for taggers, learned from unlabelled text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from spectralnlp.estimators.eigenwords.of_text import learn_vectors, load_vectors
from spectralnlp.inference.chains.unlabelled import UnlabelledFeatures
from spectralnlp.inference.words.lookup import VectorLookup, unit_rows
from spectralnlp.linalg.kmeans import kmeans
from spectralnlp.parameters import WordVectors
from spectralnlp.progress import fit_pass

# Length of vectors by whether words are lower-cased: clusters are made of the lower-cased ones, and those
# with the original case help with names and chunks (benchmarks/experiments/taggers.md).
_LENGTHS = {True: 100, False: 50}
# Maximum number of word clusters; 200 are as good for n-grams (benchmarks/experiments/taggers.md).
_N_CLUSTERS = 500


def features_of_text(text: str | Sequence[str], random_state: int) -> UnlabelledFeatures:
    """Learn vectors of words, both lower-cased and as written, and clusters of the lower-cased words.

    Args:
        text: paths of files or folders, or glob patterns.
        random_state: seed.

    Raises:
        InputError: a file cannot be read, or the text has too few words.
    """
    both = [
        learn_vectors(text, lowercase=lowercase, dimensions=dimensions, random_state=random_state)
        for lowercase, dimensions in _LENGTHS.items()
    ]
    return _features_of(both, random_state)


def features_of_folders(folders: Sequence[str], random_state: int) -> UnlabelledFeatures:
    """Load word vectors that were learned before, and cluster the words of the first folder.

    Args:
        folders: folders of word vectors.
        random_state: seed of the clustering.

    Raises:
        ModelError: a folder holds no word vectors.
    """
    return _features_of([load_vectors(folder) for folder in folders], random_state)


def _features_of(vectors: Sequence[WordVectors], random_state: int) -> UnlabelledFeatures:
    """Return word vectors as features of a tagger, with clusters of the words of the first source.

    Args:
        vectors: word vectors of each source; only word types and their vectors are kept.
        random_state: seed of the clustering.
    """
    used = [replace(each, contexts=(), blocks=(), context_vectors=None, clusters=None) for each in vectors]
    if used:
        with fit_pass("clusters of words"):
            points = unit_rows(used[0].vectors)
            clusters, _ = kmeans(points, min(_N_CLUSTERS, len(points)), random_state=random_state)
            used[0] = replace(used[0], clusters=clusters)
    return UnlabelledFeatures(tuple(VectorLookup(each) for each in used))
