"""Measure the annotation tool: corrections needed in a new domain, response time, and data lost in a crash.

``simulate`` simulates an annotator who knows the gold trees of a new domain. A parser trained on a general
treebank parses a sentence; the annotator corrects the tags, then one bracket at a time (missing brackets
first, then spurious ones), and the sentence is parsed again under all corrections until the tree is right.
The parser is retrained repeatedly on the general treebank and the accepted trees. Sentences are chosen in
text order, at random, or by expected gain (`spectralnlp_annotate.ordering`). The table shows the number of
corrected brackets until F1 on dev reaches 95 % of that of a parser trained on all sentences.

``learn`` measures how long the training process takes to turn accepted trees into a model, first for all
trees, then for five more. ``page`` measures the time from a key press to the new tree in Chromium, for
sentences of 25 to 35 words. ``kill`` stops the server with SIGKILL at fifty moments during annotation and
counts the accepted trees that were lost.

    python -m benchmarks.annotation simulate --general gum --domain craft
    python -m benchmarks.annotation page kill
"""

from __future__ import annotations

from benchmarks import report  # first: it sets the number of threads  # isort: skip

import argparse
import http.client
import itertools
import json
import random
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from time import perf_counter, process_time, sleep
from typing import Any

from scipy.optimize import isotonic_regression
from spectralnlp_annotate.learner import Learner, known_words
from spectralnlp_annotate.ordering import Place, expected_gains, next_place

import spectralnlp
from benchmarks import peers
from spectralnlp import Parser, Tree
from spectralnlp.errors import SpectralError
from spectralnlp.runtime import InMemoryCorpus

SHARE = 0.95
# Numbers of accepted sentences after which the parser is retrained.
ROUNDS = (10, 20, 40, 60, 90, 120, 160, 200, 250, 300, 400, 500, 600)
# Number of parsers of all sentences whose mean F1 is the target.
FULL_RUNS = 3
LONGEST = 60
# Number of neighbouring sentences that are sampled as a block.
BLOCK = 100
WAYS = ("file", "random", "gain")
SETTINGS: dict[str, Any] = {"preset": "fast", "span_scorer": False, "sentence_ends": False}


def learned(general: Sequence[Tree], accepted: Sequence[Tree], random_state: int = 0) -> Parser:
    """Train a parser on trees of the general treebank and on the trees that the annotator accepted."""
    corpus = InMemoryCorpus([*general, *accepted])
    parser = spectralnlp.train("lpcfg", corpus, random_state=random_state, **SETTINGS)
    assert isinstance(parser, Parser)
    return parser


def corrections(parser: Parser, gold: Tree) -> tuple[int, int]:
    """Return the numbers of tags and of brackets to correct until the parser's tree is the gold tree."""
    tags = dict(enumerate(gold.tags()))
    wanted = [(start, end, label) for label, start, end in gold.spans()]
    first = parser.parse_tokens(gold.words()).tree
    n_tags = sum(tag != other for tag, other in zip(gold.tags(), first.tags(), strict=True))
    brackets: list[tuple[int, int, str]] = []
    forbidden: list[tuple[int, int, str]] = []
    for n in range(2 * len(wanted) + 20):
        try:
            tree = parser.parse_tokens(gold.words(), tags, brackets=brackets, forbidden=forbidden).tree
        except SpectralError:  # the constraints cannot be met: the remaining brackets are added by hand
            return n_tags, n + len(set(wanted) - set(brackets))
        found = [(start, end, label) for label, start, end in tree.spans()[1:]]
        missing = [each for each in wanted if each not in found and each[2] != "TOP"]
        surplus = [each for each in found if each not in wanted]
        if missing:
            brackets.append(missing[0])
        elif surplus:
            forbidden.append(surplus[0])
        else:
            return n_tags, n
    return n_tags, n


def curve(
    way: str,
    general: Sequence[Tree],
    pool: Sequence[Tree],
    dev: Sequence[Tree],
    first: Parser,
    seed: int,
    target: float,
) -> list[tuple[int, int, int, float]]:
    """Simulate annotation in rounds until the dev F1 of two rounds reaches the target.

    Args:
        way: order in which sentences are chosen.
        general: trees of the general treebank.
        pool: trees to annotate.
        dev: trees to score on.
        first: parser before any annotation.
        seed: seed of the order.
        target: F1 in percent.

    Returns:
        For each round: numbers of accepted sentences, corrected tags and corrected brackets, and dev F1.
    """
    places: list[Place] = [(0, number) for number in range(len(pool))]
    shuffled = random.Random(seed).sample(places, len(places))
    parser, accepted = first, list[Place]()
    n_tags = n_brackets = 0
    points = [(0, 0, 0, f1_of(parser, dev))]
    for size in ROUNDS:
        if size > len(pool) or min(point[3] for point in points[-2:]) >= target:
            break
        gains: dict[Place, float] = {}
        if way == "gain":
            rest = [place for place in places if place not in set(accepted)]
            texts = [pool[number].words() for _, number in rest]
            known = known_words(parser) | {word.lower() for _, n in accepted for word in pool[n].words()}
            found = expected_gains(list(parser.parse_many(texts)), texts, known)
            gains = dict(zip(rest, found, strict=True))
        for _ in range(size - len(accepted)):
            order = shuffled if way == "random" else places
            place = next_place(order, accepted, gains, None) if way != "random" else shuffled[len(accepted)]
            assert place is not None
            accepted.append(place)
            tags, brackets = corrections(parser, pool[place[1]])
            n_tags, n_brackets = n_tags + tags, n_brackets + brackets
        parser = learned(general, [pool[number] for _, number in accepted])
        points.append((size, n_tags, n_brackets, f1_of(parser, dev)))
        print(f"{way} {seed}: {points[-1]}", file=sys.stderr, flush=True)
    return points


