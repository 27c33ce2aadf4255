"""`Classifier`: what ``spectralnlp train intent`` makes."""

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
    """The label of a text, and how sure it is.

    Attributes:
        label: the likeliest label.
        confidence: its probability.
        out_of_scope: from 0 to 1, the higher the less the text looks like any label's; 1 for a text with
            nothing in it that is known.
        scores: float32 (n_labels,); probabilities in the order of ``labels``.
        labels: the classifier's.

    Examples:
        >>> import spectralnlp
        >>> classifier = spectralnlp.train("intent", "corpora/intents/train.tsv")
        >>> found = classifier.classify("how much is a ticket")
        >>> found.label, 0 <= found.out_of_scope <= 1
        ('price', True)
    """

    label: str
    confidence: float
    out_of_scope: float
    scores: Array32
    labels: tuple[Any, ...] = ()

    __repr__ = one_line

    def to_frame(self) -> pandas.DataFrame:
        """The labels with their probabilities as a data frame, the likeliest first.

        ``pandas.DataFrame(classifier.classify_many(texts))`` has a row for each text.

        Raises:
            ConfigError: pandas is not installed.
        """
        order = np.argsort(-self.scores, kind="stable").tolist()
        labels = [self.labels[each] for each in order]
        return data_frame({"label": labels, "probability": self.scores[order].tolist()})


