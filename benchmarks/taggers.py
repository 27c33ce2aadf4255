"""Compare taggers with and without unlabelled text with CRFsuite and spaCy.

- ``tasks``: parts of speech, chunks and entities: accuracy or F1 on dev, accuracy of words that are not in
  the training set, reduction of CRFsuite's errors, and time.
- ``speed``: training and tagging with the same vectors.

The unlabelled English text is of many genres and film reviews (23 million tokens), the Spanish text the words
of the training sets of CoNLL-2002 and CESS-ESP. Vectors are trained once for all rows, as by ``train tagger
--unlabelled``, and timed separately. CRFsuite is its averaged perceptron with the usual features
(`benchmarks.tagging`). Chunks are found without gold parts of speech. Times are CPU seconds on one thread,
without reading, with compiled kernels; tagging begins with empty caches.

    python -m benchmarks.taggers tasks
    python -m benchmarks.taggers tasks --task wnut --sentences 500
    python -m benchmarks.taggers speed --spacy
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import gzip
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import Any, Protocol

import spectralnlp
from benchmarks.eigenwords import ENGLISH, sample
from benchmarks.tagging import CRFsuite
from spectralnlp.estimators.eigenwords import Eigenwords
from spectralnlp.estimators.tagger import CRFTagger
from spectralnlp.runtime import InMemoryCorpus
from spectralnlp.scoring.tagging import TagReport, score_tags
from spectralnlp.tasks.tagging import TaggingTask
from spectralnlp.tasks.task import silent
from spectralnlp.tasks.vectors import VectorsTask
from spectralnlp.text.conll import TaggedSentence, read_annotated
from spectralnlp.text.spans import scheme_of
from spectralnlp.trees import clean, read_trees

ALL = 23  # million tokens: all of the text
SPACY_EPOCHS = 3


class Learner(Protocol):
    """Protocol of a tagger that can be trained, and then tags sentences."""

    def fit(self, sentences: Sequence[TaggedSentence]) -> Any: ...

    def tag(self, sentences: Sequence[Sequence[str]]) -> Sequence[Sequence[str]]: ...


@dataclass(frozen=True)
class Data:
    """Training and dev sentences of a task.

    Args:
        title: title of its table.
        train, dev: files.
        column: column of the tags; None for the last.
        language: language of the sentences.
        published: percentage of errors that eigenwords of newswire take away in the tutorial of Cohen et al.
    """

    title: str
    train: str
    dev: str
    column: str | None = None
    language: str = "english"
    published: int | None = None

    def read(self, part: str, most: int | None = None) -> list[TaggedSentence]:
        sentences = read_annotated(report.CORPORA / "tagging" / getattr(self, part))
        return [each.tagged(self.column) for each in sentences][:most]

    def tutorial(self) -> str:
        """Return a sentence with the tutorial's figure, if it has one for this kind of task."""
        if self.published is None:
            return ""
        return f" In the tutorial 63 million tokens of newswire take {self.published} % of the errors away."


_EWT = ("ewt/en_ewt-ud-train.conllu", "ewt/en_ewt-ud-dev.conllu")
TASKS = {
    "upos": Data("EWT, universal parts of speech", *_EWT, "upos"),
    "xpos": Data("EWT, Penn parts of speech", *_EWT, "xpos"),
    "chunks": Data("CoNLL-2000, chunks", "conll2000/train.txt", "conll2000/dev.txt", published=29),
    "wnut": Data("WNUT-17, entities", "wnut17/train.conll", "wnut17/dev.conll", published=8),
    "spanish": Data(
        "CoNLL-2002, Spanish entities", "conll2002/esp.train", "conll2002/esp.testa", language="spanish"
    ),
}