def f1_of(parser: Parser, dev: Sequence[Tree]) -> float:
    """Return a parser's F1 on dev trees, in percent."""
    scored: Any = spectralnlp.evaluate(parser, InMemoryCorpus(dev))
    return float(scored.overall.f1)


def rising(values: Sequence[float]) -> list[float]:
    """Return the non-decreasing sequence nearest to some values by least squares (isotonic regression)."""
    return [float(value) for value in isotonic_regression(values).x]


def reached(points: Sequence[tuple[int, int, int, float]], target: float) -> tuple[float, float] | None:
    """Return how many sentences and corrected brackets a learning curve needs to reach a score, or None.

    F1 varies randomly between trainings, so the score is looked up on the nearest non-decreasing curve,
    interpolated linearly between rounds.
    """
    smooth = [(*each[:3], f1) for each, f1 in zip(points, rising([each[3] for each in points]), strict=True)]
    for before, after in itertools.pairwise(smooth):
        if after[3] >= target:
            share = (target - before[3]) / (after[3] - before[3]) if before[3] < target else 0.0
            return before[0] + share * (after[0] - before[0]), before[2] + share * (after[2] - before[2])
    return None


def simulate(options: argparse.Namespace) -> None:
    """Print the corrections needed to reach the target, for each order of sentences and seed."""
    folder = options.corpora / "treebanks"
    general = (
        trees_of(folder / options.general / "train", options.general_trees, 0) if options.general else []
    )
    dev = trees_of(folder / options.domain / "dev", options.dev_trees, 0)
    rows = []
    for seed in range(options.seeds):
        pool = trees_of(folder / options.domain / "train", options.pool, seed)
        first = learned(general or pool[:10], [])
        full = mean(f1_of(learned(general, pool, n), dev) for n in range(FULL_RUNS))
        target = SHARE * full
        for way in options.ways:
            points = curve(way, general, pool, dev, first, seed, target)
            found = reached(points, target)
            sentences, brackets = found if found is not None else (None, None)
            rows.append((way, seed, points[0][3], full, target, points[-1][3], sentences, brackets))
    header = (
        "order",
        "seed",
        "F1 at first",
        "with all",
        "target",
        "in the end",
        "sentences",
        "brackets corrected",
    )
    print(report.table(header, [[_shown(cell) for cell in row] for row in rows]), end="\n\n")


def _shown(cell: object) -> object:
    return f"{cell:.1f}" if isinstance(cell, float) else cell


def trees_of(folder: Path, n: int, seed: int) -> list[Tree]:
    """Draw ``n`` trees of a treebank folder, as random blocks of neighbouring trees."""
    blocks: list[list[Tree]] = []
    for file in sorted(path for path in folder.rglob("*") if path.is_file()):
        trees = [tree for tree in peers.treebank(file) if len(tree.words()) <= LONGEST]
        blocks += [trees[start : start + BLOCK] for start in range(0, len(trees), BLOCK)]
    random.Random(seed).shuffle(blocks)
    return [tree for block in blocks for tree in block][:n]


def learn(options: argparse.Namespace) -> None:
    """Print the time from accepted trees to a saved model that is trained on them."""
    folder = options.corpora / "treebanks" / options.domain / "train"
    pool = [str(tree) for tree in trees_of(folder, options.accepted + 10, 0)]
    learner, rows = Learner(), []
    for n_more in (0, 5, 10):
        with TemporaryDirectory() as model:
            trees = pool[: len(pool) - 10 + n_more]
            request = {"base": "en", "trees": trees, "learned": f"{model}/model", "open": []}
            cpu, wall = process_time(), perf_counter()
            learner.answer({**request, "in_full": False})
            row = (len(trees), process_time() - cpu, perf_counter() - wall)
        rows.append([_shown(cell) for cell in row])
    print(report.table(("accepted", "CPU s", "wall s"), rows), end="\n\n")