@dataclass(frozen=True, eq=False, repr=False)
class Classifier(ChangingModel):
    """A classifier of texts by their n-grams: scores that are linear in them, and corrections of these.

    Attributes:
        labels: in the order of scores.
        form: how texts are cut into n-grams.
        columns: int32 (n_ngrams,), ascending; the n-grams that are known.
        idf: float32 (n_ngrams,).
        table: float32 (n_ngrams, n_labels); scores of each n-gram.
        bias: float32 (n_labels,).
        familiarity: float32 (n_ngrams,); how familiar labelled texts make each n-gram.
        centers, corrections: float32 (n_labels,) and (n_labels, n_labels); scores s become
            s + correctionsᵀ squashed(2 (s − centers)), see `intent.stacking`; None if they stay as they are.
        sharpness: scores are multiplied by it before the softmax, so that confidences are probabilities.
        scope: how far out of scope a text is, and from where on it is refused.
        featurizer, feature_table: a fitted featurizer and the scores of its columns, float32 (n_features,
            n_labels), which are added to those of n-grams; None for none.
        about: estimator, settings and the like, for ``info`` and the model card.
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
    card: str = "# A classifier of texts\n"

    task = "intents"
    noun = "a classifier"

    def classify(self, text: str) -> Classification:
        """Classify one text.

        Raises:
            InputError: it is no text.
        """
        (found,) = self.classify_many([check_text(text, "classify")])
        return found

    def classify_tokens(self, words: Iterable[str]) -> Classification:
        """Classify one text that is tokenised; blanks are put between the tokens.

        Raises:
            InputError: the tokens are one string, or no strings.
        """
        return self.classify(" ".join(check_tokens(words)))

    def classify_many(self, items: Iterable[str | Tokens]) -> Iterator[Classification]:
        """Classify a stream of texts or of token lists, lazily and in order, about a thousand at a time.

        Raises:
            TextError: the items are one text, or an item is neither.
        """
        if isinstance(items, str | bytes):
            raise TextError("a text where a batch of texts is expected", hint="give a list of texts")
        return self._classified(" ".join(each) if isinstance(each, list | tuple) else each for each in items)

    def _classified(self, texts: Iterator[str]) -> Iterator[Classification]:
        while batch := list(islice(texts, BATCH_TEXTS)):
            probabilities, familiar = self._probabilities(batch)
            best, doubts = probabilities.argmax(axis=1), self._doubts(probabilities, familiar)
            for scores, label, doubt in zip(probabilities, best.tolist(), doubts.tolist(), strict=True):
                yield Classification(self.labels[label], float(scores[label]), doubt, scores, self.labels)

    def explain(self, text: str, label: str | None = None, *, most: int = 5) -> Explanation:
        """Say which n-grams, and which training texts, moved a label against the likeliest other one.

        The weights of a classifier are a sum over its examples, so that what each training text adds to the
        log-odds is exact up to the rounding of stored numbers; a second layer's corrections are shared out as
        among n-grams. Directions of meaning and calibration, which all texts taught, are taken as given.

        Args:
            text: any text.
            label: what to explain; None for the likeliest.
            most: training texts on either side, where they were kept; 0 for none, which is quicker.

        Raises:
            InputError: it is no text.
            ConfigError: there is no such label.
        """
        found = self.classify(text)
        check_number(most, "most", least=0)
        label = found.label if label is None else label
        if label not in self.labels:
            raise ConfigError(f"no label {label!r}", hint=f"there are {', '.join(self.labels[:10])} …")
        number = self.labels.index(label)
        others = found.scores.copy()
        others[number] = -1.0
        other = int(others.argmax())
        start, wanted = self._start([text])[0], np.zeros(len(self.labels))
        wanted[number] += 1.0
        wanted[other] -= 1.0
        score_columns = partial(self._column_scores, wanted=wanted, start=start)
        confidence = float(found.scores[number])
        explanation = explain(text, self.form, label, self.labels[other], confidence, score_columns)
        if not most or self.learned_texts is None:
            return explanation
        counts = count_ngrams([text], self.form)
        _, table = self._weighed(dict(zip(counts.indices.tolist(), counts.data.tolist(), strict=True)))
        slope, _ = self._slope(start + table.sum(axis=0), wanted)
        in_favour, against = self.learned_texts.evidence(text, slope, most)
        return replace(explanation, in_favour=in_favour, against=against)

    @cached_property
    def learned_texts(self) -> LearnedTexts | None:
        """The texts that the classifier was learned from; None if none were kept."""
        return LearnedTexts.of(self)

    def predict_proba(self, texts: Iterable[str]) -> Array32:
        """Probabilities, float32 (n_texts, n_labels)."""
        return self._probabilities(texts)[0]

    def out_of_scope(self, texts: Iterable[str]) -> Array32:
        """For each text how little it looks like any label's, from 0 to 1; float32 (n_texts,).

        Texts above ``scope.threshold`` are better refused.
        """
        return self._doubts(*self._probabilities(texts))

    def refuses(self, found: Classification) -> bool:
        """Tell whether a text is so far out of scope that it had better have no label."""
        return found.out_of_scope > self.scope.threshold or found.out_of_scope == 1

    def _doubts(self, probabilities: Array32, familiar: Array32) -> Array32:
        doubts = self.scope.doubt(probabilities.max(axis=1), familiar)
        return np.where(familiar < 0, np.float32(1.0), doubts)

    def _probabilities(self, texts: Iterable[str]) -> tuple[Array32, Array32]:
        """Probabilities, and how familiar each text is, -1 if nothing in it is known."""
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
            found = classify_long_text(each, self.form, self._scorer, starts[place])
            probabilities[place], familiar[place] = found
        return probabilities, familiar

    def _start(self, texts: Sequence[str]) -> Array32:
        """What scores begin with, float32 (n_texts, n_labels): the bias, and scores of a featurizer's row."""
        start = np.tile(self.bias, (len(texts), 1))
        if self.featurizer is not None and self.feature_table is not None and len(texts):
            start += np.asarray(self.featurizer.transform(texts), np.float32) @ self.feature_table
        return start

    def _column_scores(
        self, counts: Mapping[int, int], wanted: NDArray[np.float64], start: Array32
    ) -> tuple[dict[int, float], float]:
        """What each known column adds to a sum of the scores of labels, and what the sum is without.

        Args:
            counts: how often each column is in the text.
            wanted: (n_labels,); how the scores of labels are added up.
            start: as of `_start`.
        """
        columns, table = self._weighed(counts)
        slope, constant = self._slope(start + table.sum(axis=0), wanted)
        scores = (table @ slope).tolist()
        return dict(zip(columns.tolist(), scores, strict=True)), float(start @ slope) + constant

    def _weighed(self, counts: Mapping[int, int]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The known ones among the columns of a text, and what each adds to the first layer's scores."""
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
        """A sum of final scores as one of the first layer's: float64 (n_labels,), and what is added.

        Corrections are not linear in the first layer's scores s, but a squashed score is a multiple of s − m,
        and by these multiples of this text all of it is shared out.
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
        """Corrections of scores, without rows if there are none."""
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
        """Its size in a few words."""
        return f"{len(self.labels)} labels, {len(self.columns):,} n-grams"

    @property
    def info(self) -> dict[str, Any]:
        """Properties of the classifier, by name."""
        return {**self.about, "labels": len(self.labels), "n-grams": len(self.columns)}

    def to_stored(self, *, compact: bool = False) -> tuple[dict[str, Any], Arrays]:
        """Labels and scores; the table is stored in half precision."""
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
            metadata["featurizer"], own = featurizer_to_stored(self.featurizer)
            arrays |= with_prefix("featurizer.", own)
        return metadata, arrays

    @classmethod
    def read_stored(cls, metadata: StoredValues, arrays: StoredArrays, card: str) -> Classifier:
        """The classifier that gave these."""
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