class Ours:
    """This package's tagger, `CRFTagger`, as a learner."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self._tagger: Any = None

    def fit(self, sentences: Sequence[TaggedSentence]) -> Ours:
        learner = CRFTagger(**self.settings)
        self._tagger = TaggingTask().train(learner, InMemoryCorpus(list(sentences)), report=silent)
        return self

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        found: list[list[str]] = self._tagger.best_tags(sentences)
        return found


class SpaCy:
    """spaCy's tagger over its small network, with random initial weights, as a learner."""

    def __init__(self, epochs: int = SPACY_EPOCHS) -> None:
        self.epochs = epochs

    def fit(self, sentences: Sequence[TaggedSentence]) -> SpaCy:
        import random

        import spacy
        from spacy.tokens import Doc
        from spacy.training import Example
        from spacy.util import fix_random_seed, minibatch

        fix_random_seed(0)
        self._nlp = spacy.blank("en")
        tagger: Any = self._nlp.add_pipe("tagger")
        vocabulary = self._nlp.vocab
        examples = [
            Example(Doc(vocabulary, words=list(words)), Doc(vocabulary, words=list(words), tags=list(tags)))
            for words, tags in sentences
        ]
        for tag in sorted({tag for _, tags in sentences for tag in tags}):
            tagger.add_label(tag)
        optimizer = self._nlp.initialize(lambda: examples)
        for _ in range(self.epochs):
            random.shuffle(examples)
            for batch in minibatch(examples, 32):
                self._nlp.update(batch, sgd=optimizer)
        return self

    def tag(self, sentences: Sequence[Sequence[str]]) -> list[list[str]]:
        from spacy.tokens import Doc

        documents = (Doc(self._nlp.vocab, words=list(words)) for words in sentences)
        return [[token.tag_ for token in document] for document in self._nlp.pipe(documents)]


@dataclass(frozen=True)
class Learned:
    """Eigenwords trained as by ``--unlabelled``, of lower-cased words and of words as written.

    Attributes:
        folders: folders of both kinds of vectors.
        tokens: number of tokens of the text.
        seconds: training time.
    """

    folders: list[str]
    tokens: int
    seconds: float


def train_vectors(files: Sequence[Path], folder: Path) -> Learned:
    """Train eigenwords of lower-cased words and of words as written, each in a new folder."""
    task, folders, started = VectorsTask(), [], process_time()
    for lowercase, dimensions in ((True, 100), (False, 50)):
        learner = Eigenwords(lowercase=lowercase, dimensions=dimensions)
        vectors = task.train(learner, task.read(files), report=silent)
        folders.append(str(Path(tempfile.mkdtemp(dir=folder)) / "eigenwords"))
        vectors.save(folders[-1])
    learned = Learned(folders, vectors.about["training tokens"], process_time() - started)
    say(f"eigenwords of {learned.tokens:,} tokens: {learned.seconds:.1f} s")
    return learned


def unlabelled(language: str, folder: Path) -> list[Path]:
    """Return files of unlabelled text in a language."""
    if language == "english":
        return sample(report.CORPORA, ALL, folder)
    path = folder / "spanish.txt"
    trees = (
        clean(tree)
        for file in sorted((report.CORPORA / "treebanks" / "cess_esp" / "train").iterdir())
        for tree in read_trees(file, "cess_esp", on_bad=lambda error: None)  # one of 4,861 trees is bad
    )
    sentences = [words for words, _ in TASKS["spanish"].read("train")]
    sentences += [tuple(tree.words()) for tree in trees if tree is not None]
    path.write_text("".join(f"{' '.join(words)}\n" for words in sentences), encoding="utf-8")
    return [path]


@dataclass(frozen=True)
class Measured:
    """Scores of a tagger on dev, with its training and tagging times."""

    scores: TagReport
    training: float
    tagging: float

    @property
    def score(self) -> float:
        return self.scores.accuracy if self.scores.scheme == "tags" else self.scores.f1

    def reduction(self, other: Measured) -> str:
        """Return by how many percent this tagger reduces the errors of another."""
        return f"{100 * (self.score - other.score) / (100 - other.score):.1f}"

    @property
    def speed(self) -> str:
        return f"{self.scores.to_flat_dict()['words'] / self.tagging:,.0f}"  # type: ignore[operator]


def measure(
    name: str, learner: Learner, train: Sequence[TaggedSentence], gold: Sequence[TaggedSentence]
) -> Measured:
    """Train a tagger, tag dev, and score the tags.

    Args:
        name: name of the tagger.
        learner: the tagger.
        train, gold: training and dev sentences.
    """
    started = process_time()
    learner.fit(train)
    learned = process_time()
    words = [words for words, _ in gold]
    learner.tag([words[0][:1]])  # loads the kernels from disk
    begun = process_time()
    found = learner.tag(words)
    seconds = process_time() - begun
    tags = {tag for _, tags in train for tag in tags}
    known = {word for words, _ in train for word in words}
    scores = score_tags(gold, found, known=known, labels=tags, scheme=scheme_of(tags))
    measured = Measured(scores, learned - started, seconds)
    say(f"{name}: {measured.score:.2f} ({scores.accuracy_unknown:.1f}), {measured.training:.1f} s")
    return measured