def page(options: argparse.Namespace) -> None:
    """Print how long the browser takes from a key press to the new tree."""
    from selenium import webdriver
    from selenium.webdriver import ActionChains, Keys

    dev = trees_of(options.corpora / "treebanks" / "gum" / "dev", 1000, 0)
    lines = [" ".join(tree.words()) for tree in dev if 25 <= len(tree.words()) <= 35][:40]
    with TemporaryDirectory() as folder, Running(Path(folder), lines) as server:
        flags = webdriver.ChromeOptions()
        for flag in ("--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile"):
            flags.add_argument(flag)
        flags.binary_location = "/usr/bin/chromium"
        browser = webdriver.Chrome(options=flags, service=webdriver.ChromeService("/usr/bin/chromedriver"))
        browser.get(f"http://127.0.0.1:{server.port}/")
        sleep(1)
        taken = []
        for number in range(40):
            browser.execute_script("delete document.body.dataset.milliseconds")
            for key in (Keys.HOME, *([Keys.ARROW_RIGHT] * (number % 20)), Keys.ARROW_UP, "x"):
                ActionChains(browser).send_keys(key).perform()
            for _ in range(100):
                shown = browser.execute_script("return document.body.dataset.milliseconds")
                if shown:
                    taken.append(float(shown))
                    break
                sleep(0.02)
            ActionChains(browser).send_keys("n").perform()
            sleep(0.2)
        browser.quit()
    row = (
        len(taken),
        f"{median(taken):.0f}",
        f"{sorted(taken)[int(0.9 * len(taken))]:.0f}",
        f"{max(taken):.0f}",
    )
    print(report.table(("corrections", "median ms", "90 % within ms", "longest ms"), [row]), end="\n\n")


class Running:
    """A ``spectralnlp annotate`` server in its own process.

    Args:
        folder: folder for the text and the project.
        lines: sentences with blanks between tokens.
    """

    def __init__(self, folder: Path, lines: Sequence[str]) -> None:
        text = folder / "text.txt"
        text.write_text("\n".join(lines) + "\n", encoding="utf-8")
        code = "import sys; from spectralnlp.cli import main; sys.exit(main())"
        options = ["-o", str(folder / "work"), "--port", "0", "--tokenized", "--every", "100000"]
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, "annotate", str(text), *options], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().rstrip("/\n").rpartition(":")[2])

    def __enter__(self) -> Running:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()

    def ask(self, path: str, body: Any = None) -> dict[str, Any]:
        """Send a request to the annotation server, and return its answer.

        Args:
            path: path of the request.
            body: JSON value to send; None for a GET request.
        """
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        content = None if body is None else json.dumps(body).encode()
        connection.request(
            "GET" if body is None else "POST", path, content, {"Content-Type": "application/json"}
        )
        answer: dict[str, Any] = json.loads(connection.getresponse().read())
        return answer


def kill(options: argparse.Namespace) -> None:
    """Kill the annotation server at random moments, and print how many accepted trees were lost."""
    moments = random.Random(0)
    lines = ["It is cold .", "Gulls are noisy .", "The old keeper saw the boat with a lamp ."] * 1000
    accepted: dict[int, str] = {}
    lost = 0
    with TemporaryDirectory() as folder:
        for _ in range(options.kills):
            with Running(Path(folder), lines) as server:
                # Another thread kills the server at any moment of the requests.
                wait = f"time.sleep({moments.uniform(0, 1.5)})"
                code = f"import os, time; {wait}; os.kill({server.process.pid}, 9)"
                killer = subprocess.Popen([sys.executable, "-c", code])
                try:
                    while True:
                        number = len(accepted)
                        tree = server.ask(f"/sentences/0/{number}")["brackets"]
                        answer = server.ask(f"/sentences/0/{number}", {"do": "accept", "tree": tree})
                        if answer.get("accepted"):
                            accepted[number] = tree
                except (OSError, http.client.HTTPException, ValueError):
                    killer.wait()
                assert server.process.wait() == -signal.SIGKILL
            kept = (Path(folder) / "work" / "text.journal").read_text(encoding="utf-8", errors="replace")
            lost += sum(f'"sentence": {number}, ' not in kept for number in accepted)
        with Running(Path(folder), lines) as server:
            trees = (Path(folder) / "work" / "text.mrg").read_text(encoding="utf-8").splitlines()
            found = server.ask("/overview")["documents"][0]["accepted"]
    lost += len(accepted) - min(found, len(accepted)) + (trees[: len(accepted)] != list(accepted.values()))
    print(report.table(("kills", "accepted", "lost"), [(options.kills, len(accepted), lost)]), end="\n\n")


def main() -> None:
    """Run the parts of the benchmark that the command line names."""

    def add_arguments(parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "--general", default="gum", metavar="NAME", help="treebank to begin with; '' for none"
        )
        parser.add_argument("--general-trees", type=int, default=3000, metavar="N")
        parser.add_argument("--domain", default="craft", metavar="NAME", help="treebank to annotate")
        parser.add_argument("--pool", type=int, default=1000, metavar="N", help="its sentences")
        parser.add_argument("--dev-trees", type=int, default=300, metavar="N")
        parser.add_argument("--seeds", type=int, default=3, metavar="N")
        parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
        parser.add_argument("--accepted", type=int, default=5000, metavar="N", help="trees to learn from")
        parser.add_argument("--kills", type=int, default=50, metavar="N")

    parts = {"simulate": simulate, "learn": learn, "page": page, "kill": kill}
    report.run_parts(__doc__, parts, add_arguments, corpora=True)


if __name__ == "__main__":
    main()
