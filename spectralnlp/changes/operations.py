"""Train, update, forget and merge models by their kept moments (statistics); each returns a new model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from spectralnlp import registry
from spectralnlp.changes.documents import NewDocuments, RepeatedFiles
from spectralnlp.changes.kept_moments import KeptMoments, check_keeps, task_of, unlearning_of
from spectralnlp.changes.ledger import DocumentDigests, Ledger, new_salt
from spectralnlp.changes.rare_words import times_or_less, without_rare_words
from spectralnlp.display import one_line
from spectralnlp.errors import ConfigError, InputError, ModelError
from spectralnlp.estimator import Estimator, Resumable, State
from spectralnlp.models import moments_folder
from spectralnlp.models.changing import ChangingModel
from spectralnlp.progress import fit_pass, timed_passes
from spectralnlp.runtime import Corpus, Joint, Moments, accumulate, current_checkpoint, paired
from spectralnlp.storage import model_digest, read_kept_header
from spectralnlp.tasks.task import DocumentUnit, ProgressCallback, Task, as_stored, silent


@dataclass(frozen=True)
class Change:
    """Result of training or changing a model: the new model with its kept moments.

    Attributes:
        model: the new model.
        kept: moments of the new model.
        observe_seconds: seconds spent on reading documents.
        solve_seconds: seconds spent on computing the model from moments.
        left_out: number of documents that were skipped because the model has them already.

    Examples:
        >>> from spectralnlp import HMM, InMemoryCorpus, changes
        >>> first = InMemoryCorpus([["a", "b"], ["b", "a"]])
        >>> change = changes.train("hmm", HMM(n_states=1), first)
        >>> change.model.task, change.left_out
        ('sequences', 0)
    """

    model: Any
    kept: KeptMoments
    observe_seconds: float = 0.0
    solve_seconds: float = 0.0
    left_out: int = 0

    __repr__ = one_line

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write the model folder, with its training statistics (moments); see `KeptMoments.save`."""
        self.kept.save(self.model, path, overwrite=overwrite)


def train(
    name: str,
    estimator: Estimator[Any],
    corpus: Corpus[Any],
    *,
    unit: str | None = None,
    keep_words_above: int = 0,
    reading: Mapping[str, Any] | None = None,
    report: ProgressCallback = silent,
    description: str = "",
) -> Change:
    """Train a model and keep its moments (training statistics), for later updates.

    Args:
        name: registered name of the estimator.
        estimator: an unfitted estimator.
        corpus: the training data, as the method ``read`` of the estimator's task returns them.
        unit: unit of documents, ``file`` or ``line``; by default that of the task.
        keep_words_above: words with this count or less are replaced by pseudo-words of the same
            signatures (spelling classes), in the model as well; 0 to keep all words. A model with replaced
            words cannot forget documents.
        reading: keyword arguments with which the corpus was read, for later updates.
        report: called with a line and the time of each pass.
        description: Markdown for the model card.

    Raises:
        ConfigError: the estimator cannot keep moments, or words of the task cannot
            be replaced.

    Examples:
        >>> from spectralnlp import HMM, InMemoryCorpus, changes
        >>> first = InMemoryCorpus([["a", "b"], ["b", "a"]])
        >>> model = changes.train("hmm", HMM(n_states=1), first)
        >>> model.model.symbols, model.kept.estimator
        (('a', 'b', '<unknown>'), 'hmm')
    """
    check_keeps(name, estimator)
    task = task_of(estimator)
    unit = task.documents[0] if unit is None else unit
    if unit not in task.documents:
        known = " or ".join(task.documents)
        raise ConfigError(f"a document is a {known} for {task.name}, not a {unit}")
    for line in corpus.remarks(training=True):
        report(line)
    corpus = _examples(task, estimator, corpus, keep_words_above, report)
    empty = task.init_kept_moments(estimator, corpus)
    document: DocumentUnit = unit
    moments, digests, seconds = _observe(empty, [_drawn("salt")], document, corpus, report)
    moments.renumber()
    ledger = Ledger.of(digests, in_order=moments.first_replay_log() is not None)
    kept = KeptMoments(
        estimator=name,
        settings={name: as_stored(value) for name, value in estimator.get_params(deep=False).items()},
        reading=dict(reading or {}),
        unit=document,
        moments=moments,
        ledger=ledger,
        description=description,
        keep_words_above=keep_words_above,
    )
    return _solved(kept, seconds, report)


