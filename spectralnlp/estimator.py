"""The contract of estimators: observe, merge, solve.

Every spectral estimator is a `MomentEstimator`: it adds up moments over a stream, moments of parts merge into
those of the whole, and a closed form turns them into parameters. Its ``fit`` is written once, here. A learner
that needs the examples themselves (EM, conditional random fields) is an `IterativeEstimator`.

The conventions are scikit-learn's, so ``sklearn.base.clone`` and its friends work; nothing of it is imported.
Hyper-parameters are keyword-only dataclass fields (:mod:`spectralnlp.hyperparameters`), fitted attributes end
in ``_``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, Protocol, Self, TypeVar

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
    """Give an estimator the attributes back that it had, if the block ends in an error or is interrupted.

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
    """What an estimator has learned, where learning can go on from it."""

    def arrays(self) -> Mapping[str, Array]:
        """Return it as arrays, for `Estimator.read_state`."""


@dataclass(kw_only=True, eq=False, repr=False)
class Estimator(ABC, Generic[T]):
    """A learner: ``__init__`` stores hyper-parameters as they are, ``fit`` checks them and learns.

    Class attributes:
        known_as: name in messages and model cards; the class's, unless another is given.
        task: name of the task that the estimator serves, ``parsing``.
        presets: named settings of hyper-parameters; what a preset leaves out keeps its default.
        unlearning: whether documents can be added and taken out after ``fit``: ``exact`` (integer counts are
            kept), ``replay`` (learned again from a log of the examples), ``merge-only`` or ``none``.
        spills: whether it goes to disk where memory is limited (`spectralnlp.runtime.use_memory`).

    Examples:
        >>> import spectralnlp
        >>> estimator = spectralnlp.HMM(n_states=4)
        >>> estimator.get_params()["n_states"]
        4
        >>> estimator.set_params(n_states=8).n_states
        8
    """

    known_as: ClassVar[str]
    task: ClassVar[str]
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {}
    unlearning: ClassVar[Unlearning] = "none"
    spills: ClassVar[bool] = False
    __signature__ = ShortSignature()

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        if "known_as" not in vars(cls):
            cls.known_as = cls.__name__

    @abstractmethod
    def fit(self, X: Corpus[T] | Iterable[T], y: object = None) -> Self:
        """Learn from examples.

        Args:
            X: a corpus, a list, or any iterable of examples. An iterator, which can be read only once, is
                enough for methods of one pass.
            y: ignored, unless an estimator says otherwise; there for scikit-learn's convention.

        Raises:
            ConfigError: a hyper-parameter has another type than declared or is out of its range.
        """

    @classmethod
    def supports_update(cls) -> bool:
        """Whether documents can be added to what was learned."""
        return cls.unlearning != "none"

    @classmethod
    def supports_forget(cls) -> bool:
        """Whether documents can be taken out of what was learned."""
        return cls.unlearning in ("exact", "replay")

    def validate(self) -> None:
        """Check the hyper-parameters; ``fit`` does so first.

        Raises:
            ConfigError: one has another type than declared, is out of its range, or does not go with another.
        """
        check_values(type(self), self.get_params(deep=False))
        self.check_combination()

    def check_combination(self) -> None:
        """Check what the declaration of one hyper-parameter cannot say; an estimator may override it.

        Raises:
            ConfigError: two hyper-parameters do not go together, or one names nothing that is known.
        """

    def as_corpus(self, X: Any, y: Any = None) -> Corpus[T]:
        """Make a corpus of the arguments of ``fit``; estimators of matrices and of labels override it.

        Args:
            X: as of ``fit``.
            y: as of ``fit``; ignored here.

        Raises:
            ConfigError: it is no iterable of examples.
        """
        return as_corpus(X)

    def init_moments(self, corpus: Corpus[T]) -> Moments[T]:
        """Return empty moments of the first pass; see `MomentEstimator`.

        Raises:
            ConfigError: this estimator learns from the examples themselves.
        """
        raise self._no_moments()

    def init_kept_moments(self, corpus: Corpus[T]) -> Moments[T]:
        """Return empty moments for incremental updates and unlearning; errors as of `init_moments`."""
        return self.init_moments(corpus)

    def solve_kept(self, moments: Any) -> Self:
        """Learn from kept moments; see `MomentEstimator`. Errors as of `init_moments`."""
        raise self._no_moments()

    def state(self) -> State | None:
        """Return what `solve_further` begins with; None where all has to be learned again."""
        return None

    def read_state(self, stored: StoredArrays) -> State | None:
        """Return the state that gave these arrays; errors as of `StoredArrays`."""
        return None

    def solve_further(self, moments: Any, state: Any) -> Self:
        """Learn from kept moments, beginning with what was learned from most of the examples in them.

        Args:
            moments: as of `solve_kept`.
            state: of an estimator with these settings that was fitted to other examples.
        """
        return self.solve_kept(moments)

    def _no_moments(self) -> ConfigError:
        what = f"{type(self).__name__} learns from the examples themselves: there are no moments to keep"
        return ConfigError(what, hint="train it again on all the data")

    @classmethod
    def from_preset(cls, name: str, /, **overrides: object) -> Self:
        """Make an estimator with the settings of a preset, some of them overridden.

        Raises:
            ConfigError: there is no such preset or hyper-parameter.
        """
        if name not in cls.presets:
            raise unknown_name("preset", name, cls.presets, cls)
        return cls(**check_values(cls, {**cls.presets[name], **overrides}))

    @classmethod
    def from_settings(cls, texts: Mapping[str, str], values: Mapping[str, Any] | None = None) -> Self:
        """Make an estimator from ``key=value`` texts, on top of values that have their type.

        In both, the key ``preset`` names a preset to start from; that of the texts counts.

        Args:
            texts: hyper-parameters as text, such as those of ``--set``.
            values: hyper-parameters from a configuration.

        Raises:
            ConfigError: there is no such preset or hyper-parameter, or a value does not fit.
        """
        texts, values = dict(texts), dict(values or {})
        preset = values.pop("preset", None)
        preset = texts.pop("preset", preset)
        params = check_values(cls, values) | read_values(cls, texts)
        return cls(**params) if preset is None else cls.from_preset(str(preset), **params)

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Hyper-parameters by name; with ``deep``, those of nested estimators too, as ``outer__inner``."""
        params: dict[str, Any] = {}
        for name in hyperparameters(type(self)):
            value = params[name] = getattr(self, name)
            if deep and hasattr(value, "get_params") and not isinstance(value, type):
                params |= {f"{name}__{inner}": each for inner, each in value.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Change hyper-parameters; ``outer__inner`` reaches into nested estimators.

        Raises:
            ConfigError: there is no hyper-parameter of that name; none has been changed.
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
        """Return what users should know of this ``fit``, a line each: counts that were dropped, bad tags."""
        return []

    def check_is_fitted(self) -> None:
        """Do nothing after ``fit``.

        Raises:
            NotFittedError: before it.
        """
        if not any(name.endswith("_") and not name.startswith("_") for name in vars(self)):
            raise NotFittedError(f"{type(self).__name__} is not fitted", hint="call fit first")

    def __repr__(self) -> str:
        declared = hyperparameters(type(self))
        params = self.get_params(deep=False).items()
        changed = [
            f"{name}={value!r}" for name, value in params if repr(value) != repr(declared[name].default)
        ]
        return cut(f"{type(self).__name__}({', '.join(changed)}") + ")"


class MomentEstimator(Estimator[T]):
    """A learner in three moves: observe (`accumulate`), merge (`Moments.merge`), solve.

    A subclass writes `init_moments` and `solve`. ``solve`` never reads data and never calls ``fit``: a method
    of several passes either replays them from a compact log, or asks for the next pass by returning its empty
    moments.

    Examples:
        >>> import spectralnlp
        >>> issubclass(spectralnlp.PCFG, spectralnlp.MomentEstimator), spectralnlp.PCFG.unlearning
        (True, 'exact')
    """

    def fit(self, X: Corpus[T] | Iterable[T], y: object = None) -> Self:
        """Check the hyper-parameters, add up moments, solve; as often as there are passes.

        Args:
            X: a corpus, a list, or any iterable of examples; an iterator that can be read only once is enough
                for methods of one pass.
            y: ignored, unless `as_corpus` says otherwise; there for scikit-learn's convention.

        Raises:
            ConfigError: a hyper-parameter has another type than declared or is out of its range.
            InputError: there is nothing to learn from. After any error the estimator is as it was before.
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
                moments = self.solve(moments)
                if moments is not None:
                    corpus, moments = self.next_pass(corpus, moments)
        return self

    def next_pass(self, corpus: Corpus[T], moments: Moments[Any]) -> tuple[Corpus[Any], Moments[Any]]:
        """Return the corpus and the empty moments of another pass: these, or cheaper ones to the same end.

        An estimator of several passes may keep in memory what an earlier pass made of examples in memory.

        Args:
            corpus: of the pass before.
            moments: what `solve` returned.
        """
        return corpus, moments

    @abstractmethod
    def init_moments(self, corpus: Corpus[T]) -> Moments[T]:
        """Return empty moments of the first pass.

        Args:
            corpus: for settings that its first examples decide, such as the language.
        """

    @abstractmethod
    def solve(self, moments: Any) -> Moments[T] | None:
        """Turn the moments of a pass into fitted attributes, or into what the next pass needs.

        Returns:
            Empty moments of the next pass, or None after the last.

        Raises:
            InputError: there is nothing to learn from.
        """

    def init_kept_moments(self, corpus: Corpus[T]) -> Moments[T]:
        """Return empty moments for incremental updates and unlearning (`spectralnlp.changes`).

        They are those of `init_moments` where one pass is enough, else a replay log.
        """
        return self.init_moments(corpus)

    def solve_kept(self, moments: Any) -> Self:
        """Learn from kept moments, as ``fit`` does from the examples that are in them."""
        self.validate()
        with one_blas_thread():
            following = self.solve(moments)
        assert following is None, "a method of several passes keeps a replay log, and overrides this"
        return self


class IterativeEstimator(Estimator[T]):
    """A learner that needs the examples themselves: EM, conditional random fields, linear models of classes.

    There are no moments. A subclass writes `learn`. If it names a `log`, the examples can be kept beside the
    model, and it learns again from them when some are added, taken out or merged.

    Class attributes:
        log: what examples are kept in; None if they cannot be kept.

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
            ConfigError: examples of this estimator cannot be kept.
        """
        if self.log is None:
            raise self._no_moments()
        return self.log()

    def solve_kept(self, moments: ExampleLog[T]) -> Self:
        """Learn again from kept examples."""
        return self.fit(moments.corpus())

    def fit(self, X: Corpus[T] | Iterable[T], y: object = None) -> Self:
        """Check the hyper-parameters and learn; arguments and errors as of `Estimator.fit`."""
        self.validate()
        with one_blas_thread():
            self.learn(self.as_corpus(X, y))
        return self

    @abstractmethod
    def learn(self, corpus: Corpus[T]) -> None:
        """Set the fitted attributes.

        Args:
            corpus: the examples; read as often as the method has passes.
        """
