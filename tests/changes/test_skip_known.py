"""``update --skip-known``: documents that are in the model already are left out and counted."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from change_runs import Run

from spectralnlp import changes
from spectralnlp.estimators.eigenwords import Eigenwords
from spectralnlp.runtime import Corpus, Partition, use_engine

MODEL = ("arrays.safetensors", "model.json", "README.md")
SETTINGS = {
    "hmm": ("--set", "n_states=3"),
    "topics": ("--set", "n_topics=2", "--set", "min_documents=1", "--set", "max_share=1.0"),
    "eigenwords": ("--set", "dimensions=2", "--set", "min_count=1"),
}


def same(left: Path, right: Path) -> bool:
    return all((left / name).read_bytes() == (right / name).read_bytes() for name in MODEL)


def number_of_documents(run: Run, folder: Path) -> str:
    return next(line for line in run("info", folder).out.splitlines() if line.startswith("moments"))


@pytest.mark.parametrize("estimator", SETTINGS)
def test_of_text_known_lines_are_left_out(run: Run, lines: Path, tmp_path: Path, estimator: str) -> None:
    every = lines.read_text().splitlines(keepends=True)
    some, more, new = (tmp_path / f"{name}.txt" for name in ("some", "more", "new"))
    some.write_text("".join(every[:30]))
    # Known lines at the beginning, in the middle, at the end, and written in another way; one new line twice.
    more.write_text(
        "".join([*every[:2], "\n", *every[30:], every[7].replace(" ", "  "), every[40], every[29]])
    )
    new.write_text("".join([*every[30:], every[40]]))
    train = ("train", estimator, *SETTINGS[estimator])
    assert run(*train, some, "-o", tmp_path / "grown", "--keep-moments").status == 0
    assert run(*train, some, new, "-o", tmp_path / "whole", "--keep-moments").status == 0
    status, _, err = run("update", tmp_path / "grown", more)
    assert status == 2
    assert "more.txt (sentence 1): in the model already, the first of 4 among 23 lines" in err
    assert "--skip-known" in err
    assert "--add-known" in err
    status, out, err = run("update", tmp_path / "grown", more, "--skip-known")
    assert (status, err) == (0, "")
    assert "left out 4 lines that were there already" in out
    assert same(tmp_path / "grown", tmp_path / "whole")
    assert number_of_documents(run, tmp_path / "grown") == number_of_documents(run, tmp_path / "whole")
    # All of it is known now: nothing changes.
    status, out, _ = run("update", tmp_path / "grown", more, "--skip-known")
    assert status == 0
    assert "left out 23 lines" in out
    assert same(tmp_path / "grown", tmp_path / "whole")


def test_known_files_are_left_out(run: Run, trees: list[Path], tmp_path: Path) -> None:
    assert run("train", "pcfg", trees[0], "-o", tmp_path / "grown", "--keep-moments").status == 0
    assert run("train", "pcfg", *trees, "-o", tmp_path / "whole").status == 0
    status, out, _ = run("update", tmp_path / "grown", *trees, "--skip-known")
    assert status == 0
    assert "left out 1 file that was there already" in out
    assert same(tmp_path / "grown", tmp_path / "whole")


def test_again_and_skip_known_exclude_each_other(run: Run, trees: list[Path], tmp_path: Path) -> None:
    run("train", "pcfg", trees[0], "-o", tmp_path / "model", "--keep-moments")
    status, _, err = run("update", tmp_path / "model", trees[1], "--add-known", "--skip-known")
    assert status == 2
    assert "not both" in err
    (tmp_path / "empty.mrg").write_text("\n")
    status, _, err = run("update", tmp_path / "model", tmp_path / "empty.mrg", "--skip-known")
    assert status == 2
    assert err.count("\n") == 1


class Parts(Corpus[str]):
    """Blocks of text in two documents, the first of which is in three partitions."""

    def __init__(self, blocks: list[str]) -> None:
        self.blocks = blocks

    def partitions(self) -> list[Partition[str]]:
        of_first = [(0, 0, self.blocks[:1]), (0, 10, self.blocks[1:2]), (0, 20, self.blocks[2:4])]
        places = [*of_first, (1, 0, self.blocks[4:])]
        return [Partition(f"{at}", at, start, partial(iter, blocks)) for at, start, blocks in places]


@pytest.mark.parametrize("engine", ["serial", "threads"])
def test_each_partition_leaves_out_its_own_lines(lines: Path, engine: str) -> None:
    every = lines.read_text().splitlines()
    blocks = ["\n".join(every[a : a + 4]) + "\n" for a in range(0, 40, 4)]
    settings = Eigenwords(dimensions=2, min_count=1)
    kept = changes.train("eigenwords.v1", settings, Parts([blocks[3], blocks[0]]), unit="line").kept
    some = [blocks[1], "", blocks[0] + blocks[2], blocks[3], blocks[5] + blocks[3] + "\n\n" + blocks[6]]
    with use_engine(engine):
        change = changes.update(kept, Parts(some), skip_known=True)
    assert change.left_out == 12
    anew = [blocks[0], blocks[1], blocks[2], blocks[3], blocks[5], blocks[6]]
    whole = changes.train("eigenwords.v1", settings, Parts(anew), unit="line").kept
    ours, theirs = change.kept.moments.arrays(), whole.moments.arrays()
    assert {name: each.tobytes() for name, each in ours.items()} == {
        name: each.tobytes() for name, each in theirs.items()
    }
    assert len(change.kept.ledger) == len(whole.ledger)
