"""Base classes of estimators, which learn in three steps: observe, merge, solve.

Every spectral estimator is a `MomentEstimator`. It sums moments (training statistics) over a stream of
examples; moments of parts of the data can be merged; and the parameters are computed from the moments in
closed form. An estimator that needs the examples themselves (EM, conditional random fields) is an
`IterativeEstimator`.

The conventions are scikit-learn's, so ``sklearn.base.clone`` and the like work; scikit-learn is not imported.
Hyper-parameters are keyword-only dataclass fields (:mod:`spectralnlp.hyperparameters`), fitted attributes end
in ``_``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, Protocol, Self, TypeVar, cast, runtime_checkable

from spectralnlp import registry
from spectralnlp.display import cut
from spectralnlp.errors import ConfigError, NotFittedError
from spectralnlp.hyperparameters import (
    ShortSignature,
    check_values,
    hyperparameters,
    read_values,
    unknown_name,
)
from spectralnlp.linalg import one_blas_thread
from spectralnlp.progress import fit_pass
from spectralnlp.runtime import Array, Corpus, ExampleLog, Moments, accumulate, as_corpus
from spectralnlp.storage import StoredArrays

T = TypeVar("T")
Unlearning = Literal["exact", "replay", "merge-only", "none"]


@contextmanager
def unchanged_on_error(estimator: object) -> Iterator[None]:
    """Restore an estimator's attributes if the ``with`` block raises an error or is interrupted.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp.estimator import unchanged_on_error
        >>> estimator = spectralnlp.HMM(n_states=4)
        >>> try:
        ...     with unchanged_on_error(estimator):
        ...         estimator.n_states = 8
        ...         raise ValueError
        ... except ValueError:
        ...     print(estimator.n_states)
        ...
        4
    """
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise


class State(Protocol):
    """The learned state of an estimator, from which learning can continue."""

    def arrays(self) -> Mapping[str, Array]:
        """Return the state as arrays by name for storage, which `Resumable.read_state` reads."""


@runtime_checkable
class Resumable(Protocol):
    """Estimator whose training can resume from the result of an earlier training, after data were added.

    Examples:
        >>> import spectralnlp
        >>> from spectralnlp.estimator import Resumable
        >>> isinstance(spectralnlp.CRFTagger(), Resumable), isinstance(spectralnlp.HMM(), Resumable)
        (True, False)
    """

    def state(self) -> State | None:
        """Return the state from which `resume_training` starts; None if training must start anew."""

    def read_state(self, stored: StoredArrays) -> State:
        """Rebuild a state from the stored result of `State.arrays`.

        Raises what `StoredArrays` raises.
        """

    def resume_training(self, moments: Any, state: Any) -> Self:
        """Learn from kept moments, starting from a state that was learned from most of the same examples.

        Args:
            moments: see `Estimator.solve_kept`.
            state: the state of an estimator with the same settings, fitted before the examples changed.
        """


@dataclass(kw_only=True, eq=False, repr=False)
class Estimator(ABC, Generic[T]):
    """Base class of estimators: ``__init__`` stores hyper-parameters; ``fit`` checks them and learns.

    Instead of a seed, ``random_state`` may be None or a random generator of numpy's; the first ``fit`` then
    replaces it by a seed that it draws, so that ``get_params`` and saved models say how to repeat training.

    Class attributes:
        display_name: name in messages and model cards; by default the class's name.
        task: registered name of the task whose models the estimator trains, such as ``parsing``.
        presets: maps the name of each preset to values of hyper-parameters; hyper-parameters that are not
            in a preset have their default values.
        unlearning: whether documents can be added and removed after ``fit``: ``exact`` (integer counts are
            kept), ``replay`` (the examples are kept, and the model is learned again from them),
            ``merge-only`` (documents can only be added) or ``none``.
        spills: whether moments spill to disk when memory is limited (`spectralnlp.runtime.use_memory`).

    Examples:
        >>> import spectralnlp
        >>> estimator = spectralnlp.HMM(n_states=4)
        >>> estimator.get_params()["n_states"]
        4
        >>> estimator.set_params(n_states=8).n_states
        8
    """

    display_name: ClassVar[str]
    task: ClassVar[str]
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}
    unlearning: ClassVar[Unlearning] = "none"
    spills: ClassVar[bool] = False
    __signature__ = ShortSignature()

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "display_name" not in vars(cls):
            cls.display_name = cls.__name__

    @abstractmethod
    def fit(self, X: Corpus[T] | Iterable[T], y: object = None) -> Self:
        """Learn from examples.

        Args:
            X: a corpus, a list, or any iterable of examples. An iterator, which can be read only once,
                suffices for methods of one pass.
            y: ignored unless an estimator says otherwise; present for scikit-learn's convention.

        Raises:
            ConfigError: a hyper-parameter has the wrong type or is out of range.
        """

    @classmethod
    def supports_update(cls) -> bool:
        """Whether documents can be added after ``fit``."""
        return cls.unlearning != "none"

    @classmethod
    def supports_forget(cls) -> bool:
        """Whether documents can be removed after ``fit``."""
        return cls.unlearning in ("exact", "replay")

    def validate(self) -> None:
        """Check the hyper-parameters; ``fit`` calls this first.

        Raises:
            ConfigError: a hyper-parameter has the wrong type, is out of range, or conflicts with another.
        """
        params = self.get_params(deep=False)
        checked = check_values(type(self), params)
        if "random_state" in params and checked["random_state"] is not params["random_state"]:
            self.set_params(random_state=checked["random_state"])
        self.check_combination()

    def check_combination(self) -> None:
        """Check that hyper-parameters do not conflict; called after their types and ranges were checked.

        The base class checks nothing; estimators override this method.

        Raises:
            ConfigError: two hyper-parameters conflict, or the value of one is an unknown name.
        """

    def as_corpus(self, X: Any, y: Any = None) -> Corpus[T]:
        """Return the arguments of ``fit`` as a corpus; estimators that take matrices or labels override this.

        Args:
            X: see ``fit``.
            y: see ``fit``; ignored here.

        Raises:
            ConfigError: ``X`` is not an iterable of examples.
            InputError: a record lacks a value.
        """
        if getattr(self, "task", None) not in registry.tasks:
            return as_corpus(X)
        task = registry.tasks.get(self.task)()
        return cast(Corpus[T], task.examples(self, as_corpus(X, task.as_example)))

    def init_moments(self, corpus: Corpus[T]) -> Moments[T]:
        """Return empty moments for the first pass; see `MomentEstimator`.

        Raises:
            ConfigError: this estimator has no moments: it learns from the examples themselves.
        """
        raise self._no_moments()

    def init_kept_moments(self, corpus: Corpus[T]) -> Moments[T]:
        """Return empty moments, to be kept with the model for incremental updates and unlearning.

        Raises what `init_moments` raises.
        """
        return self.init_moments(corpus)

    def solve_kept(self, moments: Any) -> Self:
        """Learn from moments that were kept with a model, instead of from examples.

        Raises what `init_moments` raises.
        """
        raise self._no_moments()

    def _no_moments(self) -> ConfigError:
        what = f"{type(self).__name__} learns from the examples themselves: there are no moments to keep"
        return ConfigError(what, hint="train it again on all the data")

    @classmethod
    def from_preset(cls, name: str, /, **overrides: object) -> Self:
        """Return an estimator with the settings of a preset; ``overrides`` replace some of them.

        Raises:
            ConfigError: there is no such preset or hyper-parameter.
        """
        if name not in cls.presets:
            raise unknown_name("preset", name, cls.presets, cls)
        return cls(**check_values(cls, {**cls.presets[name], **overrides}))

    @classmethod
    def from_settings(cls, texts: Mapping[str, str], values: Mapping[str, Any] | None = None) -> Self:
        """Return an estimator with hyper-parameters that are given as text, as typed values, or both.

        Texts take precedence over values. The key ``preset`` names a preset to start from.

        Args:
            texts: hyper-parameters as text, such as those after ``--set``.
            values: hyper-parameters with their types, from a configuration file.

        Raises:
            ConfigError: there is no such preset or hyper-parameter, or a value is invalid.
        """
        texts, values = dict(texts), dict(values or {})
        preset = values.pop("preset", None)
        preset = texts.pop("preset", preset)
        params = check_values(cls, values) | read_values(cls, texts)
        return cls(**params) if preset is None else cls.from_preset(str(preset), **params)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return hyper-parameters by name; ``deep`` adds those of nested estimators, as ``outer__inner``."""
        params: dict[str, Any] = {}
        for name in hyperparameters(type(self)):
            value = params[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params |= {f"{name}__{inner}": each for inner, each in value.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Change hyper-parameters; ``outer__inner`` reaches into nested estimators.

        Raises:
            ConfigError: there is no hyper-parameter of that name; then none is changed.
        """
        known = self.get_params()
        for name in params:
            if name not in known:
                raise unknown_name("hyper-parameter", name, known, type(self))
        # Short names first: a nested estimator is replaced before its own parameters are set.
        for name in sorted(params, key=lambda name: name.count("__")):
            outer, _, inner = name.partition("__")
            if inner:
                getattr(self, outer).set_params(**{inner: params[name]})
            else:
                setattr(self, name, params[name])
        return self

    def remarks(self) -> list[str]:
        """Return warnings about the last ``fit``, one line each, such as that rare counts were dropped."""
        return []

    def check_is_fitted(self) -> None:
        """Raise an error unless the estimator is fitted.

        Raises:
            NotFittedError: ``fit`` has not been called.
        """
        if not any(name.endswith("_") and not name.startswith("_") for name in vars(self)):
            raise NotFittedError(f"{type(self).__name__} is not fitted", hint="call fit first")

    def save(self, path: str | Path, *, overwrite: bool = False) -> None:
        """Write a model folder, which `spectralnlp.load` reads as a model of the estimator's task.

        Args:
            path: the folder to create.
            overwrite: whether an existing model may be replaced.

        Raises:
            NotFittedError: the estimator is not fitted.
            ConfigError: the folder cannot be written, or exists; or estimators of this kind have no models.
        """
        self.check_is_fitted()
        if self.task not in registry.tasks:
            what = f"there are no model folders of {type(self).__name__}"
            raise ConfigError(what, hint="save it with joblib.dump or pickle")
        registry.tasks.get(self.task)().to_model(self).save(path, overwrite=overwrite)

    def __repr__(self) -> str:
        declared = hyperparameters(type(self))
        params = self.get_params(deep=False).items()
        changed = [
            f"{name}={value!r}" for name, value in params if repr(value) != repr(declared[name].default)
        ]
        return cut(f"{type(self).__name__}({', '.join(changed)}") + ")"


class MomentEstimator(Estimator[T]):
    """Base class of estimators that learn from moments (training statistics).

    Learning has three steps: observe (`accumulate`), merge (`Moments.merge`) and solve.

    A subclass implements `init_moments` and `solve`. ``solve`` computes parameters from moments alone; it
    neither reads data nor calls ``fit``. If a method needs several passes over the data, ``solve`` either
    makes them over moments that are a compact log of the examples, or returns empty moments after each pass
    but the last, and ``fit`` then reads the data again.

    Examples:
        >>> import spectralnlp
        >>> issubclass(spectralnlp.PCFG, spectralnlp.MomentEstimator), spectralnlp.PCFG.unlearning
        (True, 'exact')
    """

    def fit(self, X: Corpus[T] | Iterable[T], y: object = None) -> Self:
        """Check the hyper-parameters, then accumulate moments and solve, once for each pass.

        Args:
            X: a corpus, a list, or any iterable of examples; an iterator that can be read only once suffices
                for methods of one pass.
            y: ignored unless `as_corpus` is overridden; present for scikit-learn's convention.

        Raises:
            ConfigError: a hyper-parameter has the wrong type or is out of range.
            InputError: the corpus has nothing to learn from. After any error the estimator is unchanged.
        """
        self.validate()
        with unchanged_on_error(self):
            return self._run_passes(self.as_corpus(X, y))

    def _run_passes(self, corpus: Corpus[T]) -> Self:
        with one_blas_thread():
            moments: Moments[Any] | None = self.init_moments(corpus)
            while moments is not None:
                with fit_pass(moments.pass_name):
                    accumulate(moments, corpus)
                solved: Any = self.solve(moments)
                if solved is not None and not isinstance(solved, Moments):
                    what = f"{type(self).__name__}.solve returned {type(solved).__name__}"
                    raise TypeError(f"{what}: return None, or the empty moments of the next pass")
                moments = solved
                if moments is not None:
                    corpus, moments = self.next_pass(corpus, moments)
        return self

    def next_pass(self, corpus: Corpus[T], moments: Moments[Any]) -> tuple[Corpus[Any], Moments[Any]]:
        """Return the corpus and the empty moments for the next pass; the base class returns its arguments.

        An estimator of several passes may override this method, for example to return a corpus that stores
        what an earlier pass has computed from the examples.

        Args:
            corpus: the corpus of the previous pass.
            moments: the empty moments that `solve` returned.
        """
        return corpus, moments

    @abstractmethod
    def init_moments(self, corpus: Corpus[T]) -> Moments[T]:
        """Return empty moments for the first pass.

        Args:
            corpus: the examples; its first ones may decide settings such as the language.
        """

    @abstractmethod
    def solve(self, moments: Any) -> Moments[T] | None:
        """Set the fitted attributes from moments; before the last pass, set what the next pass needs.

        Returns:
            Empty moments for the next pass, or None after the last.

        Raises:
            InputError: the moments are empty.
        """

    def init_kept_moments(self, corpus: Corpus[T]) -> Moments[T]:
        """Return empty moments for incremental updates and unlearning (`spectralnlp.changes`).

        For methods of one pass these are the moments of `init_moments`; for others, a log of the examples.
        """
        return self.init_moments(corpus)

    def solve_kept(self, moments: Any) -> Self:
        """Learn from kept moments, as ``fit`` does from the examples that they summarise."""
        self.validate()
        with one_blas_thread():
            following = self.solve(moments)
        assert following is None, "a method of several passes keeps a replay log, and overrides this"
        return self


class IterativeEstimator(Estimator[T]):
    """Base class of estimators that need the examples themselves: EM, CRFs, linear classifiers.

    A subclass implements `learn`. There are no moments, but if a subclass sets `log`, the examples can be
    kept beside the model. When examples are added or removed, or models merged, the model is learned again
    from the kept examples.

    Class attributes:
        log: class of the log that keeps examples; None if they cannot be kept.

    Examples:
        >>> import spectralnlp
        >>> tagger = spectralnlp.CRFTagger(epochs=2)
        >>> isinstance(tagger, spectralnlp.IterativeEstimator), tagger.unlearning
        (True, 'replay')
    """

    log: ClassVar[type[ExampleLog[Any]] | None] = None

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "log" in vars(cls):
            cls.unlearning = "none" if cls.log is None else "replay"

    def init_kept_moments(self, corpus: Corpus[T]) -> ExampleLog[T]:
        """Return an empty log of examples.

        Raises:
            ConfigError: this estimator cannot keep its examples.
        """
        if self.log is None:
            raise self._no_moments()
        return self.log()

    def solve_kept(self, moments: ExampleLog[T]) -> Self:
        """Learn again from the kept examples."""
        return self.fit(moments.corpus())

    def fit(self, X: Corpus[T] | Iterable[T], y: object = None) -> Self:
        """Check the hyper-parameters and learn from examples; see `Estimator.fit` for the arguments."""
        self.validate()
        with one_blas_thread():
            self.learn(self.as_corpus(X, y))
        return self

    @abstractmethod
    def learn(self, corpus: Corpus[T]) -> None:
        """Learn from a corpus and set the fitted attributes.

        Args:
            corpus: the examples; may be read several times, once for each pass.
        """