def update(
    kept: KeptMoments,
    corpus: Corpus[Any],
    *,
    add_known: bool = False,
    skip_known: bool = False,
    from_scratch: bool = False,
    report: ProgressCallback = silent,
) -> Change:
    """Return a model that has also learned from further documents, as if appended to its training data.

    Args:
        kept: kept moments (training statistics) of the model; never changed.
        corpus: the documents, read with ``kept.reading``.
        add_known: add documents even if the model has them already.
        skip_known: skip documents that the model has already; the corpus is then read twice.
        from_scratch: learn from scratch, even if learning could continue from the previous state
            (`Resumable.resume_training`).
        report: called with a line and the time of each pass.

    Raises:
        ConfigError: ``add_known`` and ``skip_known`` are both set, or ``skip_known`` is set for a model whose
            rare words were replaced, so that its documents cannot be recognised.
        InputError: the model has a document already, which the message names; or there are no documents.

    Examples:
        >>> from spectralnlp import HMM, InMemoryCorpus, changes
        >>> first, second = InMemoryCorpus([["a", "b"], ["b", "a"]]), InMemoryCorpus([["b", "c"]])
        >>> model = changes.train("hmm", HMM(n_states=1), first)
        >>> changes.update(model.kept, second).model.symbols
        ('b', 'a', 'c', '<unknown>')
    """
    if add_known and skip_known:
        what = "documents that are there already are added again or skipped, not both"
        raise ConfigError(what, hint="give `add_known` or `skip_known`")
    if skip_known:
        _check_recognises(kept, "leave out `skip_known`")
    with suppress(InputError):  # a table may rename nothing in new trees, although it did in the old ones
        for line in corpus.remarks():
            report(line)
    corpus = _examples(kept.task, kept.learner, corpus, kept.keep_words_above, report)
    left_out, looking = 0, 0.0
    if skip_known:
        corpus, left_out, looking = _only_new(kept, corpus, report)
    more, digests, seconds = _observe(kept.moments.empty_like(), kept.ledger.salts, kept.unit, corpus, report)
    found = digests.digests()
    if not len(found) and not left_out:
        raise InputError("no documents to add", hint="give files with something in them")
    known = np.flatnonzero(kept.ledger.known(found))
    if len(known) and not add_known:
        what = f"in the model already, {_share(len(known), len(found), kept.unit)}"
        hint = "leave out what is there with `skip_known`, or add it once more with `add_known`"
        raise _at(int(known[0]), corpus, kept.unit, what, hint)
    for line in kept.task.remarks_on_more(kept.moments, more):
        report(line)
    moments = deepcopy(kept.moments)
    with timed_passes(report), fit_pass("adding"):
        more.renumber()
        moments.append(more)
        ledger = kept.ledger.joined(Ledger.of(digests, in_order=kept.ledger.in_order))
    kept = replace(kept, moments=moments, ledger=ledger)
    change = _solved(kept, looking + seconds, report, None if from_scratch else kept.state)
    return replace(change, left_out=left_out)


def _only_new(
    kept: KeptMoments, corpus: Corpus[Any], report: ProgressCallback
) -> tuple[Corpus[Any], int, float]:
    """Return a corpus without the documents that a model has learned already.

    Returns:
        The corpus of the new documents, the number of documents left out, and the seconds this took.
    """
    started = perf_counter()
    with timed_passes(report), fit_pass("look up"):
        digests = accumulate(DocumentDigests(kept.ledger.salts, kept.unit), corpus)
        known = kept.ledger.known(digests.digests())
    return NewDocuments(corpus, digests, known), int(known.sum()), perf_counter() - started


