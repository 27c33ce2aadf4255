"""What the page asks for, and that nothing that was accepted is lost when the server is killed."""

from __future__ import annotations

import contextlib
import http.client
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("uvicorn")

from annotation_server import Running

import spectralnlp
from spectralnlp.cli.app import run
from spectralnlp.trees import read_brackets

CODE = "import sys; from spectralnlp.cli import main; sys.exit(main())"


def ask(port: int, path: str, body: Any = None, **headers: str) -> tuple[int, dict[str, Any]]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    given = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
    kind = {} if given is None else {"Content-Type": "application/json"}
    with contextlib.closing(connection):
        connection.request("GET" if given is None else "POST", path, given, {**kind, **headers})
        response = connection.getresponse()
        content = response.read()
    assert response.headers["Content-Security-Policy"].startswith("default-src 'none'")
    return response.status, json.loads(content) if content.startswith(b"{") else {"page": content.decode()}


def test_a_sentence_is_shown_with_its_tree(running) -> None:
    status, overview = ask(running.port, "/overview")
    assert status == 200
    assert overview["documents"] == [{"name": "text", "sentences": 4, "accepted": 0}]
    assert overview["next"] == [0, 0]
    assert "NP" in overview["labels"]
    assert "NN" in overview["tags"]
    status, view = ask(running.port, "/sentences/0/0")
    assert status == 200
    assert view["words"][:2] == ["The", "keeper"]
    assert view["brackets"].startswith("(TOP (S (NP (DT The)")
    assert view["svg"].startswith("<svg")
    assert {name: view["nodes"][1][name] for name in ("node", "label", "start", "end")} == {
        "node": 2,
        "label": "NP",
        "start": 0,
        "end": 2,
    }
    assert all(0 <= each["posterior"] <= 1 for each in view["nodes"])
    assert (view["undo"], view["redo"], view["accepted"]) == (False, False, False)
    assert ask(running.port, "/")[1]["page"].startswith("<!DOCTYPE html>")


def test_a_correction_gives_a_tree_under_it(running) -> None:
    edit = {"do": "require", "start": 4, "end": 9, "label": "NP"}
    status, view = ask(running.port, "/sentences/0/1", edit)
    assert status == 200
    assert "NP:4:9" in view["svg"]
    assert 'class="phrase required" data-key="NP:4:9"' in view["svg"]
    assert view["undo"]
    status, answer = ask(running.port, "/sentences/0/1", {"do": "accept", "tree": "(TOP (X old))"})
    assert (status, answer) == (409, {"error": "the tree has changed; look at it again"})
    status, view = ask(running.port, "/sentences/0/1", {"do": "accept", "tree": view["brackets"]})
    assert (status, view["accepted"]) == (200, True)
    (tree,) = read_brackets(running.project.accepted())
    assert ("NP", 4, 9) in tree.spans()
    assert ask(running.port, "/sentences/0/1/next")[1] == {"next": [0, 2]}
    assert ask(running.port, "/overview")[1]["documents"][0]["accepted"] == 1


@pytest.mark.parametrize(
    ("path", "body", "status", "what"),
    [
        ("/sentences/0/9", None, 422, "no such sentence"),
        ("/sentences/7/0", {"do": "clear"}, 422, "no such sentence"),
        ("/sentences/0/0", {"do": "explode"}, 422, "no edit 'explode'"),
        ("/sentences/0/0", [1], 422, "the JSON is not an object"),
        ("/sentences/0/0", b"{", 400, "the body is not JSON"),
        ("/sentences/0/0", {"do": "require", "start": 0, "end": 2, "label": "QQ"}, 422, "'QQ' is no phrase"),
        ("/sentences/0/0", {"do": "tag", "word": 0, "tag": "QQ"}, 422, "the model has no tag 'QQ'"),
        ("/sentences/0/0", {"do": "comment", "text": "x" * 2001}, 422, "a comment must be text"),
        ("/sentences/0/0", b'{"do": "comment", "text": "\\ud800"}', 422, "unpaired surrogate"),
        (f"/sentences/{'9' * 5000}/0", None, 404, "the page is at /"),
        (f"/sentences/0/{'9' * 5000}/next", None, 404, "the page is at /"),
        ("/elsewhere", None, 404, "the page is at /"),
        ("/overview", {}, 405, "method not allowed"),
    ],
)
def test_requests_that_are_refused(running, path: str, body: Any, status: int, what: str) -> None:
    answered, answer = ask(running.port, path, body)
    assert answered == status
    assert what in answer["error"]
    assert not running.project.documents[0].can(0)["undo"]


