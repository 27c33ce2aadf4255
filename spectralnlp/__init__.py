"""Parsers, taggers and text representations learned by spectral methods.

Read, train, evaluate and load from here::

    import spectralnlp

    parser = spectralnlp.train("lpcfg", "corpora/treebank/train.mrg")
    print(spectralnlp.evaluate(parser, "corpora/treebank/dev.mrg").to_table())

``__all__`` lists the public names; each is imported when it is first used, so that ``import spectralnlp`` is
cheap. The ``__all__`` of each subpackage lists its own public names; all other names may change.

>>> import spectralnlp
>>> len(spectralnlp.__version__.split("."))
3
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spectralnlp.api import evaluate, load, load_parser, load_tagger, read_treebank, train
    from spectralnlp.display import Report
    from spectralnlp.errors import SpectralError
    from spectralnlp.estimator import Estimator, IterativeEstimator, MomentEstimator
    from spectralnlp.estimators.eigenwords import Eigenwords
    from spectralnlp.estimators.hmm import HMM
    from spectralnlp.estimators.lpcfg import LPCFG
    from spectralnlp.estimators.pcfg import PCFG
    from spectralnlp.estimators.rhmm import RefinementHMM
    from spectralnlp.estimators.tagger import CRFTagger
    from spectralnlp.estimators.topics import TopicModel
    from spectralnlp.featurizer import Featurizer
    from spectralnlp.models.features import Features
    from spectralnlp.models.parser import Parser
    from spectralnlp.models.sequence_model import SequenceModel
    from spectralnlp.models.tagged import Tagged
    from spectralnlp.models.tagger import Tagger
    from spectralnlp.models.topics import Topics
    from spectralnlp.models.vectors import Vectors
    from spectralnlp.runtime import (
        Batch,
        Corpus,
        Counts,
        FileCorpus,
        InMemoryCorpus,
        Moments,
        use_checkpoint,
        use_engine,
        use_memory,
    )
    from spectralnlp.tasks.task import Task
    from spectralnlp.text.annotations import Annotations
    from spectralnlp.text.constraints import Constraints
    from spectralnlp.trees.parse import Parse
    from spectralnlp.trees.tree import Tree

__version__ = "0.1.0"

__all__ = [
    "HMM",
    "LPCFG",
    "PCFG",
    "Annotations",
    "Batch",
    "CRFTagger",
    "Constraints",
    "Corpus",
    "Counts",
    "Eigenwords",
    "Estimator",
    "Features",
    "Featurizer",
    "FileCorpus",
    "InMemoryCorpus",
    "IterativeEstimator",
    "MomentEstimator",
    "Moments",
    "Parse",
    "Parser",
    "RefinementHMM",
    "Report",
    "SequenceModel",
    "SpectralError",
    "Tagged",
    "Tagger",
    "Task",
    "TopicModel",
    "Topics",
    "Tree",
    "Vectors",
    "__version__",
    "evaluate",
    "load",
    "load_parser",
    "load_tagger",
    "read_treebank",
    "train",
    "use_checkpoint",
    "use_engine",
    "use_memory",
]

# Where each public name is defined.
_NAMES_OF = {
    "spectralnlp.api": ["evaluate", "load", "load_parser", "load_tagger", "read_treebank", "train"],
    "spectralnlp.display": ["Report"],
    "spectralnlp.errors": ["SpectralError"],
    "spectralnlp.estimator": ["Estimator", "IterativeEstimator", "MomentEstimator"],
    "spectralnlp.estimators.eigenwords": ["Eigenwords"],
    "spectralnlp.estimators.hmm": ["HMM"],
    "spectralnlp.estimators.lpcfg": ["LPCFG"],
    "spectralnlp.estimators.pcfg": ["PCFG"],
    "spectralnlp.estimators.rhmm": ["RefinementHMM"],
    "spectralnlp.estimators.tagger": ["CRFTagger"],
    "spectralnlp.estimators.topics": ["TopicModel"],
    "spectralnlp.featurizer": ["Featurizer"],
    "spectralnlp.models.features": ["Features"],
    "spectralnlp.models.parser": ["Parser"],
    "spectralnlp.models.sequence_model": ["SequenceModel"],
    "spectralnlp.models.tagger": ["Tagger"],
    "spectralnlp.models.topics": ["Topics"],
    "spectralnlp.models.vectors": ["Vectors"],
    "spectralnlp.runtime": [
        "Batch",
        "Corpus",
        "Counts",
        "FileCorpus",
        "InMemoryCorpus",
        "Moments",
        "use_checkpoint",
        "use_engine",
        "use_memory",
    ],
    "spectralnlp.tasks.task": ["Task"],
    "spectralnlp.text.annotations": ["Annotations"],
    "spectralnlp.text.constraints": ["Constraints"],
    "spectralnlp.models.tagged": ["Tagged"],
    "spectralnlp.trees.parse": ["Parse"],
    "spectralnlp.trees.tree": ["Tree"],
}
_MODULE_OF = {name: module for module, names in _NAMES_OF.items() for name in names}


if not TYPE_CHECKING:  # type checkers know the names above, and report all others

    def __getattr__(name: str) -> Any:
        if name not in _MODULE_OF:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        value = globals()[name] = getattr(import_module(_MODULE_OF[name]), name)
        return value


def __dir__() -> list[str]:
    return sorted(__all__)