def forget(kept: KeptMoments, corpus: Corpus[Any], *, report: ProgressCallback = silent) -> Change:
    """Return a model that equals one trained without some documents.

    If documents are files, all copies of a file in the model are forgotten; if they are lines, each line of
    the corpus removes one equal line.

    Args:
        kept: kept moments (training statistics) of the model; never changed.
        corpus: the documents, read with ``kept.reading``.
        report: called with a line and the time of each pass.

    Raises:
        ConfigError: documents cannot be removed from models of this estimator, or rare words of the model
            were replaced, so that its documents cannot be recognised.
        InputError: a document is not in the model, or a line is in the corpus more often than in the model
            (the message names the document); or no document would be left.

    Examples:
        >>> from spectralnlp import HMM, InMemoryCorpus, changes
        >>> first, second = InMemoryCorpus([["a", "b"], ["b", "a"]]), InMemoryCorpus([["b", "c"]])
        >>> both = changes.update(changes.train("hmm", HMM(n_states=1), first).kept, second)
        >>> without = changes.forget(both.kept, second)
        >>> both.model.symbols, without.model.symbols
        (('b', 'a', 'c', '<unknown>'), ('a', 'b', '<unknown>'))
    """
    if unlearning_of(type(kept.learner), kept.moments) == "merge-only":
        shown = registry.estimators.shown(kept.estimator)
        what = f"a model by {shown} with these settings can grow and join but not forget"
        raise ConfigError(what, hint="train again without the data")
    _check_recognises(kept, "train again without the data")
    salts, corpus = kept.ledger.salts, kept.task.examples(kept.learner, corpus)
    gone, digests, seconds = _observe(kept.moments.empty_like(), salts, kept.unit, corpus, report)
    found = digests.digests()
    if not len(found):
        raise InputError("no documents to forget", hint="give files with something in them")
    ledger, stays, times, unknown = kept.ledger.without(found, kept.unit)
    if unknown:
        what = f"not in the model, {_share(len(unknown), len(found), kept.unit)}"
        raise _at(unknown[0], corpus, kept.unit, what, "forget only what was put in, read as it was then")
    if not len(ledger):
        raise InputError("nothing would be left to learn from", hint="delete the model")
    if kept.unit == "file" and (times != 1).any():
        corpus = RepeatedFiles(
            corpus, dict(zip(digests.places()[:, 0].tolist(), times.tolist(), strict=True))
        )
        gone, _, more = _observe(kept.moments.empty_like(), salts, kept.unit, corpus, report)
        seconds += more
    moments = deepcopy(kept.moments)
    with timed_passes(report), fit_pass("taking out"):
        gone.renumber()
        moments.remove(gone, _examples_kept(kept, stays))
    return _solved(replace(kept, moments=moments, ledger=ledger), seconds, report)


def merge(
    many: Sequence[KeptMoments], *, allow_shared: bool = False, report: ProgressCallback = silent
) -> Change:
    """Merge models that were trained separately with the same settings.

    Args:
        many: kept moments (training statistics) of the models, in the order of their data.
        allow_shared: allow documents that are in several models; each counts once for every such model.
        report: called with a line and the time of each pass.

    Raises:
        ConfigError: the models differ in a setting, which the message names.
        InputError: a document is in several models, and ``allow_shared`` is False.

    Examples:
        >>> from spectralnlp import HMM, InMemoryCorpus, changes
        >>> first, second = InMemoryCorpus([["a", "b"], ["b", "a"]]), InMemoryCorpus([["b", "c"]])
        >>> parts = [changes.train("hmm", HMM(n_states=1), corpus).kept for corpus in (first, second)]
        >>> changes.merge(parts).model.symbols
        ('b', 'a', 'c', '<unknown>')
    """
    first, *others = many
    for other in others:
        _check_alike(first, other)
    ledger, moments = first.ledger, deepcopy(first.moments)
    with timed_passes(report), fit_pass("joining"):
        for other in others:
            n_shared = ledger.shared(other.ledger)
            if n_shared and not allow_shared:
                what = f"in more than one of the models: {n_shared:,} {first.unit}{'s' * (n_shared > 1)}"
                raise InputError(what, hint="count each once for every model with `allow_shared`")
            for line in first.task.remarks_on_more(moments, other.moments):
                report(line)
            moments.append(other.moments)
            ledger = ledger.joined(other.ledger)
    most = max(each.keep_words_above for each in many)
    kept = replace(first, moments=moments, ledger=ledger, keep_words_above=most)
    return _solved(kept, 0.0, report)


