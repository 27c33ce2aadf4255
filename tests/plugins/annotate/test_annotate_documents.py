"""Documents and their journals: what was taken is on the disk, whatever happens to the process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")

from spectralnlp_annotate.by_hand import parse_under
from spectralnlp_annotate.documents import Document
from spectralnlp_annotate.edits import EditError
from spectralnlp_annotate.journal import Journal
from spectralnlp_annotate.project import Project, read_texts

import spectralnlp
from spectralnlp.errors import ConfigError, InputError

SENTENCES = [["It", "is", "cold", "."], ["Gulls", "are", "noisy"]]
TEXT = b"It is cold. Gulls are noisy"
NP = {"do": "require", "start": 0, "end": 1, "label": "NP"}
TREE = "(TOP (S (NP (NNS Gulls)) (VP (VBP are) (ADJP (JJ noisy)))))"


def begun(folder: Path) -> Document:
    document = Document(folder, "text")
    document.begin(TEXT, SENTENCES)
    return document


def states(document: Document) -> list[Any]:
    return [(each, document.can(number)) for number, each in enumerate(document)]


def test_a_document_is_as_it_was_left(tmp_path: Path) -> None:
    document = begun(tmp_path)
    document.apply(0, NP)
    document.apply(0, {"do": "comment", "text": "snjór ❄"})
    document.apply(0, {"do": "undo"})
    document.apply(1, {"do": "accept", "tree": TREE})
    again = Document(tmp_path, "text")
    assert states(again) == states(document)
    assert again[1].tree == TREE
    assert again.can(0) == {"undo": True, "redo": True}
    assert again.apply(0, {"do": "redo"}).comment == "snjór ❄"
    assert (tmp_path / "text.mrg").read_text() == f"{TREE}\n"


def test_undo_and_redo(tmp_path: Path) -> None:
    document = begun(tmp_path)
    first = document[0]
    second = document.apply(0, NP)
    assert document.apply(0, {"do": "undo"}) == first
    assert document.apply(0, {"do": "redo"}) == second
    document.apply(0, {"do": "undo"})
    document.apply(0, {"do": "tag", "word": 0, "tag": "PRP"})
    with pytest.raises(EditError, match="nothing to redo"):
        document.apply(0, {"do": "redo"})
    with pytest.raises(EditError, match="nothing to undo"):
        document.apply(1, {"do": "undo"})
    assert document.apply(0, {"do": "undo"}) == first


def test_a_refused_edit_leaves_no_trace(tmp_path: Path) -> None:
    document = begun(tmp_path)
    before = (tmp_path / "text.journal").read_bytes()
    with pytest.raises(EditError):
        document.apply(0, {"do": "merge", "word": 3})
    assert (tmp_path / "text.journal").read_bytes() == before
    assert not document.can(0)["undo"]


def test_a_line_that_was_not_finished_is_cut_off(tmp_path: Path) -> None:
    document = begun(tmp_path)
    document.apply(0, NP)
    whole = (tmp_path / "text.journal").read_bytes()
    for cut in (1, len(whole.splitlines()[-1]) // 2, len(whole.splitlines()[-1])):
        (tmp_path / "text.journal").write_bytes(whole[:-cut])
        again = Document(tmp_path, "text")
        assert not again[0].brackets
        again.apply(0, NP)
        assert len(Journal(tmp_path / "text.journal").entries) == 2


def test_a_pipe_in_place_of_the_journal_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "text.journal")
    with pytest.raises(ConfigError, match=r"text\.journal: the journal is a pipe or a device, not a file"):
        Document(tmp_path, "text")


@pytest.mark.parametrize(
    ("line", "content", "what"),
    [
        (1, b"{}", "not a journal of annotations"),
        (
            1,
            b'{"format": 2, "text": "", "sentences": []}',
            "not a journal of annotations: format 2 is not supported, only 1",
        ),
        (1, b'{"format": 1, "text": "", "sentences": [[1]]}', "not a journal of annotations"),
        (1, b"[1]", "not a journal of annotations: the first line is not a JSON object"),
    ],
)
def test_damaged_headers_are_refused(tmp_path: Path, line: int, content: bytes, what: str) -> None:
    document = begun(tmp_path)
    document.apply(0, NP)
    document.apply(0, {"do": "clear"})
    lines = (tmp_path / "text.journal").read_bytes().splitlines()
    lines[line - 1] = content
    (tmp_path / "text.journal").write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(InputError, match=r"text\.journal") as caught:
        Document(tmp_path, "text")
    assert what in str(caught.value)
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"[1]", "not an edit of a sentence"),
        (b"\xff", "not an edit of a sentence"),
        (b"[" * 100_000, "not an edit of a sentence"),
        (b'{"sentence": 2, "do": "clear"}', "not an edit of a sentence"),
        (b'{"sentence": 0, "do": "explode"}', "no edit 'explode'"),
        (b'{"sentence": 0, "do": "undo", "at": "", "twice": 1}', "undo has no fields"),
        (b'{"sentence": 0, "do": "comment", "text": "\\ud800"}', "unpaired surrogate"),
        (b'{"sentence": 0, "do": "tag", "word": 0, "tag": "\xed\xa0\x80"}', "unpaired surrogate"),
    ],
)
def test_a_bad_line_of_a_journal_is_left_out_with_a_remark(tmp_path: Path, content: bytes, what: str) -> None:
    document = begun(tmp_path)
    document.apply(0, NP)
    document.apply(1, {"do": "accept", "tree": TREE})
    journal = tmp_path / "text.journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines.insert(2, content + b"\n")
    journal.write_bytes(b"".join(lines))
    again = Document(tmp_path, "text")
    assert list(again) == list(document)
    (remark,) = again.remarks
    assert remark.startswith(f"{journal}:3: ")
    assert what in remark
    assert journal.read_bytes() == b"".join(lines)


@pytest.mark.parametrize(
    "edit",
    [
        {"do": "undo", "sentence": 99},
        {"do": "redo", "at": "never"},
        {"do": "clear", "new": "yes"},
        {"do": "clear", "sentence": 1},
        {"do": "require", "start": 0, "end": 1, "label": "N\ud800", "new": True},
        {"do": "tag", "word": 0, "tag": "\udfff", "new": True},
        {"do": "comment", "text": "a\ud800"},
        {"do": "split", "word": 0, "parts": "I \udc80t"},
        {"do": "\ud800"},
        {"do": "clear", "\ud800": 1},
    ],
)
def test_no_edit_makes_a_journal_that_does_not_open(tmp_path: Path, edit: dict[str, Any]) -> None:
    document = begun(tmp_path)
    document.apply(0, NP)
    document.apply(0, NP)
    document.apply(0, {"do": "undo"})
    before = (tmp_path / "text.journal").read_bytes()
    with pytest.raises(EditError) as caught:
        document.apply(0, edit)
    str(caught.value).encode()
    assert (tmp_path / "text.journal").read_bytes() == before
    assert Document(tmp_path, "text").remarks == []


def test_a_disk_with_room_for_the_line_but_not_for_the_trees_takes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = begun(tmp_path)
    before = (tmp_path / "text.journal").read_bytes()

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(ConfigError, match="cannot write the trees: No space left"):
        document.apply(1, {"do": "accept", "tree": TREE})
    monkeypatch.undo()
    assert (tmp_path / "text.journal").read_bytes() == before
    assert document[1].tree is None
    assert sorted(each.name for each in tmp_path.iterdir()) == ["text.journal", "text.mrg"]


def test_a_full_disk_takes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    document = begun(tmp_path)
    before = (tmp_path / "text.journal").read_bytes()
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, content: write(file, content[:10]))
    with pytest.raises(ConfigError, match="cannot write the journal: no space left"):
        document.apply(0, NP)
    monkeypatch.undo()
    assert (tmp_path / "text.journal").read_bytes() == before
    assert not document[0].brackets


WRITER = f"""
import sys
from pathlib import Path
from spectralnlp_annotate.documents import Document
document = Document(Path(sys.argv[1]), "text")
if document.is_new:
    document.begin({TEXT!r}, {SENTENCES!r})
