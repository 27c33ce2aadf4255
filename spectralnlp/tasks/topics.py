"""The topic task: train and evaluate topic models on text with one document per line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spectralnlp.errors import InputError
from spectralnlp.inference.topics.bags import bags
from spectralnlp.models.topics import Topics
from spectralnlp.runtime import Corpus, MappedCorpus
from spectralnlp.scoring.coherence import TopicReport, npmi_coherence
from spectralnlp.storage import StoredModel
from spectralnlp.tasks.lines import LineTask
from spectralnlp.text.content import content_words
from spectralnlp.text.inputs import check_tokens

N_TOP = 10  # top words per topic on which coherence is measured


class TopicTask(LineTask):
    """Task that trains, stores and evaluates topic models of documents."""

    name = "topics"
    training_data = "{training documents:,} documents"
    default_card = """# Topics

The topics and their words come from the training text: its licence applies."""

    @staticmethod
    def words_of(line: str) -> list[str]:
        """Return the content words of a line, in lower case."""
        return content_words(line)

    def wrap(self, fitted: Any) -> Topics:
        """Convert a fitted estimator to a topic model."""
        return Topics(fitted.topics_)

    def training_counts(self, fitted: Any) -> dict[str, Any]:
        """Return the number of training documents, and the eigenvalues of the second moment, for reports."""
        return {"training documents": fitted.n_documents_, "singular values": fitted.spectrum_.rounded()}

    def evaluate(self, model: Topics, corpus: Corpus[Sequence[str]]) -> TopicReport:
        """Compute the NPMI coherence and the perplexity of a topic model on documents.

        Args:
            model: the topic model.
            corpus: words of each document.

        Raises:
            InputError: no word of the documents is in the model's vocabulary.
        """
        mixture = model.mixture
        documents = list(MappedCorpus(corpus, check_tokens))
        counts = bags(documents, mixture.word_index, len(mixture.words))
        n_words = int(counts.sum())
        if not n_words:
            raise InputError("no known words to evaluate on", hint="give text, one document a line")
        top = [np.argsort(-row, kind="stable")[:N_TOP].tolist() for row in mixture.topics]
        entries = counts.tocoo()
        mixtures, log_likelihood = model.mixtures_of(documents), 0.0
        words = np.maximum(mixture.topics, 1e-12).T
        for begin in range(0, len(entries.data), 100_000):
            part = slice(begin, begin + 100_000)
            p = (mixtures[entries.row[part]] * words[entries.col[part]]).sum(axis=1)
            log_likelihood += float(entries.data[part] @ np.log(p))
        return TopicReport(
            coherence=float(npmi_coherence(top, counts).mean()),
            perplexity=float(np.exp(-log_likelihood / n_words)),
            n_top=N_TOP,
            n_documents=len(documents),
            n_words=n_words,
            n_unknown=sum(map(len, documents)) - n_words,
        )

    def load(self, stored: StoredModel) -> Topics:
        """Return the model that a folder holds."""
        return Topics.from_stored(stored)
