"""Compare our spaCy components with the core classes that they wrap, and with spaCy's own components.

- ``parser``: WSJ dev, gold tokens; F1 and speed of the core's parser and of ``spectral_parser``, in turn.
- ``tagger``: EWT; ``spacy train`` of two taggers (UPOS and XPOS), and the core's estimator.
- ``textcat``: CLINC150 and Banking77; ``spacy train``, the plugin's estimator, and spaCy's bag of words.
- ``memory``: memory of a process with a pipeline of all three components.

Times are CPU seconds on one thread, because the machine may be shared.

    python -m benchmarks.spacy_components
    python -m benchmarks.spacy_components parser memory
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from time import process_time
from typing import Any

WSJ = report.CORPORA / "treebanks" / "wsj"
EWT = report.CORPORA / "tagging" / "ewt"
INTENTS = report.CORPORA / "intents"
TURNS = 5
BEST = Path("out") / "model-best"
TRAINING = """
[training]
seed = 0
gpu_allocator = null
{training}
[corpora]

[corpora.train]
@readers = "{reader}"
path = "train.spacy"

[corpora.dev]
@readers = "{reader}"
path = "dev.spacy"
"""
ONCE = "max_steps = 1\neval_frequency = 1000\n"


def run(*command: str, cwd: Path) -> float:
    """Run a command of this Python environment in a folder, and return its CPU seconds."""
    program, *arguments = command
    before = os.times()
    done = subprocess.run(
        [str(Path(sys.executable).with_name(program)), *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def convert(train: Path, dev: Path, folder: Path) -> None:
    for name, path in (("train", train), ("dev", dev)):
        run("spectralnlp", "convert", str(path), "-o", f"{name}.spacy", cwd=folder)


def spacy_train(folder: Path, config: str, out: str = "out") -> tuple[float, dict[str, Any]]:
    """Run ``spacy train``, and return its CPU seconds and the scores of the best model.

    Args:
        folder: folder of the data.
        config: text of the config.
        out: name of the output folder.
    """
    (folder / "config.cfg").write_text(config)
    seconds = run("spacy", "train", "config.cfg", "-o", out, cwd=folder)
    meta = json.loads((folder / out / "model-best" / "meta.json").read_text())
    return seconds, meta["performance"]


# ---------------------------------------------------------------------------------------------------------


def in_turns(core: Any, nlp: Any, dev: list[Any]) -> tuple[list[float], list[float], list[Any]]:
    """Parse gold tokens in turn with spectralnlp's parser and with the spaCy pipeline.

    Args:
        core: the parser.
        nlp: the pipeline.
        dev: gold trees.

    Returns:
        CPU seconds of each run of the parser and of the pipeline, and the pipeline's documents.
    """
    from spacy.tokens import Doc

    from spectralnlp.tasks.parsing import gold_sentence

    theirs, ours, docs = [], [], []
    for _ in range(TURNS):
        started = process_time()
        for _ in core.parse_many(gold_sentence(tree, core.conventions) for tree in dev):
            pass
        theirs.append(process_time() - started)
        words = [tree.words() for tree in dev]
        docs = [Doc(nlp.vocab, words=w, sent_starts=[i == 0 for i in range(len(w))]) for w in words]
        started = process_time()
        docs = list(nlp.pipe(docs))
        ours.append(process_time() - started)
    return theirs, ours, docs


def parser_table() -> str:
    import spacy
    from spectralnlp_spacy.constituents import tree_of

    import spectralnlp
    from spectralnlp import registry
    from spectralnlp.runtime import InMemoryCorpus
    from spectralnlp.scoring import score_trees
    from spectralnlp.trees import add_root

    task = registry.tasks.get("parsing")()
    dev = list(task.read([WSJ / "dev"]))
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for settings in ({"preset": "fast"}, {}):
            name = "lpcfg" + "".join(f":{key}={value}" for key, value in settings.items())
            learner = registry.estimators.get("lpcfg").from_settings(settings)
            where = Path(folder) / name
            task.train(learner, task.read([WSJ / "train"])).save(where)
            core = spectralnlp.load(where)
            nlp = spacy.blank("en")
            nlp.add_pipe("spectral_parser", config={"model": str(where)}).ready()
            score = task.evaluate(core, InMemoryCorpus(dev)).overall.f1  # warms up, too
            theirs, ours, docs = in_turns(core, nlp, dev)
            trees = [add_root(tree_of(doc, "constituents", 0, len(doc))) for doc in docs]
            f1 = score_trees(map(add_root, dev), trees).overall.f1
            ratio = statistics.median(a / b for a, b in zip(theirs, ours, strict=True))
            core_speed, speed = (len(dev) / statistics.median(times) for times in (theirs, ours))
            rows.append([f"`{name}`, core", f"{score:.4f}", f"{core_speed:.1f}", "1.00"])
            rows.append([f"`{name}`, `spectral_parser`", f"{f1:.4f}", f"{speed:.1f}", f"{ratio:.2f}"])
    return report.table(("WSJ dev, gold tokens", "F1", "sentences/CPU s", "of the core's speed"), rows)


# ---------------------------------------------------------------------------------------------------------

TAGGERS = """
[nlp]
lang = "en"
pipeline = ["pos", "tag"]

[components]

[components.pos]
factory = "spectral_tagger"
attribute = "pos"

