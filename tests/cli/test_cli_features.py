"""Featurizers from the command line: train, transform, and classify over one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp
from cli_fakes import Run

import spectralnlp.api

pytest.importorskip("sklearn")
LINES = ["open the door now", "", "paint the lid soon", "close the box, please", "open it"]


@pytest.fixture
def command(run: Run, monkeypatch: pytest.MonkeyPatch) -> Run:
    """The command line with the real `load`."""
    monkeypatch.setattr(spectralnlp, "load", spectralnlp.api.load, raising=False)
    return run


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "text.txt"
    path.write_text("\n".join(LINES * 3) + "\n")
    return path


@pytest.fixture
def model(command: Run, text: Path, tmp_path: Path) -> Path:
    sizes = ("--set", "sketch_size=3", "--set", "n_features=1024")
    assert command("train", "sent", text, "-o", tmp_path / "sent", "--keep-moments", *sizes).status == 0
    return tmp_path / "sent"


def test_every_line_has_a_row(command: Run, model: Path, text: Path, tmp_path: Path) -> None:
    expected = spectralnlp.api.load(model).transform(LINES * 3)
    for name in ("rows.npy", "rows.npz"):
        status, out, _ = command("transform", model, text, "-o", tmp_path / name)
        assert (status, out) == (0, f"{tmp_path / name}: 15 rows of 3 columns\n")
    np.testing.assert_array_equal(np.load(tmp_path / "rows.npy"), expected)
    np.testing.assert_array_equal(sp.load_npz(tmp_path / "rows.npz").toarray(), expected)


def test_dcot_as_published(command: Run, text: Path, tmp_path: Path) -> None:
    from sklearn.preprocessing import normalize
    from spectralnlp_sketch import DCoT
    from spectralnlp_sketch.hashing.ngrams import count_ngrams
    from spectralnlp_sketch.word_rows import HASHED

    values = {"prototypes": "frequent", "output": "all", "normalise": False, "n_prototypes": 4}
    given = [f"{name}={value}".lower() for name, value in {**values, "weighting": "counts"}.items()]
    settings = [each for value in given for each in ("--set", value)]
    assert command("train", "dcot", text, "-o", tmp_path / "dcot", *settings).status == 0
    loaded = spectralnlp.api.load(tmp_path / "dcot")
    counts = normalize(sp.csr_matrix(count_ngrams(LINES * 3, HASHED)[:, loaded.featurizer.words_.columns]))
    expected = DCoT(**values).fit(counts).transform(counts)
    np.testing.assert_allclose(loaded.transform(LINES * 3).toarray(), expected.toarray(), atol=1e-6)
    assert len(loaded.get_feature_names_out()) == expected.shape[1] == counts.shape[1] + 3 * 4


@pytest.mark.filterwarnings("ignore:dimensions lowered")
def test_tmpca_as_published(command: Run, text: Path, tmp_path: Path) -> None:
    from spectralnlp_sketch import TMPCA, prepare

    settings = "mask_padding=false stop_words=english stem=true bigrams=true dimensions=2 length=4"
    given = [each for value in settings.split() for each in ("--set", value)]
    assert command("train", "tmpca", text, "-o", tmp_path / "tmpca", *given).status == 0
    loaded = spectralnlp.api.load(tmp_path / "tmpca")
    learned = loaded.featurizer
    assert set(learned.words_) == {word for line in LINES for word in prepare(line)}
    vectors = dict(zip(learned.words_, learned.vectors_, strict=True))
    tokens = [prepare(line) for line in LINES * 3]
    expected = (
        TMPCA(vectors=vectors, length=4, mask_padding=False, bigrams=True).fit(tokens).transform(tokens)
    )
    np.testing.assert_allclose(loaded.transform(LINES * 3), expected, atol=1e-6)
    given[3] = "stop_words=german"
    status, _, err = command("train", "tmpca", text, "-o", tmp_path / "german", *given)
    assert (status, err.count("\n"), (tmp_path / "german").exists()) == (2, 1, False)


@pytest.fixture
def labelled(tmp_path: Path) -> Path:
    things = ("door", "lid", "box")
    lines = [f"{verb}\t{verb} the {thing} now" for verb in ("open", "close") for thing in things]
    (tmp_path / "labelled.tsv").write_text("\n".join(lines) + "\n")
    return tmp_path / "labelled.tsv"


def test_sent_plus_is_trained_grows_forgets_and_merges(
    command: Run, labelled: Path, text: Path, tmp_path: Path
) -> None:
    from spectralnlp_sketch import SENTPlus, read_texts

    sizes = ("--set", "sketch_size=3", "--set", "n_features=1024", "--keep-moments")
    more = tmp_path / "more.tsv"
    more.write_text("paint\tpaint the gate\nopen\topen the gate\n")
    everything = (labelled, "--unlabelled", text, *sizes)
    assert command("train", "sent-plus", *everything, "-o", tmp_path / "first").status == 0
    assert command("train", "sent-plus", more, *sizes, "-o", tmp_path / "second").status == 0
    assert command("update", tmp_path / "first", more, "-o", tmp_path / "both").status == 0
    assert command("merge", tmp_path / "first", tmp_path / "second", "-o", tmp_path / "merged").status == 0
    assert command("forget", tmp_path / "both", more, "-o", tmp_path / "less").status == 0
    rows = {
        name: spectralnlp.api.load(tmp_path / name).transform(LINES)
        for name in ("first", "both", "merged", "less")
    }
    np.testing.assert_array_equal(rows["both"], rows["merged"])
    np.testing.assert_array_equal(rows["first"], rows["less"])
    info = spectralnlp.api.load(tmp_path / "both").info
    assert (info["training texts"], info["unlabelled texts"]) == (8, 12)
    fitted = SENTPlus(sketch_size=3, n_features=1024).fit(read_texts(labelled, unlabelled=text))
    np.testing.assert_array_equal(rows["first"], fitted.transform(LINES))
    output = tmp_path / "rows.npy"
    assert command("transform", tmp_path / "first", text, "-o", output).status == 0
    np.testing.assert_array_equal(np.load(output)[: len(LINES)], rows["first"])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("sent-plus", "{text}"), "no tab"),
        (("sent-plus", "{labelled}", "--set", "output=none"), "output"),
        (("sent", "{labelled}", "--unlabelled", "{text}"), "--unlabelled means nothing"),
        (("intent", "{labelled}", "--set", "featurizer=sent-plus"), "learns from labels"),
    ],
)
def test_texts_without_labels_and_wrong_settings(
    command: Run, labelled: Path, text: Path, tmp_path: Path, arguments: tuple[str, ...], message: str
) -> None:
    given = [each.format(text=text, labelled=labelled) for each in arguments]
    status, _, err = command("train", *given, "-o", tmp_path / "none")
    assert (status, (tmp_path / "none").exists()) == (2, False)
    assert message in err.splitlines()[-1]


def test_rows_of_a_parquet_file_have_names(command: Run, model: Path, text: Path, tmp_path: Path) -> None:
    table = pytest.importorskip("pyarrow.parquet")
    assert command("transform", model, text, "-o", tmp_path / "rows.parquet").status == 0
    assert table.read_table(tmp_path / "rows.parquet").column_names == ["sent0", "sent1", "sent2"]


def test_more_text_is_added_and_none_taken_out(command: Run, model: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.txt"
    more.write_text("shut the gate\nwho opened the lid\n")
    assert command("update", model, more, "-o", tmp_path / "both").status == 0
    assert spectralnlp.api.load(tmp_path / "both").info["training texts"] == 17
    status, _, err = command("forget", model, more, "-o", tmp_path / "less")
    assert (status, err.count("\n"), (tmp_path / "less").exists()) == (2, 1, False)


@pytest.mark.parametrize(
    ("suffix", "message"),
    [
        (".csv", "rows go to .npy, .npz, .parquet"),
        ("", "rows go to"),
        (".npy", "nothing to transform"),
    ],
)
def test_bad_output_and_empty_text(
    command: Run, model: Path, tmp_path: Path, suffix: str, message: str
) -> None:
    (tmp_path / "empty.txt").touch()
    output = tmp_path / f"rows{suffix}"
    status, _, err = command("transform", model, tmp_path / "empty.txt", "-o", output)
    assert (status, output.exists()) == (2, False)
    assert message in err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
def test_a_full_disk_leaves_nothing(command: Run, model: Path, text: Path, tmp_path: Path) -> None:
    (tmp_path / "full.npy").symlink_to("/dev/full")
    status, _, err = command("transform", model, text, "-o", tmp_path / "full.npy")
    assert (status, err.count("\n")) == (2, 1)
    assert "No space left" in err


def test_a_text_that_ends_in_bad_bytes(command: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.txt").write_bytes(b"open it\n\xff\xfe\n")
    for name in ("rows.npy", "rows.npz"):
        status, _, err = command("transform", model, tmp_path / "bad.txt", "-o", tmp_path / name)
        assert (status, err.count("\n")) == (2, 1)
        assert "bad.txt" in err
    assert not [*tmp_path.glob("rows*"), *tmp_path.glob(".rows*")]


def test_a_model_of_another_kind(command: Run, text: Path, tmp_path: Path) -> None:
    assert command("train", "hmm", text, "-o", tmp_path / "hmm", "--set", "n_states=1").status == 0
    status, _, err = command("transform", tmp_path / "hmm", text, "-o", tmp_path / "rows.npy")
    assert (status, "a model for sequences, not a featurizer" in err) == (2, True)


def test_a_classifier_takes_one(command: Run, model: Path, tmp_path: Path) -> None:
    (tmp_path / "labelled.tsv").write_text("".join(f"{line.split()[0]}\t{line}\n" for line in LINES if line))
    arguments = ("train", "intent", tmp_path / "labelled.tsv", "-o", tmp_path / "intent")
    assert command(*arguments, "--set", f"featurizer={model}").status == 0
    status, _, err = command(*arguments, "--overwrite", "--set", "featurizer=snet")
    assert (status, "did you mean sent?" in err) == (2, True)
