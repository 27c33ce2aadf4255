"""The short way: read, train, load and evaluate with one call each, whatever the kind of model.

The task of the estimator, or of the model, does the work; :mod:`spectralnlp.tasks.task` says what a task is.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, overload

from spectralnlp import registry
from spectralnlp.display import Report
from spectralnlp.errors import ConfigError, ModelError
from spectralnlp.estimator import Estimator
from spectralnlp.models import folder_of
from spectralnlp.runtime import Corpus, OnBad, rereadable
from spectralnlp.storage import load_model
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
    """Read cleaned trees: without traces, function tags and words that are not there.

    Args:
        paths: files, folders and globs, plain or gzipped; or a corpus reader of NLTK's.
        reader: name of a treebank reader, such as ``ptb``, or ``auto``.
        on_bad: called with the error of each bad tree, which is then left out; None to stop at the first.
        encoding: of the files; None for what is usual for the treebank.

    Returns:
        A corpus that reads the files again at each pass.

    Raises:
        InputError: a missing input, or (on reading) a bad tree.
        RegistryError: no reader has this name.

    Examples:
        >>> import spectralnlp
        >>> trees = spectralnlp.read_treebank("corpora/treebank/dev.mrg")
        >>> print(next(iter(trees)))
        (S (NP (DT The) (NN keeper)) (VP (VBZ climbs) ...
    """
    task = _task("parsing")
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
        estimator: a registered name, ``lpcfg``; a class; or an estimator.
        data: paths, folders or globs of files to read; or the examples themselves: a corpus, a list, or an
            iterator where one pass is enough. A list of texts is taken for paths: make an `InMemoryCorpus`
            of it. Trees are learned from as they are; `read_treebank` gives cleaned ones, and those of
            NLTK, from a corpus reader (``nltk.corpus.treebank``) or its ``parsed_sents()``, are cleaned.
        report: called with a line for each pass; None to be silent.
        reader: how to read files; ``auto`` to recognise it.
        encoding: of the files of a treebank; None for what is usual for it.
        weights: how often the trees of a treebank count, by its path among the data or the folder of some of
            them: ``{"b/": 2}``. Trees of others count once.
        map: file with a table of renamings of labels and tags, such as ``grammars/en.map``.
        settings: hyper-parameters, ``n_states=16``, with ``preset="fast"`` for a preset to start from.

    Returns:
        A model of the estimator's task, such as a `Parser`, with ``save``, ``info`` and ``task``.

    Raises:
        ConfigError: a setting that the estimator does not have, or out of its range.
        InputError: data that cannot be read, or nothing to learn from.
        RegistryError: no estimator has this name.

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
    task = _task(learner.task)
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
        A `Parser`, a `Tagger`, or what else the task of the model makes of the folder. `load_parser`,
        `load_tagger` and ``spectralnlp_sketch.load_classifier`` return one kind, which type checkers know.

    Raises:
        ModelError: there is no such model, or it is truncated or of another version.

    Examples:
        >>> import spectralnlp
        >>> print(spectralnlp.load("en").parse("It is cold.")[0].tree)
        (TOP (S (NP (PRP It)) (VP (VBZ is) (ADJP (JJ cold))) (. .)))
    """
    stored = load_model(folder_of(name))
    if stored.kind not in registry.tasks:
        raise ModelError(f"a model for {stored.kind!r}, which nothing installed knows", path=stored.path)
    return _task(stored.kind).load(stored)


def load_parser(name: str | Path) -> Parser:
    """Load a parser; see `load`.

    Raises:
        ModelError: there is no such model, it is no parser, or it is truncated or of another version.

    Examples:
        >>> import spectralnlp
        >>> spectralnlp.load_parser("en").decoder
        'mbr'
    """
    return cast("Parser", load_kind(name, "parsing", "a parser"))


def load_kind(name: str | Path, task: str, noun: str) -> Any:
    """Load a model that must be of a task, ``noun`` in the message.

    Raises:
        ModelError: as of `load`; or the model is of another task.
    """
    stored = load_model(folder_of(name))
    if stored.kind != task:
        raise ModelError(f"a model for {stored.kind}, not {noun}", path=stored.path)
    return _task(task).load(stored)


def evaluate(model: Any, data: Any, **options: Any) -> Report:
    """Score a model on gold data.

    Args:
        model: what `train` or `load` gave; or the folder or name of one.
        data: paths, folders or globs of gold files; or gold examples: a corpus or a list.
        options: keyword arguments of the task's ``read_gold`` and ``evaluate``, such as ``reader="gum"`` or
            ``decoder="viterbi"``; ``map`` is a file, as of `train`.

    Returns:
        A report, whose `to_table` is for readers and `to_flat_dict` for programs.

    Raises:
        ConfigError: an option that the task does not take, or models of the task have no score.
        InputError: data that cannot be read, or none; a ``map`` that renames nothing.

    Examples:
        >>> import spectralnlp
        >>> parser = spectralnlp.train("pcfg", "corpora/treebank/train.mrg")
        >>> spectralnlp.evaluate(parser, "corpora/treebank/dev.mrg").to_flat_dict()["f1"] > 90
        True
    """
    if isinstance(model, str | os.PathLike):
        model = load(cast("str | Path", model))
    task = _task(model.task)
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


def _task(name: str) -> Task:
    return cast(Task, registry.tasks.get(name)())


def _inputs(data: object) -> list[str | Path] | None:
    """Paths as a list; None for anything else."""
    if isinstance(data, str | os.PathLike):
        return rereadable([cast("str | Path", data)])
    if isinstance(data, list | tuple) and data and all(isinstance(each, str | os.PathLike) for each in data):
        return rereadable(list(cast("Iterable[str | Path]", data)))
    return None


def _reading(task: Task, **options: Any) -> dict[str, Any]:
    """The options that were given, as keyword arguments of a task's ``read``."""
    given = {name: value for name, value in options.items() if value is not None}
    for name in given.keys() - _accepted(task.read, given).keys():
        raise ConfigError(f"`{name}` means nothing to {task.name}", hint="leave it out")
    return given


def _accepted(method: Any, options: Mapping[str, Any]) -> dict[str, Any]:
    known = inspect.signature(method).parameters
    return {name: value for name, value in options.items() if name in known}