[components.tag]
factory = "spectral_tagger"
attribute = "tag"
"""


def tagger_table(keep: Path | None = None) -> str:
    from spectralnlp import registry

    train, dev = (EWT / f"en_ewt-ud-{part}.conllu" for part in ("train", "dev"))
    task = registry.tasks.get("tagging")()
    rows = []
    for column in ("upos", "xpos"):
        started = process_time()
        model = task.train(registry.estimators.get("tagger")(column=column), task.read([train]))
        seconds = process_time() - started
        accuracy = task.evaluate(model, task.read([dev])).to_flat_dict()["accuracy"]
        cells = [f"{accuracy:.4f}", None] if column == "upos" else [None, f"{accuracy:.4f}"]
        rows.append([f"core, {column}", *cells, f"{seconds:.0f}"])
    with tempfile.TemporaryDirectory() as folder:
        where = keep or Path(folder)
        convert(train, dev, where)
        config = TAGGERS + TRAINING.format(training=ONCE, reader="spectralnlp.GoldTokens.v1")
        seconds, scores = spacy_train(where, config)
    both = [f"{100 * scores[name]:.4f}" for name in ("pos_acc", "tag_acc")]
    rows.append(["`spacy train`, both", *both, f"{seconds:.0f}"])
    return report.table(("EWT dev", "UPOS", "XPOS", "CPU s of training"), rows)


# ---------------------------------------------------------------------------------------------------------

TEXTCAT = """
[nlp]
lang = "en"
pipeline = ["spectral_textcat"]

[components]

[components.spectral_textcat]
factory = "spectral_textcat"
"""
BOW = """
[nlp]
lang = "en"
pipeline = ["textcat"]

[components]

[components.textcat]
factory = "textcat"

[components.textcat.model]
@architectures = "spacy.TextCatBOW.v3"
exclusive_classes = true
length = 262144
ngram_size = 1
no_output_layer = false
"""


def textcat_table(keep: Path | None = None, *, peer: bool = True) -> str:
    from spectralnlp import registry

    task = registry.tasks.get("intents")()
    rows = []
    for data in ("clinc150", "banking77"):
        train, dev = (INTENTS / data / f"{part}.tsv" for part in ("train", "dev"))
        started = process_time()
        model = task.train(registry.estimators.get("intent")(), task.read([train]))
        seconds = process_time() - started
        accuracy = float(task.evaluate(model, task.read([dev])).to_flat_dict()["accuracy"])
        rows.append([f"{data}: `intent`, the plugin alone", f"{accuracy:.4f}", f"{seconds:.0f}"])
        with tempfile.TemporaryDirectory() as folder:
            where = keep if keep is not None and data == "clinc150" else Path(folder)
            convert(train, dev, where)
            config = TEXTCAT + TRAINING.format(training=ONCE, reader="spacy.Corpus.v1")
            seconds, scores = spacy_train(where, config)
            rows.append(
                [f"{data}: `spectral_textcat`", f"{100 * scores['cats_micro_f']:.4f}", f"{seconds:.0f}"]
            )
            if peer:
                config = BOW + TRAINING.format(training="", reader="spacy.Corpus.v1")
                seconds, scores = spacy_train(where, config, "peer")
                micro = 100 * scores["cats_micro_f"]
                rows.append([f"{data}: spaCy's `TextCatBOW.v3`", f"{micro:.4f}", f"{seconds:.0f}"])
    return report.table(("dev", "accuracy", "CPU s of training"), rows)


# ---------------------------------------------------------------------------------------------------------

MEMORY = """
import sys, warnings
warnings.simplefilter("ignore")
from benchmarks import report
import spacy
nlp = spacy.load(sys.argv[1])
text = open(sys.argv[2], encoding="utf-8").read()
for doc in nlp.pipe([text, *text.split("\\n\\n")]):
    assert doc.spans["constituents"] and doc[0].tag_ and doc.cats
print(report.peak_megabytes())
"""


def memory_table(taggers: Path, textcat: Path) -> str:
    import spacy

    root = Path(__file__).parent.parent
    text = root / "corpora" / "text" / "lighthouse.txt"
    nlp = spacy.blank("en")
    models = {
        "parser": "en",
        "tagger": f"{taggers}/tag/model",
        "textcat": f"{textcat}/spectral_textcat/model",
    }
    for name, model in models.items():
        nlp.add_pipe(f"spectral_{name}", config={"model": model})
    with tempfile.TemporaryDirectory() as folder:
        nlp.to_disk(folder)
        command = [sys.executable, "-c", MEMORY, folder, str(text)]
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    name = "`en`, tags of EWT, intents of CLINC150"
    return report.table(("a pipeline with all three", "MB at most"), [[name, f"{float(done.stdout):.0f}"]])


def main(arguments: Sequence[str] | None = None) -> None:
    options = report.argument_parser(__doc__)
    tables = ("parser", "tagger", "textcat", "memory")
    options.add_argument("tables", nargs="*", choices=[*tables, []], help="which tables; all by default")
    options.add_argument("--no-peer", action="store_true", help="leave spaCy's own components out")
    given = options.parse_args(arguments)
    wanted = given.tables or tables
    print(report.machine(), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        taggers, textcat = Path(folder) / "taggers", Path(folder) / "textcat"
        taggers.mkdir()
        textcat.mkdir()
        if "parser" in wanted:
            print(f"\n{parser_table()}", flush=True)
        if "tagger" in wanted or "memory" in wanted:
            print(f"\n{tagger_table(taggers)}", flush=True)
        if "textcat" in wanted or "memory" in wanted:
            print(f"\n{textcat_table(textcat, peer=not given.no_peer)}", flush=True)
        if "memory" in wanted:
            print(f"\n{memory_table(taggers / BEST, textcat / BEST)}", flush=True)


if __name__ == "__main__":
    main()
