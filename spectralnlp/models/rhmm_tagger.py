"""The tagger with latent refinements of tags, the result of ``spectralnlp.train("rhmm", …)``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Le
from numpy.typing import NDArray

from spectralnlp.errors import InputError
from spectralnlp.inference.chains.refined import tag_posteriors
from spectralnlp.inference.words.lexical import look_up
from spectralnlp.models.changing import ChangingModel
from spectralnlp.models.text_tagger import TextTagger, check_sentences
from spectralnlp.parameters import Floats, RefinedMarkov, RefinedMarkovSet
from spectralnlp.runtime import symbol_names, symbols_named
from spectralnlp.storage import Arrays, StoredArrays, StoredValues
from spectralnlp.text.conventions import Conventions
from spectralnlp.text.signatures import Signature, signature_by_name
from spectralnlp.text.spans import Scheme, scheme_of
from spectralnlp.text.tokenizer import Tokenizer

KIND = "rhmm"


@dataclass(frozen=True, repr=False)
class RefinementTagger(TextTagger, ChangingModel):
    """A tagger by hidden Markov models in which each tag has several hidden states (refinements).

    The tagger also gives probabilities of tags and of sentences. If the words of training were integers, give
    integers to `best_tags`, `posteriors`, `confidence` and `log_probability`.

    Attributes:
        coarse: the model with one state per tag, which prunes improbable tags.
        models: the models whose posteriors are averaged; they have the tags and words of the coarse model.
        beam: tags with a smaller posterior under the coarse model are pruned; 0 for exact marginals.
        conventions: tokenisation conventions of the training data, for raw text.
        about: estimator, settings and training data, for ``info`` and the model card.
        card: the model card.
    """

    coarse: RefinedMarkov
    models: tuple[RefinedMarkov, ...]
    beam: Annotated[float, Ge(0), Le(1)] = 3e-3
    conventions: Conventions = field(default_factory=Conventions)
    about: Mapping[str, Any] = field(default_factory=dict)
    card: str = "# A tagger\n"

    task = "tagging"
    noun = "a tagger"
    kind = KIND

    @cached_property
    def tags(self) -> tuple[str, ...]:
        """The tags, in the order of the columns of `posteriors`; those that were integers are integers."""
        return symbols_named(self.coarse.tags)

    @property
    def labels(self) -> tuple[str, ...]:
        """The tags that the tagger may output."""
        return self.tags

    @cached_property
    def scheme(self) -> Scheme:
        """The tagging scheme: ``tags``, or ``bio`` or ``bioes`` if the tags encode spans."""
        return scheme_of(self.coarse.tags)

    @cached_property
    def known(self) -> frozenset[str]:
        """The words of the training data."""
        return frozenset(symbols_named(self.coarse.lexicon.words))

    @classmethod
    def of_fitted(cls, fitted: Any) -> RefinementTagger:
        """Build the tagger from a fitted ``rhmm`` estimator."""
        return cls(coarse=fitted.coarse_, models=tuple(fitted.models_), beam=fitted.beam)

    @cached_property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer for raw text, which follows the conventions of the training data."""
        return Tokenizer(self.conventions)

    def best_tags(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        """Return for each word the tag of highest posterior, summed over states and tags of other words.

        Raises:
            InputError: an item is a string instead of a list of tokens, or a token is neither a string nor an
                integer.
        """
        named = check_sentences(sentences, symbol_names)
        return [[self.tags[a] for a in self._posteriors(names).argmax(axis=1)] for names in named]

    def posteriors(self, sentence: Sequence[str]) -> Floats:
        """Return the posterior of each tag, averaged over the models.

        Because of sampling error, a spectral model may give no tag of a word a positive value. Such a model
        is left out of the word's average; if all are left out, the coarse model's posteriors are returned.

        Returns:
            float64 (n_words, n_tags); rows sum to one.
        """
        (names,) = check_sentences([sentence], symbol_names)
        return self._posteriors(names)

    def _posteriors(self, names: Sequence[str]) -> Floats:
        if not names:
            return np.zeros((0, len(self.tags)))
        found = look_up(self.coarse.lexicon, names, self._signature)
        coarse = tag_posteriors(self.coarse, found).posteriors
        allowed = (coarse >= self.beam) | (coarse == coarse.max(axis=1, keepdims=True)) if self.beam else None
        total = np.sum([tag_posteriors(model, found, allowed).posteriors for model in self.models], axis=0)
        mass = total.sum(axis=1, keepdims=True)
        return np.where(mass > 0, total / np.maximum(mass, 1e-300), coarse)

    def confidence(self, sentences: Sequence[Sequence[str]]) -> list[list[float]]:
        """Return the posterior probabilities of the tags that `best_tags` returns, a list per sentence."""
        named = check_sentences(sentences, symbol_names)
        return [self._posteriors(names).max(axis=1).tolist() for names in named]

    def log_probability(self, sentence: Sequence[str], tags: Sequence[str] | None = None) -> float:
        """Return the natural logarithm of the probability of the words, or of the words and their tags.

        The probability is the exact mean over the models. Sampling error can make the probability of a
        spectral model negative; it then counts as 0. Unknown words are replaced by their signatures (spelling
        classes).

        Args:
            sentence: the words.
            tags: a tag for each word; None to sum over all tags.

        Raises:
            InputError: the number of tags differs from the number of words, or a tag is unknown.
        """
        (names,) = check_sentences([sentence], symbol_names)
        if not names:
            return 0.0
        allowed = None if tags is None else self._only(names, tags)
        found = look_up(self.coarse.lexicon, names, self._signature)
        each = [tag_posteriors(model, found, allowed).log_probability for model in self.models]
        return float(np.logaddexp.reduce(each) - np.log(len(each)))

    def _only(self, sentence: Sequence[str], tags: Sequence[str]) -> NDArray[np.bool_]:
        if len(tags) != len(sentence):
            raise InputError(f"{len(sentence)} words and {len(tags)} tags", hint="give each word one tag")
        index = {name: a for a, name in enumerate(self.coarse.tags)}
        names = symbol_names(tags, "tag")
        for tag, name in zip(tags, names, strict=True):
            if name not in index:
                shown = ", ".join(map(str, self.tags))
                raise InputError(f"the model has no tag {tag!r}", hint=f"it has {shown}")
        allowed = np.zeros((len(sentence), len(self.tags)), np.bool_)
        allowed[np.arange(len(tags)), [index[name] for name in names]] = True
        return allowed

    @cached_property
    def _signature(self) -> Signature:
        return signature_by_name(self.coarse.lexicon.scheme)

    @property
    def summary(self) -> str:
        """The size of the tagger in a few words, for its ``repr``."""
        return f"{len(self.tags)} tags, {len(self.models)} models"

    @property
    def info(self) -> dict[str, Any]:
        """Properties of the model, by name, as the command ``info`` shows them."""
        models = [
            f"{'probabilities' if model.tied else 'tensors'}, up to {model.n_states.max()} refinements"
            for model in self.models
        ]
        words = len(self.coarse.lexicon.words)
        return {"task": self.task, **self.about, "tags": len(self.tags), "words": words, "models": models}

    def to_stored(self, *, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """Return what to store: JSON values, and the parameters of the models as arrays.

        ``compact`` has no effect.
        """
        models = RefinedMarkovSet(coarse=self.coarse, models=self.models)
        metadata = {
            "kind": KIND,
            "about": self.about,
            **models.to_json(),
            "beam": self.beam,
            "conventions": self.conventions.to_dict(),
        }
        return metadata, models.to_arrays()

    @classmethod
    def read_stored(cls, metadata: StoredValues, arrays: StoredArrays, card: str) -> RefinementTagger:
        """Build the tagger from the JSON values, the arrays and the model card of a model folder."""
        models = RefinedMarkovSet.from_arrays(arrays, metadata)
        return cls(
            coarse=models.coarse,
            models=models.models,
            **metadata.fields(cls, "beam", "conventions"),
            about=metadata.about(),
            card=card,
        )
