"""The package's main functions: read, train, load and evaluate any kind of model with one call each.

Each function calls the task (parsing, tagging, …) of the given estimator or model; see
:mod:`spectralnlp.tasks.task`.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from spectralnlp import registry
from spectralnlp.changes.operations import Saved
from spectralnlp.display import Report
from spectralnlp.errors import ConfigError, ModelError
from spectralnlp.estimator import Estimator
from spectralnlp.models import folder_of
from spectralnlp.models.changing import ChangingModel
from spectralnlp.runtime import Corpus, OnBad, rereadable
from spectralnlp.storage import StoredModel, load_model
from spectralnlp.tasks.task import ProgressCallback, Task, silent
from spectralnlp.trees import Tree, is_nltk_corpus
from spectralnlp.trees.renaming import read_renaming

if TYPE_CHECKING:
    from spectralnlp.models.parser import Parser
    from spectralnlp.models.rhmm_tagger import RefinementTagger
    from spectralnlp.models.sequence_model import SequenceModel
    from spectralnlp.models.tagger import Tagger
    from spectralnlp.models.topics import Topics
    from spectralnlp.models.vectors import Vectors


def read_treebank(
    paths: str | Path | Sequence[str | Path],
    reader: str = "auto",
    on_bad: OnBad | None = None,
    encoding: str | None = None,
) -> Corpus[Tree]:
    """Read the trees of a treebank, and remove traces, empty elements and function tags.

    Args:
        paths: files, folders or globs, plain or gzipped; or an NLTK corpus reader.
        reader: name of a treebank reader, such as ``ptb``, or ``auto``.
        on_bad: called with the error of each invalid tree, which is skipped; None to raise it.
        encoding: encoding of the files; None for the default of the treebank format.

    Returns:
        A corpus that reads the files again at each pass.

    Raises:
        InputError: an input is missing, or (on reading) a tree is malformed.
        RegistryError: there is no reader with this name.

    Examples:
        >>> import spectralnlp
        >>> trees = spectralnlp.read_treebank("corpora/treebank/dev.mrg")
        >>> print(next(iter(trees)))
        (S (NP (DT The) (NN keeper)) (VP (VBZ climbs) ...
    """
    task: Task = registry.tasks.get("parsing")()
    if is_nltk_corpus(paths):
        return task.read(cast("Any", paths), reader=reader, on_bad=on_bad)
    encoded: dict[str, Any] = {} if encoding is None else {"encoding": encoding}
    return task.read(_inputs(paths) or [], reader=reader, on_bad=on_bad, **encoded)


@overload
def train(
    estimator: Literal["lpcfg", "pcfg", "lpcfg-em"],
    data: Any,
    *,
    report: ProgressCallback | None = ...,
    reader: str = ...,
    encoding: str | None = ...,
    **settings: Any,
) -> Parser: ...


@overload
def train(
    estimator: Literal["tagger"],
    data: Any,
    *,
    report: ProgressCallback | None = ...,
    reader: str = ...,
    encoding: str | None = ...,
    **settings: Any,
) -> Tagger: ...


@overload
def train(
    estimator: Literal["rhmm"],
    data: Any,
    *,
    report: ProgressCallback | None = ...,
    reader: str = ...,
    encoding: str | None = ...,
    **settings: Any,
) -> RefinementTagger: ...


@overload
def train(
    estimator: Literal["hmm", "hmm-em"],
    data: Any,
    *,
    report: ProgressCallback | None = ...,
    reader: str = ...,
    encoding: str | None = ...,
    **settings: Any,
) -> SequenceModel: ...


@overload
def train(
    estimator: Literal["eigenwords"],
    data: Any,
    *,
    report: ProgressCallback | None = ...,
    reader: str = ...,
    encoding: str | None = ...,
    **settings: Any,
) -> Vectors: ...


@overload
def train(
    estimator: Literal["topics"],
    data: Any,
    *,
    report: ProgressCallback | None = ...,
    reader: str = ...,
    encoding: str | None = ...,
    **settings: Any,
) -> Topics: ...


@overload
def train(
    estimator: str | Estimator[Any] | type[Estimator[Any]],
    data: Any,
    *,
    report: ProgressCallback | None = ...,
    reader: str = ...,
    encoding: str | None = ...,
    **settings: Any,
) -> Any: ...


def train(
    estimator: str | Estimator[Any] | type[Estimator[Any]],
    data: Any,
    *,
    report: ProgressCallback | None = None,
    reader: str = "auto",
    encoding: str | None = None,
    weights: Mapping[str | Path, int] | None = None,
    map: str | Path | None = None,
    **settings: Any,
) -> Any:
    """Train a model.

    Args:
        estimator: a registered name, such as ``lpcfg``; an estimator class; or an estimator.
        data: files, folders or globs to read; or the examples themselves: a corpus, a list, or an iterator if
            the estimator needs only one pass. A list of strings is taken for paths: to train on texts, make
            an `InMemoryCorpus` of them. Traces and function tags are removed from trees in files and from
            trees of NLTK (a corpus reader such as ``nltk.corpus.treebank``, or its ``parsed_sents()``), but
            not from other trees in memory; see `read_treebank`.
        report: called with a line for each pass; None for no progress.
        reader: name of a reader for the files; ``auto`` to recognise the format.
        encoding: encoding of treebank files; None for the default of the treebank format.
        weights: mapping from a treebank to the number of times that each of its trees counts, such as
            ``{"b/": 2}``. A treebank is named by its path as in ``data``, or by the folder that contains its
            files. Trees of other treebanks count once.
        map: file with a table of renamings of labels and tags, such as ``grammars/en.map``.
        settings: hyper-parameters, such as ``n_states=16``; ``preset="fast"`` selects a preset as the base.

    Returns:
        A model of the estimator's task, such as a `Parser`, with ``save``, ``info`` and ``task``.

    Raises:
        ConfigError: a setting does not exist or is out of range.
        InputError: the data cannot be read, or is empty.
        RegistryError: there is no estimator with this name.

    Examples:
        >>> import spectralnlp
        >>> parser = spectralnlp.train("pcfg", "corpora/treebank/train.mrg", vertical=0)
        >>> parser.info["training trees"]
        171
        >>> hmm = spectralnlp.train(spectralnlp.HMM(n_states=1), [["a", "b"], ["b", "a"]])
        >>> hmm.task
        'sequences'
    """
    learner = _learner(estimator, settings)
    task: Task = registry.tasks.get(learner.task)()
    inputs = _inputs(data)
    options = _reading(
        task,
        encoding=encoding,
        weights=None if weights is None else {str(name): weight for name, weight in weights.items()},
        map=None if map is None else read_renaming(map),
    )
    if inputs is None:
        if options:
            raise ConfigError(f"`{next(iter(options))}` is for files, not for data in memory")
        corpus = task.in_memory(data)
    else:
        corpus = task.read(inputs, reader=reader, **options)
    return task.train(learner, corpus, report=report or silent)


@overload
def load(name: Literal["en", "en-biomedical", "is"]) -> Parser: ...


@overload
def load(name: Literal["en-tagger", "en-upos", "is-tagger"]) -> Tagger: ...


@overload
def load(name: str | Path) -> Any: ...


def load(name: str | Path) -> Any:
    """Load a trained model.

    Args:
        name: a model folder, or the name of a model that is installed, such as ``en``.

    Returns:
        A `Parser`, a `Tagger`, or another model, by the task of the folder. `load_parser`, `load_tagger` and
        ``spectralnlp_sketch.load_classifier`` return a single kind, for type checkers.

    Raises:
        ModelError: there is no such model, or it is truncated or of another format version.

    Examples:
        >>> import spectralnlp
        >>> print(spectralnlp.load("en").parse("It is cold.")[0].tree)
        (TOP (S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ cold))) (. .)))
    """
    return _loaded(load_model(folder_of(name)))


def load_parser(name: str | Path) -> Parser:
    """Load a parser; see `load`.

    Raises:
        ModelError: there is no such model, it is not a parser, or it is truncated or of another format
            version.

    Examples:
        >>> import spectralnlp
        >>> spectralnlp.load_parser("en").decoder
        'mbr'
    """
    return cast("Parser", load_kind(name, "parsing", "a parser"))


def load_tagger(name: str | Path) -> Tagger | RefinementTagger:
    """Load a tagger of any kind; see `load`.

    Raises:
        ModelError: there is no such model, it is not a tagger, or is truncated or of another format version.

    Examples:
        >>> import spectralnlp
        >>> spectralnlp.load_tagger("en-upos").tags[:2]
        ('ADJ', 'ADP')
    """
    return cast("Tagger | RefinementTagger", load_kind(name, "tagging", "a tagger"))


def load_kind(name: str | Path, task: str, noun: str) -> Any:
    """Load a model, and check that it is a model of a given task.

    Args:
        name: a model folder, or the name of a model that is installed.
        task: name of the task, such as ``parsing``.
        noun: what the error calls a model of this task, such as ``a parser``.

    Raises:
        ModelError: as for `load`; or the model is of another task.
    """
    stored = load_model(folder_of(name))
    if stored.kind != task:
        raise ModelError(f"a model for {stored.kind}, not {noun}", path=stored.path)
    return _loaded(stored)


def _loaded(stored: StoredModel) -> Any:
    """Return the model that a folder holds, with what was saved with it."""
    if stored.kind not in registry.tasks:
        raise ModelError(f"a model for the task {stored.kind!r}, which is not installed", path=stored.path)
    model = registry.tasks.get(stored.kind)().load(stored)
    if isinstance(model, ChangingModel):
        model = replace(model, saved=Saved(model, Path(stored.path), stored.digest))
    return model


def evaluate(model: Any, data: Any, **options: Any) -> Report:
    """Score a model on gold data.

    Args:
        model: a model from `train` or `load`; or a model folder, or the name of an installed model.
        data: gold files, folders or globs; or gold examples, as a corpus or a list.
        options: keyword arguments of the task's ``read_gold`` and ``evaluate``, such as ``reader="gum"`` or
            ``decoder="viterbi"``; ``map`` is a file, as in `train`.

    Returns:
        A report, with a method `to_table` that returns readable text, and a method `to_flat_dict` that
        returns the figures by name.

    Raises:
        ConfigError: the task does not take an option, or its models have no score.
        InputError: the data cannot be read or is empty, or the ``map`` renames nothing.

    Examples:
        >>> import spectralnlp
        >>> parser = spectralnlp.train("pcfg", "corpora/treebank/train.mrg")
        >>> spectralnlp.evaluate(parser, "corpora/treebank/dev.mrg").to_flat_dict()["f1"] > 90
        True
    """
    if isinstance(model, str | os.PathLike):
        model = load(cast("str | Path", model))
    task: Task = registry.tasks.get(model.task)()
    inputs = _inputs(data)
    if isinstance(options.get("map"), str | Path):
        options["map"] = read_renaming(options["map"])
    reading = {} if inputs is None else _accepted(task.read_gold, options)
    scoring = _accepted(task.evaluate, options)
    for name in options:
        if name not in reading and name not in scoring:
            raise ConfigError(f"{name} means nothing to the evaluation of {task.name}", hint="leave it out")
    corpus = task.in_memory(data) if inputs is None else task.read_gold(inputs, **reading)
    if "map" in reading:
        corpus.remarks()  # a table that renames nothing is refused
    return task.evaluate(model, corpus, **scoring)


def _learner(
    estimator: str | Estimator[Any] | type[Estimator[Any]], settings: Mapping[str, Any]
) -> Estimator[Any]:
    if isinstance(estimator, Estimator):
        if settings:
            what = f"settings beside an estimator that has its own: {', '.join(settings)}"
            raise ConfigError(what, hint=f"give the name or the class: {type(estimator).__name__}")
        return estimator
    kind: type[Estimator[Any]] = (
        registry.estimators.get(estimator) if isinstance(estimator, str) else estimator
    )
    return kind.from_settings({}, settings)


def _inputs(data: object) -> list[str | Path] | None:
    """Return a list of the given paths, or None if the data are not paths.

    A pipe can be read only once, so it is copied to a temporary file.
    """
    if isinstance(data, str | os.PathLike):
        return rereadable([cast("str | Path", data)])
    if isinstance(data, list | tuple) and data and all(isinstance(each, str | os.PathLike) for each in data):
        return rereadable(list(cast("Iterable[str | Path]", data)))
    return None


def _reading(task: Task, **options: Any) -> dict[str, Any]:
    """Return the options that are not None, as keyword arguments for ``task.read``.

    Raises:
        ConfigError: ``task.read`` does not take one of these options.
    """
    present = {name: value for name, value in options.items() if value is not None}
    for name in present.keys() - _accepted(task.read, present).keys():
        raise ConfigError(f"`{name}` means nothing to {task.name}", hint="leave it out")
    return present


def _accepted(method: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    known = inspect.signature(method).parameters
    return {name: value for name, value in options.items() if name in known}