n = 0
while True:
    n += 1
    document.apply(n % 2, {{"do": "comment", "text": str(n) * 50}})
    document.apply(n % 2, {{"do": "accept", "tree": f"(TOP (X {{n}}))"}})
    print(n, flush=True)
"""


@pytest.mark.slow
def test_nothing_that_was_taken_is_lost_by_a_kill(tmp_path: Path) -> None:
    """Killed at ten moments; ``python -m benchmarks.annotation kill`` kills the server, at fifty."""
    for kill in range(10):
        folder = tmp_path / str(kill)
        folder.mkdir()
        command = [sys.executable, "-c", WRITER, str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            told = [process.stdout.readline() for _ in range(3 + kill)]
            process.send_signal(signal.SIGKILL)
            told += process.stdout.readlines()
        n = int(told[-1])
        again = Document(folder, "text")
        kept = [int(str(again[number].tree).split()[-1].rstrip(")")) for number in (n % 2, 1 - n % 2)]
        assert kept[0] >= n
        assert kept[1] >= n - 1
        assert (folder / "text.mrg").read_text().split() == " ".join(str(each.tree) for each in again).split()


def test_a_project_takes_up_texts_and_refuses_others(tmp_path: Path) -> None:
    text = tmp_path / "gulls.txt"
    text.write_text("It is cold. Gulls are noisy.\n")
    tokenizer = spectralnlp.load("en").tokenizer
    project = Project(tmp_path / "work")
    project.add(read_texts([text]), tokenizer)
    assert [each.words[0] for each in project.documents[0]] == ["It", "Gulls"]
    assert list(project.places()) == [(0, 0), (0, 1)]
    project.documents[0].apply(1, {"do": "accept", "tree": TREE})
    with pytest.raises(ConfigError, match="another process annotates in this folder"):
        Project(tmp_path / "work")
    project.close()
    again = Project(tmp_path / "work")
    again.add(read_texts([text]), tokenizer)
    assert again.accepted() == [TREE]
    again.close()
    text.write_text("It was cold.")
    changed = Project(tmp_path / "work")
    with pytest.raises(InputError, match=r"gulls\.txt: the text has changed since"):
        changed.add(read_texts([text]), tokenizer)
    changed.close()


@pytest.mark.parametrize(
    ("name", "content", "what"),
    [
        ("a.txt", b"caf\xe9", "the text is not UTF-8"),
        ("a.txt", b" \n\n", "the text has no sentence"),
        ("missing.txt", None, "cannot read the text: No such file"),
    ],
)
def test_texts_that_cannot_be_used(tmp_path: Path, name: str, content: bytes | None, what: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    project = Project(tmp_path / "work")
    with pytest.raises((InputError, ConfigError), match=what):
        project.add(read_texts([tmp_path / name]), spectralnlp.load("en").tokenizer)
    project.close()


def test_two_texts_of_one_name(tmp_path: Path) -> None:
    texts = [tmp_path / "one" / "text.txt", tmp_path / "two" / "text.txt"]
    for text in texts:
        text.parent.mkdir()
        text.write_text("It is cold.")
    with pytest.raises(InputError, match="another text has the name 'text'"):
        read_texts(texts)


def test_tokenized_texts_keep_their_tokens(tmp_path: Path) -> None:
    text = tmp_path / "text.txt"
    text.write_text("can not be cut .\n\nso it is\n")
    project = Project(tmp_path / "work")
    project.add(read_texts([text]), spectralnlp.load("en").tokenizer, tokenized=True)
    project.close()
    header = json.loads((tmp_path / "work" / "text.journal").read_text().splitlines()[0])
    assert header["sentences"] == [["can", "not", "be", "cut", "."], ["so", "it", "is"]]


def test_trees_to_mend(tmp_path: Path) -> None:
    path, parser = tmp_path / "own.mrg", spectralnlp.load("en")
    # An adjective in a noun phrase, and a label that the model does not know.
    path.write_text("(S (NP-SBJ (NNS Gulls)) (VP (VBP are) (NP (JJ noisy))))\n(XX (NN barn) (NN barn))\n")
    for _ in range(2):  # begun, and opened again
        project = Project(tmp_path / "mended")
        project.add(read_texts([path]), parser.tokenizer)
        (document,) = project.documents
        assert [each.tree for each in document] == [None, None]
        shown = [str(parse_under(parser, each.words, each.constraints).tree) for each in document]
        assert shown == [
            "(TOP (S (NP (NNS Gulls)) (VP (VBP are) (NP (JJ noisy)))))",
            "(TOP (XX (NN barn) (NN barn)))",
        ]
        project.close()
    document = Document(tmp_path / "mended", "own")
    better = document.apply(0, {"do": "relabel", "start": 2, "end": 3, "label": "NP", "new_label": "ADJP"})
    assert str(parse_under(parser, better.words, better.constraints).tree) == TREE


def test_mended_trees_keep_functions_and_traces(tmp_path: Path) -> None:
    path, parser = tmp_path / "own.mrg", spectralnlp.load("en")
    given = [
        "( (S (NP-SBJ-1 (NNS Gulls)) (VP (VBP are) (NP (JJ noisy)) (S (NP-SBJ (-NONE- *-1))))))",
        "(NP-HLN (NN barn) (NN barn))",
    ]
    path.write_text("\n".join(given))
    project = Project(tmp_path / "mended")
    project.add(read_texts([path]), parser.tokenizer)
    (document,) = project.documents
    mend = {"do": "relabel", "start": 2, "end": 3, "label": "NP", "new_label": "ADJP"}
    for number, edits in enumerate(([mend], [])):
        for edit in edits:
            document.apply(number, edit)
        now = document[number]
        shown = str(parse_under(parser, now.words, now.constraints).tree)
        document.apply(number, {"do": "accept", "tree": shown})
    expected = [given[0].replace("(NP (JJ noisy))", "(ADJP (JJ noisy))"), given[1]]
    assert (tmp_path / "mended" / "own.mrg").read_text().splitlines() == expected
    project.close()
    project = Project(tmp_path / "mended")  # opened again
    project.add(read_texts([path]), parser.tokenizer)
    assert (tmp_path / "mended" / "own.mrg").read_text().splitlines() == expected
    project.close()


def test_trees_to_mend_are_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "own.mrg"
    path.write_text(TREE)
    project = Project(tmp_path)
    with pytest.raises(InputError, match="would overwrite"):
        project.add(read_texts([path]), spectralnlp.load("en").tokenizer)
    project.close()
    assert path.read_text() == TREE
