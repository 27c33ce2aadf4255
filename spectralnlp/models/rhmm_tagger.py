"""A tagger by refinement hidden Markov models: what ``spectralnlp train rhmm`` makes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spectralnlp.errors import InputError, ModelError
from spectralnlp.inference.chains.refined import tag_posteriors
from spectralnlp.inference.words.lexical import look_up
from spectralnlp.parameters import DenseTensors, Floats, Lexicon, RefinedMarkov
from spectralnlp.storage import StoredModel, save_model
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.signatures import Signature, signature_by_name
from spectralnlp.text.spans import Scheme, scheme_of
from spectralnlp.text.tokenizer import Tokenizer

Arrays = dict[str, NDArray[Any]]
KIND = "rhmm"


@dataclass(frozen=True)
class RefinementTagger:
    """Tags with their posteriors, and probabilities of sentences.

    Attributes:
        coarse: one refinement a tag; it prunes.
        models: their posteriors are averaged. All have the coarse model's tags and words.
        beam: tags whose posterior under the coarse model is smaller are left out; 0 for exact marginals.
        conventions: how the training data wrote words, for raw text.
        about: what the model was made from.
        card: the model card.
    """

    coarse: RefinedMarkov
    models: tuple[RefinedMarkov, ...]
    beam: float = 3e-3
    conventions: Conventions = field(default_factory=Conventions)
    about: Mapping[str, Any] = field(default_factory=dict)
    card: str = "# A tagger\n"

    task = "tagging"
    kind = KIND

    @property
    def tags(self) -> tuple[str, ...]:
        """Names of the tags, in the order of the columns of `posteriors`."""
        return self.coarse.tags

    @property
    def labels(self) -> tuple[str, ...]:
        """The tags that can be given."""
        return self.coarse.tags

    @cached_property
    def scheme(self) -> Scheme:
        """How tags are written: ``tags``, ``bio`` or ``bioes``."""
        return scheme_of(self.tags)

    @cached_property
    def known(self) -> frozenset[str]:
        """Words of the training data."""
        return frozenset(self.coarse.lexicon.words)

    @classmethod
    def of_fitted(cls, fitted: Any) -> RefinementTagger:
        """Make a tagger of a fitted estimator whose class attribute ``tagger`` is this kind."""
        return cls(coarse=fitted.coarse_, models=tuple(fitted.models_), beam=fitted.beam)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """Cuts raw text as the training data does."""
        return Tokenizer(self.conventions)

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """The most probable tag of each word, all other tags and the refinements summed out."""
        best = (self.posteriors(sentence).argmax(axis=1).tolist() for sentence in sentences)
        return [[self.tags[a] for a in each] for each in best]

    def posteriors(self, sentence: Sequence[str]) -> Floats:
        """float64 (n_words, n_tags): the posterior of each tag; rows sum to one.

        Where sampling error cancels all that a spectral model says of a word, the others decide.
        """
        if not len(sentence):
            return np.zeros((0, len(self.tags)))
        found = look_up(self.coarse.lexicon, sentence, self._signature)
        coarse = tag_posteriors(self.coarse, found).posteriors
        allowed = (coarse >= self.beam) | (coarse == coarse.max(axis=1, keepdims=True)) if self.beam else None
        total = np.sum([tag_posteriors(model, found, allowed).posteriors for model in self.models], axis=0)
        mass = total.sum(axis=1, keepdims=True)
        return np.where(mass > 0, total / np.maximum(mass, 1e-300), coarse)

    def confidence(self, sentences: Sequence[Sequence[str]]) -> list[list[float]]:
        """How probable the tag is that `tag` gives each word."""
        return [self.posteriors(sentence).max(axis=1).tolist() for sentence in sentences]

    def log_probability(self, sentence: Sequence[str], tags: Sequence[str] | None = None) -> float:
        """Natural logarithm of the probability of the words, or of the words and their tags.

        The mean over the models of the probability, exact; a model that gives a negative one, as spectral
        models may by sampling error, counts as 0. An unknown word stands for its signature.

        Raises:
            InputError: there are not as many tags as words, or a tag that the model does not have.
        """
        if not len(sentence):
            return 0.0
        allowed = None if tags is None else self._only(sentence, tags)
        found = look_up(self.coarse.lexicon, sentence, self._signature)
        each = [tag_posteriors(model, found, allowed).log_probability for model in self.models]
        return float(np.logaddexp.reduce(each) - np.log(len(each)))

    def _only(self, sentence: Sequence[str], tags: Sequence[str]) -> NDArray[np.bool_]:
        if len(tags) != len(sentence):
            raise InputError(f"{len(sentence)} words and {len(tags)} tags", hint="give each word one tag")
        index = {name: a for a, name in enumerate(self.tags)}
        for name in tags:
            if name not in index:
                raise InputError(f"the model has no tag {name!r}", hint=f"it has {', '.join(self.tags)}")
        allowed = np.zeros((len(sentence), len(self.tags)), np.bool_)
        allowed[np.arange(len(tags)), [index[name] for name in tags]] = True
        return allowed

    @cached_property
    def _signature(self) -> Signature:
        return signature_by_name(self.coarse.lexicon.scheme)

    @property
    def info(self) -> dict[str, Any]:
        """Properties of the model, by name."""
        models = [
            f"{'probabilities' if model.tied else 'tensors'}, up to {model.n_states.max()} refinements"
            for model in self.models
        ]
        words = len(self.coarse.lexicon.words)
        return {"task": self.task, **self.about, "tags": len(self.tags), "words": words, "models": models}

    def save(self, path: str | Path, *, overwrite: bool = True) -> None:
        """Write a model folder; numbers are stored as float32.

        Raises:
            ConfigError: the place cannot be written, or is taken.
        """
        lexicon = self.coarse.lexicon
        metadata = {
            "kind": KIND,
            "about": self.about,
            "tags": self.tags,
            "words": lexicon.words,
            "signatures": lexicon.signatures,
            "scheme": lexicon.scheme,
            "tied": [model.tied for model in (self.coarse, *self.models)],
            "beam": self.beam,
            "conventions": self.conventions.to_dict(),
        }
        arrays: Arrays = {name: _narrow(getattr(lexicon, name)) for name in _COMMON_LEXICON}
        arrays["pairs"] = self.coarse.pairs
        for number, model in enumerate((self.coarse, *self.models)):
            arrays |= {f"{number}.{name}": _narrow(getattr(model, name)) for name in _OWN}
            arrays[f"{number}.transitions"] = _narrow(model.transitions.values)
            arrays[f"{number}.lexicon"] = _narrow(model.lexicon.values)
        save_model(
            path, kind=self.task, metadata=metadata, arrays=arrays, card=self.card, overwrite=overwrite
        )

    @classmethod
    def from_stored(cls, stored: StoredModel) -> RefinementTagger:
        """The tagger in a folder.

        Raises:
            ModelError: something is missing.
        """
        meta, arrays = stored.metadata, stored.arrays
        try:
            models = [
                _unpack(meta, arrays, number, tied=bool(tied)) for number, tied in enumerate(meta["tied"])
            ]
            conventions = Conventions.from_dict(meta["conventions"])
            return cls(
                models[0], tuple(models[1:]), float(meta["beam"]), conventions, meta["about"], stored.card
            )
        except (KeyError, TypeError, ValueError, IndexError) as error:
            raise ModelError(f"not a tagger that this version reads: {error}", path=stored.path) from error


_COMMON_LEXICON = ("starts", "tags", "backoff", "word_signature", "log_weight")
_OWN = ("n_states", "n_lexical", "initial", "final", "leaving", "arriving")


def _unpack(
    meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], number: int, *, tied: bool
) -> RefinedMarkov:
    own = {name: _widen(arrays[f"{number}.{name}"]) for name in _OWN}
    common = {name: _widen(arrays[name]) for name in _COMMON_LEXICON}
    pairs, m, k = arrays["pairs"], own["n_states"], own["n_lexical"]
    joint = (m if tied else m * k).astype(np.int64)
    return RefinedMarkov(
        tags=tuple(meta["tags"]),
        tied=tied,
        pairs=pairs,
        transitions=DenseTensors(
            _offsets(joint[pairs[:, 0]] * m[pairs[:, 1]]), _widen(arrays[f"{number}.transitions"])
        ),
        lexicon=Lexicon(
            words=tuple(meta["words"]),
            signatures=tuple(meta["signatures"]),
            scheme=meta["scheme"],
            offsets=_offsets(k[common["tags"]]),
            values=_widen(arrays[f"{number}.lexicon"]),
            **common,
        ),
        **own,
    )


def _offsets(sizes: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def _narrow(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _widen(array: NDArray[Any]) -> NDArray[Any]:
    return array.astype(np.float64) if array.dtype == np.float32 else array
