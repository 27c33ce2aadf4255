"""Compare refinement hidden Markov models: accuracy on EWT's dev set, on all and on unknown words.

The rows are TnT (nltk), the supervised bigram HMM (one refinement per tag), spectral tensors, clusters and EM
with increasing numbers of refinements, and `tagger`, a conditional random field, without vectors. Times are
CPU seconds on one thread.

    python -m benchmarks.rhmm
    python -m benchmarks.rhmm xpos --no-peers
    python -m benchmarks.rhmm upos --setting models=tensors,n_states=48
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

from collections import Counter
from collections.abc import Callable, Sequence
from time import process_time

from benchmarks.taggers import Ours
from spectralnlp.estimators.rhmm import RefinementHMM
from spectralnlp.models.rhmm_tagger import RefinementTagger
from spectralnlp.text.conll import read_annotated

EWT = report.CORPORA / "tagging" / "ewt"
COLUMNS = ("upos", "xpos")

Sentences = list[tuple[Sequence[str], Sequence[str]]]
Tag = Callable[[Sequence[Sequence[str]]], list[list[str]]]

LADDER: Sequence[tuple[str, str]] = (
    ("supervised bigram HMM: 1 refinement", "n_states=1"),
    ("tensors, 2 refinements", "n_states=2"),
    ("… 4", "n_states=4"),
    ("… 8", "n_states=8"),
    ("… 16", "n_states=16"),
    ("… 24", "n_states=24"),
    ("… 32: `rhmm`", "n_states=32"),
    ("clusters, 16 refinements", "models=clusters,n_clusters=16"),
    ("… 32", "models=clusters,n_clusters=32"),
    ("EM, 16 refinements, 20 iterations", "models=em,n_clusters=16"),
    ("… 40", "models=em,n_clusters=16,em_iterations=40"),
    ("tensors and two of clusters, 32", "models=tensors+clusters+clusters"),
    ("`rhmm:preset=tutorial`: no shrinkage, no bound, 8", "preset=tutorial"),
    ("`rhmm` without a beam, exact", "beam=0"),
)


def read(part: str, column: str) -> Sentences:
    path = EWT / f"en_ewt-ud-{part}.conllu"
    return [sentence.tagged(column) for sentence in read_annotated(path)]


def row(name: str, train: Sentences, dev: Sentences, learn: Callable[[Sentences], Tag]) -> list[object]:
    """Train a tagger, tag dev, and return the table row with scores and costs.

    Args:
        name: name of the row.
        train, dev: tagged sentences.
        learn: function that trains and returns a function that tags.
    """
    started = process_time()
    tag = learn(train)
    learned = process_time()
    words = [words for words, _ in dev]
    tag(words[:1])
    warm = process_time()
    tagged = tag(words)
    seconds = process_time() - warm
    known = {word for words, _ in train for word in words}
    counts: Counter[tuple[bool, bool]] = Counter()
    for (words_of, gold), own in zip(dev, tagged, strict=True):
        counts.update((word in known, a == b) for word, a, b in zip(words_of, gold, own, strict=True))
    unknown = counts[False, True] + counts[False, False]
    right = counts[True, True] + counts[False, True]
    return [
        name,
        f"{100 * right / counts.total():.2f}",
        f"{100 * counts[False, True] / max(unknown, 1):.1f}",
        f"{learned - started:.1f}",
        f"{counts.total() / seconds:,.0f}",
    ]


def refinement_hmm(setting: str) -> Callable[[Sentences], Tag]:
    settings = dict(each.split("=", 1) for each in setting.split(",") if each)

    def learn(train: Sentences) -> Tag:
        fitted = RefinementHMM.from_settings(settings).fit(train)
        return RefinementTagger(fitted.coarse_, fitted.models_, fitted.beam).best_tags

    return learn


def tnt(*, capitals: bool) -> Callable[[Sentences], Tag]:
    """Return a function that trains nltk's TnT with its own suffix model for unknown words.

    Args:
        capitals: distinguish capitalised words, as in Brants (2000), section 2.4.
    """
    from nltk.tag.tnt import TnT

    def learn(train: Sentences) -> Tag:
        tagger = TnT(C=capitals)
        tagger.train([list(zip(words, tags, strict=True)) for words, tags in train])
        return lambda sentences: [[tag for _, tag in tagger.tag(list(words))] for words in sentences]

    return learn


def random_field(train: Sentences) -> Tag:
    return Ours().fit(train).tag


def table(column: str, ladder: Sequence[tuple[str, str]], *, peers: bool) -> str:
    train, dev = read("train", column), read("dev", column)
    rows = []
    if peers:
        rows.append(row("TnT (nltk)", train, dev, tnt(capitals=False)))
        rows.append(row("… capitals told apart", train, dev, tnt(capitals=True)))
    rows += [row(name, train, dev, refinement_hmm(setting)) for name, setting in ladder]
    rows.append(row("`tagger`, without vectors", train, dev, random_field))
    return report.table(("model", "accuracy", "unknown words", "training s", "words/s"), rows)


def warm_up() -> None:
    """Compile or load the kernels before any model is timed."""
    train: Sentences = [(("the", "dog", "barks"), ("DET", "NOUN", "VERB"))] * 30
    for setting in ("", "models=clusters", "models=em"):
        refinement_hmm(setting)(train)([("a", "dog")])
    random_field(train)([("a", "dog")])


def main() -> None:
    """Run the benchmark with the arguments of the command line, and print its tables."""
    parser = report.argument_parser(__doc__)
    parser.add_argument("columns", nargs="*", metavar="COLUMN", help="upos, xpos; default both")
    parser.add_argument("--no-peers", action="store_true", help="leave TnT out")
    parser.add_argument("--setting", action="append", help="key=value,… of rhmm, instead of the ladder")
    arguments = parser.parse_args()
    print(report.machine())
    warm_up()
    ladder = LADDER if arguments.setting is None else [(f"`rhmm:{each}`", each) for each in arguments.setting]
    for column in arguments.columns or COLUMNS:
        print(f"\n### EWT {column.upper()}\n\n{table(column, ladder, peers=not arguments.no_peers)}")


if __name__ == "__main__":
    main()