def test_other_pages_are_not_answered(running) -> None:
    assert ask(running.port, "/overview", Origin="http://elsewhere.example")[0] == 403
    assert ask(running.port, "/sentences/0/0", {"do": "clear"}, Host="elsewhere.example")[0] == 403


def start(folder: Path, parser_folder: Path) -> tuple[subprocess.Popen[str], int]:
    command = [sys.executable, "-c", CODE, "annotate", str(folder / "text.txt"), "-o"]
    options = [str(folder / "work"), "--model", str(parser_folder), "--port", "0", "--every", "1000"]
    process = subprocess.Popen(
        [*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline().rstrip("/\n").rpartition(":")[2])


@pytest.mark.slow
def test_nothing_accepted_is_lost_by_a_kill(tmp_path: Path, parser_folder: Path) -> None:
    """Killed at a few moments; ``python -m benchmarks.annotation kill`` does so at fifty."""
    (tmp_path / "text.txt").write_text(" ".join(["It is cold. Gulls are noisy."] * 20))
    accepted: dict[int, str] = {}
    for pause in (0.0, 0.02, 0.05):
        process, port = start(tmp_path, parser_folder)
        with process:
            for number in range(len(accepted), len(accepted) + 3):
                tree = ask(port, f"/sentences/0/{number}")[1]["brackets"]
                assert ask(port, f"/sentences/0/{number}", {"do": "accept", "tree": tree})[0] == 200
                accepted[number] = tree
            time.sleep(pause)
            process.send_signal(signal.SIGKILL)
        kept = (tmp_path / "work" / "text.mrg").read_text().splitlines()
        assert kept == list(accepted.values())
    process, port = start(tmp_path, parser_folder)
    with process:
        assert ask(port, "/overview")[1]["documents"][0]["accepted"] == len(accepted)
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
        assert process.stderr is not None
        assert "stopped" in process.stderr.read()


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["missing.txt"], "missing.txt: cannot read the text: No such file or directory"),
        (["text.txt", "--model", "en-tagger"], "en-tagger is not a parser"),
        (["text.txt", "--model", "nowhere"], "nowhere"),
        (["text.txt", "text.txt"], "another text has the name 'text'"),
    ],
)
def test_bad_arguments_are_one_line(
    tmp_path: Path,
    arguments: list[str],
    what: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text("It is cold.")
    assert run(["annotate", *arguments, "-o", "work"]) == 2
    said = capsys.readouterr().err
    assert what in said
    assert len(said.strip().splitlines()) == 1
    assert not (tmp_path / "work").exists()


def test_the_parser_learns_what_was_accepted(parser_folder: Path, tmp_path: Path) -> None:
    running = Running(parser_folder, tmp_path, order="gain", every=2)
    try:
        wait_until(lambda: not ask(running.port, "/overview")[1]["learning"]["now"])
        first = running.session.parser
        for number in (1, 3):
            tree = ask(running.port, f"/sentences/0/{number}")[1]["brackets"]
            assert ask(running.port, f"/sentences/0/{number}", {"do": "accept", "tree": tree})[0] == 200
        wait_until(lambda: ask(running.port, "/overview")[1]["learning"]["trees"] == 2)
        assert running.session.parser is not first
        assert ask(running.port, "/overview")[1]["learning"]["error"] is None
        assert ask(running.port, "/sentences/0/1/next")[1]["next"] in ([0, 0], [0, 2])
        learned = spectralnlp.load(running.project.folder / "model")
        assert isinstance(learned, spectralnlp.Parser)
        assert learned.about["adapted to trees"] == 2
    finally:
        running.stop()


@pytest.mark.slow
def test_what_is_accepted_is_learned_in_a_pause(parser_folder: Path, tmp_path: Path) -> None:
    running = Running(parser_folder, tmp_path, pause=0.5)
    try:
        tree = ask(running.port, "/sentences/0/3")[1]["brackets"]
        assert ask(running.port, "/sentences/0/3", {"do": "accept", "tree": tree})[0] == 200
        wait_until(lambda: ask(running.port, "/overview")[1]["learning"]["trees"] == 1)
    finally:
        running.stop()


@pytest.mark.slow
def test_a_parser_that_cannot_learn_says_so_and_goes_on(own_treebank: Path, tmp_path: Path) -> None:
    folder = tmp_path / "tensors"
    spectralnlp.train("lpcfg", own_treebank / "train.mrg", span_scorer=False, n_states=2).save(folder)
    running = Running(folder, tmp_path, every=1)
    try:
        for number in (1, 3):
            tree = ask(running.port, f"/sentences/0/{number}")[1]["brackets"]
            assert ask(running.port, f"/sentences/0/{number}", {"do": "accept", "tree": tree})[0] == 200
            wait_until(lambda: ask(running.port, "/overview")[1]["learning"]["error"] is not None)
        error = ask(running.port, "/overview")[1]["learning"]["error"]
        assert error.startswith("nothing was learned: the parser's grammars hold no counts; adapt it with")
        assert len(running.project.accepted()) == 2
    finally:
        running.stop()


def wait_until(holds: Callable[[], bool]) -> None:
    for _ in range(600):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError("it never came to be")


def test_a_new_model_changes_no_tree_that_is_looked_at(running) -> None:
    view = ask(running.port, "/sentences/0/1")[1]
    other = spectralnlp.load("en")
    running.session.take_model(other, {})
    assert ask(running.port, "/sentences/0/1", {"do": "accept", "tree": view["brackets"]})[0] == 200
    assert ask(running.port, "/sentences/0/2")[1]["brackets"] == str(
        other.parse_tokens(list(running.project.documents[0][2].words)).tree
    )


def test_an_accepted_tree_is_accepted_again_whatever_a_new_model_says(running) -> None:
    edit = {"do": "require", "start": 4, "end": 9, "label": "NP"}
    accepted = ask(running.port, "/sentences/0/1", edit)[1]["brackets"]
    assert ask(running.port, "/sentences/0/1", {"do": "accept", "tree": accepted})[0] == 200
    running.session.take_model(spectralnlp.load("en"), {})
    view = ask(running.port, "/sentences/0/1")[1]
    assert (view["brackets"], view["accepted"]) == (accepted, True)
    assert ask(running.port, "/sentences/0/1", {"do": "accept", "tree": accepted})[0] == 200
    reopened = ask(running.port, "/sentences/0/1", {"do": "reopen"})[1]
    assert not reopened["accepted"]


def test_a_new_label_has_to_be_said_to_be_new(running) -> None:
    edit = {"do": "require", "start": 0, "end": 2, "label": "NML"}
    status, answer = ask(running.port, "/sentences/0/0", edit)
    assert (status, answer["new"]) == (422, "NML")
    assert "did you mean" in answer["error"] or "'NML' is no phrase" in answer["error"]
    status, view = ask(running.port, "/sentences/0/0", {**edit, "new": True})
    assert status == 200
    assert "(NML (DT The) (NN keeper))" in view["brackets"]
    assert "NML" in ask(running.port, "/overview")[1]["labels"]
    again = {"do": "require", "start": 0, "end": 1, "label": "NML"}
    assert ask(running.port, "/sentences/0/1", again)[0] == 200
    assert ask(running.port, "/sentences/0/1", {"do": "tag", "word": 0, "tag": "A B", "new": True})[0] == 422
    status, view = ask(running.port, "/sentences/0/1", {"do": "tag", "word": 0, "tag": "DET", "new": True})
    assert (status, view["tags"][0]) == (200, "DET")
    assert ask(running.port, "/sentences/0/1", {"do": "undo"})[1]["tags"][0] == "DT"
    assert ask(running.port, "/sentences/0/1", {"do": "redo"})[1]["tags"][0] == "DET"
    whole = {"do": "require", "start": 0, "end": 4, "label": "TOP"}
    assert ask(running.port, "/sentences/0/3", whole)[1]["brackets"].count("TOP") == 1


@pytest.mark.slow
def test_a_treebank_begins_with_nothing(tmp_path: Path) -> None:
    running = Running(None, tmp_path, every=2)
    try:
        assert ask(running.port, "/sentences/0/3")[1]["brackets"] == "(TOP (S (X It) (X is) (X cold) (X .)))"
        for number, tags in (
            (3, ["PRON", "V", "A", "."]),
            (0, ["DET", "N", "V", "DET", "N", "DET", "N", "."]),
        ):
            for word, tag in enumerate(tags):
                edit = {"do": "tag", "word": word, "tag": tag, "new": True}
                view = ask(running.port, f"/sentences/0/{number}", edit)[1]
            edit = {"do": "require", "start": 1, "end": len(tags) - 1, "label": "VP", "new": True}
            view = ask(running.port, f"/sentences/0/{number}", edit)[1]
            accept = {"do": "accept", "tree": view["brackets"]}
            assert ask(running.port, f"/sentences/0/{number}", accept)[0] == 200
        wait_until(lambda: ask(running.port, "/overview")[1]["learning"]["trees"] == 2)
        assert ask(running.port, "/overview")[1]["learning"]["error"] is None
        learned = running.session.parser
        assert set(learned.phrases) == {"S", "VP"}
        assert str(learned.parse_tokens(["It", "climbs", "cold", "."]).tree) == (
            "(TOP (S (PRON It) (VP (V climbs) (A cold)) (. .)))"
        )
    finally:
        running.stop()