def _examples(
    task: Task,
    estimator: Estimator[Any],
    corpus: Corpus[Any],
    keep_words_above: int,
    report: ProgressCallback,
) -> Corpus[Any]:
    """Return the examples of a corpus, with rare words replaced if requested."""
    corpus = task.examples(estimator, corpus)
    if not keep_words_above:
        return corpus
    with timed_passes(report), fit_pass("rare words"):
        return without_rare_words(task, corpus, keep_words_above, bytes.fromhex(_drawn("key")))


def _check_recognises(kept: KeptMoments, hint: str) -> None:
    """Raise ConfigError if rare words of a model were replaced, so that hashes do not identify documents.

    Args:
        kept: kept moments (training statistics) of the model.
        hint: advice in the message.
    """
    if kept.keep_words_above:
        seen = times_or_less(kept.keep_words_above)
        what = f"words seen {seen} were replaced (`keep_words_above`): documents cannot be recognised"
        raise ConfigError(what, hint=hint)


def _drawn(noun: str) -> str:
    """Return a new random salt or secret key, or the one that an interrupted run stored in its checkpoint."""
    checkpoint = current_checkpoint()
    return new_salt() if checkpoint is None else checkpoint.drawn(noun, new_salt)


def _observe(
    empty: Moments[Any],
    salts: Sequence[str],
    unit: DocumentUnit,
    corpus: Corpus[Any],
    report: ProgressCallback,
) -> tuple[Moments[Any], DocumentDigests, float]:
    """Read a corpus once, and compute its moments and the hashes of its documents.

    Args:
        empty: empty moments, to which the corpus is added.
        salts: salts of the hashes.
        unit: unit of documents, ``file`` or ``line``.
        corpus: the corpus.
        report: called with a line for the pass.

    Returns:
        The moments, the hashes, and the seconds this took.
    """
    both = Joint({"moments": empty, "documents": DocumentDigests(salts, unit)})
    started = perf_counter()
    with timed_passes(report), fit_pass("observe"):
        accumulate(both, corpus)
    seconds = perf_counter() - started
    return both.parts["moments"], cast(DocumentDigests, both.parts["documents"]), seconds


def _solved(
    kept: KeptMoments, seconds: float, report: ProgressCallback, state: State | None = None
) -> Change:
    started, learner = perf_counter(), kept.learner
    model = kept.task.solve(learner, kept.moments, state=state, report=report, description=kept.description)
    kept = replace(kept, state=learner.state() if isinstance(learner, Resumable) else None)
    if isinstance(model, ChangingModel):
        model = replace(model, saved=Saved(model, in_memory=kept))
    return Change(model, kept, seconds, perf_counter() - started)


@dataclass(frozen=True)
class Saved:
    """Where a model was loaded from and its kept moments; implements `SavedModel`, by which models change.

    Attributes:
        model: the model as it was loaded or trained.
        folder: the folder from which the model was loaded; None if it was not loaded.
        digest: digest of the loaded model; see `StoredModel`.
        in_memory: the kept moments (training statistics); None to read them from the folder if they are
            needed.
    """

    model: Any
    folder: Path | None = None
    digest: str = ""
    in_memory: KeptMoments | None = None

    __repr__ = one_line

    def read(self) -> Saved:
        """Return this with the kept moments in memory, so that the folder may be deleted; see `kept`."""
        return replace(self, in_memory=self.kept("be updated"))

    def kept(self, verb: str) -> KeptMoments:
        """Return the kept moments, from memory or from the folder; see `SavedModel.kept`."""
        if self.in_memory is not None:
            return self.in_memory
        assert self.folder is not None
        if model_digest(self.folder) != self.digest:
            raise ModelError("changed since the model was loaded", path=self.folder, hint="load it again")
        return KeptMoments.load(self.folder, verb)

    def kept_if_any(self) -> KeptMoments | None:
        """Return what `kept` returns; None if no moments were kept."""
        if self.in_memory is not None:
            return self.in_memory
        assert self.folder is not None
        return None if read_kept_header(moments_folder(self.folder)) is None else self.kept("explain")

    def update(self, model: Any, X: Any, y: Any, **options: Any) -> Any:
        """Return a model that has also learned from further examples; see `ChangingModel.update`."""
        kept = self.kept("be updated")
        corpus = _given(kept, X, y)
        if options["skip_known"] and _is_known(kept, corpus):
            return model
        return update(kept, corpus, **options).model.with_settings_of(model)

    def forget(self, model: Any, X: Any, y: Any) -> Any:
        """Return a model as if it had never seen some examples; see `ChangingModel.forget`."""
        kept = self.kept("forget")
        return forget(kept, _given(kept, X, y)).model.with_settings_of(model)

    def save(self, model: Any, path: str | Path, *, overwrite: bool) -> None:
        """Write a model folder with the kept moments; see `ChangingModel.save`."""
        self.kept("be kept with its moments").save(model, path, overwrite=overwrite)


