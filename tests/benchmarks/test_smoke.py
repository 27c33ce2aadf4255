"""Each benchmark runs on tiny corpora, made of our own texts in the formats and places of the real ones."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from itertools import cycle, islice
from pathlib import Path

import pytest

from spectralnlp.trees import Tree, read_trees

pytestmark = pytest.mark.slow

REPOSITORY = Path(__file__).parents[2]
INTENTS = ("atis", "banking77", "clinc150", "hwu64", "snips")
TREEBANKS = ("wsj", "gum", "craft")
# The shortest command of each benchmark, with the packages that it compares with.
RUNS: dict[str, tuple[str, ...]] = {
    "adapt craft --general 40 --dev 10 --sizes 10 --own 10": (),
    "audit --errors 5 --seeds 1": (),
    "cca pairs": (),
    "changes eigenwords": (),
    "comparison --treebank gum": (),
    "constraints --lengths 10": (),
    "costs hmm": (),
    "dcot figures --figures layers --out {out}": ("matplotlib",),
    "dependencies gold --short": (),
    "eigenwords variants --setting dimensions=10": ("pycrfsuite",),
    "explain --estimator pcfg --brackets 1": (),
    "folds run {out}/folds.jsonl --treebank wsj --setting pcfg --folds 2 --only-folds 1": (),
    "genres": (),
    "hmm tags --no-peers": (),
    "intents few --seeds 1": (),
    "languages --treebank wsj --setting pcfg": (),
    "leverage figures --out {out}": ("matplotlib",),
    "measures speed --trees 10": (),
    "parsing --treebank wsj --setting pcfg --nltk-seconds 1": (),
    "rare_words 0 1 --runs 1": (),
    "recovery --sizes 100,1000 --seeds 1 --plot {out}/recovery.svg": ("matplotlib",),
    "rhmm upos --no-peers --setting n_states=2": (),
    "scale memory --megabytes 1 --only-limited --where {out}": (),
    "search craft": (),
    "segmentation --treebank keyaki": (),
    "sketches parts --rows 500 --repeats 1 --out {out}": (),
    "spacy_components textcat --no-peer": ("spacy",),
    "speed en {corpora}/treebanks/wsj/dev --lengths 40": (),
    "stages en {corpora}/treebanks/wsj/dev": (),
    "startup --repeat 1 --checks": (),
    "tagger_folds --task upos --row field": (),
    "taggers tasks --task upos": ("pycrfsuite",),
    "tmpca time": (),
    "topics reuters": (),
    "training_order table-5 --seeds 2 --epochs 1": (),
    "updates ewt --updates 2": (),
}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")


def conllu(trees: list[Tree]) -> str:
    """The trees' dependencies by our own conversion, a document of ten sentences after another."""
    from spectralnlp_trees.dependencies import to_dependencies

    blocks = []
    for number, tree in enumerate(trees):
        found = to_dependencies(tree)
        columns = zip(
            found.words, found.universal_tags, found.tags, found.heads, found.relations, strict=True
        )
        lines = [f"# newdoc id = {number // 10}"] * (number % 10 == 0) + [f"# sent_id = {number}"]
        for place, (word, upos, tag, head, relation) in enumerate(columns, 1):
            lines.append(f"{place}\t{word}\t_\t{upos}\t{tag}\t_\t{head + 1}\t{relation}\t_\t_")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks) + "\n\n"


@pytest.fixture(scope="module")
def small(own_corpora: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with corpora in the places of the real ones, which are not in the repository."""
    root = tmp_path_factory.mktemp("shared") / "corpora"
    texts: list[str] = []
    for part in ("train", "dev"):
        trees = list(read_trees(own_corpora / "treebank" / f"{part}.mrg"))
        texts += [" ".join(tree.words()) for tree in trees]
        for number in range(4):
            some, name = trees[number::4], f"GUM_{('news', 'fiction')[number % 2]}_{number}"
            for treebank in TREEBANKS:
                write(root / "treebanks" / treebank / part / f"{name}.ptb", "\n".join(map(str, some)))
            write(root / "treebanks" / "gum_dependencies" / part / f"{name}.conllu", conllu(some))
        write(root / "tagging" / "ewt" / f"en_ewt-ud-{part}.conllu", conllu(trees))
        for kind in ("tags", "words"):
            lines = [" ".join(tree.tags() if kind == "tags" else tree.words()) for tree in trees]
            write(root / "tagging" / "brown" / f"{kind}.{part}.txt", "\n".join(lines) + "\n")
        japanese = (own_corpora / "formats" / "japanese.psd").read_text(encoding="utf-8")
        write(root / "treebanks" / "keyaki" / part / "a.psd", japanese)
        intents = (own_corpora / "intents" / f"{part}.tsv").read_text(encoding="utf-8")
        for name in INTENTS:
            write(root / "intents" / name / f"{part}.tsv", intents)
        for name in ("r52", "sentence_polarity", "sms_spam", "trec"):
            write(root / "textcat" / name / f"{part}.tsv", intents)
        write(root / "textcat" / "imdb" / f"{part}.tsv.gz", intents)
        signs = [f"({sign} ({sign} {text}))" for sign, text in zip(cycle("024"), texts[-100:], strict=False)]
        write(root / "textcat" / "sst" / f"{part}.txt", "\n".join(signs))
    write(root / "intents" / "clinc150" / "oos_dev.tsv", "".join(f"oos\t{text}\n" for text in texts[:20]))
    lines = "".join(f"{text}\n" for text in islice(cycle(texts), 24_000))
    for name in ("english_10m", "english_modern", "english_open", "imdb_unsup"):
        write(root / "text" / f"{name}.txt.gz", lines)
    stories = [
        {"id": n, "topics": ["sea"], "title": title, "body": " ".join(texts[n : n + 5])}
        for n, title in enumerate(texts)
    ]
    for name in ("train", "unlabelled"):
        told = "".join(f"{json.dumps(each)}\n" for each in stories)
        write(root / "textcat" / f"reuters21578.{name}.jsonl.gz", told)
    return root.parent


@pytest.mark.parametrize("command", RUNS)
def test_run(command: str, small: Path, tmp_path: Path) -> None:
    for package in RUNS[command]:
        pytest.importorskip(package)
    words = command.format(out=tmp_path, corpora=small / "corpora").split()
    done = subprocess.run(
        [sys.executable, "-m", f"benchmarks.{words[0]}", *words[1:]],
        cwd=REPOSITORY,
        env={**os.environ, "SPECTRALNLP_SHARED": str(small)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert "Traceback" not in done.stderr


def test_each_benchmark_runs() -> None:
    helpers = {"experiment", "fuzz", "labelled", "peers", "pins", "report", "stamps", "tagging", "walk"}
    helpers |= {"true_hmm", "true_lpcfg"}
    of_pages = {"docstrings", "readme", "reference", "site", "site_links", "site_types", "sizes"}
    parts = {"intents_ablation", "intents_long", "intents_small", "sketches_pca"}
    tested_elsewhere = {"annotation", "ladder", "learning_curve", "reliability", "states"}
    there = {path.stem for path in (REPOSITORY / "benchmarks").glob("[a-z]*.py")}
    assert there - helpers - of_pages - parts - tested_elsewhere == {command.split()[0] for command in RUNS}