def ladder(learned: Learned) -> list[tuple[str, Ours]]:
    """Return (name, tagger) for this package's tagger without and with unlabelled text."""
    return [("`tagger`", Ours()), ("… `--unlabelled`", Ours(eigenwords=learned.folders))]


def warm_up(learned: Learned) -> None:
    """Compile or load the kernels before any model is timed."""
    few = [(("a", "b"), ("X", "Y"))] * 3
    for _, learner in ladder(learned):
        learner.fit(few).tag([("a",)])


def tasks(names: Sequence[str], most: int | None, folder: Path) -> None:
    """Print a table of taggers for each task.

    Args:
        names: names of the tasks.
        most: maximum number of training sentences; None for all.
        folder: folder for word vectors.
    """
    by_language: dict[str, Learned] = {}
    for name in names:
        data = TASKS[name]
        if data.language not in by_language:
            by_language[data.language] = train_vectors(unlabelled(data.language, folder), folder)
        learned = by_language[data.language]
        warm_up(learned)
        train, gold = data.read("train", most), data.read("dev")
        learners: list[tuple[str, Learner]] = [("CRFsuite", CRFsuite()), *ladder(learned)]
        rows, peer = [], None
        for row, learner in learners:
            found = measure(f"{name}, {row}", learner, train, gold)
            peer = peer or found
            rows.append(
                [
                    row,
                    f"{found.score:.2f}",
                    f"{found.scores.accuracy_unknown:.1f}",
                    None if found is peer else found.reduction(peer),
                    f"{found.training:.1f}",
                    found.speed,
                ]
            )
        what = "accuracy" if found.scores.scheme == "tags" else "F1"
        header = ("", what, "unknown words", "% of errors gone", "training s", "words/s")
        print(f"\n### {data.title}\n")
        print(f"{learned.tokens:,} tokens of text, learned in {learned.seconds:.1f} s.{data.tutorial()}\n")
        print(report.table(header, rows), flush=True)


def speed(most: int | None, folder: Path, *, spacy: bool) -> None:
    """Print times of training on EWT's universal tags, and of tagging 5,000 English sentences."""
    learned = train_vectors(sample(report.CORPORA, 10, folder), folder)
    vectors = spectralnlp.load(learned.folders[0])
    warm_up(learned)
    with gzip.open(report.CORPORA / ENGLISH, "rt", encoding="utf-8") as file:
        text = [line.split() for number, line in enumerate(file) if number % 80 == 0][:5000]
    train, gold = TASKS["upos"].read("train", most), TASKS["upos"].read("dev")
    learners: list[tuple[str, Learner]] = [
        ("CRFsuite", CRFsuite()),
        ("CRFsuite and eigenwords", CRFsuite(vectors)),
        *ladder(learned),
    ]
    if spacy:
        learners.append((f"spaCy's tagger, {SPACY_EPOCHS} epochs", SpaCy()))
    rows, peer = [], None
    for name, learner in learners:
        found = measure(name, learner, train, gold)
        begun = process_time()
        learner.tag(text)
        words = sum(map(len, text)) / (process_time() - begun)
        peer = peer or (found.training, words)
        rows.append(
            [
                name,
                f"{found.score:.2f}",
                f"{found.training:.1f}",
                f"{peer[0] / found.training:.1f}",
                f"{words:,.0f}",
                f"{words / peer[1]:.1f}",
            ]
        )
    header = ("", "accuracy", "training s", "× CRFsuite", "words/s", "× CRFsuite")
    print(report.table(header, rows), flush=True)


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Run the parts of the benchmark that the command line names, and print their tables."""
    parser = report.argument_parser(__doc__)
    parser.add_argument("table", choices=("tasks", "speed"))
    parser.add_argument("--task", action="append", choices=TASKS, help="of tasks; repeatable")
    parser.add_argument("--sentences", type=int, metavar="N", help="learn from so many only")
    parser.add_argument("--spacy", action="store_true", help="of speed: train spaCy's tagger, for minutes")
    arguments = parser.parse_args()
    print(f"{report.machine()} One thread.\n", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if arguments.table == "tasks":
            tasks(arguments.task or list(TASKS), arguments.sentences, folder)
        else:
            speed(arguments.sentences, folder, spacy=arguments.spacy)


if __name__ == "__main__":
    main()