def _is_known(kept: KeptMoments, corpus: Corpus[Any]) -> bool:
    """Return whether a model has learned all examples of a corpus already, according to its ledger."""
    examples = kept.task.examples(kept.learner, corpus)
    digests = accumulate(DocumentDigests(kept.ledger.salts, kept.unit), examples)
    return bool(kept.ledger.known(digests.digests()).all())


def _given(kept: KeptMoments, X: Any, y: Any) -> Corpus[Any]:
    """Return examples ``X`` with targets ``y`` as a corpus.

    Raises:
        InputError: the numbers of examples and targets differ.
    """
    if isinstance(X, Iterator):
        X = list(X)
    return kept.task.in_memory(X if y is None else paired(X, y))


def _examples_kept(kept: KeptMoments, stays: NDArray[np.bool_]) -> NDArray[np.bool_] | None:
    """Return whether each training example stored in moments remains after forgetting, bool (n_examples,).

    Returns None if the moments store no examples.

    Args:
        kept: kept moments (training statistics) of the model.
        stays: whether each document of the model remains.
    """
    log = kept.moments.first_replay_log()
    if log is None:
        return None
    places = log.arrays()["places"]
    if kept.unit == "file":
        return stays[places[:, 0]]
    if len(places) != len(stays):
        raise ModelError(f"the ledger has {len(stays)} lines, and the log {len(places)}")
    return stays


def _check_alike(first: KeptMoments, other: KeptMoments) -> None:
    if first.estimator != other.estimator:
        names = (registry.estimators.shown(each.estimator) for each in (first, other))
        raise ConfigError(f"cannot merge models by {' and by '.join(names)}")
    ours = {**first.settings, "what a document is": first.unit, **first.reading}
    theirs = {**other.settings, "what a document is": other.unit, **other.reading}
    differing = [
        f"{name} ({_shown(ours.get(name))} and {_shown(theirs.get(name))})"
        for name in dict.fromkeys([*ours, *theirs])
        if ours.get(name) != theirs.get(name)
    ]
    if differing:
        what = f"cannot merge models that differ in {', '.join(differing)}"
        raise ConfigError(what, hint="train them with the same settings")


def _shown(value: object) -> str:
    """Return the value of a setting as text for a message; a long list is shown as its number of lines."""
    return f"a table of {len(value)} lines" if isinstance(value, list) and len(value) > 3 else repr(value)


def _share(n: int, n_all: int, unit: DocumentUnit) -> str:
    return f"the first of {n:,} among {n_all:,} {unit}{'s' * (n_all > 1)}"


def _at(number: int, corpus: Corpus[Any], unit: DocumentUnit, what: str, hint: str) -> InputError:
    """Return an error that names the file and the line of a document; reads the corpus to find the document.

    Args:
        number: index of the document.
        corpus: the corpus.
        unit: unit of documents, ``file`` or ``line``.
        what: what is wrong, for the message.
        hint: advice in the message.
    """
    for document, parts in groupby(corpus.partitions(), lambda part: part.document):
        digests = DocumentDigests(["00"], unit)
        for part in parts:
            for batch in part.batches(256):
                digests.observe(batch)
        here = len(digests.digests())
        if number < here:
            line = number + 1 if unit == "line" else None
            return InputError(what, path=document, sentence=line, hint=hint)
        number -= here
    return InputError(what, hint=hint)
