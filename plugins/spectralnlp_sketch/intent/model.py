"""The trained text classifier and the results of classifying texts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from annotated_types import Gt
from numpy.typing import NDArray

from spectralnlp.display import data_frame, one_line
from spectralnlp.errors import ConfigError
from spectralnlp.featurizer import Featurizer, featurizer_from_stored, featurizer_to_stored
from spectralnlp.models.changing import ChangingModel
from spectralnlp.runtime import items_of
from spectralnlp.storage import (
    Arrays,
    StoredArrays,
    StoredValues,
    arrays_of,
    float_array,
    int_array,
    with_prefix,
)
from spectralnlp.text.inputs import Tokens, check_number, check_text, check_tokens
from spectralnlp_sketch.errors import TextError
from spectralnlp_sketch.hashing.ngrams import (
    NgramFormat,
    blocks,
    checked_texts,
    count_ngrams,
    new_buffers,
)
from spectralnlp_sketch.intent.explanation import Explanation, explain
from spectralnlp_sketch.intent.kernels import TableScorer, classify_texts
from spectralnlp_sketch.intent.learned_texts import LearnedTexts
from spectralnlp_sketch.intent.long_texts import PIECE, classify_long_text
from spectralnlp_sketch.intent.scope import Scope
from spectralnlp_sketch.intent.stacking import SecondLayer

if TYPE_CHECKING:
    import pandas

Array32 = NDArray[np.float32]
BATCH_TEXTS = 1024


@dataclass(frozen=True)
class Classification:
    """Label of a text with its confidence.

    Attributes:
        label: the likeliest label.
        confidence: probability of the label.
        out_of_scope: how likely the text is out of scope, from 0 to 1; 1 for a text without known n-grams.
        scores: probabilities of labels in the order of ``labels``, float32 (n_labels,).
        labels: labels of the classifier.

    Examples:
        >>> import spectralnlp
        >>> classifier = spectralnlp.train("intent", "corpora/intents/train.tsv")
        >>> result = classifier.classify("how much is a ticket")
        >>> result.label, 0 <= result.out_of_scope <= 1
        ('price', True)
    """

    label: str
    confidence: float
    out_of_scope: float
    scores: Array32
    labels: tuple[Any, ...] = ()

    __repr__ = one_line

    def to_frame(self) -> pandas.DataFrame:
        """Return labels and probabilities as a data frame, the likeliest first.

        ``pandas.DataFrame(classifier.classify_many(texts))`` has a row for each text.

        Raises:
            ConfigError: pandas is not installed.
        """
        order = np.argsort(-self.scores, kind="stable").tolist()
        labels = [self.labels[number] for number in order]
        return data_frame({"label": labels, "probability": self.scores[order].tolist()})


@dataclass(frozen=True, eq=False, repr=False)
class Classifier(ChangingModel):
    """Text classifier whose scores are linear in n-grams, with optional corrections of the scores.

    Attributes:
        labels: labels in the order of scores.
        form: format of n-grams.
        columns: hashed columns of the known n-grams, int32 (n_ngrams,), ascending.
        idf: inverse document frequencies, float32 (n_ngrams,).
        table: scores of each n-gram, float32 (n_ngrams, n_labels).
        bias: biases of labels, float32 (n_labels,).
        familiarity: n/(n + 1) for an n-gram that is in n labelled texts, float32 (n_ngrams,).
        centers, corrections: second layer, float32 (n_labels,) and (n_labels, n_labels): scores s become
            s + correctionsᵀ squashed(2 (s − centers)), see `intent.stacking`; None for no corrections.
        sharpness: factor of scores before the softmax, so that confidences are calibrated.
        scope: detector of texts that are out of scope, with its threshold.
        featurizer, feature_table: fitted featurizer and the scores of its columns, float32 (n_features,
            n_labels), added to the scores of n-grams; None without a featurizer.
        about: estimator, settings and other metadata for ``info`` and the model card.
        card: the model card, Markdown.

    Examples:
        >>> import spectralnlp
        >>> classifier = spectralnlp.train("intent", "corpora/intents/train.tsv")
        >>> classifier.classify("how much is a ticket").label
        'price'
        >>> len(list(classifier.classify_many(["when does it leave", "what does it cost"])))
        2
    """

    labels: tuple[str, ...]
    form: NgramFormat
    columns: Annotated[NDArray[np.int32], int_array("n_ngrams", below="width", ascending=True)]
    idf: Annotated[Array32, float_array("n_ngrams", dtype="float32", least=1e-6, most=1e6)]
    table: Annotated[Array32, float_array("n_ngrams", "n_labels", dtype="float32")]
    bias: Annotated[Array32, float_array("n_labels", dtype="float32")]
    familiarity: Annotated[Array32, float_array("n_ngrams", dtype="float32", least=0, most=1)]
    centers: Annotated[Array32 | None, float_array("n_labels", dtype="float32")] = None
    corrections: Annotated[Array32 | None, float_array("n_labels", "n_labels", dtype="float32")] = None
    sharpness: Annotated[float, Gt(0)] = 1.0
    scope: Scope = field(default_factory=Scope)
    featurizer: Featurizer | None = None
    feature_table: Annotated[Array32 | None, float_array("n_features", "n_labels", dtype="float32")] = None
    about: Mapping[str, Any] = field(default_factory=dict)
    card: str = "# A text classifier\n"

    task = "intents"
    noun = "a classifier"

    def classify(self, text: str) -> Classification:
        """Return the likeliest label of a text, with all probabilities.

        Raises:
            InputError: the argument is not a text.
        """
        (result,) = self.classify_many([check_text(text, "classify")])
        return result

    def classify_tokens(self, words: Iterable[str]) -> Classification:
        """Classify one tokenised text; its tokens are joined by blanks.

        Raises:
            InputError: the argument is a single string, or a token is not a string.
        """
        return self.classify(" ".join(check_tokens(words)))

    def classify_many(self, items: Iterable[str | Tokens]) -> Iterator[Classification]:
        """Classify a stream of texts or token lists lazily and in order, in batches of about a thousand.

        Raises:
            TextError: the argument is a single text, or an item is neither a text nor a token list.
        """
        hint = "give a list of texts"
        items = items_of(items, "a batch of texts is expected", hint=hint, error=TextError)
        return self._classified(
            " ".join(check_tokens(item)) if isinstance(item, list | tuple) else item for item in items
        )

    def _classified(self, texts: Iterator[str]) -> Iterator[Classification]:
        while batch := list(islice(texts, BATCH_TEXTS)):
            probabilities, familiar = self._probabilities(batch)
            best, doubts = probabilities.argmax(axis=1), self._doubts(probabilities, familiar)
            for scores, label, doubt in zip(probabilities, best.tolist(), doubts.tolist(), strict=True):
                yield Classification(self.labels[label], float(scores[label]), doubt, scores, self.labels)

    def explain(self, text: str, label: str | None = None, *, limit: int = 5) -> Explanation:
        """Explain a label by contributions of n-grams and training texts, against the likeliest other label.

        The weights of a classifier are a sum over its examples, so the contribution of each training text is
        exact up to the rounding of stored numbers. Vectors of n-grams and calibration, which are learned from
        all training texts together, are taken as fixed.

        Args:
            text: the text to explain.
            label: the label to explain; None for the likeliest.
            limit: maximum number of training texts in favour and against, if they were kept; 0 is faster.

        Raises:
            InputError: ``text`` is not a text.
            ConfigError: there is no such label.
        """
        result = self.classify(text)
        check_number(limit, "limit", least=0)
        label = result.label if label is None else label
        if label not in self.labels:
            raise ConfigError(f"no label {label!r}", hint=f"there are {', '.join(self.labels[:10])} …")
        number = self.labels.index(label)
        others = result.scores.copy()
        others[number] = -1.0
        other = int(others.argmax())
        start, wanted = self._start([text])[0], np.zeros(len(self.labels))
        wanted[number] += 1.0
        wanted[other] -= 1.0
        score_columns = partial(self._column_scores, wanted=wanted, start=start)
        confidence = float(result.scores[number])
        explanation = explain(text, self.form, label, self.labels[other], confidence, score_columns)
        if not limit or self.learned_texts is None:
            return explanation
        counts = count_ngrams([text], self.form)
        _, table = self._weighed(dict(zip(counts.indices.tolist(), counts.data.tolist(), strict=True)))
        slope, _ = self._slope(start + table.sum(axis=0), wanted)
        in_favour, against = self.learned_texts.evidence(text, slope, limit)
        return replace(explanation, in_favour=in_favour, against=against)

    @cached_property
    def learned_texts(self) -> LearnedTexts | None:
        """Labelled training texts of the classifier, or None if they were not kept."""
        return LearnedTexts.of(self)

    def predict_proba(self, texts: Iterable[str]) -> Array32:
        """Return probabilities of labels, float32 (n_texts, n_labels)."""
        return self._probabilities(texts)[0]

    def out_of_scope(self, texts: Iterable[str]) -> Array32:
        """Return a score of each text, 0 to 1, high if it seems to belong to no label; float32 (n_texts,).

        Texts above ``scope.threshold`` should be refused.
        """
        return self._doubts(*self._probabilities(texts))

    def refuses(self, found: Classification) -> bool:
        """Return whether to refuse a text because it probably belongs to no label.

        A text is refused if its ``out_of_scope`` exceeds ``scope.threshold``, or no n-gram of it is known.

        Args:
            found: classification of the text.
        """
        return found.out_of_scope > self.scope.threshold or found.out_of_scope == 1

    def _doubts(self, probabilities: Array32, familiar: Array32) -> Array32:
        doubts = self.scope.doubt(probabilities.max(axis=1), familiar)
        return np.where(familiar < 0, np.float32(1.0), doubts)

    def _probabilities(self, texts: Iterable[str]) -> tuple[Array32, Array32]:
        """Return probabilities of labels (n_texts, n_labels), and the familiarity of each text (n_texts,).

        Familiarity says how many of a text's n-grams occur in labelled texts, from 0 to 1; it is -1 if no
        n-gram of the text is in the vocabulary.
        """
        listed = checked_texts(texts)
        probabilities = self._start(listed)
        familiar = np.empty(len(listed), np.float32)
        done, rules = 0, self.form.rules()
        long = {place: text for place, text in enumerate(listed) if len(text) > PIECE}
        starts = {place: probabilities[place].copy() for place in long}
        short = ["" if place in long else text for place, text in enumerate(listed)]
        for text, bounds in blocks(short, self.form.lowercase):
            n = len(bounds) - 1
            buffers = new_buffers(self.form.capacity(int(np.diff(bounds).max()), 1), bounds)
            here = slice(done, done + n)
            classify_texts(text, bounds, rules, buffers, self._scorer, probabilities[here], familiar[here])
            done += n
        for place, each in long.items():
            result = classify_long_text(each, self.form, self._scorer, starts[place])
            probabilities[place], familiar[place] = result
        return probabilities, familiar

    def _start(self, texts: Sequence[str]) -> Array32:
        """Return initial scores, float32 (n_texts, n_labels): biases plus the scores of the featurizer."""
        start = np.tile(self.bias, (len(texts), 1))
        if self.featurizer is not None and self.feature_table is not None and len(texts):
            start += np.asarray(self.featurizer.transform(texts), np.float32) @ self.feature_table
        return start

    def _column_scores(
        self, counts: Mapping[int, int], wanted: NDArray[np.float64], start: Array32
    ) -> tuple[dict[int, float], float]:
        """Distribute a weighted sum of a text's scores, such as the log-odds of two labels, among n-grams.

        Args:
            counts: count of each n-gram in the text, indexed by hashed column.
            wanted: weights of the labels' scores in the sum (n_labels,).
            start: initial scores of the text from `_start`, float32 (n_labels,).

        Returns:
            What each known n-gram adds to the sum, indexed by hashed column; and a constant, the part of the
            sum that depends on no n-gram.
        """
        columns, table = self._weighed(counts)
        slope, constant = self._slope(start + table.sum(axis=0), wanted)
        scores = (table @ slope).tolist()
        return dict(zip(columns.tolist(), scores, strict=True)), float(start @ slope) + constant

    def _weighed(self, counts: Mapping[int, int]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the hashed columns of a text's known n-grams, and what each adds to uncorrected scores.

        Args:
            counts: count of each n-gram in the text, indexed by hashed column.

        Returns:
            Columns, int64 (n_known,), and contributions, float64 (n_known, n_labels).
        """
        columns = np.array(sorted(counts), np.int64)
        rows = np.searchsorted(self.columns, columns)
        known = rows < len(self.columns)
        known[known] = self.columns[rows[known]] == columns[known]
        columns, rows = columns[known], rows[known]
        often = np.array([counts[column] for column in columns.tolist()], np.float64)
        values = (1 + np.log(often)) * self.idf[rows] if len(rows) else often
        kinds = self.form.kinds(columns)
        for kind in range(3):
            length = np.sqrt((values[kinds == kind] ** 2).sum())
            values[kinds == kind] /= length or 1.0
        return columns, self.table[rows].astype(np.float64) * values[:, None]

    def _slope(
        self, scores: NDArray[np.float64], wanted: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], float]:
        """Express a weighted sum of final (corrected) scores as a weighted sum of first-layer scores.

        Corrections are not linear in the first layer's scores s. But for one text, each squashed score is
        some multiple of s − center, and these multiples give weights that are exact for this text.

        Args:
            scores: first-layer scores of the text (n_labels,).
            wanted: weights of the labels' final scores in the sum (n_labels,).

        Returns:
            Weights of first-layer scores, float64 (n_labels,), and the constant to add to their sum.
        """
        layer, slope = self.second_layer, wanted.copy()
        corrections = layer.weights @ wanted
        distance = scores[: len(layer.centers)] - layer.centers
        multiples = corrections * np.divide(
            layer.squashed(scores), distance, out=np.zeros_like(distance), where=distance != 0
        )
        slope[: len(multiples)] += multiples
        return slope * float(self.sharpness), -float(self.sharpness * (multiples @ layer.centers))

    @cached_property
    def second_layer(self) -> SecondLayer:
        """Second layer that corrects scores; it leaves them unchanged if there are no corrections."""
        if self.centers is None or self.corrections is None:
            return SecondLayer.none(len(self.labels))
        return SecondLayer(self.centers, self.corrections)

    @cached_property
    def _scorer(self) -> TableScorer:
        place = np.full(self.form.width, -1, np.int32)
        place[self.columns] = np.arange(len(self.columns))
        return TableScorer(
            place=place,
            first_character_column=self.form.first_character_column,
            first_pair_column=self.form.n_columns,
            idf=self.idf,
            table=self.table,
            centers=self.second_layer.centers,
            corrections=self.second_layer.weights,
            sharpness=np.float32(self.sharpness),
            familiarity=self.familiarity,
            unknown_idf=np.float32(self.idf.max(initial=0.0) + np.log(2.0)),
            columns=self.columns,
        )

    @property
    def summary(self) -> str:
        """One line that describes the size of the classifier."""
        return f"{len(self.labels)} labels, {len(self.columns):,} n-grams"

    @property
    def info(self) -> dict[str, Any]:
        """Properties of the classifier to show, by name, such as its labels and number of n-grams."""
        return {**self.about, "labels": len(self.labels), "n-grams": len(self.columns)}

    def to_stored(self, *, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """Return metadata and arrays to save in a model folder; the table of scores is in half precision.

        Args:
            compact: ignored, since half precision is always used.
        """
        metadata = {
            "labels": list(self.labels),
            "words": self.form.words,
            "characters": self.form.characters,
            "n_columns": self.form.n_columns,
            "lowercase": self.form.lowercase,
            "pairs": self.form.pairs,
            "sharpness": self.sharpness,
            "scope": asdict(self.scope),
            "about": dict(self.about),
        }
        arrays = arrays_of(self)
        for name in arrays.keys() & {"table", "familiarity"}:
            arrays[name] = arrays[name].astype(np.float16)
        if self.featurizer is not None:
            metadata["featurizer"], stored = featurizer_to_stored(self.featurizer)
            arrays |= with_prefix("featurizer.", stored)
        return metadata, arrays

    @classmethod
    def read_stored(cls, metadata: StoredValues, arrays: StoredArrays, card: str) -> Classifier:
        """Restore a classifier from saved metadata and arrays."""
        form = NgramFormat(
            **metadata.fields(NgramFormat, "words", "characters", "n_columns", "lowercase", "pairs")
        )
        values = metadata.fields(cls, "labels", "sharpness")
        featurizer, sized = None, arrays.part(n_labels=len(values["labels"]), width=form.width)
        if "featurizer" in metadata:
            featurizer = featurizer_from_stored(metadata.part("featurizer"), arrays.part("featurizer."))
            sized = sized.part(n_features=len(featurizer.get_feature_names_out()))
        return cls(
            featurizer=featurizer,
            form=form,
            scope=metadata.take("scope", Scope),
            about=metadata.about(),
            card=card,
            **values,
            **sized.fields(cls),
        )
