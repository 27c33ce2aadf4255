"""Checks for estimators: hyper-parameters, fit, moments."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import partial
from typing import Any, get_args

import numpy as np

from spectralnlp.errors import ConfigError, NotFittedError, SpectralError
from spectralnlp.estimator import Estimator, IterativeEstimator, MomentEstimator, Unlearning
from spectralnlp.hyperparameters import hyperparameters
from spectralnlp.runtime import Corpus, InMemoryCorpus, Partition, accumulate
from spectralnlp.testing.asserting import refusal, require, run_checks


@dataclass(frozen=True)
class _Subject:
    """An estimator to check.

    Args:
        make: returns a new unfitted estimator with the hyper-parameters to check.
        corpus: training examples.
    """

    make: Callable[[], Estimator[Any]]
    corpus: Corpus[Any]

    @property
    def kind(self) -> type[Estimator[Any]]:
        return type(self.make())


def check_estimator(
    estimator: Estimator[Any] | type[Estimator[Any]],
    examples: Corpus[Any] | Iterable[Any],
    *,
    only: Iterable[str] | None = None,
    expected_failed_checks: Mapping[str, str] | None = None,
) -> None:
    """Check that an estimator satisfies the contract of :mod:`spectralnlp.estimator`.

    Args:
        estimator: an estimator class, or an unfitted estimator with hyper-parameters that suit the examples.
        examples: a corpus or a list with enough examples to learn from.
        only: names of the checks to run, from `ESTIMATOR_CHECKS`; None for all.
        expected_failed_checks: names of checks to skip, each with the reason.

    Raises:
        AssertionError: requirements are violated; the message lists all of them.

    Examples:
        >>> from spectralnlp import HMM
        >>> from spectralnlp.testing import check_estimator
        >>> check_estimator(HMM(n_states=1), [["a", "b"], ["b", "a"]] * 4, only=["presets_are_valid"])
    """
    if isinstance(estimator, type):
        make: Callable[[], Estimator[Any]] = estimator
        name = estimator.__name__
    else:
        settings = estimator.get_params(deep=False)
        kind = type(estimator)
        make, name = lambda: kind(**copy.deepcopy(settings)), kind.__name__
    corpus = examples if isinstance(examples, Corpus) else InMemoryCorpus(examples, n_partitions=3)
    wanted = list(ESTIMATOR_CHECKS) if only is None else list(only)
    checks = {each: ESTIMATOR_CHECKS[each] for each in wanted}
    run_checks(checks, expected_failed_checks or {}, name, _Subject(make, corpus))


def fitted_leaves(value: Any, where: str = "") -> Iterator[tuple[str, object]]:
    """Yield the elementary values in a fitted estimator or other object, to compare two of them exactly.

    Args:
        value: the estimator or other object.
        where: text with which all paths begin.

    Yields:
        The path of each value, such as ``.model_.rows[0]``, and the value; for an array, its dtype, shape
        and bytes.

    Examples:
        >>> import numpy as np
        >>> from spectralnlp.testing import fitted_leaves
        >>> [where for where, _ in fitted_leaves({"a": np.zeros(2), "b": [1, "x"]})]
        ["['a']", "['b'][0]", "['b'][1]"]
    """
    if isinstance(value, np.ndarray):
        yield where, (str(value.dtype), value.shape, value.tobytes())
    elif hasattr(value, "tocoo") and hasattr(value, "indptr"):  # a scipy sparse matrix
        yield from fitted_leaves([value.data, value.indices, value.indptr], where)
    elif is_dataclass(value) and not isinstance(value, type | Estimator):
        for field in dataclasses.fields(value):
            yield from fitted_leaves(getattr(value, field.name), f"{where}.{field.name}")
    elif isinstance(value, Mapping):
        for key in value:
            yield from fitted_leaves(value[key], f"{where}[{key!r}]")
    elif isinstance(value, list | tuple):
        for place, each in enumerate(value):
            yield from fitted_leaves(each, f"{where}[{place}]")
    elif hasattr(value, "__dict__") and not callable(value):
        yield from fitted_leaves(vars(value), where)
    else:
        yield where, value


def _fitted_names(estimator: Estimator[Any]) -> set[str]:
    return {name for name in vars(estimator) if name.endswith("_")}


def _require_same_fit(left: Estimator[Any], right: Estimator[Any], promise: str) -> None:
    ours, theirs = dict(fitted_leaves(vars(left))), dict(fitted_leaves(vars(right)))
    names = sorted(name for name in ours.keys() | theirs.keys() if ours.get(name) != theirs.get(name))
    require(not names, f"{promise}; there differ {', '.join(names[:5])}")


def _class_says_what_it_is(subject: _Subject) -> None:
    kind = subject.kind
    bases = issubclass(kind, MomentEstimator | IterativeEstimator)
    require(bases, "an estimator derives from MomentEstimator or IterativeEstimator")
    require(kind.unlearning in get_args(Unlearning), f"unlearning is one of {get_args(Unlearning)}")
    require(isinstance(getattr(kind, "task", None), str), "the class attribute `task` names a task")
    require(inspect.getdoc(kind), "the class has a docstring")
    # Without the decorator, its fields would not be hyper-parameters.
    declared = "__dataclass_fields__" in vars(kind) or not vars(kind).get("__annotations__")
    require(declared, "the class is a dataclass(kw_only=True, eq=False, repr=False)")


def _fit_is_the_base_class_s(subject: _Subject) -> None:
    base = MomentEstimator if issubclass(subject.kind, MomentEstimator) else IterativeEstimator
    require(subject.kind.fit is base.fit, f"fit is that of {base.__name__}; write solve, or learn, not fit")


def _init_only_stores(subject: _Subject) -> None:
    kind = subject.kind
    names = list(inspect.signature(kind).parameters)
    values = {name: object() for name in names}
    made = kind(**values)
    kept = made.get_params(deep=False) == values and vars(made).keys() == _fields(kind)
    require(kept, "__init__ stores its arguments as they are, and nothing else")
    require(set(kind().get_params(deep=False)) == set(names), "get_params names what __init__ takes")


def _fields(kind: type[Any]) -> set[str]:
    return {field.name for field in dataclasses.fields(kind) if field.init}


def _hyperparameters_are_declared(subject: _Subject) -> None:
    kind = subject.kind
    kind().validate()
    for name, declared in hyperparameters(kind).items():
        require(declared.help, f"the declaration of {name} has a line of help: Annotated[…, Doc('…')]")


def _wrong_values_are_refused_by_fit(subject: _Subject) -> None:
    for name, declared in hyperparameters(subject.kind).items():
        wrong = object()
        if declared.accepts(wrong):
            continue  # the hyper-parameter accepts any type
        estimator = subject.make().set_params(**{name: wrong})
        promise = f"fit refuses a {name} of another type than declared"
        message = refusal(partial(estimator.fit, subject.corpus), promise, ConfigError)
        require(name in message, f"the refusal names {name}: {message}")


def _set_params_gives_what_get_params_gave(subject: _Subject) -> None:
    estimator = subject.make()
    params = estimator.get_params()
    require(estimator.set_params(**params) is estimator, "set_params returns the estimator")
    require(estimator.get_params() == params, "set_params(**get_params()) changes nothing")


def _unknown_names_are_refused(subject: _Subject) -> None:
    kind = subject.kind
    actions: dict[str, Callable[[], Any]] = {
        "set_params": lambda: kind().set_params(no_such_name=1),
        "from_settings": lambda: kind.from_settings({"no_such_name": "1"}),
        "a preset": lambda: kind.from_settings({"preset": "no_such_name"}),
    }
    for what, action in actions.items():
        message = refusal(action, f"{what} refuses a name that is not there", ConfigError)
        require("no_such_name" in message, f"the refusal names it: {message}")


def _clones_as_scikit_learn_clones(subject: _Subject) -> None:
    estimator = subject.make()
    params = {name: copy.deepcopy(value) for name, value in estimator.get_params(deep=False).items()}
    clone = subject.kind(**params)
    stored = clone.get_params(deep=False)
    same = all(stored[name] is params[name] for name in params)  # the check of sklearn.base.clone
    require(same, "get_params gives the very objects that __init__ was given")
    require(repr(clone) == repr(estimator), "a clone has the same repr")


def _presets_are_valid(subject: _Subject) -> None:
    for name, settings in subject.kind.presets.items():
        estimator = subject.kind.from_preset(name)
        estimator.validate()
        params = estimator.get_params(deep=False)
        kept = {key: params.get(key) for key in settings} == dict(settings)
        require(kept, f"the preset {name!r} gives the hyper-parameters that it names")


def _fit_returns_self_and_leaves_parameters_alone(subject: _Subject) -> None:
    estimator = subject.make()
    refusal(estimator.check_is_fitted, "check_is_fitted raises before fit", NotFittedError)
    before = repr(estimator.get_params())
    require(estimator.fit(subject.corpus) is estimator, "fit returns the estimator")
    require(repr(estimator.get_params()) == before, "fit leaves hyper-parameters as they are")
    estimator.check_is_fitted()
    fields = _fields(subject.kind)
    others = [each for each in vars(estimator) if each not in fields and each[-1] != "_"]
    require(not others, f"fitted attributes end in _: {', '.join(others)}")


def _same_data_give_the_same_bytes(subject: _Subject) -> None:
    first, second = subject.make().fit(subject.corpus), subject.make().fit(subject.corpus)
    _require_same_fit(first, second, "the same data and hyper-parameters give the same fit, to the byte")


def _lists_and_iterators_are_examples(subject: _Subject) -> None:
    examples = list(subject.corpus)
    plain = subject.make().fit(InMemoryCorpus(examples))
    _require_same_fit(plain, subject.make().fit(examples), "a list gives what a corpus of it gives")
    estimator = subject.make()
    try:
        estimator.fit(iter(examples))
    except SpectralError as error:  # an estimator of several passes needs more than an iterator
        require("\n" not in str(error), f"an error is one line, not {str(error)!r}")
    else:
        _require_same_fit(plain, estimator, "an iterator gives what a list gives")


def _repr_names_what_differs(subject: _Subject) -> None:
    name = subject.kind.__name__
    require(repr(subject.kind()) == f"{name}()", "repr leaves defaults out")
    for preset in subject.kind.presets:
        require(repr(subject.kind.from_preset(preset)).startswith(f"{name}("), "repr begins with the name")


def _pickles(subject: _Subject) -> None:
    estimator = subject.make()
    copied = pickle.loads(pickle.dumps(estimator))
    require(copied.get_params() == estimator.get_params(), "an unfitted estimator survives pickling")


def _moments_merge(subject: _Subject) -> None:
    """Check that moments of two halves of the corpus, merged, give the same fit as moments of the corpus."""
    estimator, corpus = subject.make(), subject.corpus
    if not estimator.supports_update():
        promise = "an estimator that cannot be updated refuses to keep moments"
        if isinstance(estimator, IterativeEstimator):
            refusal(lambda: estimator.init_kept_moments(corpus), promise, ConfigError)
        return
    documents = _Documents(_halves(corpus))
    empty = estimator.init_kept_moments(corpus)
    whole = accumulate(empty.empty_like(), documents)
    merged, rest = (accumulate(empty.empty_like(), InMemoryCorpus(each)) for each in documents.documents)
    merged.append(rest)
    solved, again = subject.make().solve_kept(whole), subject.make().solve_kept(merged)
    fitted = subject.make().fit(documents)
    require(_fitted_names(solved) == _fitted_names(fitted), "solve_kept sets the attributes that fit sets")
    if estimator.supports_forget():
        _require_same_fit(solved, again, "moments of parts, merged, give what those of the whole give")


class _Documents(Corpus[Any]):
    """Corpus in memory with several documents, each given as a list of examples."""

    def __init__(self, documents: Sequence[Sequence[Any]]) -> None:
        self.documents = documents

    def partitions(self) -> Sequence[Partition[Any]]:
        return [
            Partition(f"document {number}", number, 0, partial(iter, each))
            for number, each in enumerate(self.documents)
        ]


def _halves(corpus: Corpus[Any]) -> list[list[Any]]:
    examples = list(corpus)
    return [examples[: len(examples) // 2], examples[len(examples) // 2 :]]


def _exact_moments_can_be_subtracted(subject: _Subject) -> None:
    estimator = subject.make()
    if estimator.unlearning != "exact":
        return
    first, second = _halves(subject.corpus)
    empty = estimator.init_kept_moments(subject.corpus)
    rest = accumulate(empty.empty_like(), InMemoryCorpus(first))
    without = subject.make().solve_kept(accumulate(empty.empty_like(), InMemoryCorpus(first)))
    gone = accumulate(empty.empty_like(), InMemoryCorpus(second))
    rest.merge(gone)
    rest.remove(gone, None)
    solved = subject.make().solve_kept(rest)
    _require_same_fit(without, solved, "what was taken out leaves no trace (unlearning = 'exact')")


# The checks by name; each takes a `_Subject` and raises an AssertionError.
ESTIMATOR_CHECKS: Mapping[str, Callable[..., None]] = {
    "class_says_what_it_is": _class_says_what_it_is,
    "fit_is_the_base_class_s": _fit_is_the_base_class_s,
    "init_only_stores": _init_only_stores,
    "hyperparameters_are_declared": _hyperparameters_are_declared,
    "wrong_values_are_refused_by_fit": _wrong_values_are_refused_by_fit,
    "set_params_gives_what_get_params_gave": _set_params_gives_what_get_params_gave,
    "unknown_names_are_refused": _unknown_names_are_refused,
    "clones_as_scikit_learn_clones": _clones_as_scikit_learn_clones,
    "presets_are_valid": _presets_are_valid,
    "fit_returns_self_and_leaves_parameters_alone": _fit_returns_self_and_leaves_parameters_alone,
    "same_data_give_the_same_bytes": _same_data_give_the_same_bytes,
    "lists_and_iterators_are_examples": _lists_and_iterators_are_examples,
    "repr_names_what_differs": _repr_names_what_differs,
    "pickles": _pickles,
    "moments_merge": _moments_merge,
    "exact_moments_can_be_subtracted": _exact_moments_can_be_subtracted,
}
